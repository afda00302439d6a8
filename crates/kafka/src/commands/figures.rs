//! The metrics of commands.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Counters of commands since the start, and gauges. All may be read at any time.
#[derive(Debug, Default)]
pub struct Figures {
    received: AtomicU64,
    applied: AtomicU64,
    refused: AtomicU64,
    replayed: AtomicU64,
    dead: AtomicU64,
    removed: AtomicU64,
    retried: AtomicU64,
    paused: AtomicU64,
    partitions: AtomicU64,
    in_flight: AtomicU64,
    trouble: Mutex<Option<String>>,
}

macro_rules! read {
    ($($(#[$doc:meta])* $name:ident),*) => {
        impl Figures {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(&self) -> u64 {
                self.$name.load(Ordering::Relaxed)
            })*
        }
    };
}

impl Figures {
    pub(crate) fn note_received(&self) {
        self.received.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_decided(&self, is_applied: bool, is_replay: bool) {
        let decided = if is_applied { &self.applied } else { &self.refused };
        decided.fetch_add(1, Ordering::Relaxed);
        self.replayed.fetch_add(u64::from(is_replay), Ordering::Relaxed);
    }

    pub(crate) fn note_dead(&self) {
        self.dead.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_removed(&self, messages: u64) {
        self.removed.fetch_add(messages, Ordering::Relaxed);
    }

    pub(crate) fn note_retried(&self, commands: usize) {
        self.retried.fetch_add(commands as u64, Ordering::Relaxed);
    }

    pub(crate) fn note_paused(&self, partitions: usize) {
        self.paused.fetch_add(partitions as u64, Ordering::Relaxed);
    }

    pub(crate) fn set_levels(&self, partitions: usize, in_flight: usize) {
        self.partitions.store(partitions as u64, Ordering::Relaxed);
        self.in_flight.store(in_flight as u64, Ordering::Relaxed);
    }

    pub(crate) fn note_trouble(&self, text: &str) {
        let former = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).replace(text.to_owned());
        if former.is_none_or(|former| former != text) {
            tracing::warn!(trouble = text, "commands from Kafka are in trouble, or were");
        }
    }

    /// The last trouble, if there was any, to explain why commands are not processed. It may be over.
    #[must_use]
    pub fn trouble(&self) -> Option<String> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

read! {
    /// Messages that arrived, duplicates included.
    received,
    /// Commands that were applied, replays included.
    applied,
    /// Commands that were refused, replays included.
    refused,
    /// Commands that were answered with the first answer again.
    replayed,
    /// Messages that became dead letters.
    dead,
    /// Messages that the topic removed before they were consumed.
    removed,
    /// How often a command was retried because the engine could not decide it.
    retried,
    /// How often a partition was paused.
    paused,
    /// Partitions assigned to this process.
    partitions,
    /// Commands that were begun and not finished.
    in_flight
}
