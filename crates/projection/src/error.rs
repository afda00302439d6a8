//! Why the projection as a whole cannot do what it is asked for.

use scarce_sql::AddressError;

/// Why a projection cannot be opened, looked at or dropped. The texts say what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectionError {
    /// The address begins with something that names no database we know.
    #[error("'{scheme}:' is no database that can be projected into; write sqlite:, postgres: or mysql:")]
    Scheme {
        /// What stands before the colon.
        scheme: String,
    },
    /// The address cannot be read.
    #[error(
        "the database's address cannot be read; write it as sqlite:///path/file.db or scheme://user:password@host:port/database"
    )]
    Address {
        /// What is wrong with it.
        #[source]
        source: sqlx::Error,
    },
    /// The deployment's id is none.
    #[error("'{id}' is no deployment id; give the 32 hexadecimal digits of the deployment")]
    Deployment {
        /// What was given.
        id: String,
    },
    /// The database holds the log of another deployment.
    #[error(
        "{database} holds the log of deployment {found}, and this is deployment {wanted}; give each deployment a database of its own"
    )]
    OtherDeployment {
        /// Which database.
        database: String,
        /// Whose log it holds.
        found: String,
        /// Whose log was to be projected.
        wanted: String,
    },
    /// The tables were made by a newer release.
    #[error(
        "{database} has tables of version {found}, and this release knows them up to version {known}; start the newer release, or drop the tables and rebuild"
    )]
    Newer {
        /// Which database.
        database: String,
        /// The version of its tables.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// Making the tables was interrupted, or somebody made others.
    #[error(
        "the tables in {database} are not as this release made them ({what}); drop all tables of the projection, and it makes them anew"
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
    /// No log was ever projected into the database.
    #[error("{database} holds no projection; name the database that 'scarce serve --sql' writes into")]
    Nothing {
        /// Which database.
        database: String,
    },
    /// The tables are being emptied.
    #[error("{database} is being emptied to be built anew; if that was interrupted, rebuild it again")]
    Rebuilding {
        /// Which database.
        database: String,
    },
    /// Nothing came within the time that is given to everything.
    #[error(
        "{database} has not answered within {timeout_ms} ms; look whether it is overloaded or stands still"
    )]
    Late {
        /// Which database.
        database: String,
        /// How long was waited.
        timeout_ms: u128,
    },
    /// A cursor that no page gave.
    #[error("the cursor '{cursor}' is not one that this list gave; begin without one")]
    Cursor {
        /// What was given.
        cursor: String,
    },
    /// A row cannot be written as JSON.
    #[error("a row of the tables cannot be shown as JSON")]
    Shown {
        /// Why not.
        #[source]
        source: serde_json::Error,
    },
}

impl From<AddressError> for ProjectionError {
    fn from(error: AddressError) -> Self {
        match error {
            AddressError::Scheme { scheme } => Self::Scheme { scheme },
            AddressError::Unreadable { source } => Self::Address { source },
        }
    }
}
