//! Brokers that refuse the login are told apart from brokers that are not there.

mod support;

use std::time::{Duration, Instant};

use scarce_kafka::{Commands, KafkaError, KafkaSettings};
use scarce_launch::{Kafka, KafkaOptions};
use support::{Server, settings};

/// How soon the reason is known: well before an absent broker is given up, which takes 20 s.
const TELLING_TIME_MAX: Duration = Duration::from_secs(15);

fn login(settings: &KafkaSettings, password: &str) -> KafkaSettings {
    let properties = [
        ("security.protocol", "SASL_PLAINTEXT"),
        ("sasl.mechanism", "PLAIN"),
        ("sasl.username", "shop"),
        ("sasl.password", password),
    ];
    let extra = properties.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    KafkaSettings { extra, ..settings.clone() }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_told_soon_and_is_not_taken_for_an_absent_broker() {
    let options = KafkaOptions::new().in_memory().with_user("shop", "right");
    let kafka = Kafka::start(&options).expect("a broker");
    let server = Server::start(2);
    let (settings, begun) = (settings(&kafka), Instant::now());
    let refused = Commands::start(&login(&settings, "wrong"), server.engine.clone()).await.err();
    let told_after = begun.elapsed();
    let refused = refused.expect("a refusal");
    assert!(matches!(refused, KafkaError::LoginRefused { .. }), "{refused}");
    assert!(!refused.to_string().contains("wrong"), "{refused}");
    assert!(told_after < TELLING_TIME_MAX, "{told_after:?}");
    let commands = Commands::start(&login(&settings, "right"), server.engine.clone()).await;
    tokio::task::block_in_place(|| commands.expect("it starts").shut_down());
}
