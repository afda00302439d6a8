package io.github.scarce_rs;

import static io.github.scarce_rs.Servers.applied;
import static io.github.scarce_rs.Servers.codeOf;
import static io.github.scarce_rs.Servers.name;
import static io.github.scarce_rs.Servers.refused;
import static io.github.scarce_rs.Servers.undecided;
import static io.github.scarce_rs.Servers.value;
import static io.github.scarce_rs.Servers.variable;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.Test;

/** What comes of commands on a calm server. */
final class OutcomesTest {
    private final String url = variable("SCARCE_URL");
    private final Scarce scarce = Scarce.at(url);

    private static String item(Scarce scarce, long quantity) {
        var sku = name("sku");
        applied(scarce.stock().create(new Api.StockCreateArguments(sku, quantity)));
        return sku;
    }

    private static Api.StockTakeArguments take(String sku, long quantity) {
        return new Api.StockTakeArguments(sku, quantity, "a");
    }

    @Test
    void aChangeHasValuesAndAReceiptAndItsDuplicateTheSameAgain() {
        var sku = item(scarce, 3);
        var id = CallOptions.NONE.withId(name("order"));
        var first = applied(scarce.stock().take(take(sku, 2), id));
        assertEquals(new Api.StockTakeResult(1, 1), first.value());
        assertEquals(id.id(), first.receipt().operation());
        var again = applied(scarce.stock().take(take(sku, 2), id));
        assertEquals(new Outcome.Applied<>(first.value(), first.receipt(), true), again);
        assertEquals("ID_REUSED", refused(scarce.stock().take(take(sku, 1), id)).code());
    }

    @Test
    void aRefusalIsAValueWithItsFactsOfReadsToo() {
        var refused = refused(scarce.stock().take(take(item(scarce, 1), 2)));
        assertEquals("INSUFFICIENT_STOCK", refused.code());
        assertEquals(new Api.InsufficientStockFacts(1, 2), refused.facts());
        assertTrue(refused.retryable());
        var missing = scarce.account().get(new Api.AccountGetArguments(name("nobody")));
        assertEquals("ACCOUNT_NOT_FOUND", refused(missing).code());
    }

    @Test
    void recordsGoInAndComeOut() {
        var coupon = name("coupon");
        var daily = new Api.Limit("daily", 1).withPer(List.of("user")).withWindow("DAY").withOffsetMinutes(480L);
        var create = new Api.CouponCreateArguments(coupon, List.of(new Api.Limit("all", 100), daily));
        assertEquals(2, value(scarce.coupon().create(create)).limits());
        var claim = new Api.CouponClaimArguments(coupon, Map.of("user", "alice"));
        assertEquals(1, value(scarce.coupon().claim(claim)).serial());
        var reached = assertInstanceOf(Api.LimitReachedFacts.class, refused(scarce.coupon().claim(claim)).facts());
        assertEquals("daily", reached.limit());
        assertEquals("daily", value(scarce.coupon().get(new Api.CouponGetArguments(coupon))).limits().get(1).name());
    }

    @Test
    void aNewIdCarriesItsTimeThoughTheClockOfThisMachineIsWrong() {
        var sku = item(scarce, 2);
        for (var wrong : List.of(Duration.ofHours(1), Duration.ofDays(-7))) {
            var client = Scarce.builder(url).clock(() -> Instant.now().plus(wrong)).build();
            if (wrong.isNegative()) {
                // A clock that is behind is known from any answer.
                applied(client.stock().get(new Api.StockGetArguments(sku)));
            }
            var id = applied(client.stock().take(take(sku, 1))).receipt().operation();
            var time = Instant.ofEpochMilli(Long.parseLong(id.replace("-", "").substring(0, 12), 16));
            assertTrue(Duration.between(time, Instant.now()).abs().getSeconds() < 10, id);
        }
    }

    @Test
    void aDryRunForetellsAndADeadlineIsKept() {
        var sku = item(scarce, 1);
        var told = applied(scarce.stock().take(take(sku, 1), CallOptions.NONE.asDryRun()));
        assertEquals(1, told.value().firstSerial());
        assertNull(told.receipt());
        var late = scarce.stock().take(take(sku, 1), CallOptions.NONE.withDeadline(Instant.ofEpochMilli(1)));
        assertEquals("DEADLINE_PASSED", refused(late).code());
        assertEquals(1, value(scarce.stock().get(new Api.StockGetArguments(sku))).available());
    }

    @Test
    void linesOfABatchHaveOutcomesOfTheirOwn() {
        var sku = item(scarce, 1_200);
        var some = scarce.batch(List.of(
                new Line(take(sku, 1)), new Line(take(sku, 5_000)), new Line(new Api.StockGetArguments(sku))));
        applied(some.get(0).outcome());
        assertEquals("INSUFFICIENT_STOCK", refused(some.get(1).outcome()).code());
        var shown = assertInstanceOf(Api.StockGetResult.class, applied(some.get(2).outcome()).value());
        assertEquals(1_199, shown.available());
        // More than a request may have.
        var many = scarce.batch(Collections.nCopies(1_300, new Line(take(sku, 1))));
        assertEquals(1_199, many.stream().filter(it -> it.outcome() instanceof Outcome.Applied).count());
        assertEquals("SOLD_OUT", refused(many.get(1_299).outcome()).code());
    }

    @Test
    void anAtomicBatchIsAppliedWholeOrNotAtAll() {
        var tag = "{" + name("tag") + "}";
        applied(scarce.stock().create(new Api.StockCreateArguments("s" + tag, 1)));
        for (var account : List.of("p" + tag, "q" + tag)) {
            applied(scarce.account().open(new Api.AccountOpenArguments(account, "EUR")));
        }
        applied(scarce.account().credit(new Api.AccountCreditArguments("p" + tag, 1_000)));
        var lines = List.of(new Api.AccountTransferArguments("p" + tag, "q" + tag, 100), take("s" + tag, 1));
        var values = value(scarce.atomic(lines, CallOptions.NONE));
        assertEquals(900, assertInstanceOf(Api.AccountTransferResult.class, values.get(0)).fromAvailable());
        var refused = refused(scarce.atomic(lines, CallOptions.NONE));
        var facts = assertInstanceOf(Api.BatchRefusedFacts.class, refused.facts());
        assertEquals(1, facts.index());
        assertEquals("SOLD_OUT", facts.code());
    }

    @Test
    void mistakesAndAnAbsentServerAreErrors() {
        assertEquals("INVALID", codeOf(() -> scarce.stock().take(take("no spaces", 1))));
        try (var live = scarce.live(List.of("nothing.s"))) {
            assertEquals("INVALID", codeOf(live::next));
        }
        var away = Scarce.builder("http://127.0.0.1:9").timeout(Duration.ofMillis(300)).build();
        assertEquals("UNREACHABLE", codeOf(() -> away.stock().take(take("s", 1))));
        assertTrue(Api.VERSION.matches("\\d+\\.\\d+\\.\\d+"));
    }

    /** Passes requests on, and loses answers or requests. */
    private enum Way { SOUND, LOSES_ANSWERS, LOSES_REQUESTS }

    @Test
    void anUnansweredChangeIsUndecidedUntilTheServerIsAsked() throws IOException {
        var line = new AtomicReference<>(Way.SOUND);
        var proxy = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        var client = HttpClient.newHttpClient();
        proxy.createContext("/", exchange -> {
            try (exchange) {
                var body = exchange.getRequestBody().readAllBytes();
                if (line.get() == Way.LOSES_REQUESTS) {
                    return;
                }
                var request = HttpRequest.newBuilder(URI.create(url + exchange.getRequestURI()))
                        .method(exchange.getRequestMethod(), HttpRequest.BodyPublishers.ofByteArray(body));
                for (var name : List.of("Content-Type", "Idempotency-Key")) {
                    var value = exchange.getRequestHeaders().getFirst(name);
                    if (value != null) {
                        request.header(name, value);
                    }
                }
                var answer = client.send(request.build(), BodyHandlers.ofByteArray());
                if (line.get() == Way.SOUND) {
                    answer.headers().firstValue("idempotency-replayed").ifPresent(it -> exchange.getResponseHeaders().set("Idempotency-Replayed", it));
                    exchange.sendResponseHeaders(answer.statusCode(), answer.body().length);
                    exchange.getResponseBody().write(answer.body());
                }
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        });
        proxy.start();
        try {
            var through = "http://127.0.0.1:" + proxy.getAddress().getPort();
            var asker = Scarce.builder(through).timeout(Duration.ofMillis(400)).build();
            var sku = item(scarce, 2);
            line.set(Way.LOSES_ANSWERS);
            var open = undecided(asker.stock().take(take(sku, 1)));
            assertEquals("LOST", open.reason().code());
            line.set(Way.LOSES_REQUESTS);
            var never = undecided(asker.stock().take(take(sku, 1)));
            line.set(Way.SOUND);
            var asked = applied(open.ask());
            assertEquals(1, asked.value().firstSerial());
            assertTrue(asked.replayed());
            assertEquals("OPERATION_NOT_FOUND", undecided(never.ask()).reason().code());
            assertEquals(new Outcome.Absent<>(never.operation()), never.resolve());
            assertEquals("RESOLVED_ABSENT", refused(never.retry()).code());
            assertEquals(1, value(scarce.stock().get(new Api.StockGetArguments(sku))).sold());
        } finally {
            proxy.stop(0);
        }
    }

    @Test
    void tlsAndAKeyAreUsedAndAWrongOneIsAnError() throws Exception {
        var address = variable("SCARCE_TLS_URL");
        var key = variable("SCARCE_KEY");
        var tls = trusting(variable("SCARCE_TLS_CA"));
        item(Scarce.builder(address).key(key).tls(tls).build(), 1);
        var stranger = Scarce.builder(address).tls(tls).build();
        assertEquals("UNAUTHENTICATED", codeOf(() -> stranger.stock().get(new Api.StockGetArguments("s"))));
        var started = System.nanoTime();
        var untrusting = Scarce.builder(address).key(key).build();
        assertEquals("UNREACHABLE", codeOf(() -> untrusting.stock().get(new Api.StockGetArguments("s"))));
        assertTrue(System.nanoTime() - started < 10_000_000_000L, "a certificate that is not trusted is not tried again");
    }

    private static SSLContext trusting(String file) throws Exception {
        var trusted = KeyStore.getInstance(KeyStore.getDefaultType());
        trusted.load(null, null);
        try (var input = new FileInputStream(file)) {
            var all = new ArrayList<>(CertificateFactory.getInstance("X.509").generateCertificates(input));
            trusted.setCertificateEntry("authority", all.get(0));
        }
        var managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(trusted);
        var context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }
}
