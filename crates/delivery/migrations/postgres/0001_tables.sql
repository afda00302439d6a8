-- The tables of delivery in PostgreSQL. What ends in _ms are Unix milliseconds (UTC). What each column means is in
-- docs/reference/webhooks.md and docs/reference/settlement.md.


-- Whose log flows through this database.
CREATE TABLE delivery_meta (
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (name)
);

-- How far each consumer is in each partition's log. Moved in the transaction that writes the rows.
CREATE TABLE delivery_cursors (
    consumer TEXT COLLATE "C" NOT NULL,
    partition_id BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (consumer, partition_id),
    CONSTRAINT delivery_cursors_position CHECK (epoch >= 0 AND sequence >= 0)
);

-- Who wants events by webhook.
CREATE TABLE delivery_endpoints (
    endpoint_id TEXT COLLATE "C" NOT NULL,
    url TEXT COLLATE "C" NOT NULL,
    events TEXT NOT NULL,
    secret TEXT COLLATE "C" NOT NULL,
    secret_before TEXT COLLATE "C",
    secret_before_until_ms BIGINT,
    state TEXT COLLATE "C" NOT NULL,
    reason TEXT,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (endpoint_id),
    CONSTRAINT delivery_endpoints_state CHECK (state IN ('active', 'paused', 'disabled'))
);

-- An event on its way to an endpoint.
CREATE TABLE delivery_webhooks (
    delivery_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    endpoint_id TEXT COLLATE "C" NOT NULL,
    partition_id BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    event TEXT COLLATE "C" NOT NULL,
    body TEXT NOT NULL,
    state TEXT COLLATE "C" NOT NULL,
    attempts BIGINT NOT NULL,
    next_at_ms BIGINT NOT NULL,
    lease_owner TEXT COLLATE "C",
    last_status BIGINT,
    last_error TEXT,
    created_at_ms BIGINT NOT NULL,
    done_at_ms BIGINT,
    CONSTRAINT delivery_webhooks_once UNIQUE (endpoint_id, partition_id, epoch, sequence),
    CONSTRAINT delivery_webhooks_state CHECK (state IN ('pending', 'delivered', 'dead'))
);

CREATE INDEX delivery_webhooks_pending ON delivery_webhooks (endpoint_id, next_at_ms) WHERE state = 'pending';
CREATE INDEX delivery_webhooks_dead ON delivery_webhooks (delivery_id) WHERE state = 'dead';
CREATE INDEX delivery_webhooks_dead_of ON delivery_webhooks (endpoint_id, delivery_id) WHERE state = 'dead';
CREATE INDEX delivery_webhooks_done ON delivery_webhooks (done_at_ms) WHERE state = 'delivered';

-- Which asset the packets of a campaign are of.
CREATE TABLE delivery_campaigns (
    campaign TEXT COLLATE "C" NOT NULL,
    asset TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (campaign)
);

-- A claimed packet on its way to whom it belongs.
CREATE TABLE delivery_settlements (
    settlement_id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    campaign TEXT COLLATE "C" NOT NULL,
    packet BIGINT NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL,
    amount BIGINT NOT NULL,
    asset TEXT COLLATE "C",
    partition_id BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    claimed_at_ms BIGINT NOT NULL,
    route TEXT COLLATE "C",
    account_template TEXT COLLATE "C",
    operation_round BIGINT NOT NULL,
    first_tried_at_ms BIGINT,
    state TEXT COLLATE "C" NOT NULL,
    attempts BIGINT NOT NULL,
    next_at_ms BIGINT NOT NULL,
    lease_owner TEXT COLLATE "C",
    last_status BIGINT,
    last_error TEXT,
    created_at_ms BIGINT NOT NULL,
    done_at_ms BIGINT,
    CONSTRAINT delivery_settlements_once UNIQUE (campaign, packet),
    CONSTRAINT delivery_settlements_amount CHECK (amount > 0),
    CONSTRAINT delivery_settlements_state CHECK (state IN ('pending', 'settled', 'dead')),
    CONSTRAINT delivery_settlements_route CHECK (route IN ('engine', 'outside'))
);

CREATE INDEX delivery_settlements_pending ON delivery_settlements (next_at_ms) WHERE state = 'pending';
CREATE INDEX delivery_settlements_dead ON delivery_settlements (settlement_id) WHERE state = 'dead';
CREATE INDEX delivery_settlements_dead_of ON delivery_settlements (campaign, settlement_id) WHERE state = 'dead';
CREATE INDEX delivery_settlements_user ON delivery_settlements (user_id);
