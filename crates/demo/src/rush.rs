//! The rush: workers that send the crowd's commands over connections, keep many in flight, and retry under
//! the same ids after a crash.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossbeam_channel::Sender;

use super::ask::{Ask, CallerAnswer, Deed};
use super::crowd::Crowd;
use super::gate::Gate;
use super::http_line::HttpLine;
use super::line::{Broken, Line, RespLine};
use super::record::Record;
use super::server::Doors;

/// How long a worker waits when the server could decide none of its requests.
const PAUSE: Duration = Duration::from_millis(10);

/// Messages from the workers to the stage.
pub(super) enum News {
    /// The moment for this cue of the act has come.
    Cue(usize),
    /// The connections of this life of the server broke.
    Broken(u64),
    /// The server gave an answer that must never occur.
    Failed(String),
}

/// The workers' shared state.
pub(super) struct Rush<'a, C: Crowd> {
    pub(super) crowd: &'a C,
    pub(super) gate: &'a Gate,
    pub(super) record: &'a Mutex<Record<C>>,
    /// The next caller to arrive, and the one before whom to end.
    pub(super) next: AtomicU64,
    pub(super) end: u64,
    /// The maximum number of commands in flight on a connection.
    pub(super) window: usize,
    /// The number of cues, and how many were given.
    pub(super) cues: usize,
    pub(super) given: AtomicUsize,
}

type Lines<C> = Vec<Box<dyn Line<Sent<<C as Crowd>::Deed>>>>;

impl<C: Crowd> Rush<'_, C> {
    fn record(&self) -> MutexGuard<'_, Record<C>> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_arrival(&self) -> Option<Ask<C::Deed>> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        (number < self.end).then(|| self.crowd.arrive(number))
    }

    /// A worker: serves its share of the crowd until nobody is left.
    pub(super) fn work(&self, connections: usize, news: &Sender<News>) {
        let mut todo = VecDeque::new();
        let mut life = 0;
        while let Some((now, doors)) = self.gate.wait_beyond(life) {
            life = now;
            let mut lines: Lines<C> = (0..connections).map(|number| self.open(number, doors)).collect();
            let ended = Talk { rush: self, lines: &mut lines, todo: &mut todo, life, decided: 0, news }.run();
            match ended {
                Ok(()) => return,
                Err(Ended::Broken) => self.keep_unanswered(lines, &mut todo),
                Err(Ended::Failed(text)) => {
                    // The stage waits for news until the last worker is gone.
                    let _ = news.send(News::Failed(text));
                    return;
                }
            }
            let _ = news.send(News::Broken(life));
        }
    }

    /// If the crowd uses both ports, every second connection of a worker uses HTTP; a command that is sent
    /// twice at once then goes through both.
    fn open(&self, number: usize, doors: Doors) -> Box<dyn Line<Sent<C::Deed>>> {
        match doors.http.filter(|_| self.crowd.speaks_http() && number % 2 == 1) {
            Some(address) => Box::new(HttpLine::open(address)),
            None => Box::new(RespLine::open(doors.resp)),
        }
    }

    /// Queues the commands in flight to be retried first, under the same ids.
    fn keep_unanswered(&self, lines: Lines<C>, todo: &mut VecDeque<Ask<C::Deed>>) {
        let unanswered: Vec<_> = lines.into_iter().flat_map(Line::unanswered).map(|sent| sent.ask).collect();
        let mut record = self.record();
        unanswered.iter().for_each(|ask| record.note_lost(ask));
        drop(record);
        for ask in unanswered.into_iter().rev() {
            todo.push_front(self.crowd.after_crash(ask));
        }
    }
}

/// A command in flight.
struct Sent<D> {
    ask: Ask<D>,
    /// Its id already had a final answer when it was sent.
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

/// A worker's connections during one life of the server.
struct Talk<'a, C: Crowd> {
    rush: &'a Rush<'a, C>,
    lines: &'a mut Lines<C>,
    todo: &'a mut VecDeque<Ask<C::Deed>>,
    life: u64,
    /// The number of answers other than requests to retry later.
    decided: u64,
    news: &'a Sender<News>,
}

impl<C: Crowd> Talk<'_, C> {
    fn run(&mut self) -> Result<(), Ended> {
        loop {
            let more = self.fill();
            if self.lines.iter().all(|line| line.waiting() == 0) {
                return Ok(());
            }
            for line in self.lines.iter_mut() {
                line.flush()?;
            }
            // While there is more to send, half a window stays in flight.
            let low = if more { self.rush.window / 2 } else { 0 };
            let decided = self.decided;
            self.drain(low)?;
            if self.decided == decided {
                std::thread::park_timeout(PAUSE);
            }
        }
    }

    /// Fills the windows. Returns whether they became full.
    fn fill(&mut self) -> bool {
        for at in 0..self.lines.len() {
            while self.lines[at].waiting() < self.rush.window {
                let Some(ask) = self.todo.pop_front().or_else(|| self.rush.next_arrival()) else {
                    return false;
                };
                self.send(at, ask);
            }
        }
        true
    }

    fn send(&mut self, at: usize, ask: Ask<C::Deed>) {
        let request = ask.deed.request(&ask.id);
        let mut record = self.rush.record();
        let was_told = record.note_sent(&ask);
        if ask.doubles && !ask.is_again && !was_told && self.lines.len() > 1 {
            record.doubles += 1;
            let other = (at + 1) % self.lines.len();
            self.lines[other].ask(Sent { ask: ask.clone(), was_told }, &request);
        }
        drop(record);
        self.lines[at].ask(Sent { ask, was_told }, &request);
    }

    fn drain(&mut self, low: usize) -> Result<(), Ended> {
        for at in 0..self.lines.len() {
            while self.lines[at].waiting() > low {
                if let Some((sent, answer)) = self.lines[at].read()? {
                    self.heed(sent, &answer)?;
                }
            }
        }
        Ok(())
    }

    fn heed(&mut self, sent: Sent<C::Deed>, answer: &CallerAnswer) -> Result<(), Ended> {
        let Sent { ask, was_told } = sent;
        match answer {
            CallerAnswer::Later => {
                self.todo.push_back(ask);
                return Ok(());
            }
            CallerAnswer::Error(text) => {
                return Err(Ended::Failed(format!("'{}' was answered: {text}", ask.id)));
            }
            CallerAnswer::Applied(_) | CallerAnswer::Refused(..) => {}
        }
        self.decided += 1;
        let crowd = self.rush.crowd;
        let mut record = self.rush.record();
        let noted = record.note_answer(crowd, &ask, was_told, answer, self.life);
        self.give_cue(&record);
        drop(record);
        self.todo.extend(crowd.follow_ups(&ask, answer, noted));
        if ask.insists && noted.is_first {
            self.todo.push_back(ask.again());
        }
        Ok(())
    }

    /// Tells the stage, once, that the moment for the next cue has come. The caller holds the lock on the
    /// record.
    fn give_cue(&self, record: &Record<C>) {
        let given = self.rush.given.load(Ordering::Relaxed);
        if given < self.rush.cues && self.rush.crowd.is_due(given, record) {
            self.rush.given.store(given + 1, Ordering::Relaxed);
            let _ = self.news.send(News::Cue(given));
        }
    }
}
