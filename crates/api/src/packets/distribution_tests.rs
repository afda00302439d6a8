//! Whether cuts follow the distributions of their methods. Seeds are fixed, so a test always passes or always
//! fails. The distributions are computed here from docs/reference/red-packets.md and share no code with the
//! cut.

#![allow(clippy::cast_precision_loss, reason = "frequencies")]

use std::collections::BTreeMap;

use scarce_core::command::shapes::Method;
use scarce_core::packets::cut::Plan;

/// The number of cuts in a test.
const CUTS: u64 = 20_000;

fn plan(method: Method, total: u64, count: u64) -> Plan {
    Plan { total, count, method, min: 1, max: None }
}

/// Cuts with consecutive numbers as seeds.
fn cuts(plan: Plan) -> impl Iterator<Item = Vec<u64>> {
    (0..CUTS).map(move |number| {
        let mut seed = [0x5a; 32];
        seed[..8].copy_from_slice(&number.to_le_bytes());
        plan.cut(&seed).expect("a cut")
    })
}

/// The probability of each outcome.
type Law<T> = BTreeMap<T, f64>;

/// Pearson's statistic merges outcomes until at least this many are expected.
const EXPECTED_MIN: f64 = 8.0;

/// Fails if the observation is so unlikely that at most one of 10 000 such tests would show it.
fn check_law<T: Ord + Copy + std::fmt::Debug>(what: &str, law: &Law<T>, observed: impl Iterator<Item = T>) {
    let mut counts: BTreeMap<T, u64> = BTreeMap::new();
    observed.for_each(|outcome| *counts.entry(outcome).or_default() += 1);
    let total = counts.values().sum::<u64>() as f64;
    assert!((law.values().sum::<f64>() - 1.0).abs() < 1e-9, "{what}: the law is none");
    for outcome in counts.keys() {
        assert!(law.contains_key(outcome), "{what}: {outcome:?} cannot happen");
    }
    let (mut statistic, mut groups) = (0.0, 0.0);
    let (mut expected, mut seen) = (0.0, 0.0);
    for (at, (outcome, chance)) in law.iter().enumerate() {
        expected += chance * total;
        seen += counts.get(outcome).copied().unwrap_or(0) as f64;
        let rest = law.values().skip(at + 1).sum::<f64>() * total;
        if (expected >= EXPECTED_MIN && rest >= EXPECTED_MIN) || at + 1 == law.len() {
            statistic += (seen - expected) * (seen - expected) / expected;
            groups += 1.0;
            (expected, seen) = (0.0, 0.0);
        }
    }
    let limit = chi_square_limit(groups - 1.0);
    assert!(statistic <= limit, "{what}: χ² is {statistic:.1} with {groups} groups, at most {limit:.1}");
}

/// The value that χ² exceeds in one of 10 000 cases, by the Wilson–Hilferty approximation.
fn chi_square_limit(freedom: f64) -> f64 {
    const NORMAL_QUANTILE: f64 = 3.719;
    let part = 2.0 / (9.0 * freedom);
    freedom * (1.0 - part + NORMAL_QUANTILE * part.sqrt()).powi(3)
}

/// Every outcome is equally likely.
fn alike<T: Ord>(outcomes: impl IntoIterator<Item = T>) -> Law<T> {
    let outcomes: Vec<_> = outcomes.into_iter().collect();
    let chance = 1.0 / outcomes.len() as f64;
    outcomes.into_iter().map(|outcome| (outcome, chance)).collect()
}

/// Each packet of a cut of the line: among all ways to write the total as that many positive numbers, C(total
/// − x − 1, count − 2) have x at a given position, of C(total − 1, count − 1).
fn line_cut_law(total: u64, count: u64) -> Law<u64> {
    let ways = |from: u64, choose: u64| {
        (0..choose).map(|at| (from - at) as f64 / (choose - at) as f64).product::<f64>()
    };
    let all = ways(total - 1, count - 1);
    (1..=total - count + 1).map(|amount| (amount, ways(total - amount - 1, count - 2) / all)).collect()
}

/// Each packet by double mean: each draw depends on what remains, and the order is shuffled.
fn double_mean_law(plan: &Plan) -> Law<u64> {
    fn draw(plan: &Plan, remaining: u64, left: u64, chance: f64, law: &mut Law<u64>) {
        let share = 1.0 / plan.count as f64;
        if left == 1 {
            *law.entry(remaining).or_default() += chance * share;
            return;
        }
        let (later, max) = (left - 1, plan.max.unwrap_or(u64::MAX / 1_000));
        let least = plan.min.max(remaining.saturating_sub(max * later));
        let most = (2 * remaining / left - 1).min(remaining - plan.min * later).min(max);
        let each = chance / (most - least + 1) as f64;
        for packet in least..=most {
            *law.entry(packet).or_default() += each * share;
            draw(plan, remaining - packet, later, each, law);
        }
    }
    let mut law = Law::new();
    draw(plan, plan.total, plan.count, 1.0, &mut law);
    law
}

#[test]
fn pieces_of_a_line_have_their_known_density_at_every_place() {
    let plan = plan(Method::LineCut, 100, 5);
    let law = line_cut_law(100, 5);
    for place in [0, 2, 4] {
        check_law(&format!("place {place}"), &law, cuts(plan).map(|cut| cut[place]));
    }
}

#[test]
fn a_minimum_only_lifts_the_pieces_of_a_line() {
    let lifted = Plan { min: 4, ..plan(Method::LineCut, 100, 5) };
    let law = line_cut_law(85, 5).into_iter().map(|(amount, chance)| (amount + 3, chance)).collect();
    check_law("lifted", &law, cuts(lifted).map(|cut| cut[0]));
}

#[test]
fn a_maximum_leaves_the_cuts_of_the_line_that_keep_to_it() {
    let bounded = Plan { max: Some(20), ..plan(Method::LineCut, 40, 3) };
    let triples = || (1..=38_u64).flat_map(|a| (1..=38_u64).map(move |b| (a, b)));
    let kept = triples().filter(|(a, b)| a + b < 40 && *a <= 20 && *b <= 20 && 40 - a - b <= 20);
    check_law("bounded", &alike(kept), cuts(bounded).map(|cut| (cut[0], cut[1])));
}

#[test]
fn packets_by_double_mean_follow_the_rule_at_every_place() {
    let free = plan(Method::DoubleMean, 40, 4);
    let bounded = Plan { min: 3, max: Some(14), ..free };
    for plan in [free, bounded] {
        let law = double_mean_law(&plan);
        for place in 0..4 {
            check_law(&format!("{plan:?}, place {place}"), &law, cuts(plan).map(|cut| cut[place]));
        }
        let expected = law.iter().map(|(amount, chance)| *amount as f64 * chance).sum::<f64>();
        assert!((expected - 10.0).abs() < 1e-9, "whoever comes when may expect the mean: {expected}");
    }
}

#[test]
fn two_packets_by_double_mean_are_cut_anywhere_alike() {
    let law = alike(1..=50_u64);
    check_law("two packets", &law, cuts(plan(Method::DoubleMean, 51, 2)).map(|cut| cut[0]));
}

#[test]
fn the_larger_of_equal_packets_are_anywhere_alike() {
    // Two of five packets get one more: each pair of positions is equally likely.
    let pairs = (0..5_usize).flat_map(|first| (first + 1..5).map(move |second| (first, second)));
    let larger = |cut: Vec<u64>| {
        let places: Vec<_> = (0..5).filter(|at| cut[*at] == 21).collect();
        (places[0], places[1])
    };
    check_law("pairs", &alike(pairs), cuts(plan(Method::Even, 102, 5)).map(larger));
}

#[test]
fn the_largest_packet_is_anywhere_alike() {
    for method in [Method::DoubleMean, Method::LineCut] {
        // If two are equally large, there is no largest one.
        let largest = |cut: Vec<u64>| {
            let max = cut.iter().max().copied()?;
            let mut places = (0..cut.len()).filter(|at| cut[*at] == max);
            places.next().filter(|_| places.next().is_none())
        };
        let plan = plan(method, 60_000, 6);
        check_law(&format!("{method:?}"), &alike(0..6_usize), cuts(plan).filter_map(largest));
    }
}

#[test]
fn the_test_itself_finds_a_bias() {
    let biased = (0..CUTS).map(|number| number * number % 11);
    let found = std::panic::catch_unwind(|| check_law("biased", &alike(0..11_u64), biased));
    assert!(found.is_err(), "squares are no random numbers");
    // Tables give 21.1 and 59.9; the approximation is good to a few hundredths, on the lenient side.
    assert!((21.1..22.0).contains(&chi_square_limit(3.0)), "{}", chi_square_limit(3.0));
    assert!((59.8..60.5).contains(&chi_square_limit(25.0)), "{}", chi_square_limit(25.0));
}
