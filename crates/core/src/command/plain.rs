//! Requests of the commonest form: money moved between accounts, with an operation ID or without, and without any other
//! option. They are read where they are, and no text is copied.

use std::ops::Range;

use super::spec::CommandSpec;
use super::table::{AccountCredit, AccountDebit, AccountTransfer};
use crate::draft::Draft;
use crate::types::{Positive, is_id, is_operation_id};

/// A movement of money as it was requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain<'a> {
    pub(crate) kind: PlainKind,
    number: u16,
    pub(crate) account: &'a [u8],
    /// Where a transfer goes; otherwise empty.
    pub(crate) to: &'a [u8],
    pub(crate) amount: u64,
    /// Empty if the caller gave none.
    operation: &'a [u8],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlainKind {
    Credit,
    Debit,
    Transfer,
}

impl<'a> Plain<'a> {
    /// Reads the words after a command's name. None if the command is another one, if the request says more, or if
    /// something is wrong with it: the general way knows what.
    #[must_use]
    pub fn read(spec: &CommandSpec, words: &[&'a [u8]]) -> Option<Self> {
        let number = spec.number;
        let (kind, account, to, rest) = match *words {
            [from, to, ref rest @ ..] if number == AccountTransfer::SPEC.number => {
                (PlainKind::Transfer, from, to, rest)
            }
            [account, ref rest @ ..] if number == AccountDebit::SPEC.number => {
                (PlainKind::Debit, account, &b""[..], rest)
            }
            [account, ref rest @ ..] if number == AccountCredit::SPEC.number => {
                (PlainKind::Credit, account, &b""[..], rest)
            }
            _ => return None,
        };
        let (amount, operation) = match *rest {
            [amount] => (amount, &b""[..]),
            [amount, token, id] if token.eq_ignore_ascii_case(b"ID") && is_operation_id(id) => (amount, id),
            _ => return None,
        };
        let has_names = is_id(account) && (kind != PlainKind::Transfer || is_id(to));
        let amount = Positive::parse(amount, "amount").ok().filter(|_| has_names)?.get();
        Some(Self { kind, number, account, to, amount, operation })
    }

    /// The number of the command.
    #[must_use]
    pub const fn number(&self) -> u16 {
        self.number
    }

    /// The operation ID.
    #[must_use]
    pub fn operation(&self) -> Option<&'a [u8]> {
        Some(self.operation).filter(|operation| !operation.is_empty())
    }

    /// Puts the request as it is encoded, without its options, into a draft, and returns where the names and the amount
    /// are in it: events of movements begin with them.
    pub(crate) fn put_content(&self, draft: &mut Draft) -> Range<usize> {
        draft.put_number(u64::from(self.number));
        let start = draft.len();
        draft.put_text(self.account);
        if self.kind == PlainKind::Transfer {
            draft.put_text(self.to);
        }
        draft.put_number(self.amount);
        start..draft.len()
    }
}
