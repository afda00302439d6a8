//! What can go wrong before the first answer is measured.

use scarce_client::ClientError;

/// Why there is no load.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The server does not answer.
    #[error("cannot reach {address}: {error}; is 'scarce serve' running there?")]
    Unreachable {
        /// Its address.
        address: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// The server does not take the password.
    #[error("the server does not take the password: {outcome}")]
    Password {
        /// Its answer.
        outcome: String,
    },
    /// The connection that creates resources failed.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A resource was refused.
    #[error("{command} was refused: {code}")]
    Refused {
        /// The command that creates it.
        command: String,
        /// The code of the refusal.
        code: String,
    },
    /// A resource was not created.
    #[error("{command} was not done: {text}")]
    NotDone {
        /// The command that creates it.
        command: String,
        /// The error.
        text: String,
    },
}
