package io.github.scarce_rs;

/**
 * A change of a live channel.
 *
 * @param isSnapshot what was there before is void, since changes may have been missed
 * @param data all that the channel shows now, as the command that reads it answers: an {@code Api.StockGetResult} for
 *     stock.sku-1; null if there is no such resource. Of trades and of changes of orders, only those that are new, oldest first
 * @param epoch with the sequence: up to which event of its partition's log this is
 */
public record Update(String channel, boolean isSnapshot, Object data, long epoch, long sequence) {}
