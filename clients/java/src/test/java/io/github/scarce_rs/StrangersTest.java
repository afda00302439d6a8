package io.github.scarce_rs;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What comes of commands if something else than the server answers, as a proxy or a login page on the way does. */
final class StrangersTest {
    private record Says(int status, Map<String, String> headers, String body) {
        static Says of(int status, String body) {
            return new Says(status, Map.of(), body);
        }
    }

    /** Nothing in these says whether a change was applied. */
    private static final Map<String, Says> SAYS_NOTHING = Map.of(
            "a page", Says.of(200, "<html>"),
            "another object", Says.of(200, "{\"ok\":true,\"available\":5,\"balance\":5}"),
            "the receipt of another operation", Says.of(200, "{\"available\":5,\"receipt\":{\"operation\":\"x\"}}"),
            "a list", Says.of(200, "[]"),
            "null", Says.of(200, "null"),
            "half of it", Says.of(200, "{\"receipt\":{\"operation\":\""),
            "another service", Says.of(502, "{\"code\":500,\"status\":\"error\"}"),
            "a refusal of another status",
                    Says.of(502, "{\"code\":\"ACCOUNT_NOT_FOUND\",\"status\":404,\"title\":\"t\",\"advice\":\"a\"}"));

    /** Here it was certainly not taken. */
    private static final Map<String, Says> NOT_TAKEN = Map.of(
            "elsewhere", new Says(302, Map.of("Location", "/elsewhere"), "x"),
            "elsewhere, with the body", new Says(307, Map.of("Location", "/elsewhere"), "x"),
            "in a year", new Says(429, Map.of("Retry-After", "31536000"), "x"),
            "never", new Says(429, Map.of("Retry-After", "9".repeat(400)), "x"),
            "a refusal that lacks its words", Says.of(404, "{\"code\":\"ACCOUNT_NOT_FOUND\",\"status\":404}"));

    private final AtomicReference<Says> says = new AtomicReference<>();
    private final AtomicBoolean isFollowed = new AtomicBoolean();
    private HttpServer server;
    private Scarce scarce;

    @BeforeEach
    void listen() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.getRequestBody().readAllBytes();
            if (exchange.getRequestURI().getPath().equals("/elsewhere")) {
                isFollowed.set(true);
            }
            var its = says.get();
            its.headers().forEach(exchange.getResponseHeaders()::set);
            var body = its.body().getBytes();
            exchange.sendResponseHeaders(its.status(), body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        var url = "http://127.0.0.1:" + server.getAddress().getPort();
        scarce = Scarce.builder(url).timeout(Duration.ofMillis(500)).build();
    }

    @AfterEach
    void end() {
        server.stop(0);
    }

    @Test
    void whatIsNotTheServersAnswerLeavesAChangeUndecided() {
        var debit = new Api.AccountDebitArguments("a", 5);
        SAYS_NOTHING.forEach((what, its) -> {
            says.set(its);
            assertInstanceOf(Outcome.Undecided.class, scarce.account().debit(debit), what);
            for (var line : scarce.batch(List.of(new Line(debit), new Line(debit)))) {
                assertInstanceOf(Outcome.Undecided.class, line.outcome(), what);
            }
            var atomic = scarce.atomic(List.of(debit), CallOptions.NONE);
            assertInstanceOf(Outcome.Undecided.class, atomic, what);
        });
    }

    @Test
    void whatWasNotTakenIsAnErrorAndNobodyWaitsForAYear() {
        var debit = new Api.AccountDebitArguments("a", 5);
        NOT_TAKEN.forEach((what, its) -> {
            says.set(its);
            assertThrows(ScarceException.class, () -> scarce.account().debit(debit), what);
            assertNotNull(scarce.batch(List.of(new Line(debit))).get(0).error(), what);
        });
        assertFalse(isFollowed.get());
    }
}
