//! Rows of money.

use scarce_core::accounts::{HoldStatus, Status};
use scarce_core::words;

use crate::table::{Text, row, word_fields};

word_fields!(Status, HoldStatus, EntryKind);

words! {
    /// Why money moved.
    EntryKind {
        /// It came in from outside.
        1 Credit = "credit",
        /// It went out.
        2 Debit = "debit",
        /// It went to another account, or came from one.
        3 Transfer = "transfer",
        /// It was paid out of a hold.
        4 Capture = "capture",
        /// It was there where the history in these tables begins.
        5 Opening = "opening",
    }
}

row! {
    /// The state of an account.
    AccountRow in "accounts", key 1 {
        account_id: Text,
        partition_id: i64,
        asset: Text,
        balance: i64,
        held: i64,
        available: i64,
        overdraft: i64,
        status: Status,
        opened_at_ms: i64,
        updated_at_ms: i64,
        closed_at_ms: Option<i64>,
    }
}

row! {
    /// One side of a movement of money.
    EntryRow in "entries", key 3 {
        partition_id: i64,
        sequence: i64,
        account_id: Text,
        epoch: i64,
        kind: EntryKind,
        amount: i64,
        balance: i64,
        counterparty_id: Option<Text>,
        hold_id: Option<Text>,
        operation_id: Option<Text>,
        at_ms: i64,
    }
}

row! {
    /// A hold.
    HoldRow in "holds", key 3 with uses {
        account_id: Text,
        hold_id: Text,
        use_number: i64,
        partition_id: i64,
        amount: i64,
        captured: i64,
        amount_placed: i64,
        status: HoldStatus,
        deadline_ms: Option<i64>,
        operation_id: Option<Text>,
        placed_at_ms: i64,
        ended_at_ms: Option<i64>,
    }
}
