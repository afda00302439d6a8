//! One way through a partition of the copy, with the log beside it.

mod ending;

use std::collections::VecDeque;

use scarce_core::event::{Entry, Position};
use scarce_outflow::{CopiedMessage, LogCopy, Meaning};

use super::gaps::{Gap, Gaps};
use super::messages::{bytes, differences, shown};
use super::others::Others;
use super::{Bounds, failed};
use crate::ReconcileError;
use crate::findings::Findings;
use crate::report::{CheckKind, EventPlace, Finding};
use crate::run::GoOn;
use crate::source::LogSource;

/// How many bytes of the last events are remembered, for copies that go back a little.
const WINDOW_BYTES_MAX: usize = 4 << 20;

/// How often the log is read again from further back.
const TURNS_MAX: u32 = 1_000;

/// The way through a partition.
pub(super) struct Walk<'w> {
    partition: u32,
    copy: &'w mut dyn LogCopy,
    findings: &'w mut Findings,
    /// The first and the last event of the log that can be read.
    log_first: u64,
    log_last: u64,
    bounds: Bounds,
    /// The next message, once it was looked at.
    next: Option<CopiedMessage>,
    /// The last offset that was looked at, and how many offsets without a message were passed since the last new event.
    offset: i64,
    hole: u64,
    /// The last event that the copy holds, as its readers see it.
    pub(super) reached: Option<u64>,
    /// The last events of the log, as messages.
    window: VecDeque<(u64, CopiedMessage)>,
    window_bytes: usize,
    gaps: Gaps,
    others: Others,
    turns: u32,
    doubles: u64,
    removed: u64,
    uncompared: u64,
    pub(super) has_own: bool,
    pub(super) foreign: Option<String>,
}

impl<'w> Walk<'w> {
    pub(super) fn new(
        copy: &'w mut dyn LogCopy,
        partition: u32,
        (log_first, log_last): (u64, u64),
        bounds: Bounds,
        findings: &'w mut Findings,
    ) -> Result<Self, ReconcileError> {
        copy.seek(partition, bounds.0, bounds.1).map_err(failed)?;
        Ok(Self {
            partition,
            copy,
            findings,
            log_first,
            log_last,
            bounds,
            next: None,
            offset: bounds.0 - 1,
            hole: 0,
            reached: None,
            window: VecDeque::new(),
            window_bytes: 0,
            gaps: Gaps::default(),
            others: Others::default(),
            turns: 0,
            doubles: 0,
            removed: 0,
            uncompared: 0,
            has_own: false,
            foreign: None,
        })
    }

    /// How many events of the log the copy does not have yet.
    pub(super) fn lag(&self) -> u64 {
        // What an empty copy once had is not known, if something was removed.
        let reached = self.reached.unwrap_or(if self.bounds.0 > 0 { self.log_last } else { 0 });
        self.log_last.saturating_sub(reached)
    }

    /// Whether the copy goes back so often that the rest of it is not compared.
    pub(super) fn has_given_up(&self) -> bool {
        self.turns > TURNS_MAX
    }

    /// Goes on to what the copy has now.
    pub(super) fn extend(&mut self, log: &mut dyn LogSource) -> Result<(), ReconcileError> {
        let (_, end) = self.copy.bounds(self.partition).map_err(failed)?;
        self.log_last = self.log_last.max(log.end(self.partition)?.unwrap_or(0));
        let from = self.bounds.1;
        self.bounds.1 = end;
        self.copy.seek(self.partition, from, end).map_err(failed)
    }

    /// Compares all that the copy has.
    pub(super) fn go(&mut self, log: &mut dyn LogSource, go_on: GoOn<'_>) -> Result<(), ReconcileError> {
        while let Some(from) = self.pass_to_event(go_on)? {
            self.turns += 1;
            if self.has_given_up() {
                let offset = self.offset;
                self.findings.skip(format!(
                    "partition {} of the topic goes back very often; from offset {offset} on it was not compared",
                    self.partition
                ));
                self.bounds.1 = offset;
                return Ok(());
            }
            (self.window, self.window_bytes) = (VecDeque::new(), 0);
            let offset = self.offset;
            let read = log.read(self.partition, from, &mut |entries| self.follow(&entries, go_on));
            let first = log.first(self.partition, self.log_first - 1)?;
            if first > from {
                // It was trimmed meanwhile.
                self.log_first = first;
                continue;
            }
            read?;
            if self.next.is_some() && self.offset == offset {
                // The log does not give what it should have.
                self.uncompared += 1;
                self.next = None;
            }
        }
        Ok(())
    }

    /// Looks at the next message.
    fn peek(&mut self) -> Result<Option<Meaning>, ReconcileError> {
        if self.next.is_none() {
            self.next = self.copy.next().map_err(failed)?;
            if let Some(message) = &self.next {
                self.hole += u64::try_from(message.offset - self.offset - 1).unwrap_or(0);
                self.offset = message.offset;
            }
        }
        Ok(self.next.as_ref().map(|message| message.meaning.clone()))
    }

    /// Passes what is no event of the log; returns the sequence of the next event that the log can be asked for.
    fn pass_to_event(&mut self, go_on: GoOn<'_>) -> Result<Option<u64>, ReconcileError> {
        let mut passed = 0_u64;
        while let Some(meaning) = self.peek()? {
            passed += 1;
            if passed.is_multiple_of(1_000) && !go_on(self.reached.unwrap_or(0)) {
                return Err(ReconcileError::Stopped);
            }
            if let Meaning::Event(Position { sequence, .. }) = meaning
                && (self.log_first..=self.log_last).contains(&sequence)
            {
                return Ok(Some(sequence));
            }
            let Some(message) = self.next.take() else { break };
            self.pass(&message);
        }
        Ok(None)
    }

    /// Judges a message without the log.
    fn pass(&mut self, message: &CopiedMessage) {
        match &message.meaning {
            Meaning::Event(at) if (1..self.log_first).contains(&at.sequence) => {
                self.has_own = true;
                self.uncompared += 1;
                self.place(at.sequence, message.offset, None);
            }
            Meaning::Event(at) => {
                let (at, finding) = (*at, self.finding("event", message, (None, shown(&message.value))));
                self.has_own = true;
                self.others.add(at, self.findings.limit(), finding);
            }
            Meaning::Resumed { after, is_beginning } => {
                self.has_own = true;
                self.resume(after.sequence, *is_beginning, message);
            }
            Meaning::Foreign { source } => {
                self.foreign = self.foreign.take().or_else(|| source.clone());
                let finding = self.finding("message", message, (None, shown(&message.value)));
                self.findings.add(finding);
            }
        }
    }

    /// The copy says that it goes on behind an event.
    fn resume(&mut self, after: u64, is_beginning: bool, message: &CopiedMessage) {
        if after > self.log_last {
            let expected = Some(format!("{} or before", self.log_last));
            let finding = self.finding("resumed behind", message, (expected, Some(after.to_string())));
            self.findings.add(finding);
            return;
        }
        self.others.forget_behind(after);
        self.gaps.forget_behind(after);
        self.reached = match self.reached {
            Some(reached) => Some(reached.min(after)),
            None => (is_beginning || self.bounds.0 > 0).then_some(after),
        };
        (self.window, self.window_bytes) = (VecDeque::new(), 0);
    }

    /// Compares messages with entries of the log, as long as they go on with them.
    fn follow(&mut self, entries: &[Entry], go_on: GoOn<'_>) -> Result<bool, ReconcileError> {
        for entry in entries {
            let messages = self.copy.expected(self.partition, entry);
            for ((sequence, event), message) in (entry.head.sequence_first..).zip(&entry.events).zip(messages)
            {
                self.remember(sequence, message);
                if !self.take_through(sequence, event.spec().name)? {
                    return Ok(false);
                }
            }
        }
        if go_on(self.reached.unwrap_or(0)) { Ok(true) } else { Err(ReconcileError::Stopped) }
    }

    /// Takes messages up to an event of the log; `false` if the log must be read from elsewhere, or there is no more.
    fn take_through(&mut self, sequence: u64, name: &'static str) -> Result<bool, ReconcileError> {
        loop {
            let log = self.log_first..=self.log_last;
            match self.peek()? {
                None => return Ok(false),
                Some(Meaning::Event(at)) if log.contains(&at.sequence) => {
                    if at.sequence > sequence {
                        return Ok(true);
                    }
                    let first = self.window.front().map_or(u64::MAX, |(first, _)| *first);
                    let Some(back) = at.sequence.checked_sub(first) else { return Ok(false) };
                    let name = (at.sequence == sequence).then_some(name);
                    self.compare(usize::try_from(back).unwrap_or(usize::MAX), name);
                }
                Some(_) => {
                    if let Some(message) = self.next.take() {
                        self.pass(&message);
                    }
                }
            }
        }
    }

    fn remember(&mut self, sequence: u64, message: CopiedMessage) {
        self.window_bytes += bytes(&message);
        self.window.push_back((sequence, message));
        while self.window_bytes > WINDOW_BYTES_MAX && self.window.len() > 1 {
            let out = self.window.pop_front();
            self.window_bytes -= out.map_or(0, |(_, message)| bytes(&message));
        }
    }

    /// Compares the next message with one of the window.
    fn compare(&mut self, back: usize, name: Option<&'static str>) {
        let Some(message) = self.next.take() else { return };
        self.has_own = true;
        let Some((sequence, expected)) = self.window.get(back) else { return };
        let sequence = *sequence;
        let Meaning::Event(at) = message.meaning else { return };
        self.findings.compare(1);
        if message.meaning != expected.meaning {
            let values = (shown(&expected.value), shown(&message.value));
            let finding = self.finding("event", &message, values);
            self.others.add(at, self.findings.limit(), finding);
            return;
        }
        let differences = differences(expected, &message);
        for (count, (field, values)) in differences.into_iter().enumerate() {
            let mut finding = self.finding(&field, &message, values);
            finding.first_event = Some(EventPlace { partition: self.partition, sequence, event: name });
            if count == 0 { self.findings.add(finding) } else { self.findings.add_more(finding) }
        }
        self.place(sequence, message.offset, Some(&message));
    }

    /// Notes that an event is in the copy, and whether it is in its place.
    fn place(&mut self, sequence: u64, offset: i64, message: Option<&CopiedMessage>) {
        let nothing_before = if self.bounds.0 > 0 { sequence.saturating_sub(1) } else { 0 };
        let reached = *self.reached.get_or_insert(nothing_before);
        if sequence > reached {
            let missing = sequence - reached - 1;
            if missing > 0 && missing <= self.hole {
                self.removed += missing;
            } else if missing > 0 {
                self.gaps.add(Gap { first: reached + 1, last: sequence - 1, offset });
            }
            (self.reached, self.hole) = (Some(sequence), 0);
        } else if !self.gaps.fill(sequence) {
            self.doubles += 1;
        } else if let Some(message) = message {
            let values =
                (Some(format!("behind event {}", sequence - 1)), Some(format!("behind event {reached}")));
            let finding = self.finding("place of the event", message, values);
            self.findings.add(finding);
        }
    }

    /// A difference at a message.
    fn finding(
        &self,
        what: &str,
        message: &CopiedMessage,
        values: (Option<String>, Option<String>),
    ) -> Finding {
        let sequence = match message.meaning {
            Meaning::Event(at) => Some(at.sequence.min(self.log_last)),
            _ => self.reached,
        };
        Finding {
            check: CheckKind::Topic,
            partition: Some(self.partition),
            resource: message.subject.clone(),
            field: format!("{what} at offset {}", message.offset),
            expected: values.0,
            found: values.1,
            first_event: sequence.filter(|its| *its > 0).map(|sequence| EventPlace {
                partition: self.partition,
                sequence,
                event: None,
            }),
        }
    }
}
