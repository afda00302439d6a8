//! The course of a demonstration: a server, a rush of callers, a crash and a recovery.

use std::sync::atomic::AtomicUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use scarce_core::outcome::Durability;
use serde_json::json;

use super::backing::Backing;
use super::crowd::Crowd;
use super::gate::Gate;
use super::log::{Log, last_sequence};
use super::losses::Losses;
use super::progress::{Gauge, ProgressDisplay};
use super::proof::{Proof, grouped};
use super::pulse::Pulse;
use super::reconciled::Reconciled;
use super::record::Record;
use super::rush::{News, Rush};
use super::server::Server;
use super::tour;
use crate::args;
use crate::failure::{DemoError, Verdict};
use scarce_client::{Client, Reply, integer, text};

/// How often to redraw the display.
const FRAME: Duration = Duration::from_millis(20);

/// How often to check a condition.
const ASK_INTERVAL: Duration = Duration::from_millis(25);

/// An event on the stage during the rush.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cue {
    /// Kills the server and restarts it on its data.
    Kill,
    /// Sets the server's clock to this time; the text describes it.
    Clock(u64, &'static str),
}

/// A rush: who arrives, and what happens meanwhile.
pub(super) struct Act {
    /// The numbers of the callers who arrive.
    pub(super) arrivals: std::ops::Range<u64>,
    /// The maximum number of commands in flight on a connection.
    pub(super) window: usize,
    /// The cues, each given when the crowd says that its moment has come.
    pub(super) cues: Vec<Cue>,
}

/// Everything on stage.
pub(super) struct Stage<C: Crowd> {
    pub(super) crowd: C,
    pub(super) server: Server,
    pub(super) progress: ProgressDisplay,
    /// The page of the console that shows it.
    page: &'static str,
    options: args::Stage,
    record: Mutex<Record<C>>,
    gate: Gate,
    pulse: Pulse,
    begun: Instant,
    /// How long the restart after the crash took, once it happened.
    pub(super) recovery: Option<Duration>,
    /// The last sequence of the log at that time.
    pub(super) mark: Option<u64>,
    /// What was acknowledged and then lost, if nothing promised to keep it.
    pub(super) losses: Losses,
    /// What the comparison at the end came to.
    reconciled: Option<Reconciled>,
}

impl<C: Crowd> Stage<C> {
    /// Starts the server; no requests are sent yet.
    ///
    /// # Errors
    /// When it does not start.
    pub(super) fn open(
        options: &args::Stage,
        mut server: Server,
        crowd: C,
        gauge: Gauge,
    ) -> Result<Self, DemoError> {
        let (doors, _) = server.start()?;
        let gate = Gate::default();
        gate.open(doors);
        let (page, progress) = (gauge.page, ProgressDisplay::new(gauge));
        if let (true, Some(http)) = (options.open, doors.http) {
            tour::open(&progress, &tour::address(http, page));
        }
        Ok(Self {
            crowd,
            server,
            progress,
            page,
            options: options.clone(),
            record: Mutex::default(),
            gate,
            pulse: Pulse::default(),
            begun: Instant::now(),
            recovery: None,
            mark: None,
            losses: Losses::default(),
            reconciled: None,
        })
    }

    /// Runs the crowd and gives the cues.
    ///
    /// # Errors
    /// When the server fails, or the crowd finishes before the last cue.
    pub(super) fn rush(&mut self, act: &Act) -> Result<(), DemoError> {
        let connections = self.options.connections;
        let Self { crowd, server, progress, record, gate, pulse, begun, recovery, mark, .. } = self;
        let rush = Rush {
            crowd,
            gate,
            record,
            next: act.arrivals.start.into(),
            end: act.arrivals.end,
            window: act.window,
            cues: act.cues.len(),
            given: AtomicUsize::new(0),
        };
        let life = 1 + u64::from(recovery.is_some());
        let cues = &act.cues;
        let begun = *begun;
        let mut watch =
            Watch { crowd, server, progress, record, gate, pulse, begun, life, cues, recovery, mark };
        let (sender, news) = unbounded();
        std::thread::scope(|scope| {
            // Two connections per worker, so that it can send the same command on both at once.
            for at in 0..connections.div_ceil(2) {
                let (rush, sender) = (&rush, sender.clone());
                let lines = if 2 * at + 1 < connections { 2 } else { 1 };
                scope.spawn(move || rush.work(lines, &sender));
            }
            drop(sender);
            let watched = watch.follow(&news);
            if watched.is_err() {
                // Releases the workers that wait for the server to come back.
                gate.close();
                watch.server.kill();
            }
            watched
        })?;
        let given = rush.given.into_inner();
        if given < act.cues.len() {
            let text = format!("the rush was over before its moment had come: {:?}", act.cues[given]);
            return Err(DemoError::failed(text));
        }
        Ok(())
    }

    /// The number of commands in flight per connection with which a crash hits about a quarter of the units.
    pub(super) fn window(&self, units: u64) -> usize {
        let share = units / (4 * u64::from(self.options.connections));
        usize::try_from(share).unwrap_or(usize::MAX).clamp(2, 64)
    }

    /// Checks repeatedly until nothing is left to wait for; `left` also returns the display.
    ///
    /// # Errors
    /// When it takes longer than `limit`.
    pub(super) fn wait_for(
        &mut self,
        what: &str,
        limit: Duration,
        mut left: impl FnMut(&mut Client, &ProgressDisplay) -> Result<u64, DemoError>,
    ) -> Result<Duration, DemoError> {
        let mut client = self.server.connect()?;
        let begun = Instant::now();
        loop {
            let count = left(&mut client, &self.progress)?;
            if count == 0 {
                return Ok(begun.elapsed());
            }
            if begun.elapsed() > limit {
                return Err(DemoError::failed(format!("{count} {what}")));
            }
            std::thread::park_timeout(ASK_INTERVAL);
        }
    }

    /// Restarts the server cleanly and stops it. Returns the digest before and after.
    ///
    /// # Errors
    /// When the server does not end or start.
    pub(super) fn restart(&mut self) -> Result<[String; 2], DemoError> {
        let before = digest(&mut self.server.connect()?)?;
        self.server.stop()?;
        let (_, took) = self.server.start()?;
        let after = digest(&mut self.server.connect()?)?;
        let took = took.as_millis();
        self.progress.say("restart", &format!("stopped cleanly and ready again after {took} ms"));
        let (reconciled, took) = Reconciled::by(&self.server)?;
        self.reconciled = Some(reconciled);
        let took = took.as_millis();
        self.progress
            .say("reconcile", &format!("compared what was written with what is answered in {took} ms"));
        self.server.stop()?;
        Ok([before, after])
    }

    /// Removes what a failover lost from the crowd's record, if such losses are allowed.
    pub(super) fn settle(&mut self, log: &Log) {
        if self.may_lose() {
            let losses = self.record().settle(log);
            self.losses = losses;
        }
    }

    /// Whether answers did not wait for the replica that took over.
    fn may_lose(&self) -> bool {
        let may_lose =
            |backing: &mut Backing| backing.fails_over() && backing.durability != Durability::Replicated;
        self.server.backing(may_lose).unwrap_or(false)
    }

    /// A proof without judged promises, which states what was promised at all.
    pub(super) fn proof(&self, demonstration: &'static str, log: &Log) -> Proof {
        let mut proof = Proof::new(demonstration);
        self.tell_level(&mut proof, log);
        proof
    }

    /// States what the answers had waited for, and what that guarantees.
    fn tell_level(&self, proof: &mut Proof, log: &Log) {
        let Some((durability, fails_over, kind)) =
            self.server.backing(|backing| (backing.durability, backing.fails_over(), backing.kind()))
        else {
            return;
        };
        let level = durability.word();
        proof.tell("engine", "redis");
        proof.tell("topology", kind);
        proof.tell("durability", level);
        let figures = json!({ "durability": level, "topology": kind, "redis_killed": fails_over });
        let text = format!("durability {level}: {}", promised(durability, fails_over));
        proof.note("what was promised", text, figures);
        if self.may_lose() {
            self.losses.tell(proof, level, log);
        }
    }

    /// Says that the evidence was falsified.
    pub(super) fn say_falsified(&self) {
        self.progress.alarm("falsified", "the evidence was tampered with, as asked: the proof must fail");
    }

    /// Shows the `pictures` and the proof, and suggests what to try next.
    ///
    /// # Errors
    /// When stdout is gone.
    pub(super) fn conclude(
        &mut self,
        mut proof: Proof,
        planted: Option<impl ValueEnum>,
        pictures: &[String],
        next: &[&str],
    ) -> Result<Verdict, DemoError> {
        if let Some(reconciled) = &self.reconciled {
            reconciled.judge(&mut proof);
        }
        let is_planted = planted.is_some();
        let lie = planted.and_then(|lie| Some(lie.to_possible_value()?.get_name().to_owned()));
        let seconds = self.begun.elapsed().as_secs_f64();
        let record = self.record();
        proof.tell("seed", self.options.seed);
        proof.tell("seconds", seconds);
        proof.tell("recovery_ms", self.recovery.map(|took| took.as_secs_f64() * 1e3));
        proof.tell("answers", record.answers);
        proof.tell("refusals", json!(record.refusals));
        proof.tell("planted", lie);
        drop(record);
        self.progress.end();
        let exit = proof.print(self.options.json, pictures)?;
        self.progress.say("done", &format!("in {seconds:.1} s"));
        if exit == Verdict::Broken && !is_planted {
            let seed = self.options.seed;
            self.progress
                .alarm("broken", &format!("run it again with --keep --seed {seed} and look at its data"));
        }
        if self.options.keep {
            let data = self.server.data().display().to_string();
            let in_files = || format!("{data}; look at it with 'scarce journal verify --data {data}'");
            let kept = self.server.backing(Backing::kept).unwrap_or_else(in_files);
            self.progress.say("kept", &kept);
        }
        next.iter().enumerate().for_each(|(at, hint)| {
            self.progress.say(if at == 0 { "next" } else { "" }, hint);
        });
        if self.options.open {
            self.stay()?;
        }
        Ok(exit)
    }

    /// Serves what the demonstration left until a signal asks for the end.
    fn stay(&mut self) -> Result<(), DemoError> {
        let (doors, _) = self.server.start()?;
        if let Some(http) = doors.http {
            let address = tour::address(http, self.page);
            self.progress.say("console", &format!("{address} stays up until Ctrl-C"));
        }
        self.server.wait_for_signal();
        Ok(())
    }

    /// What the crowd knows.
    pub(super) fn record(&self) -> MutexGuard<'_, Record<C>> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The rate of answers as a line with the crash marked.
    pub(super) fn pulse(&self) -> String {
        let answers = self.record().answers;
        format!("{} answers, in time: {}", grouped(answers), self.pulse.draw())
    }

    /// The label of the crash in a chart.
    pub(super) fn crash_mark(&self) -> String {
        format!("kill -9, back after {} ms", self.recovery.map_or(0, |took| took.as_millis()))
    }
}

/// Watches the rush: draws it, and gives the cues.
struct Watch<'a, C: Crowd> {
    crowd: &'a C,
    server: &'a mut Server,
    progress: &'a ProgressDisplay,
    record: &'a Mutex<Record<C>>,
    gate: &'a Gate,
    pulse: &'a mut Pulse,
    begun: Instant,
    life: u64,
    cues: &'a [Cue],
    recovery: &'a mut Option<Duration>,
    mark: &'a mut Option<u64>,
}

impl<C: Crowd> Watch<'_, C> {
    /// Follows the rush until the last worker is gone.
    fn follow(&mut self, news: &Receiver<News>) -> Result<(), DemoError> {
        let mut shown = Instant::now();
        loop {
            match news.recv_timeout(FRAME.saturating_sub(shown.elapsed())) {
                Ok(News::Cue(at)) => self.give(at)?,
                Ok(News::Broken(life)) if life == self.life => {
                    return Err(self.server.failed("broke its connections without being asked to"));
                }
                Ok(News::Failed(text)) => return Err(DemoError::failed(text)),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => {
                    self.show();
                    shown = Instant::now();
                }
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn give(&mut self, at: usize) -> Result<(), DemoError> {
        match self.cues[at] {
            Cue::Kill => self.crash(),
            Cue::Clock(now, what) => {
                self.server.set_clock(now)?;
                let so_far = self.crowd.so_far(&self.record());
                self.progress.relief("◷ clock", &format!("{what}, with {so_far}"));
                Ok(())
            }
        }
    }

    fn crash(&mut self) -> Result<(), DemoError> {
        let killed = self.server.crash()?;
        self.life += 1;
        self.pulse.mark();
        let so_far = self.crowd.so_far(&self.record());
        let seconds = self.begun.elapsed().as_secs_f64();
        self.progress.alarm("✖ kill -9", &format!("after {seconds:.2} s, with {so_far}"));
        if let Some(address) = &killed {
            self.progress.alarm("✖ kill -9", &format!("the Redis at {address} too, which had the state"));
        }
        let (doors, took) = self.server.recover()?;
        *self.recovery = Some(took);
        *self.mark = Some(last_sequence(&mut self.server.connect()?)?);
        let place = match (killed, self.server.backing(Backing::address)) {
            (Some(_), Some(address)) => format!("with the Redis at {address}"),
            (None, Some(_)) => "on the same Redis".to_owned(),
            _ => "on the same data".to_owned(),
        };
        let took = took.as_millis();
        self.progress.relief("✔ recovery", &format!("ready again {place} after {took} ms"));
        self.gate.open(doors);
        Ok(())
    }

    fn record(&self) -> MutexGuard<'_, Record<C>> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&mut self) {
        // Not through the method, which would borrow all of `self`.
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let rate = self.pulse.beat(record.answers);
        self.progress.show(|| {
            let (position, text) = self.crowd.picture(&record);
            (position, format!("{} answers, {rate:.0}/s · {text}", grouped(record.answers)))
        });
    }
}

/// What an answer had waited for, and what may therefore be missing.
fn promised(durability: Durability, fails_over: bool) -> &'static str {
    match (durability, fails_over) {
        (Durability::Memory, false) => {
            "what was answered is in the memory of that Redis; only scarce was killed, so all of it must be there"
        }
        (Durability::Replicated, false) => {
            "what was answered is in a replica too; only scarce was killed, so all of it must be there"
        }
        (Durability::Synced, false) => {
            "what was answered is on the disk of that Redis; only scarce was killed, so all of it must be there"
        }
        (Durability::Memory, true) => {
            "what was answered was in the memory of the Redis that was killed; the replica had it soon after, or not"
        }
        (Durability::Replicated, true) => {
            "what was answered was in the replica that has taken over, so all of it must be there"
        }
        (Durability::Synced, true) => {
            "what was answered was on the disk of the Redis that was killed; the replica had it soon after, or not"
        }
    }
}

/// Sends a command that must be applied.
pub(super) fn apply(client: &mut Client, words: &[&str]) -> Result<Vec<redis::Value>, DemoError> {
    applied(words, client.call(words)?)
}

/// Sends many commands that must be applied, or that read, a thousand at a time.
pub(super) fn apply_all(
    client: &mut Client,
    commands: &[Vec<String>],
) -> Result<Vec<Vec<redis::Value>>, DemoError> {
    let mut all = Vec::with_capacity(commands.len());
    for some in commands.chunks(1_000) {
        let answers = client.pipeline::<String, Vec<String>>(some)?;
        for (words, answer) in some.iter().zip(answers) {
            all.push(applied(words, answer)?);
        }
    }
    Ok(all)
}

fn applied<W: AsRef<str>>(words: &[W], answer: redis::Value) -> Result<Vec<redis::Value>, DemoError> {
    match Reply::of(answer) {
        Reply::Applied(values) => Ok(values),
        other => {
            let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
            Err(DemoError::failed(format!("'{}' was answered {other:?}", words.join(" "))))
        }
    }
}

/// A named number in a reply.
pub(super) fn figure(client: &mut Client, words: &[&str], name: &str) -> Result<i64, DemoError> {
    let missing = || DemoError::failed(format!("'{}' does not show '{name}'", words.join(" ")));
    named(&apply(client, words)?, name).and_then(integer).ok_or_else(missing)
}

/// A value in a flat list of names and values.
pub(super) fn named<'a>(fields: &'a [redis::Value], name: &str) -> Option<&'a redis::Value> {
    fields.chunks(2).find(|pair| text(&pair[0]).as_deref() == Some(name))?.get(1)
}

fn digest(client: &mut Client) -> Result<String, DemoError> {
    let rows = apply(client, &["DIGEST"])?;
    let last = |row: &redis::Value| match row {
        redis::Value::Array(fields) => fields.last().and_then(text),
        _ => None,
    };
    Ok(rows.iter().filter_map(last).collect::<Vec<_>>().join(" "))
}
