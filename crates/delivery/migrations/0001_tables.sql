-- The tables of delivery; the words in braces are those of scarce-sql's schema.rs. What ends in _ms are Unix
-- milliseconds (UTC). What each column means is in docs/reference/webhooks.md and docs/reference/settlement.md.


-- Whose log flows through this database.
CREATE TABLE delivery_meta (
    name {id} NOT NULL,
    value {ascii 512} NOT NULL,
    PRIMARY KEY (name)
) {keyed};

-- How far each consumer is in each partition's log. Moved in the transaction that writes the rows.
CREATE TABLE delivery_cursors (
    consumer {id} NOT NULL,
    partition_id {integer} NOT NULL,
    epoch {integer} NOT NULL,
    sequence {integer} NOT NULL,
    updated_at_ms {integer} NOT NULL,
    PRIMARY KEY (consumer, partition_id),
    CONSTRAINT delivery_cursors_position CHECK (epoch >= 0 AND sequence >= 0)
) {keyed};

-- Who wants events by webhook.
CREATE TABLE delivery_endpoints (
    endpoint_id {id} NOT NULL,
    url {ascii 2048} NOT NULL,
    events {text} NOT NULL,
    secret {ascii 512} NOT NULL,
    secret_before {ascii 512},
    secret_before_until_ms {integer},
    state {word} NOT NULL,
    reason {text},
    created_at_ms {integer} NOT NULL,
    updated_at_ms {integer} NOT NULL,
    PRIMARY KEY (endpoint_id),
    CONSTRAINT delivery_endpoints_state CHECK (state IN ('active', 'paused', 'disabled'))
) {keyed};

-- An event on its way to an endpoint.
CREATE TABLE delivery_webhooks (
    delivery_id {number},
    endpoint_id {id} NOT NULL,
    partition_id {integer} NOT NULL,
    epoch {integer} NOT NULL,
    sequence {integer} NOT NULL,
    event {id} NOT NULL,
    body {document} NOT NULL,
    state {word} NOT NULL,
    attempts {integer} NOT NULL,
    next_at_ms {integer} NOT NULL,
    lease_owner {id},
    last_status {integer},
    last_error {text},
    created_at_ms {integer} NOT NULL,
    done_at_ms {integer},
    CONSTRAINT delivery_webhooks_once UNIQUE (endpoint_id, partition_id, epoch, sequence),
    CONSTRAINT delivery_webhooks_state CHECK (state IN ('pending', 'delivered', 'dead'))
) {heap};
CREATE {partial index} delivery_webhooks_pending ON delivery_webhooks (endpoint_id, next_at_ms) WHERE state = 'pending';
CREATE {partial index} delivery_webhooks_dead ON delivery_webhooks (delivery_id) WHERE state = 'dead';
CREATE {partial index} delivery_webhooks_dead_of ON delivery_webhooks (endpoint_id, delivery_id) WHERE state = 'dead';
CREATE {partial index} delivery_webhooks_done ON delivery_webhooks (done_at_ms) WHERE state = 'delivered';
CREATE {whole index} delivery_webhooks_open ON delivery_webhooks (endpoint_id, state, next_at_ms);
CREATE {whole index} delivery_webhooks_done ON delivery_webhooks (done_at_ms);

-- Which asset the packets of a campaign are of.
CREATE TABLE delivery_campaigns (
    campaign {id} NOT NULL,
    asset {id} NOT NULL,
    PRIMARY KEY (campaign)
) {keyed};

-- A claimed packet on its way to whom it belongs.
CREATE TABLE delivery_settlements (
    settlement_id {number},
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
    first_tried_at_ms {integer},
    state {word} NOT NULL,
    attempts {integer} NOT NULL,
    next_at_ms {integer} NOT NULL,
    lease_owner {id},
    last_status {integer},
    last_error {text},
    created_at_ms {integer} NOT NULL,
    done_at_ms {integer},
    CONSTRAINT delivery_settlements_once UNIQUE (campaign, packet),
    CONSTRAINT delivery_settlements_amount CHECK (amount > 0),
    CONSTRAINT delivery_settlements_state CHECK (state IN ('pending', 'settled', 'dead')),
    CONSTRAINT delivery_settlements_route CHECK (route IN ('engine', 'outside'))
) {heap};
CREATE {partial index} delivery_settlements_pending ON delivery_settlements (next_at_ms) WHERE state = 'pending';
CREATE {partial index} delivery_settlements_dead ON delivery_settlements (settlement_id) WHERE state = 'dead';
CREATE {partial index} delivery_settlements_dead_of ON delivery_settlements (campaign, settlement_id) WHERE state = 'dead';
CREATE {whole index} delivery_settlements_open ON delivery_settlements (state, next_at_ms);
CREATE INDEX delivery_settlements_user ON delivery_settlements (user_id);
