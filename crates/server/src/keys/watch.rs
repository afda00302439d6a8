//! Keeps the keys of a running server as they are in their store.

use std::collections::BTreeMap;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use scarce_access::KeyId;
use scarce_core::types::TimeMs;
use scarce_gateway::{Access, now_ms};

use super::KeyStore;

/// How often it looks at a file, and how often it asks a Redis: a key that is revoked is of no use after a second.
const LOOK_INTERVALS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_millis(500));

/// How often it looks which keys have expired. It waits for no store: keys expire also while that is away.
const TIME_INTERVAL: Duration = Duration::from_millis(250);

/// The running watch.
pub(crate) struct KeyWatch {
    stop: Sender<()>,
    threads: [JoinHandle<()>; 2],
}

impl KeyWatch {
    /// Watches a store whose keys were loaded.
    pub(crate) fn start(store: KeyStore, access: Access) -> std::io::Result<Self> {
        let (stop, stopped) = bounded(0);
        let (ended, keys) = (stopped.clone(), access.keys.clone());
        let named = |name: &str| std::thread::Builder::new().name(name.to_owned());
        let time = named("key-time").spawn(move || {
            while ended.recv_timeout(TIME_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                keys.keep_time(now_ms());
            }
        })?;
        let look = named("key-watch").spawn(move || Watch::new(store, access).run(&stopped))?;
        Ok(Self { stop, threads: [time, look] })
    }

    pub(crate) fn end(self) {
        drop(self.stop);
        for thread in self.threads {
            // Its panic was already logged.
            let _ = thread.join();
        }
    }
}

struct Watch {
    store: KeyStore,
    access: Access,
    /// Why the keys cannot be read just now, and why uses cannot be noted.
    troubles: [Option<String>; 2],
    noted: BTreeMap<KeyId, TimeMs>,
}

impl Watch {
    fn new(store: KeyStore, access: Access) -> Self {
        Self { store, access, troubles: [None, None], noted: BTreeMap::new() }
    }

    fn run(mut self, stopped: &Receiver<()>) {
        let interval = match self.store {
            KeyStore::File(_) => LOOK_INTERVALS.0,
            KeyStore::Redis(_) => LOOK_INTERVALS.1,
        };
        while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
            self.look();
            self.note_uses();
        }
        self.note_uses();
    }

    /// Takes what changed. If it cannot be read, the keys that were known go on: a disk or a Redis that is away must not
    /// lock everyone out.
    fn look(&mut self) {
        if self.store.may_have_changed() {
            match self.store.load() {
                Ok(ring) => {
                    self.tell(0, None);
                    self.access.set_keys(ring, now_ms());
                }
                Err(error) => self.tell(0, Some(error.to_string())),
            }
        }
    }

    fn note_uses(&mut self) {
        let uses = self.access.keys.last_uses();
        let is_new = |(id, at): &(KeyId, TimeMs)| *at > self.noted.get(id).copied().unwrap_or(0);
        let fresh: BTreeMap<KeyId, TimeMs> = uses.into_iter().filter(is_new).collect();
        if fresh.is_empty() {
            return;
        }
        match self.store.note_uses(&fresh) {
            Ok(()) => {
                self.tell(1, None);
                self.noted.extend(fresh);
            }
            Err(error) => self.tell(1, Some(error.to_string())),
        }
    }

    fn tell(&mut self, which: usize, trouble: Option<String>) {
        let what = [
            "the keys of callers cannot be read; those known before go on",
            "last uses of keys are not noted",
        ];
        if self.troubles[which] != trouble {
            match &trouble {
                Some(reason) => tracing::error!(reason, "{}", what[which]),
                None => tracing::info!("the keys of callers can be read and noted again"),
            }
            self.troubles[which] = trouble;
        }
    }
}
