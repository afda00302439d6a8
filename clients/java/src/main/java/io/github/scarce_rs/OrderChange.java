package io.github.scarce_rs;

/**
 * What happened to one of an owner's orders. Which of the members that may be null it has depends on the change.
 *
 * @param change placed, traded, rested, reduced, replaced or cancelled
 * @param remaining what is open of the order after it; 0 when the order is over
 */
public record OrderChange(
        String change,
        String order,
        long remaining,
        long sequence,
        long at,
        String side,
        Long price,
        Long quantity,
        String tif,
        String stp,
        String role,
        Long trade,
        Long by,
        Boolean bySelfTrade,
        Boolean keepsPriority,
        Long unfilled,
        String reason) {}
