use crate::event::{Entry, Event, PacketsEvent};
use crate::machine::Machine;
use crate::machine::bench::{Bench, snapshot};
use crate::packets::Campaign;
use crate::state::{State, StateSettings};
use crate::types::Id;

// With a secret of zeros, for campaign `c` without an operation id; computed by another program.
const SEED: &str = "25456834592ad59e24e32f4ec4f8cd5ffde3be3beb022c1138699ed869871d84";
const COMMITMENT: &str = "efef4c4e377dd58f1f9dd079205ad2e0057230b60eea8289f16ba6e4d934f6ce";

/// A machine that prepares three packets in each step.
fn small_steps() -> Bench {
    Bench::with(StateSettings { packets_per_step_max: 3, batch_packets_max: 3, ..StateSettings::default() })
}

fn filled(entries: &[Entry]) -> Vec<(u64, Vec<u64>)> {
    let events = entries.iter().flat_map(|entry| &entry.events);
    events
        .filter_map(|event| match event {
            Event::Packets(PacketsEvent::PacketsFilled(filled)) => {
                Some((filled.first_packet, filled.amounts.to_vec()))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn packets_go_to_users_in_order_and_the_seed_is_revealed_at_the_end() {
    let mut bench = Bench::new();
    bench.check("PACKET.CREATE c EUR PLAN 100 4 DOUBLE_MEAN", &format!("APPLIED 4 100 {COMMITMENT}"));
    bench.check("PACKET.CREATE c EUR AMOUNTS 1 5", "CAMPAIGN_EXISTS c");
    bench.check("PACKET.CLAIM c u1", "APPLIED 1 35");
    bench.check("PACKET.CLAIM c u2", "APPLIED 2 14");
    bench.check("PACKET.CLAIM c u1", "ALREADY_CLAIMED 1 35");
    bench.check("PACKET.GET c", &format!("APPLIED c EUR 4 100 2 49 - - open {COMMITMENT} -"));
    bench.clock = 2_000;
    bench.check("PACKET.CLAIM c u3", "APPLIED 3 25");
    bench.check("PACKET.CLAIMED c u3", "APPLIED u3 3 25 2000");
    bench.check("PACKET.CLAIMED c u4", "CLAIM_NOT_FOUND u4");
    bench.check("PACKET.CLOSE c", &format!("APPLIED 3 1 26 {SEED}"));
    bench.clock = 2_500;
    let before = bench.digest();
    bench.check("PACKET.CLOSE c", &format!("APPLIED 3 1 26 {SEED}"));
    assert_eq!(bench.digest(), before);
    bench.check("PACKET.CLAIM c u4", "ENDED 2000 2500");
    bench.check("PACKET.CLAIM c u1", "ENDED 2000 2500");
    bench.check("PACKET.GET c", &format!("APPLIED c EUR 4 100 3 74 - - closed {COMMITMENT} {SEED}"));
    bench.check_fold();
}

#[test]
fn packets_that_nobody_claimed_leave_memory_when_the_campaign_is_closed() {
    let mut bench = small_steps();
    assert!(bench.run(&["PACKET.CREATE c EUR PLAN 120 12 EVEN"]).starts_with("APPLIED 12 120 "));
    for user in 1..=4 {
        bench.check(&format!("PACKET.CLAIM c u{user}"), &format!("APPLIED {user} 10"));
    }
    let pieces = |bench: &Bench| bench.machine.state().campaigns.pieces.iter().count();
    assert_eq!(pieces(&bench), 4);
    assert!(bench.run(&["PACKET.CLOSE c", "PACKET.CLOSE missing"]).starts_with("BATCH_REFUSED"));
    assert_eq!(pieces(&bench), 4, "rolled back");
    assert!(bench.run(&["PACKET.CLOSE c"]).starts_with("APPLIED 4 8 80 "));
    assert_eq!(pieces(&bench), 2, "those that hold claimed packets");
    bench.see("PACKET.CLAIMED c u4", "APPLIED u4 4 10 1000");
    bench.check("PACKET.CLAIM c u4", "ENDED 1000 1000");
    bench.check_fold();
}

#[test]
fn packets_that_an_earlier_version_kept_of_a_closed_campaign_leave_memory_at_the_next_load() {
    let mut bench = small_steps();
    assert!(bench.run(&["PACKET.CREATE c EUR PLAN 120 12 EVEN"]).starts_with("APPLIED 12 120 "));
    bench.check("PACKET.CLAIM c u1", "APPLIED 1 10");
    let id = |text: &str| Id::parse(text.as_bytes(), "campaign").expect("an id");
    let campaigns = &bench.machine.state().campaigns;
    let campaign = campaigns.get(&id("c")).expect("a campaign").clone();
    let claim = campaigns.claimed(&id("c"), &id("u1")).expect("a claim").0.clone();
    let mut state = State::new(StateSettings::default());
    for (name, closed_at) in [("c", Some(bench.clock)), ("open", None)] {
        state.campaigns.restore(id(name), Campaign { closed_at, ..campaign.clone() });
        (1..=12).for_each(|packet| state.campaigns.restore_packet(&id(name), packet, 10));
        state.campaigns.restore_claim(&id(name), id("u1"), claim.clone());
    }
    let earlier = Machine::with_state(state, 0, 1, 0);
    let loaded = Machine::load(StateSettings::default(), &snapshot(&earlier)).expect("the snapshot");
    let packets = |machine: &Machine| machine.state().campaigns.pieces.len();
    assert_eq!((packets(&earlier), packets(&loaded)), (24, 13), "one claimed, twelve of the open one");
    assert_eq!(loaded.state().digest(None), earlier.state().digest(None));
    assert_eq!(loaded.state().campaigns.claimed(&id("c"), &id("u1")), Some((&claim, 10)));
}

#[test]
fn amounts_are_claimed_as_given_until_none_is_left() {
    let mut bench = Bench::new();
    bench.check("PACKET.CREATE c EUR AMOUNTS 2 7 5", "APPLIED 2 12 -");
    bench.check("PACKET.CLAIM c u1", "APPLIED 1 7");
    bench.check("PACKET.CLAIM c u2", "APPLIED 2 5");
    let last = bench.entries().pop().expect("the claim");
    assert!(matches!(
        last.events[..],
        [Event::Packets(PacketsEvent::PacketsClaimed(_)), Event::Packets(PacketsEvent::PacketsExhausted(_))]
    ));
    bench.check("PACKET.CLAIM c u3", "EXHAUSTED 2");
    bench.check("PACKET.CLAIM c u2", "ALREADY_CLAIMED 2 5");
    bench.check("PACKET.GET c", "APPLIED c EUR 2 12 2 12 - - exhausted - -");
    bench.check("PACKET.CLOSE c", "APPLIED 2 0 0 -");
    bench.check_fold();
}

#[test]
fn claims_are_refused_outside_the_campaigns_time() {
    let mut bench = Bench::new();
    bench.check("PACKET.CLAIM c u", "CAMPAIGN_NOT_FOUND c");
    bench.check("PACKET.CLOSE c", "CAMPAIGN_NOT_FOUND c");
    bench.check("PACKET.GET c", "CAMPAIGN_NOT_FOUND c");
    bench.check("PACKET.CLAIMED c u", "CAMPAIGN_NOT_FOUND c");
    bench.check("PACKET.CREATE c EUR AMOUNTS 2 7 5 START 2000 END 3000", "APPLIED 2 12 -");
    bench.clock = 1_999;
    bench.check("PACKET.CLAIM c u", "NOT_STARTED 2000 1999");
    bench.check("PACKET.GET c", "APPLIED c EUR 2 12 0 0 2000 3000 not_started - -");
    bench.clock = 2_000;
    bench.check("PACKET.CLAIM c u", "APPLIED 1 7");
    bench.clock = 3_000;
    bench.check("PACKET.CLAIM c u", "ENDED 3000 3000");
    bench.check("PACKET.GET c", "APPLIED c EUR 2 12 1 7 2000 3000 ended - -");
    bench.check_fold();
}

#[test]
fn a_campaign_can_be_closed_before_it_starts() {
    let mut bench = Bench::new();
    bench.check("PACKET.CREATE c EUR AMOUNTS 2 7 5 START 2000 END 3000", "APPLIED 2 12 -");
    bench.check("PACKET.CLOSE c", "APPLIED 0 2 12 -");
    bench.check("PACKET.GET c", "APPLIED c EUR 2 12 0 0 2000 3000 closed - -");
    bench.check("PACKET.CLAIM c u", "NOT_STARTED 2000 1000");
    bench.clock = 2_000;
    bench.check("PACKET.CLAIM c u", "ENDED 1000 2000");
    bench.check_fold();
}

#[test]
fn whoever_follows_the_public_stream_can_recompute_the_cut() {
    let mut bench = Bench::new();
    bench.run(&["PACKET.CREATE c EUR PLAN 1000 4 DOUBLE_MEAN MIN 20 MAX 600"]);
    let given = filled(&bench.entries()).remove(0).1;
    bench.run(&["PACKET.CLOSE c"]);
    let entries = bench.entries();
    let [Event::Packets(PacketsEvent::PacketsCreated(created)), ..] = &entries[0].events[..] else {
        panic!("{entries:?}")
    };
    let [Event::Packets(PacketsEvent::PacketsClosed(closed))] = &entries[1].events[..] else {
        panic!("{entries:?}")
    };
    let names: Vec<_> = entries[1].events[0].fields().into_iter().map(|(name, _)| name).collect();
    assert!(["seed", "method", "min", "max"].iter().all(|name| names.contains(name)), "{names:?}");
    let plan = super::cut::Plan {
        total: created.total,
        count: created.count,
        method: closed.method.expect("a method"),
        min: closed.min,
        max: closed.max,
    };
    assert_eq!(plan.cut(&closed.seed.expect("a seed")), Ok(given));
    assert_eq!(created.commitment, closed.seed.map(|seed| plan.commitment(&seed)));
    let other = super::cut::Plan { min: plan.min + 1, ..plan };
    assert_ne!(created.commitment, closed.seed.map(|seed| other.commitment(&seed)), "the plan is fixed too");
}

#[test]
fn nothing_public_tells_what_is_still_to_be_drawn() {
    let mut bench = Bench::new();
    bench.run(&["PACKET.CREATE c EUR PLAN 100 4 DOUBLE_MEAN MIN 2 MAX 90"]);
    for entry in bench.entries() {
        for event in &entry.events {
            let names: Vec<_> = event.fields().into_iter().map(|(name, _)| name).collect();
            for secret in ["seed", "cut", "amounts", "min", "max"] {
                assert!(!names.contains(&secret), "{names:?}");
            }
        }
    }
    let envelope = Bench::envelope(&["PACKET.CREATE c EUR PLAN 100 4 DOUBLE_MEAN"]).expect("a cut");
    assert!(!format!("{envelope:?}").contains("[35"), "{envelope:?}");
}

#[test]
fn cuts_follow_from_campaign_operation_id_and_plan() {
    let amounts = |campaign: &str, id: &str, bounds: &str| {
        let mut bench = Bench::new();
        bench.run(&[&format!("PACKET.CREATE {campaign} EUR PLAN 1000000 5 LINE_CUT{bounds} ID {id}")]);
        filled(&bench.entries()).remove(0).1
    };
    let first = amounts("c1", "a", "");
    assert_eq!(first, amounts("c1", "a", ""));
    assert_ne!(first, amounts("c1", "b", ""));
    assert_ne!(first, amounts("c2", "a", ""));
    // Otherwise the maximum that is no longer refused would tell the largest packet of the open campaign.
    let largest = first.iter().max().expect("packets");
    assert_ne!(first, amounts("c1", "a", &format!(" MAX {largest}")));
    assert_ne!(first, amounts("c1", "a", &format!(" MAX {}", largest + 1)));
}

/// Campaigns that look alike from outside, each with other packets to be drawn, and the same claims.
fn alike(amounts: [&str; 2]) -> [Bench; 2] {
    amounts.map(|amounts| {
        let mut bench = Bench::new();
        bench.run(&[&format!("PACKET.CREATE c EUR AMOUNTS {amounts}")]);
        bench
    })
}

/// A protection that is taken away: what would be shown without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leak {
    /// Fields of events that are never public.
    SecretFields,
    /// What a dry run leaves out of the answer to a command.
    HiddenAnswer,
    /// A digest of all bytes of the state.
    WholeDigest,
}

/// What one leak adds to everything public.
fn leaked(bench: &mut Bench, leak: Leak) -> Vec<String> {
    match leak {
        Leak::SecretFields => bench
            .events()
            .into_iter()
            .map(|event| format!("{}: {:?}", event.spec().name, event.values()))
            .collect(),
        Leak::HiddenAnswer => vec![bench.copy().run(&["PACKET.CLAIM c someone"])],
        Leak::WholeDigest => vec![format!("{:x}", xxhash_rust::xxh3::xxh3_64(&bench.snapshot()))],
    }
}

/// Whatever a caller can ask of campaign `c`, and every event.
fn everything_public(bench: &mut Bench) -> Vec<String> {
    let asked: [&[&str]; 13] = [
        &["PACKET.GET c"],
        &["PACKET.CLAIMS c"],
        &["PACKET.CLAIMED c u1"],
        &["PACKET.CLAIMED c new"],
        &["PACKET.CLAIM c u1"],
        &["PACKET.CLAIM c new"],
        &["PACKET.CLOSE c"],
        &["PACKET.CREATE c EUR AMOUNTS 1 1"],
        &["PACKET.CLAIM c new", "PACKET.CLAIM c new"],
        &["PACKET.CLAIM c new", "PACKET.CLAIM c newer", "PACKET.CLOSE c"],
        &["PACKET.CLAIM c new", "STOCK.TAKE none 1 o"],
        &["DIGEST"],
        &["DIGEST c"],
    ];
    let answers = asked.map(|lines| format!("{lines:?}: {}", bench.foretell_all(lines)));
    let events =
        bench.events().into_iter().map(|event| format!("{}: {:?}", event.spec().name, event.fields()));
    answers.into_iter().chain(events).collect()
}

#[test]
fn nothing_that_can_be_asked_tells_apart_what_is_still_to_be_drawn() {
    let mut benches = alike(["4 5 1 3 2", "4 5 2 1 3"]);
    let [one, other] = benches.each_mut().map(everything_public);
    assert_eq!(one, other);
    benches.iter_mut().for_each(|bench| bench.check("PACKET.CLAIM c u1", "APPLIED 1 5"));
    let [one, other] = benches.each_mut().map(everything_public);
    assert_eq!(one, other, "one is known, and three are not");
}

/// The two campaigns differ wherever a protection is missing, so that the comparison above notices each.
#[test]
fn a_protection_that_is_taken_away_is_noticed() {
    for leak in [Leak::SecretFields, Leak::HiddenAnswer, Leak::WholeDigest] {
        let mut benches = alike(["4 5 1 3 2", "4 1 5 3 2"]);
        let [one, other] = benches.each_mut().map(everything_public);
        assert_eq!(one, other);
        let [one, other] = benches.each_mut().map(|bench| {
            let mut shown = everything_public(bench);
            shown.extend(leaked(bench, leak));
            shown
        });
        assert_ne!(one, other, "{leak:?}");
    }
}

#[test]
fn a_digest_tells_nothing_of_what_is_still_to_be_drawn() {
    let mut benches = alike(["4 5 1 3 2", "4 5 2 1 3"]);
    assert_eq!(benches[0].digest(), benches[1].digest());
    for bench in &mut benches {
        bench.check("PACKET.CLAIM c u1", "APPLIED 1 5");
    }
    assert_eq!(benches[0].digest(), benches[1].digest(), "one is known, and three are not");
    for bench in &mut benches {
        bench.run(&["PACKET.CLAIM c u2"]);
    }
    assert_ne!(benches[0].digest(), benches[1].digest(), "what was claimed counts");

    let mut bench = Bench::new();
    bench.run(&["PACKET.CREATE c EUR PLAN 100 4 DOUBLE_MEAN"]);
    let id = Id::parse(b"c", "campaign").expect("an id");
    let open = bench.machine.state().campaigns.get(&id).expect("the campaign").clone();
    let digest = |campaign: Campaign| {
        let mut state = State::new(StateSettings::default());
        state.campaigns.restore(id.clone(), campaign);
        state.digest(None)
    };
    assert_eq!(digest(open.clone()), digest(Campaign { seed: None, ..open.clone() }), "the seed is secret");
    let closed = Campaign { closed_at: Some(1), ..open };
    assert_ne!(digest(closed.clone()), digest(Campaign { seed: None, ..closed }), "it is revealed");
}

#[test]
fn a_long_campaign_is_laid_ready_in_steps() {
    let whole = {
        let mut bench = Bench::new();
        bench.run(&["PACKET.CREATE c EUR PLAN 1000 10 LINE_CUT"]);
        filled(&bench.entries()).remove(0).1
    };
    let mut bench = small_steps();
    assert!(bench.run(&["PACKET.CREATE c EUR PLAN 1000 10 LINE_CUT ID op"]).starts_with("APPLIED 10 1000 "));
    let entries = bench.entries();
    // It is created, and answered, with the first entry; the others belong to no operation.
    let heads = entries.iter().map(|entry| (entry.head.more, entry.head.operation.is_some()));
    assert_eq!(heads.collect::<Vec<_>>(), [(false, true), (false, false), (false, false), (false, false)]);
    let pieces = filled(&entries);
    assert_eq!(pieces.iter().map(|(first, _)| *first).collect::<Vec<_>>(), [1, 4, 7, 10]);
    let mut bench = small_steps();
    bench.run(&["PACKET.CREATE c EUR PLAN 1000 10 LINE_CUT"]);
    let laid: Vec<u64> = filled(&bench.entries()).into_iter().flat_map(|(_, amounts)| amounts).collect();
    assert_eq!(laid, whole);
    for (at, amount) in laid.iter().enumerate() {
        bench.check(&format!("PACKET.CLAIM c u{at}"), &format!("APPLIED {} {amount}", at + 1));
    }
    bench.check_fold();
}

/// Stops after each entry in turn and continues from the log.
fn check_interruptions(line: &str) {
    let mut bench = small_steps();
    bench.run(&[line]);
    let entries = bench.entries();
    assert!(entries.len() > 2, "{line}");
    for kept in 1..=entries.len() {
        let mut log: Vec<u8> = Vec::new();
        for entry in &entries[..kept] {
            Entry::write(&mut log, &entry.head, entry.outcome.as_ref(), &entry.events);
        }
        let mut machine = bench.fold(&entries[..kept]);
        let settings = machine.state().settings.clone();
        let mut loaded = Machine::load(settings, &snapshot(&machine)).expect("the snapshot");
        let mut log_of_loaded = log.clone();
        machine.finish(&mut log);
        loaded.finish(&mut log_of_loaded);
        assert_eq!(log, bench.log, "{line} after {kept}");
        assert_eq!(log_of_loaded, bench.log, "{line} after {kept}");
        assert_eq!(machine.state().digest(None), bench.digest());
        assert_eq!(snapshot(&machine), snapshot(&bench.machine));
    }
}

#[test]
fn an_interrupted_campaign_is_finished_as_it_began() {
    check_interruptions("PACKET.CREATE c EUR PLAN 1000 11 DOUBLE_MEAN MIN 5 MAX 300 ID op");
    check_interruptions("PACKET.CREATE c EUR PLAN 1000 12 LINE_CUT");
    check_interruptions("PACKET.CREATE c EUR AMOUNTS 10 1 2 3 4 5 6 7 8 9 10 ID op");
}

#[test]
fn a_campaign_begun_in_between_does_not_disturb_the_cut_of_another() {
    let mut bench = small_steps();
    let refused = bench.run(&["PACKET.CREATE c EUR PLAN 90 9 DOUBLE_MEAN", "PACKET.CLAIM c u"]);
    assert_eq!(refused, "BATCH_REFUSED 0 STEP_LIMIT [3]");
    assert!(bench.log.is_empty());
    assert!(bench.run(&["PACKET.CREATE c EUR PLAN 100 9 DOUBLE_MEAN"]).starts_with("APPLIED 9 100 "));
    let laid: Vec<u64> = filled(&bench.entries()).into_iter().flat_map(|(_, amounts)| amounts).collect();
    assert_eq!((laid.len(), laid.iter().sum::<u64>()), (9, 100));
    bench.check_fold();
}

#[test]
fn a_refused_batch_gives_no_packet_away() {
    let mut bench = Bench::new();
    bench.run(&["PACKET.CREATE c EUR AMOUNTS 2 7 5"]);
    let before = (bench.digest(), snapshot(&bench.machine));
    let refused = bench.run(&[
        "PACKET.CREATE d EUR AMOUNTS 1 3",
        "PACKET.CLAIM d u1",
        "PACKET.CLAIM c u1",
        "PACKET.CLOSE d",
        "PACKET.CLAIM c u1",
    ]);
    assert_eq!(refused, "BATCH_REFUSED 4 ALREADY_CLAIMED [1 7]");
    assert_eq!((bench.digest(), snapshot(&bench.machine)), before);
    let applied = bench.run(&["PACKET.CLAIM c u1", "PACKET.CLAIM c u2"]);
    assert_eq!(applied, "APPLIED [1 1 7] [1 2 5]");
    bench.check_fold();
}

#[test]
fn what_was_laid_ready_counts_and_not_what_a_cut_comes_to() {
    let mut bench = Bench::new();
    bench.run(&["PACKET.CREATE c EUR PLAN 10 2 EVEN"]);
    let mut entries = bench.entries();
    for event in &mut entries[0].events {
        if let Event::Packets(PacketsEvent::PacketsFilled(filled)) = event {
            filled.amounts = vec![9, 1].into();
        }
    }
    let mut old = Bench::new();
    old.machine = old.fold(&entries);
    old.check("PACKET.CLAIM c u", "APPLIED 1 9");
}

#[test]
fn amounts_beyond_one_event_are_refused() {
    let many = super::AMOUNTS_MAX + 1;
    let line = format!("PACKET.CREATE c EUR AMOUNTS {many}{}", " 1".repeat(many));
    assert_eq!(Bench::envelope(&[&line]).map_err(|invalid| invalid.argument), Err("amounts"));
}
