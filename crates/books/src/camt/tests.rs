//! Statements as camt.053.

use crate::day::Day;
use crate::map::Map;
use crate::statement::{Reading, Statement};

const MAP: &str = "format = 'camt.053'\nhere.account = 'bank'\namounts.scale = 2\n\
    [there]\naccount = 'DE02120300000000202051'\ncurrency = 'EUR'\n";

fn read(text: &str) -> Result<Statement, String> {
    let today = "2026-12-01".parse().unwrap_or(Day(0));
    let reading = Reading { today, limit: 100, from: None, through: None };
    let map = Map::read(MAP).map_err(|error| error.to_string())?;
    Statement::read(text.as_bytes(), &map, reading).map_err(|error| error.to_string())
}

fn file(account: &str, closing: &str, entries: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Document xmlns=\"urn:iso:std:iso:20022:tech:xsd:camt.053.001.08\">\n\
         <BkToCstmrStmt><Stmt>\n<FrToDt><FrDtTm>2026-11-29T00:00:00</FrDtTm><ToDtTm>2026-11-30T23:59:59</ToDtTm></FrToDt>\n\
         <Acct><Id><IBAN>{account}</IBAN></Id></Acct>\n\
         <Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy=\"EUR\">10.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>\n\
         <Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy=\"EUR\">{closing}</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>\n\
         {entries}</Stmt></BkToCstmrStmt></Document>\n"
    )
}

fn entry(amount: &str, mark: &str, date: &str, more: &str) -> String {
    format!(
        "<Ntry><Amt Ccy=\"EUR\">{amount}</Amt><CdtDbtInd>{mark}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>\n\
         <BookgDt><Dt>{date}</Dt></BookgDt>{more}</Ntry>\n"
    )
}

const OURS: &str = "DE02 1203 0000 0000 2020 51";

#[test]
fn entries_their_transactions_and_references_are_read() {
    let one = "<NtryDtls><TxDtls><Refs><EndToEndId>op-1</EndToEndId></Refs><RmtInf><Ustrd>Caf\u{e9} &amp; Co &#x41;</Ustrd>\
        </RmtInf></TxDtls></NtryDtls>";
    let part = |amount, id| {
        format!(
            "<TxDtls><Refs><EndToEndId>{id}</EndToEndId></Refs><Amt Ccy=\"EUR\">{amount}</Amt></TxDtls>\n"
        )
    };
    let two = format!("<NtryDtls>{}{}</NtryDtls>", part("1.00", "op-2"), part("2.00", "NOTPROVIDED"));
    let other = format!("<NtryDtls>{}{}</NtryDtls>", part("1.00", "op-3"), part("1.00", "op-4"));
    let pending = entry("9.00", "CRDT", "2026-11-30", "").replace("BOOK", "PDNG");
    let entries = [
        entry("5.50", "CRDT", "2026-11-29", one),
        entry("3.00", "DBIT", "2026-11-30", &two),
        entry("3.00", "CRDT", "2026-11-30", &other),
        pending,
    ];
    let statement = read(&file(OURS, "15.50", &entries.concat())).unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<_> = statement
        .items
        .iter()
        .map(|its| (its.line, its.amount, its.operation, its.reference.trim()))
        .collect();
    assert_eq!(
        found,
        [
            (8, 550, "op-1", "Caf\u{e9} & Co A"),
            (11, -100, "op-2", ""),
            (12, -200, "", ""),
            (14, 300, "", "op-3 op-4"),
        ]
    );
    assert_eq!((statement.skipped, statement.bad_count), (1, 0));
    assert_eq!(
        (statement.from.to_string(), statement.through.to_string()),
        ("2026-11-29".into(), "2026-11-30".into())
    );
}

#[test]
fn wrong_entries_and_balances_are_named_with_their_lines() {
    let entries = [
        entry("5.505", "CRDT", "2026-11-29", ""),
        entry("5.00", "XX", "2026-11-29", ""),
        entry("5.00", "CRDT", "2026-13-29", ""),
        entry("5.00", "CRDT", "2026-11-29", "").replace("EUR", "USD"),
        entry("1.00", "CRDT", "2026-11-29", ""),
    ];
    let statement = read(&file(OURS, "11.00", &entries.concat())).unwrap_or_else(|error| panic!("{error}"));
    let lines: Vec<u32> = statement.bad.iter().map(|its| its.line).collect();
    assert_eq!((lines, statement.items.len()), (vec![8, 10, 12, 14], 1), "{:?}", statement.bad);
    let statement = read(&file(OURS, "12.00", &entries[4])).unwrap_or_else(|error| panic!("{error}"));
    assert!(
        statement.bad[0].reason.contains("come to 11.00, and the closing balance is 12.00"),
        "{:?}",
        statement.bad
    );
}

#[test]
fn other_files_are_refused_with_the_reason() {
    let whole = file(OURS, "11.00", &entry("1.00", "CRDT", "2026-11-29", ""));
    for (text, said) in [
        (String::new(), "empty"),
        ("<Document><BkToCstmrAcctRpt/></Document>".to_owned(), "no camt.053"),
        ("date,amount\n1,2\n".to_owned(), "no camt.053"),
        (whole.split("</Stmt>").next().unwrap_or_default().to_owned(), "cut off"),
        (whole.replace("</Ntry>", "</Nrty>"), "line 9"),
        (whole.replace("<Cd>BOOK", "<Cd>&bank;"), "entity 'bank'"),
        (
            whole.replace(&format!("<Acct><Id><IBAN>{OURS}</IBAN></Id></Acct>"), ""),
            "does not say of which account",
        ),
        (file("DE99", "11.00", &entry("1.00", "CRDT", "2026-11-29", "")), "of account DE99"),
        ("<a>".repeat(100), "too deep"),
    ] {
        let error = read(&text).map(|_| ());
        assert!(error.as_ref().is_err_and(|why| why.contains(said)), "{said}: {error:?}");
    }
}

#[test]
fn amounts_of_transactions_are_found_where_early_versions_have_them() {
    let part = |amount, id| {
        format!(
            "<TxDtls><Refs><EndToEndId>{id}</EndToEndId></Refs><AmtDtls><InstdAmt><Amt Ccy=\"USD\">9.99</Amt></InstdAmt>\
             <TxAmt><Amt Ccy=\"EUR\">{amount}</Amt></TxAmt></AmtDtls></TxDtls>"
        )
    };
    let two = format!("<NtryDtls>{}{}</NtryDtls>", part("1.00", "op-1"), part("2.00", "op-2"));
    let statement = read(&file(OURS, "13.00", &entry("3.00", "CRDT", "2026-11-30", &two)));
    let statement = statement.unwrap_or_else(|error| panic!("{error}"));
    let found: Vec<_> = statement.items.iter().map(|its| (its.amount, its.operation)).collect();
    assert_eq!(found, [(100, "op-1"), (200, "op-2")]);
}

#[test]
fn an_entry_is_passed_over_only_if_it_says_that_it_is_not_booked() {
    let plain = entry("3.00", "CRDT", "2026-11-30", "");
    let with = |status: &str| plain.replace("<Cd>BOOK</Cd>", status);
    let entries = ["PDNG", "INFO", "FUTR", "<Prtry>BOOK</Prtry>", "Book", ""].map(with);
    let statement = read(&file(OURS, "13.00", &entries.concat())).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (statement.skipped, statement.items.len(), statement.bad_count),
        (3, 1, 2),
        "{:?}",
        statement.bad
    );
}
