package io.github.scarce_rs;

import java.util.List;

/**
 * The arguments of a command.
 *
 * @param <T> what the command answers
 */
public interface Arguments<T> {
    /** How the command is sent. */
    Route route();

    /** The type of its answer. */
    Class<T> result();

    /**
     * How a command is sent.
     *
     * @param query the arguments that are in the query
     * @param on the argument that names a resource in the command's partition
     * @param remembersRefusals whether a refusal is remembered under the ID, so that no copy of the request can be
     *     applied later
     */
    record Route(
            String command,
            String method,
            String path,
            List<String> query,
            String on,
            boolean takesId,
            boolean remembersRefusals) {}
}
