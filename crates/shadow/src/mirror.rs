//! The thread that sends to Scarce what callers have called, in the order in which Redis has answered, and compares.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};
use redis::Value;
use scarce_client::{Client, ClientError};

use crate::answer;
use crate::map::{CallMap, Made};
use crate::report::{Difference, Reporting};

/// How many calls may wait for Scarce before comparing is broken off: callers are never held up for it.
const WAITING_MAX: usize = 200_000;

/// How many calls are sent at once.
const CALLS_MAX: usize = 256;

/// How long one answer of Scarce may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause before Scarce is asked again.
const PAUSE: Duration = Duration::from_millis(100);

/// How Scarce is asked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What the IDs of the operations begin with; no other process may have the same.
    pub run: String,
    /// How long Scarce is asked again before comparing is broken off.
    pub patience: Duration,
}

/// Opens a connection to Scarce.
pub type Connect = Box<dyn Fn() -> Result<Client, ClientError> + Send>;

/// A call that Redis has answered.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) made: Made,
    pub(crate) answer: Value,
    at: u64,
}

impl Answered {
    pub(crate) fn new(made: Made, answer: Value) -> Self {
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { made, answer, at: u64::try_from(at.as_millis()).unwrap_or(u64::MAX) }
    }
}

/// The way to the thread.
#[derive(Debug)]
pub(crate) struct Mirror {
    calls: Sender<Answered>,
    reporting: Arc<Reporting>,
}

/// The thread's end of it.
pub(crate) struct Follower {
    calls: Receiver<Answered>,
    map: Arc<CallMap>,
    reporting: Arc<Reporting>,
    settings: Settings,
    number: u64,
}

/// A way to a thread that has not begun; calls wait until it does.
pub(crate) fn mirror(
    map: &Arc<CallMap>,
    reporting: &Arc<Reporting>,
    settings: Settings,
) -> (Mirror, Follower) {
    let (sender, calls) = bounded(WAITING_MAX);
    let mirror = Mirror { calls: sender, reporting: Arc::clone(reporting) };
    let (map, reporting) = (Arc::clone(map), Arc::clone(reporting));
    (mirror, Follower { calls, map, reporting, settings, number: 0 })
}

impl Mirror {
    /// Leaves a call to the thread. It never waits.
    pub(crate) fn leave(&self, answered: Answered) {
        self.reporting.note(|report| {
            if report.broken_off.is_some() {
                report.not_compared += 1;
                return;
            }
            match self.calls.try_send(answered) {
                Ok(()) => report.waiting += 1,
                Err(error) => {
                    let why = match error {
                        TrySendError::Full(_) => format!("more than {WAITING_MAX} calls waited for Scarce"),
                        TrySendError::Disconnected(_) => "the thread that compares has ended".to_owned(),
                    };
                    break_off(report, why);
                    report.not_compared += 1;
                }
            }
        });
    }
}

fn break_off(report: &mut crate::report::Report, why: String) {
    "broken off".clone_into(&mut report.state);
    report.broken_off.get_or_insert(why);
}

impl Follower {
    /// Compares until the proxy ends, or Scarce is away for too long.
    pub(crate) fn run(mut self, connect: &Connect) {
        let mut client = None;
        while let Ok(first) = self.calls.recv() {
            let rest = self.calls.try_iter().take(CALLS_MAX - 1);
            let some: Vec<Answered> = [first].into_iter().chain(rest).collect();
            if let Err(why) = self.compare(&some, &mut client, connect) {
                return self.reporting.note(|report| {
                    break_off(report, why);
                    report.not_compared += std::mem::take(&mut report.waiting);
                });
            }
        }
    }

    /// Compares some calls. Who is undecided is asked again, with all that follow, under the same IDs.
    fn compare(
        &mut self,
        some: &[Answered],
        client: &mut Option<Client>,
        connect: &Connect,
    ) -> Result<(), String> {
        let (begun, mut done) = (Instant::now(), 0);
        while done < some.len() {
            let problem = match self.ask(&some[done..], client, connect) {
                Ok(answers) => {
                    let decided = answers.iter().take_while(|answer| !answer::is_undecided(answer)).count();
                    let undecided = answers.get(decided).map(|answer| format!("{answer:?}"));
                    for (answered, answer) in some[done..].iter().zip(answers).take(decided) {
                        self.judge(answered, answer);
                    }
                    done += decided;
                    undecided
                }
                Err(error) => {
                    *client = None;
                    Some(error.to_string())
                }
            };
            let Some(problem) = problem else { continue };
            if begun.elapsed() > self.settings.patience {
                return Err(format!(
                    "Scarce has not answered for {} s: {problem}",
                    self.settings.patience.as_secs()
                ));
            }
            std::thread::park_timeout(PAUSE);
        }
        Ok(())
    }

    /// Sends calls and reads their answers; nil for those that are not commands.
    fn ask(
        &self,
        some: &[Answered],
        client: &mut Option<Client>,
        connect: &Connect,
    ) -> Result<Vec<Value>, ClientError> {
        let client = match client {
            Some(client) => client,
            None => {
                let made = connect()?;
                made.set_timeout(ANSWER_TIMEOUT)?;
                client.insert(made)
            }
        };
        let numbered = some.iter().zip(self.number..);
        let commands: Vec<Vec<String>> = numbered
            .filter_map(|(answered, number)| {
                let mut words = answered.made.command.as_ref().ok()?.clone();
                if self.map.calls[answered.made.call].is_write() {
                    words.extend(["ID".to_owned(), format!("{}-{number}", self.settings.run)]);
                }
                Some(words)
            })
            .collect();
        let mut answers = client.pipeline(&commands)?.into_iter();
        let answer = |answered: &Answered| match answered.made.command {
            Ok(_) => answers.next().unwrap_or(Value::Nil),
            Err(_) => Value::Nil,
        };
        Ok(some.iter().map(answer).collect())
    }

    fn judge(&mut self, answered: &Answered, answer: Value) {
        let number = self.number;
        self.number += 1;
        let Answered { made, at, .. } = answered;
        let redis = answer::of_redis(&answered.answer).unwrap_or_default();
        let call = &self.map.calls[made.call];
        let found = match &made.command {
            Ok(_) => answer::of_scarce(answer),
            Err(why) => vec![format!("was not asked: {why}")],
        };
        let expected = call.expected(&redis, &made.captures);
        let is_equal = expected.as_ref().is_ok_and(|expected| answer::is_as(expected, &found));
        let difference = (!is_equal).then(|| Difference {
            number,
            at: *at,
            command: made.command.as_ref().map_or_else(Clone::clone, |words| words.join(" ")),
            redis,
            expected: expected.map_or_else(|why| why, |words| words.join(" ")),
            scarce: found.join(" "),
        });
        self.reporting.note(|report| {
            report.waiting = report.waiting.saturating_sub(1);
            report.add(made.call, difference);
        });
    }
}
