//! `docs/coming-from-redis-lua.md` describes the pitfalls of scripts in Redis and the equivalents here. This
//! test runs the page's scripts and transcripts on a real redis-server and a real `scarce serve`, so that
//! everything on the page is true.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod page;
mod stage;
#[path = "../support/mod.rs"]
mod support;

use page::Chapter;
use stage::Stage;

fn play(title: &str) {
    let chapters = page::chapters();
    let Some(chapter) = chapters.iter().find(|chapter| chapter.title == title) else {
        panic!("the page has no chapter '{title}'");
    };
    assert!(!chapter.exchanges.is_empty(), "nothing is shown in '{title}'");
    let mut stage = Stage::new(&page::scripts(&chapters));
    for exchange in &chapter.exchanges {
        let found = stage.run(&exchange.command);
        assert!(
            page::is_as_shown(&exchange.shown, &found),
            "line {} of the page\n$ {}\n--- shown\n{}\n--- found\n{found}",
            exchange.line,
            exchange.command,
            exchange.shown,
        );
    }
}

#[test]
fn a_balance_goes_wrong_as_the_page_says() {
    play("A balance");
}

#[test]
fn red_packets_go_wrong_as_the_page_says() {
    play("Red packets");
}

#[test]
fn coupons_go_wrong_as_the_page_says() {
    play("Coupons");
}

#[test]
fn an_order_book_goes_wrong_as_the_page_says() {
    play("An order book");
}

#[test]
fn time_outs_crashes_and_fail_overs_go_wrong_as_the_page_says() {
    play("What no script can fix");
}

#[test]
fn a_team_moves_as_the_page_says() {
    play("Migrating");
}

#[test]
fn every_chapter_with_a_transcript_is_played() {
    let played =
        ["A balance", "Red packets", "Coupons", "An order book", "What no script can fix", "Migrating"]
            .map(str::to_owned);
    let shown: Vec<String> = page::chapters()
        .into_iter()
        .filter(|chapter: &Chapter| !chapter.exchanges.is_empty())
        .map(|chapter| chapter.title)
        .collect();
    assert_eq!(shown, played);
}

#[test]
fn every_scenario_that_the_page_names_is_in_the_tables() {
    let named = page::scenarios();
    assert!(named.len() > 15, "{named:?}");
    for (file, title) in named {
        let path = page::root().join("conformance").join(&file);
        let table = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(table.lines().any(|line| line == format!("== {title}")), "{file} has no scenario '{title}'");
    }
}
