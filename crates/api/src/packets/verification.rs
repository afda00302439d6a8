//! Verifies that a campaign was cut as promised: seed and plan hash to the commitment, and the claims match what
//! they give.

use scarce_core::command::Invalid;
use scarce_core::packets::cut::Plan;

/// The result of verifying a campaign.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// Whether seed and plan hash to the commitment.
    pub seed_fits: bool,
    /// The number of claims compared.
    pub compared: u64,
    /// The claims that differ from the cut, in their order.
    pub differences: Vec<Difference>,
    /// The packets that the cut gives.
    pub amounts: Vec<u64>,
}

/// A packet that differs from what the seed gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The packet's number, from 1.
    pub packet: u64,
    /// What the seed gives; `None` if there is no such packet.
    pub cut: Option<u64>,
    /// What was claimed.
    pub claimed: u64,
}

impl Verification {
    /// Whether the campaign passes.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.seed_fits && self.differences.is_empty()
    }
}

/// Cuts again and compares. `claims` are packets, counted from 1, with their amounts.
///
/// # Errors
/// When no cut can satisfy the plan.
pub fn verify(
    plan: &Plan,
    seed: &[u8; 32],
    promised: &[u8; 32],
    claims: &[(u64, u64)],
) -> Result<Verification, Invalid> {
    let amounts = plan.cut(seed)?;
    let cut_of = |packet: u64| {
        let at = usize::try_from(packet.checked_sub(1)?).ok()?;
        amounts.get(at).copied()
    };
    let differences = claims
        .iter()
        .map(|&(packet, claimed)| Difference { packet, cut: cut_of(packet), claimed })
        .filter(|difference| difference.cut != Some(difference.claimed))
        .collect();
    Ok(Verification {
        seed_fits: plan.commitment(seed) == *promised,
        compared: claims.len() as u64,
        differences,
        amounts,
    })
}

#[cfg(test)]
mod tests {
    use scarce_core::command::shapes::Method;

    use super::*;

    const PLAN: Plan = Plan { total: 1_003, count: 10, method: Method::Even, min: 1, max: None };

    #[test]
    fn the_cut_of_the_seed_holds_and_anything_else_does_not() {
        let (seed, promised) = ([0; 32], PLAN.commitment(&[0; 32]));
        let honest: Vec<_> = (1..).zip(PLAN.cut(&seed).expect("a cut")).collect();
        assert!(verify(&PLAN, &seed, &promised, &honest).expect("a cut").holds());
        assert!(
            verify(&PLAN, &seed, &promised, &honest[..3]).expect("a cut").holds(),
            "not all were claimed"
        );
        assert!(!verify(&PLAN, &seed, &[1; 32], &honest).expect("a cut").holds());
        let other = Plan { max: Some(1_000), ..PLAN };
        let found = verify(&other, &seed, &promised, &honest).expect("a cut");
        assert!(found.differences.is_empty() && !found.holds(), "a plan that was named afterwards");
        let mut swapped = honest.clone();
        (swapped[3].1, swapped[4].1) = (honest[4].1, honest[3].1);
        let found = verify(&PLAN, &seed, &promised, &swapped).expect("a cut");
        assert_eq!(found.differences.len(), 2);
        assert_eq!(found.differences[0], Difference { packet: 4, cut: Some(100), claimed: 101 });
        let beyond = verify(&PLAN, &seed, &promised, &[(11, 5), (0, 5)]).expect("a cut");
        assert!(beyond.differences.iter().all(|difference| difference.cut.is_none()));
        assert!(verify(&Plan { count: 0, ..PLAN }, &seed, &promised, &[]).is_err());
    }
}
