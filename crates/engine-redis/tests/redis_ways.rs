//! The common commands by plain code and by the general way: the same requests give the same answers and the same bytes
//! in the same keys.

#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use scarce_core::command::{Body, Effect, Envelope};
use scarce_core::state::StateSettings;
use scarce_engine::Request;
use scarce_engine_redis::call::{self, EncodedRequest, Heading, Owed};
use scarce_engine_redis::keys::Keys;
use scarce_engine_redis::library::{ClockSource, Library};
use scarce_sim::compare::envelope;
use scarce_sim::random::{Random, Sequence, Step};
use servers::{Server, connection};

/// How many requests a call has.
const TOGETHER: usize = 25;

/// How long the sequences of common commands are.
const COMMON: usize = 2_400;

/// Where the library tries the plain code, and what it does without it.
const TRIED: &str = "function plain.serve(values, at, receipts, count, events_max)\n";
const UNTRIED: &str =
    "function plain.serve(values, at, receipts, count, events_max)\n  do return at, count end\n";

/// A library that is loaded under a name of its own, and the keys that it is called with.
struct Way {
    name: String,
    keys: Keys,
}

impl Way {
    /// Loads the library with something else in place of what is there.
    fn load(server: &Server, name: &str, there: &str, instead: &str) -> Self {
        let library = Library::new(ClockSource::Call);
        let text = library.functions().replace(&library.name, name);
        assert!(text.contains(there), "'{there}' is not there");
        let text = text.replacen(there, instead, 1);
        server.ask::<String>(&["FUNCTION", "LOAD", "REPLACE", &text]).expect("the library");
        Self { name: name.to_owned(), keys: Keys::new(&format!("{name}:"), 0, 1) }
    }

    fn call(&self, server: &Server, message: &[u8]) -> redis::RedisResult<redis::Value> {
        let mut command = redis::cmd("FCALL");
        command.arg(&self.name).arg(self.keys.all().len()).arg(self.keys.all()).arg(message).arg("write");
        command.query(&mut connection(server))
    }

    /// Every key with what it holds, hashes in the order of their fields.
    fn image(&self, server: &Server) -> Vec<(String, redis::Value)> {
        let connection = &mut connection(server);
        let mut image = Vec::new();
        for (name, key) in scarce_engine_redis::keys::NAMES.iter().zip(self.keys.all()) {
            let kind: String = redis::cmd("TYPE").arg(key).query(connection).expect("a type");
            let words: &[&str] = match kind.as_str() {
                "hash" => &["HGETALL", key],
                "zset" => &["ZRANGE", key, "0", "-1"],
                "list" => &["LRANGE", key, "0", "-1"],
                "stream" => &["XRANGE", key, "-", "+"],
                _ => continue,
            };
            let mut held: redis::Value = server.ask(words).expect("what it holds");
            if let (redis::Value::Array(words), "hash") = (&mut held, kind.as_str()) {
                let mut rows: Vec<_> = words.chunks(2).map(<[redis::Value]>::to_vec).collect();
                rows.sort_by_key(|row| format!("{row:?}"));
                *words = rows.concat();
            }
            image.push(((*name).to_owned(), held));
        }
        image
    }
}

/// Both ways, on keys of their own.
struct Ways {
    server: Server,
    ways: [Way; 2],
}

impl Ways {
    /// The library with something else in place of what is there, and the one that has no plain code.
    fn new(there: &str, instead: &str) -> Self {
        let server = servers::server();
        let ways = [
            Way::load(&server, "ways_plain", there, instead),
            Way::load(&server, "ways_general", TRIED, UNTRIED),
        ];
        Self { server, ways }
    }

    /// Sends both the same requests until nothing is owed; what differs.
    fn send(&self, settings: &StateSettings, requests: &[Request], clock: u64) -> Result<(), String> {
        let mut scratch = Vec::new();
        let encoded: Vec<EncodedRequest> =
            requests.iter().map(|request| call::encode(request, settings, &mut scratch)).collect();
        let (mut done, mut owed, resume) = (0, Owed::Nothing, call::resume());
        let mut look: Option<EncodedRequest> = None;
        while done < encoded.len() {
            let is_resumed = matches!(owed, Owed::NextReceipt | Owed::EarlierOperation);
            let first = done + usize::from(owed == Owed::NextReceipt);
            let sent = is_resumed.then_some(&resume).into_iter().chain(&look).chain(&encoded[first..]);
            let heading = Heading { clock: Some(clock), ..Heading::from(settings) };
            let message = call::message(&heading, &sent.collect::<Vec<_>>());
            let answers = self.ways.each_ref().map(|way| way.call(&self.server, &message));
            let [Ok(plain), Ok(general)] = &answers else {
                return Err(format!("{requests:?}\n{answers:?}"));
            };
            if plain != general {
                return Err(format!("{requests:?}\nplain   {plain:?}\ngeneral {general:?}"));
            }
            let reply = call::read_reply(plain, 0).expect("a reply");
            done += reply.receipts.len().saturating_sub(usize::from(owed == Owed::EarlierOperation));
            look = reply.look.as_deref().map(call::look);
            owed = match (reply.owed, owed) {
                (Owed::EarlierOperation, Owed::NextReceipt) => Owed::NextReceipt,
                (reply_owes, _) => reply_owes,
            };
        }
        self.compare()
    }

    fn compare(&self) -> Result<(), String> {
        let images = self.ways.each_ref().map(|way| way.image(&self.server));
        let [plain, general] = &images;
        let differing = plain.iter().zip(general).find(|(one, other)| one != other);
        match differing {
            Some((one, other)) => Err(format!("plain   {one:?}\ngeneral {other:?}")),
            None if plain.len() == general.len() => Ok(()),
            None => Err("one of them has other keys".to_owned()),
        }
    }

    fn clear(&self) {
        self.server.ask::<()>(&["FLUSHALL"]).expect("no keys");
    }
}

fn request_of(envelope: Envelope) -> Request {
    match &envelope.body {
        Body::Single(command) if command.spec().effect == Effect::Read => {
            Request::Read(envelope.namespace.to_string(), command.clone())
        }
        _ => Request::Write(envelope),
    }
}

#[test]
fn random_requests_are_answered_and_written_alike_in_both_ways() {
    let ways = Ways::new(TRIED, TRIED);
    for seed in 1..=20 {
        ways.clear();
        let sequence = Sequence::random(seed, 200);
        for steps in sequence.steps.chunks(TOGETHER) {
            let mut clock = 0;
            let mut requests = Vec::new();
            for step in steps {
                let Step::Submit { clock: its, namespace, options, lines } = step else { continue };
                clock = clock.max(*its);
                requests.extend(envelope(namespace, options, lines).ok().map(request_of));
            }
            requests.retain(|request| !is_digest(request));
            if let Err(difference) = ways.send(&sequence.settings, &requests, clock) {
                panic!("seed {seed}: {difference}");
            }
        }
    }
}

fn is_digest(request: &Request) -> bool {
    matches!(request, Request::Read(_, scarce_core::command::Command::Digest(_)))
}

/// A common command, with ids that are mostly there.
fn common_line(random: &mut Random, at: usize) -> String {
    let mut one_of = |count: u64| random.below(count);
    let (account, other, name, amount) = (one_of(4), one_of(4), one_of(60), 1 + one_of(9));
    match one_of(10) {
        0 => format!("ACCOUNT.CREDIT a{account} {amount}0"),
        1 | 2 => format!("ACCOUNT.DEBIT a{account} {amount}"),
        3 => format!("ACCOUNT.TRANSFER a{account} a{other} {amount}"),
        4 if at.is_multiple_of(2) => format!("ACCOUNT.HOLD a{account} h{name} {amount} TTL 40"),
        4 => format!("ACCOUNT.HOLD a{account} h{name} {amount}"),
        5 => format!("ACCOUNT.CAPTURE a{account} h{name}"),
        6 => format!("STOCK.TAKE s{} {amount} o{other}", one_of(2)),
        7 => format!("STOCK.RESERVE s{} r{name} 1 o{other} 60", one_of(2)),
        8 => format!("STOCK.CONFIRM s{} r{name}", one_of(2)),
        _ => format!("PACKET.CLAIM p u{name}"),
    }
}

fn written(line: &str, id: usize) -> Request {
    // Some requests say more than a command and an ID.
    let (namespace, deadline) = match id % 8 {
        6 => ("", " DEADLINE 9000000000000"),
        7 => ("shop", ""),
        _ => ("", ""),
    };
    let options = if id == 0 { String::new() } else { format!("ID op-{id}{deadline}") };
    let envelope = envelope(namespace, &options, &[line.to_owned()]);
    request_of(envelope.unwrap_or_else(|error| panic!("{line}: {error:?}")))
}

/// Sends a sequence of common commands, a few of them under ids that are known; what differs.
fn play_common(ways: &Ways, seed: u64) -> Result<(), String> {
    ways.clear();
    // Ids are forgotten for their age and for want of room, and used again; or there is no room.
    let operations_max = if seed.is_multiple_of(2) { 40 } else { 200 };
    let settings = StateSettings {
        operations_max,
        window_ms: 100,
        window_ms_min: 20,
        receipt_retention_ms: 60,
        ..StateSettings::default()
    };
    let mut random = Random::new(seed);
    let opened = (0..4).map(|account| format!("ACCOUNT.OPEN a{account} EUR OVERDRAFT 5"));
    let rest = [
        // Balances of more than three digits.
        "ACCOUNT.CREDIT a2 12990",
        "ACCOUNT.CREDIT a3 4500990",
        "STOCK.CREATE s0 100",
        "STOCK.CREATE s1 1000",
        "PACKET.CREATE p EUR AMOUNTS 10 5 6 7 8 9 10 11 12 13 14",
    ];
    let lines: Vec<String> = opened.chain(rest.map(str::to_owned)).collect();
    ways.send(&settings, &lines.iter().map(|line| written(line, 0)).collect::<Vec<_>>(), 1_000)?;
    for chunk in 0..COMMON / TOGETHER {
        let requests: Vec<Request> = (0..TOGETHER)
            .map(|at| {
                let id = 1 + chunk * TOGETHER + at;
                let id = if random.below(12) == 0 { 1 + id / 2 } else { id };
                written(&common_line(&mut random, at), id)
            })
            .collect();
        ways.send(&settings, &requests, 1_000 + 10 * chunk as u64)?;
    }
    Ok(())
}

#[test]
fn common_requests_are_answered_and_written_alike_in_both_ways() {
    let ways = Ways::new(TRIED, TRIED);
    for seed in 1..=6 {
        if let Err(difference) = play_common(&ways, seed) {
            panic!("seed {seed}: {difference}");
        }
    }
}

/// Whatever plain code decides, writes or logs otherwise is found; so each piece of it is used.
#[test]
fn a_planted_difference_of_the_plain_way_is_found() {
    let planted = [
        ("return credit_fronts[line]", "return debit_fronts[line]"),
        ("local balance = balances[line] - amount\n", "local balance = balances[line] - amount - 1\n"),
        ("packed(to_balance) .. packed(to_available)", "packed(to_balance) .. packed(to_balance + 1)"),
        ("sets.add(\"holds_by\", hold_id)\n", "\n"),
        (
            "captured.amount, captured.status, captured.ended_at = 0",
            "captured.amount, captured.status, captured.ended_at = 1",
        ),
        ("return event, \"\", serial, available", "return event, \"\", serial, available + 1"),
        ("deadlines.add(deadline, \"reservation\", sku, name)\n  local event", "local event"),
        (
            "found.status, found.ended_at, found.first_serial = \"confirmed\", now",
            "found.status, found.ended_at, found.first_serial = \"confirmed\", now + 1",
        ),
        (
            "{ packet = packet, at = now })\n  records.add",
            "{ packet = packet, at = now + 1 })\n  records.add",
        ),
        ("fingerprint .. front .. digits_of[low]", "fingerprint .. front .. \"0\" .. digits_of[low]"),
        ("middle .. number(first)", "middle .. \"0\" .. number(first)"),
        ("if first - digits ~= balance_thousands then", "if not balance_thousands then"),
        ("digits_of = thousands > 0 and last_digits or first_digits", "digits_of = first_digits"),
        ("keys[key_count] = key\n", "keys[key_count] = id\n"),
        ("group.sequence + #group.keys == sequence then", "true then"),
        ("number(group.ordinal + gone)", "number(group.ordinal)"),
        ("elseif group.forgotten > 0 then", "elseif false then"),
        ("or namespace .. \" \" .. id, id, values[at + 3]", "or namespace .. \" \" .. id, id, id"),
        ("logged + weight", "logged + 5"),
        ("if function_of ~= served then", "if not served then"),
        ("if first == second and first >= 1000 and not third then", "if first >= 1000 and not third then"),
        ("looked_at[line] ~= run then line = open_line(id) end", "false then line = open_line(id) end"),
        ("or text ~= line_texts[line]) and not", "or false) and not"),
        ("or held[line] ~= first_held[line] then", "then"),
        ("if known[key] ~= false or changed[key] ~= nil then break end", "if known[key] then break end"),
        ("if held[line] ~= 0 or overdrafts[line] ~= 0 then", "if held[line] ~= 0 then"),
        ("  forget(now, remembered)\n", "\n"),
        ("operations.wait_ms(now) and 0 or 1", "1"),
    ];
    for (there, instead) in planted {
        let ways = Ways::new(there, instead);
        let found = (1..=3).any(|seed| play_common(&ways, seed).is_err());
        assert!(found, "'{instead}' was not found");
    }
}

/// A run that ends by an error leaves nothing behind that a later call would take for an account's state.
#[test]
fn an_error_within_a_run_changes_no_account() {
    let ways = Ways::new(TRIED, TRIED);
    let settings = StateSettings::default();
    let opened = ["ACCOUNT.OPEN a EUR OVERDRAFT 5", "ACCOUNT.CREDIT a 100"];
    ways.send(&settings, &opened.map(|line| written(line, 0)), 1_000).expect("no difference");
    ways.send(&settings, &[written("ACCOUNT.DEBIT a 1", 1)], 1_001).expect("no difference");
    let lines = ["ACCOUNT.DEBIT a 7", "ACCOUNT.HOLD a h 1"];
    let requests: Vec<Request> = lines.iter().zip(2..).map(|(line, id)| written(line, id)).collect();
    for way in &ways.ways {
        let holds = &way.keys.of("holds");
        ways.server.ask::<()>(&["HSET", holds, "a h", "no record"]).expect("damage");
        let encoded: Vec<EncodedRequest> =
            requests.iter().map(|request| call::encode(request, &settings, &mut Vec::new())).collect();
        let heading = Heading { clock: Some(1_002), ..Heading::from(&settings) };
        let message = call::message(&heading, &encoded.iter().collect::<Vec<_>>());
        let error = way.call(&ways.server, &message).expect_err("the row is damaged");
        assert!(error.to_string().contains("damaged"), "{error}");
        ways.server.ask::<()>(&["HDEL", holds, "a h"]).expect("mended");
    }
    ways.send(&settings, &requests, 1_003).expect("no difference");
    let row: String = ways.server.ask(&["HGET", &ways.ways[0].keys.of("accounts"), "a"]).expect("a row");
    assert_eq!(row, "EUR|92|1|5|open");
}
