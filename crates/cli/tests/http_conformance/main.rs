//! Runs the conformance tables against the real binary over HTTP, once with the routes and once line by line
//! through `POST /v1/batch`. Every answer is also checked against the server's own `OpenAPI` document. The
//! clock is set and deadlines are swept over RESP, and every scenario ends with a restart, alternately a
//! clean one and one by SIGKILL.

#[path = "../support/mod.rs"]
mod support;

mod description;
mod outcome;

use std::path::Path;

use description::Description;
use redis::Value as RespValue;
use scarce_api::answer::paged;
use scarce_api::arguments::{Asked, of_words};
use scarce_api::{Method, cursor, routes};
use scarce_client::Client;
use scarce_core::command::{Command, CommandSpec, Common, Effect, Invalid, table};
use scarce_sim::conformance::{BatchHead, Setup, Suite, Target};
use serde_json::{Map, Value, json};
use support::{Http, Response, Server, encoded, playing};
use tempfile::TempDir;

/// How single commands are sent.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Each through its route.
    Routes,
    /// Each as a non-atomic batch of one line.
    Lines,
}

/// The maximum number of rows of a page, used if a table's row asks for more at once.
const ROWS_MAX: i64 = 1_000;

/// The largest `COUNT` of a command.
const COUNT_MAX: i64 = 10_000;

/// The page size if a table's row asks for all rows; pages are read until there are no more.
const ROWS_OF_A_PAGE: i64 = 2;

struct HttpTarget {
    way: Way,
    setup: Setup,
    data: TempDir,
    server: Option<Server>,
    resp: Option<Client>,
    http: Option<Http>,
    description: Option<Description>,
    clock: u64,
    cursors: Vec<Option<String>>,
    /// The generated id of the last dry run that cut packets: its prediction is for that id.
    cut_id: Option<String>,
    restarts: u64,
}

impl HttpTarget {
    fn new(way: Way) -> Self {
        Self {
            way,
            setup: Setup::default(),
            data: TempDir::new().expect("a temporary folder"),
            server: None,
            resp: None,
            http: None,
            description: None,
            clock: 0,
            cursors: Vec::new(),
            cut_id: None,
            restarts: 0,
        }
    }

    fn start(&mut self) {
        let server = playing::start(self.data.path(), &self.setup, &[]);
        self.resp = Some(server.connect());
        let mut http = server.http();
        let description = self.description.take();
        self.description =
            Some(description.unwrap_or_else(|| Description::new(http.get("/openapi.json").json())));
        self.http = Some(http);
        self.server = Some(server);
        self.set_clock(self.clock);
    }

    fn resp(&mut self, words: &[&str]) -> RespValue {
        self.resp.as_mut().expect("started").call(words).expect("an answer")
    }

    /// Sends a request, checks the answer against the description, and returns it.
    fn send(&mut self, request: &Request) -> Response {
        let Request { method, path, target, headers, body } = request;
        let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let response = self.http.as_mut().expect("started").call(method, target, &headers, body.as_ref());
        let description = self.description.as_mut().expect("started");
        description.check_response(method, path, &response);
        if let Some(body) = body.as_ref().filter(|_| response.status < 300) {
            description.check_request(method, path, body);
        }
        response
    }

    /// Sends a command through its route.
    fn by_route(&mut self, spec: &'static CommandSpec, asked: &Asked, dry_run: bool) -> String {
        if paged(spec).is_some() {
            return self.pages(spec, asked);
        }
        let response = self.send(&Request::of(spec, asked, dry_run));
        if dry_run && asked.id.is_none() && spec.name == "PACKET.CREATE" {
            self.cut_id = response.header("idempotency-key").map(str::to_owned);
        }
        if response.status < 300 {
            outcome::applied(spec, &response.json())
        } else {
            outcome::refused(&response.json())
        }
    }

    /// Reads a list: one page if the row gives a length, otherwise page by page.
    fn pages(&mut self, spec: &'static CommandSpec, asked: &Asked) -> String {
        let (list, _) = paged(spec).expect("a list");
        let count = asked.fields.get("count").and_then(Value::as_i64);
        let mut fields = asked.fields.clone();
        fields.remove("count");
        let limit = count.unwrap_or(ROWS_OF_A_PAGE);
        // What is too much for the command is too much for a page, and stays so.
        let limit = if limit <= COUNT_MAX { limit.min(ROWS_MAX) } else { limit };
        fields.insert("limit".to_owned(), limit.into());
        if let Some(after) = fields.remove("after") {
            let after = after.as_str().map_or_else(|| after.to_string(), str::to_owned);
            fields.insert("cursor".to_owned(), cursor::after_row(spec.name, &after).into());
        }
        let mut rows = Vec::new();
        loop {
            let response =
                self.send(&Request::of(spec, &Asked { fields: fields.clone(), ..Asked::default() }, false));
            let body = response.json();
            if response.status != 200 {
                return outcome::refused(&body);
            }
            rows.extend(body[list].as_array().cloned().expect("rows"));
            assert_eq!(body["has_more"] == Value::Bool(true), body["cursor"].is_string(), "{body}");
            if count.is_some() || body["cursor"].is_null() {
                let mut whole = Map::new();
                whole.insert(list.to_owned(), rows.into());
                return outcome::applied(spec, &whole.into());
            }
            fields.insert("cursor".to_owned(), body["cursor"].clone());
        }
    }

    /// Sends a command as the only line of a batch.
    fn by_line(&mut self, spec: &'static CommandSpec, asked: &Asked, dry_run: bool) -> String {
        let mut operation = line(spec, asked);
        if let Some(id) = &asked.id {
            operation["id"] = id.as_str().into();
        }
        if let Some(deadline) = &asked.deadline {
            operation["deadline"] =
                deadline.parse::<u64>().map_or_else(|_| deadline.as_str().into(), Value::from);
        }
        if let Some(durability) = &asked.durability {
            operation["durability"] = durability.as_str().into();
        }
        let body = json!({ "operations": [operation] });
        let response = self.send(&Request::batch(Vec::new(), body, dry_run));
        let body = response.json();
        if response.status != 200 {
            return outcome::refused(&body);
        }
        let result = &body["results"][0];
        if dry_run && asked.id.is_none() && spec.name == "PACKET.CREATE" {
            self.cut_id = result["id"].as_str().map(str::to_owned);
        }
        match result.get("result") {
            Some(figures) => outcome::applied(spec, figures),
            None => {
                assert_eq!(result["status"], result["problem"]["status"]);
                outcome::refused(&result["problem"])
            }
        }
    }

    fn one(&mut self, words: &[&str], dry_run: bool) -> String {
        let parsed = parse(words);
        let readable = words.split_first().and_then(|(name, rest)| {
            let spec = table::find(name.as_bytes())?;
            Some((spec, of_words(spec, rest)?))
        });
        let Some((spec, mut asked)) = readable else {
            let invalid = parsed.expect_err("what has no JSON is no command either");
            return shown(&invalid);
        };
        asked.id = asked.id.or_else(|| self.cut_id.take());
        let has_line = spec.joins_batches();
        let answer = match self.way {
            Way::Lines if has_line => self.by_line(spec, &asked, dry_run),
            _ if !has_path(spec, &asked) => return shown(&parsed.expect_err("a path has no empty segment")),
            _ => self.by_route(spec, &asked, dry_run),
        };
        // Both name the argument, but in the terms of their port.
        match parsed {
            Err(invalid) if answer.starts_with("INVALID ") => shown(&invalid),
            _ => answer,
        }
    }

    fn atomic(&mut self, head: BatchHead<'_>, lines: &[Vec<&str>], dry_run: bool) -> String {
        let mut operations = Vec::new();
        for words in lines {
            let (name, rest) = words.split_first().expect("a command");
            let known = table::find(name.as_bytes());
            match known.and_then(|spec| Some(line(spec, &of_words(spec, rest).filter(Asked::is_bare)?))) {
                Some(operation) => operations.push(operation),
                // JSON cannot express it: an id within the batch, an unknown option.
                None => operations.push(json!({ "command": name, "arguments": {}, "id": "within" })),
            }
        }
        let id = head.id.map(str::to_owned).or_else(|| self.cut_id.take());
        let mut headers = Vec::new();
        headers.extend(id.map(|id| ("Idempotency-Key", id)));
        headers.extend(head.deadline.map(|deadline| ("Scarce-Deadline", deadline.to_owned())));
        let body = json!({ "atomic": true, "operations": operations });
        let response = self.send(&Request::batch(headers, body, dry_run));
        if dry_run && head.id.is_none() && lines.iter().any(|words| words[0] == "PACKET.CREATE") {
            self.cut_id = response.header("idempotency-key").map(str::to_owned);
        }
        let body = response.json();
        if response.status != 200 {
            let misshapen = lines.iter().enumerate().find_map(|(at, words)| misplaced(at, words));
            return match misshapen {
                Some(text) if body["code"] == "INVALID" => text,
                _ => outcome::refused(&body),
            };
        }
        let results = body["results"].as_array().expect("results");
        assert_eq!(results.len(), lines.len());
        let answers = lines.iter().zip(results).map(|(words, result)| {
            let spec = table::find(words[0].as_bytes()).expect("a command");
            let figures = outcome::applied(spec, &result["result"]);
            format!("[{}]", figures.replacen("APPLIED", "1", 1))
        });
        std::iter::once("APPLIED".to_owned()).chain(answers).collect::<Vec<_>>().join(" ")
    }

    fn digests(&mut self) -> String {
        let digest = table::find(b"DIGEST").expect("a command");
        let body = self.send(&Request::of(digest, &Asked::default(), false)).json();
        let rows = body["digests"].as_array().expect("rows");
        rows.iter().filter_map(|row| row["digest"].as_str()).collect::<Vec<_>>().join(" ")
    }

    fn events_of(&mut self, partition: usize) -> Vec<String> {
        let mut names = Vec::new();
        loop {
            let cursor = self.cursors[partition]
                .as_ref()
                .map(|cursor| format!("&cursor={cursor}"))
                .unwrap_or_default();
            let target = format!("/v1/events?partition={partition}&limit=1000{cursor}");
            let page = self
                .send(&Request { method: "GET", path: "/v1/events", target, headers: Vec::new(), body: None })
                .json();
            let events = page["events"].as_array().expect("events");
            names.extend(events.iter().filter_map(|event| event["name"].as_str()).map(str::to_owned));
            self.cursors[partition] = page["cursor"].as_str().map(str::to_owned);
            if page["has_more"] == Value::Bool(false) {
                return names;
            }
        }
    }
}

/// A request to the port.
struct Request {
    method: &'static str,
    /// The path in the form of the description.
    path: &'static str,
    target: String,
    headers: Vec<(&'static str, String)>,
    body: Option<Value>,
}

impl Request {
    /// The request for a command's route.
    fn of(spec: &'static CommandSpec, asked: &Asked, dry_run: bool) -> Self {
        let route = routes::of(spec.name).expect("a route");
        let mut fields = asked.fields.clone();
        let mut target = route.path.to_owned();
        for name in route.path_arguments() {
            let value = fields.remove(name).unwrap_or_default();
            target = target.replace(&format!("{{{name}}}"), &encoded(&plain(&value)));
        }
        let mut query: Vec<String> = Vec::new();
        let in_query = |name: &str| !route.method.has_body() || (name == "on" && spec.group() == "OPERATION");
        for (name, value) in fields.clone().iter().filter(|(name, _)| in_query(name)) {
            query.push(format!("{name}={}", encoded(&plain(value))));
            fields.remove(name);
        }
        if dry_run {
            query.push("dry_run=true".to_owned());
        }
        if !query.is_empty() {
            target = format!("{target}?{}", query.join("&"));
        }
        let mut headers = Vec::new();
        headers.extend(asked.id.clone().map(|id| ("Idempotency-Key", id)));
        headers.extend(asked.deadline.clone().map(|deadline| ("Scarce-Deadline", deadline)));
        headers.extend(asked.durability.clone().map(|durability| ("Scarce-Durability", durability)));
        let body = (route.method != Method::Delete && !fields.is_empty()).then_some(Value::Object(fields));
        Self { method: route.method.word(), path: route.path, target, headers, body }
    }

    fn batch(headers: Vec<(&'static str, String)>, body: Value, dry_run: bool) -> Self {
        let target = if dry_run { "/v1/batch?dry_run=true" } else { "/v1/batch" };
        Self { method: "POST", path: "/v1/batch", target: target.to_owned(), headers, body: Some(body) }
    }
}

/// A line of a batch.
fn line(spec: &CommandSpec, asked: &Asked) -> Value {
    json!({ "command": spec.name, "arguments": asked.fields })
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Whether all path parameters are present.
fn has_path(spec: &CommandSpec, asked: &Asked) -> bool {
    let route = routes::of(spec.name).expect("a route");
    let is_there = |name| asked.fields.get(name).is_some_and(|value| !plain(value).is_empty());
    route.path_arguments().all(is_there)
}

fn parse(words: &[&str]) -> Result<(&'static CommandSpec, bool), Invalid> {
    let (name, rest) = words.split_first().ok_or_else(|| Invalid::new("command", "is missing"))?;
    let spec = table::find(name.as_bytes()).ok_or_else(|| Invalid::new("command", "is unknown"))?;
    let rest: Vec<&[u8]> = rest.iter().map(|word| word.as_bytes()).collect();
    let (_, common) = Command::parse(spec, &rest)?;
    Ok((spec, common != Common::default()))
}

fn shown(invalid: &Invalid) -> String {
    format!("INVALID {} {}", invalid.argument, invalid.reason)
}

/// The error for a line that cannot be part of an atomic batch: over HTTP before any line is decided, in the
/// tables by its index if it is a command that batches do not allow.
fn misplaced(at: usize, words: &[&str]) -> Option<String> {
    match parse(words) {
        Err(invalid) => Some(shown(&invalid)),
        Ok((_, true)) => Some("INVALID ID belongs to the batch".to_owned()),
        Ok((spec, false)) if spec.effect == Effect::Read || spec.name == "OPERATION.RESOLVE" => Some(
            format!("BATCH_REFUSED {at} INVALID [command {} cannot be part of an atomic batch]", spec.name),
        ),
        Ok(_) => None,
    }
}

impl Target for HttpTarget {
    fn supports(&self, feature: &str) -> bool {
        matches!(feature, "settings" | "partitions" | "makes_ids")
    }

    fn reset(&mut self, setup: &Setup) -> Result<(), String> {
        let description = self.description.take();
        *self = Self { restarts: self.restarts, setup: setup.clone(), description, ..Self::new(self.way) };
        self.cursors = vec![None; setup.partitions as usize];
        self.start();
        Ok(())
    }

    fn set_clock(&mut self, now: u64) {
        self.clock = now;
        let set = self.resp(&["DEBUG.CLOCK", &now.to_string()]);
        assert_eq!(set, RespValue::Okay);
    }

    fn command(&mut self, words: &[&str]) -> String {
        self.one(words, false)
    }

    fn batch(&mut self, id: Option<&str>, deadline: Option<&str>, lines: &[Vec<&str>]) -> String {
        self.atomic(BatchHead { id, deadline }, lines, false)
    }

    fn dry_run(&mut self, batch: Option<BatchHead<'_>>, lines: &[Vec<&str>]) -> Option<String> {
        match (batch, lines) {
            (Some(head), lines) => Some(self.atomic(head, lines, true)),
            // Reads have no dry run.
            (None, [words]) => {
                let (spec, _) = parse(words).ok()?;
                (spec.effect == Effect::Write).then(|| self.one(words, true))
            }
            _ => None,
        }
    }

    fn expire(&mut self, limit: usize) -> usize {
        match self.resp(&["DEBUG.EXPIRE", &limit.to_string()]) {
            RespValue::Int(count) => usize::try_from(count).expect("a count"),
            other => panic!("{other:?}"),
        }
    }

    fn restart(&mut self) -> Result<(), String> {
        let before = self.digests();
        self.restarts += 1;
        let mut server = self.server.take().expect("started");
        if self.restarts.is_multiple_of(2) {
            server.kill();
        } else {
            server.stop();
        }
        self.start();
        let after = self.digests();
        if before == after { Ok(()) } else { Err(format!("the digest was {before} and is {after}")) }
    }

    fn events(&mut self) -> Vec<String> {
        (0..self.cursors.len()).flat_map(|partition| self.events_of(partition)).collect()
    }

    fn digest(&mut self) -> String {
        self.digests()
    }
}

fn play(way: Way) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance");
    let suite = Suite::load(&folder).unwrap_or_else(|failures| panic!("{failures:?}"));
    let report = suite.run(&mut HttpTarget::new(way));
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{} rows are not as the tables say", report.failures.len());
    assert!(report.skipped.is_empty());
}

#[test]
fn the_routes_answer_as_the_tables_say() {
    play(Way::Routes);
}

#[test]
fn the_lines_of_a_batch_are_answered_as_the_tables_say() {
    play(Way::Lines);
}
