//! `scarce shadow`: callers notice nothing, and what Scarce would have answered is compared from one moment on.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use redis::{Commands, Connection, Value, cmd};
use scarce_launch::Server as Redis;
use serde_json::json;

use crate::shop::{Desk, fill};
use crate::support::{Server, redis_server, scarce, wait_until};

/// Takes one unit; answers what is left, or −1.
const TAKE: &str = "local left = tonumber(redis.call('GET', KEYS[1]))
if left < 1 then return -1 end
redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
return redis.call('DECR', KEYS[1])";

/// The debit of most teams, which takes whatever `tonumber` takes.
const DEBIT: &str = "local balance = redis.call('GET', KEYS[1])
if not balance then return -2 end
local left = tonumber(balance) - tonumber(ARGV[1])
if left < 0 then return -3 end
redis.call('SET', KEYS[1], tostring(left))
return left";

const KEYS: &str = r#"
[[stock]]
key = "stock:{sku}"
type = "string"
sku = "{sku}"
[[stock.taken]]
key = "bought:{sku}"
type = "hash"

[[accounts]]
key = "balance:{user}"
type = "string"
account = "{user}"
asset = "EUR"
"#;

const CALLS: &str = r#"
[[calls]]
on = "script:take.lua"
keys = ["stock:{sku}"]
args = ["{user}"]
command = "STOCK.TAKE {sku} 1 {user}"
answers = [["-1", "SOLD_OUT"], ["{left}", "OK _ {left}"]]

[[calls]]
on = "script:debit.lua"
keys = ["balance:{user}"]
args = ["{amount}"]
command = "ACCOUNT.DEBIT {user} {amount}"
answers = [["-2", "ACCOUNT_NOT_FOUND"], ["-3", "INSUFFICIENT_FUNDS"], ["{left}", "OK {left}"]]
"#;

/// A Redis in use, a Scarce, and the proxy between callers and the former.
struct Stage {
    redis: Redis,
    desk: Desk,
    scarce: Server,
    proxy: Child,
    output: BufReader<ChildStdout>,
    port: String,
    _data: tempfile::TempDir,
}

impl Stage {
    fn start(keys: &str) -> Self {
        let (redis, desk, data) = (redis_server(&[]), Desk::new(KEYS), tempfile::tempdir().unwrap());
        fill(&redis, keys);
        for (name, text) in [("take.lua", TAKE), ("debit.lua", DEBIT), ("calls.toml", CALLS)] {
            desk.file(name, text);
        }
        let scarce = Server::start(data.path(), &[]);
        let mut command = shadow(&desk, &redis.url());
        command.args(["--resp", &scarce.address, "--map", "map.toml", "--run", "monday", "--retry-for", "1"]);
        let mut proxy = command.spawn().unwrap();
        let mut output = BufReader::new(proxy.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let port = line
            .split(':')
            .nth(1)
            .and_then(|rest| rest.split(',').next())
            .unwrap_or_else(|| panic!("{line}"));
        let port = port.to_owned();
        Self { redis, desk, scarce, proxy, output, port, _data: data }
    }

    /// A caller's connection.
    fn caller(&self) -> Connection {
        let client = redis::Client::open(format!("redis://127.0.0.1:{}", self.port)).unwrap();
        client.get_connection().unwrap()
    }

    fn begin(&self) {
        cmd("SHADOW").arg("BEGIN").query::<()>(&mut self.caller()).unwrap();
    }

    fn report(&self) -> serde_json::Value {
        let text: String = cmd("SHADOW").arg("REPORT").query(&mut self.caller()).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    /// Ends the proxy; gives its report.
    fn end(&mut self, exit: i32) -> serde_json::Value {
        let pid = rustix::process::Pid::from_child(&self.proxy);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let mut rest = String::new();
        self.output.read_to_string(&mut rest).unwrap();
        let code = self.proxy.wait().unwrap().code();
        assert_eq!(code, Some(exit), "{rest}");
        serde_json::from_str(&rest).unwrap_or_else(|error| panic!("{error}: {rest}"))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}

fn shadow(desk: &Desk, from: &str) -> Command {
    let mut command = scarce();
    command.current_dir(desk.path()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    command.args(["shadow", "--json", "--listen", "127.0.0.1:0", "--calls", "calls.toml", "--from", from]);
    command
}

fn take(connection: &mut Connection, sku: &str, user: &str) -> i64 {
    let mut call = cmd("EVAL");
    call.arg(TAKE).arg(2).arg(format!("stock:{sku}")).arg(format!("bought:{sku}")).arg(user);
    call.query(connection).unwrap()
}

fn debit(connection: &mut Connection, user: &str, amount: &str) -> Value {
    cmd("EVAL").arg(DEBIT).arg(1).arg(format!("balance:{user}")).arg(amount).query(connection).unwrap()
}

#[test]
fn what_many_callers_are_answered_is_what_scarce_answers_from_one_moment_on() {
    let mut keys: String = (0..8).map(|user| format!("SET balance:u{user} 1000000\n")).collect();
    keys.push_str("SET stock:shoe 100000000\nSET stock:hat 400");
    let mut stage = Stage::start(&keys);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for caller in 0..4_u64 {
            let (stage, stop) = (&stage, &stop);
            scope.spawn(move || {
                let (mut connection, mut random) = (stage.caller(), fastrand::Rng::with_seed(caller));
                while !stop.load(Ordering::Relaxed) {
                    let user = format!("u{}", random.u32(0..8));
                    match random.u32(0..3) {
                        0 => drop(debit(&mut connection, &user, &random.u32(1..9).to_string())),
                        1 => drop(take(&mut connection, "shoe", &user)),
                        _ => drop(take(&mut connection, "hat", &user)),
                    }
                }
            });
        }
        let count = |name: &str| stage.report()[name].as_u64().unwrap();
        wait_until("callers are busy", || count("not_compared") > 300);
        stage.begin();
        let compared = || {
            stage.report()["calls"]
                .as_array()
                .unwrap()
                .iter()
                .map(|call| call["equal"].as_u64().unwrap())
                .sum::<u64>()
        };
        wait_until("much is compared, beyond the last hat", || compared() > 2_000);
        stop.store(true, Ordering::Relaxed);
    });
    wait_until("all is compared", || stage.report()["waiting"] == 0);
    let target = ["--resp", &stage.scarce.address, "--compare"];
    let compared = stage.desk.json(&stage.redis.url(), &target, 0);
    assert_eq!(compared["differences"], json!([]), "{compared}");
    let report = stage.end(0);
    assert_eq!(report["broken_off"], json!(null), "{report}");
    assert_eq!(report["calls"][0]["different"], 0, "{report}");
    assert_eq!(report["calls"][1]["different"], 0, "{report}");
}

#[test]
fn what_a_script_does_otherwise_is_shown_with_both_answers() {
    let mut stage = Stage::start("SET balance:alice 100\nSET stock:shoe 1");
    stage.begin();
    let mut caller = stage.caller();
    assert_eq!(debit(&mut caller, "alice", "30"), Value::Int(70));
    assert_eq!(debit(&mut caller, "alice", "0.5"), Value::Int(69));
    assert_eq!(debit(&mut caller, "nobody", "1"), Value::Int(-2));
    assert_eq!(take(&mut caller, "shoe", "bob"), 0);
    assert_eq!(take(&mut caller, "shoe", "carol"), -1);
    // One who goes past the proxy.
    fill(&stage.redis, "SET stock:shoe 5");
    assert_eq!(take(&mut caller, "shoe", "carol"), 4);
    let again: Result<(), _> = cmd("SHADOW").arg("BEGIN").query(&mut caller);
    assert!(again.unwrap_err().to_string().contains("begun already"));
    let report = stage.end(5);
    let calls = &report["calls"];
    assert_eq!((&calls[1]["equal"], &calls[1]["different"]), (&json!(2), &json!(1)), "{report}");
    let difference = &calls[1]["differences"][0];
    assert_eq!(difference["command"], "ACCOUNT.DEBIT alice 0.5", "{report}");
    assert_eq!((&difference["redis"], &difference["expected"]), (&json!("69"), &json!("OK 69")), "{report}");
    assert!(difference["scarce"].as_str().unwrap().starts_with("INVALID amount"), "{report}");
    let bypassed = &calls[0]["differences"][0];
    assert_eq!((&bypassed["redis"], &bypassed["scarce"]), (&json!("4"), &json!("SOLD_OUT 0 1")), "{report}");
}

#[test]
fn callers_notice_nothing() {
    let mut stage = Stage::start("SET stock:shoe 10");
    stage.begin();
    let (mut caller, mut direct) = (stage.caller(), stage.redis.connection().unwrap());
    let large = "x".repeat(3 << 20);
    caller.set::<_, _, ()>("large", &large).unwrap();
    assert_eq!(caller.get::<_, String>("large").unwrap(), large);
    // Long pipelines with calls in between keep their order.
    let mut pipeline = redis::pipe();
    for number in 0..500 {
        pipeline.set("n", number).ignore();
        if number % 100 == 0 {
            pipeline.cmd("EVAL").arg(TAKE).arg(2).arg("stock:shoe").arg("bought:shoe").arg("bob");
        }
        pipeline.get("n");
    }
    let answers: Vec<i64> = pipeline.query(&mut caller).unwrap();
    assert_eq!((answers.len(), answers[..3].to_vec(), answers[504]), (505, vec![9, 0, 1], 499));
    // A transaction, another database, and errors are passed on as they are.
    let eval = |connection: &mut Connection| {
        cmd("EVAL")
            .arg(TAKE)
            .arg(2)
            .arg("stock:shoe")
            .arg("bought:shoe")
            .arg("eve")
            .query::<Value>(connection)
    };
    cmd("MULTI").query::<()>(&mut caller).unwrap();
    assert_eq!(eval(&mut caller).unwrap(), Value::SimpleString("QUEUED".to_owned()));
    assert_eq!(cmd("EXEC").query::<Vec<i64>>(&mut caller).unwrap(), [4]);
    cmd("SELECT").arg(1).query::<()>(&mut caller).unwrap();
    assert!(eval(&mut caller).is_err(), "there is no stock in that database");
    let unknown = cmd("EVALSHA").arg("0".repeat(40)).arg(0).query::<()>(&mut caller).unwrap_err();
    assert!(
        unknown.to_string().contains("NoScript") || unknown.to_string().contains("NOSCRIPT"),
        "{unknown}"
    );
    // Messages come when they come.
    let mut listener = stage.caller();
    let mut messages = listener.as_pubsub();
    messages.subscribe("news").unwrap();
    let received: i64 = direct.publish("news", "hello").unwrap();
    assert_eq!(received, 1);
    assert_eq!(messages.get_message().unwrap().get_payload::<String>().unwrap(), "hello");
    let report = stage.end(0);
    assert_eq!(
        (&report["calls"][0]["equal"], &report["in_transactions"]),
        (&json!(5), &json!(1)),
        "{report}"
    );
    assert_eq!(report["in_other_databases"], 1, "{report}");
}

#[test]
fn callers_are_served_although_scarce_is_away() {
    let mut stage = Stage::start("SET stock:shoe 1000000");
    stage.begin();
    let mut caller = stage.caller();
    take(&mut caller, "shoe", "bob");
    wait_until("it is compared", || stage.report()["calls"][0]["equal"] == 1);
    stage.scarce.kill();
    let mut taken = 0;
    wait_until("comparing is broken off", || {
        assert!(take(&mut caller, "shoe", "bob") > 0);
        taken += 1;
        stage.report()["broken_off"].is_string()
    });
    assert!(take(&mut caller, "shoe", "bob") > 0);
    let report = stage.end(5);
    assert_eq!(report["not_compared"], taken + 1, "{report}");
    assert_eq!(report["state"], "broken off", "{report}");
}

#[test]
fn what_cannot_be_is_told() {
    let (redis, desk) = (redis_server(&[]), Desk::new(KEYS));
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]);
    desk.file("take.lua", TAKE);
    let said = |calls: &str, from: &str, exit: i32| {
        desk.file("calls.toml", calls);
        let mut command = shadow(&desk, from);
        let output = command.args(["--resp", &server.address]).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(exit), "{output:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    let call = |on: &str, command: &str| {
        format!(
            "[[calls]]\non = \"{on}\"\nkeys = [\"stock:{{sku}}\"]\ncommand = \"{command}\"\nanswers = [[\"1\", \"OK\"]]\n"
        )
    };
    for (calls, part) in [
        (String::new(), "missing field `calls`"),
        (call("script:none.lua", "STOCK.TAKE {sku} 1 a"), "cannot read"),
        (call("script:take.lua", "STOCK.GRAB {sku}"), "STOCK.GRAB is not a command"),
        (call("script:take.lua", "STOCK.TAKE {sku} 1 {user}"), "'{user}' is captured by no key"),
        (call("take.lua", "STOCK.TAKE {sku} 1 a"), "on must be script:FILE"),
    ] {
        let said = said(&calls, &redis.url(), 2);
        assert!(said.contains(part), "{calls}\n{said}");
    }
    let good = call("command:DECR", "STOCK.TAKE {sku} 1 a");
    assert!(said(&good, "rediss://127.0.0.1:1", 2).contains("without TLS"));
}
