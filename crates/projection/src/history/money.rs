//! Accounts and holds.

use super::page::{List, Page, Paging, Span};
use super::record::record;
use super::{History, Operation};
use crate::ProjectionError;
use crate::table::{Cell, Kind};

record! {
    /// A movement of money from one account's side.
    Entry of "entries" {
        /// Where it happened.
        partition_id: i64,
        /// The event's number there.
        sequence: i64,
        /// Whose side this is.
        account_id: String,
        /// The partition's leadership.
        epoch: i64,
        /// `credit`, `debit`, `transfer` or `capture`.
        kind: String,
        /// What came in; negative where it went out.
        amount: i64,
        /// What was there afterwards.
        balance: i64,
        /// The account on the other side; nothing for the world outside.
        counterparty_id: Option<String>,
        /// The hold that was captured.
        hold_id: Option<String>,
        /// By which operation.
        operation_id: Option<String>,
        /// When.
        at_ms: i64,
    }
}

record! {
    /// Money set aside.
    Hold of "holds" {
        /// On which account.
        account_id: String,
        /// Its name there.
        hold_id: String,
        /// The how manieth hold of this name.
        use_number: i64,
        /// What it still holds.
        amount: i64,
        /// What was paid out of it.
        captured: i64,
        /// What it held at first.
        amount_placed: i64,
        /// `open`, `captured`, `voided` or `expired`.
        status: String,
        /// When it ends by itself.
        deadline_ms: Option<i64>,
        /// By which operation it was placed.
        operation_id: Option<String>,
        /// When it was placed.
        placed_at_ms: i64,
        /// When it ended.
        ended_at_ms: Option<i64>,
    }
}

/// An account's stamps never go back, so its entries are in order by time as well.
const BY_TIME: &[(&str, Kind)] = &[("at_ms", Kind::Integer), ("sequence", Kind::Integer)];

impl History {
    /// An account's movements with the balance after each, within a stretch of time.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is none of this list.
    pub async fn account_statement(
        &self,
        account_id: &str,
        span: Span,
        paging: &Paging,
    ) -> Result<Page<Entry>, ProjectionError> {
        List::new("statement", BY_TIME)
            .only("account_id = ?", [Cell::from(account_id)])
            .only_if("at_ms >= ?", span.from_ms)
            .only_if("at_ms < ?", span.to_ms)
            .read(&self.projection, paging)
            .await
    }

    /// An account's holds by name, those that ended long ago included.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is none of this list.
    pub async fn account_holds(
        &self,
        account_id: &str,
        paging: &Paging,
    ) -> Result<Page<Hold>, ProjectionError> {
        List::new("holds", &[("hold_id", Kind::Text), ("use_number", Kind::Integer)])
            .only("account_id = ?", [Cell::from(account_id)])
            .read(&self.projection, paging)
            .await
    }

    /// What an operation moved, in order.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is none of this list.
    pub async fn operation_entries(
        &self,
        operation: &Operation,
        paging: &Paging,
    ) -> Result<Page<Entry>, ProjectionError> {
        let Operation { partition_id, first_sequence, last_sequence, .. } = *operation;
        List::new("moved", &[("sequence", Kind::Integer), ("account_id", Kind::Text)])
            .only("partition_id = ?", [partition_id.into()])
            .only("sequence >= ? AND sequence <= ?", [first_sequence.into(), last_sequence.into()])
            .read(&self.projection, paging)
            .await
    }
}
