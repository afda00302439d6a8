package io.github.scarce_rs;

import java.util.List;

/**
 * What the channel of an owner's orders shows.
 *
 * @param orders the resting orders, in a snapshot
 * @param changes what happened to any of the owner's orders, oldest first
 */
public record OwnOrders(List<Api.OrderGetRow> orders, List<OrderChange> changes) {
    public OwnOrders {
        orders = orders == null ? List.of() : orders;
        changes = changes == null ? List.of() : changes;
    }
}
