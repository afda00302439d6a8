package io.github.scarce_rs;

import java.security.SecureRandom;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.UUID;

/** The server's clock, as far as its answers tell. IDs that are ahead of it are refused. */
final class Clock {
    /** A smaller difference of the clocks is not corrected. */
    private static final Duration DIFFERENCE_MIN = Duration.ofSeconds(5);

    private static final SecureRandom RANDOM = new SecureRandom();

    private final InstantSource own;
    private volatile Duration ahead = Duration.ZERO;

    Clock(InstantSource own) {
        this.own = own;
    }

    /** Takes the Date of an answer. */
    void learn(String date) {
        try {
            var theirs = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
            var difference = Duration.between(own.instant(), theirs);
            ahead = difference.abs().compareTo(DIFFERENCE_MIN) < 0 ? Duration.ZERO : difference;
        } catch (DateTimeException noDate) {
            // Then the clock of this machine has to do.
        }
    }

    /** An ID that carries its time (UUIDv7), so that a very late copy is refused instead of applied again. */
    String newId() {
        long ms = own.instant().plus(ahead).toEpochMilli();
        long high = ms << 16 | 0x7000 | RANDOM.nextInt(1 << 12);
        long low = 0b10L << 62 | RANDOM.nextLong() >>> 2;
        return new UUID(high, low).toString();
    }
}
