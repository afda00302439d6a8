//! Kafka's classes, and the Java that runs them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::finish;
use crate::{LaunchError, Program};

/// The variable that names the folder with Kafka's jars.
const JARS_VARIABLE: &str = "SCARCE_KAFKA_JARS";

/// The folder into which `cargo xtask test` puts them, relative to the root of the project.
const JARS_FOLDER: &str = "target/xtask/kafka";

/// An archive of classes in their in-memory form, so that Java need not parse and verify them at every start.
/// Java ignores an archive of another Java version or of other jars.
const ARCHIVE: &str = "classes.jsa";

pub(super) const JAVA: Program = Program { name: "java", package: "default-jre-headless" };

/// Optimized for a quick start instead of throughput, little memory, and no files outside its folder; silent
/// except for the line that says that it is ready.
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
    /// All jars, as a Java class path.
    class_path: String,
}

impl Jars {
    /// The jars in the folder that the environment names, or in `target/xtask/kafka` of this folder or of a
    /// parent.
    pub(super) fn find() -> Result<Self, LaunchError> {
        if let Some(named) = std::env::var_os(JARS_VARIABLE) {
            return Self::of(Path::new(&named));
        }
        let here = std::env::current_dir()?;
        let mut places = here.ancestors().map(|folder| folder.join(JARS_FOLDER));
        Self::of(&places.find(|place| place.is_dir()).unwrap_or_else(|| here.join(JARS_FOLDER)))
    }

    /// The jars in a folder.
    pub(super) fn of(folder: &Path) -> Result<Self, LaunchError> {
        let listed = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_jar = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jar");
        let mut jars: Vec<String> = listed.filter(is_jar).map(|path| path.display().to_string()).collect();
        if jars.is_empty() {
            return Err(LaunchError::Jars { folder: folder.display().to_string() });
        }
        // In a fixed order, because the archive depends on it.
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

    /// The flag that makes Java use the archive of classes, if there is one.
    pub(super) fn use_archive(&self) -> Vec<String> {
        let archive = self.archive();
        if !archive.is_file() {
            return Vec::new();
        }
        vec![format!("-XX:SharedArchiveFile={}", archive.display()), "-Xlog:disable".to_owned()]
    }

    /// The path of the archive of classes.
    pub(super) fn archive(&self) -> PathBuf {
        self.folder.join(ARCHIVE)
    }

    /// Runs a class to completion.
    pub(super) fn run(&self, temporary: &Path, class: &str, words: &[String]) -> Result<String, LaunchError> {
        let mut command = self.command(temporary, &self.use_archive(), class);
        finish(JAVA, command.args(words))
    }
}
