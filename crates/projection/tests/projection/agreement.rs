//! Checks that the tables agree with the state machine.

use std::collections::BTreeMap;

use scarce_core::event::{AccountEvent, Entry, Event, MarketEvent, PacketsEvent, StockEvent};
use scarce_core::packets::Claim;
use scarce_core::stock::StockItem;
use scarce_core::types::Id;

use crate::kit::{Database, Log};

type Rows = BTreeMap<String, Vec<String>>;

/// Rows by their first column.
async fn by_first(database: &Database, selected: &[&str], rest: &str) -> Rows {
    let rows = database.ask(selected, rest).await;
    rows.into_iter().map(|mut row| (row.remove(0), row)).collect()
}

fn shown<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// Compares everything that the machine still keeps, and the further facts of the log.
pub async fn check(database: &Database, log: &Log) {
    check_accounts(database, log).await;
    check_holds(database, log).await;
    check_stock(database, log).await;
    check_reservations(database, log).await;
    check_packets(database, log, Extent::All).await;
    check_coupons(database, log, Extent::All).await;
    check_markets(database, log, Extent::All).await;
    check_log(database, log).await;
    check_sums(database, Extent::All).await;
}

/// How much of the log is in the tables.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    All,
    /// The state at one position, and everything behind it.
    SinceOpening,
}

/// Compares what the machine still keeps with tables that began with its state at one position.
pub async fn check_state(database: &Database, log: &Log) {
    check_accounts(database, log).await;
    check_holds(database, log).await;
    check_stock(database, log).await;
    check_reservations(database, log).await;
    check_packets(database, log, Extent::SinceOpening).await;
    check_coupons(database, log, Extent::SinceOpening).await;
    check_markets(database, log, Extent::SinceOpening).await;
    check_sums(database, Extent::SinceOpening).await;
    let last = log.entries.last().map_or(0, Entry::sequence_last).to_string();
    assert_eq!(database.figure("sequence", "FROM cursors").await, last);
}

async fn check_accounts(database: &Database, log: &Log) {
    let selected = ["account_id", "asset", "balance", "held", "available", "overdraft", "status"];
    let rows = by_first(database, &selected, "FROM accounts").await;
    let mut expected = Rows::new();
    let mut outside: BTreeMap<String, i64> = BTreeMap::new();
    for (id, account) in log.machine.state().accounts.iter() {
        if id.as_str().starts_with('$') {
            outside.insert(account.asset.to_string(), account.balance);
            continue;
        }
        let figures =
            [account.balance.to_string(), account.held.to_string(), account.available().to_string()];
        let rest = [account.overdraft.to_string(), account.status.word().to_owned()];
        let row = [account.asset.to_string()].into_iter().chain(figures).chain(rest).collect();
        expected.insert(id.to_string(), row);
    }
    assert_eq!(rows, expected);
    let sheet = by_first(database, &["asset", "outside"], "FROM balance_sheet").await;
    let outside: Rows = outside.into_iter().map(|(asset, sum)| (asset, vec![sum.to_string()])).collect();
    assert_eq!(sheet, outside);
}

/// The last use of each name, with the machine's answer to a query for it.
async fn check_holds(database: &Database, log: &Log) {
    let selected = ["account_id", "hold_id", "amount", "status", "deadline_ms"];
    let last = "FROM holds AS h WHERE use_number = (SELECT MAX(u.use_number) FROM holds AS u \
                WHERE u.account_id = h.account_id AND u.hold_id = h.hold_id)";
    let mut rows = BTreeMap::new();
    for row in database.ask(&selected, last).await {
        rows.insert((row[0].clone(), row[1].clone()), row[2..].to_vec());
    }
    for (account, _) in log.machine.state().accounts.iter() {
        for (name, row) in rows.iter().filter(|((of, _), _)| of == account.as_str()) {
            let id = scarce_core::types::Id::parse(name.1.as_bytes(), "hold").expect("an id");
            if let Some(hold) = log.machine.state().accounts.hold(account, &id) {
                let expected = [hold.amount.to_string(), hold.status.word().to_owned(), shown(hold.deadline)];
                assert_eq!(row.as_slice(), expected, "hold {name:?}");
            }
        }
        if account.as_str().starts_with('$') {
            continue;
        }
        let answer = log.ask(&format!("ACCOUNT.GET {account}")).expect("the account");
        let sum = format!("FROM holds WHERE account_id = '{account}'");
        assert_eq!(database.figure("COALESCE(SUM(amount), 0)", &sum).await, answer[3], "held of {account}");
    }
}

async fn check_stock(database: &Database, log: &Log) {
    let figures = ["total", "available", "reserved", "sold", "returned", "last_serial", "per_owner_max"];
    let rest = ["starts_at_ms", "ends_at_ms", "status"];
    let selected: Vec<&str> = ["sku"].into_iter().chain(figures).chain(rest).collect();
    let rows = by_first(database, &selected, "FROM stock").await;
    let mut expected = Rows::new();
    let mut receipts = Rows::new();
    for (sku, item) in log.machine.state().stock.iter() {
        let StockItem { total, available, reserved, sold, returned, serial, .. } = *item;
        let figures = [total, available, reserved, sold, returned, serial].map(|figure| figure.to_string());
        let options = [item.per_owner_max, item.starts_at, item.ends_at].map(shown);
        let status = if item.closed { "closed" } else { "open" }.to_owned();
        expected.insert(sku.to_string(), figures.into_iter().chain(options).chain([status]).collect());
        for (first, receipt) in log.machine.state().stock.receipts(sku) {
            let operation = Some(receipt.operation.as_str()).filter(|id| !id.is_empty());
            let figures = [receipt.count, receipt.returned, receipt.at].map(|figure| figure.to_string());
            let texts = [receipt.owner.to_string(), shown(operation)];
            receipts.insert(format!("{sku} {first}"), figures.into_iter().chain(texts).collect());
        }
    }
    assert_eq!(rows, expected);
    let selected = ["sku", "first_serial", "quantity", "returned", "at_ms", "owner_id", "operation_id"];
    let mut found = Rows::new();
    for row in database.ask(&selected, "FROM receipts").await {
        // Receipts that have left memory stay in the table.
        let sku = Id::parse(row[0].as_bytes(), "sku").expect("an id");
        if row[1].parse::<u64>().expect("a serial")
            <= log.machine.state().stock.forgotten(&sku).through_serial
        {
            continue;
        }
        found.insert(format!("{} {}", row[0], row[1]), row[2..].to_vec());
    }
    assert_eq!(found, receipts);
}

async fn check_reservations(database: &Database, log: &Log) {
    let selected = ["sku", "reservation_id", "owner_id", "quantity", "status", "deadline_ms", "first_serial"];
    let last = "FROM reservations AS r WHERE use_number = (SELECT MAX(u.use_number) FROM reservations AS u \
                WHERE u.sku = r.sku AND u.reservation_id = r.reservation_id)";
    for row in database.ask(&selected, last).await {
        let Some(mut answer) = log.ask(&format!("STOCK.RESERVATION {} {}", row[0], row[1])) else { continue };
        if answer[3] == "expired" && row[4] == "open" {
            // Its deadline has passed, but the log has no event for that yet.
            "open".clone_into(&mut answer[3]);
        }
        assert_eq!(row[1..], answer, "reservation of {}", row[0]);
    }
}

/// Claims that have left memory are in the table, but for those that had before it was opened.
async fn check_claims(database: &Database, log: &Log, id: &Id, extent: Extent) {
    let campaigns = &log.machine.state().campaigns;
    let left = campaigns.forgotten(id).through_packet;
    let claims = campaigns.claims().filter(|(campaign, ..)| *campaign == id);
    let row = |(_, user, claim, amount): (&Id, &Id, &Claim, u64)| {
        (claim.packet, [user.to_string(), claim.packet.to_string(), amount.to_string(), claim.at.to_string()])
    };
    let expected: BTreeMap<u64, _> = claims.map(row).collect();
    let selected = ["user_id", "packet", "amount", "at_ms"];
    let of = format!("FROM packet_claims WHERE campaign_id = '{id}' ORDER BY packet");
    let rows = database.ask(&selected, &of).await;
    let packet = |row: &Vec<String>| row[1].parse::<u64>().expect("a packet");
    let kept: BTreeMap<u64, _> =
        rows.iter().map(|row| (packet(row), row)).filter(|(packet, _)| *packet > left).collect();
    assert!(kept.into_values().eq(expected.values()), "claims of {id}: {rows:?}, and not {expected:?}");
    if extent == Extent::All {
        let claimed = campaigns.get(id).map(|campaign| campaign.claimed_count);
        assert_eq!(Some(rows.len() as u64), claimed, "claims of {id}");
    }
}

async fn check_packets(database: &Database, log: &Log, extent: Extent) {
    let figures = [
        "asset",
        "packets",
        "total",
        "claimed",
        "claimed_amount",
        "laid",
        "commitment",
        "seed",
        "closed_at_ms",
    ];
    let selected: Vec<&str> = ["campaign_id"].into_iter().chain(figures).collect();
    let rows = by_first(database, &selected, "FROM packet_campaigns").await;
    let mut expected = Rows::new();
    let hex = |bytes: [u8; 32]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    for (id, campaign) in log.machine.state().campaigns.iter() {
        let figures = [
            campaign.count,
            campaign.total,
            campaign.claimed_count,
            campaign.claimed_amount,
            campaign.laid_count,
        ];
        let seed = campaign.seed.filter(|_| campaign.closed_at.is_some());
        let rest = [shown(campaign.commitment.map(hex)), shown(seed.map(hex)), shown(campaign.closed_at)];
        let figures = figures.map(|figure| figure.to_string());
        let row = [campaign.asset.to_string()].into_iter().chain(figures).chain(rest).collect();
        expected.insert(id.to_string(), row);
        check_claims(database, log, id, extent).await;
    }
    assert_eq!(rows, expected);
}

async fn check_coupons(database: &Database, log: &Log, extent: Extent) {
    let figures = ["claimed", "starts_at_ms", "ends_at_ms", "claim_ttl_ms", "status"];
    let selected: Vec<&str> = ["coupon_id"].into_iter().chain(figures).collect();
    let rows = by_first(database, &selected, "FROM coupons").await;
    let mut expected = Rows::new();
    for (id, coupon) in log.machine.state().coupons.iter() {
        let ttl = coupon.claim_ttl_ms.map(scarce_core::types::Positive::get);
        let status = if coupon.paused { "paused" } else { "open" }.to_owned();
        let figures = [coupon.serial.to_string(), shown(coupon.starts_at), shown(coupon.ends_at), shown(ttl)];
        expected.insert(id.to_string(), figures.into_iter().chain([status]).collect());
        let claims = format!("FROM coupon_claims WHERE coupon_id = '{id}' ORDER BY serial");
        let selected = ["serial", "user_id", "status", "claimed_at_ms", "deadline_ms"];
        let claims = database.ask(&selected, &claims).await;
        let is_whole = extent == Extent::All;
        assert!(!is_whole || claims.len() as u64 == coupon.serial, "claims of {id}");
        for row in claims {
            let Some(mut answer) = log.ask(&format!("COUPON.CLAIMED {id} {}", row[0])) else { continue };
            if answer[2] == "expired" {
                "open".clone_into(&mut answer[2]);
            }
            assert_eq!(row, answer, "claim of {id}");
        }
        let limits = format!("FROM coupon_limits WHERE coupon_id = '{id}' ORDER BY place");
        let rows = database.ask(&["limit_name", "claims_max"], &limits).await;
        let limits: Vec<Vec<String>> =
            coupon.limits.iter().map(|limit| vec![limit.name.to_string(), limit.max.to_string()]).collect();
        assert_eq!(rows, limits, "limits of {id}");
    }
    assert_eq!(rows, expected);
}

async fn check_markets(database: &Database, log: &Log, extent: Extent) {
    let selected = ["market_id", "status", "tick", "lot", "quantity_min", "quantity_max", "trades"];
    for row in database.ask(&selected, "FROM markets").await {
        let answer = log.ask(&format!("MARKET.GET {}", row[0])).expect("the market");
        assert_eq!(row[..6], answer[..6]);
        assert_eq!(row[6], answer[9]);
        let count = format!("FROM trades WHERE market_id = '{}'", row[0]);
        let trades = database.figure("COUNT(*)", &count).await;
        assert!(extent == Extent::SinceOpening || trades == row[6], "trades of {}", row[0]);
        let live = "status IN ('open', 'partially_filled')";
        let count = format!("FROM orders WHERE market_id = '{}' AND {live}", row[0]);
        assert_eq!(database.figure("COUNT(*)", &count).await, answer[8], "live orders of {}", row[0]);
    }
    let figures = ["owner_id", "side", "price", "remaining", "filled", "tif", "stp", "status", "reason"];
    let selected: Vec<&str> = ["market_id", "order_id"].into_iter().chain(figures).collect();
    let last = "FROM orders AS o WHERE use_number = (SELECT MAX(u.use_number) FROM orders AS u \
                WHERE u.market_id = o.market_id AND u.order_id = o.order_id)";
    for row in database.ask(&selected, last).await {
        if let Some(answer) = log.ask(&format!("ORDER.GET {} {}", row[0], row[1])) {
            assert_eq!(row[1..], answer, "order of {}", row[0]);
        }
    }
}

/// The counts of the log.
async fn check_log(database: &Database, log: &Log) {
    let count = |is_it: fn(&Event) -> bool| {
        log.entries.iter().flat_map(|entry| &entry.events).filter(|event| is_it(event)).count().to_string()
    };
    for (table, expected) in [
        ("orders", count(|event| matches!(event, Event::Market(MarketEvent::OrderPlaced(_))))),
        ("trades", count(|event| matches!(event, Event::Market(MarketEvent::OrderTraded(_))))),
        ("holds", count(|event| matches!(event, Event::Account(AccountEvent::HoldPlaced(_))))),
        ("reservations", count(|event| matches!(event, Event::Stock(StockEvent::ReservationPlaced(_))))),
        ("stock_returns", count(|event| matches!(event, Event::Stock(StockEvent::StockReturned(_))))),
        ("packet_claims", count(|event| matches!(event, Event::Packets(PacketsEvent::PacketsClaimed(_))))),
    ] {
        assert_eq!(database.figure("COUNT(*)", &format!("FROM {table}")).await, expected, "{table}");
    }
    let selected = ["operation_id", "namespace", "first_sequence", "last_sequence", "outcome", "at_ms"];
    let mut rows = database.ask(&selected, "FROM operations").await;
    let mut expected = operations(&log.entries);
    rows.sort();
    expected.sort();
    assert_eq!(rows, expected);
    let last = log.entries.last().map_or(0, Entry::sequence_last).to_string();
    assert_eq!(database.figure("sequence", "FROM cursors").await, last);
}

/// The operations according to the log alone.
fn operations(entries: &[Entry]) -> Vec<Vec<String>> {
    let (mut rows, mut first) = (Vec::new(), None);
    for entry in entries {
        let first_sequence = *first.get_or_insert(entry.head.sequence_first);
        if !entry.head.more {
            first = None;
        }
        if let (Some(operation), Some(outcome)) = (&entry.head.operation, &entry.outcome) {
            let names = [operation.id.to_string(), operation.namespace.to_string()];
            let sequences = [first_sequence.to_string(), entry.sequence_last().to_string()];
            let rest = [outcome.code.word().to_owned(), entry.head.at.to_string()];
            rows.push(names.into_iter().chain(sequences).chain(rest).collect());
        }
    }
    rows
}

/// Checks sums within the tables.
async fn check_sums(database: &Database, extent: Extent) {
    for (what, wrong) in [
        ("assets that do not sum to zero", "FROM balance_sheet WHERE difference <> 0"),
        (
            "entries that do not sum to the balance",
            "FROM accounts AS a WHERE balance <> (SELECT COALESCE(SUM(e.amount), 0) FROM entries AS e \
             WHERE e.account_id = a.account_id)",
        ),
        (
            "movements between accounts with one side",
            "FROM entries AS e WHERE counterparty_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM entries AS o \
             WHERE o.partition_id = e.partition_id AND o.sequence = e.sequence \
             AND o.account_id = e.counterparty_id AND o.amount = -e.amount)",
        ),
        (
            "movements of units that do not sum to the total",
            "FROM stock AS s WHERE total <> (SELECT SUM(m.quantity) FROM stock_movements AS m WHERE m.sku = s.sku)",
        ),
        (
            "receipts that do not sum to what was sold",
            "FROM stock AS s WHERE sold <> (SELECT COALESCE(SUM(r.quantity - r.returned), 0) FROM receipts AS r \
             WHERE r.sku = s.sku) AND NOT (EXISTS (SELECT 1 FROM stock_movements AS m WHERE m.sku = s.sku \
             AND m.kind = 'opening' AND m.reason IS NOT NULL))",
        ),
        (
            "returns that do not sum to what came back",
            "FROM receipts AS r WHERE returned <> (SELECT COALESCE(SUM(b.quantity), 0) FROM stock_returns AS b \
             WHERE b.sku = r.sku AND b.receipt_serial = r.first_serial)",
        ),
        (
            "reservations that do not sum to what is reserved",
            "FROM stock AS s WHERE reserved <> (SELECT COALESCE(SUM(r.quantity), 0) FROM reservations AS r \
             WHERE r.sku = s.sku AND r.status = 'open')",
        ),
        (
            "packets that do not sum to what was claimed",
            "FROM packet_campaigns AS c WHERE claimed_amount <> (SELECT COALESCE(SUM(p.amount), 0) \
             FROM packet_claims AS p WHERE p.campaign_id = c.campaign_id) AND NOT (EXISTS (SELECT 1 \
             FROM openings AS o WHERE o.at_ms = c.created_at_ms) AND COALESCE((SELECT MIN(p.packet) \
             FROM packet_claims AS p WHERE p.campaign_id = c.campaign_id), 0) <> 1)",
        ),
        (
            "trades that do not sum to what was filled",
            "FROM orders AS o WHERE filled <> (SELECT COALESCE(SUM(f.quantity), 0) FROM order_fills AS f \
             WHERE f.market_id = o.market_id AND f.order_id = o.order_id AND f.use_number = o.use_number)",
        ),
    ] {
        if extent == Extent::SinceOpening && what.starts_with("trades") {
            continue;
        }
        assert_eq!(database.figure("COUNT(*)", wrong).await, "0", "{what}");
    }
}
