//! Whether a Kafka broker behaves as documented.

use std::io::Write;
use std::process::{Command, Stdio};

mod certificates;

use scarce_launch::{Kafka, KafkaOptions, LaunchError};

/// Writes lines to a topic with Kafka's own tool; returns whether all of them were acknowledged.
fn produce(server: &Kafka, topic: &str, lines: &str) -> bool {
    let mut tool = server.tool("org.apache.kafka.tools.ConsoleProducer");
    tool.args(["--bootstrap-server", &server.brokers(), "--topic", topic, "--sync"]);
    tool.args(["--producer-property", "acks=all"]);
    let mut tool = tool.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it runs");
    tool.stdin.take().expect("piped").write_all(lines.as_bytes()).expect("written");
    tool.wait().expect("it ends").success()
}

/// Reads `count` messages from the beginning of a topic with Kafka's own tool.
fn consume(server: &Kafka, topic: &str, count: usize) -> Command {
    let mut tool = server.tool("org.apache.kafka.tools.consumer.ConsoleConsumer");
    tool.args(["--bootstrap-server", &server.brokers(), "--topic", topic, "--from-beginning"]);
    tool.args(["--max-messages", &count.to_string()]).stdin(Stdio::null()).stdout(Stdio::piped());
    tool
}

fn consumed(server: &Kafka, topic: &str, count: usize) -> String {
    String::from_utf8(consume(server, topic, count).output().expect("it runs").stdout).expect("text")
}

#[test]
fn an_acknowledged_message_outlives_a_kill() {
    let mut server = Kafka::start(&KafkaOptions::new()).expect("a broker");
    server.create_topic("orders", 2).expect("a topic");
    assert!(produce(&server, "orders", "first\n"));
    let brokers = server.brokers();
    server.kill().expect("killed");
    assert!(std::net::TcpStream::connect(&brokers).is_err());
    server.start_again().expect("started again");
    assert_eq!(server.brokers(), brokers);
    assert_eq!(consumed(&server, "orders", 1), "first\n");
}

#[test]
fn a_topic_is_made_once() {
    let server = Kafka::start(&KafkaOptions::new().in_memory()).expect("a broker");
    server.create_topic("orders", 3).expect("a topic");
    let again = server.create_topic("orders", 3).expect_err("there is one");
    assert!(matches!(&again, LaunchError::Topic { code: 36, .. }), "{again}");
    assert!(again.to_string().contains("already exists"), "{again}");
    let none = server.create_topic("no name", 1).expect_err("there is a blank in it");
    assert!(matches!(none, LaunchError::Topic { code: 17, .. }), "{none}");
    let mut tool = server.tool("org.apache.kafka.tools.TopicCommand");
    tool.args(["--bootstrap-server", &server.brokers(), "--describe", "--topic", "orders"]);
    let said = String::from_utf8(tool.output().expect("it runs").stdout).expect("text");
    assert!(said.contains("PartitionCount: 3"), "{said}");
}

#[test]
fn a_stopped_one_starts_again_with_what_it_had_and_a_paused_one_goes_on() {
    let mut server = Kafka::start(&KafkaOptions::new()).expect("a broker");
    server.create_topic("orders", 1).expect("a topic");
    assert!(produce(&server, "orders", "first\nsecond\n"));
    server.stop().expect("stopped");
    let other = std::net::TcpListener::bind(server.brokers()).expect("the port is free");
    let error = server.start_again().expect_err("it cannot start").to_string();
    // This text makes the launcher retry on other ports.
    assert!(error.contains("Address already in use"), "{error}");
    drop(other);
    server.start_again().expect("started again");
    server.pause().expect("paused");
    let mut asked = consume(&server, "orders", 2).spawn().expect("it runs");
    assert!(asked.try_wait().expect("looked").is_none());
    server.resume().expect("resumed");
    assert_eq!(asked.wait_with_output().expect("it ends").stdout, b"first\nsecond\n");
}

#[test]
fn who_is_not_known_or_does_not_encrypt_is_not_let_in() {
    let folder = certificates::folder();
    let options = KafkaOptions::new().with_user("shop", "secret").with_tls(folder.path());
    let server = Kafka::start(&options).expect("a broker");
    server.create_topic("orders", 1).expect("a topic");
    let is_let_in = |protocol: &str, mechanism: &str, module: &str, password: &str| {
        let settings = folder.path().join("client.properties");
        let authority = folder.path().join("ca.crt").display().to_string();
        let module = format!("org.apache.kafka.common.security.{module} required");
        let lines = format!(
            "security.protocol={protocol}\nsasl.mechanism={mechanism}\nssl.truststore.type=PEM\n\
             ssl.truststore.location={authority}\ndefault.api.timeout.ms=8000\nrequest.timeout.ms=4000\n\
             sasl.jaas.config={module} username=\"shop\" password=\"{password}\";\n"
        );
        std::fs::write(&settings, lines).expect("written");
        let mut tool = server.tool("org.apache.kafka.tools.TopicCommand");
        tool.args(["--bootstrap-server", &server.brokers(), "--list", "--command-config"]).arg(settings);
        tool.stderr(Stdio::null()).output().expect("it runs").stdout == b"orders\n"
    };
    let (plain, scram) = ("plain.PlainLoginModule", "scram.ScramLoginModule");
    assert!(is_let_in("SASL_SSL", "PLAIN", plain, "secret"));
    assert!(is_let_in("SASL_SSL", "SCRAM-SHA-256", scram, "secret"));
    assert!(is_let_in("SASL_SSL", "SCRAM-SHA-512", scram, "secret"));
    assert!(!is_let_in("SASL_SSL", "SCRAM-SHA-512", scram, "wrong"));
    assert!(!is_let_in("SASL_PLAINTEXT", "PLAIN", plain, "secret"));
}

#[test]
fn settings_hold_and_what_does_not_start_says_why() {
    let wrong = KafkaOptions::new().with("message.max.bytes", "plenty");
    let error = Kafka::start(&wrong).expect_err("it cannot start").to_string();
    assert!(error.contains("message.max.bytes") && error.contains("plenty"), "{error}");
    let server =
        Kafka::start(&KafkaOptions::new().with("auto.create.topics.enable", "true")).expect("a broker");
    assert!(produce(&server, "made-by-itself", "first\n"));
}
