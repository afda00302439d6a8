package io.github.scarce_rs;

import static io.github.scarce_rs.Servers.name;
import static io.github.scarce_rs.Servers.value;
import static io.github.scarce_rs.Servers.variable;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A ledger outside of the server, while it is killed and its connections are lost and delayed. */
@Timeout(100)
final class KillsTest {
    private static final int WORKERS = 8;
    private static final int ROUNDS = 48;
    private static final Set<String> TROUBLE = Set.of("UNREACHABLE", "LOST", "UNAVAILABLE", "OVERLOADED", "UNKNOWN");

    private final Scarce scarce = Scarce.builder(variable("SCARCE_UNSTEADY_URL"))
            .timeout(Duration.ofSeconds(2))
            .attemptTimeout(Duration.ofMillis(400))
            .pauses(Duration.ofMillis(50), Duration.ofMillis(300))
            .build();

    /** The outcome of a change, by as many questions as it takes. */
    private static <T> Outcome<T> settled(Outcome<T> outcome) {
        var its = outcome;
        while (its instanceof Outcome.Undecided<T> open) {
            its = open.resolve();
        }
        return its;
    }

    /** Calls again while nothing gets through, which changes nothing. */
    private static <T> Outcome<T> through(Supplier<Outcome<T>> call) {
        while (true) {
            try {
                return settled(call.get());
            } catch (ScarceException error) {
                if (!TROUBLE.contains(error.code())) {
                    throw error;
                }
            }
        }
    }

    /** What the outside knows. */
    private static final class Ledger {
        final AtomicLong debited = new AtomicLong();
        final AtomicLong taken = new AtomicLong();
        final AtomicLong restocked = new AtomicLong(5);
        final AtomicLong refused = new AtomicLong();
        final AtomicLong replayed = new AtomicLong();

        void note(Outcome<?> outcome, AtomicLong column, long amount) {
            if (outcome instanceof Outcome.Applied<?> applied) {
                column.addAndGet(amount);
                replayed.addAndGet(applied.replayed() ? 1 : 0);
            } else if (outcome instanceof Outcome.Refused) {
                refused.incrementAndGet();
            }
        }
    }

    @Test
    void eachDebitAndEachUnitIsTakenOnceAndNoneIsLost() throws Exception {
        var account = name("account");
        var sku = name("sku");
        var ledger = new Ledger();
        through(() -> scarce.account().open(new Api.AccountOpenArguments(account, "EUR")));
        through(() -> scarce.account().credit(new Api.AccountCreditArguments(account, 900)));
        through(() -> scarce.stock().create(new Api.StockCreateArguments(sku, 5)));
        var workers = Executors.newFixedThreadPool(WORKERS);
        var all = new ArrayList<java.util.concurrent.Future<?>>();
        for (int worker = 0; worker < WORKERS; worker++) {
            int number = worker;
            all.add(workers.submit(() -> work(ledger, account, sku, number)));
        }
        for (var each : all) {
            each.get();
        }
        workers.shutdown();
        var kept = value(through(() -> scarce.account().get(new Api.AccountGetArguments(account))));
        var shown = value(through(() -> scarce.stock().get(new Api.StockGetArguments(sku))));
        System.out.println("ledger: debited " + ledger.debited + ", taken " + ledger.taken + ", restocked "
                + ledger.restocked + ", refused " + ledger.refused + ", replayed " + ledger.replayed);
        assertEquals(900 - ledger.debited.get(), kept.balance());
        assertEquals(List.of(ledger.taken.get(), ledger.restocked.get()), List.of(shown.sold(), shown.total()));
        assertTrue(ledger.replayed.get() > 0 && ledger.refused.get() > 0, "answers were lost, and commands refused");
    }

    private void work(Ledger ledger, String account, String sku, int worker) {
        for (int round = 0; round < ROUNDS; round++) {
            long amount = 1 + round % 3;
            var debit = new Api.AccountDebitArguments(account, amount);
            ledger.note(through(() -> scarce.account().debit(debit)), ledger.debited, amount);
            var take = new Api.StockTakeArguments(sku, 1, "a");
            ledger.note(through(() -> scarce.stock().take(take)), ledger.taken, 1);
            // The item is sold out again and again: a copy that arrives late must not find the next units.
            if (round % WORKERS == worker) {
                var more = new Api.StockRestockArguments(sku, 3);
                ledger.note(through(() -> scarce.stock().restock(more)), ledger.restocked, 3);
            }
            if (round % 10 == 0) {
                var line = new Line(new Api.AccountDebitArguments(account, 1));
                for (var result : scarce.batch(List.of(line, line))) {
                    if (result.outcome() != null) {
                        ledger.note(settled(result.outcome()), ledger.debited, 1);
                    }
                }
            }
        }
    }

    @Test
    void whatIsFollowedEndsAsWhatIsRead() throws Exception {
        var market = name("market");
        var account = name("account");
        through(() -> scarce.market().create(new Api.MarketCreateArguments(market)));
        through(() -> scarce.account().open(new Api.AccountOpenArguments(account, "EUR")));
        List<Object> seen = new ArrayList<>(List.of(List.of(), List.of(), 0L, 0L));
        var trades = new ArrayList<Long>();
        var reader = Executors.newSingleThreadExecutor();
        var live = scarce.live(
                List.of("market." + market + ".depth200", "market." + market + ".trades", "account." + account));
        var followed = new CountDownLatch(3);
        var reading = reader.submit(() -> read(live, seen, trades, followed));
        // What is traded before a channel is followed is not in its snapshot.
        followed.await();
        change(market, account);
        var depth = new Api.MarketDepthArguments(market).withLevels(200L);
        var last = new Api.MarketTradesArguments(market).withCount(1L);
        var book = value(through(() -> scarce.market().depth(depth)));
        var newest = value(through(() -> scarce.market().trades(last))).trades().get(0);
        var wanted = List.<Object>of(book.bids(), book.asks(), 50L, newest.trade());
        synchronized (seen) {
            while (!seen.equals(wanted)) {
                seen.wait();
            }
        }
        live.close();
        reading.get();
        reader.shutdown();
        assertEquals(LongStream.rangeClosed(1, newest.trade()).boxed().toList(), trades);
    }

    private static void read(Live live, List<Object> seen, List<Long> trades, CountDownLatch followed) {
        var channels = new HashSet<String>();
        for (var update = live.next(); update != null; update = live.next()) {
            synchronized (seen) {
                applyOne(seen, trades, update);
                seen.notifyAll();
            }
            if (channels.add(update.channel())) {
                followed.countDown();
            }
        }
    }

    private static void applyOne(List<Object> seen, List<Long> trades, Update update) {
        if (update.data() instanceof Api.MarketDepthResult book) {
            seen.set(0, book.bids());
            seen.set(1, book.asks());
        } else if (update.data() instanceof Api.MarketTradesResult its) {
            its.trades().forEach(row -> trades.add(row.trade()));
            seen.set(3, trades.isEmpty() ? 0L : trades.get(trades.size() - 1));
        } else if (update.data() instanceof Api.AccountGetResult its) {
            seen.set(2, its.balance());
        }
    }

    private void change(String market, String account) {
        for (int number = 0; number < 100; number++) {
            var side = number % 2 == 0 ? "BUY" : "SELL";
            var place = new Api.OrderPlaceArguments(market, "o" + number, "u" + number, side, "LIMIT", 1 + number % 4)
                    .withPrice(100L + number * 7 % 11 + number % 2 * 2);
            through(() -> scarce.order().place(place));
            if (number % 10 == 0) {
                through(() -> scarce.account().credit(new Api.AccountCreditArguments(account, 5)));
            }
        }
    }
}
