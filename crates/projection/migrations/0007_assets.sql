-- Of how many decimals the amounts of an asset are, and views that show them so. Nothing here is of the log: the setting
-- `sql_asset_scales` writes what it names, and other rows stay as they are.
CREATE TABLE assets (
    asset {id} NOT NULL,
    scale {integer} NOT NULL,
    minor_units {integer} NOT NULL,
    PRIMARY KEY (asset),
    CONSTRAINT assets_scale CHECK (scale >= 0 AND scale <= 18),
    CONSTRAINT assets_minor_units CHECK (minor_units >= 1)
) {keyed};

-- Each account as it is now.
CREATE VIEW account_balances AS
SELECT a.account_id, a.asset, a.balance, a.held, a.available, a.overdraft, a.status, d.scale,
    {decimal a.balance} AS balance_decimal, {decimal a.held} AS held_decimal,
    {decimal a.available} AS available_decimal, {decimal a.overdraft} AS overdraft_decimal
FROM accounts AS a LEFT JOIN assets AS d ON d.asset = a.asset;

{only sqlite}DROP VIEW IF EXISTS account_statement;
CREATE {replacing} VIEW account_statement AS
SELECT e.account_id, {time e.at_ms} AS happened_at,
    e.kind, e.amount, e.balance, a.asset, e.counterparty_id, e.hold_id, e.operation_id,
    e.at_ms, e.partition_id, e.sequence, d.scale,
    {decimal e.amount} AS amount_decimal, {decimal e.balance} AS balance_decimal
FROM entries AS e JOIN accounts AS a ON a.account_id = e.account_id LEFT JOIN assets AS d ON d.asset = a.asset;

{only sqlite}DROP VIEW IF EXISTS ledger;
CREATE {replacing} VIEW ledger AS
SELECT s.partition_id, s.sequence, s.account_id, s.asset, s.kind, s.amount, s.counterparty_id, s.operation_id,
    s.happened_at, s.at_ms, d.scale, {decimal s.amount} AS amount_decimal
FROM (
    SELECT e.partition_id, e.sequence, e.account_id, a.asset AS asset, e.kind, e.amount, e.counterparty_id, e.operation_id,
        {time e.at_ms} AS happened_at, e.at_ms
    FROM entries AS e JOIN accounts AS a ON a.account_id = e.account_id
    UNION ALL
    SELECT e.partition_id, e.sequence, '$world', a.asset, e.kind, -e.amount, e.account_id, e.operation_id,
        {time e.at_ms}, e.at_ms
    FROM entries AS e JOIN accounts AS a ON a.account_id = e.account_id
    WHERE e.counterparty_id IS NULL
) AS s LEFT JOIN assets AS d ON d.asset = s.asset;

{only sqlite}DROP VIEW IF EXISTS balance_sheet;
CREATE {replacing} VIEW balance_sheet AS
SELECT s.asset, s.accounts, s.balance, s.held, s.available, s.overdraft, s.outside, s.balance + s.outside AS difference,
    d.scale, {decimal s.balance} AS balance_decimal, {decimal s.held} AS held_decimal,
    {decimal s.available} AS available_decimal, {decimal s.outside} AS outside_decimal
FROM (
    SELECT asset, SUM(accounts) AS accounts, SUM(balance) AS balance, SUM(held) AS held, SUM(available) AS available,
        SUM(overdraft) AS overdraft, SUM(outside) AS outside
    FROM (
        SELECT asset, 1 AS accounts, balance, held, available, overdraft, 0 AS outside FROM accounts
        UNION ALL
        SELECT a.asset, 0, 0, 0, 0, 0, -e.amount
        FROM entries AS e LEFT JOIN accounts AS a ON a.account_id = e.account_id
        WHERE e.counterparty_id IS NULL
    ) AS sides
    GROUP BY asset
) AS s LEFT JOIN assets AS d ON d.asset = s.asset;

UPDATE meta SET value = '7' WHERE name = 'schema_version';
