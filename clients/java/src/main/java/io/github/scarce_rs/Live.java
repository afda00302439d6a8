package io.github.scarce_rs;

import io.github.scarce_rs.Exchange.Problem;
import io.github.scarce_rs.Exchange.Request;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URLEncoder;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** Updates of live channels, through lost connections. It is read by one thread; any thread may close it. */
public final class Live implements AutoCloseable {
    /** The server says something every 15 seconds. */
    private static final long SILENCE_SECONDS = 45;

    private final Exchange exchange;
    private final String path;
    private final Map<String, View> views = new HashMap<>();
    private final ScheduledExecutorService watch = Executors.newSingleThreadScheduledExecutor(work -> {
        var thread = new Thread(work, "scarce-live");
        thread.setDaemon(true);
        return thread;
    });
    private volatile boolean isClosed;
    private volatile InputStream stream;
    private BufferedReader lines;
    private String id = "";
    private String last = "";
    private int attempt;

    Live(Exchange exchange, List<String> channels) {
        this.exchange = exchange;
        channels.forEach(channel -> views.put(channel, new View(channel)));
        var names = channels.stream().map(channel -> URLEncoder.encode(channel, StandardCharsets.UTF_8));
        path = "/v1/live?channels=" + names.collect(Collectors.joining(","));
    }

    /** Waits for the next update; null once it is closed. */
    public Update next() {
        while (!isClosed) {
            try {
                if (lines == null) {
                    connect();
                }
                var update = read();
                if (update != null) {
                    return update;
                }
            } catch (IOException cause) {
                disconnect();
                if (Exchange.isFatal(cause)) {
                    throw new ScarceException("UNREACHABLE", cause.toString(), cause);
                }
                if (!isClosed) {
                    Exchange.pause(exchange.patience.pauseNanos(attempt++, 0));
                }
            }
        }
        return null;
    }

    /** Ends it. */
    @Override
    public void close() {
        isClosed = true;
        watch.shutdownNow();
        end(stream);
    }

    private void connect() throws IOException {
        var headers = last.isEmpty() ? Map.<String, String>of() : Map.of("Last-Event-ID", last);
        var request = exchange.made(new Request("GET", path, headers, null));
        var answer = exchange.client().sendAsync(request, BodyHandlers.ofInputStream());
        try {
            var response = answer.get(exchange.patience.attempt().toNanos(), TimeUnit.NANOSECONDS);
            stream = response.body();
            if (response.statusCode() != 200) {
                refuse(response.statusCode(), new String(response.body().readAllBytes(), StandardCharsets.UTF_8));
            }
            lines = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8));
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
            throw new IOException(ended);
        } catch (ExecutionException | TimeoutException failed) {
            answer.cancel(true);
            throw new IOException(failed);
        }
    }

    /** The next update; null if the message has none. */
    private Update read() throws IOException {
        var held = stream;
        ScheduledFuture<?> silence;
        try {
            silence = watch.schedule(() -> end(held), SILENCE_SECONDS, TimeUnit.SECONDS);
        } catch (java.util.concurrent.RejectedExecutionException closed) {
            return null;
        }
        String line;
        try {
            line = lines.readLine();
        } finally {
            silence.cancel(false);
        }
        if (line == null) {
            throw new IOException("the stream has ended");
        }
        if (line.startsWith("id: ")) {
            id = line.substring(4);
        }
        return line.startsWith("data: ") ? take(line.substring(6)) : null;
    }

    private Update take(String data) throws IOException {
        var message = Json.read(data);
        if (message == null || message.get("type").getAsString().equals("end")) {
            throw new IOException("the subscription has ended");
        }
        var view = message.has("channel") ? views.get(message.get("channel").getAsString()) : null;
        if (view == null) {
            return null;
        }
        var news = view.take(message);
        attempt = 0;
        last = news == View.News.GAP ? "" : id;
        if (news == View.News.GAP) {
            throw new IOException("messages are missing");
        }
        return news == View.News.NEW ? view.update(message) : null;
    }

    private void disconnect() {
        end(stream);
        lines = null;
    }

    private static void end(InputStream its) {
        try {
            if (its != null) {
                its.close();
            }
        } catch (IOException closed) {
            // It is over either way.
        }
    }

    /** Throws what the server says; as trouble of the line if it may say something else later. */
    private static void refuse(int status, String said) throws IOException {
        if (status == 429 || status >= 500) {
            throw new IOException(said);
        }
        var body = Json.read(said);
        var told = Problem.read(body, status);
        var problem = told == null ? Problem.garbled(status, said) : told;
        throw new Exchange.Answered(null, problem, false).error();
    }
}
