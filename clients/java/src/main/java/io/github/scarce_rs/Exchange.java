package io.github.scarce_rs;

import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonPrimitive;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.cert.CertificateException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import javax.net.ssl.SSLHandshakeException;

/** Sends a request until it is answered or its time is up. */
final class Exchange {
    /** How long things may take. */
    record Patience(Duration attempt, Duration pause, Duration pauseMax) {
        /** Exponential with full jitter; after what the server asks for, so that callers do not all come at once. */
        long pauseNanos(int attempt, long waitNanos) {
            long ceiling = Math.min(pause.toNanos() << Math.min(attempt, 10), pauseMax.toNanos());
            return waitNanos + ThreadLocalRandom.current().nextLong(1 + Math.max(ceiling, waitNanos / 4));
        }
    }

    /** A request that can be sent again. */
    record Request(String method, String path, Map<String, String> headers, String body) {}

    /** An answer or an error, and whether an attempt without an answer may have been applied. */
    record Decision(Answered answer, ScarceException error, boolean doubt) {
        ScarceException reason() {
            return answer == null ? error : answer.error();
        }
    }

    /** The header with the ID of a change. */
    static final String ID_HEADER = "Idempotency-Key";

    private final HttpClient client;
    private final String base;
    private final Map<String, String> headers;
    final Clock clock;
    final Patience patience;

    Exchange(HttpClient client, String base, Map<String, String> headers, Clock clock, Patience patience) {
        this.client = client;
        this.base = base;
        this.headers = headers;
        this.clock = clock;
        this.patience = patience;
    }

    /** {@code untilNanos}: the end of the call. {@code doubt}: an earlier attempt may have been applied. */
    Decision decide(Request request, long untilNanos, boolean doubt) {
        var error = new ScarceException("UNREACHABLE", "there was no time to send it", null);
        for (int attempt = 0; untilNanos - System.nanoTime() > 0; attempt++) {
            long waitNanos = 0;
            try {
                long left = Math.min(untilNanos - System.nanoTime(), patience.attempt().toNanos());
                var response = send(request, Math.max(left, 1));
                clock.learn(response.headers().firstValue("date").orElse(""));
                var answer = Answered.read(response, request.headers().get(ID_HEADER));
                if (!answer.isTransient()) {
                    return new Decision(answer, null, doubt);
                }
                doubt |= answer.mayBeApplied();
                error = answer.error();
                waitNanos = retryAfterNanos(response);
            } catch (IOException | TimeoutException cause) {
                boolean isLost = !isUnsent(cause);
                doubt |= isLost;
                error = new ScarceException(isLost ? "LOST" : "UNREACHABLE", base + ": " + cause, cause);
                if (isFatal(cause)) {
                    break;
                }
            }
            long pause = patience.pauseNanos(attempt, waitNanos);
            // A pause up to the end of the call would leave no time for an attempt after it.
            if (System.nanoTime() + pause - untilNanos >= 0 || !pause(pause)) {
                break;
            }
        }
        return new Decision(null, error, doubt);
    }

    private HttpResponse<String> send(Request request, long nanos) throws IOException, TimeoutException {
        var answer = client.sendAsync(made(request), BodyHandlers.ofString());
        try {
            return answer.get(nanos, TimeUnit.NANOSECONDS);
        } catch (ExecutionException wrapped) {
            throw wrapped.getCause() instanceof IOException cause ? cause : new IOException(wrapped.getCause());
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            throw new IOException("the thread was interrupted", ended);
        } finally {
            // Of no effect if it has ended.
            answer.cancel(true);
        }
    }

    /** A request as the library takes it. */
    HttpRequest made(Request request) {
        var body = request.body() == null
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString(request.body());
        var made = HttpRequest.newBuilder(URI.create(base + request.path())).method(request.method(), body);
        headers.forEach(made::setHeader);
        request.headers().forEach(made::setHeader);
        return made.build();
    }

    HttpClient client() {
        return client;
    }

    /** Waits, unless the thread is interrupted. */
    static boolean pause(long nanos) {
        try {
            TimeUnit.NANOSECONDS.sleep(nanos);
            return true;
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Whether the server cannot have got the request. */
    private static boolean isUnsent(Exception cause) {
        return cause instanceof ConnectException
                || cause instanceof HttpConnectTimeoutException
                || cause instanceof SSLHandshakeException;
    }

    /** Whether no retry will help: a certificate that is not trusted, or a caller that wants to end. */
    static boolean isFatal(Throwable cause) {
        for (var its = cause; its != null; its = its.getCause()) {
            if (its instanceof CertificateException || its instanceof InterruptedException) {
                return true;
            }
        }
        return false;
    }

    private static long retryAfterNanos(HttpResponse<?> response) {
        var seconds = response.headers().firstValue("retry-after").filter(text -> text.matches("\\d{1,9}"));
        return TimeUnit.SECONDS.toNanos(seconds.map(Long::parseLong).orElse(0L));
    }

    /** An answer that is final: the body, or the problem. */
    record Answered(JsonObject body, Problem problem, boolean replayed) {
        static Answered read(HttpResponse<String> response, String id) {
            boolean replayed = response.headers().firstValue("idempotency-replayed").isPresent();
            var body = Json.read(response.body());
            int status = response.statusCode();
            boolean isGood = status / 100 == 2;
            if (isGood && isOf(body, id)) {
                return new Answered(body, null, replayed);
            }
            var problem = isGood ? null : Problem.read(body, status);
            var said = response.body().substring(0, Math.min(response.body().length(), 200));
            return new Answered(
                    null, problem == null ? Problem.garbled(isGood ? 502 : status, said) : problem, replayed);
        }

        /**
         * Whether a body tells that a change was applied under this ID, or is an object where there is none. Anything
         * else may come from what stands between us and the server, and says nothing of the change.
         */
        static boolean isOf(JsonObject body, String id) {
            if (body == null || id == null) {
                return body != null;
            }
            return body.get("receipt") instanceof JsonObject receipt
                    && receipt.get("operation") instanceof JsonPrimitive operation
                    && operation.getAsString().equals(id);
        }

        /** Whether the request should be sent again. */
        boolean isTransient() {
            return problem != null && (problem.status() == 408 || problem.status() == 429 || problem.status() >= 500);
        }

        /** Whether a request that is answered so may have been applied, or may yet be. */
        boolean mayBeApplied() {
            return problem != null && problem.status() >= 500 && !problem.code().equals("OVERLOADED");
        }

        ScarceException error() {
            var said = problem.detail() == null ? problem.title() : problem.detail();
            var message = (said + " " + problem.advice()).trim();
            @SuppressWarnings("unchecked")
            Map<String, Object> facts = problem.facts() == null ? Map.of() : Json.as(Map.class, problem.facts());
            return new ScarceException(problem.code(), message, problem.status(), facts, null);
        }
    }

    /** A problem document. */
    record Problem(
            String code, int status, String title, String detail, String advice, boolean retryable, JsonObject facts) {
        /** The problem document of the server in a body, or null. */
        static Problem read(JsonObject body, int status) {
            try {
                var its = Json.as(Problem.class, body);
                boolean isTold = its != null && its.code() != null && its.title() != null && its.advice() != null;
                return isTold && its.status() == status ? its : null;
            } catch (JsonParseException other) {
                return null;
            }
        }

        static Problem garbled(int status, String said) {
            var title = "no answer of Scarce: " + said;
            return new Problem("GARBLED", status, title, null, "Check what answers at this address.", false, null);
        }

        /** Whether it is an answer of the rules. A code that is newer than this client is one by its status. */
        boolean isRefusal() {
            var known = Api.IS_REFUSAL.get(code);
            boolean isByStatus = !code.equals("GARBLED") && (status == 404 || status == 409 || status == 422);
            return known == null ? isByStatus : known;
        }

        <T> Outcome.Refused<T> refused() {
            Class<?> type = Api.FACTS.containsKey(code) ? Api.FACTS.get(code) : Map.class;
            var shown = Json.as(type, facts == null ? new JsonObject() : facts);
            return new Outcome.Refused<>(code, shown, retryable, title, advice);
        }
    }
}
