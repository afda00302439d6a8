package io.github.scarce_rs;

import java.time.Duration;
import java.time.Instant;

/**
 * What a single call may say besides its arguments. What is null has a default.
 *
 * @param id the operation ID; by default a new one. Give your own to find the operation again after a crash of yours
 * @param deadline from this time on the command is not applied
 * @param durability how safe the change must be before it is answered: memory, replicated or synced
 * @param dryRun whether to tell only what would happen, and change nothing
 * @param timeout how long the call may take in all, with its retries
 */
public record CallOptions(String id, Instant deadline, String durability, boolean dryRun, Duration timeout) {
    /** No options. */
    public static final CallOptions NONE = new CallOptions(null, null, null, false, null);

    /** The same with an operation ID. */
    public CallOptions withId(String id) {
        return new CallOptions(id, deadline, durability, dryRun, timeout);
    }

    /** The same with a deadline. */
    public CallOptions withDeadline(Instant deadline) {
        return new CallOptions(id, deadline, durability, dryRun, timeout);
    }

    /** The same with a durability. */
    public CallOptions withDurability(String durability) {
        return new CallOptions(id, deadline, durability, dryRun, timeout);
    }

    /** The same, changing nothing. */
    public CallOptions asDryRun() {
        return new CallOptions(id, deadline, durability, true, timeout);
    }

    /** The same within a time. */
    public CallOptions withTimeout(Duration timeout) {
        return new CallOptions(id, deadline, durability, dryRun, timeout);
    }
}
