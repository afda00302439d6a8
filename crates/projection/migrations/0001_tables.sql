-- The tables of the projection; the words in braces are those of scarce-sql's schema.rs. Integers are 64 bits wide; what
-- ends in _ms are Unix milliseconds (UTC) or durations in milliseconds; texts are compared as bytes. What each column
-- means is in docs/reference/sql.md.


-- What this database holds: whose log, and by which version of these tables.
CREATE TABLE meta (
    name {word} NOT NULL,
    value {unicode 512} NOT NULL,
    PRIMARY KEY (name)
) {keyed};

-- How far each partition's log is in these tables. Moved in the transaction that writes the rows.
CREATE TABLE cursors (
    deployment_id {ascii 64} NOT NULL,
    partition_id {integer} NOT NULL,
    epoch {integer} NOT NULL,
    sequence {integer} NOT NULL,
    step_sequence {integer},
    at_ms {integer},
    updated_at_ms {integer} NOT NULL,
    PRIMARY KEY (deployment_id, partition_id),
    CONSTRAINT cursors_position CHECK (epoch >= 0 AND sequence >= 0)
) {changing};

-- Accounts as they are. The world outside has no row: it holds the negative of all balances.
CREATE TABLE accounts (
    account_id {id} NOT NULL,
    partition_id {integer} NOT NULL,
    asset {id} NOT NULL,
    balance {integer} NOT NULL,
    held {integer} NOT NULL,
    available {integer} NOT NULL,
    overdraft {integer} NOT NULL,
    status {word} NOT NULL,
    opened_at_ms {integer} NOT NULL,
    updated_at_ms {integer} NOT NULL,
    closed_at_ms {integer},
    PRIMARY KEY (account_id),
    CONSTRAINT accounts_figures CHECK (held >= 0 AND overdraft >= 0 AND available = balance - held),
    CONSTRAINT accounts_covered CHECK (available >= -overdraft),
    CONSTRAINT accounts_status CHECK (status IN ('open', 'frozen', 'closed')),
    CONSTRAINT accounts_closed CHECK ((status = 'closed') = (closed_at_ms IS NOT NULL)),
    CONSTRAINT accounts_empty CHECK (status <> 'closed' OR (balance = 0 AND held = 0))
) {changing};

-- Every movement of money, a row for each account that it touched. Never changed.
CREATE TABLE entries (
    partition_id {integer} NOT NULL,
    sequence {integer} NOT NULL,
    account_id {id} NOT NULL,
    epoch {integer} NOT NULL,
    kind {word} NOT NULL,
    amount {integer} NOT NULL,
    balance {integer} NOT NULL,
    counterparty_id {id},
    hold_id {id},
    operation_id {id},
    at_ms {integer} NOT NULL,
    PRIMARY KEY (partition_id, sequence, account_id),
    CONSTRAINT entries_amount CHECK (amount <> 0),
    CONSTRAINT entries_kind CHECK (kind IN ('credit', 'debit', 'transfer', 'capture')),
    CONSTRAINT entries_hold CHECK ((kind = 'capture') = (hold_id IS NOT NULL)),
    CONSTRAINT entries_sign CHECK ((kind <> 'credit' OR amount > 0) AND (kind <> 'debit' OR amount < 0)),
    CONSTRAINT entries_outside CHECK (kind NOT IN ('credit', 'debit') OR counterparty_id IS NULL)
) {keyed};
CREATE INDEX entries_by_account ON entries (account_id, at_ms, sequence);

-- Money set aside. A name that became free again and was taken again is another use.
CREATE TABLE holds (
    account_id {id} NOT NULL,
    hold_id {id} NOT NULL,
    use_number {integer} NOT NULL,
    partition_id {integer} NOT NULL,
    amount {integer} NOT NULL,
    captured {integer} NOT NULL,
    amount_placed {integer} NOT NULL,
    status {word} NOT NULL,
    deadline_ms {integer},
    operation_id {id},
    placed_at_ms {integer} NOT NULL,
    ended_at_ms {integer},
    PRIMARY KEY (account_id, hold_id, use_number),
    CONSTRAINT holds_figures CHECK (amount >= 0 AND captured >= 0 AND amount + captured <= amount_placed),
    CONSTRAINT holds_status CHECK (status IN ('open', 'captured', 'voided', 'expired')),
    CONSTRAINT holds_ended CHECK ((status = 'open') = (ended_at_ms IS NULL)),
    CONSTRAINT holds_rest
        CHECK (CASE WHEN status = 'open' THEN amount > 0 AND amount + captured = amount_placed
            ELSE amount = 0 END)
) {changing};

-- Countable things as they are.
CREATE TABLE stock (
    sku {id} NOT NULL,
    partition_id {integer} NOT NULL,
    total {integer} NOT NULL,
    available {integer} NOT NULL,
    reserved {integer} NOT NULL,
    sold {integer} NOT NULL,
    returned {integer} NOT NULL,
    last_serial {integer} NOT NULL,
    per_owner_max {integer},
    status {word} NOT NULL,
    starts_at_ms {integer},
    ends_at_ms {integer},
    created_at_ms {integer} NOT NULL,
    updated_at_ms {integer} NOT NULL,
    sold_out_at_ms {integer},
    audited_at_ms {integer},
    closed_at_ms {integer},
    PRIMARY KEY (sku),
    CONSTRAINT stock_figures CHECK (available >= 0 AND reserved >= 0 AND sold >= 0 AND returned >= 0),
    CONSTRAINT stock_total CHECK (total = available + reserved + sold),
    CONSTRAINT stock_serials CHECK (sold + returned = last_serial),
    CONSTRAINT stock_status CHECK (status IN ('open', 'closed')),
    CONSTRAINT stock_closed CHECK ((status = 'closed') = (closed_at_ms IS NOT NULL)),
    CONSTRAINT stock_sold_out CHECK (sold_out_at_ms IS NULL OR available = 0)
) {changing};

-- Why there are as many units as there are: an item's quantities sum to its total. Never changed.
CREATE TABLE stock_movements (
    sku {id} NOT NULL,
    sequence {integer} NOT NULL,
    partition_id {integer} NOT NULL,
    kind {word} NOT NULL,
    quantity {integer} NOT NULL,
    available {integer} NOT NULL,
    total {integer} NOT NULL,
    reason {unicode 512},
    operation_id {id},
    at_ms {integer} NOT NULL,
    PRIMARY KEY (sku, sequence),
    CONSTRAINT stock_movements_kind CHECK (kind IN ('created', 'restocked', 'adjusted')),
    CONSTRAINT stock_movements_reason CHECK (kind = 'opening' OR (kind = 'adjusted') = (reason IS NOT NULL)),
    CONSTRAINT stock_movements_figures CHECK (available >= 0 AND total >= available)
) {keyed};

-- Sales: units first_serial to first_serial + quantity - 1.
CREATE TABLE receipts (
    sku {id} NOT NULL,
    first_serial {integer} NOT NULL,
    partition_id {integer} NOT NULL,
    sequence {integer} NOT NULL,
    quantity {integer} NOT NULL,
    returned {integer} NOT NULL,
    owner_id {id} NOT NULL,
    reservation_id {id},
    operation_id {id},
    at_ms {integer} NOT NULL,
    PRIMARY KEY (sku, first_serial),
    CONSTRAINT receipts_figures
        CHECK (first_serial >= 1 AND quantity >= 1 AND returned >= 0 AND returned <= quantity)
) {keyed};
CREATE INDEX receipts_by_owner ON receipts (owner_id, at_ms);

-- Sold units that came back: units first_serial to first_serial + quantity - 1. Never changed.
CREATE TABLE stock_returns (
    sku {id} NOT NULL,
    first_serial {integer} NOT NULL,
    partition_id {integer} NOT NULL,
    sequence {integer} NOT NULL,
    quantity {integer} NOT NULL,
    receipt_serial {integer} NOT NULL,
    owner_id {id} NOT NULL,
    operation_id {id},
    at_ms {integer} NOT NULL,
    PRIMARY KEY (sku, first_serial),
    CONSTRAINT stock_returns_figures
        CHECK (quantity >= 1 AND receipt_serial >= 1 AND receipt_serial <= first_serial)
) {keyed};

-- Units set aside. A name that became free again and was taken again is another use.
CREATE TABLE reservations (
    sku {id} NOT NULL,
    reservation_id {id} NOT NULL,
    use_number {integer} NOT NULL,
    partition_id {integer} NOT NULL,
    owner_id {id} NOT NULL,
    quantity {integer} NOT NULL,
    status {word} NOT NULL,
    deadline_ms {integer} NOT NULL,
    first_serial {integer},
    operation_id {id},
    placed_at_ms {integer} NOT NULL,
    ended_at_ms {integer},
    PRIMARY KEY (sku, reservation_id, use_number),
    CONSTRAINT reservations_figures CHECK (quantity >= 1),
    CONSTRAINT reservations_status CHECK (status IN ('open', 'confirmed', 'released', 'expired')),
    CONSTRAINT reservations_ended CHECK ((status = 'open') = (ended_at_ms IS NULL)),
    CONSTRAINT reservations_sold CHECK ((status = 'confirmed') = (first_serial IS NOT NULL))
) {changing};
CREATE INDEX reservations_by_owner ON reservations (owner_id, placed_at_ms);

-- Red packet campaigns as they are. Seed and plan come with the end; packets not claimed are nowhere here.
CREATE TABLE packet_campaigns (
    campaign_id {id} NOT NULL,
    partition_id {integer} NOT NULL,
    asset {id} NOT NULL,
    packets {integer} NOT NULL,
    total {integer} NOT NULL,
    laid {integer} NOT NULL,
    claimed {integer} NOT NULL,
    claimed_amount {integer} NOT NULL,
    status {word} NOT NULL,
    starts_at_ms {integer},
    ends_at_ms {integer},
    commitment {ascii 64},
    seed {ascii 64},
    method {word},
    amount_min {integer},
    amount_max {integer},
    operation_id {id},
    created_at_ms {integer} NOT NULL,
    updated_at_ms {integer} NOT NULL,
    exhausted_at_ms {integer},
    closed_at_ms {integer},
    PRIMARY KEY (campaign_id),
    CONSTRAINT packet_campaigns_counts CHECK (0 <= claimed AND claimed <= laid AND laid <= packets),
    CONSTRAINT packet_campaigns_amounts CHECK (claimed <= claimed_amount AND claimed_amount <= total),
    CONSTRAINT packet_campaigns_all CHECK (claimed < packets OR claimed_amount = total),
    CONSTRAINT packet_campaigns_status CHECK (status IN ('filling', 'open', 'exhausted', 'closed')),
    CONSTRAINT packet_campaigns_closed CHECK ((status = 'closed') = (closed_at_ms IS NOT NULL)),
    CONSTRAINT packet_campaigns_secret
        CHECK (status = 'closed' OR (seed IS NULL AND method IS NULL
            AND amount_min IS NULL AND amount_max IS NULL))
) {changing};

-- Who got which packet. A packet has one user, and a user one packet of a campaign. Never changed.
CREATE TABLE packet_claims (
    campaign_id {id} NOT NULL,
    packet {integer} NOT NULL,
    partition_id {integer} NOT NULL,
    sequence {integer} NOT NULL,
    user_id {id} NOT NULL,
    amount {integer} NOT NULL,
    operation_id {id},
    at_ms {integer} NOT NULL,
    PRIMARY KEY (campaign_id, packet),
    CONSTRAINT packet_claims_by_user UNIQUE (user_id, campaign_id),
    CONSTRAINT packet_claims_figures CHECK (packet >= 1 AND amount >= 1)
) {keyed};

-- Coupons as they are.
CREATE TABLE coupons (
    coupon_id {id} NOT NULL,
    partition_id {integer} NOT NULL,
    claimed {integer} NOT NULL,
    redeemed {integer} NOT NULL,
    revoked {integer} NOT NULL,
    status {word} NOT NULL,
    starts_at_ms {integer},
    ends_at_ms {integer},
    claim_ttl_ms {integer},
    created_at_ms {integer} NOT NULL,
    updated_at_ms {integer} NOT NULL,
    PRIMARY KEY (coupon_id),
    CONSTRAINT coupons_figures CHECK (redeemed >= 0 AND revoked >= 0 AND redeemed + revoked <= claimed),
    CONSTRAINT coupons_status CHECK (status IN ('open', 'paused'))
) {changing};

-- The limits of coupons as they are, in the order in which they are checked.
CREATE TABLE coupon_limits (
    coupon_id {id} NOT NULL,
    limit_name {id} NOT NULL,
    partition_id {integer} NOT NULL,
    place {integer} NOT NULL,
    claims_max {integer} NOT NULL,
    dimensions {unicode 512} NOT NULL,
    window_unit {word} NOT NULL,
    window_ms {integer},
    offset_minutes {integer},
    updated_at_ms {integer} NOT NULL,
    PRIMARY KEY (coupon_id, limit_name),
    CONSTRAINT coupon_limits_by_place UNIQUE (coupon_id, place),
    CONSTRAINT coupon_limits_figures CHECK (place >= 1 AND claims_max >= 0),
    CONSTRAINT coupon_limits_window CHECK ((window_unit = 'MS') = (window_ms IS NOT NULL))
) {keyed};

-- What was given of coupons. A claim whose deadline has passed stays open here: time ends it, not an event.
CREATE TABLE coupon_claims (
    coupon_id {id} NOT NULL,
    serial {integer} NOT NULL,
    partition_id {integer} NOT NULL,
    sequence {integer} NOT NULL,
    user_id {id} NOT NULL,
    subject {document} NOT NULL,
    status {word} NOT NULL,
    deadline_ms {integer},
    given_back {document},
    operation_id {id},
    claimed_at_ms {integer} NOT NULL,
    ended_at_ms {integer},
    PRIMARY KEY (coupon_id, serial),
    CONSTRAINT coupon_claims_status CHECK (status IN ('open', 'redeemed', 'revoked')),
    CONSTRAINT coupon_claims_ended CHECK ((status = 'open') = (ended_at_ms IS NULL)),
    CONSTRAINT coupon_claims_revoked CHECK ((status = 'revoked') = (given_back IS NOT NULL))
) {keyed};
CREATE INDEX coupon_claims_by_user ON coupon_claims (user_id, claimed_at_ms);

-- Markets as they are.
CREATE TABLE markets (
    market_id {id} NOT NULL,
    partition_id {integer} NOT NULL,
    tick {integer} NOT NULL,
    lot {integer} NOT NULL,
    quantity_min {integer} NOT NULL,
    quantity_max {integer} NOT NULL,
    status {word} NOT NULL,
    trades {integer} NOT NULL,
    created_at_ms {integer} NOT NULL,
    updated_at_ms {integer} NOT NULL,
    PRIMARY KEY (market_id),
    CONSTRAINT markets_status CHECK (status IN ('open', 'halted')),
    CONSTRAINT markets_figures CHECK (trades >= 0)
) {changing};

-- Orders as they are. A name that became free again and was taken again is another use.
CREATE TABLE orders (
    market_id {id} NOT NULL,
    order_id {id} NOT NULL,
    use_number {integer} NOT NULL,
    partition_id {integer} NOT NULL,
    owner_id {id} NOT NULL,
    side {word} NOT NULL,
    price {integer},
    quantity {integer} NOT NULL,
    filled {integer} NOT NULL,
    remaining {integer} NOT NULL,
    quantity_placed {integer} NOT NULL,
    tif {word} NOT NULL,
    stp {word} NOT NULL,
    status {word} NOT NULL,
    reason {word},
    first_trade {integer},
    last_trade {integer},
    operation_id {id},
    placed_at_ms {integer} NOT NULL,
    updated_at_ms {integer} NOT NULL,
    ended_at_ms {integer},
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
            AND (filled > 0) = (last_trade IS NOT NULL))
) {changing};
CREATE INDEX orders_by_owner ON orders (owner_id, market_id, placed_at_ms);

-- Trades, numbered by their market. Never changed.
CREATE TABLE trades (
    market_id {id} NOT NULL,
    trade {integer} NOT NULL,
    partition_id {integer} NOT NULL,
    sequence {integer} NOT NULL,
    price {integer} NOT NULL,
    quantity {integer} NOT NULL,
    taker_side {word} NOT NULL,
    maker_order_id {id} NOT NULL,
    maker_owner_id {id} NOT NULL,
    taker_order_id {id} NOT NULL,
    taker_owner_id {id} NOT NULL,
    operation_id {id},
    at_ms {integer} NOT NULL,
    PRIMARY KEY (market_id, trade),
    CONSTRAINT trades_figures CHECK (trade >= 1 AND price >= 1 AND quantity >= 1),
    CONSTRAINT trades_side CHECK (taker_side IN ('BUY', 'SELL'))
) {keyed};

-- Operations with the answer that is remembered under their id. An id forgotten and used again is another use.
CREATE TABLE operations (
    operation_id {id} NOT NULL,
    namespace {id} NOT NULL,
    partition_id {integer} NOT NULL,
    use_number {integer} NOT NULL,
    epoch {integer} NOT NULL,
    first_sequence {integer} NOT NULL,
    last_sequence {integer} NOT NULL,
    outcome {word} NOT NULL,
    facts {document} NOT NULL,
    at_ms {integer} NOT NULL,
    PRIMARY KEY (operation_id, namespace, partition_id, use_number),
    CONSTRAINT operations_sequences CHECK (first_sequence >= 1 AND first_sequence <= last_sequence),
    CONSTRAINT operations_use CHECK (use_number >= 1)
) {heap};

INSERT INTO meta (name, value) VALUES ('schema_version', '1');
