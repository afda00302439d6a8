//! One Kafka broker.

mod java;
mod options;
mod topics;

use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::folder::Place;
use crate::process::{AtOwnersEnd, Process};
use crate::{LaunchError, ports};
use java::{JAVA, Jars};
pub use options::KafkaOptions;

/// The file of settings.
const SETTINGS_FILE: &str = "server.properties";

/// What a broker says when it answers.
const READY: &str = "Kafka Server started";

/// A running Kafka broker that is its own controller (KRaft), with its data in a temporary folder; it is
/// killed when it is dropped.
///
/// It listens on 127.0.0.1 only. Java 17 or newer runs it. Its jars are in the folder that the environment's
/// `SCARCE_KAFKA_JARS` names, or else in `target/xtask/kafka` of the folder that we run in, or of one above.
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
    /// When there is no Java, or there are no jars, or it does not answer.
    pub fn start(options: &KafkaOptions) -> Result<Self, LaunchError> {
        let jars = Jars::find()?;
        let flags = jars.use_archive();
        Self::start_with(options, jars, &flags)
    }

    /// Makes later starts with the jars of this folder quicker: writes beside them what Java made of their
    /// classes. It takes some seconds, and is worth it once after the jars or Java have changed.
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
        let folder = Place::Temporary.make("scarce-kafka-")?;
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

    /// Where clients connect first: `127.0.0.1:port`.
    #[must_use]
    pub fn brokers(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Makes a topic.
    ///
    /// # Errors
    /// When it does not answer, or there is one of this name.
    pub fn create_topic(&self, name: &str, partitions: u32) -> Result<(), LaunchError> {
        topics::create(self.internal_port, name, partitions)
    }

    /// A command of one of Kafka's own tools, such as `org.apache.kafka.tools.ConsoleProducer`; what it takes
    /// is to be added.
    #[must_use]
    pub fn tool(&self, class: &str) -> Command {
        self.jars.command(self.folder.path(), &self.jars.use_archive(), class)
    }

    /// The process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.number()
    }

    /// Where it keeps its data.
    #[must_use]
    pub fn data_folder(&self) -> &Path {
        self.data.path()
    }

    /// What it has printed since it was last started.
    #[must_use]
    pub fn log(&self) -> String {
        self.process.printed()
    }

    /// Ends it as a crash would.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn kill(&mut self) -> Result<(), LaunchError> {
        self.process.kill()
    }

    /// Ends it in order.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(&mut self) -> Result<(), LaunchError> {
        self.process.stop(Signal::TERM)
    }

    /// Starts it from its data on the same ports; if it still runs, after a crash. After a crash it takes two
    /// seconds more, until the session of the former one is over.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn start_again(&mut self) -> Result<(), LaunchError> {
        self.kill()?;
        let flags = self.jars.use_archive();
        self.process = spawn(&self.jars, &flags, self.folder.path(), self.data.path())?;
        Ok(())
    }

    /// Lets it stand still, as a machine without a network would seem to.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn pause(&self) -> Result<(), LaunchError> {
        self.process.pause()
    }

    /// Lets it go on.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn resume(&self) -> Result<(), LaunchError> {
        self.process.resume()
    }
}

/// Prepares an empty folder for data.
fn format(jars: &Jars, folder: &Path, options: &KafkaOptions) -> Result<(), LaunchError> {
    let mut words = ["format", "--config", SETTINGS_FILE, "--cluster-id"].map(str::to_owned).to_vec();
    words.push(cluster_id());
    words.extend(options.scram_words());
    jars.run(folder, "kafka.tools.StorageTool", &words).map(drop)
}

/// 16 bytes in base 64, as Kafka wants them.
fn cluster_id() -> String {
    // The last letter stands for two bits only.
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
