//! Why nothing could be compared.

use scarce_delivery::DeliveryError;
use scarce_engine::Failure;
use scarce_engine_embedded::EmbeddedError;
use scarce_mirror::MirrorError;
use scarce_projection::ProjectionError;

/// Why a reconciliation could not be made. What differs is no error; it is in the report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReconcileError {
    /// The two sides do not belong together.
    #[error("{what} holds deployment {found}, and the log is of {expected}; name those that belong together")]
    OtherDeployment {
        /// Which side.
        what: String,
        /// Whose it is.
        found: String,
        /// Whose the log is.
        expected: String,
    },
    /// The log contradicts itself, or a part of it is damaged or gone. Reported as a finding.
    #[error("{what}")]
    Broken {
        /// What is wrong with it.
        what: String,
    },
    /// The engine could not answer.
    #[error(transparent)]
    Engine(#[from] Failure),
    /// The log was trimmed while it was compared.
    #[error(
        "the log of partition {partition} was trimmed up to {} while it was compared, and event {next} was still to be read: it is \
         kept for less time than a comparison takes; raise --redis-log-retention-ms or --log-retention-ms, or start it again \
         when there is less load", first - 1
    )]
    Trimmed {
        /// Whose log.
        partition: u32,
        /// The event that was still to be read.
        next: u64,
        /// The first event that is left.
        first: u64,
    },
    /// The engine was reached by other means, and could not answer.
    #[error("the engine did not answer: {what}")]
    Unanswered {
        /// Why.
        what: String,
    },
    /// The files of the log cannot be read.
    #[error("the files of partition {partition} cannot be read")]
    Files {
        /// Whose files.
        partition: u32,
        /// Why.
        #[source]
        source: Box<EmbeddedError>,
    },
    /// The tables cannot be read.
    #[error(transparent)]
    Tables(#[from] ProjectionError),
    /// The settlements cannot be read.
    #[error(transparent)]
    Settlements(#[from] DeliveryError),
    /// The mirror cannot be read.
    #[error(transparent)]
    Mirror(#[from] MirrorError),
    /// The copy of the log cannot be read, such as a topic.
    #[error("{what}")]
    Copy {
        /// Why.
        what: String,
    },
    /// The log is replayed into a file, and that cannot be written.
    #[error("the log of partition {partition} cannot be replayed: {what}")]
    Replay {
        /// Whose log.
        partition: u32,
        /// Why.
        what: String,
    },
    /// It was not to go on.
    #[error("it was stopped")]
    Stopped,
    /// A file of its own cannot be made.
    #[error("no temporary folder could be made for the replayed log")]
    Folder(#[source] std::io::Error),
}
