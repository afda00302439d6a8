//! The payers: what each transfers, holds and ends, and how they handle a missing answer.

use redis::Value;

use super::super::ask::{Ask, CallerAnswer, Deed, Request};
use super::super::crowd::{Crowd, Draw};
use super::super::proof::{cents, grouped};
use super::super::record::{Noted, Record};
use scarce_client::text;

/// The assets of the accounts, alternating.
pub(super) const ASSETS: [&str; 2] = ["EUR", "USD"];
/// The number of accounts that are shops, which receive much of the money.
pub(super) const SHOPS: u64 = 8;
/// The initial balance of each account, in cents.
pub(super) const PURSE: u64 = 20_000;
/// The overdraft of every tenth account.
pub(super) const OVERDRAFT: u64 = 500;

/// The deadline of holds that payers intend to end: long enough for a crash in between.
pub(super) const PATIENT_TTL_MS: u64 = 60_000;

/// The name of an account; all of them are in one partition.
pub(super) fn name(account: u64) -> String {
    let kind = if account < SHOPS { "shop" } else { "payer" };
    format!("{{wallet}}:{kind}-{account}")
}

pub(super) fn asset(account: u64) -> &'static str {
    ASSETS[usize::from(!account.is_multiple_of(2))]
}

pub(super) fn overdraft(account: u64) -> u64 {
    if account % 10 == 9 { OVERDRAFT } else { 0 }
}

/// The fate of a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// Captured in full.
    Captured,
    /// Half of it is captured, and the rest released.
    Halved,
    /// A third is captured; the rest stays held for a while and is then released.
    Sliced,
    Voided,
    /// Nobody ends it, so it expires.
    Forgotten,
    /// It has no deadline and stays.
    Kept,
}

/// The purpose of a command.
#[derive(Clone, Debug)]
pub(super) enum Move {
    Transfer {
        from: u64,
        to: u64,
        amount: u64,
    },
    Credit {
        account: u64,
        amount: u64,
    },
    Debit {
        account: u64,
        amount: u64,
    },
    Hold {
        account: u64,
        amount: u64,
        fate: Fate,
        ttl_ms: Option<u64>,
    },
    Capture {
        account: u64,
        amount: u64,
        to: u64,
        keeps_rest: bool,
    },
    Void {
        account: u64,
    },
    /// Asks for the result of an unanswered command, and settles it for good.
    Resolve {
        original: Box<Ask<Payment>>,
    },
}

/// A payer's command: its purpose, and the payer's number, which also names its holds.
#[derive(Clone, Debug)]
pub(super) struct Payment {
    number: u64,
    pub(super) what: Move,
}

/// Counts of the answers so far.
#[derive(Default)]
pub(super) struct Tally {
    /// Payers whose first command was answered.
    begun: u64,
    moved: u64,
    pub(super) moves: u64,
    holds: u64,
    ended: u64,
}

/// The crowd, generated from a seed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Payers {
    pub(super) seed: u64,
    pub(super) accounts: u64,
    pub(super) operations: u64,
    pub(super) ttl_ms: u64,
}

impl Payers {
    /// An account that is not a shop.
    fn payer(&self, draw: &mut Draw) -> u64 {
        SHOPS + draw.below(self.accounts - SHOPS)
    }

    /// A shop with the account's asset; some are visited far more than others.
    fn shop(draw: &mut Draw, account: u64) -> u64 {
        let busy = draw.below(SHOPS / 2).min(draw.below(SHOPS / 2));
        2 * busy + account % 2
    }

    fn draw_move(&self, draw: &mut Draw) -> Move {
        let account = self.payer(draw);
        let amount = 1 + draw.below(4_000);
        match draw.below(100) {
            0..40 => Move::Transfer { from: account, to: Self::shop(draw, account), amount },
            40..50 => Move::Transfer { from: account, to: self.payer(draw), amount },
            50..60 => Move::Transfer { from: Self::shop(draw, account), to: account, amount },
            60..65 => Move::Credit { account, amount },
            65..70 => Move::Debit { account, amount },
            _ => self.draw_hold(draw, account, amount),
        }
    }

    fn draw_hold(&self, draw: &mut Draw, account: u64, amount: u64) -> Move {
        let (fate, ttl_ms) = match draw.below(100) {
            0..40 => (Fate::Captured, Some(PATIENT_TTL_MS)),
            40..55 => (Fate::Halved, None),
            55..65 => (Fate::Sliced, Some(PATIENT_TTL_MS)),
            65..85 => (Fate::Voided, None),
            85..97 => (Fate::Forgotten, Some(self.ttl_ms)),
            _ => (Fate::Kept, None),
        };
        Move::Hold { account, amount: amount.max(3), fate, ttl_ms }
    }

    fn after_hold(&self, number: u64, account: u64, amount: u64, fate: Fate) -> Option<Ask<Payment>> {
        let to = Self::shop(&mut Draw::of(!self.seed, number), account);
        let capture = |amount, keeps_rest| Move::Capture { account, amount, to, keeps_rest };
        let what = match fate {
            Fate::Captured => capture(amount, false),
            Fate::Halved => capture(amount / 2, false),
            Fate::Sliced => capture(amount / 3, true),
            Fate::Voided => Move::Void { account },
            Fate::Forgotten | Fate::Kept => return None,
        };
        Some(Ask::new(format!("end/{number}"), Payment { number, what }))
    }
}

impl Crowd for Payers {
    type Deed = Payment;
    type Tally = Tally;

    fn arrive(&self, number: u64) -> Ask<Payment> {
        let mut draw = Draw::of(self.seed, number);
        let what = self.draw_move(&mut draw);
        let ask = Ask::new(format!("move/{number}"), Payment { number, what });
        Ask { insists: draw.percent(15), doubles: draw.percent(10), ..ask }
    }

    fn follow_ups(&self, ask: &Ask<Payment>, answer: &CallerAnswer, noted: Noted) -> Vec<Ask<Payment>> {
        let number = ask.deed.number;
        match &ask.deed.what {
            Move::Hold { account, amount, fate, .. } if noted.is_applied_now => {
                self.after_hold(number, *account, *amount, *fate).into_iter().collect()
            }
            Move::Capture { account, keeps_rest: true, .. } if noted.is_applied_now => {
                let rest = Payment { number, what: Move::Void { account: *account } };
                vec![Ask::new(format!("rest/{number}"), rest)]
            }
            Move::Resolve { original } if noted.is_first => {
                // Late duplicates do arrive; and what is known not to have happened may be done again.
                let original = (**original).clone();
                let anew = Ask::new(format!("{}/anew", original.id), original.deed.clone());
                let is_absent = state_of(answer).as_deref() == Some("ABSENT");
                [original.again()].into_iter().chain(is_absent.then_some(anew)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Every second payer asks for the result; the others just retry.
    fn after_crash(&self, ask: Ask<Payment>) -> Ask<Payment> {
        let number = ask.deed.number;
        if number.is_multiple_of(2) || matches!(ask.deed.what, Move::Resolve { .. }) {
            return ask;
        }
        let id = format!("resolve/{}", ask.id);
        Ask::new(id, Payment { number, what: Move::Resolve { original: Box::new(ask) } })
    }

    fn count(&self, tally: &mut Tally, ask: &Ask<Payment>, _: &CallerAnswer, noted: Noted) {
        tally.begun += u64::from(noted.is_first && ask.id.starts_with("move/"));
        if !noted.is_applied_now {
            return;
        }
        match ask.deed.what {
            Move::Transfer { amount, .. } | Move::Credit { amount, .. } | Move::Debit { amount, .. } => {
                tally.moves += 1;
                tally.moved += amount;
            }
            Move::Hold { .. } => tally.holds += 1,
            Move::Capture { amount, .. } => {
                tally.ended += 1;
                tally.moved += amount;
            }
            Move::Void { .. } => tally.ended += 1,
            Move::Resolve { .. } => {}
        }
    }

    fn is_due(&self, _: usize, record: &Record<Self>) -> bool {
        record.tally.begun >= self.operations / 2
    }

    fn picture(&self, record: &Record<Self>) -> (u64, String) {
        let Tally { begun, moved, holds, ended, .. } = record.tally;
        let refused = record.refused("INSUFFICIENT_FUNDS");
        let text = format!(
            "{} moved · {} holds, {} ended · INSUFFICIENT_FUNDS {}",
            cents(moved),
            grouped(holds),
            grouped(ended),
            grouped(refused)
        );
        (begun, text)
    }

    fn so_far(&self, record: &Record<Self>) -> String {
        let Tally { moved, holds, ended, .. } = record.tally;
        format!("{} moved and {} holds open", cents(moved), grouped(holds.saturating_sub(ended)))
    }
}

/// What `OPERATION.RESOLVE` says of an operation.
pub(super) fn state_of(answer: &CallerAnswer) -> Option<String> {
    answer.values().first().and_then(text)
}

/// The outcome in an answer of `OPERATION.RESOLVE`, as the original caller would have received it.
pub(super) fn outcome_of(answer: &CallerAnswer) -> Option<CallerAnswer> {
    answer.values().get(1).filter(|value| matches!(value, Value::Array(_))).cloned().map(CallerAnswer::of)
}

impl Payment {
    /// The first account to query.
    fn account(&self) -> u64 {
        match &self.what {
            Move::Transfer { from, .. } => *from,
            Move::Credit { account, .. }
            | Move::Debit { account, .. }
            | Move::Hold { account, .. }
            | Move::Capture { account, .. }
            | Move::Void { account } => *account,
            Move::Resolve { original } => original.deed.account(),
        }
    }
}

impl Deed for Payment {
    fn request(&self, id: &str) -> Request {
        let account = &name(self.account());
        let hold = &format!("h-{}", self.number);
        match &self.what {
            Move::Transfer { to, amount, .. } => {
                Request::one(id, &["ACCOUNT.TRANSFER", account, &name(*to), &amount.to_string()])
            }
            Move::Credit { amount, .. } => {
                Request::one(id, &["ACCOUNT.CREDIT", account, &amount.to_string()])
            }
            Move::Debit { amount, .. } => Request::one(id, &["ACCOUNT.DEBIT", account, &amount.to_string()]),
            Move::Hold { amount, ttl_ms, .. } => {
                let (amount, ttl) = (amount.to_string(), ttl_ms.unwrap_or(0).to_string());
                let words = ["ACCOUNT.HOLD", account, hold, &amount, "TTL", &ttl];
                Request::one(id, if ttl_ms.is_some() { &words } else { &words[..4] })
            }
            Move::Capture { amount, to, keeps_rest, .. } => {
                let (amount, to) = (amount.to_string(), name(*to));
                let words = ["ACCOUNT.CAPTURE", account, hold, "AMOUNT", &amount, "TO", &to, "KEEPREST"];
                Request::one(id, if *keeps_rest { &words } else { &words[..7] })
            }
            Move::Void { .. } => Request::one(id, &["ACCOUNT.VOID", account, hold]),
            Move::Resolve { original } => {
                Request::without_id(&["OPERATION.RESOLVE", &original.id, "ON", account])
            }
        }
    }

    fn is_refusal_remembered(&self) -> bool {
        true
    }

    /// Asking for a result changes nothing that is logged under the id of the question.
    fn is_logged(&self, _: &CallerAnswer) -> bool {
        !matches!(self.what, Move::Resolve { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAYERS: Payers = Payers { seed: 5, accounts: 100, operations: 1_000, ttl_ms: 10 };
    const FIRST: Noted = Noted { is_first: true, is_applied_now: true, life: 1 };

    #[test]
    fn what_was_not_answered_is_resolved_or_sent_again() {
        let resolve = PAYERS.after_crash(PAYERS.arrive(1));
        assert_eq!(resolve.id, "resolve/move/1");
        let absent = CallerAnswer::Applied(vec![Value::SimpleString("ABSENT".to_owned()), Value::Nil]);
        let next: Vec<_> =
            PAYERS.follow_ups(&resolve, &absent, FIRST).into_iter().map(|ask| ask.id).collect();
        assert_eq!(next, ["move/1", "move/1/anew"]);
        assert_eq!(PAYERS.after_crash(PAYERS.arrive(2)).id, "move/2");
    }

    #[test]
    fn money_goes_to_shops_of_its_asset() {
        for number in 0..200 {
            let mut draw = Draw::of(1, number);
            let payer = PAYERS.payer(&mut draw);
            let shop = Payers::shop(&mut draw, payer);
            assert!(shop < SHOPS && asset(shop) == asset(payer));
        }
    }
}
