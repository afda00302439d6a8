use super::*;

fn suite(table: &str, impossible: &str) -> Result<Suite, Vec<Failure>> {
    let mut suite = Suite { scenarios: Vec::new(), impossible: Vec::new() };
    let mut failures = Vec::new();
    parse::parse("t.txt", table, &mut suite.scenarios, &mut failures);
    impossible::parse(IMPOSSIBLE, impossible, &mut suite.impossible, &mut failures);
    if failures.is_empty() { Ok(suite) } else { Err(failures) }
}

fn report(table: &str) -> Report {
    suite(table, "").expect("a table").run(&mut CoreTarget::new())
}

/// A faulty target: refused commands change its digest and make an event, and setting the clock panics.
#[derive(Default)]
struct Faulty {
    commands: usize,
    reported: usize,
    clock: u64,
}

impl Target for Faulty {
    fn supports(&self, _: &str) -> bool {
        false
    }

    fn reset(&mut self, _: &Setup) -> Result<(), String> {
        *self = Self::default();
        Ok(())
    }

    fn set_clock(&mut self, now: u64) {
        self.clock = now;
    }

    fn command(&mut self, _: &[&str]) -> String {
        assert!(self.clock < 5_000, "the clock struck");
        self.commands += 1;
        "SOLD_OUT 0 1".to_owned()
    }

    fn batch(&mut self, _: Option<&str>, _: Option<&str>, _: &[Vec<&str>]) -> String {
        "APPLIED".to_owned()
    }

    fn expire(&mut self, _: usize) -> usize {
        0
    }

    fn restart(&mut self) -> Result<(), String> {
        Err("does not start".to_owned())
    }

    fn events(&mut self) -> Vec<String> {
        let fresh = self.commands - self.reported;
        self.reported = self.commands;
        vec!["stock.taken".to_owned(); fresh]
    }

    fn digest(&mut self) -> String {
        self.commands.to_string()
    }
}

/// A target whose refused commands leave a trace that neither digest nor events show.
#[derive(Default)]
struct Littering(u8);

impl Target for Littering {
    fn supports(&self, _: &str) -> bool {
        false
    }

    fn reset(&mut self, _: &Setup) -> Result<(), String> {
        Ok(())
    }

    fn set_clock(&mut self, _: u64) {}

    fn command(&mut self, _: &[&str]) -> String {
        self.0 += 1;
        "SOLD_OUT 0 1".to_owned()
    }

    fn batch(&mut self, _: Option<&str>, _: Option<&str>, _: &[Vec<&str>]) -> String {
        String::new()
    }

    fn expire(&mut self, _: usize) -> usize {
        0
    }

    fn restart(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn events(&mut self) -> Vec<String> {
        Vec::new()
    }

    fn digest(&mut self) -> String {
        String::new()
    }

    fn image(&mut self) -> Option<Vec<u8>> {
        Some(vec![self.0])
    }
}

#[test]
fn a_refusal_whose_trace_is_only_in_the_bytes_is_a_failure() {
    let table = "== a\nSTOCK.TAKE s 1 o -> SOLD_OUT 0 1";
    let report = suite(table, "").expect("a table").run(&mut Littering::default());
    assert_eq!(report.failures.len(), 1, "{report}");
    assert!(report.to_string().contains("and yet changed what is stored"), "{report}");
}

#[test]
fn every_row_that_is_not_as_written_is_reported_where_it_stands() {
    let report = report(
        "== one\nACCOUNT.OPEN a EUR\nACCOUNT.DEBIT a 1 -> APPLIED 0\n\nACCOUNT.GET a -> APPLIED a USD ...\n\
         events -> account.closed\nexpire 9 -> 4\ndigest same\n== two\nACCOUNT.OPEN a EUR -> APPLIED 1",
    );
    let lines: Vec<usize> = report.failures.iter().map(|failure| failure.place.line).collect();
    assert_eq!(lines, [3, 5, 6, 7, 8, 10]);
    let first = report.failures[0].to_string();
    assert_eq!(
        first,
        "conformance/t.txt:3: [one] ACCOUNT.DEBIT a 1\n  expected APPLIED 0\n  got      INSUFFICIENT_FUNDS a 0 1"
    );
    assert_eq!((report.scenarios, report.skipped.len()), (2, 0));
}

#[test]
fn a_refusal_that_changes_something_a_panic_and_a_bad_start_are_failures() {
    let table = "== a\nSTOCK.TAKE s 1 o -> SOLD_OUT 0 1\n== b\nnow 5000\nSTOCK.TAKE s 1 o -> SOLD_OUT 0 1\n\
                 == c\nset step_max 5\nSTOCK.TAKE s 1 o";
    let report = suite(table, "").expect("a table").run(&mut Faulty::default());
    let texts: Vec<String> = report.failures.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 4, "{texts:?}");
    assert!(texts[0].contains("and yet made"), "{texts:?}");
    assert!(texts[1].contains("and yet changed the digest"), "{texts:?}");
    assert!(texts[2].contains("does not start"), "{texts:?}");
    assert!(texts[3].contains("panicked: the clock struck"), "{texts:?}");
    assert_eq!(report.skipped.len(), 1);
}

#[test]
fn tables_that_make_no_sense_are_refused_with_their_line() {
    for (line, table) in [
        (1, "ACCOUNT.GET a"),
        (2, "== a\nset warp 9"),
        (2, "== a\nACCOUNT.GET a -> NO_SUCH_CODE"),
        (2, "== a\nACCOUNT.GET a -> ACCOUNT_NOT_FOUND a | over NOTHING"),
        (2, "== a\nbatch ID x\nACCOUNT.GET a"),
        (2, "== a\nrepeat 3 n\nACCOUNT.GET a"),
        (2, "== a\nnow then"),
        (2, "== a\nfrobnicate"),
        (2, "== a\nSTOCK.ADJUST s 1 REASON \"open"),
    ] {
        let failures = suite(table, "").expect_err(table);
        assert_eq!(failures[0].place.line, line, "{table}");
    }
    for impossible in [
        "NO.COMMAND SOLD_OUT - never in this world",
        "STOCK.TAKE WHAT - never in this world",
        "STOCK.TAKE SOLD_OUT -",
    ] {
        assert!(suite("", impossible).is_err(), "{impossible}");
    }
}

#[test]
fn coverage_counts_what_is_shown_and_nothing_else() {
    let table = "== a\nSTOCK.CREATE s 1\nSTOCK.TAKE s 2 o -> INSUFFICIENT_STOCK 1 2\nSTOCK.TAKE s 1 o ID x\n\
                 STOCK.TAKE s 2 o ID y -> SOLD_OUT 0 2 | over INSUFFICIENT_STOCK\nevents -> stock.taken";
    let shown = coverage::missing(&suite(table, "").expect("a table"));
    assert!(shown.mistakes.is_empty());
    let missing = |what: &str| shown.missing.iter().any(|missing| missing == what);
    assert!(missing("event stock.created") && !missing("event stock.taken"));
    assert!(missing("STOCK.TAKE ENDED") && !missing("STOCK.TAKE SOLD_OUT"));
    assert!(!missing("STOCK.TAKE SOLD_OUT | over INSUFFICIENT_STOCK"));
    assert!(missing("STOCK.RESERVE SOLD_OUT | over INSUFFICIENT_STOCK"));
}

#[test]
fn annotations_and_excuses_must_be_true() {
    for (table, impossible) in [
        // Nothing else in the same scenario shows it.
        ("== a\nSTOCK.TAKE s 2 o -> SOLD_OUT 0 2 | over INSUFFICIENT_STOCK", ""),
        // For another command.
        (
            "== a\nSTOCK.TAKE s 3 o -> INSUFFICIENT_STOCK 1 3\n\
             STOCK.TAKE s 2 o -> SOLD_OUT 0 2 | over INSUFFICIENT_STOCK",
            "",
        ),
        // In the wrong order.
        (
            "== a\nSTOCK.TAKE s 2 o -> SOLD_OUT 0 2\nSTOCK.TAKE s 2 o -> INSUFFICIENT_STOCK 1 2 | over SOLD_OUT",
            "",
        ),
        // An excuse for something that is shown, and one that is not needed.
        ("== a\nSTOCK.TAKE s 2 o -> SOLD_OUT 0 2", "STOCK.TAKE SOLD_OUT - it is never sold out"),
        ("", "STOCK.TAKE STOCK_NOT_FOUND ENDED these are no neighbours"),
    ] {
        let coverage = coverage::missing(&suite(table, impossible).expect("a table"));
        assert_eq!(coverage.mistakes.len(), 1, "{table} {impossible} {:?}", coverage.mistakes);
    }
}
