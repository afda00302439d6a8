//! What was compared, and what differed.

use std::sync::{Mutex, PoisonError};

use serde::Serialize;

use crate::map::CallMap;

/// How many differences of a call are kept: the first ones, since later ones follow from them.
const DIFFERENCES_MAX: usize = 20;

/// What was found so far.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// `forwarding`, `comparing` or `broken off`.
    pub state: String,
    /// Why comparing was broken off, if it was.
    pub broken_off: Option<String>,
    /// Each call of the map.
    pub calls: Vec<Tally>,
    /// Calls that were answered and are not compared yet.
    pub waiting: u64,
    /// Calls that were made before comparing began or after it was broken off.
    pub not_compared: u64,
    /// Calls within MULTI, which are not compared.
    pub in_transactions: u64,
    /// Calls in another database than the proxy's, which are not compared.
    pub in_other_databases: u64,
    /// Calls that Redis refused before it ran them.
    pub not_run: u64,
    /// Calls whose connection to Redis broke before they were answered: they may have been carried out.
    pub unanswered: u64,
    /// Requests that no call of the map reads.
    pub passed_on: u64,
}

/// What was found of a call.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tally {
    /// What it is called in the map.
    pub call: String,
    /// How often both answered the same.
    pub equal: u64,
    /// How often not.
    pub different: u64,
    /// The first differences.
    pub differences: Vec<Difference>,
}

/// A call that was answered differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// How many calls were compared before it.
    pub number: u64,
    /// When Redis had answered, in milliseconds since the Unix epoch.
    pub at: u64,
    /// The command that Scarce was sent.
    pub command: String,
    /// What Redis answered.
    pub redis: String,
    /// What Scarce had to answer, or why that is not known.
    pub expected: String,
    /// What it answered.
    pub scarce: String,
}

/// The report while it grows.
#[derive(Debug)]
pub(crate) struct Reporting(Mutex<Report>);

impl Reporting {
    pub(crate) fn new(map: &CallMap) -> Self {
        let calls = map.calls.iter().map(|call| Tally { call: call.name.clone(), ..Tally::default() });
        Self(Mutex::new(Report {
            state: "forwarding".to_owned(),
            broken_off: None,
            calls: calls.collect(),
            waiting: 0,
            not_compared: 0,
            in_transactions: 0,
            in_other_databases: 0,
            not_run: 0,
            unanswered: 0,
            passed_on: 0,
        }))
    }

    /// Changes it.
    pub(crate) fn note<T>(&self, change: impl FnOnce(&mut Report) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Report {
    /// Whether everything that was to be compared was, and was equal.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.broken_off.is_none() && self.waiting == 0 && self.calls.iter().all(|call| call.different == 0)
    }

    pub(crate) fn add(&mut self, call: usize, difference: Option<Difference>) {
        let tally = &mut self.calls[call];
        match difference {
            None => tally.equal += 1,
            Some(difference) => {
                tally.different += 1;
                if tally.differences.len() < DIFFERENCES_MAX {
                    tally.differences.push(difference);
                }
            }
        }
    }
}
