package io.github.scarce_rs;

/**
 * A command of a batch, with its own ID, deadline and durability.
 *
 * @param arguments the command
 * @param options its options
 */
public record Line(Arguments<?> arguments, CallOptions options) {
    /** A command without options. */
    public Line(Arguments<?> arguments) {
        this(arguments, CallOptions.NONE);
    }

    /**
     * What comes of a line.
     *
     * @param outcome null if the line could not be done, and was not
     * @param error why not
     */
    public record Result(Outcome<?> outcome, ScarceException error) {}
}
