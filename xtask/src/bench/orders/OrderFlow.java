import exchange.core2.collections.objpool.ObjectsPool;
import exchange.core2.core.ExchangeApi;
import exchange.core2.core.ExchangeCore;
import exchange.core2.core.common.CoreSymbolSpecification;
import exchange.core2.core.common.CoreWaitStrategy;
import exchange.core2.core.common.L2MarketData;
import exchange.core2.core.common.OrderAction;
import exchange.core2.core.common.OrderType;
import exchange.core2.core.common.SymbolType;
import exchange.core2.core.common.api.ApiAddUser;
import exchange.core2.core.common.api.ApiAdjustUserBalance;
import exchange.core2.core.common.api.ApiCancelOrder;
import exchange.core2.core.common.api.ApiCommand;
import exchange.core2.core.common.api.ApiMoveOrder;
import exchange.core2.core.common.api.ApiPlaceOrder;
import exchange.core2.core.common.api.ApiReduceOrder;
import exchange.core2.core.common.api.binary.BatchAddSymbolsCommand;
import exchange.core2.core.common.cmd.OrderCommand;
import exchange.core2.core.common.cmd.OrderCommandType;
import exchange.core2.core.common.config.ExchangeConfiguration;
import exchange.core2.core.common.config.LoggingConfiguration;
import exchange.core2.core.common.config.PerformanceConfiguration;
import exchange.core2.core.orderbook.IOrderBook;
import exchange.core2.core.orderbook.OrderBookDirectImpl;
import exchange.core2.core.orderbook.OrderBookEventsHelper;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Plays a flow of one market: OrderFlow pipeline|matching FILE BOOK. Prints commands and seconds of
 * each of two times, and writes the book.
 */
public final class OrderFlow {
    private static final int SYMBOL = 1;
    private static final int BASE = 2;
    private static final int QUOTE = 3;
    private static final long RESERVE = 1L << 31;
    private static final int LEVELS = 10_000;
    /** How the threads of the pipeline wait for each other. */
    private static final String WAIT = System.getProperty("wait", "YIELDING");

    private static final CoreSymbolSpecification SPECIFICATION = CoreSymbolSpecification.builder()
        .symbolId(SYMBOL).type(SymbolType.CURRENCY_EXCHANGE_PAIR).baseCurrency(BASE).quoteCurrency(QUOTE)
        .baseScaleK(1).quoteScaleK(1).takerFee(0).makerFee(0).build();

    public static void main(String[] words) throws Exception {
        List<String> lines = Files.readAllLines(Path.of(words[1]));
        String head = lines.get(0);
        int fills = Integer.parseInt(head.substring(head.lastIndexOf(' ') + 1));
        String[][] steps = lines.stream().skip(1).map(line -> line.split(" ")).toArray(String[][]::new);
        L2MarketData book = null;
        // The first time warms up the virtual machine; the last line that is printed counts.
        for (int time = 0; time < 2; time++) {
            book = words[0].equals("pipeline") ? pipeline(steps, fills) : matching(steps, fills);
        }
        try (PrintWriter out = new PrintWriter(words[2])) {
            for (int at = 0; at < book.bidSize; at++) {
                out.println("0 B " + book.bidPrices[at] + " " + book.bidVolumes[at] + " " + book.bidOrders[at]);
            }
            for (int at = 0; at < book.askSize; at++) {
                out.println("0 S " + book.askPrices[at] + " " + book.askVolumes[at] + " " + book.askOrders[at]);
            }
        }
        // Its threads do not end by themselves.
        System.exit(0);
    }

    private static void print(int commands, long nanos) {
        System.out.printf(java.util.Locale.ROOT, "%d %.6f%n", commands, nanos / 1e9);
    }

    private static OrderAction side(String word) {
        return word.equals("B") ? OrderAction.BID : OrderAction.ASK;
    }

    private static OrderType type(String word) {
        switch (word) {
            case "G": return OrderType.GTC;
            case "I": return OrderType.IOC;
            default: return OrderType.FOK_BUDGET;
        }
    }

    /** A fill-or-kill order has a budget here: what it pays if it is filled, or what nobody trades for. */
    private static long price(String[] step) {
        if (!step[7].equals("F")) {
            return Long.parseLong(step[5]);
        }
        long cost = Long.parseLong(step[8]);
        return cost > 0 ? cost : step[4].equals("B") ? 1 : Long.MAX_VALUE;
    }

    private static ApiCommand command(String[] step) {
        long order = Long.parseLong(step[2]);
        long owner = Long.parseLong(step[3]) + 1;
        switch (step[1]) {
            case "P":
                long reserve = step[7].equals("F") ? price(step) : RESERVE;
                return ApiPlaceOrder.builder().orderId(order).uid(owner).symbol(SYMBOL).action(side(step[4]))
                    .price(price(step)).reservePrice(reserve).size(Long.parseLong(step[6])).orderType(type(step[7]))
                    .build();
            case "C":
                return ApiCancelOrder.builder().orderId(order).uid(owner).symbol(SYMBOL).build();
            case "R":
                return ApiReduceOrder.builder().orderId(order).uid(owner).symbol(SYMBOL)
                    .reduceSize(Long.parseLong(step[4])).build();
            default:
                return ApiMoveOrder.builder().orderId(order).uid(owner).symbol(SYMBOL)
                    .newPrice(Long.parseLong(step[4])).build();
        }
    }

    private static L2MarketData pipeline(String[][] steps, int fills) throws Exception {
        AtomicLong done = new AtomicLong();
        ExchangeCore core = ExchangeCore.builder()
            .resultsConsumer((command, sequence) -> count(command.command, done))
            .exchangeConfiguration(ExchangeConfiguration.defaultBuilder()
                .performanceCfg(PerformanceConfiguration.throughputPerformanceBuilder()
                    .matchingEnginesNum(1).riskEnginesNum(1).waitStrategy(CoreWaitStrategy.valueOf(WAIT)).build())
                .build())
            .build();
        core.startup();
        ExchangeApi api = core.getApi();
        api.submitBinaryDataAsync(new BatchAddSymbolsCommand(SPECIFICATION)).get();
        Set<Long> owners = new HashSet<>();
        for (String[] step : steps) {
            owners.add(Long.parseLong(step[3]) + 1);
        }
        long transaction = 1;
        for (long owner : owners) {
            api.submitCommand(ApiAddUser.builder().uid(owner).build());
            for (int currency : new int[] {BASE, QUOTE}) {
                api.submitCommand(ApiAdjustUserBalance.builder().uid(owner).transactionId(transaction++)
                    .amount(1L << 60).currency(currency).build());
            }
        }
        ApiCommand[] commands = new ApiCommand[steps.length];
        for (int at = 0; at < steps.length; at++) {
            commands[at] = command(steps[at]);
        }
        run(api, done, commands, 0, fills);
        long start = System.nanoTime();
        run(api, done, commands, fills, commands.length);
        print(commands.length - fills, System.nanoTime() - start);
        L2MarketData book = api.requestOrderBookAsync(SYMBOL, LEVELS).get();
        core.shutdown();
        return book;
    }

    private static void count(OrderCommandType type, AtomicLong done) {
        switch (type) {
            case PLACE_ORDER:
            case CANCEL_ORDER:
            case REDUCE_ORDER:
            case MOVE_ORDER:
                done.lazySet(done.get() + 1);
                break;
            default:
        }
    }

    private static void run(ExchangeApi api, AtomicLong done, ApiCommand[] commands, int from, int to) throws Exception {
        long expected = done.get() + to - from;
        for (int at = from; at < to; at++) {
            api.submitCommand(commands[at]);
        }
        while (done.get() < expected) {
            Thread.yield();
        }
    }

    private static OrderCommand bare(String[] step) {
        long order = Long.parseLong(step[2]);
        long owner = Long.parseLong(step[3]) + 1;
        OrderCommand command;
        switch (step[1]) {
            case "P":
                command = OrderCommand.newOrder(type(step[7]), order, owner, price(step), RESERVE,
                    Long.parseLong(step[6]), side(step[4]));
                break;
            case "C":
                command = OrderCommand.cancel(order, owner);
                break;
            case "R":
                command = OrderCommand.reduce(order, owner, Long.parseLong(step[4]));
                break;
            default:
                command = OrderCommand.update(order, owner, Long.parseLong(step[4]));
        }
        command.symbol = SYMBOL;
        return command;
    }

    private static L2MarketData matching(String[][] steps, int fills) {
        IOrderBook book = new OrderBookDirectImpl(SPECIFICATION, ObjectsPool.createDefaultTestPool(),
            OrderBookEventsHelper.NON_POOLED_EVENTS_HELPER, LoggingConfiguration.DEFAULT);
        OrderCommand[] commands = new OrderCommand[steps.length];
        for (int at = 0; at < steps.length; at++) {
            commands[at] = bare(steps[at]);
        }
        for (int at = 0; at < fills; at++) {
            IOrderBook.processCommand(book, commands[at]);
        }
        long start = System.nanoTime();
        for (int at = fills; at < commands.length; at++) {
            IOrderBook.processCommand(book, commands[at]);
        }
        print(commands.length - fills, System.nanoTime() - start);
        return book.getL2MarketDataSnapshot(LEVELS);
    }
}
