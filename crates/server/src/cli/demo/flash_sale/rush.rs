//! The rush: workers that put the crowd's commands on connections, keep many on the way at once, and
//! after the crash ask again under the same ids.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crossbeam_channel::Sender;

use super::super::gate::Gate;
use super::super::line::{Broken, Line};
use super::buyers::{Ask, Crowd};
use super::record::{Answer, Record};

/// What the workers tell the stage.
pub(super) enum News {
    /// The sale is in full swing.
    InFullSwing,
    /// The connections of this life of the server broke.
    Broken(u64),
    /// The server answered what it never should.
    Failed(String),
}

/// What the workers share.
pub(super) struct Rush<'a> {
    pub(super) crowd: Crowd,
    pub(super) gate: &'a Gate,
    pub(super) record: &'a Mutex<Record>,
    /// The next buyer who has not come yet, and the one before whom to end.
    pub(super) next: AtomicU64,
    pub(super) end: u64,
    /// How many commands may be on the way on a connection.
    pub(super) window: usize,
    /// From so many units sold, or answers in, the sale is in full swing.
    pub(super) swing: Option<(u64, u64)>,
}

impl Rush<'_> {
    pub(super) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_buyer(&self) -> Option<Ask> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.end).then(|| self.crowd.buyer(number).opening())
    }

    /// A worker: serves its share of the crowd until nobody is left.
    pub(super) fn work(&self, connections: usize, news: &Sender<News>) {
        let mut todo = VecDeque::new();
        let mut life = 0;
        while let Some((now, address)) = self.gate.wait_beyond(life) {
            life = now;
            let mut lines: Vec<Line<Sent>> = (0..connections).map(|_| Line::open(address)).collect();
            let ended = Talk { rush: self, lines: &mut lines, todo: &mut todo, life, news }.run();
            match ended {
                Ok(()) => return,
                Err(Ended::Broken) => self.keep_unanswered(lines, &mut todo),
                Err(Ended::Failed(text)) => {
                    // The stage waits for news until the last worker has gone.
                    let _ = news.send(News::Failed(text));
                    return;
                }
            }
            let _ = news.send(News::Broken(life));
        }
    }

    /// What was on the way is asked again first, under the same ids.
    fn keep_unanswered(&self, lines: Vec<Line<Sent>>, todo: &mut VecDeque<Ask>) {
        let unanswered: Vec<Ask> =
            lines.into_iter().flat_map(Line::into_waiting).map(|sent| sent.ask).collect();
        let mut record = self.record();
        unanswered.iter().for_each(|ask| record.note_lost(ask));
        drop(record);
        for ask in unanswered.into_iter().rev() {
            todo.push_front(ask);
        }
    }
}

/// A command on the way.
struct Sent {
    ask: Ask,
    /// Its id had been answered for good before it was sent.
    was_told: bool,
}

enum Ended {
    Broken,
    Failed(String),
}

impl From<Broken> for Ended {
    fn from(_: Broken) -> Self {
        Self::Broken
    }
}

/// A worker's conversation during one life of the server.
struct Talk<'a> {
    rush: &'a Rush<'a>,
    lines: &'a mut Vec<Line<Sent>>,
    todo: &'a mut VecDeque<Ask>,
    life: u64,
    news: &'a Sender<News>,
}

impl Talk<'_> {
    fn run(&mut self) -> Result<(), Ended> {
        loop {
            let more = self.fill();
            if self.lines.iter().all(|line| line.waiting() == 0) {
                return Ok(());
            }
            for line in self.lines.iter_mut() {
                line.flush()?;
            }
            // While more is to be sent, half a window stays on the way.
            let low = if more { self.rush.window / 2 } else { 0 };
            self.drain(low)?;
        }
    }

    /// Fills the windows. Gives whether they became full.
    fn fill(&mut self) -> bool {
        for at in 0..self.lines.len() {
            while self.lines[at].waiting() < self.rush.window {
                let Some(ask) = self.todo.pop_front().or_else(|| self.rush.next_buyer()) else {
                    return false;
                };
                self.send(at, ask);
            }
        }
        true
    }

    fn send(&mut self, at: usize, ask: Ask) {
        let commands = ask.commands(&self.rush.crowd);
        let mut record = self.rush.record();
        let was_told = record.note_sent(&ask);
        if ask.is_doubled() && !was_told && self.lines.len() > 1 {
            record.doubles += 1;
            let other = (at + 1) % self.lines.len();
            self.lines[other].ask(Sent { ask: ask.clone(), was_told }, &commands);
        }
        drop(record);
        self.lines[at].ask(Sent { ask, was_told }, &commands);
    }

    fn drain(&mut self, low: usize) -> Result<(), Ended> {
        for at in 0..self.lines.len() {
            while self.lines[at].waiting() > low {
                if let Some((sent, value)) = self.lines[at].read()? {
                    let answer = Answer::of(sent.ask.deed, value);
                    self.heed(sent, &answer)?;
                }
            }
        }
        Ok(())
    }

    fn heed(&mut self, sent: Sent, answer: &Answer) -> Result<(), Ended> {
        let Sent { ask, was_told } = sent;
        match answer {
            Answer::Later(_) => {
                self.todo.push_back(ask);
                return Ok(());
            }
            Answer::Error(text) => {
                return Err(Ended::Failed(format!("'{}' was answered: {text}", ask.id)));
            }
            Answer::Applied(_) | Answer::Refused(_) => {}
        }
        let mut record = self.rush.record();
        let noted = record.note_answer(&ask, was_told, answer, self.life);
        let swings =
            self.rush.swing.is_some_and(|(sold, answers)| record.sold >= sold || record.answers >= answers);
        drop(record);
        if swings && self.life == 1 {
            let _ = self.news.send(News::InFullSwing);
        }
        self.todo.extend(ask.follow_ups(noted));
        Ok(())
    }
}
