//! Errors of the projection as a whole.

use scarce_sql::DatabaseError;

/// Why a projection cannot be opened, read or rebuilt. The messages say what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// An operation on the database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The tables are being emptied.
    #[error("{database} is being emptied for a rebuild; if the rebuild was interrupted, run it again")]
    Rebuilding {
        /// Which database.
        database: String,
    },
    /// The cursor did not come from a page.
    #[error("the cursor '{cursor}' does not come from this list; begin without a cursor")]
    Cursor {
        /// What was given.
        cursor: String,
    },
    /// The log cannot be replayed to where the tables are.
    #[error("the log of partition {partition} cannot be replayed to where the tables are: {what}")]
    Replay {
        /// The partition of the log.
        partition: u32,
        /// Why.
        what: String,
    },
    /// A row cannot be written as JSON.
    #[error("a row of the tables cannot be shown as JSON")]
    Shown {
        /// The reason.
        #[source]
        source: serde_json::Error,
    },
}
