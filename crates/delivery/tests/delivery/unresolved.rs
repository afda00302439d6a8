//! Credits whose outcome was never learned, and that the engine no longer remembers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scarce_delivery::{
    Delivery, LookedUp, Settled, SettledLookup, Settlement, SettlementOptions, SettlementState, Tried,
};
use scarce_engine::{Engine, Request};
use tokio::runtime::Handle;

use crate::kit::{Bench, Database, DatabaseKind, Fault, Faulty, hasty, open, wait_until};
use crate::settlement::counts;

/// How long the engine remembers ids.
const IDS_KEPT_MS: u64 = 1_500;

/// Gives the same result for every operation, and counts the lookups.
struct Oracle {
    says: Result<Settled, String>,
    asked: AtomicUsize,
}

impl SettledLookup for Oracle {
    fn look_up<'a>(&'a self, tried: &'a Tried) -> LookedUp<'a> {
        assert!(tried.operation_id == "settle:c:1" && tried.account == "u", "{tried:?}");
        assert!(tried.from_ms < tried.until_ms);
        self.asked.fetch_add(1, Ordering::Relaxed);
        Box::pin(async { self.says.clone() })
    }
}

fn credits(batch: &[Request]) -> bool {
    batch.iter().any(|request| matches!(request, Request::Write(its) if its.common.operation.is_some()))
}

fn settlement(lookup: Option<Arc<Oracle>>) -> SettlementOptions {
    let lookup = lookup.map(|oracle| oracle as Arc<dyn SettledLookup>);
    SettlementOptions { lookup, ..SettlementOptions::default() }
}

async fn only(delivery: &Delivery) -> Settlement {
    delivery.settlement("c", 1).await.expect("the database").expect("one")
}

/// A claim whose credit was sent once with this fault, so long ago that the engine has forgotten it.
async fn sent_long_ago(bench: &Bench, database: &Database, fault: Fault) -> (Delivery, i64) {
    let delivery = open(database, bench, hasty()).await;
    bench.campaign("c", 1).await;
    let (_, amount) = bench.claim("c", "u").await;
    let flow = bench.flow_to_settlement(&delivery);
    let faulty: Arc<dyn Engine> =
        Faulty::new(&bench.engine, move |batch: &[Request]| if credits(batch) { fault } else { Fault::None });
    let worker = delivery.run_settlement(&Handle::current(), faulty, settlement(None));
    let is_sent = || async { counts(&delivery).await.0 == 1 && only(&delivery).await.last_error.is_some() };
    wait_until("it was not sent", is_sent).await;
    worker.abort();
    flow.stop().await;
    let first_ms = only(&delivery).await.first_tried_at_ms.expect("an open try");
    // The time passes in the table rather than in the test; the engine forgets by its own clock.
    let now_ms = || u64::try_from(jiff::Timestamp::now().as_millisecond()).expect("a time");
    wait_until("time does not pass", || async { now_ms() > first_ms + 2 * IDS_KEPT_MS }).await;
    (delivery, i64::try_from(amount).expect("an amount"))
}

async fn settle(bench: &Bench, delivery: &Delivery, oracle: Option<Arc<Oracle>>) -> Settlement {
    let flow = bench.flow_to_settlement(delivery);
    let worker = delivery.run_settlement(&Handle::current(), bench.engine.clone(), settlement(oracle));
    wait_until("it came to no end", || async { counts(delivery).await.0 == 0 }).await;
    worker.stop().await;
    flow.stop().await;
    only(delivery).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_is_not_sent_blindly_but_becomes_a_dead_letter_that_says_why() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::forgetting_after(IDS_KEPT_MS), Database::new(kind));
        let (delivery, amount) = sent_long_ago(&bench, &database, Fault::AnswersLost).await;
        let letter = settle(&bench, &delivery, None).await;
        let error = letter.last_error.as_deref().expect("a reason");
        assert!(letter.state == SettlementState::Dead && error.contains("'settle:c:1' to 'u'"), "{error}");
        assert!(letter.first_tried_at_ms.is_some());
        // A replay does not send it blindly either.
        assert!(delivery.replay_settlement("c", 1).await.expect("the database"));
        assert_eq!(settle(&bench, &delivery, None).await.state, SettlementState::Dead);
        assert_eq!((bench.balance("u").await, bench.count("account.credited")), (Some(amount), 1));
        // An operator has found out that it was credited.
        assert!(delivery.resolve_settlement("c", 1, true).await.expect("the database"));
        assert_eq!(only(&delivery).await.state, SettlementState::Settled);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_knows_that_it_happened_is_believed() {
    let (bench, database) = (Bench::forgetting_after(IDS_KEPT_MS), Database::new(DatabaseKind::Sqlite));
    let (delivery, amount) = sent_long_ago(&bench, &database, Fault::AnswersLost).await;
    let oracle = Arc::new(Oracle { says: Ok(Settled::Applied), asked: AtomicUsize::new(0) });
    let settled = settle(&bench, &delivery, Some(Arc::clone(&oracle))).await;
    assert_eq!((settled.state, oracle.asked.load(Ordering::Relaxed)), (SettlementState::Settled, 1));
    assert_eq!((bench.balance("u").await, bench.count("account.credited")), (Some(amount), 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_operation_of_that_id_that_was_another_credit_settles_nothing() {
    // As a table of operations says it, and as the engine itself does.
    let found = || Settled::Other { found: "5 to 'bob' at 9".to_owned() };
    for (is_forgotten, told) in [(true, "5 to 'bob' at 9"), (false, "ID_REUSED")] {
        let bench = if is_forgotten { Bench::forgetting_after } else { Bench::promising }(IDS_KEPT_MS);
        let database = Database::new(DatabaseKind::Sqlite);
        let (delivery, amount) = sent_long_ago(&bench, &database, Fault::AnswersLost).await;
        database.run("UPDATE delivery_settlements SET amount = amount + 1").await;
        let oracle = Arc::new(Oracle { says: Ok(found()), asked: AtomicUsize::new(0) });
        let letter = settle(&bench, &delivery, Some(oracle)).await;
        let error = letter.last_error.as_deref().expect("a reason");
        assert_eq!(letter.state, SettlementState::Dead, "{error}");
        assert!(error.contains(&format!("{} to 'u'", amount + 1)) && error.contains(told), "{error}");
        assert_eq!((bench.balance("u").await, bench.count("account.credited")), (Some(amount), 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_knows_that_it_did_not_happen_has_it_sent_again() {
    let (bench, database) = (Bench::forgetting_after(IDS_KEPT_MS), Database::new(DatabaseKind::Sqlite));
    let (delivery, amount) = sent_long_ago(&bench, &database, Fault::RequestLost).await;
    assert_eq!(bench.count("account.credited"), 0);
    let oracle = Arc::new(Oracle { says: Ok(Settled::Absent), asked: AtomicUsize::new(0) });
    let settled = settle(&bench, &delivery, Some(oracle)).await;
    assert_eq!(settled.state, SettlementState::Settled);
    assert_eq!((bench.balance("u").await, bench.count("account.credited")), (Some(amount), 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_cannot_be_asked_just_now_is_asked_again() {
    let (bench, database) = (Bench::forgetting_after(IDS_KEPT_MS), Database::new(DatabaseKind::Sqlite));
    let (delivery, _) = sent_long_ago(&bench, &database, Fault::AnswersLost).await;
    let oracle = Arc::new(Oracle { says: Err("the table is away".to_owned()), asked: AtomicUsize::new(0) });
    let lookup = settlement(Some(Arc::clone(&oracle)));
    let worker = delivery.run_settlement(&Handle::current(), bench.engine.clone(), lookup);
    wait_until("it was not asked", || async { oracle.asked.load(Ordering::Relaxed) > 3 }).await;
    worker.stop().await;
    let waiting = only(&delivery).await;
    assert_eq!(waiting.state, SettlementState::Pending);
    assert_eq!(waiting.last_error.as_deref(), Some("the table is away"));
    assert_eq!(bench.count("account.credited"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_remembers_for_longer_than_it_must_is_asked_first() {
    // The engine keeps ids for a day, and guarantees less: an operation that it does not know did not happen.
    for fault in [Fault::AnswersLost, Fault::RequestLost] {
        let (bench, database) = (Bench::promising(IDS_KEPT_MS), Database::new(DatabaseKind::Sqlite));
        let (delivery, amount) = sent_long_ago(&bench, &database, fault).await;
        assert_eq!(settle(&bench, &delivery, None).await.state, SettlementState::Settled);
        assert_eq!((bench.balance("u").await, bench.count("account.credited")), (Some(amount), 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_cannot_be_asked_just_now_makes_no_dead_letter() {
    let (bench, database) = (Bench::forgetting_after(IDS_KEPT_MS), Database::new(DatabaseKind::Sqlite));
    let (delivery, _) = sent_long_ago(&bench, &database, Fault::AnswersLost).await;
    let attempts = only(&delivery).await.attempts;
    let away: Arc<dyn Engine> = Faulty::new(&bench.engine, |_: &[Request]| Fault::Overloaded);
    let worker = delivery.run_settlement(&Handle::current(), away, settlement(None));
    wait_until("it was not tried", || async { only(&delivery).await.attempts > attempts + 2 }).await;
    worker.stop().await;
    assert_eq!(only(&delivery).await.state, SettlementState::Pending);
}

/// The tables were restored from a backup that was made before the credit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tables_from_an_older_copy_credit_nothing_again_that_was_credited() {
    for (says, count) in [(Settled::Applied, 1), (Settled::Absent, 2)] {
        let (bench, database) = (Bench::forgetting_after(IDS_KEPT_MS), Database::new(DatabaseKind::Sqlite));
        let (delivery, _) = sent_long_ago(&bench, &database, Fault::AnswersLost).await;
        database
            .run(
                "UPDATE delivery_settlements SET state = 'pending', attempts = 0, first_tried_at_ms = NULL, \
                 credit_partition_id = NULL, credit_epoch = NULL, credit_sequence = NULL",
            )
            .await;
        let oracle = Arc::new(Oracle { says: Ok(says), asked: AtomicUsize::new(0) });
        let careful =
            SettlementOptions { looks_up_first_tries: true, ..settlement(Some(Arc::clone(&oracle))) };
        let flow = bench.flow_to_settlement(&delivery);
        let worker = delivery.run_settlement(&Handle::current(), bench.engine.clone(), careful);
        wait_until("it came to no end", || async { counts(&delivery).await == (0, 1, 0) }).await;
        worker.stop().await;
        flow.stop().await;
        assert_eq!(oracle.asked.load(Ordering::Relaxed), 1);
        // The lookup is trusted even if it is wrong: there is no other source.
        assert_eq!(bench.count("account.credited"), count);
    }
}
