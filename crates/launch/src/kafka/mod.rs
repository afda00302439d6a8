//! One Kafka broker.

mod java;
mod options;
mod topics;

use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::folder::FolderPlace;
use crate::process::{AtOwnersEnd, Process};
use crate::{LaunchError, ports};
use java::{JAVA, Jars};
pub use options::KafkaOptions;

/// The name of the configuration file.
const SETTINGS_FILE: &str = "server.properties";

/// What a broker prints when it is ready.
const READY: &str = "Kafka Server started";

/// A running Kafka broker that is its own controller (KRaft), with its data in a temporary folder. It is
/// killed when dropped.
///
/// It listens on 127.0.0.1 only. It needs Java 17 or newer. Its jars are in the folder that
/// `SCARCE_KAFKA_JARS` names, or else in `target/xtask/kafka` of the current folder or of a parent.
#[derive(Debug)]
pub struct Kafka {
    process: Process,
    folder: TempDir,
    data: TempDir,
    jars: Jars,
    port: u16,
    internal_port: u16,
}

impl Kafka {
    /// Starts one and waits until it answers: about two seconds.
    ///
    /// # Errors
    /// When Java or the jars are missing, or it does not answer.
    pub fn start(options: &KafkaOptions) -> Result<Self, LaunchError> {
        let jars = Jars::find()?;
        let flags = jars.use_archive();
        Self::start_with(options, jars, &flags)
    }

    /// Speeds up later starts with the jars of this folder: stores next to them what Java makes of their
    /// classes. This takes some seconds, and pays off once after the jars or Java have changed.
    ///
    /// # Errors
    /// As [`Kafka::start`], and when the folder cannot be written to.
    pub fn archive_classes(folder: &Path) -> Result<(), LaunchError> {
        let jars = Jars::of(folder)?;
        let (archive, new) = (jars.archive(), jars.archive().with_extension("new"));
        let flags = [format!("-XX:ArchiveClassesAtExit={}", new.display()), "-Xlog:disable".to_owned()];
        Self::start_with(&KafkaOptions::new(), jars, &flags)?.stop()?;
        Ok(std::fs::rename(new, archive)?)
    }

    fn start_with(options: &KafkaOptions, jars: Jars, flags: &[String]) -> Result<Self, LaunchError> {
        let folder = FolderPlace::Temporary.make("scarce-kafka-")?;
        let data = options.place.make("scarce-kafka-data-")?;
        let mut is_formatted = false;
        let (process, [port, internal_port, _]) = ports::with_free(|ports| {
            std::fs::write(folder.path().join(SETTINGS_FILE), options.text(data.path(), ports)?)?;
            if !is_formatted {
                format(&jars, folder.path(), options)?;
                is_formatted = true;
            }
            Ok((spawn(&jars, flags, folder.path(), data.path())?, ports))
        })?;
        Ok(Self { process, folder, data, jars, port, internal_port })
    }

    /// The bootstrap address for clients: `127.0.0.1:port`.
    #[must_use]
    pub fn brokers(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Creates a topic.
    ///
    /// # Errors
    /// When it does not answer, or the topic exists.
    pub fn create_topic(&self, name: &str, partitions: u32) -> Result<(), LaunchError> {
        topics::create(self.internal_port, name, partitions)
    }

    /// A command for one of Kafka's own tools, such as `org.apache.kafka.tools.ConsoleProducer`; add its
    /// arguments.
    #[must_use]
    pub fn tool(&self, class: &str) -> Command {
        self.jars.command(self.folder.path(), &self.jars.use_archive(), class)
    }

    /// The process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.number()
    }

    /// The folder of its data.
    #[must_use]
    pub fn data_folder(&self) -> &Path {
        self.data.path()
    }

    /// What it has printed since its last start.
    #[must_use]
    pub fn log(&self) -> String {
        self.process.printed()
    }

    /// Kills it, like a crash.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn kill(&mut self) -> Result<(), LaunchError> {
        self.process.kill()
    }

    /// Shuts it down cleanly.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(&mut self) -> Result<(), LaunchError> {
        self.process.stop(Signal::TERM)
    }

    /// Starts it from its data on the same ports; kills it first if it still runs. After a crash this takes
    /// two more seconds, until the previous session has expired.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn start_again(&mut self) -> Result<(), LaunchError> {
        self.kill()?;
        let flags = self.jars.use_archive();
        self.process = spawn(&self.jars, &flags, self.folder.path(), self.data.path())?;
        Ok(())
    }

    /// Pauses it, which looks to clients like a machine without a network.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn pause(&self) -> Result<(), LaunchError> {
        self.process.pause()
    }

    /// Resumes it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn resume(&self) -> Result<(), LaunchError> {
        self.process.resume()
    }
}

/// Formats an empty folder for data.
fn format(jars: &Jars, folder: &Path, options: &KafkaOptions) -> Result<(), LaunchError> {
    let mut words = ["format", "--config", SETTINGS_FILE, "--cluster-id"].map(str::to_owned).to_vec();
    words.push(cluster_id());
    words.extend(options.scram_words());
    jars.run(folder, "kafka.tools.StorageTool", &words).map(drop)
}

/// 16 bytes in base 64, as Kafka requires.
fn cluster_id() -> String {
    // The last letter encodes only two bits.
    std::iter::repeat_with(fastrand::lowercase).take(21).chain(['A']).collect()
}

/// Starts it and waits until it answers.
fn spawn(jars: &Jars, flags: &[String], folder: &Path, data: &Path) -> Result<Process, LaunchError> {
    let mut command = jars.command(folder, flags, "kafka.Kafka");
    command.arg(SETTINGS_FILE);
    let end = AtOwnersEnd { signal: Signal::KILL, folders: vec![folder.to_owned(), data.to_owned()] };
    let mut process = Process::spawn(JAVA, &mut command, &folder.join("log"), &end)?;
    process.wait_ready(|printed| printed.contains(READY))?;
    Ok(process)
}
