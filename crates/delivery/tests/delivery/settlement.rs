//! Claimed packets, credited in a real engine.

use std::collections::BTreeMap;
use std::sync::Arc;

use scarce_delivery::{
    AccountTemplate, Delivery, Route, Settlement, SettlementFilter, SettlementOptions, SettlementState,
};
use tokio::runtime::Handle;

use crate::kit::{Bench, Database, DatabaseKind, open, options, wait_until};

pub async fn counts(delivery: &Delivery) -> (u64, u64, u64) {
    let counts = delivery.settlement_counts().await.expect("the database");
    (counts.pending, counts.done, counts.dead)
}

pub async fn all_in(delivery: &Delivery, state: SettlementState) -> Vec<Settlement> {
    let filter = SettlementFilter { state: Some(state), ..Default::default() };
    delivery.settlements(filter, None, 1_000).await.expect("the database").items
}

/// Waits until this many are settled and dead, and none is pending.
pub async fn wait_for(delivery: &Delivery, settled: u64, dead: u64) {
    wait_until("not all came to an end", || async { counts(delivery).await == (0, settled, dead) }).await;
}

/// Every user's account has the claimed amount, and there was one credit for each packet.
pub async fn check_credited_once(bench: &Bench, claims: &BTreeMap<String, i64>) {
    for (user, amount) in claims {
        assert_eq!(bench.balance(user).await, Some(*amount), "{user}");
    }
    assert_eq!(bench.count("packets.claimed"), bench.count("account.credited"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_claim_is_credited_to_an_account_that_is_opened_for_it() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let delivery = open(&database, &bench, options()).await;
        let flow = bench.flow_to_settlement(&delivery);
        let running =
            delivery.run_settlement(&Handle::current(), bench.engine.clone(), SettlementOptions::default());
        let mut claims: BTreeMap<String, i64> = BTreeMap::new();
        for campaign in ["spring", "summer"] {
            bench.campaign(campaign, 30).await;
            for number in 0..25 {
                let user = format!("user-{number}");
                let (_, amount) = bench.claim(campaign, &user).await;
                *claims.entry(user).or_default() += i64::try_from(amount).expect("an amount");
            }
        }
        wait_for(&delivery, 50, 0).await;
        check_credited_once(&bench, &claims).await;
        assert_eq!(bench.count("account.opened"), 25);
        let settled = delivery.settlement("summer", 3).await.expect("the database").expect("a settlement");
        assert_eq!((settled.operation_id.as_str(), settled.attempts), ("settle:summer:3", 1));
        assert_eq!((settled.route, settled.asset.as_deref()), (Some(Route::Engine), Some("EUR")));
        assert_eq!(settled.account.as_deref(), Some(settled.user.as_str()));
        assert_eq!(settled.state, SettlementState::Settled);
        let got = bench.run(&format!("OPERATION.GET settle:summer:3 ON {}", settled.user)).await;
        assert!(!got.outcome.is_applied(), "callers have ids of their own: {}", got.outcome);
        let health = delivery.health().await.expect("the database").settlement;
        assert_eq!((health.pending, health.dead, health.oldest_pending_ms), (0, 0, None));
        check_pages(&delivery).await;
        running.stop().await;
        flow.stop().await;
    }
}

/// Pages continue where the previous one ended.
async fn check_pages(delivery: &Delivery) {
    let filter = SettlementFilter { campaign: Some("spring"), ..Default::default() };
    let first = delivery.settlements(filter, None, 20).await.expect("the database");
    let rest = delivery.settlements(filter, first.next.as_deref(), 20).await.expect("the database");
    assert_eq!((first.items.len(), rest.items.len(), rest.next), (20, 5, None));
    assert!(first.items.iter().chain(&rest.items).all(|its| its.campaign == "spring"));
    let of_user = SettlementFilter { user: Some("user-7"), ..Default::default() };
    assert_eq!(delivery.settlements(of_user, None, 20).await.expect("the database").items.len(), 2);
    assert!(delivery.settlements(filter, Some("x"), 20).await.is_err());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_campaign_from_before_the_consumer_began_is_asked_for_its_asset() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
    let delivery = open(&database, &bench, options()).await;
    bench.campaign("spring", 3).await;
    let flow = bench.flow_to_settlement(&delivery);
    let through = || flow.statuses().iter().map(|status| status.position().sequence).sum::<u64>();
    wait_until("the log was not taken", || async { through() >= 2 }).await;
    database.run("DELETE FROM delivery_campaigns").await;
    // A new consumer has an empty cache.
    flow.stop().await;
    let flow = bench.flow_to_settlement(&delivery);
    let (packet, amount) = bench.claim("spring", "alice").await;
    wait_until("it was not written", || async { counts(&delivery).await.0 == 1 }).await;
    let before = delivery.settlement("spring", packet).await.expect("the database").expect("one");
    assert_eq!((before.asset, before.account, before.route), (None, None, None));
    let running =
        delivery.run_settlement(&Handle::current(), bench.engine.clone(), SettlementOptions::default());
    wait_for(&delivery, 1, 0).await;
    assert_eq!(bench.balance("alice").await, i64::try_from(amount).ok());
    let after = delivery.settlement("spring", packet).await.expect("the database").expect("one");
    assert_eq!(after.asset.as_deref(), Some("EUR"));
    running.stop().await;
    flow.stop().await;
}

/// Claims one packet for `user`, settles with these options, and returns the settlement.
async fn one(bench: &Bench, delivery: &Delivery, user: &str, options: SettlementOptions) -> Settlement {
    bench.campaign("c", 1).await;
    let (packet, _) = bench.claim("c", user).await;
    let flow = bench.flow_to_settlement(delivery);
    let running = delivery.run_settlement(&Handle::current(), bench.engine.clone(), options);
    let has_ended = || async { matches!(counts(delivery).await, (0, 1, 0) | (0, 0, 1)) };
    wait_until("it came to no end", has_ended).await;
    running.stop().await;
    flow.stop().await;
    delivery.settlement("c", packet).await.expect("the database").expect("one")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_no_account_can_take_is_a_dead_letter_and_nothing_is_credited() {
    let template = |text| SettlementOptions {
        account_template: AccountTemplate::parse(text).expect("a template"),
        ..SettlementOptions::default()
    };
    let long = "x".repeat(60) + "{user}";
    let cases = [
        ("ACCOUNT.OPEN u USD", template("{user}"), "account 'u' keeps USD, and the packet holds EUR"),
        ("ACCOUNT.OPEN other EUR", template("{{{user}}}{{x}}"), "which is not an account"),
        ("ACCOUNT.OPEN other EUR", template(&long), "which is not an account"),
    ];
    for (before, settlement, reason) in cases {
        let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
        let delivery = open(&database, &bench, options()).await;
        bench.run(before).await;
        let user = if reason.contains("keeps") { "u" } else { "somebody" };
        let letter = one(&bench, &delivery, user, settlement).await;
        let error = letter.last_error.as_deref().expect("a reason");
        assert!(letter.state == SettlementState::Dead && error.contains(reason), "{error}");
        assert_eq!(letter.first_tried_at_ms, None, "nothing is open");
        assert_eq!(bench.count("account.credited"), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_closed_account_makes_a_dead_letter_that_can_be_replayed_but_not_credited_twice() {
    for kind in DatabaseKind::ALL {
        let (bench, database) = (Bench::new(), Database::new(kind));
        let delivery = open(&database, &bench, options()).await;
        bench.run("ACCOUNT.OPEN u EUR").await;
        bench.run("ACCOUNT.CLOSE u").await;
        let letter = one(&bench, &delivery, "u", SettlementOptions::default()).await;
        assert!(letter.last_error.as_deref().expect("a reason").contains("ACCOUNT_CLOSED"));
        // The refused id stays refused, so a replay uses another one.
        assert_eq!((letter.operation_id.as_str(), letter.first_tried_at_ms), ("settle:c:1:2", None));
        assert_eq!(delivery.replay_campaign("c").await.expect("the database"), 1);
        let engine = Arc::clone(&bench.engine);
        let running = delivery.run_settlement(&Handle::current(), engine, SettlementOptions::default());
        wait_for(&delivery, 0, 1).await;
        let letter = delivery.settlement("c", 1).await.expect("the database").expect("one");
        assert_eq!(letter.operation_id, "settle:c:1:3");
        // An operator paid by hand.
        assert!(delivery.resolve_settlement("c", 1, true).await.expect("the database"));
        assert!(!delivery.resolve_settlement("c", 1, true).await.expect("the database"));
        assert_eq!(counts(&delivery).await, (0, 1, 0));
        running.stop().await;
        assert_eq!(bench.count("account.credited"), 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_missing_account_is_waited_for_where_none_is_to_be_opened() {
    let (bench, database) = (Bench::new(), Database::new(DatabaseKind::Sqlite));
    let delivery = open(&database, &bench, options()).await;
    bench.campaign("c", 1).await;
    let (packet, amount) = bench.claim("c", "u").await;
    let flow = bench.flow_to_settlement(&delivery);
    let settlement = SettlementOptions { open_accounts: false, ..SettlementOptions::default() };
    let running = delivery.run_settlement(&Handle::current(), bench.engine.clone(), settlement);
    let now = || async { delivery.settlement("c", packet).await.expect("the database") };
    wait_until("it was not tried", || async { now().await.is_some_and(|its| its.attempts > 2) }).await;
    let waiting = now().await.expect("one");
    assert!(waiting.last_error.as_deref().is_some_and(|error| error.contains("does not exist")));
    assert_eq!(waiting.operation_id, "settle:c:1", "nothing was sent under it");
    bench.run("ACCOUNT.OPEN u EUR").await;
    bench.run("ACCOUNT.FREEZE u").await;
    wait_for(&delivery, 1, 0).await;
    assert_eq!(bench.balance("u").await, i64::try_from(amount).ok(), "a frozen account takes money");
    running.stop().await;
    flow.stop().await;
}
