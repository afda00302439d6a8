//! Cutting before the writer's turn, when the envelope is made.

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

use super::Amounts;
use super::cut::Plan;
use crate::command::shapes::Cut;
use crate::command::table::PacketCreate;
use crate::command::{Command, Invalid};
use crate::types::{INTEGER_MAX, Id, OperationId, Positive};

/// The maximum number of amounts listed one by one: they are in one event, which stays far below the
/// largest log entry.
pub const AMOUNTS_MAX: usize = 250_000;

/// How many packets a step prepares unless that is set otherwise.
pub(crate) const PIECE_PACKETS: usize = 1_000;

/// Packets cut before the writer's turn.
#[derive(Clone, PartialEq, Eq)]
pub struct Prepared {
    pub(crate) seed: Option<[u8; 32]>,
    commitment: Option<[u8; 32]>,
    pub(crate) amounts: Arc<[u64]>,
    /// The same as steps of the usual size prepare them.
    pub(crate) pieces: Arc<[Amounts]>,
    pub(crate) total: u64,
}

/// Hides the amounts that are still to be claimed.
impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared").field("count", &self.amounts.len()).finish_non_exhaustive()
    }
}

impl Prepared {
    /// The seed of the cut; absent if amounts were listed one by one. Secret until the campaign is
    /// closed.
    #[must_use]
    pub fn seed(&self) -> Option<&[u8; 32]> {
        self.seed.as_ref()
    }

    /// The commitment to seed and plan, published when the campaign is created.
    #[must_use]
    pub fn commitment(&self) -> Option<[u8; 32]> {
        self.commitment
    }

    /// The amounts of the packets, in the order in which they are claimed. As secret as the seed.
    #[must_use]
    pub fn amounts(&self) -> &[u64] {
        &self.amounts
    }

    /// Cuts the packets of a campaign.
    ///
    /// # Errors
    /// When the plan cannot be cut, or more amounts are listed than a campaign may have.
    pub fn new(
        create: &PacketCreate,
        operation: Option<&OperationId>,
        secret: &[u8; 32],
    ) -> Result<Self, Invalid> {
        match Plan::of(create) {
            Some(plan) => {
                let seed = seed(secret, &create.campaign, operation, &plan);
                let commitment = Some(plan.commitment(&seed));
                Ok(Self::of(Some(seed), commitment, plan.cut(&seed)?.into()))
            }
            None => Ok(Self::of(None, None, listed(&create.cut)?)),
        }
    }

    /// Makes ready all that the owner would have to go through packet by packet.
    fn of(seed: Option<[u8; 32]>, commitment: Option<[u8; 32]>, amounts: Arc<[u64]>) -> Self {
        let pieces = amounts.chunks(PIECE_PACKETS).map(Amounts::encoded).collect();
        let total = amounts.iter().sum();
        Self { seed, commitment, amounts, pieces, total }
    }
}

/// How many packets commands ask to be cut by plans: what [`Prepared::new`] costs.
#[must_use]
pub fn count_to_cut(commands: &[Command]) -> u64 {
    let count = |command: &Command| match command {
        Command::PacketCreate(create) => match &create.cut {
            Cut::Plan { count, .. } => count.get(),
            Cut::Amounts(_) => 0,
        },
        _ => 0,
    };
    commands.iter().map(count).sum()
}

/// The listed amounts.
fn listed(cut: &Cut) -> Result<Arc<[u64]>, Invalid> {
    let amounts = match cut {
        Cut::Amounts(amounts) => amounts.as_slice(),
        Cut::Plan { .. } => &[],
    };
    check_amounts(amounts)?;
    Ok(amounts.iter().map(|amount| amount.get()).collect())
}

fn check_amounts(amounts: &[Positive]) -> Result<(), Invalid> {
    if amounts.is_empty() || amounts.len() > AMOUNTS_MAX {
        return Err(Invalid::new("amounts", "must be 1 to 250000; use PLAN for more packets"));
    }
    let sum = amounts.iter().try_fold(0_u64, |sum, amount| sum.checked_add(amount.get()));
    if sum.is_none_or(|sum| sum > INTEGER_MAX) {
        return Err(Invalid::new("amounts", "sum to more than 9007199254740991"));
    }
    Ok(())
}

/// HMAC-SHA-256 with the deployment's secret over the campaign's id, the operation's id, which is empty if the
/// caller gave none, and the plan, with zero bytes between them, which none of them contains. Another plan gives
/// another seed: whether it can be cut says nothing about an open campaign under the same ids.
fn seed(secret: &[u8; 32], campaign: &Id, operation: Option<&OperationId>, plan: &Plan) -> [u8; 32] {
    let operation = operation.map_or("", OperationId::as_str);
    // HMAC pads a key shorter than the hash's block of 64 bytes with zeros.
    let mut key = [0; 64];
    key[..32].copy_from_slice(secret);
    let mut mac = <Hmac<Sha256> as KeyInit>::new(&key.into());
    mac.update(campaign.as_str().as_bytes());
    mac.update(&[0]);
    mac.update(operation.as_bytes());
    mac.update(&[0]);
    mac.update(plan.text().as_bytes());
    mac.finalize().into_bytes().into()
}
