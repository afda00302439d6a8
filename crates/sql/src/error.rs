//! Errors of databases.

use crate::AddressError;

/// Why an operation on a database failed. The messages say what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The address is invalid.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The text is not a valid deployment id.
    #[error("'{id}' is not a deployment id; give the 32 hexadecimal digits of the deployment")]
    Deployment {
        /// What was given.
        id: String,
    },
    /// The tables belong to another deployment.
    #[error(
        "{database} has the tables of deployment {found}, and this is deployment {wanted}; give each deployment a database of its own"
    )]
    OtherDeployment {
        /// Which database.
        database: String,
        /// The deployment that its tables belong to.
        found: String,
        /// The deployment that was expected.
        wanted: String,
    },
    /// The tables were made by a newer release.
    #[error(
        "{database} has tables of version {found}, and this release knows versions up to {known}; {remedy}"
    )]
    Newer {
        /// Which database.
        database: String,
        /// The version of its tables.
        found: i64,
        /// The newest version known here.
        known: i64,
        /// What to do.
        remedy: &'static str,
    },
    /// Creating the tables was interrupted, or someone changed them.
    #[error("the tables in {database} are not as this release made them ({what}); {remedy}")]
    Tables {
        /// Which database.
        database: String,
        /// The difference.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// A database that must not be created lacks the tables.
    #[error("{database} has no {what}; {remedy}")]
    NoTables {
        /// Which database.
        database: String,
        /// What its tables would be.
        what: &'static str,
        /// What to do.
        remedy: &'static str,
    },
    /// The database does not answer, or refuses a request.
    #[error("{database}: {what}")]
    Failed {
        /// Which database.
        database: String,
        /// What is wrong, and what to do.
        what: String,
    },
    /// The database did not answer in time.
    #[error("{database} has not answered within {timeout_ms} ms; check whether it is overloaded or hangs")]
    Late {
        /// Which database.
        database: String,
        /// How long we waited.
        timeout_ms: u128,
    },
}
