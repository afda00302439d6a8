use std::time::Duration;

use serde_json::{Value, json};

use super::{Cause, Reconciliations, Verdict};

fn compared(differences: u64) -> Verdict {
    Verdict::Compared { differences, report: json!({ "differences": differences }) }
}

fn states(reconciliations: &Reconciliations) -> Vec<Value> {
    reconciliations.list().iter().map(|its| its["state"].clone()).collect()
}

#[test]
fn one_runs_at_a_time_and_one_that_runs_is_not_asked_for_again() {
    let reconciliations = Reconciliations::default();
    assert_eq!(reconciliations.request(), None, "nothing makes them");
    reconciliations.open();
    let (asked, is_new) = reconciliations.request().expect("it is open");
    assert!(is_new && asked["state"] == "waiting", "{asked}");
    let (again, is_new) = reconciliations.request().expect("it is open");
    assert_eq!((&again["id"], is_new), (&asked["id"], false));
    assert_eq!(reconciliations.next(None), Some(Cause::Request));
    let id = reconciliations.begin(Cause::Request);
    assert_eq!(asked["id"], id);
    reconciliations.note("folding", 1, 7);
    let (running, is_new) = reconciliations.request().expect("it is open");
    assert_eq!((&running["progress"]["done"], is_new), (&json!(7), false));
    reconciliations.end(compared(2), Duration::from_secs(1));
    let found = reconciliations.find(id).expect("it is kept");
    assert_eq!((&found["state"], &found["report"]["differences"]), (&json!("different"), &json!(2)));
    assert!(reconciliations.request().expect("it is open").1);
    assert_eq!(states(&reconciliations), ["waiting", "different"]);
}

#[test]
fn the_last_ones_are_kept_and_counted() {
    let reconciliations = Reconciliations::default();
    reconciliations.open();
    let mut ids = Vec::new();
    for verdict in [compared(0), compared(3), Verdict::Failed { reason: "why".to_owned() }] {
        assert_eq!(reconciliations.next(Some(Duration::ZERO)), Some(Cause::Interval));
        ids.push(reconciliations.begin(Cause::Interval));
        reconciliations.end(verdict, Duration::from_secs(1));
    }
    assert!(ids.is_sorted_by(|one, next| one < next), "{ids:?}");
    let figures = reconciliations.figures();
    assert_eq!((figures.equal, figures.different, figures.failed), (1, 1, 1));
    assert_eq!(figures.last.map(|last| last.2), Some(3));
    assert!(figures.equal_at.is_some() && figures.trouble.is_some());
    for _ in 0..30 {
        let _ = reconciliations.begin(Cause::Interval);
        reconciliations.end(compared(0), Duration::ZERO);
    }
    assert_eq!((reconciliations.list().len(), reconciliations.find(ids[0])), (20, None));
    assert_eq!(reconciliations.figures().trouble, None);
}

#[test]
fn reports_that_are_too_much_together_are_left_out_from_the_oldest_on() {
    let reconciliations = Reconciliations::default();
    reconciliations.open();
    let mut ids = Vec::new();
    for megabytes in [1, 1, 1, 1, 9] {
        ids.push(reconciliations.begin(Cause::Interval));
        let report = json!({ "text": "x".repeat(megabytes << 20) });
        reconciliations.end(Verdict::Compared { differences: 1, report }, Duration::ZERO);
        let last = reconciliations.find(*ids.last().expect("one")).expect("it is kept");
        assert!(last["report"].is_object(), "the last one is always there");
    }
    let reports =
        ids.iter().filter(|id| reconciliations.find(**id).expect("it is kept")["report"].is_object());
    assert_eq!((reports.count(), reconciliations.list().len()), (1, 5));
    let four = Reconciliations::default();
    four.open();
    for _ in 0..4 {
        let id = four.begin(Cause::Interval);
        four.end(Verdict::Compared { differences: 1, report: json!("x".repeat(1 << 20)) }, Duration::ZERO);
        assert!(four.find(id).expect("it is kept")["report"].is_string());
    }
    let rows = four.list();
    let has_report = |row: &&Value| {
        four.find(row["id"].as_u64().expect("a number")).is_some_and(|its| its["report"].is_string())
    };
    assert_eq!(rows.iter().filter(has_report).count(), 3);
}

#[test]
fn waiting_ends_with_the_server() {
    let reconciliations = Reconciliations::default();
    reconciliations.open();
    std::thread::scope(|scope| {
        let resting = scope.spawn(|| reconciliations.rest(Duration::from_hours(1)));
        let waiting = scope.spawn(|| reconciliations.next(None));
        reconciliations.close();
        assert_eq!((resting.join().ok(), waiting.join().ok()), (Some(false), Some(None)));
    });
    assert_eq!(reconciliations.request(), None);
}
