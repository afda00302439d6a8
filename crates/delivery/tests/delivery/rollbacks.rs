//! What a rollback of the engine leaves in the tables: settlements whose claims or credits are lost.

use std::sync::Arc;

use scarce_delivery::{
    Delivery, LookedUp, Rebased, Secret, Settled, SettledLookup, Settlement, SettlementFilter,
    SettlementOptions, SettlementState, Tried,
};
use tokio::runtime::Handle;

use crate::kit::{
    Bench, Database, DatabaseKind, PARTITIONS, Receiver, Reply, hasty, open, options, wait_until,
};
use crate::settlement::{all_in, counts, wait_for};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Has the log read to its end, from where the tables say.
pub async fn read_log(bench: &Bench, delivery: &Delivery) {
    let flow = bench.flow_to_settlement(delivery);
    for partition in 0..PARTITIONS {
        let through = bench.engine.durable_through(partition).expect("a sequence");
        let is_read = || async {
            let held = delivery.held_position("settlement", partition).await.expect("the database");
            held.map_or(0, |held| held.sequence) >= through
        };
        wait_until("the log was not read", is_read).await;
    }
    flow.stop().await;
}

async fn settle(bench: &Bench, delivery: &Delivery, settled: u64, dead: u64) {
    settle_with(bench, delivery, SettlementOptions::default(), (settled, dead)).await;
}

async fn settle_with(bench: &Bench, delivery: &Delivery, options: SettlementOptions, ends: (u64, u64)) {
    let flow = bench.flow_to_settlement(delivery);
    let running = delivery.run_settlement(&Handle::current(), bench.engine.clone(), options);
    wait_for(delivery, ends.0, ends.1).await;
    running.stop().await;
    flow.stop().await;
}

pub async fn only(delivery: &Delivery) -> Settlement {
    delivery.settlement("c", 1).await.expect("the database").expect("one")
}

/// A packet that was settled for bob in a lost history, and that the log gives to u.
async fn taken_by_another(bench: &Bench, database: &Database, outside: Option<&str>) -> (Delivery, i64) {
    let delivery = open(database, bench, options()).await;
    bench.campaign("c", 1).await;
    let (_, amount) = bench.claim("c", "u").await;
    read_log(bench, &delivery).await;
    database.run("UPDATE delivery_settlements SET user_id = 'bob'").await;
    match outside {
        Some(url) => {
            let secret = Secret::parse(SECRET).expect("a secret");
            let running = delivery
                .run_settlement_outside(&Handle::current(), bench.engine.clone(), url, secret)
                .expect("one");
            wait_for(&delivery, 1, 0).await;
            running.stop().await;
        }
        None => settle(bench, &delivery, 1, 0).await,
    }
    database.run("UPDATE delivery_cursors SET epoch = 0, sequence = 0").await;
    read_log(bench, &delivery).await;
    (delivery, i64::try_from(amount).expect("an amount"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_packet_that_was_credited_to_another_user_is_for_a_person() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let (delivery, amount) = taken_by_another(&bench, &database, None).await;
        settle(&bench, &delivery, 0, 1).await;
        let letter = only(&delivery).await;
        let error = letter.last_error.as_deref().expect("a reason");
        assert!(
            letter.user == "u" && error.contains("settled for 'bob'") && error.contains("to 'u'"),
            "{error}"
        );
        // A replay looks again, and finds the same.
        assert!(delivery.replay_settlement("c", 1).await.expect("the database"));
        settle(&bench, &delivery, 0, 1).await;
        assert_eq!((bench.balance("bob").await, bench.balance("u").await), (Some(amount), None));
        let replaced = delivery.replaced(None, 10).await.expect("the database").items;
        let [its] = &replaced[..] else { panic!("{replaced:?}") };
        assert_eq!((its.user.as_str(), its.state, &its.decision), ("bob", SettlementState::Settled, &None));
        assert!(delivery.resolve_settlement("c", 1, false).await.expect("the database"));
        settle(&bench, &delivery, 1, 0).await;
        assert_eq!((bench.balance("bob").await, bench.balance("u").await), (Some(amount), Some(amount)));
        let replaced = delivery.replaced(None, 10).await.expect("the database").items;
        assert_eq!(replaced[0].decision.as_deref(), Some("not_settled"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_claim_that_was_never_tried_here_keeps_nothing_from_its_successor() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let delivery = open(&database, &bench, options()).await;
        bench.campaign("c", 1).await;
        let (_, amount) = bench.claim("c", "u").await;
        read_log(&bench, &delivery).await;
        // As one that took the place of another claim before, and was lost before it was tried.
        database
            .run("UPDATE delivery_settlements SET user_id = 'bob', first_tried_at_ms = claimed_at_ms")
            .await;
        database.run("UPDATE delivery_cursors SET epoch = 0, sequence = 0").await;
        read_log(&bench, &delivery).await;
        settle(&bench, &delivery, 1, 0).await;
        let amount = i64::try_from(amount).expect("an amount");
        assert_eq!((bench.balance("bob").await, bench.balance("u").await), (None, Some(amount)));
        let replaced = delivery.replaced(None, 10).await.expect("the database").items;
        assert_eq!(replaced[0].decision.as_deref(), Some("not_paid"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_log_has_no_claim_of_is_not_paid_by_a_replay() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let delivery = open(&database, &bench, hasty()).await;
        bench.campaign("c", 1).await;
        bench.claim("c", "u").await;
        bench.run("ACCOUNT.OPEN u USD").await;
        read_log(&bench, &delivery).await;
        settle(&bench, &delivery, 0, 1).await;
        database.run("UPDATE delivery_settlements SET lost_at_ms = 1").await;
        assert!(!delivery.replay_settlement("c", 1).await.expect("the database"));
        assert_eq!(delivery.replay_campaign("c").await.expect("the database"), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_is_not_called_for_a_claim_that_it_would_take_for_anothers() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
    let receiver = Receiver::with(|_, _| Reply::Status(200)).await;
    let (delivery, _) = taken_by_another(&bench, &database, Some(&receiver.url())).await;
    let secret = Secret::parse(SECRET).expect("a secret");
    let running = delivery
        .run_settlement_outside(&Handle::current(), bench.engine.clone(), &receiver.url(), secret)
        .expect("one");
    wait_for(&delivery, 0, 1).await;
    assert_eq!(Vec::from_iter(receiver.ids()), ["settle:c:1"]);
    assert!(delivery.resolve_settlement("c", 1, false).await.expect("the database"));
    wait_for(&delivery, 1, 0).await;
    running.stop().await;
    assert_eq!(Vec::from_iter(receiver.ids()), ["settle:c:1", "settle:c:1:2"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_noted_as_settled_is_asked_of_a_person_again() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let delivery = open(&database, &bench, hasty()).await;
        bench.campaign("c", 1).await;
        bench.claim("c", "u").await;
        bench.run("ACCOUNT.OPEN u USD").await;
        read_log(&bench, &delivery).await;
        settle(&bench, &delivery, 0, 1).await;
        assert!(delivery.resolve_settlement("c", 1, true).await.expect("the database"));
        let rebased = delivery.rebase_settlement(&[], 0).await.expect("the database");
        assert_eq!(rebased, Rebased { dead: 1, ..Rebased::default() });
        let error = only(&delivery).await.last_error.expect("a reason");
        assert!(error.contains("resolve this again"), "{error}");
        assert!(!delivery.replay_settlement("c", 1).await.expect("the database"));
        assert_eq!(delivery.replay_campaign("c").await.expect("the database"), 0);
        assert!(delivery.resolve_settlement("c", 1, true).await.expect("the database"));
        assert_eq!(counts(&delivery).await, (0, 1, 0));
    }
}

/// Knows the credit of the first packet.
struct Known;

impl SettledLookup for Known {
    fn look_up<'a>(&'a self, tried: &'a Tried) -> LookedUp<'a> {
        let is_known = tried.operation_id == "settle:c:1";
        Box::pin(async move {
            Ok(if is_known {
                Settled::Applied
            } else {
                Settled::Unknown { reason: "nobody knows".to_owned() }
            })
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn credits_that_the_engine_has_forgotten_are_looked_up_and_else_named() {
    const IDS_KEPT_MS: u64 = 1_500;
    let (bench, database) = (Bench::forgetting_after(IDS_KEPT_MS), Database::new(DatabaseKind::Sqlite));
    let delivery = open(&database, &bench, hasty()).await;
    bench.campaign("c", 2).await;
    bench.claim("c", "u").await;
    bench.claim("c", "w").await;
    read_log(&bench, &delivery).await;
    let mut places = Vec::new();
    for partition in 0..PARTITIONS {
        let held = delivery.held_position("settlement", partition).await.expect("the database");
        places.push((partition, held.unwrap_or_default()));
    }
    settle(&bench, &delivery, 2, 0).await;
    let first_ms = only(&delivery).await.done_at_ms.expect("it is settled");
    let now_ms = || u64::try_from(jiff::Timestamp::now().as_millisecond()).expect("a time");
    wait_until("time does not pass", || async { now_ms() > first_ms + 2 * IDS_KEPT_MS }).await;
    let rebased = delivery.rebase_settlement(&places, u64::MAX >> 1).await.expect("the database");
    assert_eq!(rebased, Rebased { reopened: 2, ..Rebased::default() });
    let options = SettlementOptions { lookup: Some(Arc::new(Known)), ..SettlementOptions::default() };
    settle_with(&bench, &delivery, options, (1, 1)).await;
    let [letter] = &all_in(&delivery, SettlementState::Dead).await[..] else { panic!("one") };
    let error = letter.last_error.as_deref().expect("a reason");
    assert!(error.contains("'settle:c:2' to 'w'") && error.contains("nobody knows"), "{error}");
    assert_eq!(bench.count("account.credited"), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_without_a_claim_wait_for_it_and_are_listed() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let delivery = open(&database, &bench, hasty()).await;
        bench.campaign("c", 2).await;
        bench.claim("c", "u").await;
        bench.claim("c", "w").await;
        read_log(&bench, &delivery).await;
        settle(&bench, &delivery, 2, 0).await;
        let partition = database.figure("partition_id", "FROM delivery_settlements WHERE packet = 1").await;
        let places = [(partition.parse().expect("a number"), scarce_core::event::Position::default())];
        // The credits are in the engine, and this packet was never claimed there.
        database.run("UPDATE delivery_settlements SET campaign = 'gone' WHERE packet = 2").await;
        let rebased = delivery.rebase_settlement(&places, u64::MAX >> 1).await.expect("the database");
        assert_eq!(rebased, Rebased { awaited: 2, ..Rebased::default() });
        read_log(&bench, &delivery).await;
        let filter = SettlementFilter { is_lost: true, ..SettlementFilter::default() };
        let lost = delivery.settlements(filter, None, 10).await.expect("the database").items;
        let [its] = &lost[..] else { panic!("{lost:?}") };
        assert_eq!((its.campaign.as_str(), its.state), ("gone", SettlementState::Settled));
        // That of the other packet is found to be there, and that of the third is made.
        settle(&bench, &delivery, 3, 0).await;
        assert_eq!(bench.count("account.credited"), 2);
    }
}
