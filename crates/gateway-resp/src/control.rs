//! What is not in the command table: the connection itself, commands that clients send to any server, events.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use scarce_core::facts;
use scarce_core::outcome::Outcome;
use scarce_core::types::Natural;
use scarce_engine::Request;
use scarce_gateway::{Denied, Login, now_ms};

use super::consumers;
use super::documents;
use super::events;
use super::form::Form;
use super::info::REDIS_VERSION;
use super::reply::{Protocol, Replies};
use super::scripts;
use super::session::{Arrival, Arrived, Flow, Session, Turn, made_here};
use super::slowlog;
use super::unknown;

impl Session {
    /// Handles commands that are not in the command table.
    pub(super) fn control(&mut self, name: &[u8], arguments: &[&[u8]], turn: &mut Turn<'_>) -> Flow {
        let name = String::from_utf8_lossy(name).to_ascii_uppercase();
        let free = matches!(name.as_str(), "AUTH" | "HELLO" | "QUIT" | "RESET");
        if !self.is_authenticated() && !free {
            self.deny(&printable(&name), "NO_KEY", None, turn);
            self.say(turn, |replies| replies.error("NOAUTH", "Authentication required."));
            return Flow::Continue;
        }
        if let Some(Err(lack)) = documents::control(&name).map(|its| self.may(its, arguments)) {
            self.abort_transaction();
            self.lacking(&lack, &printable(&name), turn);
            return Flow::Continue;
        }
        if let Some(Err(refused)) =
            documents::control(&name).map(|its| self.count_control(its, arguments, turn))
        {
            return self.beyond(&refused, turn);
        }
        let batchable = matches!(
            name.as_str(),
            "EXEC"
                | "DISCARD"
                | "MULTI"
                | "BATCH.ID"
                | "BATCH.DEADLINE"
                | "BATCH.DURABILITY"
                | "QUIT"
                | "RESET"
                | "WATCH"
                | "AUTH"
                | "HELLO"
        );
        if self.transaction.is_some() && !batchable {
            self.refuse_line(turn, &format!("{} cannot be part of an atomic batch", printable(&name)));
            return Flow::Continue;
        }
        if name == "QUIT" {
            self.say(turn, |replies| replies.simple("OK"));
            return Flow::Close;
        }
        let work = match &self.transaction {
            Some(transaction) if name == "EXEC" => transaction.work(),
            _ => 0,
        };
        if let Some(control) = documents::control(&name) {
            self.note_control(control, arguments, turn);
        }
        if name == "SUBSCRIBE" && !arguments.is_empty() {
            return self.subscribe(arguments, turn);
        }
        self.answer(&name, arguments, turn);
        match name.as_str() {
            "DRYRUN" => Flow::Yield,
            "UNSUBSCRIBE" => Self::after_channels(arguments),
            _ => Flow::after(work),
        }
    }

    fn answer(&mut self, name: &str, arguments: &[&[u8]], turn: &mut Turn<'_>) {
        match (name, arguments) {
            // What has no row says nothing of who may send it.
            _ if documents::control(name).is_none() => self.unknown(name, turn),
            ("UNSUBSCRIBE", _) => self.unsubscribe(arguments, turn),
            ("PING", []) if self.is_subscribed_only() => self.ping_subscribed(b"", turn),
            ("PING", [text]) if self.is_subscribed_only() => self.ping_subscribed(text, turn),
            ("PING", []) => self.say(turn, |replies| replies.simple("PONG")),
            ("PING" | "ECHO", [text]) => self.say(turn, |replies| replies.bulk(text)),
            ("HELLO", _) => self.hello(arguments, turn),
            ("AUTH", [password] | [_, password]) => self.auth(password, turn),
            ("SELECT", [b"0"]) => self.say(turn, |replies| replies.simple("OK")),
            ("SELECT", _) => self.say(turn, |replies| replies.error("ERR", "DB index is out of range; there is only 0")),
            ("RESET", []) => self.reset(turn),
            ("MULTI", []) => self.multi(turn),
            ("EXEC", []) => self.exec(turn),
            ("DISCARD", []) => self.discard(turn),
            ("BATCH.ID" | "BATCH.DEADLINE" | "BATCH.DURABILITY", _) => self.batch_option(name, arguments, turn),
            ("WATCH" | "UNWATCH", _) => self.refuse_line(
                turn,
                "WATCH is not needed: put what belongs together into one atomic batch (MULTI … EXEC), or repeat a command under the same ID",
            ),
            ("INFO", sections) => self.info(sections, turn),
            ("COMMAND", _) => self.say(turn, |replies| documents::command(replies, arguments)),
            ("CLIENT", [subcommand, rest @ ..]) => self.client(subcommand, rest, turn),
            ("CONFIG", [subcommand, rest @ ..]) if subcommand.eq_ignore_ascii_case(b"GET") => {
                self.say(turn, |replies| config(replies, rest));
            }
            ("EVENTS", [partition, epoch, sequence, rest @ ..]) => {
                self.events([partition, epoch, sequence], rest, turn);
            }
            ("CONSUMER", [subcommand, rest @ ..]) => self.consumer(subcommand, rest, turn),
            ("WAITINGROOM", [subcommand, rest @ ..]) => self.waiting_room(subcommand, rest, turn),
            ("FCALL" | "FCALL_RO" | "EVALSHA" | "EVALSHA_RO" | "SCRIPT", _) => self.script(name, arguments, turn),
            ("SLOWLOG", [subcommand, rest @ ..]) => self.slow_log(subcommand, rest, turn),
            ("DRYRUN", [name, rest @ ..]) => self.dry_run(name, rest, turn),
            ("SNAPSHOT", []) => self.snapshot(turn),
            ("DEBUG.CLOCK", [now]) => self.set_clock(now, turn),
            ("DEBUG.EXPIRE", [limit]) => self.expire(limit, turn),
            _ => self.unknown(name, turn),
        }
    }

    pub(super) fn unknown(&mut self, name: &str, turn: &mut Turn<'_>) {
        if let Some(group) = name.strip_suffix(".HELP").filter(|group| documents::has_group(group)) {
            return self.say(turn, |replies| documents::help(replies, group));
        }
        self.abort_transaction();
        let text = match documents::usage_of_control(name) {
            Some(usage) => format!("wrong number of arguments or unknown subcommand. Usage: {usage}"),
            None => unknown::text(name),
        };
        self.say(turn, |replies| replies.error("ERR", &text));
    }

    fn hello(&mut self, arguments: &[&[u8]], turn: &mut Turn<'_>) {
        let mut rest = arguments.iter();
        let protocol = match rest.next() {
            None => self.protocol,
            Some(&b"2") => Protocol::Resp2,
            Some(&b"3") => Protocol::Resp3,
            Some(_) => {
                return self.say(turn, |replies| {
                    replies.error("NOPROTO", "unsupported protocol version; use 2 or 3");
                });
            }
        };
        while let Some(option) = rest.next() {
            if option.eq_ignore_ascii_case(b"AUTH") {
                let Some((_, password)) = rest.next().zip(rest.next()) else {
                    return self.unknown("HELLO", turn);
                };
                if !self.log_in(password, turn) {
                    return;
                }
            } else if option.eq_ignore_ascii_case(b"SETNAME") {
                let Some(name) = rest.next() else { return self.unknown("HELLO", turn) };
                self.name = printable(&String::from_utf8_lossy(name));
            } else {
                return self.unknown("HELLO", turn);
            }
        }
        if !self.is_authenticated() {
            return self.say(turn, |replies| {
                replies.error(
                    "NOAUTH",
                    "HELLO must be called with the client already authenticated, or with AUTH",
                );
            });
        }
        self.protocol = protocol;
        let (id, version) = (self.id, if protocol == Protocol::Resp3 { 3 } else { 2 });
        self.say(turn, |replies| {
            replies.map(7);
            for (name, value) in [("server", "scarce"), ("version", REDIS_VERSION)] {
                replies.bulk(name.as_bytes());
                replies.bulk(value.as_bytes());
            }
            replies.bulk(b"proto");
            replies.integer(version);
            replies.bulk(b"id");
            replies.integer(i64::try_from(id).unwrap_or(i64::MAX));
            for (name, value) in [("mode", "standalone"), ("role", "master")] {
                replies.bulk(name.as_bytes());
                replies.bulk(value.as_bytes());
            }
            replies.bulk(b"modules");
            replies.array(0);
        });
    }

    fn auth(&mut self, password: &[u8], turn: &mut Turn<'_>) {
        if !turn.shared.access.requires_login() {
            let text =
                "AUTH called without any password configured; start the server with one, or leave AUTH out";
            return self.say(turn, |replies| replies.error("ERR", text));
        }
        if self.log_in(password, turn) {
            self.say(turn, |replies| replies.simple("OK"));
        }
    }

    fn log_in(&mut self, password: &[u8], turn: &mut Turn<'_>) -> bool {
        match turn.shared.access.log_in(self.address, password, now_ms()) {
            Login::Admitted(caller) => {
                // Its lines were allowed to who the caller was before.
                self.abort_transaction();
                self.drop_subscriptions();
                self.caller = Some(caller);
                return true;
            }
            Login::Wrong => self.say(turn, |replies| {
                replies.error("WRONGPASS", "invalid username-password pair or user is disabled.");
            }),
            Login::Delayed(wait) => {
                let seconds = wait.as_secs() + 1;
                let text = format!(
                    "this address showed too many wrong passwords, and this one was not looked at; wait {seconds} s"
                );
                self.say(turn, |replies| replies.error("ERR", &text));
            }
        }
        false
    }

    fn reset(&mut self, turn: &mut Turn<'_>) {
        self.transaction = None;
        self.drop_subscriptions();
        self.name.clear();
        self.tickets_shown = Vec::new();
        self.protocol = Protocol::Resp2;
        self.caller = turn.shared.access.stranger();
        self.say(turn, |replies| replies.simple("RESET"));
    }

    fn client(&mut self, subcommand: &[u8], rest: &[&[u8]], turn: &mut Turn<'_>) {
        let subcommand = String::from_utf8_lossy(subcommand).to_ascii_uppercase();
        match (subcommand.as_str(), rest) {
            ("ID", []) => {
                self.say(turn, |replies| replies.integer(i64::try_from(self.id).unwrap_or(i64::MAX)));
            }
            ("SETNAME", [name]) => {
                self.name = printable(&String::from_utf8_lossy(name));
                self.say(turn, |replies| replies.simple("OK"));
            }
            ("GETNAME", []) => self.say(turn, |replies| replies.bulk(self.name.as_bytes())),
            ("SETINFO", [attribute, value]) => {
                if attribute.eq_ignore_ascii_case(b"LIB-NAME") {
                    self.library = printable(&String::from_utf8_lossy(value));
                }
                self.say(turn, |replies| replies.simple("OK"));
            }
            ("INFO" | "LIST", []) => {
                let protocol = if self.protocol == Protocol::Resp3 { 3 } else { 2 };
                let line =
                    format!("id={} name={} lib-name={} resp={protocol}\n", self.id, self.name, self.library);
                self.say(turn, |replies| replies.bulk(line.as_bytes()));
            }
            _ => self.unknown("CLIENT", turn),
        }
    }

    /// `EVENTS partition epoch sequence [COUNT n] [KIND kind] [RESOURCE id] [NAME event] [JSON]`: the durable events after a cursor.
    fn events(&mut self, cursor: [&[u8]; 3], rest: &[&[u8]], turn: &mut Turn<'_>) {
        match events::Asked::read(cursor, rest) {
            Err(text) => self.say(turn, |replies| replies.error("ERR", &text)),
            Ok(asked) => {
                let (engine, protocol) = (turn.shared.engine.clone(), self.protocol);
                let work = move || Arrival::Written(asked.answer(&*engine, protocol));
                self.do_aside(Form::Elsewhere, &turn.shared.reads, work, turn);
            }
        }
    }

    /// `CONSUMER …`: who consumes the log, and how far each consumer is.
    fn consumer(&mut self, subcommand: &[u8], rest: &[&[u8]], turn: &mut Turn<'_>) {
        let statuses = turn.shared.statuses.get().map_or(&[][..], |statuses| &**statuses);
        match consumers::answer(&*turn.shared.engine, statuses, subcommand, rest) {
            None => self.unknown("CONSUMER", turn),
            Some(Err(text)) => self.say(turn, |replies| replies.error("ERR", &text)),
            Some(Ok(answer)) => self.say(turn, |replies| replies.value(&answer)),
        }
    }

    /// Scripts of the operator's. The connection's next request waits for the answer, as it would in Redis.
    fn script(&mut self, name: &str, arguments: &[&[u8]], turn: &mut Turn<'_>) {
        let asked = match scripts::read(name, arguments) {
            None => return self.unknown(name, turn),
            Some(Err(text)) => return self.say(turn, |replies| replies.error("ERR", &text)),
            Some(Ok(asked)) => asked,
        };
        let by_digest = self.by_digest(name);
        let asked = by_digest.iter().fold(asked, |asked, its| asked.limited(its.among()));
        let engine = turn.shared.engine.clone();
        match engine.scripts() {
            Err(reason) => self.say(turn, |replies| replies.error("ERR", reason)),
            Ok(runner) => {
                let ((request, write), protocol) = (asked.writer(), self.protocol);
                let deliver = self.wait_for_writing(turn);
                let (access, caller, address) =
                    (turn.shared.access.clone(), self.caller.clone(), self.address);
                let lack = move |answer: &_| {
                    let lack = by_digest.and_then(|its| its.lack(answer))?;
                    let scope = lack.to_string();
                    let denied = Denied { what: "EVALSHA", outcome: "LACKS_SCOPE", detail: Some(&scope) };
                    access.deny(caller.as_ref(), address, denied);
                    Some(lack)
                };
                runner.ask(
                    request,
                    Box::new(move |answer| match lack(&answer) {
                        Some(lack) => deliver(scripts::refused(&lack, protocol)),
                        None => deliver(write(answer, protocol)),
                    }),
                );
            }
        }
    }

    fn slow_log(&mut self, subcommand: &[u8], rest: &[&[u8]], turn: &mut Turn<'_>) {
        match slowlog::answer(&*turn.shared.engine, subcommand, rest) {
            None => self.unknown("SLOWLOG", turn),
            Some(Err(text)) => self.say(turn, |replies| replies.error("ERR", &text)),
            Some(Ok(answer)) => self.say(turn, |replies| replies.value(&answer)),
        }
    }

    /// `SNAPSHOT`: requests a snapshot from every partition's keeper and answers when all are done; the owner
    /// continues meanwhile. Only one runs at a time, because each occupies a thread.
    fn snapshot(&mut self, turn: &mut Turn<'_>) {
        let Some(only) = Only::among(&turn.shared.snapshot_runs) else {
            return self.say(turn, |replies| {
                replies.error("OVERLOADED", "a snapshot is being made; ask again when it is done");
            });
        };
        let (ticket, reply) = self.expect(Form::Rows, turn);
        let (engine, wake) = (turn.shared.engine.clone(), turn.mailbox.wake.clone());
        let started = std::thread::Builder::new().name("snapshot".to_owned()).spawn(move || {
            let answers = (0..engine.partitions()).map(|partition| {
                let done = engine.snapshot(partition)?;
                let digest = format!("{:032x}", done.digest);
                let row = facts![
                    u64::from(partition),
                    done.sequence,
                    digest.as_str(),
                    done.payload_bytes,
                    done.segments_retired
                ];
                Ok(made_here(Outcome::applied(facts![row.into_vec()])))
            });
            let answers = answers.collect();
            drop(only);
            reply(ticket, answers);
            wake();
        });
        if let Err(error) = started {
            let reason = format!("no thread for the snapshot: {error}");
            let answer = Arrival::Answers(vec![Err(scarce_engine::Failure::Unavailable { reason })]);
            self.arrive(
                Arrived { token: turn.token, session: self.id, ticket, answer },
                turn.output,
                turn.tally,
            );
        }
    }

    fn set_clock(&mut self, now: &[u8], turn: &mut Turn<'_>) {
        let Some(clock) = &turn.shared.manual_clock else { return self.unknown("DEBUG.CLOCK", turn) };
        match Natural::parse(now, "now") {
            Err(problem) => self.say(turn, |replies| replies.error("ERR", &problem.to_string())),
            Ok(now) => {
                clock.set(now.get());
                turn.local.begin_turn();
                self.say(turn, |replies| replies.simple("OK"));
            }
        }
    }

    fn expire(&mut self, limit: &[u8], turn: &mut Turn<'_>) {
        if turn.shared.manual_clock.is_none() {
            return self.unknown("DEBUG.EXPIRE", turn);
        }
        match Natural::parse(limit, "limit").map(|limit| usize::try_from(limit.get()).unwrap_or(usize::MAX)) {
            Err(problem) => self.say(turn, |replies| replies.error("ERR", &problem.to_string())),
            Ok(limit) => self.ask_all(&[Request::Expire(limit)], Form::Count, turn),
        }
    }
}

/// A guard that lets one caller at a time do something; dropping it admits the next.
struct Only(Arc<AtomicBool>);

impl Only {
    fn among(taken: &Arc<AtomicBool>) -> Option<Self> {
        (!taken.swap(true, Ordering::AcqRel)).then(|| Self(taken.clone()))
    }
}

impl Drop for Only {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// The few settings that Redis tools look at.
fn config(replies: &mut Replies<'_>, patterns: &[&[u8]]) {
    let known =
        [("save", ""), ("appendonly", "yes"), ("appendfsync", "always"), ("maxmemory-policy", "noeviction")];
    let asked: Vec<_> = known
        .into_iter()
        .filter(|(name, _)| {
            patterns.iter().any(|pattern| *pattern == b"*" || pattern.eq_ignore_ascii_case(name.as_bytes()))
        })
        .collect();
    replies.map(asked.len());
    for (name, value) in asked {
        replies.bulk(name.as_bytes());
        replies.bulk(value.as_bytes());
    }
}

/// A caller's text made safe for a message: short, and without control characters.
pub(super) fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && *c != ' ').take(64).collect()
}
