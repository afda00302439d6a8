//! One call of the library: requests of one partition as a message, and what it answers.

use std::fmt::Write;

use compact_str::format_compact;
use scarce_core::command::{Body, Command, Common, Envelope};
use scarce_core::outcome::Value;
use scarce_core::packets::Prepared;
use scarce_core::state::StateSettings;
use scarce_core::types::{Id, OperationId};

use super::moved::MovedPlace;
use super::values::{MessageWriter, Unreadable};
use scarce_engine::engine::Request;
use scarce_engine::random::hex;

mod message;
mod reply;
mod settings;

pub use message::{Heading, message};
pub use reply::{CallReply, Owed, read_reply};
pub(super) use settings::SETTING_NAMES;

/// The version of messages and answers.
pub(super) const MESSAGE_VERSION: u64 = 2;

/// How many due records one call ends at most.
pub(super) const EXPIRE_MAX: usize = 64;

/// What one request is in a message, written where it was handed in, so that a lane only joins them: so many
/// values one after the other.
#[derive(Debug)]
pub struct EncodedRequest {
    pub(super) bytes: Vec<u8>,
    values: usize,
    pub(super) is_read: bool,
    /// It frees more memory than it takes, so it is served although that is full.
    pub(super) is_shrinking: bool,
    /// Where its ID may be besides, if the deployment has moved here.
    pub(super) moved: Option<MovedPlace>,
}

impl EncodedRequest {
    fn new(writer: MessageWriter, values: usize) -> Self {
        Self { bytes: writer.into_bytes(), values, is_read: false, is_shrinking: false, moved: None }
    }

    fn reading(self) -> Self {
        Self { is_read: true, ..self }
    }

    fn shrinking(self, is_shrinking: bool) -> Self {
        Self { is_shrinking, ..self }
    }
}

/// How many values stand before those of a command.
pub(super) const HEAD_VALUES: usize = 7;

/// How many values stand before the arguments of a short request: its command's number, its ID and its content hash.
pub(super) const SHORT_VALUES: usize = 3;

/// What is asked of the library, by the word that a request begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestKind {
    Write,
    Read,
    DryRun,
    /// The receipt of an operation that is known; nothing is decided.
    Recall,
    Expire,
    Resume,
    /// The next packets of a campaign that was created.
    Prepare,
    PutBack,
    /// The rows that the log has changed since a sequence.
    Changes,
    /// What a look through a book has counted so far, before the request that it is for.
    Look,
    /// The epoch in which the request behind it may be decided.
    Within,
    /// That the partition is of the deployment from now on.
    Begin,
    /// Whether all keys have what was written to them.
    Check,
}

impl RequestKind {
    pub(super) const ALL: [Self; 13] = [
        Self::Write,
        Self::Read,
        Self::DryRun,
        Self::Recall,
        Self::Expire,
        Self::Resume,
        Self::Prepare,
        Self::PutBack,
        Self::Changes,
        Self::Look,
        Self::Within,
        Self::Begin,
        Self::Check,
    ];

    /// The word in a message.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Read => "read",
            Self::DryRun => "dry_run",
            Self::Recall => "recall",
            Self::Expire => "expire",
            Self::Resume => "resume",
            Self::Prepare => "prepare",
            Self::PutBack => "put_back",
            Self::Changes => "changes",
            Self::Look => "look",
            Self::Within => "within",
            Self::Begin => "begin",
            Self::Check => "check",
        }
    }
}

/// What may be done where a partition does not say that it is of a deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beginning {
    /// It is of an older format, and is brought up to date.
    pub(super) adopts: bool,
    /// It is not there yet.
    pub(super) creates: bool,
}

/// The place of the last event that a server has reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenEvent {
    /// The partition's epoch then.
    pub epoch: u64,
    /// The sequence of the last event.
    pub sequence: u64,
    /// Whether it was the run of the server that gets the message which told it.
    pub is_of_this_run: bool,
}

/// Where the first step of an operation was logged, which tells it from every other one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// The partition's epoch then.
    pub epoch: u64,
    /// The sequence of the step's last event.
    pub sequence: u64,
}

/// How many values a request to resume has.
pub(super) const RESUME_VALUES: usize = 4;

/// How many values stand for a look that goes on.
pub(super) const LOOK_VALUES: usize = 2;

/// What a call has counted for the first request of the next one, which goes on from there.
#[must_use]
pub fn look(counted: &str) -> EncodedRequest {
    let mut writer = MessageWriter::default();
    writer.text(RequestKind::Look.word());
    writer.text(counted);
    EncodedRequest::new(writer, LOOK_VALUES)
}

/// A request to finish what another call began, which nothing may keep from its end.
#[must_use]
pub fn resume() -> EncodedRequest {
    let mut writer = MessageWriter::default();
    writer.text(RequestKind::Resume.word());
    (1..RESUME_VALUES).for_each(|_| writer.nothing());
    resuming(writer)
}

/// The same for the receipt of a request that was begun, no matter which call finishes it.
#[must_use]
pub fn resume_begun(begun: Begun, request: &Request) -> EncodedRequest {
    let mut writer = MessageWriter::default();
    writer.text(RequestKind::Resume.word());
    writer.text(&format_compact!("{} {}", begun.epoch, begun.sequence));
    match request {
        Request::Write(Envelope { namespace, common: Common { operation: Some(id), .. }, .. }) => {
            writer.text(namespace);
            writer.text(id.as_str());
        }
        _ => (0..2).for_each(|_| writer.nothing()),
    }
    resuming(writer)
}

/// How many values stand for the packets that come before other requests.
pub(super) const PREPARE_VALUES: usize = 2;

/// A request to lay the next packets of a campaign ready. It has no receipt.
#[must_use]
pub fn prepare(campaign: &Id) -> EncodedRequest {
    let mut writer = MessageWriter::default();
    writer.text(RequestKind::Prepare.word());
    writer.text(campaign.as_str());
    EncodedRequest::new(writer, PREPARE_VALUES)
}

fn resuming(writer: MessageWriter) -> EncodedRequest {
    EncodedRequest::new(writer, RESUME_VALUES).shrinking(true)
}

/// A request to go on from the server's clock, also where that is behind the last stamp.
#[must_use]
pub fn put_back() -> EncodedRequest {
    let mut writer = MessageWriter::default();
    writer.text(RequestKind::PutBack.word());
    EncodedRequest::new(writer, 1)
}

/// The note that the partition is of the message's deployment.
#[must_use]
pub(super) fn begin(beginning: Beginning) -> EncodedRequest {
    let mut writer = MessageWriter::default();
    writer.text(RequestKind::Begin.word());
    writer.quantity(u64::from(beginning.adopts));
    writer.quantity(u64::from(beginning.creates));
    EncodedRequest::new(writer, 3)
}

/// A question whether all keys have what was written to them.
#[must_use]
pub(super) fn check() -> EncodedRequest {
    let mut writer = MessageWriter::default();
    writer.text(RequestKind::Check.word());
    EncodedRequest::new(writer, 1).reading()
}

/// A question for the rows that the log has changed since a sequence, of all resources or of one.
#[must_use]
pub(super) fn changes(after: u64, only: Option<&Id>) -> EncodedRequest {
    let mut writer = MessageWriter::default();
    writer.text(RequestKind::Changes.word());
    writer.quantity(after);
    match only {
        Some(resource) => writer.text(resource.as_str()),
        None => writer.nothing(),
    }
    EncodedRequest::new(writer, 3).reading()
}

/// Writes a request.
#[must_use]
pub fn encode(request: &Request, settings: &StateSettings, scratch: &mut Vec<u8>) -> EncodedRequest {
    let mut writer = MessageWriter::default();
    let values = match request {
        Request::Write(envelope) if is_short(envelope, settings) => {
            write_short(&mut writer, envelope, scratch)
        }
        Request::Write(envelope) => {
            write_epoch(&mut writer, envelope)
                + write_envelope(&mut writer, RequestKind::Write, envelope, settings, scratch)
        }
        Request::DryRun(envelope) => {
            write_envelope(&mut writer, RequestKind::DryRun, envelope, settings, scratch)
        }
        Request::Read(namespace, command) => {
            writer.text(RequestKind::Read.word());
            writer.text(namespace);
            writer.nothing();
            writer.nothing();
            writer.optional(asked_id(command).and_then(|id| made_at(id, settings)));
            writer.nothing();
            writer.nothing();
            HEAD_VALUES + write_command(&mut writer, command)
        }
        Request::Expire(limit) => {
            writer.text(RequestKind::Expire.word());
            writer.quantity((*limit).min(EXPIRE_MAX) as u64);
            2
        }
    };
    let encoded = EncodedRequest::new(writer, values).shrinking(is_shrinking(request));
    if matches!(request, Request::Read(..)) { encoded.reading() } else { encoded }
}

/// Writes the question what became of an operation, as a duplicate asks it.
#[must_use]
pub fn encode_recall(envelope: &Envelope, settings: &StateSettings, scratch: &mut Vec<u8>) -> EncodedRequest {
    let mut writer = MessageWriter::default();
    let values = write_envelope(&mut writer, RequestKind::Recall, envelope, settings, scratch);
    EncodedRequest::new(writer, values).reading()
}

/// Whether a request frees memory. It must be served when memory is full, or memory would stay full.
fn is_shrinking(request: &Request) -> bool {
    match request {
        Request::Write(envelope) => envelope.commands().iter().all(|command| command.spec().frees_memory()),
        Request::Expire(_) => true,
        Request::Read(..) | Request::DryRun(_) => false,
    }
}

/// Whether a request says no more than its command and an ID: most do, and Lua pays for each value of a message.
fn is_short(envelope: &Envelope, settings: &StateSettings) -> bool {
    let Some(id) = &envelope.common.operation else { return false };
    let is_bare = envelope.namespace.is_empty()
        && envelope.common.deadline.is_none()
        && envelope.issued_at.is_none()
        && envelope.epoch.is_none()
        && envelope.prepared().is_empty();
    is_bare
        && made_at(id, settings).is_none()
        && matches!(&envelope.body, Body::Single(command) if asked_id(command).is_none())
}

/// Writes a short request. Gives how many values it is.
fn write_short(writer: &mut MessageWriter, envelope: &Envelope, scratch: &mut Vec<u8>) -> usize {
    let (Some(id), Body::Single(command)) = (&envelope.common.operation, &envelope.body) else { return 0 };
    writer.quantity(u64::from(command.spec().number));
    writer.text(id.as_str());
    writer.text(&format_compact!("{:016x}", envelope.fingerprint(scratch)));
    let values = command.values();
    values.iter().for_each(|value| writer.value(value));
    SHORT_VALUES + values.len()
}

/// How many values say in which epoch a request may be decided.
pub(super) const WITHIN_VALUES: usize = 2;

/// Writes the epoch in which an envelope may be decided, where it names one. Gives how many values that is.
fn write_epoch(writer: &mut MessageWriter, envelope: &Envelope) -> usize {
    let Some(epoch) = envelope.epoch else { return 0 };
    writer.text(RequestKind::Within.word());
    writer.quantity(epoch);
    WITHIN_VALUES
}

/// Writes an envelope. Gives how many values it is.
fn write_envelope(
    writer: &mut MessageWriter,
    kind: RequestKind,
    envelope: &Envelope,
    settings: &StateSettings,
    scratch: &mut Vec<u8>,
) -> usize {
    let operation = envelope.common.operation.as_ref();
    writer.text(kind.word());
    writer.text(&envelope.namespace);
    match operation {
        Some(id) => {
            writer.text(id.as_str());
            writer.text(&format_compact!("{:016x}", envelope.fingerprint(scratch)));
        }
        None => (0..2).for_each(|_| writer.nothing()),
    }
    let resolved = match &envelope.body {
        Body::Single(command) => asked_id(command),
        Body::Atomic(_) => None,
    };
    let carried = operation.or(resolved).and_then(|id| made_at(id, settings));
    writer.optional(carried.or(operation.and(envelope.issued_at)));
    writer.optional(envelope.common.deadline);
    write_all_prepared(writer, kind, envelope, settings);
    HEAD_VALUES
        + match &envelope.body {
            Body::Single(command) => write_command(writer, command),
            Body::Atomic(commands) => {
                writer.list(commands.len());
                for command in commands {
                    writer.list(command.spec().arguments.len() + 1);
                    write_command(writer, command);
                }
                1
            }
        }
}

fn write_all_prepared(
    writer: &mut MessageWriter,
    kind: RequestKind,
    envelope: &Envelope,
    settings: &StateSettings,
) {
    if envelope.prepared().is_empty() || kind == RequestKind::Recall {
        return writer.nothing();
    }
    writer.list(envelope.prepared().len());
    // A dry run stops after the first step, and a batch takes no command that has a second one.
    let goes_on = kind == RequestKind::Write && matches!(envelope.body, Body::Single(_));
    let steps_max = if goes_on { usize::MAX } else { 1 };
    let step_max = match envelope.body {
        Body::Single(_) => settings.packets_per_step_max,
        Body::Atomic(_) => settings.batch_packets_max,
    };
    let sizes = (step_max.max(1), steps_max);
    envelope.prepared().iter().for_each(|prepared| write_prepared(writer, prepared, sizes));
}

/// The operation that a command asks after.
pub(super) fn asked_id(command: &Command) -> Option<&OperationId> {
    match command {
        Command::OperationGet(get) => Some(&get.operation),
        Command::OperationResolve(resolve) => Some(&resolve.operation),
        _ => None,
    }
}

/// The time that an id carries.
fn made_at(id: &OperationId, settings: &StateSettings) -> Option<u64> {
    id.time_ms(settings.ulid_times)
}

/// Writes a command's number and its arguments. Gives how many values that is.
fn write_command(writer: &mut MessageWriter, command: &Command) -> usize {
    let values = command.values();
    writer.quantity(u64::from(command.spec().number));
    values.iter().for_each(|value| writer.value(value));
    values.len() + 1
}

/// Seed and commitment, or nothing; count and total; the amounts that each step lays ready, joined by commas:
/// a text is read, and kept until its step, at a fraction of what a list of a million numbers costs.
fn write_prepared(writer: &mut MessageWriter, prepared: &Prepared, (step_max, steps_max): (usize, usize)) {
    let amounts = prepared.amounts();
    let pieces = amounts.chunks(step_max).take(steps_max);
    writer.list(5);
    for bytes in [prepared.seed().copied(), prepared.commitment()] {
        match bytes {
            Some(bytes) => writer.text(&hex(&bytes)),
            None => writer.nothing(),
        }
    }
    writer.quantity(amounts.len() as u64);
    writer.quantity(amounts.iter().sum());
    writer.list(pieces.len());
    pieces.for_each(|piece| writer.text(&joined(piece)));
}

fn joined(amounts: &[u64]) -> String {
    let mut text = String::new();
    for amount in amounts {
        let comma = if text.is_empty() { "" } else { "," };
        // Writing to a text does not fail.
        let _ = write!(text, "{comma}{amount}");
    }
    text
}

pub(super) fn quantity(value: &Value) -> Result<u64, Unreadable> {
    match value {
        Value::Integer(number) => u64::try_from(*number).map_err(|_| Unreadable("a quantity is below 0")),
        _ => Err(Unreadable("a quantity is no integer")),
    }
}
