//! Statements as banks give them out.

use crate::day::Day;
use crate::map::Map;
use crate::statement::{Reading, Statement};
use crate::{BookError, Item};

fn read(map: &str, bytes: &[u8]) -> Result<Statement, BookError> {
    let today = "2026-12-01".parse().unwrap_or(Day(0));
    let reading = Reading { today, limit: 100, from: None, through: None };
    Statement::read(bytes, &Map::read(map)?, reading)
}

fn lines(statement: &Statement) -> Vec<(u32, String, i64, &str, &str)> {
    let line = |its: Item<'_>| (its.line, its.day.to_string(), its.amount);
    let texts = statement.items.iter().map(|its| (its.operation, its.reference));
    statement
        .items
        .iter()
        .map(line)
        .zip(texts)
        .map(|((line, day, amount), (a, b))| (line, day, amount, a, b))
        .collect()
}

fn bad(statement: &Statement) -> Vec<(u32, &str)> {
    statement.bad.iter().map(|its| (its.line, its.reason.as_str())).collect()
}

const GERMAN: &str = r#"
[here]
account = "bank"
[there]
account = "DE02 1203 0000 0000 2020 51"
currency = "EUR"
[amounts]
scale = 2
decimal = ","
thousands = "."
credit_marks = ["H"]
debit_marks = ["S"]
[csv]
delimiter = ";"
encoding = "windows-1252"
lines_before = 2
[columns]
date = "Buchungstag"
date_format = "%d.%m.%Y"
amount = "Umsatz"
mark = "Soll/Haben"
operation = "Kundenreferenz"
references = ["Verwendungszweck", "Name"]
account = "IBAN"
currency = "W\u00e4hrung"
"#;

#[test]
fn a_statement_in_another_encoding_with_marks_and_separators_is_read() {
    let text = "Kontoauszug;;;;;;;\n\nIBAN;Buchungstag;Umsatz;Soll/Haben;W\u{e4}hrung;Kundenreferenz;Verwendungszweck;Name\n\
        DE02120300000000202051;30.11.2026;1.234,50;H;EUR;NOTPROVIDED;\"Rechnung; 17\";J\u{f6}rg\n\
        DE02120300000000202051;30.11.2026;7;S;EUR;op-2;;\n\
        DE99000000000000000000;30.11.2026;8;S;EUR;op-3;;\n\
        DE02120300000000202051;31.11.2026;8;S;EUR;op-4;;\n\
        DE02120300000000202051;30.11.2026;-8;S;EUR;op-5;;\n\
        DE02120300000000202051;30.11.2026;8,005;S;EUR;op-6;;\n\
        DE02120300000000202051;30.11.2026;8;S;USD;op-7;;\n\
        DE02120300000000202051;03.12.2026;8;S;EUR;op-8;;\n\
        DE02120300000000202051;30.11.2026;8;S;EUR\n\
        DE02120300000000202051;30.11.2026;8;X;EUR;op-9;;\n";
    let latin: Vec<u8> = text.chars().map(|its| u8::try_from(u32::from(its)).unwrap_or(b'?')).collect();
    let statement = read(GERMAN, &latin).unwrap_or_else(|error| panic!("{error}"));
    let day = || "2026-11-30".to_owned();
    assert_eq!(
        lines(&statement),
        [(4, day(), 123_450, "", "Rechnung; 17 J\u{f6}rg"), (5, day(), -700, "op-2", "")]
    );
    assert_eq!(statement.foreign, 1);
    let reasons = bad(&statement);
    assert_eq!(reasons.iter().map(|its| its.0).collect::<Vec<_>>(), [7, 8, 9, 10, 11, 12, 13]);
    for (at, said) in
        ["31.11.2026", "sign and the mark", "3 decimals", "USD", "future", "5 fields", "no mark 'X'"]
            .iter()
            .enumerate()
    {
        assert!(reasons[at].1.contains(said), "{reasons:?}");
    }
    // The same bytes without the encoding: the line with letters that are no UTF-8 is named.
    let utf8 = GERMAN.replace("encoding = \"windows-1252\"", "").replace("currency = ", "#");
    let statement = read(&utf8, &latin).unwrap_or_else(|error| panic!("{error}"));
    assert!(bad(&statement)[0].1.contains("csv.encoding"), "{:?}", bad(&statement));
}

const PLAIN: &str =
    "here.account = 'bank'\namounts.scale = 2\n[columns]\ndate = 'date'\ncredit = 'in'\ndebit = 'out'\n";

#[test]
fn two_columns_give_one_amount() {
    let text = b"date,in,out\n2026-11-01,5.00,\n2026-11-02,,3\n2026-11-03,,-4\n2026-11-04,0,2\n2026-11-05,1,2\n2026-11-06,,\n";
    let statement = read(PLAIN, text).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(lines(&statement).iter().map(|its| its.2).collect::<Vec<_>>(), [500, -300, -400, -200]);
    assert_eq!(bad(&statement).iter().map(|its| its.0).collect::<Vec<_>>(), [6, 7]);
    assert_eq!(
        (statement.from.to_string(), statement.through.to_string()),
        ("2026-11-01".into(), "2026-11-04".into())
    );
}

#[test]
fn files_that_say_nothing_are_refused_with_the_reason() {
    for (text, said) in [
        (&b""[..], "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (b"date,in,out\n", "names no days"),
        (b"day,in,out\n2026-11-01,1,\n", "no column 'date', only day, in, out"),
        (b"date,in,out\nx,1,\ny,2,\n", "none of the 2 lines could be read; the first: line 2"),
    ] {
        let error = read(PLAIN, text).map(|_| ()).map_err(|error| error.to_string());
        assert!(error.as_ref().is_err_and(|why| why.contains(said)), "{said}: {error:?}");
    }
    let other = "Kontoauszug;;;;;;;\n\nIBAN;Buchungstag;Umsatz;Soll/Haben;W\u{e4}hrung;Kundenreferenz;Verwendungszweck;Name\n\
        DE99;30.11.2026;1;H;EUR;;;\n";
    let utf8 = GERMAN.replace("encoding = \"windows-1252\"", "");
    let error = read(&utf8, other.as_bytes()).map(|_| ()).map_err(|error| error.to_string());
    assert!(error.as_ref().is_err_and(|why| why.contains("of account DE99")), "{error:?}");
}

const FOUR: &str = "here.account = 'bank'\namounts.scale = 2\n[columns]\ndate = 'd'\namount = 'a'\noperation = 'o'\nreferences = ['t']\n";

#[test]
fn a_quotation_mark_swallows_no_line_in_silence() {
    let at_end = "d,a,o,t\n2026-11-03,1.00,q-1,\"hello\n2026-11-03,900.00,gone,x\n2026-11-03,2.00,,bye\"\n2026-11-04,1,x,\n";
    let between = "d,t,a,o\n2026-11-03,\"hello,1.00,q-1\n2026-11-03,\"bye,2.00,q-2\n2026-11-04,,1,x\n";
    let real = "d,a,o,t\n2026-11-03,1.00,q-1,\"hello,\n you\"\n";
    for (text, lines, bad_lines) in [(at_end, 1, 1), (between, 1, 1), (real, 1, 0)] {
        let statement = read(FOUR, text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((statement.items.len(), statement.bad_count), (lines, bad_lines), "{text}");
        assert!(bad(&statement).iter().all(|(line, why)| *line == 2 && why.contains("csv.quote")), "{text}");
    }
    let none = format!("csv.quote = 'none'\n{FOUR}");
    let statement = read(&none, between.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((statement.items.len(), statement.bad_count), (3, 0));
    assert_eq!(lines(&statement)[0].4, "\"hello");
}

#[test]
fn what_is_behind_the_lines_is_passed_over_and_columns_are_not_guessed() {
    let text = "d,a,o,t\n2026-11-03,1.00,q-1,\n,,,\nSum,1.00,,\nmade,by,a,bank\n";
    let ends = format!("csv.ends_at = 'Sum'\n{FOUR}");
    let statement = read(&ends, text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((statement.items.len(), statement.bad_count), (1, 0));
    let statement = read(FOUR, text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((statement.items.len(), statement.bad_count), (1, 2));
    let error = read(FOUR, b"d,a,o,t,a\n2026-11-03,1,q,,2\n").map(|_| ()).map_err(|error| error.to_string());
    assert!(error.as_ref().is_err_and(|why| why.contains("two columns 'a'")), "{error:?}");
    let map = Map::read(FOUR).unwrap_or_else(|error| panic!("{error}"));
    let today = "2026-12-01".parse().unwrap_or(Day(0));
    let reading = |through| Reading { today, limit: 100, from: None, through: Some(through) };
    let error = |through| {
        Statement::read(text.as_bytes(), &map, reading(through)).map(|_| ()).map_err(|its| its.to_string())
    };
    assert!(error(today.plus(1)).is_ok());
    assert!(
        error(today.plus(2)).is_err_and(|why| why == "the file ends on 2026-12-03, which is in the future")
    );
}
