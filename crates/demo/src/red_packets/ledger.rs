//! The campaign and its payments in the log.

use super::super::log::{Effects, Event, Log};
use super::guests::{CAMPAIGN, POT};
use crate::failure::DemoError;

/// A claim in the log.
#[derive(Clone, Debug)]
pub(super) struct Claim {
    pub(super) user: String,
    pub(super) packet: u64,
    pub(super) amount: u64,
}

/// A payment in the log.
#[derive(Clone, Debug)]
pub(super) struct Payment {
    pub(super) operation: String,
    pub(super) to: String,
    pub(super) amount: u64,
}

/// The folded log.
#[derive(Default)]
pub(super) struct Ledger {
    /// In order.
    pub(super) claims: Vec<Claim>,
    /// How many of them were made before the kill.
    pub(super) claims_before_kill: usize,
    pub(super) payments: Vec<Payment>,
    pub(super) effects: Effects,
    /// What was published when the campaign was created, and when it was closed.
    pub(super) commitment: String,
    pub(super) seed: String,
    /// Claims whose reported number of packets left is wrong.
    pub(super) deviations: u64,
    count: u64,
}

impl Ledger {
    /// Folds the log.
    ///
    /// # Errors
    /// When an event lacks a field.
    pub(super) fn of(log: &Log) -> Result<Self, DemoError> {
        log.fold(Self::default(), Self::fold)
    }

    fn fold(&mut self, event: &Event) -> Option<()> {
        match event.name.as_str() {
            "packets.created" if event.text("campaign") == CAMPAIGN => {
                self.count = event.number("count")?;
                self.commitment = event.text("commitment");
            }
            "packets.claimed" if event.text("campaign") == CAMPAIGN => {
                let (packet, amount) = (event.number("packet")?, event.number("amount")?);
                self.claims.push(Claim { user: event.text("user"), packet, amount });
                self.claims_before_kill += usize::from(!event.is_after_kill);
                let left = self.count.checked_sub(self.claims.len() as u64);
                self.deviations += u64::from(event.number("left_count") != left);
                self.effects.note(event, &["packet", "amount"]);
            }
            "packets.closed" if event.text("campaign") == CAMPAIGN => self.seed = event.text("seed"),
            "account.transferred" if event.text("from") == POT => {
                let (operation, to) = (event.operation.clone(), event.text("to"));
                self.payments.push(Payment { operation, to, amount: event.number("amount")? });
                self.effects.note(event, &["from_available", "to_available"]);
            }
            // Settled by the server, without an answer to anyone.
            "account.credited" if event.operation.starts_with("settle:") => {
                let (operation, to) = (event.operation.clone(), event.text("account"));
                self.payments.push(Payment { operation, to, amount: event.number("amount")? });
            }
            _ => {}
        }
        Some(())
    }
}
