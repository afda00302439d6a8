-- Views for people: readable times (UTC), running balances, sums. They hold nothing of their own.

-- An account's movements with the balance after each.
CREATE VIEW account_statement AS
SELECT e.account_id, {time e.at_ms} AS happened_at,
    e.kind, e.amount, e.balance, a.asset, e.counterparty_id, e.hold_id, e.operation_id,
    e.at_ms, e.partition_id, e.sequence
FROM entries AS e JOIN accounts AS a ON a.account_id = e.account_id;

-- What all accounts of an asset come to, and what the world outside holds against it.
CREATE VIEW balance_sheet AS
SELECT asset, COUNT(*) AS accounts, SUM(balance) AS balance, SUM(held) AS held, SUM(available) AS available,
    SUM(overdraft) AS overdraft, -SUM(balance) AS outside
FROM accounts GROUP BY asset;

-- What an account received from and paid to each other one; to the world outside where there is no other.
-- Of a shop's account, what each customer spent there.
CREATE VIEW account_flows AS
SELECT e.account_id, e.counterparty_id, a.asset, COUNT(*) AS movements,
    SUM(CASE WHEN e.amount > 0 THEN e.amount ELSE 0 END) AS received,
    SUM(CASE WHEN e.amount < 0 THEN -e.amount ELSE 0 END) AS paid
FROM entries AS e JOIN accounts AS a ON a.account_id = e.account_id
GROUP BY e.account_id, e.counterparty_id, a.asset;

-- What an operation moved.
CREATE VIEW operation_movements AS
SELECT o.operation_id, o.namespace, o.outcome,
    {time o.at_ms} AS happened_at,
    e.account_id, e.kind, e.amount, e.balance, e.counterparty_id, e.hold_id, o.partition_id, e.sequence
FROM operations AS o JOIN entries AS e ON e.partition_id = o.partition_id
    AND e.sequence >= o.first_sequence AND e.sequence <= o.last_sequence;

-- Sales: who got which units, and how many of them are still theirs.
CREATE VIEW sold_units AS
SELECT sku, owner_id, first_serial, first_serial + quantity - 1 AS last_serial, quantity, returned,
    quantity - returned AS kept, reservation_id, operation_id,
    {time at_ms} AS sold_at
FROM receipts;

-- How many units of an item each customer has.
CREATE VIEW owner_units AS
SELECT sku, owner_id, COUNT(*) AS sales, SUM(quantity) AS bought, SUM(returned) AS returned,
    SUM(quantity - returned) AS kept
FROM receipts GROUP BY sku, owner_id;

-- The trades of each order, from its side.
CREATE VIEW order_fills AS
SELECT o.market_id, o.order_id, o.use_number, o.owner_id, o.side, t.trade, t.price, t.quantity,
    CASE WHEN t.taker_order_id = o.order_id THEN 'taker' ELSE 'maker' END AS part,
    {time t.at_ms} AS traded_at
FROM orders AS o JOIN trades AS t ON t.market_id = o.market_id
    AND t.trade >= o.first_trade AND t.trade <= o.last_trade
    AND (t.maker_order_id = o.order_id OR t.taker_order_id = o.order_id);

-- What each customer bought and sold in a market: units, and price times units.
CREATE VIEW market_turnover AS
SELECT market_id, owner_id, COUNT(*) AS trades,
    SUM(CASE WHEN side = 'BUY' THEN quantity ELSE 0 END) AS bought,
    SUM(CASE WHEN side = 'BUY' THEN {wide price} * quantity ELSE 0 END) AS bought_value,
    SUM(CASE WHEN side = 'SELL' THEN quantity ELSE 0 END) AS sold,
    SUM(CASE WHEN side = 'SELL' THEN {wide price} * quantity ELSE 0 END) AS sold_value
FROM (
    SELECT market_id, taker_owner_id AS owner_id, taker_side AS side, price, quantity FROM trades
    UNION ALL
    SELECT market_id, maker_owner_id, CASE WHEN taker_side = 'BUY' THEN 'SELL' ELSE 'BUY' END, price, quantity
    FROM trades
) AS sides
GROUP BY market_id, owner_id;

UPDATE meta SET value = '2' WHERE name = 'schema_version';
