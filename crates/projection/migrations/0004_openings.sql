-- Tables that begin with the state at one position of a log whose beginning is gone.

-- Where the history of a partition begins in these tables, if that is not the beginning of its log. What was before is
-- not known here.
CREATE TABLE openings (
    partition_id {integer} NOT NULL,
    epoch {integer} NOT NULL,
    sequence {integer} NOT NULL,
    at_ms {integer} NOT NULL,
    opened_at_ms {integer} NOT NULL,
    PRIMARY KEY (partition_id),
    CONSTRAINT openings_position CHECK (epoch >= 0 AND sequence >= 0)
) {keyed};

-- Opening balances and quantities are of a kind of their own. SQLite cannot change a constraint, so its tables are
-- written once more; PostgreSQL need not look at the rows that are there.
{only mysql}ALTER TABLE entries DROP CONSTRAINT entries_kind,
    ADD CONSTRAINT entries_kind CHECK (kind IN ('credit', 'debit', 'transfer', 'capture', 'opening'));
{only mysql}ALTER TABLE stock_movements DROP CONSTRAINT stock_movements_kind,
    ADD CONSTRAINT stock_movements_kind CHECK (kind IN ('created', 'restocked', 'adjusted', 'opening'));

{only postgres}ALTER TABLE entries DROP CONSTRAINT entries_kind,
    ADD CONSTRAINT entries_kind CHECK (kind IN ('credit', 'debit', 'transfer', 'capture', 'opening')) NOT VALID;
{only postgres}ALTER TABLE stock_movements DROP CONSTRAINT stock_movements_kind,
    ADD CONSTRAINT stock_movements_kind CHECK (kind IN ('created', 'restocked', 'adjusted', 'opening')) NOT VALID;

{only sqlite}DROP VIEW account_statement;
{only sqlite}DROP VIEW account_flows;
{only sqlite}DROP VIEW operation_movements;
{only sqlite}CREATE TABLE entries_next (
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
    CONSTRAINT entries_kind CHECK (kind IN ('credit', 'debit', 'transfer', 'capture', 'opening')),
    CONSTRAINT entries_hold CHECK ((kind = 'capture') = (hold_id IS NOT NULL)),
    CONSTRAINT entries_sign CHECK ((kind <> 'credit' OR amount > 0) AND (kind <> 'debit' OR amount < 0)),
    CONSTRAINT entries_outside CHECK (kind NOT IN ('credit', 'debit') OR counterparty_id IS NULL)
) {keyed};
{only sqlite}INSERT INTO entries_next SELECT * FROM entries;
{only sqlite}DROP TABLE entries;
{only sqlite}ALTER TABLE entries_next RENAME TO entries;
{only sqlite}CREATE INDEX entries_by_account ON entries (account_id, at_ms, sequence);
{only sqlite}CREATE TABLE stock_movements_next (
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
    CONSTRAINT stock_movements_kind CHECK (kind IN ('created', 'restocked', 'adjusted', 'opening')),
    CONSTRAINT stock_movements_reason CHECK (kind = 'opening' OR (kind = 'adjusted') = (reason IS NOT NULL)),
    CONSTRAINT stock_movements_figures CHECK (available >= 0 AND total >= available)
) {keyed};
{only sqlite}INSERT INTO stock_movements_next SELECT * FROM stock_movements;
{only sqlite}DROP TABLE stock_movements;
{only sqlite}ALTER TABLE stock_movements_next RENAME TO stock_movements;

{only sqlite}CREATE VIEW account_statement AS
SELECT e.account_id, {time e.at_ms} AS happened_at,
    e.kind, e.amount, e.balance, a.asset, e.counterparty_id, e.hold_id, e.operation_id,
    e.at_ms, e.partition_id, e.sequence
FROM entries AS e JOIN accounts AS a ON a.account_id = e.account_id;

{only sqlite}CREATE VIEW operation_movements AS
SELECT o.operation_id, o.namespace, o.outcome,
    {time o.at_ms} AS happened_at,
    e.account_id, e.kind, e.amount, e.balance, e.counterparty_id, e.hold_id, o.partition_id, e.sequence
FROM operations AS o JOIN entries AS e ON e.partition_id = o.partition_id
    AND e.sequence >= o.first_sequence AND e.sequence <= o.last_sequence;

-- An opening balance has no other side that is known.
CREATE {replacing} VIEW account_flows AS
SELECT e.account_id, e.counterparty_id, a.asset, COUNT(*) AS movements,
    SUM(CASE WHEN e.amount > 0 THEN e.amount ELSE 0 END) AS received,
    SUM(CASE WHEN e.amount < 0 THEN -e.amount ELSE 0 END) AS paid
FROM entries AS e JOIN accounts AS a ON a.account_id = e.account_id
WHERE e.kind <> 'opening'
GROUP BY e.account_id, e.counterparty_id, a.asset;

UPDATE meta SET value = '4' WHERE name = 'schema_version';
