//! Errors of Kafka.

use rdkafka::error::KafkaError as Source;

/// An error of Kafka, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum KafkaError {
    /// This crate sets the librdkafka setting itself.
    #[error(
        "'{name}' cannot be passed to librdkafka; it has a setting of its own, or what is promised rests on it"
    )]
    OwnSetting {
        /// Its name.
        name: String,
    },
    /// librdkafka refuses a setting. Its value is not shown, because it may be a secret.
    #[error(
        "librdkafka does not take the setting '{name}'; see its CONFIGURATION.md for the names and what they may be"
    )]
    Setting {
        /// Its name.
        name: String,
    },
    /// A setting needs TLS, or hashes that come with it, and this binary was built without.
    #[error(
        "'{name}={value}' needs TLS for Kafka, and this binary was built without it; build it with `--features kafka-tls` (needs libssl-dev and pkg-config), or `--features kafka-tls-vendored`, which builds OpenSSL, too"
    )]
    WithoutTls {
        /// The setting's name.
        name: String,
        /// Its value.
        value: String,
    },
    /// librdkafka refuses the settings as a whole.
    #[error("no client of Kafka can be made of the settings: {reason}; correct what is passed to librdkafka")]
    Settings {
        /// Why.
        reason: String,
    },
    /// No broker answers.
    #[error(
        "no broker at {brokers} answers: {reason}; check the address, and how the brokers want to be spoken to"
    )]
    Unreachable {
        /// The addresses.
        brokers: String,
        /// The last error.
        reason: String,
    },
    /// The brokers refuse the login.
    #[error(
        "the brokers at {brokers} refuse the login: {reason}; correct the user (sasl.username), the password (--kafka-password-file) and the mechanism (sasl.mechanism)"
    )]
    LoginRefused {
        /// The addresses.
        brokers: String,
        /// What they said.
        reason: String,
    },
    /// A topic is missing.
    #[error("there is no topic '{topic}'; let Scarce create topics, or create it with\n  {command}")]
    NoTopic {
        /// Its name.
        topic: String,
        /// The command that creates it.
        command: String,
    },
    /// A topic's number of partitions differs from the engine's.
    #[error("the topic '{topic}' has {found} partitions and the engine has {wanted}; {advice}")]
    Partitions {
        /// Its name.
        topic: String,
        /// How many it has.
        found: usize,
        /// How many it must have.
        wanted: u32,
        /// What to do.
        advice: String,
    },
    /// A topic could not be created.
    #[error("the topic '{topic}' could not be created: {reason}; create it with\n  {command}")]
    NotCreated {
        /// Its name.
        topic: String,
        /// Why.
        reason: String,
        /// The command that creates it.
        command: String,
    },
    /// A request to the brokers failed.
    #[error("Kafka did not {what} of '{topic}'; look at the brokers, and whether this client may do it")]
    Request {
        /// The request.
        what: &'static str,
        /// The topic.
        topic: String,
        /// Why.
        #[source]
        source: Source,
    },
    /// The topic of events is not one of this deployment.
    #[error("{reason}")]
    Events {
        /// What is wrong, and what to do.
        reason: String,
    },
    /// A thread could not be started.
    #[error("the thread '{name}' could not be started")]
    Thread {
        /// Its name.
        name: &'static str,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl KafkaError {
    /// The reason why no client could be created. librdkafka's message contains the setting's value, which
    /// may be a secret.
    pub(crate) fn of_settings(error: Source) -> Self {
        match error {
            Source::ClientConfig(_, _, name, _) => Self::Setting { name },
            other => Self::Settings { reason: other.to_string() },
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::KafkaSettings;
    use rdkafka::producer::BaseProducer;

    #[test]
    fn a_refused_setting_is_named_and_its_value_is_not() {
        for name in ["sasl.pasword", "statistics.interval.ms"] {
            let mut settings = KafkaSettings::new("localhost:9092");
            settings.extra.push((name.to_owned(), "hunter2".to_owned()));
            let config = settings.producer().expect("a configuration");
            let Err(error) = config.create::<BaseProducer>() else { panic!("{name} was taken") };
            let error = super::KafkaError::of_settings(error);
            let shown = format!("{error} {error:?}");
            assert!(shown.contains(name) && !shown.contains("hunter2"), "{shown}");
        }
    }
}
