//! Histories, queried as ports and tools do.

use std::collections::BTreeSet;

use scarce_api::Fields;
use scarce_api::history::{Asked, HISTORIES, find};
use scarce_core::state::StateSettings;
use scarce_projection::{DatabaseError, Projection, ProjectionError, ProjectionOptions};
use serde_json::{Value, json};

use crate::kit::{DEPLOYMENT, Database, DatabaseKind, Log, open, take};

/// Rows for every history, and other rows that must not be in it.
pub const LINES: &[&str] = &[
    "ACCOUNT.OPEN u1 EUR",
    "ACCOUNT.OPEN u2 EUR",
    "ACCOUNT.CREDIT u1 500 ID pay-1",
    "ACCOUNT.DEBIT u1 120",
    "ACCOUNT.TRANSFER u1 u2 80",
    "ACCOUNT.HOLD u1 h1 50 TTL 100000",
    "ACCOUNT.HOLD u1 h2 20 TTL 100000",
    "ACCOUNT.VOID u1 h2",
    "STOCK.CREATE sku-1 10",
    "STOCK.RESTOCK sku-1 5",
    "STOCK.ADJUST sku-1 -1 REASON broken",
    "STOCK.TAKE sku-1 3 u1",
    "STOCK.TAKE sku-1 2 u2",
    "STOCK.RETURN sku-1 2 1",
    "STOCK.RESERVE sku-1 r1 2 u1 100000",
    "STOCK.CONFIRM sku-1 r1",
    "STOCK.RESERVE sku-1 r2 1 u1 100000",
    "STOCK.CREATE sku-2 2",
    "STOCK.TAKE sku-2 2 u1 ID buy-1",
    "STOCK.RETURN sku-2 1 1",
    "STOCK.TAKE sku-2 1 u3",
    "PACKET.CREATE c1 EUR AMOUNTS 3 30 20 10",
    "PACKET.CLAIM c1 u1",
    "PACKET.CLAIM c1 u2",
    "COUPON.CREATE k1 LIMIT all 5 PER - WINDOW none",
    "COUPON.CLAIM k1 USER u1",
    "COUPON.CLAIM k1 USER u2",
    "COUPON.REDEEM k1 1 u1",
    "MARKET.CREATE m1",
    "ORDER.PLACE m1 o1 u1 SELL LIMIT 100 4",
    "ORDER.PLACE m1 o2 u2 BUY LIMIT 101 3",
    "ORDER.PLACE m1 o3 u2 BUY LIMIT 100 1",
];

/// A history, its arguments, and a distinctive value of each row, oldest first.
type Case = (&'static str, Vec<(&'static str, &'static str)>, Vec<Value>);

pub fn expected() -> Vec<Case> {
    let texts = |texts: &[&str]| texts.iter().map(|text| json!(text)).collect();
    vec![
        ("account-entries", vec![("account", "u1")], vec![json!(500), json!(-120), json!(-80)]),
        ("account-holds", vec![("account", "u1")], texts(&["h1", "h2"])),
        ("operation", vec![("operation", "pay-1")], texts(&["APPLIED"])),
        ("unit", vec![("sku", "sku-1"), ("serial", "5")], vec![json!(5)]),
        ("stock-movements", vec![("sku", "sku-1")], vec![json!(10), json!(5), json!(-1)]),
        ("stock-availability", vec![("sku", "sku-2")], texts(&["sold_out", "available_again", "sold_out"])),
        ("owner-receipts", vec![("owner", "u1"), ("sku", "sku-1")], vec![json!(3), json!(2)]),
        ("owner-reservations", vec![("owner", "u1")], texts(&["r1", "r2"])),
        ("packet-claims", vec![("campaign", "c1")], vec![json!(1), json!(2)]),
        ("user-packets", vec![("user", "u2")], vec![json!(2)]),
        ("coupon-claims", vec![("coupon", "k1")], vec![json!(1), json!(2)]),
        ("user-coupons", vec![("user", "u2"), ("coupon", "k1")], vec![json!(2)]),
        ("market-orders", vec![("market", "m1"), ("owner", "u2")], texts(&["o2", "o3"])),
        ("order", vec![("market", "m1"), ("order", "o1")], texts(&["o1"])),
        ("order-trades", vec![("market", "m1"), ("order", "o1")], vec![json!(1), json!(2)]),
        ("trades", vec![("market", "m1")], vec![json!(1), json!(2)]),
    ]
}

/// The field of a row that the table above compares.
fn telling(name: &str) -> &'static str {
    match name {
        "account-entries" => "amount",
        "account-holds" => "hold_id",
        "operation" => "outcome",
        "stock-availability" => "kind",
        "stock-movements" | "owner-receipts" => "quantity",
        "owner-reservations" => "reservation_id",
        "packet-claims" | "user-packets" => "packet",
        "market-orders" | "order" => "order_id",
        "order-trades" | "trades" => "trade",
        _ => "serial",
    }
}

pub fn asked(name: &str, said: &[(&str, &str)]) -> Asked {
    let mut fields = Fields::default();
    for (name, text) in said {
        fields.add_text(name, text);
    }
    Asked::read(find(name).expect("a history"), fields).expect("well asked")
}

/// All rows, page after page.
pub async fn read(projection: &Projection, mut asked: Asked) -> Vec<Value> {
    let mut rows = Vec::new();
    loop {
        let page = projection.history().ask(&asked).await.expect("the database");
        assert!(page.rows.len() <= asked.limit as usize);
        assert_eq!(page.has_more, page.cursor.is_some());
        rows.extend(page.rows);
        let Some(cursor) = page.cursor else { return rows };
        asked.go_on(&cursor).expect("the history's own cursor");
    }
}

pub async fn filled(kind: DatabaseKind) -> (Database, Projection) {
    let database = Database::new(kind);
    let projection = open(&database, 5).await;
    let mut log = Log::new(StateSettings::default(), 0);
    LINES.iter().for_each(|line| log.run(line));
    take(&mut projection.consumer(0), &log.all()).await;
    (database, projection)
}

#[tokio::test]
async fn every_history_tells_what_happened_in_every_database() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres, DatabaseKind::MariaDb] {
        let (_database, projection) = filled(kind).await;
        for (name, said, telling_values) in expected() {
            let said: Vec<_> = said.into_iter().chain([("sort", "oldest_first")]).collect();
            let rows = read(&projection, asked(name, &said)).await;
            let told: Vec<_> = rows.iter().map(|row| row[telling(name)].clone()).collect();
            assert_eq!(told, telling_values, "{name} in {kind:?}");
        }
    }
}

#[tokio::test]
async fn rows_have_the_members_that_the_table_says() {
    let (_database, projection) = filled(DatabaseKind::Sqlite).await;
    let cases = expected();
    assert_eq!(cases.len(), HISTORIES.len());
    for (name, said, _) in cases {
        let asked = asked(name, &said);
        let columns: BTreeSet<&str> = asked.history.columns.iter().map(|column| column.name).collect();
        for row in read(&projection, asked).await {
            let members = row.as_object().expect("an object").keys();
            assert_eq!(members.map(String::as_str).collect::<BTreeSet<_>>(), columns, "{name}");
        }
    }
}

#[tokio::test]
async fn pages_of_one_row_are_the_whole_list_from_either_end() {
    let (_database, projection) = filled(DatabaseKind::Sqlite).await;
    let whole = [("account", "u1"), ("sort", "oldest_first")];
    let whole = read(&projection, asked("account-entries", &whole)).await;
    assert_eq!(whole.len(), 3);
    let one = |sort| [("account", "u1"), ("limit", "1"), ("sort", sort)];
    assert_eq!(read(&projection, asked("account-entries", &one("oldest_first"))).await, whole);
    let mut back = read(&projection, asked("account-entries", &one("newest_first"))).await;
    back.reverse();
    assert_eq!(back, whole);
    let stamp = whole[1]["at_ms"].to_string();
    let cut = read(&projection, asked("account-entries", &[("account", "u1"), ("from_ms", &stamp)])).await;
    assert_eq!(cut.len(), 2);
    let cut = read(&projection, asked("account-entries", &[("account", "u1"), ("to_ms", &stamp)])).await;
    assert_eq!(cut.len(), 1);
}

#[tokio::test]
async fn a_unit_is_its_owners_until_it_comes_back() {
    let (_database, projection) = filled(DatabaseKind::Sqlite).await;
    let unit = |serial| asked("unit", &[("sku", "sku-1"), ("serial", serial)]);
    let [kept] = &read(&projection, unit("1")).await[..] else { panic!("one row") };
    assert_eq!((&kept["receipt"]["owner_id"], &kept["returned_at_ms"]), (&json!("u1"), &Value::Null));
    let [returned] = &read(&projection, unit("2")).await[..] else { panic!("one row") };
    assert!(returned["returned_at_ms"].is_number(), "{returned}");
    assert!(read(&projection, unit("8")).await.is_empty());
}

#[tokio::test]
async fn whoever_only_reads_makes_no_tables_and_needs_no_deployment() {
    for kind in [DatabaseKind::Sqlite, DatabaseKind::Postgres, DatabaseKind::MariaDb] {
        let empty = Database::new(kind);
        let refused = Projection::open_read_only(empty.url(), ProjectionOptions::default()).await;
        let refused = refused.expect_err("nothing to read");
        let is_told = matches!(refused, ProjectionError::Database(DatabaseError::NoTables { .. }))
            || refused.to_string().contains("unable to open");
        assert!(is_told, "{refused}");
        let (database, _projection) = filled(kind).await;
        let reader = Projection::open_read_only(database.url(), ProjectionOptions::default());
        let reader = reader.await.expect("a projection");
        assert_eq!(read(&reader, asked("trades", &[("market", "m1")])).await.len(), 2);
        assert_eq!(database.figure("value", "FROM meta WHERE name = 'deployment_id'").await, DEPLOYMENT);
    }
}

#[tokio::test]
async fn an_operation_shows_what_it_did_to_what() {
    for kind in DatabaseKind::ALL {
        let (_database, projection) = filled(kind).await;
        let did = |id: &'static str| {
            let history = projection.history();
            async move {
                let its = history.operations(id).await.expect("the database").remove(0);
                (
                    its.event.expect("an event"),
                    its.resource_id.expect("a resource"),
                    its.event_fields.expect("fields"),
                )
            }
        };
        let (event, resource, fields) = did("pay-1").await;
        assert_eq!((event.as_str(), resource.as_str()), ("account.credited", "u1"));
        assert_eq!((&fields["amount"], &fields["balance"]), (&json!(500), &json!(500)));
        let (event, resource, fields) = did("buy-1").await;
        assert_eq!((event.as_str(), resource.as_str()), ("stock.taken", "sku-2"));
        assert_eq!((&fields["owner"], &fields["quantity"]), (&json!("u1"), &json!(2)));
    }
}

#[tokio::test]
async fn every_asset_sums_to_zero_until_a_row_is_lost() {
    for kind in DatabaseKind::ALL {
        let (database, _projection) = filled(kind).await;
        let sheet = || async {
            database.ask(&["asset", "balance", "outside", "difference"], "FROM balance_sheet").await
        };
        let row = |cells: [&str; 4]| cells.map(str::to_owned).to_vec();
        assert_eq!(sheet().await, [row(["EUR", "380", "-380", "0"])], "{kind:?}");
        let ledger = "FROM ledger WHERE asset = 'EUR'";
        assert_eq!(database.figure("SUM(amount)", ledger).await, "0");
        let world = "FROM ledger WHERE account_id = '$world'";
        assert_eq!(database.figure("SUM(amount)", world).await, "-380");
        // A deposit that is lost, and an account that is.
        database.run("DELETE FROM entries WHERE account_id = 'u1' AND amount = 500").await;
        assert_eq!(sheet().await, [row(["EUR", "380", "120", "500"])], "{kind:?}");
        database.run("DELETE FROM accounts WHERE account_id = 'u1'").await;
        let wrong = database.ask(&["difference"], "FROM balance_sheet WHERE difference <> 0").await;
        assert_eq!(wrong.len(), 2, "{kind:?}: {wrong:?}");
    }
}
