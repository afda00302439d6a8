//! Parsing tables.

use scarce_core::command::COMMON_OPTIONS;
use scarce_core::outcome::Code;

use super::expand::{Line, expand};
use super::{Expected, Failure, RowLocation, Setup, failure};

/// A sequence of steps that starts from an empty deployment.
#[derive(Clone, Debug)]
pub(crate) struct Scenario {
    /// Its location.
    pub(crate) place: RowLocation,
    /// What it shows.
    pub(crate) title: String,
    /// The deployment that it starts from.
    pub(crate) setup: Setup,
    /// What the target must support.
    pub(crate) requires: Vec<String>,
    /// Its steps, in order.
    pub(crate) steps: Vec<Step>,
}

/// A step of a scenario.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    /// Its location.
    pub(crate) place: RowLocation,
    /// Its kind.
    pub(crate) kind: StepKind,
}

/// The kinds of step.
#[derive(Clone, Debug)]
pub(crate) enum StepKind {
    /// The clock is set.
    Now(u64),
    /// The clock advances.
    Later(u64),
    /// A command or batch is submitted.
    Submit(Row),
    /// The sweeper runs: its limit, and the expected number of ended records.
    Expire(usize, usize),
    /// The target restarts.
    Restart,
    /// The events since the last such line; `None` accepts any.
    Events(Option<Vec<String>>),
    /// The digest, compared with the last such line.
    Digest(Comparison),
}

/// How a digest must compare with the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// It is only stored.
    Noted,
    /// It is the same.
    Same,
    /// It differs.
    Changed,
}

/// A command or an atomic batch with its expected answer.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The words of the command, or of each line of the batch.
    pub(crate) lines: Vec<Vec<String>>,
    /// For a batch its id and deadline.
    pub(crate) batch: Option<BatchHead>,
    /// The answer.
    pub(crate) expected: Expected,
    /// Other faults of the command, over which its answer takes precedence.
    pub(crate) over: Vec<Code>,
    /// What a dry run of it answers, if that is something else.
    pub(crate) dry: Option<Expected>,
}

/// The options after `batch`.
#[derive(Clone, Debug, Default)]
pub(crate) struct BatchHead {
    /// The id of the batch.
    pub(crate) id: Option<String>,
    /// The deadline of the batch.
    pub(crate) deadline: Option<String>,
}

impl Row {
    /// The request, without id, deadline and durability.
    pub(crate) fn content(&self) -> String {
        let line = |words: &Vec<String>| {
            let mut kept = Vec::new();
            let mut rest = words.iter();
            while let Some(word) = rest.next() {
                if COMMON_OPTIONS.iter().any(|(option, _)| option == word) {
                    rest.next();
                } else {
                    kept.push(word.as_str());
                }
            }
            kept.join(" ")
        };
        self.lines.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    /// The command and the code that the row is about: for a batch those of the refused line.
    pub(crate) fn subject(&self) -> (&str, &str) {
        let name = |at: usize| self.lines.get(at).and_then(|words| words.first()).map_or("", String::as_str);
        match self.expected.refused_line().filter(|_| self.batch.is_some()) {
            Some((line, code)) => (name(line), code),
            None => (name(0), self.expected.code()),
        }
    }
}

/// Reads a table; mistakes are added to `failures`.
pub(super) fn parse(file: &str, text: &str, scenarios: &mut Vec<Scenario>, failures: &mut Vec<Failure>) {
    let lines = expand(file, text, failures);
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        at += 1;
        let place = RowLocation { file: file.to_owned(), line: line.number };
        let read = if let Some(title) = line.text.strip_prefix("==") {
            scenarios.push(Scenario {
                place,
                title: title.trim().to_owned(),
                setup: Setup::default(),
                requires: Vec::new(),
                steps: Vec::new(),
            });
            Ok(())
        } else if let Some(scenario) = scenarios.last_mut().filter(|last| last.place.file == file) {
            let body = batch_body(&lines, &mut at, &line.text);
            body.and_then(|body| add(scenario, place, &line.text, &body))
        } else {
            Err("stands before the first scenario".to_owned())
        };
        if let Err(message) = read {
            failures.push(failure(file, line.number, format!("{message}: {}", line.text)));
        }
    }
}

/// The lines of a batch and its end; `None` if no batch begins here.
fn batch_body<'a>(lines: &'a [Line], at: &mut usize, text: &str) -> Result<Vec<&'a str>, String> {
    if text != "batch" && !text.starts_with("batch ") {
        return Ok(Vec::new());
    }
    let mut body = Vec::new();
    for line in &lines[*at..] {
        *at += 1;
        body.push(line.text.as_str());
        if line.text == "end" || line.text.starts_with("end ") {
            return Ok(body);
        }
    }
    Err("batch without end".to_owned())
}

fn add(scenario: &mut Scenario, place: RowLocation, text: &str, body: &[&str]) -> Result<(), String> {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let rest = rest.trim();
    let kind = match first {
        "set" => return set(&mut scenario.setup, rest, &mut scenario.requires),
        "requires" => {
            scenario.requires.extend(rest.split_whitespace().map(str::to_owned));
            return Ok(());
        }
        "now" => match rest.strip_prefix('+') {
            Some(later) => StepKind::Later(number(later)?),
            None => StepKind::Now(number(rest)?),
        },
        "expire" => {
            let (limit, count) = rest.split_once("->").ok_or("needs -> and a number")?;
            StepKind::Expire(number(limit.trim())?, number(count.trim())?)
        }
        "restart" => StepKind::Restart,
        "events" => StepKind::Events(events(rest)?),
        "digest" => StepKind::Digest(match rest {
            "" => Comparison::Noted,
            "same" => Comparison::Same,
            "changed" => Comparison::Changed,
            _ => return Err("must be digest, digest same or digest changed".to_owned()),
        }),
        "batch" => StepKind::Submit(batch(rest, body)?),
        _ if first.starts_with(|c: char| c.is_ascii_lowercase()) && !first.contains('.') => {
            return Err("is no line that a table has".to_owned());
        }
        _ => StepKind::Submit(row(text)?),
    };
    scenario.steps.push(Step { place, kind });
    Ok(())
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("'{text}' is no number"))
}

fn set(setup: &mut Setup, rest: &str, requires: &mut Vec<String>) -> Result<(), String> {
    let (key, value) = rest.split_once(' ').ok_or("needs a name and a value")?;
    if key == "partitions" {
        setup.partitions = number(value)?;
        return Ok(());
    }
    setup.settings.set(key, value)?;
    requires.push("settings".to_owned());
    Ok(())
}

/// Names, written `*count` if repeated; `...` accepts any.
fn events(rest: &str) -> Result<Option<Vec<String>>, String> {
    let names = rest.strip_prefix("->").ok_or("needs -> and names")?.trim();
    if names == "..." {
        return Ok(None);
    }
    let mut list = Vec::new();
    for word in names.split_whitespace() {
        let (name, count) = match word.split_once('*') {
            Some((name, count)) => (name, number(count)?),
            None => (word, 1),
        };
        list.extend(std::iter::repeat_n(name.to_owned(), count));
    }
    Ok(Some(list))
}

fn batch(rest: &str, body: &[&str]) -> Result<Row, String> {
    let mut head = BatchHead::default();
    let mut options = words(rest)?.into_iter();
    while let Some(option) = options.next() {
        match option.as_str() {
            "ID" => head.id = options.next(),
            "DEADLINE" => head.deadline = options.next(),
            _ => return Err("a batch takes ID and DEADLINE".to_owned()),
        }
    }
    let (end, lines) = body.split_last().ok_or("batch without end")?;
    let (_, answers) = split(end)?;
    let lines = lines.iter().map(|line| words(line)).collect::<Result<Vec<_>, _>>()?;
    Ok(answers.of(lines, Some(head)))
}

fn row(text: &str) -> Result<Row, String> {
    let (command, answers) = split(text)?;
    Ok(answers.of(vec![words(command)?], None))
}

/// What is behind the arrow of a row.
struct Answers {
    expected: Expected,
    over: Vec<Code>,
    dry: Option<Expected>,
}

impl Answers {
    fn of(self, lines: Vec<Vec<String>>, batch: Option<BatchHead>) -> Row {
        let Self { expected, over, dry } = self;
        Row { lines, batch, expected, over, dry }
    }
}

/// The command, the answer, what the answer takes precedence over, and the answer of a dry run.
fn split(text: &str) -> Result<(&str, Answers), String> {
    let Some((command, answer)) = text.split_once("->") else {
        return Ok((text, Answers { expected: Expected::applied(), over: Vec::new(), dry: None }));
    };
    let (answer, dry) =
        answer.split_once(" | dry ").map_or((answer, None), |(answer, dry)| (answer, Some(dry)));
    let (answer, over) = answer.split_once(" | over ").unwrap_or((answer, ""));
    let code = |word: &str| Code::from_word(word).ok_or_else(|| format!("'{word}' is no code"));
    let over = over.split_whitespace().map(code).collect::<Result<_, _>>()?;
    let expected = |text| {
        let expected = Expected::new(text);
        code(expected.code()).map(|_| expected)
    };
    let dry = dry.map(expected).transpose()?;
    Ok((command.trim(), Answers { expected: expected(answer)?, over, dry }))
}

/// Words separated by blanks; `"…"` is one word, which may contain blanks or be empty.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or("a quote is not closed")?,
            None => rest.split_at(rest.find(' ').unwrap_or(rest.len())),
        };
        out.push(word.to_owned());
        rest = after.trim_start();
    }
    Ok(out)
}
