use crate::machine::bench::Bench;

/// 2024-02-29 00:00 UTC.
const LEAP_DAY: u64 = 1_709_164_800_000;
const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;

fn coupon(window: &str, at: u64) -> Bench {
    let mut bench = Bench::new();
    bench.clock = at;
    bench.check(&format!("COUPON.CREATE c LIMIT l 1 PER user WINDOW {window}"), "APPLIED 1");
    bench
}

/// One claim is accepted at `at`, no other until `ends_at`, and one from then on.
fn check_window(window: &str, at: u64, ends_at: u64) {
    let mut bench = coupon(window, at);
    bench.check("COUPON.CLAIM c USER u", "APPLIED 1 -");
    for stamp in [at, ends_at - 1] {
        bench.clock = stamp;
        bench.check("COUPON.CLAIM c USER u", &format!("LIMIT_REACHED l 1 1 {ends_at}"));
    }
    bench.clock = ends_at;
    bench.check("COUPON.CLAIM c USER u", "APPLIED 2 -");
    bench.check_fold();
}

#[test]
fn a_month_ends_after_the_leap_day() {
    check_window("month", LEAP_DAY, LEAP_DAY + DAY);
    check_window("month", LEAP_DAY - 28 * DAY, LEAP_DAY + DAY);
    check_window("month", LEAP_DAY - 29 * DAY, LEAP_DAY - 28 * DAY);
}

#[test]
fn offsets_move_the_end_of_a_month_and_a_day() {
    check_window("month OFFSET 480", LEAP_DAY, LEAP_DAY + 16 * HOUR);
    check_window("month OFFSET -300", LEAP_DAY + DAY, LEAP_DAY + DAY + 5 * HOUR);
    check_window("day OFFSET 345", LEAP_DAY, LEAP_DAY + 18 * HOUR + HOUR / 4);
    check_window("hour OFFSET 330", LEAP_DAY, LEAP_DAY + HOUR / 2);
}

#[test]
fn weeks_begin_on_monday() {
    // The leap day was a Thursday.
    check_window("week", LEAP_DAY, LEAP_DAY + 4 * DAY);
    check_window("week", LEAP_DAY + 4 * DAY, LEAP_DAY + 11 * DAY);
    check_window("week OFFSET 60", LEAP_DAY + 3 * DAY, LEAP_DAY + 4 * DAY - HOUR);
}

#[test]
fn fixed_windows_count_from_the_epoch() {
    check_window("7000", 6_999, 7_000);
    check_window("7000", 7_000, 14_000);
    check_window("9007199254740991", 7_000, 9_007_199_254_740_991);
}

#[test]
fn what_is_given_back_late_does_not_help_the_next_window() {
    let mut bench = coupon("month", LEAP_DAY);
    bench.check("COUPON.CLAIM c USER u", "APPLIED 1 -");
    bench.check("COUPON.CLAIM c USER v", "APPLIED 2 -");
    bench.clock = LEAP_DAY + DAY - 1;
    bench.check("COUPON.REVOKE c 1 GIVEBACK", "APPLIED 1");
    bench.check("COUPON.CLAIM c USER u", "APPLIED 3 -");
    bench.clock = LEAP_DAY + DAY;
    bench.check("COUPON.CLAIM c USER v", "APPLIED 4 -");
    bench.check("COUPON.REVOKE c 2 GIVEBACK", "APPLIED 0");
    bench.check("COUPON.CLAIM c USER v", "LIMIT_REACHED l 1 1 1711929600000");
    bench.check("COUPON.REVOKE c 4 GIVEBACK", "APPLIED 1");
    bench.check("COUPON.CLAIM c USER v", "APPLIED 5 -");
    bench.check_fold();
}

#[test]
fn a_claim_without_event_still_sees_the_window_turn() {
    let mut bench = coupon("1000", 1_000);
    bench.check("COUPON.CLAIM c USER u", "APPLIED 1 -");
    bench.check("COUPON.CHECK c USER u", "LIMIT_REACHED l 1 1 2000");
    bench.clock = 2_000;
    bench.check("COUPON.CHECK c USER u", "APPLIED");
}
