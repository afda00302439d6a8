//! Calls of a store on a thread of their own, so that one which never answers holds up nobody who has stopped waiting.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, Sender, bounded, unbounded};
use scarce_backup::store::{Store, StoreError, StoredObject};

/// How often a waiting caller looks whether it is to go on waiting.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

type Call = Box<dyn FnOnce(&dyn Store) + Send>;

/// What others see of the calls to a store, and how they end the waiting.
#[derive(Default)]
pub(super) struct Calls {
    is_given_up: AtomicBool,
    /// When the call was begun that has no answer yet.
    begun: Mutex<Option<Instant>>,
}

impl Calls {
    /// Those who wait for the store or call it get an error, until this is taken back.
    pub(super) fn give_up(&self, is_given_up: bool) {
        self.is_given_up.store(is_given_up, Ordering::Release);
    }

    fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Acquire)
    }

    /// For how long the store has not answered a call.
    pub(super) fn unanswered(&self) -> Option<Duration> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner).map(|begun| begun.elapsed())
    }

    fn note(&self, begun: Option<Instant>) {
        *self.begun.lock().unwrap_or_else(PoisonError::into_inner) = begun;
    }
}

/// A store whose answers can be given up. Its calls are made one after the other, in their order.
pub(super) struct CalledStore {
    store: Arc<dyn Store>,
    calls: Arc<Calls>,
    queue: Sender<Call>,
}

impl CalledStore {
    /// Starts its thread, which ends with it and the last call.
    pub(super) fn start(store: Arc<dyn Store>, name: &str) -> std::io::Result<(Self, Arc<Calls>)> {
        let calls = Arc::<Calls>::default();
        let (queue, queued) = unbounded::<Call>();
        let (its, noted) = (store.clone(), calls.clone());
        std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            for call in queued {
                noted.note(Some(Instant::now()));
                call(&*its);
                noted.note(None);
            }
        })?;
        Ok((Self { store, calls: calls.clone(), queue }, calls))
    }

    fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&dyn Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer, answered) = bounded(1);
        let guarded = move |store: &dyn Store| {
            let done = catch_unwind(AssertUnwindSafe(|| call(store)));
            done.unwrap_or_else(|panic| Err(client_failed(store, &*panic)))
        };
        // Nobody waits for it any more if it was given up.
        let queued = self.queue.send(Box::new(move |store| drop(answer.send(guarded(store)))));
        while queued.is_ok() {
            match answered.recv_timeout(LOOK_INTERVAL) {
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Timeout) if !self.calls.is_given_up() => {}
                Err(_) => break,
            }
        }
        let source = "it has not answered, and is not waited for any longer".into();
        Err(StoreError::Unanswered { operation: "use", place: self.locate(""), source })
    }
}

/// The client of a store is no work of ours: where it panics, the call has failed and the next one may not.
fn client_failed(store: &dyn Store, panic: &(dyn Any + Send)) -> StoreError {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a reason");
    let source = format!("the store's client failed: {text}").into();
    StoreError::Failed { operation: "use", place: store.locate(""), source }
}

impl Store for CalledStore {
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let (name, bytes) = (name.to_owned(), bytes.to_vec());
        self.call(move |store| store.put(&name, &bytes))
    }

    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<bool, StoreError> {
        let (name, bytes) = (name.to_owned(), bytes.to_vec());
        self.call(move |store| store.put_new(&name, &bytes))
    }

    fn settle(&self) -> Result<(), StoreError> {
        self.call(|store| store.settle())
    }

    fn get(&self, name: &str, bytes_max: u64) -> Result<Vec<u8>, StoreError> {
        let name = name.to_owned();
        self.call(move |store| store.get(&name, bytes_max))
    }

    fn list(&self, folder: &str) -> Result<Vec<StoredObject>, StoreError> {
        let folder = folder.to_owned();
        self.call(move |store| store.list(&folder))
    }

    fn empty_folders(&self, folder: &str) -> Result<Vec<String>, StoreError> {
        let folder = folder.to_owned();
        self.call(move |store| store.empty_folders(&folder))
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        let name = name.to_owned();
        self.call(move |store| store.remove(&name))
    }

    fn locate(&self, name: &str) -> String {
        self.store.locate(name)
    }
}
