//! One connection under load: closed loop, as fast as answers come, or open loop, at a fixed rate.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

use crate::{Commands, Replies, Tally};

/// The maximum number of unanswered commands at a fixed rate.
const WAITING_MAX: usize = 1 << 16;

/// When a connection stops.
#[derive(Clone, Copy, Debug)]
pub struct Until {
    /// After this number of commands.
    pub operations: u64,
    /// At this time.
    pub at: Option<Instant>,
}

/// What all connections share.
#[derive(Debug, Default)]
pub struct LoadProgress {
    /// Whether to stop early.
    pub stop: std::sync::Arc<AtomicBool>,
    /// The number of answers so far.
    pub answered: AtomicU64,
}

/// A connection and its commands.
pub struct Driver<'a> {
    /// Where commands are written.
    pub stream: TcpStream,
    /// Where answers are read.
    pub replies: Replies<TcpStream>,
    /// What is asked.
    pub commands: Commands,
    /// When it stops.
    pub until: Until,
    /// What it tells the others, and hears from them.
    pub progress: &'a LoadProgress,
}

/// The measurements of a connection, and why it ended early, if it did.
pub struct Driven {
    /// The measurements.
    pub tally: Tally,
    /// Why the connection ended early.
    pub broken: Option<io::Error>,
}

impl Driver<'_> {
    fn is_over(&self, sent: u64) -> bool {
        sent >= self.until.operations
            || self.until.at.is_some_and(|at| Instant::now() >= at)
            || self.progress.stop.load(Ordering::Relaxed)
    }

    /// Keeps up to `pipeline` commands in flight.
    #[must_use]
    pub fn closed(mut self, pipeline: usize) -> Driven {
        let mut tally = Tally::new();
        let broken = self.run_closed(pipeline, &mut tally).err();
        Driven { tally, broken }
    }

    fn run_closed(&mut self, pipeline: usize, tally: &mut Tally) -> io::Result<()> {
        let mut waiting = VecDeque::with_capacity(pipeline);
        let (mut sent, mut out) = (0, Vec::new());
        loop {
            let is_over = self.is_over(sent);
            out.clear();
            let now = Instant::now();
            while !is_over && waiting.len() < pipeline && sent < self.until.operations {
                self.commands.put_next(&mut out);
                waiting.push_back(now);
                sent += 1;
            }
            if is_over && waiting.is_empty() {
                return Ok(());
            }
            self.stream.write_all(&out)?;
            // Half of the window is refilled at a time, so that one write sends many commands.
            let kept = if is_over { 0 } else { pipeline / 2 };
            let mut answered = 0;
            while waiting.len() > kept {
                let outcome = self.replies.next()?;
                if let Some(sent_at) = waiting.pop_front() {
                    tally.record(sent_at.elapsed(), outcome);
                }
                answered += 1;
            }
            self.progress.answered.fetch_add(answered, Ordering::Relaxed);
        }
    }

    /// Sends a command each `interval` from `first` on, whether or not answers have come. A latency counts
    /// from when the command was due, so that a stalled server is also charged for the commands that waited.
    #[must_use]
    pub fn open(self, first: Instant, interval: Duration) -> Driven {
        let Self { stream, mut replies, commands, until, progress } = self;
        let (due, dues) = bounded(WAITING_MAX);
        let sender = Pace { stream, commands, until, progress, first, interval, due };
        std::thread::scope(|scope| {
            let sending = scope.spawn(move || sender.run());
            let mut tally = Tally::new();
            let read = receive(&mut replies, &dues, &mut tally, progress);
            // The other half will receive nothing more.
            drop(dues);
            let sent = sending.join().unwrap_or_else(|_| Err(io::Error::other("a thread has panicked")));
            Driven { tally, broken: read.and(sent).err() }
        })
    }
}

fn receive(
    replies: &mut Replies<TcpStream>,
    dues: &Receiver<Instant>,
    tally: &mut Tally,
    progress: &LoadProgress,
) -> io::Result<()> {
    for due in dues {
        let outcome = replies.next()?;
        tally.record(due.elapsed(), outcome);
        progress.answered.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// The sending half of a connection with a fixed rate.
struct Pace<'a> {
    stream: TcpStream,
    commands: Commands,
    until: Until,
    progress: &'a LoadProgress,
    first: Instant,
    interval: Duration,
    due: Sender<Instant>,
}

impl Pace<'_> {
    fn run(mut self) -> io::Result<()> {
        let (mut next, mut sent, mut out) = (self.first, 0, Vec::new());
        while sent < self.until.operations
            && self.until.at.is_none_or(|at| next < at)
            && !self.progress.stop.load(Ordering::Relaxed)
        {
            if let Some(early) = next.checked_duration_since(Instant::now()).filter(|early| !early.is_zero())
            {
                self.stream.write_all(&out)?;
                out.clear();
                std::thread::park_timeout(early.min(Duration::from_millis(100)));
                continue;
            }
            self.commands.put_next(&mut out);
            sent += 1;
            match self.due.try_send(next) {
                Ok(()) => {}
                Err(TrySendError::Full(due)) => {
                    self.stream.write_all(&out)?;
                    out.clear();
                    if self.due.send(due).is_err() {
                        return Ok(());
                    }
                }
                // The reading half reports the reason.
                Err(TrySendError::Disconnected(_)) => return Ok(()),
            }
            next += self.interval;
        }
        self.stream.write_all(&out)
    }
}
