-- What a rollback of the engine leaves: since when a claim is looked for in the log, NULL while it is known to be there;
-- and when a person decided that a packet was settled.
ALTER TABLE delivery_settlements ADD COLUMN lost_at_ms {integer};
ALTER TABLE delivery_settlements ADD COLUMN resolved_at_ms {integer};
CREATE {partial index} delivery_settlements_lost ON delivery_settlements (settlement_id) WHERE lost_at_ms IS NOT NULL;
CREATE {whole index} delivery_settlements_lost ON delivery_settlements (lost_at_ms, settlement_id);

-- Settlements of a lost history whose packets the log gives to another user, or with another amount.
CREATE TABLE delivery_replaced (
    replaced_id {number},
    campaign {id} NOT NULL,
    packet {integer} NOT NULL,
    user_id {id} NOT NULL,
    amount {integer} NOT NULL,
    asset {id},
    partition_id {integer} NOT NULL,
    epoch {integer} NOT NULL,
    sequence {integer} NOT NULL,
    claimed_at_ms {integer} NOT NULL,
    route {word},
    account_template {ascii 512},
    operation_round {integer} NOT NULL,
    operation_scheme {integer},
    first_tried_at_ms {integer},
    state {word} NOT NULL,
    last_error {text},
    done_at_ms {integer},
    resolved_at_ms {integer},
    replaced_at_ms {integer} NOT NULL,
    decision {word},
    decided_at_ms {integer}
) {heap};
CREATE INDEX delivery_replaced_packet ON delivery_replaced (campaign, packet);
