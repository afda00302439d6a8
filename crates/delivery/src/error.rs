//! Why something about delivery cannot be done.

use scarce_sql::{AddressError, Remedies, describe};

/// What those who look after the tables are to do.
const REMEDIES: Remedies = Remedies {
    missing: "put the table or column back, or restore the delivery_ tables from a copy",
    unreadable: "put the schema back, or restore the delivery_ tables from a copy",
    contradiction: "what is to be written contradicts the tables: if rows were changed by hand, put them back",
    damaged: "the file is damaged or no SQLite database; restore it from a copy",
};

/// Why something about delivery cannot be done. The texts say what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DeliveryError {
    /// The address names no database.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The deployment's id is none.
    #[error("'{id}' is no deployment id; give the 32 hexadecimal digits of the deployment")]
    Deployment {
        /// What was given.
        id: String,
    },
    /// The database delivers for another deployment.
    #[error(
        "{database} delivers for deployment {found}, and this is deployment {wanted}; give each deployment a database of its own"
    )]
    OtherDeployment {
        /// Which database.
        database: String,
        /// For whom it delivers.
        found: String,
        /// For whom it was to deliver.
        wanted: String,
    },
    /// The tables were made by a newer release.
    #[error(
        "{database} has delivery tables of version {found}, and this release knows them up to version {known}; start the newer release"
    )]
    Newer {
        /// Which database.
        database: String,
        /// The version of its tables.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// Somebody made other tables.
    #[error(
        "the delivery_ tables in {database} are not as this release made them ({what}); restore them from a copy"
    )]
    Tables {
        /// Which database.
        database: String,
        /// What is not so.
        what: String,
    },
    /// The database does not answer, or refuses.
    #[error("{database}: {what}")]
    Database {
        /// Which database.
        database: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// The database stands still.
    #[error(
        "{database} has not answered within {timeout_ms} ms; look whether it is overloaded or stands still"
    )]
    Late {
        /// Which database.
        database: String,
        /// How long was waited.
        timeout_ms: u128,
    },
    /// An address that nothing can be sent to.
    #[error("'{url}' cannot be sent to: {what}")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// A secret that cannot sign.
    #[error("the secret is none: it is 'whsec_' and 24 to 64 bytes as base64")]
    Secret,
    /// A pattern that no event has.
    #[error("'{pattern}' names no event; give names such as stock.taken, patterns such as stock.*, or *")]
    Pattern {
        /// What was given.
        pattern: String,
    },
    /// A template of accounts that cannot be one.
    #[error("'{template}' is no template of accounts: {what}")]
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

/// An error of a database with its text for people.
pub(crate) fn failure(database: &impl ToString, source: &sqlx::Error) -> DeliveryError {
    DeliveryError::Database { database: database.to_string(), what: describe(source, &REMEDIES) }
}
