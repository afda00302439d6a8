package io.github.scarce_rs;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import io.github.scarce_rs.Exchange.Answered;
import io.github.scarce_rs.Exchange.Decision;
import io.github.scarce_rs.Exchange.Request;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.Function;

/** Makes of each command one outcome, whatever happens on the way. */
final class Caller {
    /** Refusals after which no copy of the request can be applied, though they are not remembered. */
    private static final Set<String> FINAL =
            Set.of("ID_REUSED", "RESOLVED_ABSENT", "DEADLINE_PASSED", "CROSS_PARTITION");

    static final Map<String, String> JSON = Map.of("Content-Type", "application/json");

    /**
     * A command that is on its way, always under the same ID.
     *
     * @param id null for reads and dry runs, which change nothing
     * @param on a resource in its partition, by which the server can be asked about the ID
     * @param values how the answer's values are read
     */
    record Sent<T>(
            Request request, String id, String on, boolean remembersRefusals, Function<JsonObject, T> values) {}

    final Exchange exchange;
    private final Duration timeout;

    Caller(Exchange exchange, Duration timeout) {
        this.exchange = exchange;
        this.timeout = timeout;
    }

    /** The end of a call. */
    long until(Duration timeout) {
        return System.nanoTime() + (timeout == null ? this.timeout : timeout).toNanos();
    }

    /** A command as a request. */
    <T> Sent<T> toSend(Arguments<T> arguments, CallOptions options) {
        var route = arguments.route();
        var rest = Json.of(arguments);
        var on = rest.has(route.on()) ? rest.get(route.on()).getAsString() : "";
        var path = route.path();
        for (var name : Set.copyOf(rest.keySet())) {
            if (path.contains("{" + name + "}")) {
                path = path.replace("{" + name + "}", escaped(rest.remove(name)));
            }
        }
        var query = new StringJoiner("&", "?", "").setEmptyValue("");
        for (var name : route.query()) {
            if (rest.has(name)) {
                query.add(name + "=" + escaped(rest.remove(name)));
            }
        }
        if (options.dryRun()) {
            query.add("dry_run=true");
        }
        String id = null;
        if (route.takesId() && !options.dryRun()) {
            id = options.id() == null ? exchange.clock.newId() : options.id();
        }
        var headers = commonHeaders(id, options);
        String body = null;
        if (route.method().equals("POST") || route.method().equals("PATCH")) {
            headers.putAll(JSON);
            body = Json.shown(rest);
        }
        var request = new Request(route.method(), path + query, headers, body);
        return new Sent<>(request, id, on, route.remembersRefusals(), it -> Json.as(arguments.result(), it));
    }

    private static String escaped(JsonElement value) {
        return URLEncoder.encode(value.getAsString(), StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** The headers of a change. */
    static Map<String, String> commonHeaders(String id, CallOptions options) {
        var headers = new LinkedHashMap<String, String>();
        if (id != null) {
            headers.put(Exchange.ID_HEADER, id);
        }
        if (options.deadline() != null) {
            headers.put("Scarce-Deadline", String.valueOf(options.deadline().toEpochMilli()));
        }
        if (options.durability() != null) {
            headers.put("Scarce-Durability", options.durability());
        }
        return headers;
    }

    /** {@code doubt}: an earlier attempt may have been applied. */
    <T> Outcome<T> call(Sent<T> sent, long until, boolean doubt) {
        return conclude(sent, exchange.decide(sent.request(), until, doubt), until);
    }

    /** What a decision means. */
    <T> Outcome<T> conclude(Sent<T> sent, Decision made, long until) {
        boolean isOpen = made.doubt() && sent.id() != null;
        var answer = made.answer();
        if (answer != null && answer.problem() == null) {
            return applied(answer, sent.values());
        }
        if (answer == null || !answer.problem().isRefusal()) {
            if (isOpen) {
                return undecided(sent, made.reason());
            }
            throw made.reason();
        }
        var code = answer.problem().code();
        Outcome<T> refusal = answer.problem().refused();
        if (!isOpen || FINAL.contains(code)) {
            return refusal;
        }
        if (code.equals("ID_EXPIRED")) {
            // Whatever was under the ID may have been forgotten.
            return undecided(sent, answer.error());
        }
        if (sent.remembersRefusals()) {
            return refusal;
        }
        // An earlier attempt that is still on its way could be applied after this refusal.
        var settled = resolve(sent, until);
        return settled instanceof Outcome.Absent ? refusal : settled;
    }

    /** Ensures that the operation is decided, one way or the other. */
    private <T> Outcome<T> resolve(Sent<T> sent, long until) {
        var made = exchange.decide(new Request("POST", about(sent, "/resolve"), JSON, "{}"), until, false);
        if (made.answer() == null || made.answer().problem() != null) {
            return undecided(sent, made.reason());
        }
        if (made.answer().body().get("state").getAsString().equals("ABSENT")) {
            return new Outcome.Absent<>(sent.id());
        }
        // What is remembered is the answer to a copy.
        return call(sent, until, true);
    }

    private <T> Outcome<T> look(Sent<T> sent, long until) {
        var made = exchange.decide(new Request("GET", about(sent, ""), Map.of(), null), until, false);
        boolean isKnown = made.answer() != null && made.answer().problem() == null;
        return isKnown ? call(sent, until, true) : undecided(sent, made.reason());
    }

    private static String about(Sent<?> sent, String question) {
        var id = URLEncoder.encode(sent.id(), StandardCharsets.UTF_8).replace("+", "%20");
        return "/v1/operations/" + id + question + "?on=" + URLEncoder.encode(sent.on(), StandardCharsets.UTF_8);
    }

    <T> Outcome<T> undecided(Sent<T> sent, ScarceException reason) {
        return new Outcome.Undecided<>(sent.id(), reason, (kind, timeout) -> {
            long until = until(timeout);
            return switch (kind) {
                case RETRY -> call(sent, until, true);
                case ASK -> look(sent, until);
                case RESOLVE -> resolve(sent, until);
            };
        });
    }

    static <T> Outcome<T> applied(Answered answer, Function<JsonObject, T> values) {
        var receipt = answer.body().get("receipt");
        var shown = receipt == null ? null : Json.as(Api.Receipt.class, receipt);
        return new Outcome.Applied<>(values.apply(answer.body()), shown, answer.replayed());
    }
}
