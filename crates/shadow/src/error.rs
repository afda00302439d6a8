//! Why there is no shadow.

/// Why there is no shadow.
#[derive(Debug, thiserror::Error)]
pub enum ShadowError {
    /// The map is wrong.
    #[error("the map of calls is wrong: {what}")]
    Map {
        /// What is wrong.
        what: String,
    },
    /// The proxy cannot listen.
    #[error("cannot listen on {address}")]
    Listen {
        /// Where.
        address: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}
