//! Kafka's classes, and the Java that runs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::finish;
use crate::{LaunchError, Program};

/// Names the folder with Kafka's jars.
const JARS_VARIABLE: &str = "SCARCE_KAFKA_JARS";

/// Where `cargo xtask test` puts them, seen from the top of the project.
const JARS_FOLDER: &str = "target/xtask/kafka";

/// Classes as they are in memory, so that they need not be read and checked at every start. Java ignores
/// it when it is of another Java or of other jars.
const ARCHIVE: &str = "classes.jsa";

pub(super) const JAVA: Program = Program { name: "java", package: "default-jre-headless" };

/// Sooner ready rather than fast later, small, and no files outside its folder; quiet, but for the line that
/// says that it answers.
const FLAGS: &[&str] = &[
    "-Xmx256m",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-XX:+ExitOnOutOfMemoryError",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info",
];

/// A folder with Kafka's jars.
#[derive(Clone, Debug)]
pub(super) struct Jars {
    folder: PathBuf,
    /// All of them, as Java takes them.
    class_path: String,
}

impl Jars {
    /// Those of the folder that the environment names, or of `target/xtask/kafka` in this folder or in one
    /// that it is in.
    pub(super) fn find() -> Result<Self, LaunchError> {
        if let Some(named) = std::env::var_os(JARS_VARIABLE) {
            return Self::of(Path::new(&named));
        }
        let here = std::env::current_dir()?;
        let mut places = here.ancestors().map(|folder| folder.join(JARS_FOLDER));
        Self::of(&places.find(|place| place.is_dir()).unwrap_or_else(|| here.join(JARS_FOLDER)))
    }

    /// Those of a folder.
    pub(super) fn of(folder: &Path) -> Result<Self, LaunchError> {
        let listed = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_jar = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jar");
        let mut jars: Vec<String> = listed.filter(is_jar).map(|path| path.display().to_string()).collect();
        if jars.is_empty() {
            return Err(LaunchError::Jars { folder: folder.display().to_string() });
        }
        // In one order, as the archive knows them.
        jars.sort_unstable();
        Ok(Self { class_path: jars.join(":"), folder: folder.to_owned() })
    }

    /// A command that runs a class.
    pub(super) fn command(&self, temporary: &Path, flags: &[String], class: &str) -> Command {
        let home = std::env::var_os("JAVA_HOME").map(|home| Path::new(&home).join("bin"));
        let mut command = JAVA.command(home.as_slice());
        command.args(FLAGS).args(flags);
        command.arg(format!("-Djava.io.tmpdir={}", temporary.display()));
        command.args(["-cp", &self.class_path, class]).current_dir(temporary);
        command
    }

    /// The flag that lets it use the archive of classes, where there is one.
    pub(super) fn use_archive(&self) -> Vec<String> {
        let archive = self.archive();
        if !archive.is_file() {
            return Vec::new();
        }
        vec![format!("-XX:SharedArchiveFile={}", archive.display()), "-Xlog:disable".to_owned()]
    }

    /// Where the archive of classes is.
    pub(super) fn archive(&self) -> PathBuf {
        self.folder.join(ARCHIVE)
    }

    /// Runs a class to its end.
    pub(super) fn run(&self, temporary: &Path, class: &str, words: &[String]) -> Result<String, LaunchError> {
        let mut command = self.command(temporary, &self.use_archive(), class);
        finish(JAVA, command.args(words))
    }
}
