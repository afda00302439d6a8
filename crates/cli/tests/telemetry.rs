//! What a server says of itself: how long commands take at each port, who was turned away, and `scarce top` on all of it.

#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "tls/authority.rs"]
mod authority;
mod support;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use authority::Authority;
use serde_json::{Value, json};
use support::{Server, Terminal, redis_server, said, scarce};
use tempfile::TempDir;

/// A server of each engine, with what each needs.
fn both() -> Vec<(Server, Option<scarce_launch::Server>)> {
    let redis = redis_server(&[]);
    let url = redis.url();
    let inside = Server::fresh(&["--engine", "redis", "--redis-url", &url]);
    vec![(Server::fresh(&["--partitions", "2"]), None), (inside, Some(redis))]
}

/// The value of a metric with these labels, in their order; 0 if there is none.
fn metric(server: &Server, name: &str) -> f64 {
    let text = server.http().get("/metrics").text();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ').map(str::to_owned));
    line.map_or(0.0, |value| value.parse().unwrap())
}

fn info(server: &Server, words: &[&str]) -> String {
    let mut client = server.connect();
    scarce_client::text(&client.call(&[&["INFO"], words].concat()).unwrap()).unwrap()
}

#[test]
fn commands_are_measured_at_both_ports_on_both_engines() {
    for (server, _redis) in both() {
        let mut client = server.connect();
        client.call(&["ACCOUNT.OPEN", "a", "EUR"]).unwrap();
        for at in 0..5 {
            client.call(&["ACCOUNT.CREDIT", "a", "10", "ID", &format!("c-{at}")]).unwrap();
        }
        client.call(&["ACCOUNT.DEBIT", "a", "1000"]).unwrap();
        client.call(&["ACCOUNT.GET", "a"]).unwrap();
        client.call(&["MULTI"]).unwrap();
        client.call(&["ACCOUNT.CREDIT", "a", "1"]).unwrap();
        client.call(&["EXEC"]).unwrap();
        let answer = server.http().post("/v1/accounts/a/credit", &json!({ "amount": 1 }));
        assert_eq!(answer.status, 200);
        let count =
            |labels: &str| metric(&server, &format!("scarce_operation_duration_seconds_count{{{labels}}}"));
        for (command, wanted) in [
            ("ACCOUNT.OPEN", 1.0),
            ("ACCOUNT.CREDIT", 5.0),
            ("ACCOUNT.DEBIT", 1.0),
            ("ACCOUNT.GET", 1.0),
            ("BATCH", 1.0),
        ] {
            let labels = format!("port=\"resp\",command=\"{command}\"");
            assert!((count(&labels) - wanted).abs() < 0.5, "{command}: {}", count(&labels));
            let sum = metric(&server, &format!("scarce_operation_duration_seconds_sum{{{labels}}}"));
            assert!(sum > 0.0 && sum < 60.0 * wanted, "{command}: {sum}");
        }
        let over_http = count("port=\"http\",command=\"ACCOUNT.CREDIT\",status=\"200\"");
        assert!((over_http - 1.0).abs() < 0.5, "{over_http}");
        let told = info(&server, &[]);
        assert!(told.contains("cmdstat_ACCOUNT.CREDIT:calls=6,"), "{told}");
        assert!(told.contains("errorstat_INSUFFICIENT_FUNDS:count=1"), "{told}");
        assert!(told.contains("latency_percentiles_usec_ACCOUNT.CREDIT:p50="), "{told}");
        assert!(!told.contains("latency_histogram_"), "only where it is asked for");
        let part = info(&server, &["LatencyHistograms"]);
        assert!(part.starts_with("# Latencyhistograms") && !part.contains("redis_version"), "{part}");
        assert!(part.contains("latency_histogram_ACCOUNT.GET:50="), "{part}");
    }
}

#[test]
fn connections_the_disk_and_who_is_turned_away_are_metrics() {
    let folder = TempDir::new().unwrap();
    let password = folder.path().join("password");
    std::fs::write(&password, "a long password").unwrap();
    let server = Server::fresh(&["--password-file", password.to_str().unwrap()]);
    let mut strangers = [server.socket(), server.socket()];
    assert!(strangers[0].call(&["AUTH", "a guess"]).starts_with("-WRONGPASS"));
    assert!(strangers[0].call(&["ACCOUNT.GET", "a"]).starts_with("-NOAUTH"));
    assert!(strangers[1].call(&["PING"]).starts_with("-NOAUTH"));
    assert_eq!(server.http().get("/v1/digest").status, 401);
    let mut http = server.http();
    let shown = [("Authorization", "Bearer a long password")];
    let text = http.call("GET", "/metrics", &shown, None).text();
    let figure = |name: &str| -> u64 {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name}: {text}")).parse().unwrap()
    };
    assert_eq!(figure("scarce_denials_total{port=\"resp\",reason=\"WRONG_PASSWORD\"}"), 1);
    assert_eq!(figure("scarce_denials_total{port=\"resp\",reason=\"NO_KEY\"}"), 2);
    assert_eq!(figure("scarce_denials_total{port=\"http\",reason=\"NO_KEY\"}"), 1);
    assert_eq!(figure("scarce_port_connections_open{port=\"resp\"}"), 2);
    assert!(figure("scarce_port_connections_accepted_total{port=\"http\"}") >= 2);
    let (available, size) = (figure("scarce_disk_available_bytes"), figure("scarce_disk_size_bytes"));
    assert!(0 < available && available <= size);
    assert!(figure("process_resident_memory_bytes") > server.resident_kib() * 512);
}

/// `scarce top` that prints an object every 10 ms.
struct Watching {
    child: Child,
    looks: std::io::Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(server: &Server) -> Self {
        let mut command = scarce();
        command.args(["top", "--resp", &server.address, "--interval", "10ms", "--json"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let looks = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, looks }
    }

    fn look(&mut self) -> Value {
        serde_json::from_str(&self.looks.next().unwrap().unwrap()).unwrap()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn top_shows_what_callers_do_on_both_engines() {
    for (server, _redis) in both() {
        let mut client = server.connect();
        client.call(&["ACCOUNT.OPEN", "a", "EUR"]).unwrap();
        let mut top = Watching::start(&server);
        let is_seen = (0..10_000).any(|_| {
            client.call(&["ACCOUNT.CREDIT", "a", "1"]).unwrap();
            client.call(&["ACCOUNT.DEBIT", "a", "1000000000"]).unwrap();
            let activity = &top.look()["activity"];
            let commands = activity["commands"].as_array().unwrap();
            let debits = commands.iter().find(|its| its["command"] == "ACCOUNT.DEBIT");
            let is_refused = debits.is_some_and(|its| {
                its["refused_per_second"].as_f64() > Some(0.0)
                    && its["p50_us"].as_u64() <= its["p99_us"].as_u64()
            });
            let refusals = activity["refusals"].as_array().unwrap();
            is_refused
                && activity["p99_us"].as_u64().is_some_and(|us| us >= 50)
                && activity["per_second"].as_f64() > activity["refused_per_second"].as_f64()
                && refusals
                    .iter()
                    .any(|its| its["code"] == "INSUFFICIENT_FUNDS" && its["total"].as_u64() > Some(0))
        });
        assert!(is_seen);
        drop(top);
        let (code, told, _) =
            said(scarce().args(["top", "--resp", &server.address, "--interval", "10ms", "--once"]));
        assert_eq!(code, Some(0));
        let summary = told.lines().next().unwrap();
        assert!(summary.contains(" commands/s") && summary.contains(", lag 0"), "{told}");
        assert!(told.contains("Refusals") && told.contains("INSUFFICIENT_FUNDS"), "{told}");
        assert!(!told.contains("cmdstat_") && !told.contains("latency_"), "{told}");
    }
}

#[test]
fn top_refreshes_in_a_terminal_until_a_key_is_pressed() {
    let server = Server::fresh(&[]);
    let mut client = server.connect();
    client.call(&["ACCOUNT.OPEN", "a", "EUR"]).unwrap();
    client.call(&["ACCOUNT.DEBIT", "a", "5"]).unwrap();
    let mut command = scarce();
    command.args(["top", "--resp", &server.address, "--interval", "50ms"]);
    let mut terminal = Terminal::start(&mut command);
    terminal.resize(160, 40);
    terminal.expect("commands/s");
    terminal.expect("INSUFFICIENT_FUNDS");
    terminal.expect("commands/s");
    terminal.send("q");
    assert_eq!(terminal.wait_code(), Some(0));
}

fn make_key(data: &Path, name: &str, scope: &str) -> std::path::PathBuf {
    let mut command = scarce();
    command.args(["keys", "create", "--name", name, "--scope", scope, "--data"]).arg(data);
    let (code, made, told) = said(&mut command);
    assert_eq!(code, Some(0), "{told}");
    let file = data.join(format!("{name}.key"));
    std::fs::write(&file, made.trim()).unwrap();
    file
}

#[test]
fn top_works_over_tls_with_a_key_that_may_operate_and_says_what_else_is_wrong() {
    let (folder, data) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let authority = Authority::new();
    authority.sign(folder.path(), "server");
    authority.write(folder.path());
    let at = |name: &str| folder.path().join(name).display().to_string();
    let (operator, reader) =
        (make_key(data.path(), "operator", "operate"), make_key(data.path(), "reader", "read"));
    let options = ["--tls-cert", &at("server.crt"), "--tls-key", &at("server.key")];
    let server = Server::start(data.path(), &options);
    let top = |key: &Path, more: &[&str]| {
        let mut command = scarce();
        command.args(["top", "--resp", &server.address, "--interval", "10ms", "--once", "--password-file"]);
        said(command.arg(key).args(more))
    };
    let ca = at("ca.crt");
    let (code, told, _) = top(&operator, &["--tls-ca", &ca]);
    assert!(code == Some(0) && told.contains("commands/s"), "{told}");
    let (code, _, told) = top(&reader, &["--tls-ca", &ca]);
    assert!(code == Some(3) && told.contains("scope 'operate'"), "{told}");
    let (code, _, told) = top(&operator, &[]);
    assert!(code != Some(0) && told.contains("TLS"), "{told}");
    let (code, _, told) = said(scarce().args(["top", "--resp", "127.0.0.1:1", "--once"]));
    assert!(code == Some(4) && told.contains("scarce serve"), "what to do: {told}");
}
