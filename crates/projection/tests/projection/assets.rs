//! Amounts as people write them, with the decimals of their asset.

use scarce_core::state::StateSettings;
use scarce_projection::Projection;

use crate::kit::{Database, DatabaseKind, Log, open, position, take};

const INTEGER_MAX: u64 = (1 << 53) - 1;

/// What a view shows as text, without the zeros that MySQL adds behind its decimals.
async fn shown(database: &Database, columns: &[&str], rest: &str) -> Vec<Vec<String>> {
    let short = |cell: String| match cell.split_once('.') {
        Some((whole, zeros)) if zeros.len() == 18 => {
            let digits = zeros.trim_end_matches('0');
            if digits.is_empty() { whole.to_owned() } else { format!("{whole}.{digits}") }
        }
        _ => cell,
    };
    let rows = database.ask(columns, rest).await;
    rows.into_iter().map(|row| row.into_iter().map(short).collect()).collect()
}

/// Starts a consumer of tables with these scales, as a server does.
async fn start(projection: Projection, scales: &[(&str, u8)]) {
    let scales = scales.iter().map(|(asset, decimals)| ((*asset).to_owned(), *decimals)).collect();
    position(&mut projection.with_scales(scales).consumer(0)).await;
}

#[tokio::test]
async fn views_show_amounts_with_the_decimals_of_their_asset_exactly() {
    for kind in DatabaseKind::ALL {
        let database = Database::new(kind);
        let projection = open(&database, 5).await;
        let mut log = Log::new(StateSettings::default(), 0);
        for line in [
            "ACCOUNT.OPEN a EUR OVERDRAFT 500",
            "ACCOUNT.OPEN b BIG",
            "ACCOUNT.OPEN c JPY",
            "ACCOUNT.OPEN d OWN",
        ] {
            log.run(line);
        }
        log.run("ACCOUNT.DEBIT a 7");
        log.run(&format!("ACCOUNT.CREDIT b {INTEGER_MAX}"));
        log.run("ACCOUNT.CREDIT c 1200");
        log.run("ACCOUNT.CREDIT d 5");
        take(&mut projection.consumer(0), &log.all()).await;
        let balances =
            || shown(&database, &["asset", "balance_decimal"], "FROM account_balances ORDER BY asset");
        let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
        let unknown = ["BIG", "EUR", "JPY", "OWN"].map(|asset| row([asset, "-"]));
        assert_eq!(balances().await, unknown, "{kind:?}: nothing is made up");
        start(projection.clone(), &[("EUR", 2), ("BIG", 15), ("JPY", 0)]).await;
        let eur = row(["EUR", "-0.07"]);
        let big = row(["BIG", "9.007199254740991"]);
        let expected = [big, eur, row(["JPY", "1200"]), row(["OWN", "-"])];
        assert_eq!(balances().await, expected, "{kind:?}");
        let statement = shown(
            &database,
            &["amount_decimal", "balance_decimal"],
            "FROM account_statement WHERE account_id = 'a'",
        );
        assert_eq!(statement.await, [row(["-0.07", "-0.07"])], "{kind:?}");
        let world = "FROM ledger WHERE asset = 'EUR' AND account_id = '$world'";
        assert_eq!(shown(&database, &["amount_decimal"], world).await, [["0.07".to_owned()]], "{kind:?}");
        let sheet = shown(
            &database,
            &["balance_decimal", "outside_decimal"],
            "FROM balance_sheet WHERE asset = 'BIG'",
        );
        assert_eq!(sheet.await, [row(["9.007199254740991", "-9.007199254740991"])], "{kind:?}");
    }
}

#[tokio::test]
async fn a_start_writes_the_scales_that_it_names_and_leaves_others() {
    for kind in DatabaseKind::ALL {
        let database = Database::new(kind);
        let projection = open(&database, 5).await;
        database.run("INSERT INTO assets VALUES ('OWN', 3, 1000)").await;
        let scales = || database.ask(&["asset", "scale", "minor_units"], "FROM assets ORDER BY asset");
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        start(projection.clone(), &[("EUR", 3), ("JPY", 0)]).await;
        let eur = row(["EUR", "3", "1000"]);
        let (jpy, own) = (row(["JPY", "0", "1"]), row(["OWN", "3", "1000"]));
        assert_eq!(scales().await, [eur, jpy.clone(), own.clone()], "{kind:?}");
        start(projection.clone(), &[("EUR", 2)]).await;
        projection.rebuild().await.expect("the database");
        assert_eq!(scales().await, [row(["EUR", "2", "100"]), jpy, own], "{kind:?}");
    }
}
