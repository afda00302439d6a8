-- What support desks and accountants ask for: what an operation did, since when an item was sold out, and the other side
-- of what came in and went out.

-- The first event of the operation's last entry. Rows of earlier releases have none.
{only sqlite}ALTER TABLE operations ADD COLUMN event {word};
{only sqlite}ALTER TABLE operations ADD COLUMN resource_id {id};
{only sqlite}ALTER TABLE operations ADD COLUMN event_fields {document};
{only postgres}ALTER TABLE operations ADD COLUMN event {word}, ADD COLUMN resource_id {id},
    ADD COLUMN event_fields {document};
{only mysql}ALTER TABLE operations ADD COLUMN /*M! IF NOT EXISTS */ event {word},
    ADD COLUMN /*M! IF NOT EXISTS */ resource_id {id}, ADD COLUMN /*M! IF NOT EXISTS */ event_fields {document};

-- When an item was sold out, and when units were available again. Never changed.
CREATE TABLE stock_availability (
    sku {id} NOT NULL,
    sequence {integer} NOT NULL,
    partition_id {integer} NOT NULL,
    kind {word} NOT NULL,
    available {integer} NOT NULL,
    operation_id {id},
    at_ms {integer} NOT NULL,
    PRIMARY KEY (sku, sequence),
    CONSTRAINT stock_availability_kind CHECK (kind IN ('sold_out', 'available_again')),
    CONSTRAINT stock_availability_figures CHECK ((kind = 'sold_out') = (available = 0) AND available >= 0)
) {keyed};

-- Every movement with both sides: what came in or went out is a row of the world outside, too. An asset's amounts sum
-- to 0.
{only sqlite}DROP VIEW IF EXISTS ledger;
CREATE {replacing} VIEW ledger AS
SELECT e.partition_id, e.sequence, e.account_id, a.asset, e.kind, e.amount, e.counterparty_id, e.operation_id,
    {time e.at_ms} AS happened_at, e.at_ms
FROM entries AS e JOIN accounts AS a ON a.account_id = e.account_id
UNION ALL
SELECT e.partition_id, e.sequence, '$world', a.asset, e.kind, -e.amount, e.account_id, e.operation_id,
    {time e.at_ms}, e.at_ms
FROM entries AS e JOIN accounts AS a ON a.account_id = e.account_id
WHERE e.counterparty_id IS NULL;

-- What all accounts of an asset come to, and what the world outside holds against it by the entries. The difference is
-- 0, unless rows were changed or removed; entries of an account that is missing have no asset.
{only sqlite}DROP VIEW IF EXISTS balance_sheet;
CREATE {replacing} VIEW balance_sheet AS
SELECT asset, SUM(accounts) AS accounts, SUM(balance) AS balance, SUM(held) AS held, SUM(available) AS available,
    SUM(overdraft) AS overdraft, SUM(outside) AS outside, SUM(balance) + SUM(outside) AS difference
FROM (
    SELECT asset, 1 AS accounts, balance, held, available, overdraft, 0 AS outside FROM accounts
    UNION ALL
    SELECT a.asset, 0, 0, 0, 0, 0, -e.amount
    FROM entries AS e LEFT JOIN accounts AS a ON a.account_id = e.account_id
    WHERE e.counterparty_id IS NULL
) AS sides
GROUP BY asset;

UPDATE meta SET value = '5' WHERE name = 'schema_version';
