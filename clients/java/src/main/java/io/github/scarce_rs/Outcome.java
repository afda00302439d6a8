package io.github.scarce_rs;

import java.time.Duration;

/**
 * What comes of a command. Errors are thrown.
 *
 * @param <T> what the command answers
 */
public sealed interface Outcome<T> {
    /**
     * The command took effect, or, if it reads, was answered.
     *
     * @param value what it answers
     * @param receipt where the change is in the log; null for reads and dry runs
     * @param replayed whether this is the first answer again
     */
    record Applied<T>(T value, Api.Receipt receipt, boolean replayed) implements Outcome<T> {}

    /**
     * The rules do not allow it: an ordinary answer. No copy of the request will be applied under this ID.
     *
     * @param code why
     * @param facts what it rests on: {@code Api.SoldOutFacts} for SOLD_OUT; a map if this client does not know the code
     * @param retryable whether the same command may succeed later, with a new ID
     */
    record Refused<T>(String code, Object facts, boolean retryable, String title, String advice)
            implements Outcome<T> {}

    /**
     * Nothing was done under this ID, and nothing ever will be. Only {@link Undecided#resolve} gives it.
     *
     * @param operation the ID
     */
    record Absent<T>(String operation) implements Outcome<T> {}

    /** The time for the call is up, and the server may or may not have applied it. */
    final class Undecided<T> implements Outcome<T> {
        /** A way to find out. */
        interface Question<T> {
            Outcome<T> put(Kind kind, Duration timeout);
        }

        enum Kind { RETRY, ASK, RESOLVE }

        private final String operation;
        private final ScarceException reason;
        private final Question<T> question;

        Undecided(String operation, ScarceException reason, Question<T> question) {
            this.operation = operation;
            this.reason = reason;
            this.question = question;
        }

        /** Its ID. */
        public String operation() {
            return operation;
        }

        /** Why there is no answer. */
        public ScarceException reason() {
            return reason;
        }

        /** Sends it again with the same ID. */
        public Outcome<T> retry() {
            return question.put(Kind.RETRY, null);
        }

        /** Asks whether it was applied; undecided again if the server does not know it. */
        public Outcome<T> ask() {
            return question.put(Kind.ASK, null);
        }

        /** Settles it: answers what was decided, or ensures that it never happens. */
        public Outcome<T> resolve() {
            return question.put(Kind.RESOLVE, null);
        }

        /** The same within a time. */
        public Outcome<T> resolve(Duration timeout) {
            return question.put(Kind.RESOLVE, timeout);
        }

        @Override
        public String toString() {
            return "Undecided[operation=" + operation + ", reason=" + reason + "]";
        }
    }
}
