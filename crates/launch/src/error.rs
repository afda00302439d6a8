//! Why servers fail to start or run.

use crate::READY_TIMEOUT;

/// Why a server fails to start or run.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The program is missing or cannot be started.
    #[error("{program} cannot be started; install {package} (Debian: apt-get install {package})")]
    Program {
        /// Its name or path.
        program: String,
        /// The Debian package that contains it.
        package: &'static str,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// The server exited at once; `output` is what it printed last.
    #[error("{program} ended at its start: {output}")]
    Ended {
        /// The server's program.
        program: &'static str,
        /// The end of its log.
        output: String,
    },
    /// The server runs, but does not do what it should.
    #[error("{program} did not {what} within {} s; its last words: {output}", READY_TIMEOUT.as_secs())]
    Silent {
        /// The server's program.
        program: &'static str,
        /// What it should do.
        what: &'static str,
        /// The end of its log.
        output: String,
    },
    /// A condition was not met in time.
    #[error("{what} within {} s", READY_TIMEOUT.as_secs())]
    Late {
        /// The condition.
        what: String,
    },
    /// A program that should run to its end failed.
    #[error("{program} failed: {output}")]
    Refused {
        /// The program.
        program: &'static str,
        /// The end of its output.
        output: String,
    },
    #[cfg(feature = "kafka")]
    /// Kafka's jars are missing.
    #[error(
        "no jars of Kafka in {folder}; 'cargo xtask test --only servers' downloads them, \
         SCARCE_KAFKA_JARS names another folder"
    )]
    Jars {
        /// The folder that was searched.
        folder: String,
    },
    #[cfg(feature = "kafka")]
    /// Kafka answered with an error code of its protocol.
    #[error("Kafka did not make the topic '{topic}': error {code} {message}")]
    Topic {
        /// The topic's name.
        topic: String,
        /// The error code.
        code: i16,
        /// Its own message.
        message: String,
    },
    /// An error of a folder, a port or a signal.
    #[error("the system refused")]
    System(#[from] std::io::Error),
    #[cfg(feature = "redis")]
    /// A Redis server answered with an error.
    #[error("the server refused")]
    Server(#[from] ::redis::RedisError),
}
