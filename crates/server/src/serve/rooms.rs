//! Keeps the next free moment of each waiting room, so that nobody waits anew after a restart, and no moment is given twice.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded};
use scarce_core::types::TimeMs;
use scarce_gateway::{Limiting, steady_ms};
use scarce_settings::ServerSettings;
use serde::{Deserialize, Serialize};

/// The file in the data directory.
pub(crate) const ROOMS_FILE: &str = "waiting-rooms.json";

/// How often they are written while users join.
const WRITE_INTERVAL: Duration = Duration::from_millis(200);

/// The running keeper.
pub(super) struct RoomKeeper {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// What the file has.
#[derive(Debug, Default, Serialize, Deserialize)]
struct KeptMoments {
    /// When it was written.
    written_ms: TimeMs,
    /// The next free moment of each room.
    next_ms: BTreeMap<String, TimeMs>,
}

impl KeptMoments {
    /// The moments at a start. None is further ahead than it was when it was written: the clock may have been wrong then.
    fn resumed(self) -> BTreeMap<String, TimeMs> {
        if self.next_ms.is_empty() {
            return self.next_ms;
        }
        self.resumed_at(steady_ms())
    }

    fn resumed_at(self, now_ms: TimeMs) -> BTreeMap<String, TimeMs> {
        let ahead = |next_ms: TimeMs| now_ms.saturating_add(next_ms.saturating_sub(self.written_ms));
        self.next_ms.into_iter().map(|(name, next_ms)| (name, next_ms.min(ahead(next_ms)))).collect()
    }
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
        let path = settings.data.join(ROOMS_FILE);
        let kept = read(&path)?.resumed();
        if !kept.is_empty() {
            limiting.resume(&kept);
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
fn read(path: &std::path::Path) -> io::Result<KeptMoments> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(KeptMoments::default()),
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
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&part)?;
        let kept = KeptMoments { written_ms: steady_ms(), next_ms: moments.clone() };
        file.write_all(&serde_json::to_vec(&kept)?)?;
        file.sync_data()?;
        fs::rename(part, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_longer_because_the_clock_was_wrong_when_the_file_was_written() {
        let kept = |written_ms, next_ms| {
            KeptMoments { written_ms, next_ms: BTreeMap::from([("sale".to_owned(), next_ms)]) }
                .resumed_at(1_000)["sale"]
        };
        assert_eq!(kept(900, 5_000), 5_000, "it waits on");
        assert_eq!(kept(90_000, 94_000), 5_000, "the clock was ahead");
        assert_eq!(kept(900, 800), 800, "nobody waits");
    }
}
