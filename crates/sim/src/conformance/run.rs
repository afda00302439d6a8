//! Playing scenarios against a target.

use std::panic::{AssertUnwindSafe, catch_unwind};

use scarce_core::command::CommandSpec;
use scarce_core::command::table::find;

use super::parse::{Comparison, Row, Scenario, Step, StepKind};
use super::{BatchHead, Failure, RowLocation, Target};

/// The clock at the start of every scenario.
const FIRST_CLOCK: u64 = 1_000;

/// Events that only concern stored operations. A target that generates an id for every command without
/// one has more of them than the tables say, so they are ignored there.
const OF_IDS: [&str; 2] = ["operation.refused", "operation.unchanged"];

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The number of scenarios played.
    pub scenarios: usize,
    /// The number of steps in them.
    pub steps: usize,
    /// Scenarios that the target does not support, with the missing feature.
    pub skipped: Vec<String>,
    /// The deviations from the tables.
    pub failures: Vec<Failure>,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        for skipped in &self.skipped {
            writeln!(f, "skipped {skipped}")?;
        }
        let Self { scenarios, steps, skipped, failures } = self;
        let (skipped, failures) = (skipped.len(), failures.len());
        writeln!(f, "{scenarios} scenarios, {steps} steps, {skipped} skipped, {failures} failures")
    }
}

pub(super) fn run(scenarios: &[Scenario], target: &mut dyn Target) -> Report {
    let mut report = Report::default();
    for scenario in scenarios {
        if let Some(lacking) = scenario.requires.iter().find(|feature| !target.supports(feature)) {
            report.skipped.push(format!("{} {}: requires {lacking}", scenario.place, scenario.title));
            continue;
        }
        report.scenarios += 1;
        report.steps += scenario.steps.len();
        Play::new(scenario, target, &mut report.failures).play(scenario);
    }
    report
}

/// A running scenario.
struct Play<'a> {
    title: &'a str,
    target: &'a mut dyn Target,
    failures: &'a mut Vec<Failure>,
    clock: u64,
    /// The clock when something was last logged.
    logged_at: u64,
    events: Vec<String>,
    digest: String,
    /// Whether the target gives every command an id.
    makes_ids: bool,
}

impl<'a> Play<'a> {
    fn new(scenario: &'a Scenario, target: &'a mut dyn Target, failures: &'a mut Vec<Failure>) -> Self {
        let makes_ids = target.supports("makes_ids");
        Self {
            makes_ids,
            title: &scenario.title,
            target,
            failures,
            clock: FIRST_CLOCK,
            logged_at: FIRST_CLOCK,
            events: Vec::new(),
            digest: String::new(),
        }
    }

    fn play(&mut self, scenario: &Scenario) {
        if let Err(reason) = self.target.reset(&scenario.setup) {
            self.fail(&scenario.place, &format!("cannot start: {reason}"));
            return;
        }
        self.target.set_clock(self.clock);
        self.digest = self.target.digest();
        let all = scenario.steps.iter().all(|step| self.guarded(&step.place, |play| play.step(step)));
        if all {
            self.guarded(&scenario.place, |play| play.restart(&scenario.place));
        }
    }

    /// A panic is a failure of its row; the target is reset for the next scenario.
    fn guarded(&mut self, place: &RowLocation, act: impl FnOnce(&mut Self)) -> bool {
        let Err(cause) = catch_unwind(AssertUnwindSafe(|| act(self))) else { return true };
        let text = cause.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| cause.downcast_ref::<&str>().copied()).unwrap_or("no text");
        self.fail(place, &format!("panicked: {text}"));
        false
    }

    fn step(&mut self, step: &Step) {
        let place = &step.place;
        match &step.kind {
            StepKind::Now(now) => self.set_clock(*now),
            StepKind::Later(later) => self.set_clock(self.clock + later),
            StepKind::Submit(row) => self.submit(place, row),
            StepKind::Expire(limit, count) => {
                let ended = self.target.expire(*limit);
                self.compare(place, "expire", &count.to_string(), &ended.to_string());
                self.note_events();
            }
            StepKind::Restart => self.restart(place),
            StepKind::Events(expected) => self.check_events(place, expected.as_deref()),
            StepKind::Digest(comparison) => self.check_digest(place, *comparison),
        }
    }

    fn set_clock(&mut self, now: u64) {
        self.clock = now;
        self.target.set_clock(now);
    }

    fn submit(&mut self, place: &RowLocation, row: &Row) {
        let refused = row.expected.code() != "APPLIED";
        let before = if refused { self.target.digest() } else { String::new() };
        let image = if refused { self.target.image() } else { None };
        let lines: Vec<Vec<&str>> =
            row.lines.iter().map(|words| words.iter().map(String::as_str).collect()).collect();
        let head = row
            .batch
            .as_ref()
            .map(|head| BatchHead { id: head.id.as_deref(), deadline: head.deadline.as_deref() });
        let foretold = self.target.dry_run(head, &lines);
        if foretold.is_some() && refused && self.target.image() != image {
            self.fail(
                place,
                &format!("{}\n  was only foretold and yet changed what is stored", row.content()),
            );
        }
        let answer = match &row.batch {
            None => self.target.command(lines.first().map_or(&[][..], Vec::as_slice)),
            Some(head) => self.target.batch(head.id.as_deref(), head.deadline.as_deref(), &lines),
        };
        if !row.expected.matches(&answer) {
            self.compare(place, &row.content(), &row.expected.to_string(), &answer);
        } else if let Some(foretold) = foretold {
            self.check_dry_run(place, row, &answer, &foretold);
        }
        let logged_at = self.logged_at;
        let made = self.note_events();
        if refused && !answer.starts_with("APPLIED") {
            if made.is_empty() && self.target.image() != image {
                self.fail(place, &format!("{}\n  was refused and yet changed what is stored", row.content()));
            }
            self.check_refused(place, row, &before, &made, logged_at);
        }
    }

    /// A dry run answers what the command does, unless the row says that it answers something else.
    fn check_dry_run(&mut self, place: &RowLocation, row: &Row, answer: &str, foretold: &str) {
        let (is_right, expected) = match &row.dry {
            Some(dry) => (dry.matches(foretold), dry.to_string()),
            None => (foretells(foretold, answer), answer.to_owned()),
        };
        if !is_right {
            self.compare(place, &format!("dry run of {}", row.content()), &expected, foretold);
        }
    }

    /// A refused command changes nothing: it may only log deadlines that had passed, and the fact that
    /// its refusal is stored.
    fn check_refused(
        &mut self,
        place: &RowLocation,
        row: &Row,
        before: &str,
        made: &[String],
        logged_at: u64,
    ) {
        let more = ["stock.available_again", "stock.receipts_forgotten", "packets.forgotten"];
        let ended = |name: &&String| name.ends_with(".expired") || more.contains(&name.as_str());
        let deadlines = made.iter().take_while(ended).count();
        let remembered = &made[deadlines..];
        if !remembered.is_empty() && (remembered != ["operation.refused"] || !may_be_remembered(row)) {
            let message = format!("{}\n  was refused and yet made {made:?}", row.content());
            self.fail(place, &message);
        }
        // An entry with a later stamp reveals which ended records have left their window.
        let comparable = self.logged_at == logged_at;
        if deadlines == 0 && comparable && self.target.digest() != before {
            self.fail(place, &format!("{}\n  was refused and yet changed the digest", row.content()));
        }
    }

    fn note_events(&mut self) -> Vec<String> {
        let mut made = self.target.events();
        if !made.is_empty() {
            self.logged_at = self.clock.max(self.logged_at);
        }
        if self.makes_ids {
            made.retain(|name| !OF_IDS.contains(&name.as_str()));
        }
        self.events.extend(made.iter().cloned());
        made
    }

    fn check_events(&mut self, place: &RowLocation, expected: Option<&[String]>) {
        let made = std::mem::take(&mut self.events);
        let Some(expected) = expected else { return };
        let wanted = |name: &&String| !self.makes_ids || !OF_IDS.contains(&name.as_str());
        let expected: Vec<&str> = expected.iter().filter(wanted).map(String::as_str).collect();
        self.compare(place, "events", &expected.join(" "), &made.join(" "));
    }

    fn check_digest(&mut self, place: &RowLocation, comparison: Comparison) {
        let digest = self.target.digest();
        let before = std::mem::replace(&mut self.digest, digest);
        match comparison {
            Comparison::Same if before != self.digest => self.fail(place, "the digest has changed"),
            Comparison::Changed if before == self.digest => self.fail(place, "the digest has not changed"),
            _ => {}
        }
    }

    fn restart(&mut self, place: &RowLocation) {
        let before = self.target.digest();
        if let Err(reason) = self.target.restart() {
            self.fail(place, &format!("restart: {reason}"));
        } else if self.target.digest() != before {
            self.fail(place, "restart: the digest is another");
        }
        self.target.set_clock(self.clock);
    }

    fn compare(&mut self, place: &RowLocation, asked: &str, expected: &str, got: &str) {
        if expected != got {
            self.fail(place, &format!("{asked}\n  expected {expected}\n  got      {got}"));
        }
    }

    fn fail(&mut self, place: &RowLocation, message: &str) {
        let message = format!("[{}] {message}", self.title);
        self.failures.push(Failure { place: place.clone(), message });
    }
}

/// Whether a dry run predicted the answer. It may hide values that nobody may see before a packet is
/// claimed, and shows `-` instead.
fn foretells(foretold: &str, answer: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        text.split_whitespace().map(|word| word.trim_matches(['[', ']']).to_owned()).collect()
    };
    let (foretold, answer) = (words(foretold), words(answer));
    foretold.len() == answer.len()
        && foretold.iter().zip(&answer).all(|(told, real)| told == "-" || told == real)
}

/// Whether a refusal may be stored: some command of the row stores its refusals, and there is an id.
fn may_be_remembered(row: &Row) -> bool {
    let id = match &row.batch {
        Some(head) => head.id.is_some(),
        None => row.lines.iter().flatten().any(|word| word == "ID"),
    };
    let names = row.lines.iter().filter_map(|words| words.first());
    id && names.filter_map(|name| find(name.as_bytes())).any(CommandSpec::remembers_refusals)
}
