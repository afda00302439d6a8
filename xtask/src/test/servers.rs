//! The servers that tests start: from Debian's packages, Kafka from Maven Central, and a server of S3 from PyPI.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use super::packages::{self, Ensured};
use super::step::{Log, Tally};
use crate::{place, process};

/// The variable with the folder of Kafka's jars, for tests that start a broker.
pub const JARS_VARIABLE: &str = "SCARCE_KAFKA_JARS";

/// Where Debian has PostgreSQL's programs, in a folder for each version.
const POSTGRES_FOLDER: &str = "/usr/lib/postgresql";

/// Tells Debian's PostgreSQL packages to create and start no server.
const NO_CLUSTER_FOLDER: &str = "/etc/postgresql-common/createcluster.d";
const NO_CLUSTER_LINE: &str = "create_main_cluster = false\n";

/// A folder of programs that is only on an administrator's search path.
const ADMINISTRATORS_FOLDER: &str = "/usr/sbin";

const MAVEN_CENTRAL: &str = "https://repo1.maven.org/maven2";

/// The jars that Kafka needs, each with its SHA-256.
const JARS: &str = include_str!("kafka_jars.txt");

/// How many jars are downloaded at once.
const DOWNLOADS_MAX: usize = 12;

/// Installs each of them, even after one has failed.
pub fn step(log: &mut Log) -> Result<Tally, Box<dyn Error>> {
    let servers: [fn(&mut Log) -> Ensured; 5] =
        [packages::redis, postgres, mariadb, s3, |log| kafka(log).map(drop)];
    Ok(packages::each(log, &servers))
}

/// Installs all that are missing. Returns the folder with Kafka's jars.
pub fn all(log: &mut Log) -> Result<PathBuf, Box<dyn Error>> {
    packages::redis(log)?;
    postgres(log)?;
    mariadb(log)?;
    s3(log)?;
    kafka(log)
}

fn postgres(log: &mut Log) -> Ensured {
    let is_there = || {
        let versions = fs::read_dir(POSTGRES_FOLDER).into_iter().flatten().flatten();
        let mut folders = versions.map(|version| version.path().join("bin"));
        place::has_program("initdb") || folders.any(|folder| folder.join("initdb").is_file())
    };
    if is_there() {
        return Ok(());
    }
    // If we may not write here, apt-get may not install either, and reports that.
    let file = Path::new(NO_CLUSTER_FOLDER).join("without-main.conf");
    let _ = fs::create_dir_all(NO_CLUSTER_FOLDER).and_then(|()| fs::write(&file, NO_CLUSTER_LINE));
    let installed = packages::ensure(log, "PostgreSQL", &["postgresql"], is_there);
    let _ = fs::remove_file(file);
    installed
}

fn mariadb(log: &mut Log) -> Ensured {
    // These packages contain the programs without a service.
    let packages = ["mariadb-server-core", "mariadb-client-core"];
    let is_there = || {
        let is_server = place::has_program("mariadbd");
        let is_server = is_server || Path::new(ADMINISTRATORS_FOLDER).join("mariadbd").is_file();
        is_server && place::has_program("mariadb-install-db") && place::has_program("mariadb")
    };
    packages::ensure(log, "MariaDB", &packages, is_there)
}

/// A server of S3, from PyPI into `target/xtask/s3`.
fn s3(log: &mut Log) -> Ensured {
    packages::python(log, &place::root().join("tests").join("s3")).map(drop)
}

/// Java, and Kafka's jars; returns their folder.
fn kafka(log: &mut Log) -> Result<PathBuf, Box<dyn Error>> {
    packages::program(log, "java", &["default-jre-headless"])?;
    packages::program(log, "curl", &["curl", "ca-certificates"])?;
    let folder = place::work("kafka")?;
    let jars: Vec<Jar<'_>> = lines().filter_map(Jar::read).collect();
    let is_strange = |path: &PathBuf| !jars.iter().any(|jar| folder.join(jar.file()) == *path);
    let found = fs::read_dir(&folder)?.flatten().map(|entry| entry.path());
    let is_jar = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jar");
    for former in found.filter(is_jar).filter(is_strange) {
        fs::remove_file(former)?;
    }
    let missing: Vec<&Jar<'_>> = jars.iter().filter(|jar| !folder.join(jar.file()).is_file()).collect();
    for (at, some) in missing.chunks(DOWNLOADS_MAX).enumerate() {
        let have = jars.len() - missing.len() + at * DOWNLOADS_MAX;
        log.say(&format!("Kafka: {have} of {} jars are there; downloading", jars.len()));
        download(log, &folder, some)?;
    }
    archive(log, &folder)?;
    Ok(folder)
}

/// The lines of the list without its comments.
fn lines() -> impl Iterator<Item = &'static str> {
    JARS.lines().filter(|line| !line.starts_with('#'))
}

/// One of the jars.
struct Jar<'a> {
    sha256: &'a str,
    group: &'a str,
    artifact: &'a str,
    version: &'a str,
}

impl<'a> Jar<'a> {
    /// Reads a line of the list.
    fn read(line: &'a str) -> Option<Self> {
        let (sha256, name) = line.split_once(' ')?;
        let [group, artifact, version] = name.split(':').collect::<Vec<_>>()[..] else { return None };
        Some(Self { sha256, group, artifact, version })
    }

    fn file(&self) -> String {
        format!("{}-{}.jar", self.artifact, self.version)
    }

    fn url(&self) -> String {
        let Self { group, artifact, version, .. } = self;
        format!("{MAVEN_CENTRAL}/{}/{artifact}/{version}/{}", group.replace('.', "/"), self.file())
    }
}

/// Downloads jars. Each is moved to its place once it is complete and its checksum is right.
fn download(log: &mut Log, folder: &Path, jars: &[&Jar<'_>]) -> Result<(), Box<dyn Error>> {
    let part = |jar: &Jar<'_>| folder.join(format!("{}.part", jar.file()));
    let wish = |jar: &&Jar<'_>| format!("url = \"{}\"\noutput = \"{}\"\n", jar.url(), part(jar).display());
    let wishes = folder.join("downloads");
    fs::write(&wishes, jars.iter().map(wish).collect::<String>())?;
    let mut curl = Command::new("curl");
    curl.args(["--no-progress-meter", "--fail", "--location", "--retry", "3", "--parallel", "--config"]);
    // Some may have arrived although the command failed.
    let ended = log.must(curl.arg(&wishes));
    for jar in jars {
        let Ok(bytes) = fs::read(part(jar)) else { continue };
        let found: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        if found == jar.sha256 {
            fs::rename(part(jar), folder.join(jar.file()))?;
        } else if ended.is_ok() {
            return Err(format!("{} has another SHA-256 than kafka_jars.txt says: {found}", jar.url()).into());
        }
    }
    fs::remove_file(wishes)?;
    ended
}

/// Makes Java write its archive of Kafka's classes, unless there is one for these jars.
fn archive(log: &mut Log, folder: &Path) -> Result<(), Box<dyn Error>> {
    let stamp = folder.join("archived");
    let java = process::must(Command::new("java").arg("-version"))?;
    let wanted = format!("{java}\n{JARS}");
    if fs::read_to_string(&stamp).is_ok_and(|archived| archived == wanted) {
        return Ok(());
    }
    log.say("Kafka: starting a broker once to archive its classes, which makes later starts faster");
    match scarce_launch::Kafka::archive_classes(folder) {
        Ok(()) => Ok(fs::write(stamp, wanted)?),
        Err(error) => {
            log.write(&error.to_string());
            Err("Kafka did not start; the log has its output".into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_list_is_a_jar() {
        let jars: Vec<Jar<'_>> = lines().map(|line| Jar::read(line).expect("a jar")).collect();
        assert!(jars.iter().all(|jar| jar.sha256.len() == 64));
        let broker = jars.iter().find(|jar| jar.artifact == "kafka_2.13").expect("the broker");
        let folder = format!("{MAVEN_CENTRAL}/org/apache/kafka/kafka_2.13/{}", broker.version);
        assert_eq!(broker.url(), format!("{folder}/kafka_2.13-{}.jar", broker.version));
    }
}
