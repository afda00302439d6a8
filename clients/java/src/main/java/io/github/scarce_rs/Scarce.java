package io.github.scarce_rs;

import io.github.scarce_rs.Exchange.Patience;
import java.net.http.HttpClient;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;

/** A client of a server. It keeps connections open; share it between threads. */
public final class Scarce {
    private final Caller caller;
    private final Batches batches;

    private Scarce(Builder its) {
        var http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(its.attemptTimeout);
        if (its.tls != null) {
            http.sslContext(its.tls);
        }
        Map<String, String> headers = its.key == null ? Map.of() : Map.of("Authorization", "Bearer " + its.key);
        var patience = new Patience(its.attemptTimeout, its.pause, its.pauseMax);
        var base = its.url.replaceAll("/+$", "");
        caller = new Caller(new Exchange(http.build(), base, headers, new Clock(its.clock), patience), its.timeout);
        batches = new Batches(caller);
    }

    /** A client of the server at http://host:port or https://host:port. */
    public static Scarce at(String url) {
        return builder(url).build();
    }

    /** The same with settings. */
    public static Builder builder(String url) {
        return new Builder(url);
    }

    /** The ACCOUNT commands. */
    public Api.AccountCommands account() {
        return new Api.AccountCommands(this);
    }

    /** The STOCK commands. */
    public Api.StockCommands stock() {
        return new Api.StockCommands(this);
    }

    /** The PACKET commands. */
    public Api.PacketCommands packet() {
        return new Api.PacketCommands(this);
    }

    /** The COUPON commands. */
    public Api.CouponCommands coupon() {
        return new Api.CouponCommands(this);
    }

    /** The MARKET commands. */
    public Api.MarketCommands market() {
        return new Api.MarketCommands(this);
    }

    /** The ORDER commands. */
    public Api.OrderCommands order() {
        return new Api.OrderCommands(this);
    }

    /** The OPERATION commands. */
    public Api.OperationCommands operation() {
        return new Api.OperationCommands(this);
    }

    /** Sends a command. */
    public <T> Outcome<T> send(Arguments<T> arguments) {
        return send(arguments, CallOptions.NONE);
    }

    /** Sends a command with options. */
    public <T> Outcome<T> send(Arguments<T> arguments, CallOptions options) {
        long until = caller.until(options.timeout());
        try {
            return caller.call(caller.toSend(arguments, options), until, false);
        } catch (ScarceException error) {
            boolean isWrongTime = error.code().equals("INVALID") && "ID".equals(error.facts().get("argument"));
            if (options.id() != null || !isWrongTime) {
                throw error;
            }
            // The clock of this machine is wrong, and the answer has told by how much.
            return caller.call(caller.toSend(arguments, options), until, false);
        }
    }

    /** Sends many commands in a request, each with an outcome and an ID of its own. */
    public List<Line.Result> batch(List<Line> lines) {
        return batches.send(lines, caller.until(null));
    }

    /**
     * Applies all of the lines or none, under one ID. Their resources must be in one partition. The value has the result
     * of each line.
     */
    public Outcome<List<Object>> atomic(List<? extends Arguments<?>> lines, CallOptions options) {
        return caller.call(batches.atomic(lines, options), caller.until(options.timeout()), false);
    }

    /** Follows live channels, such as stock.sku-1 and market.BTC-USDT.depth, through lost connections. */
    public Live live(List<String> channels) {
        return new Live(caller.exchange, channels);
    }

    /** Settings of a client. */
    public static final class Builder {
        private final String url;
        private String key;
        private Duration timeout = Duration.ofSeconds(30);
        private Duration attemptTimeout = Duration.ofSeconds(5);
        private Duration pause = Duration.ofMillis(50);
        private Duration pauseMax = Duration.ofSeconds(2);
        private SSLContext tls;
        private InstantSource clock = InstantSource.system();

        private Builder(String url) {
            this.url = url;
        }

        /** A key or the password, if the server has any. */
        public Builder key(String key) {
            this.key = key;
            return this;
        }

        /** How long a call may take in all, with its retries; 30 seconds by default. */
        public Builder timeout(Duration timeout) {
            this.timeout = timeout;
            return this;
        }

        /** How long a single attempt may take; 5 seconds by default. */
        public Builder attemptTimeout(Duration attemptTimeout) {
            this.attemptTimeout = attemptTimeout;
            return this;
        }

        /** The first pause between two attempts, and the longest; 50 ms and 2 seconds by default. */
        public Builder pauses(Duration pause, Duration pauseMax) {
            this.pause = pause;
            this.pauseMax = pauseMax;
            return this;
        }

        /** Which certificates are used; by default, those of the system. */
        public Builder tls(SSLContext tls) {
            this.tls = tls;
            return this;
        }

        /** The clock of this machine, for tests. */
        Builder clock(InstantSource clock) {
            this.clock = clock;
            return this;
        }

        /** The client. */
        public Scarce build() {
            return new Scarce(this);
        }
    }
}
