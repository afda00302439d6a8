use sha2::{Digest, Sha256};

use super::*;

fn plan(method: Method, total: u64, count: u64) -> Plan {
    Plan { total, count, method, min: 1, max: None }
}

/// A seed that tells one number.
fn seed(number: u64) -> [u8; 32] {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    seed
}

/// The bytes 0, 1, 2 ... 31.
fn counting_seed() -> [u8; 32] {
    std::array::from_fn(|at| u8::try_from(at).expect("small"))
}

fn cut(plan: &Plan, seed: &[u8; 32]) -> Vec<u64> {
    plan.cut(seed).expect("a cut")
}

// The vectors were made by a separate program in another language, which shares no code with this one;
// `docs/reference/red-packets.md` has the rule and some of them.
#[test]
fn golden_vectors_of_equal_cuts() {
    let plan = plan(Method::Even, 1_003, 10);
    assert_eq!(cut(&plan, &[0; 32]), [100, 100, 100, 100, 101, 100, 100, 100, 101, 101]);
    assert_eq!(cut(&plan, &counting_seed()), [100, 101, 100, 100, 101, 100, 100, 101, 100, 100]);
}

#[test]
fn golden_vectors_of_double_mean() {
    let free = plan(Method::DoubleMean, 10_000, 10);
    assert_eq!(cut(&free, &[0; 32]), [224, 1665, 130, 1133, 1755, 1292, 386, 408, 761, 2246]);
    let bound = Plan { min: 100, max: Some(2_000), ..free };
    assert_eq!(cut(&bound, &counting_seed()), [931, 1996, 848, 1075, 702, 1112, 1601, 1111, 393, 231]);
    let widest = plan(Method::DoubleMean, INTEGER_MAX, 4);
    assert_eq!(
        cut(&widest, &[0; 32]),
        [1585014525863985, 2058414649399430, 1438922967987403, 3924847111490173]
    );
}

#[test]
fn golden_vectors_of_line_cuts() {
    let free = plan(Method::LineCut, 10_000, 10);
    assert_eq!(cut(&free, &[0; 32]), [1174, 1207, 846, 1815, 953, 2632, 822, 191, 245, 115]);
    let bound = Plan { min: 100, max: Some(3_000), ..free };
    assert_eq!(cut(&bound, &counting_seed()), [770, 2125, 771, 438, 1189, 1192, 329, 1457, 1153, 576]);
    let narrow = plan(Method::LineCut, 14, 10);
    assert_eq!(cut(&narrow, &counting_seed()), [1, 1, 1, 2, 2, 3, 1, 1, 1, 1]);
    let widest = plan(Method::LineCut, INTEGER_MAX, 4);
    assert_eq!(
        cut(&widest, &counting_seed()),
        [3057434595934754, 2216082833455, 1752786938362917, 4194761637609865]
    );
}

#[test]
fn golden_vectors_of_many_packets() {
    let hash = |plan: Plan| {
        let bytes: Vec<u8> =
            cut(&plan, &counting_seed()).iter().flat_map(|packet| packet.to_le_bytes()).collect();
        Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    assert_eq!(
        hash(plan(Method::DoubleMean, 100_000_000, 10_000)),
        "d023bd90e1e1bad6a7d318914a6e03ece34abdd319e84a277ba3f50f779f0755"
    );
    assert_eq!(
        hash(plan(Method::LineCut, 100_000_000, 10_000)),
        "34aa10c4bd3b44017a29732fdae797fbf8fcff85a097257273ef9b31bd9caad4"
    );
    assert_eq!(
        hash(plan(Method::LineCut, 15_000, 10_000)),
        "80a544862067be23eeac319d6d3e56ee45a4b9be93da35ca6a3ae1511312f6ad"
    );
}

#[test]
fn every_cut_sums_to_the_total_within_its_bounds() {
    for method in Method::ALL {
        for (total, count, min, max) in [
            (1, 1, 1, None),
            (INTEGER_MAX, 1, 1, None),
            (10, 10, 1, None),
            (11, 10, 1, Some(2)),
            (19, 10, 1, None),
            (1_000, 10, 100, None),
            (1_000, 10, 100, Some(100)),
            (1_003, 10, 7, Some(400)),
            (30, 10, 1, Some(30)),
            (INTEGER_MAX, 1_000, 3, None),
        ] {
            for number in 0..50 {
                let plan = Plan { total, count, method: *method, min, max };
                let packets = cut(&plan, &seed(number));
                assert_eq!(packets.len() as u64, count, "{plan:?}");
                assert_eq!(packets.iter().sum::<u64>(), total, "{plan:?}");
                let bounds = min..=max.unwrap_or(total);
                assert!(packets.iter().all(|packet| bounds.contains(packet)), "{plan:?} {packets:?}");
            }
        }
    }
}

#[test]
fn tight_bounds_hold_in_double_mean() {
    let plan = Plan { total: 29, count: 10, method: Method::DoubleMean, min: 1, max: Some(3) };
    for number in 0..100 {
        let packets = cut(&plan, &seed(number));
        assert_eq!(packets.iter().sum::<u64>(), 29);
        assert!(packets.iter().all(|packet| (1..=3).contains(packet)));
    }
}

#[test]
fn no_place_in_the_order_is_better_than_another() {
    for method in Method::ALL {
        let plan = plan(*method, 10_000, 10);
        let mut sums = [0; 10];
        for number in 0..4_000 {
            cut(&plan, &seed(number)).iter().zip(&mut sums).for_each(|(packet, sum)| *sum += packet);
        }
        // The mean is 1 000; its deviation over 4 000 cuts is below 16.
        assert!(sums.iter().all(|sum| (936..=1_064).contains(&(sum / 4_000))), "{method:?} {sums:?}");
    }
}

#[test]
fn a_line_is_cut_everywhere_alike() {
    let plan = plan(Method::LineCut, 1_000, 2);
    let mut tenths = [0_u32; 10];
    for number in 0..10_000 {
        let first = cut(&plan, &seed(number))[0] - 1;
        tenths[usize::try_from(first / 100).expect("small")] += 1;
    }
    assert!(tenths.iter().all(|count| (850..=1_150).contains(count)), "{tenths:?}");
}

#[test]
fn numbers_below_a_bound_are_alike() {
    let mut words = Keystream::new(&[9; 32]);
    let mut counts = [0_u32; 7];
    for _ in 0..70_000 {
        counts[usize::try_from(words.below(7)).expect("small")] += 1;
    }
    assert!(counts.iter().all(|count| (9_600..=10_400).contains(count)), "{counts:?}");
    // Just above half the range of words every second one is passed over.
    assert!((0..100).all(|_| words.below((1 << 63) + 1) <= 1 << 63));
    assert_eq!(words.below(1), 0);
}

#[test]
fn distinct_points_are_distinct() {
    let mut words = Keystream::new(&[3; 32]);
    for (count, most) in [(0, 0), (0, 5), (1, 1), (5, 5), (2, 5), (3, 5), (500, 1_000), (501, 1_000)] {
        let points = distinct(count, most, &mut words);
        assert_eq!(points.len() as u64, count);
        assert!(points.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(points.iter().all(|point| (1..=most).contains(point)));
    }
}

#[test]
fn many_packets_are_cut() {
    for (method, total) in
        [(Method::DoubleMean, 100_000_000), (Method::LineCut, 199_999), (Method::LineCut, 100_000)]
    {
        let packets = cut(&plan(method, total, 100_000), &[5; 32]);
        assert_eq!(packets.iter().sum::<u64>(), total);
        assert!(packets.iter().all(|packet| *packet >= 1));
    }
}

#[test]
fn plans_that_cannot_be_cut_are_refused() {
    let good = plan(Method::Even, 100, 10);
    for bad in [
        Plan { count: 0, ..good },
        Plan { count: PACKETS_MAX + 1, total: INTEGER_MAX, ..good },
        Plan { count: 101, ..good },
        Plan { min: 0, ..good },
        Plan { min: 11, ..good },
        Plan { min: u64::MAX, ..good },
        Plan { max: Some(9), ..good },
        Plan { min: 5, max: Some(4), ..good },
        Plan { total: INTEGER_MAX + 1, ..good },
    ] {
        assert!(bad.cut(&[0; 32]).is_err(), "{bad:?}");
    }
    // Ten equal packets are the one cut that keeps to this, and chance does not find it.
    let hopeless = Plan { method: Method::LineCut, max: Some(1_000), ..plan(Method::LineCut, 10_000, 10) };
    assert_eq!(hopeless.cut(&[0; 32]).map_err(|invalid| invalid.argument), Err("max"));
}
