use crate::machine::ClockChange;
use crate::machine::bench::Bench;
use crate::state::StateSettings;

const RETENTION_MS: u64 = 720;

fn short_retention() -> Bench {
    Bench::with(StateSettings { receipt_retention_ms: RETENTION_MS, ..StateSettings::default() })
}

/// Records of all kinds but remembered operations, and what is due.
fn sizes(bench: &Bench) -> [usize; 2] {
    let state = bench.machine.state();
    [state.record_count(), state.deadlines.len()]
}

fn expire_all(bench: &mut Bench) -> usize {
    bench.machine.expire(10_000, bench.clock, &mut bench.log)
}

#[test]
fn a_campaign_leaves_nothing_but_its_figures() {
    let mut bench = short_retention();
    let empty = sizes(&bench);
    assert!(
        bench.run(&["PACKET.CREATE c EUR PLAN 10000 2500 EVEN END 50000"]).starts_with("APPLIED 2500 10000 ")
    );
    for user in 1..=1_200 {
        bench.check(&format!("PACKET.CLAIM c u{user}"), &format!("APPLIED {user} 4"));
    }
    bench.clock = 50_000 + RETENTION_MS;
    // 150 events of eight claims, with the last of them 24 of the 1300 others, and then 24 at a time.
    assert_eq!(expire_all(&mut bench), 150 + (1_300_usize - 24).div_ceil(24));
    assert_eq!(expire_all(&mut bench), 0);
    assert_eq!(sizes(&bench), [empty[0] + 1, empty[1]], "the campaign alone");
    bench.check_fold();
    bench.see("PACKET.CLAIMS c", "CLAIMS_EXPIRED c");
    bench.check("PACKET.CLAIM c u1", &format!("ENDED 50000 {}", bench.clock));
    assert!(bench.run(&["PACKET.CLOSE c"]).starts_with("APPLIED 1200 1300 5200 "));
    assert_eq!(bench.machine.state().deadlines.len(), 0);
    bench.check_fold();
}

#[test]
fn what_is_left_of_a_campaign_goes_on_leaving_after_a_restart() {
    let mut bench = short_retention();
    assert!(bench.run(&["PACKET.CREATE c EUR PLAN 400 100 EVEN"]).starts_with("APPLIED"));
    for user in 1..=20 {
        bench.check(&format!("PACKET.CLAIM c u{user}"), &format!("APPLIED {user} 4"));
    }
    assert!(bench.run(&["PACKET.CLOSE c"]).starts_with("APPLIED 20 80 320 "));
    bench.clock += RETENTION_MS;
    assert_eq!(bench.machine.expire(1, bench.clock, &mut bench.log), 1);
    bench.check_fold();
    let mut copy = bench.copy();
    assert_eq!(copy.image(), bench.image());
    assert_eq!(expire_all(&mut copy), expire_all(&mut bench));
    assert_eq!(copy.image(), bench.image());
}

#[test]
fn no_user_gets_a_second_packet_when_the_clock_is_put_back() {
    let mut bench = short_retention();
    bench.check("PACKET.CREATE c EUR AMOUNTS 2 5 6 END 5000", "APPLIED 2 11 -");
    bench.check("PACKET.CLAIM c u1", "APPLIED 1 5");
    bench.clock = 5_000 + RETENTION_MS;
    assert_eq!(expire_all(&mut bench), 1);
    let back = ClockChange::Moved { from_ms: bench.clock, to_ms: 2_000 };
    bench.machine.change_clock(back, &mut bench.log);
    bench.clock = 2_000;
    bench.check("PACKET.CLAIM c u1", "ENDED 5000 2000");
    bench.check("PACKET.CLAIM c u2", "ENDED 5000 2000");
    bench.see("PACKET.CLAIMED c u1", "CLAIMS_EXPIRED c");
    bench.check_fold();
}

#[test]
fn time_that_nothing_confirms_lets_no_claim_leave() {
    let mut bench = short_retention();
    bench.check("PACKET.CREATE c EUR AMOUNTS 2 5 6 END 5000", "APPLIED 2 11 -");
    bench.check("PACKET.CLAIM c u1", "APPLIED 1 5");
    let ahead = ClockChange::Doubted { from_ms: bench.clock, to_ms: 100_000 };
    bench.machine.change_clock(ahead, &mut bench.log);
    bench.clock = 100_000;
    assert_eq!(expire_all(&mut bench), 0);
    bench.see("PACKET.CLAIMED c u1", "APPLIED u1 1 5 1000");
    bench.machine.change_clock(ClockChange::Confirmed, &mut bench.log);
    bench.see("PACKET.CLAIMED c u1", "CLAIMS_EXPIRED c");
    assert_eq!(expire_all(&mut bench), 1);
}

#[test]
fn a_batch_that_is_refused_changes_no_time_at_which_packets_leave() {
    let mut bench = short_retention();
    bench.check("PACKET.CREATE c EUR AMOUNTS 1 5 END 5000", "APPLIED 1 5 -");
    let before = bench.image();
    assert!(bench.run(&["PACKET.CLOSE c", "PACKET.CLOSE missing"]).starts_with("BATCH_REFUSED"));
    assert!(bench.foretell("PACKET.CLOSE c").starts_with("APPLIED"));
    assert_eq!(bench.image(), before);
}
