use crate::machine::bench::{Bench, snapshot};
use crate::types::INTEGER_MAX;

const DAY: u64 = 86_400_000;

fn classic() -> Bench {
    let mut bench = Bench::new();
    bench.check(
        "COUPON.CREATE c LIMIT total 5 PER - WINDOW none LIMIT user 3 PER user WINDOW none \
         LIMIT daily 2 PER user WINDOW day",
        "APPLIED 3",
    );
    bench
}

/// Sends `COUPON.CHECK` and then claims: both must give the same answer.
fn claim(bench: &mut Bench, subject: &str, expected: &str) {
    let checked = bench.run(&[&format!("COUPON.CHECK c {subject}")]);
    if expected.starts_with("APPLIED") {
        assert_eq!(checked, "APPLIED", "{subject}");
    } else {
        assert_eq!(checked, expected, "{subject}");
    }
    bench.check(&format!("COUPON.CLAIM c {subject}"), expected);
}

#[test]
fn the_three_classic_limits_count() {
    let mut bench = classic();
    bench.check("COUPON.CREATE c LIMIT total 5 PER - WINDOW none", "COUPON_EXISTS c");
    claim(&mut bench, "USER u", "APPLIED 1 -");
    claim(&mut bench, "USER u", "APPLIED 2 -");
    claim(&mut bench, "USER u", "LIMIT_REACHED daily 2 2 86400000");
    bench.clock = DAY - 1;
    claim(&mut bench, "USER u", "LIMIT_REACHED daily 2 2 86400000");
    bench.clock = DAY;
    claim(&mut bench, "USER u", "APPLIED 3 -");
    claim(&mut bench, "USER u", "LIMIT_REACHED user 3 3 -");
    claim(&mut bench, "USER v", "APPLIED 4 -");
    claim(&mut bench, "USER w DEVICE d", "APPLIED 5 -");
    claim(&mut bench, "USER x", "LIMIT_REACHED total 5 5 -");
    bench.check(
        "COUPON.GET c",
        "APPLIED c open 5 - - - [[total 5 [] NONE -] [user 3 [user] NONE -] [daily 2 [user] DAY 0]]",
    );
    bench.check_fold();
}

#[test]
fn subjects_name_what_limits_count_by() {
    let mut bench = Bench::new();
    bench.check(
        "COUPON.CREATE c LIMIT none 0 PER - WINDOW none LIMIT pair 1 PER user,store WINDOW none \
         LIMIT device 1 PER device WINDOW none",
        "APPLIED 3",
    );
    claim(&mut bench, "USER u", "SUBJECT_INCOMPLETE pair store");
    claim(&mut bench, "USER u STORE s", "SUBJECT_INCOMPLETE device device");
    claim(&mut bench, "USER u STORE s DEVICE d", "LIMIT_REACHED none 0 0 -");
    bench.check("COUPON.UPDATE c LIMIT none 10", "APPLIED 3");
    claim(&mut bench, "USER u DEVICE d1 STORE s", "APPLIED 1 -");
    claim(&mut bench, "USER u DEVICE d2 STORE s", "LIMIT_REACHED pair 1 1 -");
    claim(&mut bench, "USER u STORE t DEVICE d1", "LIMIT_REACHED device 1 1 -");
    claim(&mut bench, "USER s STORE u DEVICE d2", "APPLIED 2 -");
    bench.check_fold();
}

#[test]
fn claims_are_refused_in_order() {
    let mut bench = Bench::new();
    claim(&mut bench, "USER u", "COUPON_NOT_FOUND c");
    bench.check("COUPON.GET c", "COUPON_NOT_FOUND c");
    bench.check("COUPON.PAUSE c", "COUPON_NOT_FOUND c");
    bench.check("COUPON.RESUME c", "COUPON_NOT_FOUND c");
    bench.check("COUPON.CREATE c LIMIT t 0 PER store WINDOW none START 2000 END 3000", "APPLIED 1");
    claim(&mut bench, "USER u", "NOT_STARTED 2000 1000");
    bench.check("COUPON.GET c", "APPLIED c not_started 0 2000 3000 - [[t 0 [store] NONE -]]");
    bench.check("COUPON.PAUSE c", "APPLIED paused");
    claim(&mut bench, "USER u", "COUPON_PAUSED c");
    let before = bench.machine.sequence();
    bench.check("COUPON.PAUSE c", "APPLIED paused");
    assert_eq!(bench.machine.sequence(), before);
    bench.check("COUPON.GET c", "APPLIED c paused 0 2000 3000 - [[t 0 [store] NONE -]]");
    bench.check("COUPON.RESUME c", "APPLIED open");
    bench.check("COUPON.RESUME c", "APPLIED open");
    bench.clock = 2_999;
    claim(&mut bench, "USER u", "SUBJECT_INCOMPLETE t store");
    claim(&mut bench, "USER u STORE s", "LIMIT_REACHED t 0 0 -");
    bench.clock = 3_000;
    claim(&mut bench, "USER u", "ENDED 3000 3000");
    bench.check("COUPON.GET c", "APPLIED c ended 0 2000 3000 - [[t 0 [store] NONE -]]");
    bench.check_fold();
}

#[test]
fn limits_change_while_the_coupon_runs() {
    let mut bench = classic();
    bench.check("COUPON.UPDATE d LIMIT total 1", "COUPON_NOT_FOUND d");
    claim(&mut bench, "USER u", "APPLIED 1 -");
    claim(&mut bench, "USER u", "APPLIED 2 -");
    bench.check("COUPON.UPDATE c LIMIT daily 4 LIMIT user 2 PER user WINDOW none", "APPLIED 3");
    claim(&mut bench, "USER u", "LIMIT_REACHED user 2 2 -");
    bench.check("COUPON.UPDATE c LIMIT user 9", "APPLIED 3");
    claim(&mut bench, "USER u", "APPLIED 3 -");
    bench.check("COUPON.UPDATE c LIMIT total 1", "APPLIED 3");
    claim(&mut bench, "USER v", "LIMIT_REACHED total 3 1 -");
    let before = (bench.digest(), bench.machine.sequence());
    bench.check("COUPON.UPDATE c LIMIT total 1", "APPLIED 3");
    bench.check(
        "COUPON.UPDATE c LIMIT total 9 LIMIT user 9 PER - WINDOW none",
        "INVALID limits keep their dimensions and window; add a limit of another name",
    );
    bench.check(
        "COUPON.UPDATE c LIMIT daily 9 PER user WINDOW day OFFSET 60",
        "INVALID limits keep their dimensions and window; add a limit of another name",
    );
    bench.check(
        "COUPON.UPDATE c LIMIT total 9 LIMIT new 9",
        "INVALID limits that are new need PER dimensions|- WINDOW window",
    );
    assert_eq!((bench.digest(), bench.machine.sequence()), before);
    bench.check("COUPON.UPDATE c LIMIT total 9 LIMIT new 1 PER user WINDOW hour", "APPLIED 4");
    claim(&mut bench, "USER u", "APPLIED 4 -");
    claim(&mut bench, "USER u", "LIMIT_REACHED daily 4 4 86400000");
    bench.check("COUPON.UPDATE c LIMIT daily 9", "APPLIED 4");
    claim(&mut bench, "USER u", "LIMIT_REACHED new 1 1 3600000");
    bench.check_fold();
}

#[test]
fn a_coupon_has_sixteen_limits_at_most() {
    let mut bench = classic();
    let names: Vec<_> = (0..14).map(|at| format!(" LIMIT l{at} 1 PER - WINDOW none")).collect();
    bench.check(&format!("COUPON.UPDATE c{}", names.concat()), "INVALID limits would be more than 16");
    bench.check(&format!("COUPON.UPDATE c{}", names[..13].concat()), "APPLIED 16");
    claim(&mut bench, "USER u", "APPLIED 1 -");
    bench.check_fold();
}

#[test]
fn a_claim_is_used_once_by_its_owner() {
    let mut bench = classic();
    bench.check("COUPON.REDEEM c 1 u", "CLAIM_NOT_FOUND 1");
    bench.check("COUPON.REDEEM d 1 u", "CLAIM_NOT_FOUND 1");
    bench.check("COUPON.REVOKE d 1", "CLAIM_NOT_FOUND 1");
    bench.check("COUPON.CLAIMED c 1", "CLAIM_NOT_FOUND 1");
    claim(&mut bench, "USER u", "APPLIED 1 -");
    bench.check("COUPON.CLAIMED c 1", "APPLIED 1 u open 1000 -");
    bench.check("COUPON.REDEEM c 1 v", "NOT_OWNER");
    bench.check("COUPON.PAUSE c", "APPLIED paused");
    bench.check("COUPON.REDEEM c 1 u", "APPLIED 1");
    bench.check("COUPON.CLAIMED c 1", "APPLIED 1 u redeemed 1000 -");
    bench.check("COUPON.REDEEM c 1 v", "NOT_OWNER");
    bench.check("COUPON.REDEEM c 1 u", "CLAIM_REDEEMED 1");
    bench.check("COUPON.REVOKE c 1 GIVEBACK", "CLAIM_REDEEMED 1");
    bench.check("COUPON.RESUME c", "APPLIED open");
    claim(&mut bench, "USER u", "APPLIED 2 -");
    bench.check("COUPON.REVOKE c 2", "APPLIED 0");
    bench.check("COUPON.CLAIMED c 2", "APPLIED 2 u revoked 1000 -");
    bench.check("COUPON.REDEEM c 2 u", "CLAIM_REVOKED 2");
    bench.check("COUPON.REVOKE c 2", "CLAIM_REVOKED 2");
    claim(&mut bench, "USER u", "LIMIT_REACHED daily 2 2 86400000");
    bench.check_fold();
}

#[test]
fn a_revoked_claim_is_given_back_where_its_window_still_runs() {
    let mut bench = classic();
    claim(&mut bench, "USER u", "APPLIED 1 -");
    claim(&mut bench, "USER u", "APPLIED 2 -");
    bench.check("COUPON.REVOKE c 1 GIVEBACK", "APPLIED 3");
    claim(&mut bench, "USER u", "APPLIED 3 -");
    claim(&mut bench, "USER u", "LIMIT_REACHED daily 2 2 86400000");
    bench.check("COUPON.UPDATE c LIMIT later 1 PER user WINDOW none", "APPLIED 4");
    bench.clock = DAY;
    claim(&mut bench, "USER u", "APPLIED 4 -");
    claim(&mut bench, "USER u", "LIMIT_REACHED user 3 3 -");
    // Yesterday's window is over, and the limit that was added later never counted this claim.
    bench.check("COUPON.REVOKE c 2 GIVEBACK", "APPLIED 2");
    claim(&mut bench, "USER u", "LIMIT_REACHED later 1 1 -");
    bench.check("COUPON.UPDATE c LIMIT later 2", "APPLIED 4");
    claim(&mut bench, "USER u", "APPLIED 5 -");
    bench.check("COUPON.REVOKE c 5 GIVEBACK", "APPLIED 4");
    claim(&mut bench, "USER u", "APPLIED 6 -");
    bench.check_fold();
}

#[test]
fn claims_expire_at_their_deadline_and_give_nothing_back() {
    let mut bench = Bench::new();
    bench.check("COUPON.CREATE c LIMIT t 2 PER - WINDOW none END 1500 CLAIMTTL 1000", "APPLIED 1");
    claim(&mut bench, "USER u", "APPLIED 1 2000");
    claim(&mut bench, "USER u", "APPLIED 2 2000");
    bench.clock = 1_999;
    bench.check("COUPON.REDEEM c 1 u", "APPLIED 1");
    bench.clock = 2_000;
    bench.check("COUPON.CLAIMED c 1", "APPLIED 1 u redeemed 1000 2000");
    bench.check("COUPON.CLAIMED c 2", "APPLIED 2 u expired 1000 2000");
    bench.check("COUPON.REDEEM c 2 v", "NOT_OWNER");
    bench.check("COUPON.REDEEM c 2 u", "CLAIM_EXPIRED 2 2000");
    bench.check("COUPON.REVOKE c 2 GIVEBACK", "CLAIM_EXPIRED 2 2000");
    bench.check_fold();
}

#[test]
fn ended_claims_answer_for_one_retention_window() {
    let mut bench = Bench::new();
    bench.check("COUPON.CREATE c LIMIT t 9 PER - WINDOW none CLAIMTTL 1000", "APPLIED 1");
    bench.check("COUPON.CREATE d LIMIT t 9 PER - WINDOW none", "APPLIED 1");
    for line in ["c USER u", "c USER u", "d USER u", "d USER u"] {
        bench.run(&[&format!("COUPON.CLAIM {line}")]);
    }
    bench.clock = 1_500;
    bench.check("COUPON.REDEEM c 1 u", "APPLIED 1");
    bench.check("COUPON.REVOKE d 1", "APPLIED 0");
    let retention = 24 * 3_600_000;
    bench.clock = 1_499 + retention;
    bench.check("COUPON.REDEEM c 1 u", "CLAIM_REDEEMED 1");
    bench.check("COUPON.REDEEM d 1 u", "CLAIM_REVOKED 1");
    bench.clock = 1_500 + retention;
    for line in ["c 1", "d 1"] {
        bench.check(&format!("COUPON.REDEEM {line} u"), "CLAIM_NOT_FOUND 1");
        bench.check(&format!("COUPON.CLAIMED {line}"), "CLAIM_NOT_FOUND 1");
    }
    bench.check("COUPON.REDEEM c 2 u", "CLAIM_EXPIRED 2 2000");
    bench.clock = 2_000 + retention;
    bench.check("COUPON.REVOKE c 2", "CLAIM_NOT_FOUND 2");
    assert_eq!(bench.machine.state().coupons.claims.len(), 4);
    // The next entry drops them, with no visible effect.
    bench.check("COUPON.REDEEM d 2 u", "APPLIED 2");
    assert_eq!(bench.machine.state().coupons.claims.len(), 1);
    bench.check("COUPON.CLAIM c USER u", &format!("APPLIED 3 {}", bench.clock + 1_000));
    bench.check_fold();
}

#[test]
fn counters_of_ended_windows_are_forgotten() {
    let mut bench = Bench::new();
    bench.clock = 10 * DAY;
    bench.check("COUPON.CREATE c LIMIT h 1 PER user WINDOW hour LIMIT f 1 PER user WINDOW 1000", "APPLIED 2");
    for user in 0..5 {
        bench.run(&[&format!("COUPON.CLAIM c USER u{user}")]);
    }
    let running = |bench: &Bench, now: u64| bench.machine.state().coupons.counters.running(now).count();
    assert_eq!((running(&bench, bench.clock + 999), running(&bench, bench.clock + 1_000)), (10, 5));
    bench.clock += 3_600_000;
    bench.check("COUPON.PAUSE c", "APPLIED paused");
    bench.check("COUPON.RESUME c", "APPLIED open");
    assert_eq!(running(&bench, 0), 0);
    bench.check_fold();
}

#[test]
fn a_refused_batch_counts_nothing() {
    let mut bench = classic();
    bench.run(&["COUPON.CLAIM c USER u"]);
    let before = (bench.digest(), snapshot(&bench.machine));
    let refused = bench.run(&[
        "COUPON.CREATE d LIMIT t 1 PER - WINDOW none CLAIMTTL 5",
        "COUPON.CLAIM d USER u",
        "COUPON.REDEEM d 1 u",
        "COUPON.UPDATE c LIMIT total 6 LIMIT new 1 PER user WINDOW hour",
        "COUPON.REVOKE c 1 GIVEBACK",
        "COUPON.CLAIM c USER u",
        "COUPON.PAUSE c",
        "COUPON.CLAIM c USER v",
    ]);
    assert_eq!(refused, "BATCH_REFUSED 7 COUPON_PAUSED [c]");
    assert_eq!((bench.digest(), snapshot(&bench.machine)), before);
    let applied =
        bench.run(&["COUPON.CLAIM c USER u", "COUPON.REVOKE c 1 GIVEBACK", "COUPON.CLAIM c USER u"]);
    assert_eq!(applied, "APPLIED [1 2 -] [1 3] [1 3 -]");
    bench.check("COUPON.CLAIM c USER u", "LIMIT_REACHED daily 2 2 86400000");
    bench.check_fold();
}

#[test]
fn a_copy_of_a_claim_counts_once() {
    let mut bench = classic();
    bench.check("COUPON.CLAIM c USER u DEVICE d ID op", "APPLIED 1 -");
    bench.check("COUPON.CLAIM c USER u DEVICE d ID op", "APPLIED 1 -");
    bench.check("COUPON.CLAIM c USER u DEVICE e ID op", "ID_REUSED op");
    bench.check(
        "COUPON.GET c",
        "APPLIED c open 1 - - - [[total 5 [] NONE -] [user 3 [user] NONE -] [daily 2 [user] DAY 0]]",
    );
}

#[test]
fn serials_end_with_the_range_of_integers() {
    let mut bench = Bench::new();
    bench.run(&["COUPON.CREATE c LIMIT t 9 PER - WINDOW none"]);
    bench.run(&["COUPON.CLAIM c USER u"]);
    let mut entries = bench.entries();
    if let crate::event::Event::Coupon(crate::event::CouponEvent::CouponClaimed(claimed)) =
        &mut entries[1].events[0]
    {
        claimed.serial = INTEGER_MAX - 1;
    }
    bench.machine = bench.fold(&entries);
    claim(&mut bench, "USER u", &format!("APPLIED {INTEGER_MAX} -"));
    claim(&mut bench, "USER u", "OVERFLOW serial");
}
