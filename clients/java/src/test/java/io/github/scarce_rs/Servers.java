package io.github.scarce_rs;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.UUID;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.function.Executable;

/** Where the servers of the tests are, and how outcomes are taken apart. */
final class Servers {
    private Servers() {}

    static String variable(String name) {
        var value = System.getenv(name);
        Assumptions.assumeTrue(value != null, name + " is not set");
        return value;
    }

    static String name(String kind) {
        return "java-" + kind + "-" + UUID.randomUUID();
    }

    /** The outcome of a command that has to be applied. */
    static <T> Outcome.Applied<T> applied(Outcome<T> outcome) {
        assertInstanceOf(Outcome.Applied.class, outcome);
        return (Outcome.Applied<T>) outcome;
    }

    static <T> T value(Outcome<T> outcome) {
        return applied(outcome).value();
    }

    static <T> Outcome.Refused<T> refused(Outcome<T> outcome) {
        assertInstanceOf(Outcome.Refused.class, outcome);
        return (Outcome.Refused<T>) outcome;
    }

    static <T> Outcome.Undecided<T> undecided(Outcome<T> outcome) {
        assertInstanceOf(Outcome.Undecided.class, outcome);
        return (Outcome.Undecided<T>) outcome;
    }

    static String codeOf(Executable call) {
        return assertThrows(ScarceException.class, call).code();
    }
}
