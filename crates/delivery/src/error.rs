//! Why something about delivery cannot be done.

use scarce_sql::DatabaseError;

/// Why something about delivery cannot be done. The texts say what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeliveryError {
    /// The database cannot be worked with.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// An address that nothing can be sent to.
    #[error("'{url}' cannot be sent to: {what}")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A secret that cannot sign.
    #[error("this is not a secret; write 'whsec_' and 24 to 64 bytes in base64")]
    Secret,
    /// A pattern that no event has.
    #[error("'{pattern}' names no event; give names such as stock.taken, patterns such as stock.*, or *")]
    Pattern {
        /// What was given.
        pattern: String,
    },
    /// A template of accounts that cannot be one.
    #[error("'{template}' is not a template of accounts: {what}")]
    Template {
        /// What was given.
        template: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A cursor that no page gave.
    #[error("the cursor '{cursor}' is not one that this list gave; begin without one")]
    Cursor {
        /// What was given.
        cursor: String,
    },
    /// The certificates cannot be used.
    #[error("the certificates in {path} cannot be used: {what}")]
    Certificates {
        /// Where they were looked for.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// The system has no random bytes for a secret or an id.
    #[error("the system gave no random bytes: {what}")]
    Random {
        /// What it said.
        what: String,
    },
}
