-- The tables of delivery in MySQL and MariaDB. What ends in _ms are Unix milliseconds (UTC). What each column means is in
-- docs/reference/webhooks.md and docs/reference/settlement.md.
-- Every statement can be begun anew, because a server that was interrupted takes no table back.


-- Whose log flows through this database.
CREATE TABLE IF NOT EXISTS delivery_meta (
    name VARCHAR(128) NOT NULL,
    value VARCHAR(512) NOT NULL,
    PRIMARY KEY (name)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- How far each consumer is in each partition's log. Moved in the transaction that writes the rows.
CREATE TABLE IF NOT EXISTS delivery_cursors (
    consumer VARCHAR(128) NOT NULL,
    partition_id BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (consumer, partition_id),
    CONSTRAINT delivery_cursors_position CHECK (epoch >= 0 AND sequence >= 0)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Who wants events by webhook.
CREATE TABLE IF NOT EXISTS delivery_endpoints (
    endpoint_id VARCHAR(128) NOT NULL,
    url VARCHAR(2048) NOT NULL,
    events TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    secret VARCHAR(512) NOT NULL,
    secret_before VARCHAR(512),
    secret_before_until_ms BIGINT,
    state VARCHAR(32) NOT NULL,
    reason TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (endpoint_id),
    CONSTRAINT delivery_endpoints_state CHECK (state IN ('active', 'paused', 'disabled'))
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- An event on its way to an endpoint.
CREATE TABLE IF NOT EXISTS delivery_webhooks (
    delivery_id BIGINT NOT NULL AUTO_INCREMENT,
    endpoint_id VARCHAR(128) NOT NULL,
    partition_id BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    event VARCHAR(128) NOT NULL,
    body MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    state VARCHAR(32) NOT NULL,
    attempts BIGINT NOT NULL,
    next_at_ms BIGINT NOT NULL,
    lease_owner VARCHAR(128),
    last_status BIGINT,
    last_error TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    created_at_ms BIGINT NOT NULL,
    done_at_ms BIGINT,
    PRIMARY KEY (delivery_id),
    CONSTRAINT delivery_webhooks_once UNIQUE (endpoint_id, partition_id, epoch, sequence),
    CONSTRAINT delivery_webhooks_state CHECK (state IN ('pending', 'delivered', 'dead')),
    INDEX delivery_webhooks_open (endpoint_id, state, next_at_ms),
    INDEX delivery_webhooks_done (done_at_ms)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Which asset the packets of a campaign are of.
CREATE TABLE IF NOT EXISTS delivery_campaigns (
    campaign VARCHAR(128) NOT NULL,
    asset VARCHAR(128) NOT NULL,
    PRIMARY KEY (campaign)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- A claimed packet on its way to whom it belongs.
CREATE TABLE IF NOT EXISTS delivery_settlements (
    settlement_id BIGINT NOT NULL AUTO_INCREMENT,
    campaign VARCHAR(128) NOT NULL,
    packet BIGINT NOT NULL,
    user_id VARCHAR(128) NOT NULL,
    amount BIGINT NOT NULL,
    asset VARCHAR(128),
    partition_id BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    claimed_at_ms BIGINT NOT NULL,
    route VARCHAR(32),
    account_template VARCHAR(512),
    operation_round BIGINT NOT NULL,
    first_tried_at_ms BIGINT,
    state VARCHAR(32) NOT NULL,
    attempts BIGINT NOT NULL,
    next_at_ms BIGINT NOT NULL,
    lease_owner VARCHAR(128),
    last_status BIGINT,
    last_error TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    created_at_ms BIGINT NOT NULL,
    done_at_ms BIGINT,
    PRIMARY KEY (settlement_id),
    CONSTRAINT delivery_settlements_once UNIQUE (campaign, packet),
    CONSTRAINT delivery_settlements_amount CHECK (amount > 0),
    CONSTRAINT delivery_settlements_state CHECK (state IN ('pending', 'settled', 'dead')),
    CONSTRAINT delivery_settlements_route CHECK (route IN ('engine', 'outside')),
    INDEX delivery_settlements_open (state, next_at_ms),
    INDEX delivery_settlements_user (user_id)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;
