-- The tables of the projection in MySQL and MariaDB. What ends in _ms are Unix milliseconds (UTC) or lengths of time
-- in milliseconds; names are ASCII and compared as bytes. What each column means is in docs/reference/sql.md.


-- What this database holds: whose log, and by which version of these tables.
CREATE TABLE IF NOT EXISTS meta (
    name VARCHAR(32) NOT NULL,
    value VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    PRIMARY KEY (name)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- How far each partition's log is in these tables. Moved in the transaction that writes the rows.
CREATE TABLE IF NOT EXISTS cursors (
    deployment_id VARCHAR(64) NOT NULL,
    partition_id BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    step_sequence BIGINT,
    at_ms BIGINT,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (deployment_id, partition_id),
    CONSTRAINT cursors_position CHECK (epoch >= 0 AND sequence >= 0)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Accounts as they are. The world outside has no row: it holds the negative of all balances.
CREATE TABLE IF NOT EXISTS accounts (
    account_id VARCHAR(128) NOT NULL,
    partition_id BIGINT NOT NULL,
    asset VARCHAR(128) NOT NULL,
    balance BIGINT NOT NULL,
    held BIGINT NOT NULL,
    available BIGINT NOT NULL,
    overdraft BIGINT NOT NULL,
    status VARCHAR(32) NOT NULL,
    opened_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    closed_at_ms BIGINT,
    PRIMARY KEY (account_id),
    CONSTRAINT accounts_figures CHECK (held >= 0 AND overdraft >= 0 AND available = balance - held),
    CONSTRAINT accounts_covered CHECK (available >= -overdraft),
    CONSTRAINT accounts_status CHECK (status IN ('open', 'frozen', 'closed')),
    CONSTRAINT accounts_closed CHECK ((status = 'closed') = (closed_at_ms IS NOT NULL)),
    CONSTRAINT accounts_empty CHECK (status <> 'closed' OR (balance = 0 AND held = 0))
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Every movement of money, a row for each account that it touched. Never changed.
CREATE TABLE IF NOT EXISTS entries (
    partition_id BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    account_id VARCHAR(128) NOT NULL,
    epoch BIGINT NOT NULL,
    kind VARCHAR(32) NOT NULL,
    amount BIGINT NOT NULL,
    balance BIGINT NOT NULL,
    counterparty_id VARCHAR(128),
    hold_id VARCHAR(128),
    operation_id VARCHAR(128),
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (partition_id, sequence, account_id),
    CONSTRAINT entries_amount CHECK (amount <> 0),
    CONSTRAINT entries_kind CHECK (kind IN ('credit', 'debit', 'transfer', 'capture')),
    CONSTRAINT entries_hold CHECK ((kind = 'capture') = (hold_id IS NOT NULL)),
    CONSTRAINT entries_sign CHECK ((kind <> 'credit' OR amount > 0) AND (kind <> 'debit' OR amount < 0)),
    CONSTRAINT entries_outside CHECK (kind NOT IN ('credit', 'debit') OR counterparty_id IS NULL),
    INDEX entries_by_account (account_id, at_ms, sequence)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Money set aside. A name that became free again and was taken again is another use.
CREATE TABLE IF NOT EXISTS holds (
    account_id VARCHAR(128) NOT NULL,
    hold_id VARCHAR(128) NOT NULL,
    use_number BIGINT NOT NULL,
    partition_id BIGINT NOT NULL,
    amount BIGINT NOT NULL,
    captured BIGINT NOT NULL,
    amount_placed BIGINT NOT NULL,
    status VARCHAR(32) NOT NULL,
    deadline_ms BIGINT,
    operation_id VARCHAR(128),
    placed_at_ms BIGINT NOT NULL,
    ended_at_ms BIGINT,
    PRIMARY KEY (account_id, hold_id, use_number),
    CONSTRAINT holds_figures CHECK (amount >= 0 AND captured >= 0 AND amount + captured <= amount_placed),
    CONSTRAINT holds_status CHECK (status IN ('open', 'captured', 'voided', 'expired')),
    CONSTRAINT holds_ended CHECK ((status = 'open') = (ended_at_ms IS NULL)),
    CONSTRAINT holds_rest
        CHECK (CASE WHEN status = 'open' THEN amount > 0 AND amount + captured = amount_placed
            ELSE amount = 0 END)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Countable things as they are.
CREATE TABLE IF NOT EXISTS stock (
    sku VARCHAR(128) NOT NULL,
    partition_id BIGINT NOT NULL,
    total BIGINT NOT NULL,
    available BIGINT NOT NULL,
    reserved BIGINT NOT NULL,
    sold BIGINT NOT NULL,
    returned BIGINT NOT NULL,
    last_serial BIGINT NOT NULL,
    per_owner_max BIGINT,
    status VARCHAR(32) NOT NULL,
    starts_at_ms BIGINT,
    ends_at_ms BIGINT,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    sold_out_at_ms BIGINT,
    audited_at_ms BIGINT,
    closed_at_ms BIGINT,
    PRIMARY KEY (sku),
    CONSTRAINT stock_figures CHECK (available >= 0 AND reserved >= 0 AND sold >= 0 AND returned >= 0),
    CONSTRAINT stock_total CHECK (total = available + reserved + sold),
    CONSTRAINT stock_serials CHECK (sold + returned = last_serial),
    CONSTRAINT stock_status CHECK (status IN ('open', 'closed')),
    CONSTRAINT stock_closed CHECK ((status = 'closed') = (closed_at_ms IS NOT NULL)),
    CONSTRAINT stock_sold_out CHECK (sold_out_at_ms IS NULL OR available = 0)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Why there are as many units as there are: an item's quantities sum to its total. Never changed.
CREATE TABLE IF NOT EXISTS stock_movements (
    sku VARCHAR(128) NOT NULL,
    sequence BIGINT NOT NULL,
    partition_id BIGINT NOT NULL,
    kind VARCHAR(32) NOT NULL,
    quantity BIGINT NOT NULL,
    available BIGINT NOT NULL,
    total BIGINT NOT NULL,
    reason VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    operation_id VARCHAR(128),
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (sku, sequence),
    CONSTRAINT stock_movements_kind CHECK (kind IN ('created', 'restocked', 'adjusted')),
    CONSTRAINT stock_movements_reason CHECK ((kind = 'adjusted') = (reason IS NOT NULL)),
    CONSTRAINT stock_movements_figures CHECK (available >= 0 AND total >= available)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Sales: units first_serial to first_serial + quantity - 1.
CREATE TABLE IF NOT EXISTS receipts (
    sku VARCHAR(128) NOT NULL,
    first_serial BIGINT NOT NULL,
    partition_id BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    quantity BIGINT NOT NULL,
    returned BIGINT NOT NULL,
    owner_id VARCHAR(128) NOT NULL,
    reservation_id VARCHAR(128),
    operation_id VARCHAR(128),
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (sku, first_serial),
    CONSTRAINT receipts_figures
        CHECK (first_serial >= 1 AND quantity >= 1 AND returned >= 0 AND returned <= quantity),
    INDEX receipts_by_owner (owner_id, at_ms)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Sold units that came back: units first_serial to first_serial + quantity - 1. Never changed.
CREATE TABLE IF NOT EXISTS stock_returns (
    sku VARCHAR(128) NOT NULL,
    first_serial BIGINT NOT NULL,
    partition_id BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    quantity BIGINT NOT NULL,
    receipt_serial BIGINT NOT NULL,
    owner_id VARCHAR(128) NOT NULL,
    operation_id VARCHAR(128),
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (sku, first_serial),
    CONSTRAINT stock_returns_figures
        CHECK (quantity >= 1 AND receipt_serial >= 1 AND receipt_serial <= first_serial)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Units set aside. A name that became free again and was taken again is another use.
CREATE TABLE IF NOT EXISTS reservations (
    sku VARCHAR(128) NOT NULL,
    reservation_id VARCHAR(128) NOT NULL,
    use_number BIGINT NOT NULL,
    partition_id BIGINT NOT NULL,
    owner_id VARCHAR(128) NOT NULL,
    quantity BIGINT NOT NULL,
    status VARCHAR(32) NOT NULL,
    deadline_ms BIGINT NOT NULL,
    first_serial BIGINT,
    operation_id VARCHAR(128),
    placed_at_ms BIGINT NOT NULL,
    ended_at_ms BIGINT,
    PRIMARY KEY (sku, reservation_id, use_number),
    CONSTRAINT reservations_figures CHECK (quantity >= 1),
    CONSTRAINT reservations_status CHECK (status IN ('open', 'confirmed', 'released', 'expired')),
    CONSTRAINT reservations_ended CHECK ((status = 'open') = (ended_at_ms IS NULL)),
    CONSTRAINT reservations_sold CHECK ((status = 'confirmed') = (first_serial IS NOT NULL)),
    INDEX reservations_by_owner (owner_id, placed_at_ms)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Red packet campaigns as they are. Seed and plan come with the end; packets not claimed are nowhere here.
CREATE TABLE IF NOT EXISTS packet_campaigns (
    campaign_id VARCHAR(128) NOT NULL,
    partition_id BIGINT NOT NULL,
    asset VARCHAR(128) NOT NULL,
    packets BIGINT NOT NULL,
    total BIGINT NOT NULL,
    laid BIGINT NOT NULL,
    claimed BIGINT NOT NULL,
    claimed_amount BIGINT NOT NULL,
    status VARCHAR(32) NOT NULL,
    starts_at_ms BIGINT,
    ends_at_ms BIGINT,
    commitment VARCHAR(64),
    seed VARCHAR(64),
    method VARCHAR(32),
    amount_min BIGINT,
    amount_max BIGINT,
    operation_id VARCHAR(128),
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    exhausted_at_ms BIGINT,
    closed_at_ms BIGINT,
    PRIMARY KEY (campaign_id),
    CONSTRAINT packet_campaigns_counts CHECK (0 <= claimed AND claimed <= laid AND laid <= packets),
    CONSTRAINT packet_campaigns_amounts CHECK (claimed <= claimed_amount AND claimed_amount <= total),
    CONSTRAINT packet_campaigns_all CHECK (claimed < packets OR claimed_amount = total),
    CONSTRAINT packet_campaigns_status CHECK (status IN ('filling', 'open', 'exhausted', 'closed')),
    CONSTRAINT packet_campaigns_closed CHECK ((status = 'closed') = (closed_at_ms IS NOT NULL)),
    CONSTRAINT packet_campaigns_secret
        CHECK (status = 'closed' OR (seed IS NULL AND method IS NULL
            AND amount_min IS NULL AND amount_max IS NULL))
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Who got which packet. A packet has one user, and a user one packet of a campaign. Never changed.
CREATE TABLE IF NOT EXISTS packet_claims (
    campaign_id VARCHAR(128) NOT NULL,
    packet BIGINT NOT NULL,
    partition_id BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    user_id VARCHAR(128) NOT NULL,
    amount BIGINT NOT NULL,
    operation_id VARCHAR(128),
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (campaign_id, packet),
    CONSTRAINT packet_claims_by_user UNIQUE (user_id, campaign_id),
    CONSTRAINT packet_claims_figures CHECK (packet >= 1 AND amount >= 1)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Coupons as they are.
CREATE TABLE IF NOT EXISTS coupons (
    coupon_id VARCHAR(128) NOT NULL,
    partition_id BIGINT NOT NULL,
    claimed BIGINT NOT NULL,
    redeemed BIGINT NOT NULL,
    revoked BIGINT NOT NULL,
    status VARCHAR(32) NOT NULL,
    starts_at_ms BIGINT,
    ends_at_ms BIGINT,
    claim_ttl_ms BIGINT,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (coupon_id),
    CONSTRAINT coupons_figures CHECK (redeemed >= 0 AND revoked >= 0 AND redeemed + revoked <= claimed),
    CONSTRAINT coupons_status CHECK (status IN ('open', 'paused'))
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- The limits of coupons as they are, in the order in which they are checked.
CREATE TABLE IF NOT EXISTS coupon_limits (
    coupon_id VARCHAR(128) NOT NULL,
    limit_name VARCHAR(128) NOT NULL,
    partition_id BIGINT NOT NULL,
    place BIGINT NOT NULL,
    claims_max BIGINT NOT NULL,
    dimensions VARCHAR(512) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    window_unit VARCHAR(32) NOT NULL,
    window_ms BIGINT,
    offset_minutes BIGINT,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (coupon_id, limit_name),
    CONSTRAINT coupon_limits_by_place UNIQUE (coupon_id, place),
    CONSTRAINT coupon_limits_figures CHECK (place >= 1 AND claims_max >= 0),
    CONSTRAINT coupon_limits_window CHECK ((window_unit = 'MS') = (window_ms IS NOT NULL))
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- What was given of coupons. A claim whose deadline has passed stays open here: time ends it, not an event.
CREATE TABLE IF NOT EXISTS coupon_claims (
    coupon_id VARCHAR(128) NOT NULL,
    serial BIGINT NOT NULL,
    partition_id BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    user_id VARCHAR(128) NOT NULL,
    subject MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    status VARCHAR(32) NOT NULL,
    deadline_ms BIGINT,
    given_back MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
    operation_id VARCHAR(128),
    claimed_at_ms BIGINT NOT NULL,
    ended_at_ms BIGINT,
    PRIMARY KEY (coupon_id, serial),
    CONSTRAINT coupon_claims_status CHECK (status IN ('open', 'redeemed', 'revoked')),
    CONSTRAINT coupon_claims_ended CHECK ((status = 'open') = (ended_at_ms IS NULL)),
    CONSTRAINT coupon_claims_revoked CHECK ((status = 'revoked') = (given_back IS NOT NULL)),
    INDEX coupon_claims_by_user (user_id, claimed_at_ms)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Markets as they are.
CREATE TABLE IF NOT EXISTS markets (
    market_id VARCHAR(128) NOT NULL,
    partition_id BIGINT NOT NULL,
    tick BIGINT NOT NULL,
    lot BIGINT NOT NULL,
    quantity_min BIGINT NOT NULL,
    quantity_max BIGINT NOT NULL,
    status VARCHAR(32) NOT NULL,
    trades BIGINT NOT NULL,
    created_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    PRIMARY KEY (market_id),
    CONSTRAINT markets_status CHECK (status IN ('open', 'halted')),
    CONSTRAINT markets_figures CHECK (trades >= 0)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Orders as they are. A name that became free again and was taken again is another use.
CREATE TABLE IF NOT EXISTS orders (
    market_id VARCHAR(128) NOT NULL,
    order_id VARCHAR(128) NOT NULL,
    use_number BIGINT NOT NULL,
    partition_id BIGINT NOT NULL,
    owner_id VARCHAR(128) NOT NULL,
    side VARCHAR(32) NOT NULL,
    price BIGINT,
    quantity BIGINT NOT NULL,
    filled BIGINT NOT NULL,
    remaining BIGINT NOT NULL,
    quantity_placed BIGINT NOT NULL,
    tif VARCHAR(32) NOT NULL,
    stp VARCHAR(32) NOT NULL,
    status VARCHAR(32) NOT NULL,
    reason VARCHAR(32),
    first_trade BIGINT,
    last_trade BIGINT,
    operation_id VARCHAR(128),
    placed_at_ms BIGINT NOT NULL,
    updated_at_ms BIGINT NOT NULL,
    ended_at_ms BIGINT,
    PRIMARY KEY (market_id, order_id, use_number),
    CONSTRAINT orders_figures CHECK (filled >= 0 AND remaining >= 0 AND quantity = filled + remaining),
    CONSTRAINT orders_side CHECK (side IN ('BUY', 'SELL')),
    CONSTRAINT orders_price CHECK (price IS NULL OR price > 0),
    CONSTRAINT orders_status CHECK (status IN ('open', 'partially_filled', 'filled', 'cancelled')),
    CONSTRAINT orders_ended CHECK ((status IN ('open', 'partially_filled')) = (ended_at_ms IS NULL)),
    CONSTRAINT orders_rest CHECK ((status = 'filled') = (remaining = 0)),
    CONSTRAINT orders_begun
        CHECK (CASE status WHEN 'open' THEN filled = 0 WHEN 'cancelled' THEN filled >= 0
            ELSE filled > 0 END),
    CONSTRAINT orders_reason CHECK ((status = 'cancelled') = (reason IS NOT NULL)),
    CONSTRAINT orders_trades
        CHECK ((filled > 0) = (first_trade IS NOT NULL)
            AND (filled > 0) = (last_trade IS NOT NULL)),
    INDEX orders_by_owner (owner_id, market_id, placed_at_ms)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Trades, numbered by their market. Never changed.
CREATE TABLE IF NOT EXISTS trades (
    market_id VARCHAR(128) NOT NULL,
    trade BIGINT NOT NULL,
    partition_id BIGINT NOT NULL,
    sequence BIGINT NOT NULL,
    price BIGINT NOT NULL,
    quantity BIGINT NOT NULL,
    taker_side VARCHAR(32) NOT NULL,
    maker_order_id VARCHAR(128) NOT NULL,
    maker_owner_id VARCHAR(128) NOT NULL,
    taker_order_id VARCHAR(128) NOT NULL,
    taker_owner_id VARCHAR(128) NOT NULL,
    operation_id VARCHAR(128),
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (market_id, trade),
    CONSTRAINT trades_figures CHECK (trade >= 1 AND price >= 1 AND quantity >= 1),
    CONSTRAINT trades_side CHECK (taker_side IN ('BUY', 'SELL'))
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

-- Operations with the answer that is remembered under their id. An id forgotten and used again is another use.
CREATE TABLE IF NOT EXISTS operations (
    operation_id VARCHAR(128) NOT NULL,
    namespace VARCHAR(128) NOT NULL,
    partition_id BIGINT NOT NULL,
    use_number BIGINT NOT NULL,
    epoch BIGINT NOT NULL,
    first_sequence BIGINT NOT NULL,
    last_sequence BIGINT NOT NULL,
    outcome VARCHAR(32) NOT NULL,
    facts MEDIUMTEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    at_ms BIGINT NOT NULL,
    PRIMARY KEY (operation_id, namespace, partition_id, use_number),
    CONSTRAINT operations_sequences CHECK (first_sequence >= 1 AND first_sequence <= last_sequence),
    CONSTRAINT operations_use CHECK (use_number >= 1)
) ENGINE = InnoDB CHARACTER SET ascii COLLATE ascii_bin;

INSERT IGNORE INTO meta (name, value) VALUES ('schema_version', '1');
