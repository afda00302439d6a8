//! Statements as MT940.

use crate::day::Day;
use crate::map::Map;
use crate::statement::{Reading, Statement};

const MAP: &str = "format = 'mt940'\nhere.account = 'bank'\namounts.scale = 2\n\
    [there]\naccount = '12030000/202051'\ncurrency = 'EUR'\n";

fn read(text: &str) -> Result<Statement, String> {
    let today = "2027-01-03".parse().unwrap_or(Day(0));
    let reading = Reading { today, limit: 100, from: None, through: None };
    let map = Map::read(MAP).map_err(|error| error.to_string())?;
    Statement::read(text.as_bytes(), &map, reading).map_err(|error| error.to_string())
}

fn file(closing: &str, movements: &str) -> String {
    format!(
        "{{1:F01BANK}}{{2:I940}}{{4:\r\n:20:STARTUMS\r\n:25:12030000/202051\r\n:28C:00001/001\r\n:60F:C261230EUR10,00\r\n\
         {movements}:62F:C261231EUR{closing}\r\n:64:C261231EUR{closing}\r\n-}}\r\n"
    )
}

const MOVEMENTS: &str = ":61:2612311231CR5,50NTRFNONREF//B1\r\nmore of it\r\n\
    :86:166?00CREDIT?20EREF+op-1?21SVWZ+thank\r\n?22s?32JOHN\r\n\
    :61:261231D3,NMSCINV-2\r\n:61:2701021231RD1,00NTRFop-3//B3\r\n:86:free text\r\n:61:2612310102EC9,00NTRFx\r\n";

#[test]
fn movements_with_their_details_are_read() {
    let statement = read(&file("13,50", MOVEMENTS)).unwrap_or_else(|error| panic!("{error}"));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let found: Vec<_> = statement
        .items
        .iter()
        .map(|its| (its.line, its.day.to_string(), its.amount, its.operation, words(its.reference)))
        .collect();
    let day = || "2026-12-31".to_owned();
    assert_eq!(
        found,
        [
            (6, day(), 550, "op-1", "B1 more of it NONREF CREDIT EREF+op-1 SVWZ+thanks JOHN".to_owned()),
            (10, day(), -300, "INV-2", String::new()),
            (11, day(), 100, "op-3", "B3 op-3 free text".to_owned()),
        ]
    );
    assert_eq!((statement.skipped, statement.bad_count), (1, 0), "{:?}", statement.bad);
    assert_eq!(statement.through.to_string(), "2026-12-31");
}

#[test]
fn wrong_fields_are_named_with_their_lines() {
    let movements = ":61:261331C5,50NTRFx\r\n:61:261231X5,50NTRFx\r\n:61:261231C5.50NTRFx\r\n:61:261231C5,505NTRFx\r\n\
        :61:261231C5,50\r\n:61:\r\n:99:what\r\n:61:261231C1,00NTRFop-1\r\n";
    let statement = read(&file("11,00", movements)).unwrap_or_else(|error| panic!("{error}"));
    let lines: Vec<u32> = statement.bad.iter().map(|its| its.line).collect();
    assert_eq!((lines, statement.items.len()), (vec![6, 7, 8, 9, 10, 11, 12], 1), "{:?}", statement.bad);
    let statement =
        read(&file("12,00", ":61:261231C1,00NTRFop-1\r\n")).unwrap_or_else(|error| panic!("{error}"));
    assert!(
        statement.bad[0].reason.contains("come to 11.00, and the closing balance is 12.00"),
        "{:?}",
        statement.bad
    );
}

#[test]
fn other_files_are_refused_with_the_reason() {
    let whole = file("13,50", MOVEMENTS);
    for (text, said) in [
        (String::new(), "empty"),
        ("date;amount\n".to_owned(), "no MT940"),
        (
            whole[..whole.len() - 60].to_owned(),
            "line 2: the statement that begins here has no closing balance",
        ),
        (whole.replace("12030000/202051", "12030000/9"), "of account 12030000/9"),
        (whole.replace(":25:12030000/202051\r\n", ""), "does not say of which account"),
        ("x".repeat(10_000), "too long"),
    ] {
        let error = read(&text).map(|_| ());
        assert!(error.as_ref().is_err_and(|why| why.contains(said)), "{said}: {error:?}");
    }
}
