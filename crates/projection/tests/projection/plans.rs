//! Every statement finds its rows by an index: those of histories, of consumers, and of the documentation.

use scarce_api::history::HISTORIES;
use scarce_testkit::Recorder;

use crate::histories::{asked, expected, filled, read};
use crate::kit::{Database, DatabaseKind};

/// Tables with a row for each partition or name, which do not grow with the log.
const SMALL: &[&str] = &["meta", "cursors"];

/// What documented statements read as a whole, because they are about all of it.
const WHOLE: &[&str] = &[
    "SELECT * FROM balance_sheet",
    "SELECT a.account_id, a.balance",
    "SELECT sku, total, reserved",
    "SELECT partition_id, epoch, sequence, at_ms",
];

/// What the product sends while a log is consumed and every history is read, page by page.
async fn statements(kind: DatabaseKind) -> (Database, Vec<String>) {
    let recorder = Recorder::start();
    let (database, projection) = filled(kind).await;
    for (name, said, _) in expected() {
        let filters = HISTORIES.iter().find(|history| history.name == name).expect("a history").filters;
        let required: Vec<_> = said.iter().copied().filter(|(name, _)| !filters.contains(name)).collect();
        let spans = filters.iter().filter_map(|filter| {
            Some((
                *filter,
                match *filter {
                    "from_ms" => "1",
                    "to_ms" => "9000000000000",
                    "sku" => "sku-1",
                    "coupon" => "k1",
                    _ => return None,
                },
            ))
        });
        let filtered: Vec<_> = required.iter().copied().chain(spans).collect();
        for said in [&required, &filtered] {
            for sort in ["oldest_first", "newest_first"] {
                let paging = [("sort", sort), ("limit", "1")];
                let said: Vec<_> = said.iter().copied().chain(paging).collect();
                read(&projection, asked(name, &said)).await;
            }
        }
    }
    let history = projection.history();
    for operation in history.operations("pay-1").await.expect("the database") {
        history.entries_of(&operation).await.expect("the database");
    }
    history.operations_after(0, 3).await.expect("the database");
    projection.positions().await.expect("the database");
    (database, recorder.statements())
}

/// The statements in the section of examples.
fn documented() -> Vec<String> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/reference/sql.md");
    let page = std::fs::read_to_string(path).expect("the page");
    let section = page.split("\n## ").find(|its| its.starts_with("Example queries\n")).expect("examples");
    let code = section.lines().filter_map(|line| line.strip_prefix("    "));
    let code: Vec<&str> = code.filter(|line| !line.starts_with("--")).collect();
    let statements = code.join("\n");
    let statements = statements.split(';').map(|sql| sql.split_whitespace().collect::<Vec<_>>().join(" "));
    statements.filter(|sql| !sql.is_empty()).collect()
}

#[tokio::test]
async fn no_statement_reads_a_table_that_grows_as_a_whole() {
    let documented = documented();
    assert!(documented.len() > 10, "{documented:?}");
    let mut scans = Vec::new();
    for kind in DatabaseKind::ALL {
        let (database, sent) = statements(kind).await;
        assert!(sent.len() > 50, "{kind:?} recorded only {sent:#?}");
        let examples = documented.iter().filter(|sql| !WHOLE.iter().any(|whole| sql.starts_with(whole)));
        for sql in sent.iter().chain(examples) {
            let found = database.scans(sql, SMALL).await;
            scans.extend(found.into_iter().map(|scan| format!("{kind:?}: {scan}")));
        }
    }
    assert!(scans.is_empty(), "read as a whole:\n{}", scans.join("\n"));
}
