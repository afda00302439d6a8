package io.github.scarce_rs;

import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import java.util.Map;
import java.util.TreeMap;

/** What is known of a live channel. */
final class View {
    enum News { NEW, OLD, GAP }

    private final String channel;
    private JsonObject data;
    private long sequence = -1;
    private long trade;

    View(String channel) {
        this.channel = channel;
    }

    /** Takes a message: is it new, and is something before it missing? */
    News take(JsonObject message) {
        var change = message.get("data").isJsonNull() ? null : message.getAsJsonObject("data");
        if (message.get("type").getAsString().equals("snapshot")) {
            sequence = message.get("sequence").getAsLong();
            data = withNewTrades(change);
            return News.NEW;
        }
        if (message.get("last").getAsLong() <= sequence) {
            return News.OLD;
        }
        if (message.get("first").getAsLong() > sequence + 1) {
            return News.GAP;
        }
        sequence = message.get("last").getAsLong();
        if (change.has("changes")) {
            data = change;
            return News.NEW;
        }
        data = withNewTrades(merged(data == null ? new JsonObject() : data, change));
        return News.NEW;
    }

    Update update(JsonObject message) {
        boolean isSnapshot = message.get("type").getAsString().equals("snapshot");
        var shown = data == null ? null : Json.as(type(), data);
        return new Update(channel, isSnapshot, shown, message.get("epoch").getAsLong(), sequence);
    }

    private Class<?> type() {
        if (channel.startsWith("market.") && channel.contains(".orders.")) {
            return OwnOrders.class;
        }
        var part = channel.substring(channel.lastIndexOf('.') + 1);
        return switch (channel.substring(0, channel.indexOf('.'))) {
            case "account" -> Api.AccountGetResult.class;
            case "stock" -> Api.StockGetResult.class;
            case "packets" -> Api.PacketGetResult.class;
            case "coupon" -> Api.CouponGetResult.class;
            default -> switch (part) {
                case "trades" -> Api.MarketTradesResult.class;
                case "ticker" -> Api.MarketTickerResult.class;
                default -> Api.MarketDepthResult.class;
            };
        };
    }

    /** All of a channel after a change. */
    private static JsonObject merged(JsonObject before, JsonObject change) {
        var after = before.deepCopy();
        change.entrySet().forEach(member -> after.add(member.getKey(), member.getValue()));
        for (var side : Map.of("bids", -1, "asks", 1).entrySet()) {
            if (!change.has(side.getKey())) {
                continue;
            }
            // Best first.
            var levels = new TreeMap<Long, JsonObject>();
            for (var part : new JsonObject[] {before, change}) {
                var rows = part.has(side.getKey()) ? part.getAsJsonArray(side.getKey()) : new JsonArray();
                rows.forEach(row -> levels.put(side.getValue() * number(row.getAsJsonObject(), "price"), row.getAsJsonObject()));
            }
            levels.values().removeIf(row -> number(row, "quantity") == 0);
            var left = new JsonArray();
            levels.values().forEach(left::add);
            after.add(side.getKey(), left);
        }
        return after;
    }

    /** Of trades, those that were not seen yet, oldest first: they are numbered. */
    private JsonObject withNewTrades(JsonObject its) {
        if (its == null || !its.has("trades")) {
            return its;
        }
        var fresh = new TreeMap<Long, JsonObject>();
        its.getAsJsonArray("trades").forEach(row -> fresh.put(number(row.getAsJsonObject(), "trade"), row.getAsJsonObject()));
        fresh.headMap(trade, true).clear();
        trade = fresh.isEmpty() ? trade : fresh.lastKey();
        var left = new JsonArray();
        fresh.values().forEach(left::add);
        var after = its.deepCopy();
        after.add("trades", left);
        return after;
    }

    private static long number(JsonObject row, String name) {
        return row.get(name).getAsLong();
    }
}
