//! Reads a closed campaign from a running server: the commitment from `PACKET.GET`, plan and claims from the
//! log.

use std::collections::BTreeSet;
use std::io::IsTerminal;

use indicatif::ProgressBar;
use redis::Value;
use scarce_core::command::shapes::Method;
use scarce_core::packets::cut::Plan;
use scarce_engine::random::unhex;

use super::super::args::Target;
use super::super::show;
use super::super::{Exit, Failed};
use super::verify::Closed;

use scarce_client::{Client, integer, text};

/// How many events to request at a time.
const EVENTS_COUNT: &str = "10000";

/// A campaign and its claims.
///
/// # Errors
/// When nothing answers, or the campaign is not closed or has nothing to verify.
pub(super) fn read(target: &Target, name: &str) -> Result<Closed, Failed> {
    let mut client = target.connect()?;
    let shown = Fields::of(ask(&mut client, &["PACKET.GET", name])?);
    let failed = |what: &str| Failed::text(Exit::Failed, format!("campaign {name} {what}"));
    let Some(commitment) = shown.bytes("commitment") else {
        return Err(failed("was given its amounts one by one, so there is no cut to verify"));
    };
    let Some(seed) = shown.bytes("seed") else {
        return Err(failed("is not closed; its seed is revealed by PACKET.CLOSE"));
    };
    let log = Log::read(&mut client, name)?;
    let Some(end) = &log.end else {
        return Err(failed("was closed, but the log does not say how it was cut"));
    };
    let method = end.text("method").and_then(|word| Method::from_word(word.as_bytes()));
    let plan = shown.number("total").zip(shown.number("count")).zip(method.zip(end.number("min")));
    let Some(((total, count), (method, min))) = plan else {
        return Err(failed("is told in a way that this version does not know"));
    };
    Ok(Closed {
        plan: Plan { total, count, method, min, max: end.number("max") },
        seed,
        commitment,
        objections: log.objections(&shown),
        claims: log.claims,
    })
}

fn ask(client: &mut Client, words: &[&str]) -> Result<Value, Failed> {
    let value = client.call(words)?;
    match show::refusal(&value) {
        Some((code, _)) => Err(Failed::text(Exit::Refused, format!("{}: {}", code.word(), code.cause().en))),
        None => match value {
            Value::ServerError(error) => {
                let text = format!("{}: {} {}", words[0], error.code(), error.details().unwrap_or_default());
                Err(Failed::text(Exit::Failed, text))
            }
            value => Ok(value),
        },
    }
}

/// A flat list of names and values.
struct Fields(Vec<Value>);

impl Fields {
    fn of(value: Value) -> Self {
        match value {
            Value::Array(values) => Self(values),
            _ => Self(Vec::new()),
        }
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.chunks(2).find(|pair| text(&pair[0]).as_deref() == Some(name))?.get(1)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.get(name).and_then(text)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.get(name).and_then(integer).and_then(|value| value.try_into().ok())
    }

    fn bytes(&self, name: &str) -> Option<[u8; 32]> {
        self.text(name).and_then(|text| unhex(&text))
    }
}

/// The campaign in the log.
#[derive(Default)]
struct Log {
    claims: Vec<(u64, u64)>,
    users: BTreeSet<String>,
    /// `packets.closed`.
    end: Option<Fields>,
    commitment: Option<[u8; 32]>,
}

impl Log {
    /// Reads the campaign's partition up to the campaign's end.
    fn read(client: &mut Client, name: &str) -> Result<Self, Failed> {
        let digest = ask(client, &["DIGEST", name])?;
        let place = match digest {
            Value::Array(rows) => rows.into_iter().next(),
            _ => None,
        };
        let Some(Value::Array(place)) = place else {
            return Err(Failed::text(Exit::Failed, "DIGEST names no partition"));
        };
        let number = |at: usize| place.get(at).and_then(integer).unwrap_or(0);
        let (partition, through) = (number(0).to_string(), u64::try_from(number(1)).unwrap_or(0));
        let bar =
            if std::io::stderr().is_terminal() { ProgressBar::new(through) } else { ProgressBar::hidden() };
        let mut log = Self::default();
        let (mut epoch, mut sequence) = (0, 0);
        while log.end.is_none() {
            let cursor = [epoch, sequence].map(|number: i64| number.to_string());
            let words = ["EVENTS", &partition, &cursor[0], &cursor[1], "COUNT", EVENTS_COUNT];
            let Value::Array(events) = ask(client, &words)? else { break };
            if events.is_empty() {
                break;
            }
            for event in events {
                let Value::Array(mut parts) = event else { continue };
                let (kind, fields) =
                    (parts.get(5).and_then(text), Fields::of(parts.pop().unwrap_or(Value::Nil)));
                epoch = parts.get(1).and_then(integer).unwrap_or(epoch);
                sequence = parts.get(2).and_then(integer).unwrap_or(sequence);
                log.take(&kind.unwrap_or_default(), fields, name);
            }
            bar.set_position(u64::try_from(sequence).unwrap_or(0));
        }
        bar.finish_and_clear();
        Ok(log)
    }

    fn take(&mut self, kind: &str, fields: Fields, name: &str) {
        if fields.text("campaign").as_deref() != Some(name) {
            return;
        }
        match kind {
            "packets.created" => self.commitment = fields.bytes("commitment"),
            "packets.claimed" => {
                self.claims.extend(fields.number("packet").zip(fields.number("amount")));
                self.users.extend(fields.text("user"));
            }
            "packets.closed" => self.end = Some(fields),
            _ => {}
        }
    }

    /// Inconsistencies among the claims themselves.
    fn objections(&self, shown: &Fields) -> Vec<String> {
        let (count, amount) =
            (self.claims.len() as u64, self.claims.iter().map(|(_, amount)| amount).sum::<u64>());
        let mut objections = Vec::new();
        let mut object = |is_so: bool, text: String| {
            if is_so {
                objections.push(text);
            }
        };
        let [told_count, told_amount] =
            ["claimed_count", "claimed_amount"].map(|name| shown.number(name).unwrap_or(0));
        object(
            (told_count, told_amount) != (count, amount),
            format!("the log has {count} of {amount}, the campaign says {told_count} of {told_amount}"),
        );
        object(self.users.len() as u64 != count, format!("{count} claims are of {} users", self.users.len()));
        object(
            (1..).zip(&self.claims).any(|(expected, (packet, _))| expected != *packet),
            "they were not given in the order of the packets".to_owned(),
        );
        object(
            self.commitment.is_some() && self.commitment != shown.bytes("commitment"),
            "the commitment when it was created was another".to_owned(),
        );
        objections
    }
}
