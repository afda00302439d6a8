package io.github.scarce_rs;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import io.github.scarce_rs.Caller.Sent;
import io.github.scarce_rs.Exchange.Answered;
import io.github.scarce_rs.Exchange.Decision;
import io.github.scarce_rs.Exchange.Problem;
import io.github.scarce_rs.Exchange.Request;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Many commands in a request, each with an outcome of its own. */
final class Batches {
    /** The most lines of a request; longer batches are sent in several. */
    private static final int LINES_MAX = 1_000;

    private final Caller caller;

    Batches(Caller caller) {
        this.caller = caller;
    }

    /** A line that is on its way. */
    private static final class Pending {
        final int index;
        final JsonObject operation;
        final Sent<?> sent;
        boolean doubt;
        ScarceException error = new ScarceException("UNREACHABLE", "there was no time to send it", null);

        Pending(int index, JsonObject operation, Sent<?> sent) {
            this.index = index;
            this.operation = operation;
            this.sent = sent;
        }
    }

    /** Sends lines until each is decided or the time is up. */
    List<Line.Result> send(List<Line> lines, long until) {
        var results = new Line.Result[lines.size()];
        List<Pending> open = new ArrayList<>();
        for (var line : lines) {
            open.add(pending(open.size(), line));
        }
        for (int attempt = 0; !open.isEmpty(); attempt++) {
            List<Pending> left = new ArrayList<>();
            for (int from = 0; from < open.size(); from += LINES_MAX) {
                left.addAll(round(open.subList(from, Math.min(from + LINES_MAX, open.size())), results, until));
            }
            open = left;
            long pause = caller.exchange.patience.pauseNanos(attempt, waitNanos(open));
            if (!open.isEmpty() && (System.nanoTime() + pause - until >= 0 || !Exchange.pause(pause))) {
                open.forEach(it -> results[it.index] = given(it));
                break;
            }
        }
        return Arrays.asList(results);
    }

    private static JsonObject operation(Arguments<?> arguments) {
        var operation = new JsonObject();
        operation.addProperty("command", arguments.route().command());
        operation.add("arguments", Json.of(arguments));
        return operation;
    }

    private Pending pending(int index, Line line) {
        var sent = caller.toSend(line.arguments(), line.options());
        var operation = operation(line.arguments());
        if (sent.id() != null) {
            operation.addProperty("id", sent.id());
            var deadline = line.options().deadline();
            operation.addProperty("deadline", deadline == null ? null : deadline.toEpochMilli());
            operation.addProperty("durability", line.options().durability());
        }
        return new Pending(index, operation, sent);
    }

    /** How long the lines should wait, if the server knows. */
    private static long waitNanos(List<Pending> open) {
        var waits = open.stream().map(it -> it.error.facts().get("retry_after_ms"));
        long ms = waits.filter(Number.class::isInstance).mapToLong(it -> ((Number) it).longValue()).max().orElse(0);
        return TimeUnit.MILLISECONDS.toNanos(ms);
    }

    /** Sends lines, again as long as the request as a whole has no answer. Gives those that are open still. */
    private List<Pending> round(List<Pending> lines, Line.Result[] results, long until) {
        var operations = new JsonArray();
        lines.forEach(it -> operations.add(it.operation));
        var body = new JsonObject();
        body.add("operations", operations);
        var made = caller.exchange.decide(new Request("POST", "/v1/batch", Caller.JSON, Json.shown(body)), until, false);
        lines.forEach(it -> it.doubt |= made.doubt());
        if (made.answer() == null || made.answer().problem() != null) {
            lines.forEach(it -> {
                it.error = made.reason();
                results[it.index] = given(it);
            });
            return List.of();
        }
        if (!(made.answer().body().get("results") instanceof JsonArray said) || said.size() != lines.size()) {
            lines.forEach(it -> {
                it.doubt = true;
                it.error = garbled(made.answer().body()).error();
                results[it.index] = given(it);
            });
            return List.of();
        }
        List<Pending> open = new ArrayList<>();
        for (int at = 0; at < lines.size(); at++) {
            var it = lines.get(at);
            var answer = read(said.get(at), it.sent.id());
            if (answer.isTransient()) {
                it.doubt |= answer.mayBeApplied();
                it.error = answer.error();
                open.add(it);
            } else {
                results[it.index] = concluded(it, answer, until);
            }
        }
        return open;
    }

    private static Answered read(JsonElement line, String id) {
        if (!(line instanceof JsonObject its)) {
            return garbled(line);
        }
        if (its.get("problem") instanceof JsonObject told) {
            var problem = its.get("status") instanceof JsonPrimitive status ? Problem.read(told, status.getAsInt()) : null;
            return problem == null ? garbled(line) : new Answered(null, problem, its.has("replayed"));
        }
        var result = its.get("result") instanceof JsonObject object ? object : new JsonObject();
        return Answered.isOf(result, id) ? new Answered(result, null, its.has("replayed")) : garbled(line);
    }

    /** Something else than the server has answered. */
    private static Answered garbled(JsonElement said) {
        var text = said.toString();
        return new Answered(null, Problem.garbled(502, text.substring(0, Math.min(text.length(), 200))), false);
    }

    private Line.Result concluded(Pending it, Answered answer, long until) {
        try {
            return new Line.Result(caller.conclude(it.sent, new Decision(answer, null, it.doubt), until), null);
        } catch (ScarceException error) {
            return new Line.Result(null, error);
        }
    }

    /** A line without an answer. */
    private Line.Result given(Pending it) {
        boolean isOpen = it.doubt && it.sent.id() != null;
        return isOpen
                ? new Line.Result(caller.undecided(it.sent, it.error), null)
                : new Line.Result(null, it.error);
    }

    /** All lines or none, under one ID. */
    Sent<List<Object>> atomic(List<? extends Arguments<?>> lines, CallOptions options) {
        String id = null;
        if (!options.dryRun()) {
            id = options.id() == null ? caller.exchange.clock.newId() : options.id();
        }
        var operations = new JsonArray();
        lines.forEach(line -> operations.add(operation(line)));
        var body = new JsonObject();
        body.addProperty("atomic", true);
        body.add("operations", operations);
        var headers = Caller.commonHeaders(id, options);
        headers.putAll(Caller.JSON);
        var path = options.dryRun() ? "/v1/batch?dry_run=true" : "/v1/batch";
        var on = lines.isEmpty() ? "" : caller.toSend(lines.get(0), options).on();
        boolean remembers = lines.stream().anyMatch(line -> line.route().remembersRefusals());
        return new Sent<>(new Request("POST", path, headers, Json.shown(body)), id, on, remembers, given -> {
            var results = given.getAsJsonArray("results");
            List<Object> values = new ArrayList<>();
            for (int at = 0; at < lines.size(); at++) {
                values.add(Json.as(lines.get(at).result(), results.get(at).getAsJsonObject().get("result")));
            }
            return values;
        });
    }
}
