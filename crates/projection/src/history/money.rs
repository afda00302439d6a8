//! Accounts and holds.

use super::History;
use super::page::{List, Page, Paging, Span};
use super::record::record;
use crate::ProjectionError;
use crate::table::{Cell, Column};

record! {
    /// A movement of money from one account's side.
    AccountEntry of "entries" {
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
        /// Which hold of this name it is, counted from 1.
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

/// An account's timestamps never go back, so its entries are in order by time as well.
const BY_TIME: &[Column] = &[Column::integer("at_ms"), Column::integer("sequence")];

impl History {
    /// An account's movements with the balance after each, within a stretch of time.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not one of this list.
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

    /// An account's holds by name, those that ended long ago included.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not one of this list.
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
