//! Why servers do not run as they should.

use crate::READY_TIMEOUT;

/// Why a server does not run as it should.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The program is not there, or cannot be started.
    #[error("{program} cannot be started; install {package} (Debian: apt-get install {package})")]
    Program {
        /// Its name or path.
        program: String,
        /// The package of Debian that has it.
        package: &'static str,
        /// What the system says.
        #[source]
        source: std::io::Error,
    },
    /// The server ended at once; what it printed last.
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
    /// What was waited for did not come.
    #[error("{what} within {} s", READY_TIMEOUT.as_secs())]
    Late {
        /// What is not so.
        what: String,
    },
    /// A program that was to do something and end did not succeed.
    #[error("{program} failed: {output}")]
    Refused {
        /// The program.
        program: &'static str,
        /// The end of what it printed.
        output: String,
    },
    #[cfg(feature = "kafka")]
    /// Kafka's jars are not there.
    #[error(
        "no jars of Kafka in {folder}; 'cargo xtask test --only servers' downloads them, \
         SCARCE_KAFKA_JARS names another folder"
    )]
    Jars {
        /// Where they were looked for.
        folder: String,
    },
    #[cfg(feature = "kafka")]
    /// Kafka answered with an error, as a number of its protocol.
    #[error("Kafka did not make the topic '{topic}': error {code} {message}")]
    Topic {
        /// The topic's name.
        topic: String,
        /// The number of the error.
        code: i16,
        /// What it says itself.
        message: String,
    },
    /// A folder, a port or a signal.
    #[error("the system refused")]
    System(#[from] std::io::Error),
    #[cfg(feature = "redis")]
    /// A Redis server answered with an error.
    #[error("the server refused")]
    Server(#[from] ::redis::RedisError),
}
