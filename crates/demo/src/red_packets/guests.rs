//! The guests: each wants a packet, many ask twice, and what each received is paid to an account.

use super::super::ask::{Ask, CallerAnswer, Deed, Request};
use super::super::crowd::{Crowd, Draw};
use super::super::proof::{cents, grouped};
use super::super::record::{Noted, Record};

/// The campaign.
pub(super) const CAMPAIGN: &str = "new-year";
/// The account from which the packets are paid.
pub(super) const POT: &str = "pot";
/// The asset of payments.
pub(super) const ASSET: &str = "EUR";

/// The purpose of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wish {
    /// A guest asks for a packet.
    Claim { guest: u64 },
    /// The host pays the amount of a packet.
    Settle { guest: u64, amount: u64 },
}

/// Counts of the answers so far.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) claimed: u64,
    pub(super) paid: u64,
    /// Reminders: the life of the server, the guest, and the packet and amount in the answer.
    pub(super) reminders: Vec<(u64, u64, u64, u64)>,
}

/// The crowd, generated from a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guests {
    pub(super) seed: u64,
    pub(super) count: u64,
    pub(super) packets: u64,
    /// Whether the host pays; otherwise the server does.
    pub(super) pays: bool,
}

/// The name of a guest, and of the guest's account.
pub(super) fn name(guest: u64) -> String {
    format!("guest-{guest}")
}

/// The id under which a packet is paid, whoever pays it and however often.
fn settlement(packet: u64) -> String {
    format!("settle/{CAMPAIGN}/{packet}")
}

impl Guests {
    fn claim(&self, word: &str, guest: u64) -> Ask<Wish> {
        Ask::new(format!("{word}/{guest}"), Wish::Claim { guest })
    }
}

impl Crowd for Guests {
    type Deed = Wish;
    type Tally = Tally;

    /// First all guests; after the last packet is gone, all of them once more, under new ids.
    fn arrive(&self, number: u64) -> Ask<Wish> {
        let guest = number % self.count;
        if number >= self.count {
            return self.claim("return", guest);
        }
        let mut draw = Draw::of(self.seed, guest);
        let claim = self.claim("claim", guest);
        Ask { insists: draw.percent(20), doubles: draw.percent(15), ..claim }
    }

    fn follow_ups(&self, ask: &Ask<Wish>, answer: &CallerAnswer, noted: Noted) -> Vec<Ask<Wish>> {
        let Wish::Claim { guest } = ask.deed else { return Vec::new() };
        let mut next = Vec::new();
        let mut draw = Draw::of(!self.seed, guest);
        if let (true, Some(packet), Some(amount)) = (self.pays, answer.figure(0), answer.figure(1)) {
            let settle = Ask::new(settlement(packet), Wish::Settle { guest, amount });
            if noted.is_applied_now {
                next.push(Ask { insists: draw.percent(20), ..settle });
            } else if noted.is_first {
                // A payer who does not know whether the payment succeeded retries it under the same id.
                next.push(settle.again());
            }
        }
        if noted.is_first && ask.id.starts_with("claim/") && draw.percent(25) {
            next.push(self.claim("again", guest));
        }
        next
    }

    fn count(&self, tally: &mut Tally, ask: &Ask<Wish>, answer: &CallerAnswer, noted: Noted) {
        match ask.deed {
            Wish::Claim { .. } if noted.is_applied_now => tally.claimed += 1,
            Wish::Claim { guest } if answer.code() == Some("ALREADY_CLAIMED") => {
                let told = answer.figure(0).zip(answer.figure(1));
                tally.reminders.extend(told.map(|(packet, amount)| (noted.life, guest, packet, amount)));
            }
            Wish::Settle { amount, .. } if noted.is_applied_now => tally.paid += amount,
            _ => {}
        }
    }

    fn is_due(&self, _: usize, record: &Record<Self>) -> bool {
        let most = self.packets.min(self.count);
        record.tally.claimed >= most.div_ceil(2) || record.answers >= self.count
    }

    fn picture(&self, record: &Record<Self>) -> (u64, String) {
        let Tally { claimed, paid, .. } = record.tally;
        let text = format!("{} paid · {}", cents(paid), record.refusals_text());
        (self.packets.saturating_sub(claimed), text)
    }

    fn so_far(&self, record: &Record<Self>) -> String {
        let Tally { claimed, paid, .. } = record.tally;
        format!("{} packets claimed and {} paid", grouped(claimed), cents(paid))
    }
}

impl Deed for Wish {
    fn request(&self, id: &str) -> Request {
        match self {
            Self::Claim { guest } => Request::one(id, &["PACKET.CLAIM", CAMPAIGN, &name(*guest)]),
            Self::Settle { guest, amount } => {
                Request::one(id, &["ACCOUNT.TRANSFER", POT, &name(*guest), &amount.to_string()])
            }
        }
    }

    fn is_refusal_remembered(&self) -> bool {
        matches!(self, Self::Settle { .. })
    }
}

#[cfg(test)]
mod tests {
    use redis::Value;

    use super::*;

    const GUESTS: Guests = Guests { seed: 1, count: 10, packets: 5, pays: true };

    #[test]
    fn a_packet_is_paid_under_an_id_of_its_own() {
        let claim = GUESTS.arrive(3);
        let told = vec![Value::Int(2), Value::Int(70)];
        let now = Noted { is_first: true, is_applied_now: true, life: 1 };
        let next = GUESTS.follow_ups(&claim, &CallerAnswer::Applied(told.clone()), now);
        assert_eq!(next[0].id, "settle/new-year/2");
        assert_eq!(next[0].deed, Wish::Settle { guest: 3, amount: 70 });
        let later = Noted { is_first: true, is_applied_now: false, life: 1 };
        let reminded = CallerAnswer::Refused("ALREADY_CLAIMED".to_owned(), told);
        let next = GUESTS.follow_ups(&GUESTS.arrive(13), &reminded, later);
        assert_eq!((next[0].id.as_str(), next[0].is_again), ("settle/new-year/2", true));
    }
}
