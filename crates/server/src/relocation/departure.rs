//! The server that is left: what it does for the one who moves its deployment.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use scarce_engine::{Engine, Failure, Log};
use scarce_engine_embedded::Embedded;
use scarce_engine_embedded::relocation::{Moved, RelocationId, Told};
use scarce_engine_embedded::storage::FileStorage;
use scarce_reconcile::{EngineSource, Served};

use super::wire::{self, Ask, Line};
use crate::pipeline::Pipeline;

/// A server takes no changes for longer than this, whatever is asked.
const REST_MAX: Duration = Duration::from_secs(60);

/// Serves those who move the deployment, until it is ended.
pub(crate) struct Departure {
    shared: Arc<DepartureState>,
    thread: JoinHandle<()>,
}

struct DepartureState {
    data: PathBuf,
    /// The same as it was opened: the mark must not be left in another one.
    root: FileStorage,
    engine: Arc<Embedded>,
    pipeline: Arc<Pipeline>,
    is_ending: AtomicBool,
    /// The connection of the move that is under way.
    current: Mutex<Option<UnixStream>>,
}

impl Departure {
    /// Opens the socket in the data directory. Where that cannot be, the deployment is moved at rest only.
    pub(crate) fn start(
        data: &Path,
        engine: &Arc<Embedded>,
        pipeline: &Arc<Pipeline>,
    ) -> io::Result<Option<Self>> {
        let listener = match wire::listen(data) {
            Ok(listener) => listener,
            Err(error) => {
                let reason = error.to_string();
                tracing::warn!(
                    reason,
                    "the data directory takes no socket: to move this deployment, stop its server"
                );
                return Ok(None);
            }
        };
        let root = FileStorage::open(data).map_err(io::Error::other)?;
        let (data, engine, pipeline) = (data.to_owned(), engine.clone(), pipeline.clone());
        let (is_ending, current) = (AtomicBool::new(false), Mutex::default());
        let shared = Arc::new(DepartureState { data, root, engine, pipeline, is_ending, current });
        let serving = shared.clone();
        let thread = std::thread::Builder::new().name("departure".to_owned());
        let thread = thread.spawn(move || serve(&serving, &listener))?;
        Ok(Some(Self { shared, thread }))
    }

    /// Ends it. A move that is under way ends by that.
    pub(crate) fn end(self) {
        self.shared.is_ending.store(true, Ordering::SeqCst);
        if let Some(stream) = &*self.shared.current() {
            // It may have ended by itself.
            let _ = stream.shutdown(Shutdown::Both);
        }
        // It waits for the next one who connects.
        if wire::connect(&self.shared.data).is_ok() {
            // Its panic was already logged.
            let _ = self.thread.join();
        }
        wire::remove(&self.shared.data);
    }
}

fn serve(shared: &Arc<DepartureState>, listener: &UnixListener) {
    for stream in listener.incoming() {
        if shared.is_ending.load(Ordering::SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        if let Err(error) = shared.clone().take(stream) {
            tracing::warn!(reason = %error, "one who would move this deployment was not served");
        }
    }
}

impl DepartureState {
    fn current(&self) -> MutexGuard<'_, Option<UnixStream>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves one on a thread of its own; another one is told that there is one.
    fn take(self: Arc<Self>, stream: UnixStream) -> io::Result<()> {
        let mut current = self.current();
        if current.is_some() {
            return Line::new(stream).write("refused another move of this deployment is under way");
        }
        *current = Some(stream.try_clone()?);
        let shared = self.clone();
        let serving = std::thread::Builder::new().name("departing".to_owned()).spawn(move || {
            let ended = Session { shared: &shared, line: Line::new(stream), until: None }.run();
            *shared.current() = None;
            if let Err(error) = ended {
                tracing::warn!(reason = %error, "a move of this deployment has ended; it is served on here");
            }
        });
        if serving.is_err() {
            *current = None;
        }
        serving.map(drop)
    }
}

/// One who moves the deployment.
struct Session<'a> {
    shared: &'a DepartureState,
    line: Line,
    /// Until when no changes are taken.
    until: Option<Instant>,
}

/// The deployment is elsewhere from now on.
struct HasMoved;

impl Session<'_> {
    fn run(mut self) -> io::Result<()> {
        loop {
            let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
            // The kernel takes no time for no limit.
            let line = self.line.read(left.map(|left| left.max(Duration::from_millis(1))));
            let Some(line) = line.map_err(|error| self.explain(error))? else { return Ok(()) };
            let answered = match Ask::parse(&line) {
                None => Err("this server is of another release, or does not know what was asked".to_owned()),
                Some(ask) => self.answer(ask),
            };
            match answered {
                Ok((text, moved)) => {
                    self.line.write(&format!("ok {text}"))?;
                    if moved.is_some() {
                        return Ok(());
                    }
                }
                Err(reason) => return self.line.write(&format!("refused {reason}")),
            }
        }
    }

    fn explain(&self, error: io::Error) -> io::Error {
        if self.until.is_none() {
            return error;
        }
        io::Error::other("changes were not taken for as long as was asked for, and the move was not finished")
    }

    fn answer(&mut self, ask: Ask) -> Result<(String, Option<HasMoved>), String> {
        let engine = &self.shared.engine;
        let text = match ask {
            Ask::Begin { deployment } => {
                self.begin(&deployment)?;
                String::new()
            }
            Ask::Durable => wire::sequences_text(&self.durable()?),
            Ask::Digests => wire::told_text(&self.digests()?),
            Ask::Rest(most) => {
                self.until = Some(Instant::now() + most.min(REST_MAX));
                wire::sequences_text(&engine.rest().map_err(|failure| failure.to_string())?)
            }
            Ask::Finish { id, address } => {
                self.finish(&id, &address)?;
                return Ok((String::new(), Some(HasMoved)));
            }
        };
        Ok((text, None))
    }

    fn begin(&self, deployment: &str) -> Result<(), String> {
        let engine = &self.shared.engine;
        if !self.shared.root.is_in_place() {
            return Err(self.elsewhere());
        }
        if deployment != engine.deployment_id() {
            return Err("the server serves another deployment".to_owned());
        }
        if let Err(moved @ Failure::Migrated { .. }) = engine.check_ready(0) {
            return Err(moved.to_string());
        }
        tracing::info!("a move of this deployment begins");
        Ok(())
    }

    fn elsewhere(&self) -> String {
        let path = self.shared.data.display();
        format!(
            "the directory that it serves is no longer {path}; give it back its name, or restart the server on the new one, and move again"
        )
    }

    fn durable(&self) -> Result<Vec<u64>, String> {
        let engine = &self.shared.engine;
        let each = |partition| engine.durable_through(partition);
        (0..engine.partitions()).map(each).collect::<Result<_, _>>().map_err(|failure| failure.to_string())
    }

    fn digests(&self) -> Result<Vec<Told>, String> {
        let engine: Arc<dyn Engine> = self.shared.engine.clone();
        let partitions = engine.partitions();
        let mut served = Served::new(engine);
        let each = |partition| {
            let held = served.whole(partition).map_err(|error| error.to_string())?;
            Ok(Told { sequence: held.sequence, digest: held.digest })
        };
        (0..partitions).map(each).collect()
    }

    /// Leaves the mark, which is the one moment at which the deployment changes its place.
    fn finish(&mut self, id: &str, address: &str) -> Result<(), String> {
        if self.until.is_none_or(|until| until <= Instant::now()) {
            return Err("it takes changes again, so the move cannot be finished".to_owned());
        }
        let id = RelocationId::parse(id).ok_or("the name of the move cannot be read")?;
        let moved = Moved { id, address: address.to_owned() };
        if !self.shared.root.is_in_place() {
            return Err(self.elsewhere());
        }
        if let Err(error) = moved.leave(&self.shared.root) {
            let reason = error.to_string();
            // Whether the mark is there is not known: nobody takes changes until a start finds out.
            self.until = None;
            tracing::error!(reason, "the mark of a move could not be written; start this server again");
            return Err(reason);
        }
        let DepartureState { engine, pipeline, .. } = self.shared;
        engine.move_to(address);
        self.until = None;
        tracing::warn!(address, "this deployment has moved; every caller is told where");
        pipeline.stop();
        if let Err(failure) = engine.save_positions() {
            tracing::warn!(reason = %failure, "the newest positions of consumers do not go along");
        }
        Ok(())
    }
}

/// However a move ends, changes are taken again, unless the deployment has moved by it.
impl Drop for Session<'_> {
    fn drop(&mut self) {
        if self.until.is_some() {
            self.shared.engine.resume();
        }
    }
}
