//! Turns a message into a request to the engine, or into the reason why that is impossible.

use rdkafka::Message as _;
use rdkafka::message::{BorrowedMessage, Headers};
use scarce_api::message::{Content, DeadLetter, Header, Reason, Stage, TopicPosition};
use scarce_api::operation::Message as Asked;
use scarce_api::{Misshapen, strict};
use scarce_core::command::{Body, CommandSpec, Envelope};
use scarce_core::outcome::Outcome;
use scarce_core::types::{OperationId, TimeMs};
use scarce_engine::engine::partition_of;
use scarce_outflow::{TRACEPARENT, TraceParent};
use xxhash_rust::xxh3::Xxh3;

use super::{Admission, Arriving};
use crate::cloud_event::header;

/// The maximum size of a command in bytes, as over HTTP.
pub const VALUE_BYTES_MAX: usize = 1 << 20;

/// The maximum number of headers of a command, and their maximum size in bytes.
const HEADERS_MAX: usize = 64;
const HEADERS_BYTES_MAX: usize = 16 << 10;

/// Headers that are copied to a command's outcome: those with these names, and those with one of these
/// prefixes.
pub const CORRELATION_HEADERS: [&str; 2] = ["traceparent", "tracestate"];
/// See [`CORRELATION_HEADERS`].
pub const CORRELATION_PREFIXES: [&str; 2] = ["correlation-", "reply-"];

/// The header that shows tickets of waiting rooms, with commas between them.
pub const TICKET_HEADER: &str = "scarce-ticket";

/// A header as it arrived.
pub(crate) type RawHeader = (String, Option<Vec<u8>>);

/// A message as it arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Raw {
    pub(crate) key: Option<Vec<u8>>,
    pub(crate) value: Option<Vec<u8>>,
    pub(crate) headers: Vec<RawHeader>,
    pub(crate) timestamp: Option<i64>,
}

impl Raw {
    /// A message of a topic.
    pub(crate) fn of(message: &BorrowedMessage<'_>) -> Self {
        let headers = message.headers().map(|headers| {
            let header = |header: rdkafka::message::Header<'_, &[u8]>| {
                (header.key.to_owned(), header.value.map(<[u8]>::to_vec))
            };
            headers.iter().map(header).collect()
        });
        Self {
            key: message.key().map(<[u8]>::to_vec),
            value: message.payload().map(<[u8]>::to_vec),
            headers: headers.unwrap_or_default(),
            timestamp: message.timestamp().to_millis(),
        }
    }

    /// A hash by which the message is recognized when it is read again.
    pub(crate) fn mark(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(&self.timestamp.unwrap_or(-1).to_le_bytes());
        hash.update(&(self.key.as_ref().map_or(0, Vec::len) as u64).to_le_bytes());
        hash.update(self.key.as_deref().unwrap_or_default());
        hash.update(self.value.as_deref().unwrap_or_default());
        hash.digest()
    }

    /// When the command was first sent at the latest; no later than now. The clocks of the sender, of this process
    /// and of the engine may differ by `lead_ms`.
    pub(crate) fn issued_at(&self, now: TimeMs, lead_ms: u64) -> Option<TimeMs> {
        let sent_at = u64::try_from(self.timestamp?).unwrap_or(0);
        Some(sent_at.min(now).saturating_sub(lead_ms))
    }

    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let of = |bytes: &Option<Vec<u8>>| bytes.as_ref().map_or(0, Vec::len);
        of(&self.key) + of(&self.value) + headers_bytes(&self.headers)
    }

    /// Its dead letter.
    pub(crate) fn dead_letter(&self, reason: Reason, source: TopicPosition) -> DeadLetter {
        let header = |(name, value): &RawHeader| Header {
            name: name.clone(),
            value: value.as_deref().map(Content::of),
        };
        DeadLetter {
            reason,
            source,
            timestamp: self.timestamp,
            key: self.key.as_deref().map(Content::of),
            headers: self.headers.iter().map(header).collect(),
            value: self.value.as_deref().map(Content::of),
            value_bytes: self.value.as_ref().map_or(0, Vec::len) as u64,
            truncated: false,
        }
    }
}

fn headers_bytes(headers: &[RawHeader]) -> usize {
    headers.iter().map(|(name, value)| name.len() + value.as_ref().map_or(0, Vec::len)).sum()
}

/// The part of a command that is kept until its outcome was sent.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) operation: OperationId,
    pub(crate) specs: Vec<&'static CommandSpec>,
    pub(crate) is_atomic: bool,
    /// The id of the first resource that it names.
    pub(crate) resource: Option<String>,
    /// The partition of that resource.
    pub(crate) partition: u32,
    pub(crate) correlation: Vec<RawHeader>,
}

impl Head {
    /// The trace that the command is part of, if its headers say so.
    pub(crate) fn trace(&self) -> Option<TraceParent> {
        let (_, value) = self.correlation.iter().find(|(name, _)| name == TRACEPARENT)?;
        TraceParent::parse(std::str::from_utf8(value.as_deref()?).ok()?)
    }
}

/// A valid command.
#[derive(Debug)]
pub(crate) enum Taken {
    /// The engine must decide it.
    Ask(Head, Box<Envelope>),
    /// No partition can decide it.
    Answered(Head, Box<Outcome>),
}

/// Reads a message.
///
/// # Errors
/// When it can only become a dead letter.
pub(crate) fn take(raw: &Raw, partitions: u32, secret: &[u8; 32]) -> Result<Taken, Reason> {
    let value = check(raw)?;
    let value = strict::read(value)
        .map_err(|error| reason(Stage::Json, "NOT_JSON", None, format!("the value is no JSON: {error}")))?;
    let Asked { specs, body, mut common } = Asked::read(&value).map_err(|misshapen| invalid(&misshapen))?;
    let operation = operation_id(raw, common.operation.take())?;
    common.operation = Some(operation.clone());
    let mut resource = None;
    for command in body.commands() {
        command.route(&mut |id| {
            resource.get_or_insert_with(|| id.clone());
        });
    }
    let home = resource.as_ref().map_or(0, |id| scarce_core::placement::partition(id, partitions));
    let head = Head {
        operation,
        specs,
        is_atomic: matches!(body, Body::Atomic(_)),
        resource: resource.map(|id| id.to_string()),
        partition: home,
        correlation: correlation(&raw.headers),
    };
    if let Err(outcome) = partition_of(body.commands(), partitions) {
        return Ok(Taken::Answered(head, outcome));
    }
    // Ids are shared with every other port: they are in the namespace of callers that are not told apart.
    match Envelope::new("", common, body, secret) {
        Ok(envelope) => Ok(Taken::Ask(head, Box::new(envelope))),
        Err(error) => Err(invalid(&Misshapen::from(error))),
    }
}

/// Whether what the engine is to decide may be executed.
///
/// # Errors
/// Why it becomes a dead letter.
pub(crate) fn admit(taken: Taken, raw: &Raw, admission: &Admission) -> Result<Taken, Reason> {
    if let Taken::Ask(_, envelope) = &taken {
        let header = raw.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(TICKET_HEADER));
        let tickets = header.and_then(|(_, value)| std::str::from_utf8(value.as_deref()?).ok());
        let arriving = Arriving {
            commands: envelope.commands(),
            tickets: tickets.unwrap_or_default(),
            sent_ms: raw.timestamp.and_then(|sent| TimeMs::try_from(sent).ok()),
        };
        admission(arriving)
            .map_err(|text| reason(Stage::Command, "NOT_ADMITTED", Some(TICKET_HEADER), text))?;
    }
    Ok(taken)
}

/// The checks that do not need the value parsed.
fn check(raw: &Raw) -> Result<&[u8], Reason> {
    let message = |code, text: String| Err(reason(Stage::Message, code, None, text));
    if raw.headers.len() > HEADERS_MAX || headers_bytes(&raw.headers) > HEADERS_BYTES_MAX {
        let text =
            format!("a command has {HEADERS_MAX} headers and {HEADERS_BYTES_MAX} bytes of them at most");
        return message("TOO_LARGE", text);
    }
    let content = raw.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(header::CONTENT_TYPE));
    if let Some((_, Some(content))) = content
        && content.to_ascii_lowercase().starts_with(b"application/cloudevents")
    {
        let text = "CloudEvents are taken in binary mode: attributes in headers, the command alone as value";
        return message("STRUCTURED_MODE", text.to_owned());
    }
    match raw.value.as_deref() {
        None | Some([]) => message("EMPTY", "the message has no value".to_owned()),
        Some(value) if value.len() > VALUE_BYTES_MAX => {
            message("TOO_LARGE", format!("a command has {VALUE_BYTES_MAX} bytes at most"))
        }
        Some(value) => Ok(value),
    }
}

/// The id of the header or of the field; if both are given, they must be equal.
fn operation_id(raw: &Raw, field: Option<OperationId>) -> Result<OperationId, Reason> {
    let id = |code, text: &str| reason(Stage::Id, code, Some(header::ID), text.to_owned());
    let mut given = raw.headers.iter().filter(|(name, _)| name == header::ID);
    let first = given.next();
    if given.next().is_some() {
        return Err(id("INVALID", "is given twice"));
    }
    let header = match first {
        None => None,
        Some((_, value)) => {
            let text = value.as_deref().unwrap_or_default();
            let read = OperationId::parse(text, header::ID);
            Some(read.map_err(|error| id("INVALID", &error.reason))?)
        }
    };
    match (header, field) {
        (Some(header), Some(field)) if header != field => {
            Err(id("ID_MISMATCH", "is another than the field id; give one of them, or the same"))
        }
        (Some(id), _) | (None, Some(id)) => Ok(id),
        (None, None) => {
            let text = "is missing, and so is the field id; without one a copy could not be told from a second command";
            Err(id("ID_MISSING", text))
        }
    }
}

fn correlation(headers: &[RawHeader]) -> Vec<RawHeader> {
    let is_kept = |name: &str| {
        CORRELATION_HEADERS.contains(&name)
            || CORRELATION_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
    };
    headers.iter().filter(|(name, _)| is_kept(name)).cloned().collect()
}

fn invalid(misshapen: &Misshapen) -> Reason {
    reason(Stage::Command, "INVALID", Some(&misshapen.field), misshapen.reason.clone())
}

fn reason(stage: Stage, code: &str, field: Option<&str>, text: String) -> Reason {
    Reason { stage, code: code.to_owned(), field: field.map(str::to_owned), text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(value: &str, headers: &[(&str, &str)]) -> Raw {
        let header = |(name, value): &(&str, &str)| ((*name).to_owned(), Some(value.as_bytes().to_vec()));
        let headers = headers.iter().map(header).collect();
        Raw { value: Some(value.as_bytes().to_vec()), headers, ..Raw::default() }
    }

    const DEBIT: &str = r#"{"command": "ACCOUNT.DEBIT", "arguments": {"account": "a", "amount": 5}}"#;

    fn refused(raw: &Raw) -> (Stage, String) {
        let reason = take(raw, 4, &[0; 32]).expect_err("a dead letter");
        assert!(Reason::CODES.contains(&reason.code.as_str()), "{}", reason.code);
        assert!(!reason.text.is_empty());
        (reason.stage, reason.code)
    }

    #[test]
    fn a_command_finds_its_partition_and_keeps_what_belongs_to_its_caller() {
        let headers = [("ce_id", "op-1"), ("traceparent", "00-a-b-01"), ("correlation-id", "7"), ("x", "y")];
        let taken = take(&raw(DEBIT, &headers), 4, &[0; 32]).expect("a command");
        let Taken::Ask(head, envelope) = taken else { panic!("{taken:?}") };
        assert_eq!(head.operation.as_str(), "op-1");
        assert_eq!(envelope.common.operation.as_ref(), Some(&head.operation));
        assert_eq!(head.resource.as_deref(), Some("a"));
        assert_eq!(Ok(head.partition), partition_of(envelope.commands(), 4));
        let names: Vec<&str> = head.correlation.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["traceparent", "correlation-id"]);
    }

    #[test]
    fn the_id_is_in_the_header_or_in_the_value() {
        let with_id = DEBIT.replacen('{', r#"{"id": "op-1", "#, 1);
        for raw in [raw(&with_id, &[]), raw(DEBIT, &[("ce_id", "op-1")]), raw(&with_id, &[("ce_id", "op-1")])]
        {
            assert!(take(&raw, 1, &[0; 32]).is_ok());
        }
        assert_eq!(refused(&raw(DEBIT, &[])), (Stage::Id, "ID_MISSING".to_owned()));
        assert_eq!(refused(&raw(&with_id, &[("ce_id", "op-2")])), (Stage::Id, "ID_MISMATCH".to_owned()));
        assert_eq!(refused(&raw(DEBIT, &[("ce_id", "a b")])), (Stage::Id, "INVALID".to_owned()));
        assert_eq!(
            refused(&raw(DEBIT, &[("ce_id", "1"), ("ce_id", "1")])),
            (Stage::Id, "INVALID".to_owned())
        );
    }

    #[test]
    fn what_cannot_be_read_says_how_far_it_came() {
        let id = [("ce_id", "1")];
        let many: Vec<(&str, &str)> = vec![("h", "v"); HEADERS_MAX + 1];
        let large = "x".repeat(VALUE_BYTES_MAX + 1);
        for (raw, stage, code) in [
            (Raw::default(), Stage::Message, "EMPTY"),
            (raw("", &id), Stage::Message, "EMPTY"),
            (raw(&large, &id), Stage::Message, "TOO_LARGE"),
            (raw(DEBIT, &many), Stage::Message, "TOO_LARGE"),
            (
                raw("{}", &[("content-type", "application/cloudevents+json")]),
                Stage::Message,
                "STRUCTURED_MODE",
            ),
            (raw("{", &id), Stage::Json, "NOT_JSON"),
            (raw(r#"{"command": 1, "command": 2}"#, &id), Stage::Json, "NOT_JSON"),
            (raw(r#"{"command": "ACCOUNT.STEAL", "arguments": {}}"#, &id), Stage::Command, "INVALID"),
            (raw(&DEBIT.replace('5', "-5"), &id), Stage::Command, "INVALID"),
            (
                raw(r#"{"command": "ACCOUNT.GET", "arguments": {"account": "a"}}"#, &id),
                Stage::Command,
                "INVALID",
            ),
        ] {
            assert_eq!(refused(&raw), (stage, code.to_owned()), "{raw:?}");
        }
    }

    #[test]
    fn what_lives_in_two_partitions_is_answered_without_the_engine() {
        let value = r#"{"command": "ACCOUNT.TRANSFER", "arguments": {"from": "a", "to": "b", "amount": 1}}"#;
        let taken = take(&raw(value, &[("ce_id", "1")]), 16_384, &[0; 32]).expect("a command");
        let Taken::Answered(head, outcome) = taken else { panic!("{taken:?}") };
        assert_eq!(outcome.code.word(), "CROSS_PARTITION");
        assert_eq!(head.resource.as_deref(), Some("a"));
    }
}
