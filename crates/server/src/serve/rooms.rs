//! Keeps the next free moment of each waiting room, so that nobody waits anew after a restart, and no moment is given twice.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use scarce_core::types::TimeMs;
use scarce_gateway::Limiting;
use scarce_settings::ServerSettings;

/// How often they are written while users join.
const WRITE_INTERVAL: Duration = Duration::from_millis(200);

/// The running keeper.
pub(super) struct RoomKeeper {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

struct Keeper {
    path: PathBuf,
    limiting: Arc<Limiting>,
    kept: BTreeMap<String, TimeMs>,
    trouble: Option<String>,
}

impl RoomKeeper {
    /// Takes what was kept, and keeps what comes.
    pub(super) fn start(settings: &ServerSettings, limiting: Arc<Limiting>) -> io::Result<Self> {
        let path = settings.data.join("waiting-rooms.json");
        let kept = read(&path)?;
        if let Some(rooms) = &*limiting.rooms() {
            rooms.resume(&kept);
        }
        let (stop, stopped) = bounded(0);
        let keeper = Keeper { path, limiting, kept, trouble: None };
        let thread = std::thread::Builder::new()
            .name("waiting-rooms".to_owned())
            .spawn(move || keeper.run(&stopped))?;
        Ok(Self { stop, thread })
    }

    pub(super) fn end(self) {
        drop(self.stop);
        // Its panic was already logged.
        let _ = self.thread.join();
    }
}

/// What was kept; nothing where there is no file.
fn read(path: &std::path::Path) -> io::Result<BTreeMap<String, TimeMs>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        text => serde_json::from_str(&text?).map_err(|error| {
            let text =
                format!("{}: {error}; remove the file to begin with empty waiting rooms", path.display());
            io::Error::new(io::ErrorKind::InvalidData, text)
        }),
    }
}

impl Keeper {
    fn run(mut self, stopped: &Receiver<()>) {
        while stopped.recv_timeout(WRITE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            self.write();
        }
        self.write();
    }

    fn write(&mut self) {
        let mut moments = self.kept.clone();
        // A room that is not in the file just now may come back.
        moments.extend(self.limiting.moments().into_iter().filter(|(_, next_ms)| *next_ms > 0));
        if moments == self.kept {
            return;
        }
        let trouble = self.replace(&moments).err().map(|error| error.to_string());
        if let Some(reason) = trouble.as_ref().filter(|_| trouble != self.trouble) {
            let path = self.path.display();
            tracing::error!(%path, reason, "the places in waiting rooms are not kept over a restart");
        }
        if trouble.is_none() {
            self.kept = moments;
        }
        self.trouble = trouble;
    }

    fn replace(&self, moments: &BTreeMap<String, TimeMs>) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let part = self.path.with_extension("part");
        let mut file = File::create(&part)?;
        file.write_all(&serde_json::to_vec(moments)?)?;
        file.sync_data()?;
        fs::rename(part, &self.path)
    }
}
