//! Accounts and holds.

use super::page::{LIMIT_MAX, List, Page, Paging, Span, find};
use super::record::record;
use super::{History, Operation};
use crate::ProjectionError;
use crate::table::{Cell, Column};

record! {
    /// One account's side of a movement of money.
    AccountEntry of "entries" {
        /// The partition.
        partition_id: i64,
        /// The event's sequence in the partition.
        sequence: i64,
        /// The account.
        account_id: String,
        /// The partition's epoch.
        epoch: i64,
        /// `credit`, `debit`, `transfer`, `capture`, or `opening` for what was there where this history begins.
        kind: String,
        /// The amount that came in; negative if it went out.
        amount: i64,
        /// The balance afterwards.
        balance: i64,
        /// The other account; `None` for the outside world.
        counterparty_id: Option<String>,
        /// The hold that was captured.
        hold_id: Option<String>,
        /// The operation.
        operation_id: Option<String>,
        /// When.
        at_ms: i64,
    }
}

record! {
    /// A hold on an account.
    Hold of "holds" {
        /// The account.
        account_id: String,
        /// Its name within the account.
        hold_id: String,
        /// Which hold of this name it is, counted from 1.
        use_number: i64,
        /// The amount that it still holds.
        amount: i64,
        /// The amount that was captured.
        captured: i64,
        /// The original amount.
        amount_placed: i64,
        /// `open`, `captured`, `voided` or `expired`.
        status: String,
        /// When it expires.
        deadline_ms: Option<i64>,
        /// The operation that placed it.
        operation_id: Option<String>,
        /// When it was placed.
        placed_at_ms: i64,
        /// When it ended.
        ended_at_ms: Option<i64>,
    }
}

/// An account's timestamps never go back, so its entries are in order by time as well.
const BY_TIME: &[Column] = &[Column::integer("at_ms"), Column::integer("sequence")];

impl History {
    /// The movements of money of an operation, each account's side of them.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn entries_of(&self, operation: &Operation) -> Result<Vec<AccountEntry>, ProjectionError> {
        let condition = "partition_id = ? AND sequence >= ? AND sequence <= ? ORDER BY sequence, account_id";
        let values =
            [operation.partition_id, operation.first_sequence, operation.last_sequence].map(Cell::from);
        find(&self.projection, condition, &values, LIMIT_MAX).await
    }

    /// An account's movements within a span of time, with the balance after each.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
    pub async fn account_statement(
        &self,
        account_id: &str,
        span: Span,
        paging: &Paging,
    ) -> Result<Page<AccountEntry>, ProjectionError> {
        List::new("statement", BY_TIME)
            .only("account_id = ?", [Cell::from(account_id)])
            .only_if("at_ms >= ?", span.from_ms)
            .only_if("at_ms < ?", span.to_ms)
            .read(&self.projection, paging)
            .await
    }

    /// An account's holds by name, including those that ended long ago.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
    pub async fn account_holds(
        &self,
        account_id: &str,
        paging: &Paging,
    ) -> Result<Page<Hold>, ProjectionError> {
        List::new("holds", const { &[Column::text("hold_id"), Column::integer("use_number")] })
            .only("account_id = ?", [Cell::from(account_id)])
            .read(&self.projection, paging)
            .await
    }
}
