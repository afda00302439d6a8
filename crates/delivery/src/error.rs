//! Errors of delivery.

use scarce_sql::DatabaseError;

/// An error of delivery. The messages say what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeliveryError {
    /// An operation on the database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// An address that cannot be sent to.
    #[error("'{url}' cannot be sent to: {what}")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// An invalid secret.
    #[error("this is not a secret; write 'whsec_' and 24 to 64 bytes in base64")]
    Secret,
    /// Invalid keys for secrets.
    #[error(
        "these are no keys for secrets; write 32 random bytes in base64, one key on a line: openssl rand -base64 32"
    )]
    SecretKey,
    /// An invalid reference to a secret.
    #[error("'{reference}' does not say where a secret is; write file:/path or env:NAME")]
    SecretReference {
        /// What was given.
        reference: String,
    },
    /// A secret that is kept elsewhere cannot be read.
    #[error("its secret cannot be read from {reference}: {what}")]
    UnreadableReference {
        /// Where it is kept.
        reference: String,
        /// What is wrong.
        what: String,
    },
    /// A secret is encrypted with a key that is not there.
    #[error(
        "its secret is encrypted with the key {key}, which is not in --secrets-key-file; put that key back, or rotate the secret"
    )]
    OtherSecretKey {
        /// The id of the key.
        key: String,
    },
    /// A secret that was changed in the table.
    #[error("its secret was changed in the database, or belongs to another endpoint; rotate the secret")]
    DamagedSecret,
    /// A pattern that matches no event.
    #[error("'{pattern}' names no event; give names such as stock.taken, patterns such as stock.*, or *")]
    Pattern {
        /// What was given.
        pattern: String,
    },
    /// An invalid template of accounts.
    #[error("'{template}' is not a template of accounts: {what}")]
    Template {
        /// What was given.
        template: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A cursor that is not from a page.
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
        /// The error of the system.
        what: String,
    },
}
