//! Operations in flight: sent in order, several at once, and resent with the same ids when the connection
//! breaks before they are answered.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::answer::{self, ImportAnswer};
use super::args::Options;
use super::operation::Operation;
use super::way::Way;
use crate::{Exit, Failed};
use scarce_client::{Client, ClientError};

/// How long one answer may take before the connection counts as broken.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// The delay before the first attempt to reconnect; doubled with each.
const PAUSE_FIRST: Duration = Duration::from_millis(20);

/// The maximum delay between two attempts.
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// The maximum number of bytes in flight, unless a single operation has more.
const BYTES_MAX: usize = 256 << 10;

/// A connection with its unanswered operations.
pub(super) struct Pipe<'a> {
    options: &'a Options,
    way: Way<'a>,
    client: Client,
    unanswered: VecDeque<Operation>,
    /// Added but not sent yet.
    unsent: Vec<u8>,
    bytes: usize,
    /// The number of reconnects.
    pub(super) reconnects: u64,
    trouble: Option<Trouble>,
}

/// What has delayed the next answer.
#[derive(Clone, Copy)]
struct Trouble {
    since: Instant,
    pause: Duration,
}

impl<'a> Pipe<'a> {
    pub(super) fn connect(options: &'a Options) -> Result<Self, Failed> {
        let way = Way::of(options)?;
        let client = connect(&way)?;
        Ok(Self {
            options,
            way,
            client,
            unanswered: VecDeque::new(),
            unsent: Vec::new(),
            bytes: 0,
            reconnects: 0,
            trouble: None,
        })
    }

    /// The connection, while nothing is in flight.
    pub(super) fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    pub(super) fn is_empty(&self) -> bool {
        self.unanswered.is_empty()
    }

    /// Whether there is room for another operation.
    pub(super) fn has_room(&self) -> bool {
        self.unanswered.len() < self.options.window as usize && self.bytes < BYTES_MAX
    }

    /// Whether so many are in flight that answers should be read before more is sent.
    pub(super) fn is_above_half(&self) -> bool {
        self.unanswered.len() > self.options.window as usize / 2 || self.bytes > BYTES_MAX / 2
    }

    /// The first line with an unanswered operation.
    pub(super) fn first_line(&self) -> Option<u64> {
        self.unanswered.iter().map(|operation| operation.line).min()
    }

    /// Adds an operation; [`Pipe::flush`] sends it.
    pub(super) fn put(&mut self, operation: Operation) {
        self.bytes += operation.packed.len();
        self.unsent.extend_from_slice(&operation.packed);
        self.unanswered.push_back(operation);
    }

    /// Sends the added operations.
    pub(super) fn flush(&mut self) -> Result<(), Failed> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        let sent = self.client.send(&self.unsent);
        self.unsent.clear();
        match sent {
            Ok(()) => Ok(()),
            Err(error) => self.recover(&error.to_string()),
        }
    }

    /// The next answer, in the order of the operations.
    pub(super) fn receive(&mut self) -> Result<Option<(Operation, ImportAnswer)>, Failed> {
        while let Some(operation) = self.unanswered.front() {
            let problem = match replies(&mut self.client, operation) {
                Err(error) => error.to_string(),
                Ok(replies) => match answer::read(operation, replies) {
                    ImportAnswer::Undecided(text) => text,
                    ImportAnswer::Denied(text) => return Err(Failed::text(Exit::Failed, text)),
                    answer => return Ok(self.answered(answer)),
                },
            };
            self.recover(&problem)?;
        }
        Ok(None)
    }

    fn answered(&mut self, answer: ImportAnswer) -> Option<(Operation, ImportAnswer)> {
        self.trouble = None;
        let operation = self.unanswered.pop_front()?;
        self.bytes -= operation.packed.len();
        Some((operation, answer))
    }

    /// Waits, reconnects and resends everything unanswered with the same ids, until that works or nothing was
    /// answered for too long.
    fn recover(&mut self, problem: &str) -> Result<(), Failed> {
        let mut problem = problem.to_owned();
        loop {
            self.pause(&problem)?;
            match self.resend() {
                Ok(()) => return Ok(()),
                Err(failed) if failed.exit == Exit::Unreachable => problem = failed.message,
                Err(failed) => return Err(failed),
            }
        }
    }

    fn pause(&mut self, problem: &str) -> Result<(), Failed> {
        let first = Trouble { since: Instant::now(), pause: PAUSE_FIRST };
        let Trouble { since, pause } = self.trouble.unwrap_or(first);
        if since.elapsed() >= Duration::from_secs(self.options.retry_for) {
            let message = format!("gave up after {} seconds: {problem}", self.options.retry_for);
            return Err(Failed::text(Exit::Unreachable, message));
        }
        let until = Instant::now() + pause;
        while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            std::thread::park_timeout(left);
        }
        self.trouble = Some(Trouble { since, pause: (pause * 2).min(PAUSE_MAX) });
        Ok(())
    }

    fn resend(&mut self) -> Result<(), Failed> {
        self.client = connect(&self.way)?;
        self.reconnects += 1;
        let packed: Vec<&[u8]> =
            self.unanswered.iter().map(|operation| operation.packed.as_slice()).collect();
        self.client.send(&packed.concat())?;
        Ok(())
    }
}

fn connect(way: &Way<'_>) -> Result<Client, Failed> {
    let client = way.connect()?;
    client.set_timeout(ANSWER_TIMEOUT)?;
    client.set_send_timeout(ANSWER_TIMEOUT)?;
    Ok(client)
}

fn replies(client: &mut Client, operation: &Operation) -> Result<Vec<redis::Value>, ClientError> {
    (0..operation.answers).map(|_| client.receive()).collect()
}
