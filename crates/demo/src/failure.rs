//! How a demonstration ends: with a proof that holds or not, or before there is one.

use scarce_client::ClientError;
use scarce_launch::LaunchError;
use scarce_projection::ProjectionError;

/// What the proof says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every promise was kept.
    Holds,
    /// A promise was broken.
    Broken,
}

/// Why there is no proof.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    /// The command line is invalid.
    #[error("{0}")]
    Usage(String),
    /// A step did not go as it must.
    #[error("{0}")]
    Step(String),
    /// The demonstration's server did not answer.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A file, a terminal or a process refused.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// Something below failed.
    #[error(transparent)]
    Cause(Box<dyn std::error::Error + Send + Sync>),
    /// There is no Redis for the demonstration.
    #[error(
        "{program} cannot be started; install {package} (Debian: apt-get install {package}), \
         or name a Redis of your own with --redis-url"
    )]
    NoRedis {
        /// Its name or path.
        program: String,
        /// The Debian package that contains it.
        package: &'static str,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
}

impl DemoError {
    /// A step that did not go as it must.
    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self::Step(text.into())
    }

    /// An invalid command line.
    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::Usage(text.into())
    }

    /// A failure of something below.
    pub(crate) fn caused_by(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Cause(Box::new(error))
    }
}

impl From<LaunchError> for DemoError {
    fn from(error: LaunchError) -> Self {
        match error {
            LaunchError::Program { program, package, source } => Self::NoRedis { program, package, source },
            error => Self::caused_by(error),
        }
    }
}

impl From<ProjectionError> for DemoError {
    fn from(error: ProjectionError) -> Self {
        Self::caused_by(error)
    }
}
