package io.github.scarce_rs;

import java.util.Map;

/** Something is wrong besides the rules. The call that throws it changed nothing. */
public final class ScarceException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final String code;
    private final int status;
    private final transient Map<String, Object> facts;

    ScarceException(String code, String message, int status, Map<String, Object> facts, Throwable cause) {
        super(code + ": " + message, cause);
        this.code = code;
        this.status = status;
        this.facts = facts == null ? Map.of() : facts;
    }

    ScarceException(String code, String message, Throwable cause) {
        this(code, message, 0, null, cause);
    }

    /** The server's code, or UNREACHABLE, LOST or GARBLED. */
    public String code() {
        return code;
    }

    /** The status of HTTP; 0 without an answer. */
    public int status() {
        return status;
    }

    /** What the code rests on. */
    public Map<String, Object> facts() {
        return facts == null ? Map.of() : facts;
    }
}
