//! One PostgreSQL server.

mod options;
mod programs;

use std::path::Path;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::account::Account;
use crate::folder::{CERTIFICATE, FolderPlace, KEY};
use crate::process::{AtOwnersEnd, Process, finish};
use crate::{LaunchError, ports, urls};
pub use options::PostgresOptions;
use programs::{INITDB, POSTGRES, PSQL};

/// The user with all rights.
const USER: &str = "scarce";

/// The database that every server has.
const DATABASE: &str = "postgres";

/// The file in which a running server writes its status.
const LOCK_FILE: &str = "postmaster.pid";

/// A running PostgreSQL server with its data in a temporary folder; it ends when dropped.
///
/// It listens on 127.0.0.1 only, and on no Unix socket. If root starts it, it runs as the user `postgres` or
/// `nobody`.
#[derive(Debug)]
pub struct Postgres {
    process: Process,
    folder: TempDir,
    data: TempDir,
    account: Account,
    options: PostgresOptions,
    port: u16,
}

impl Postgres {
    /// Starts one and waits until it answers.
    ///
    /// # Errors
    /// When PostgreSQL is not installed, or it does not answer.
    pub fn start(options: &PostgresOptions) -> Result<Self, LaunchError> {
        let account = Account::instead_of_root("postgres")?;
        let folder = FolderPlace::Temporary.make("scarce-postgres-")?;
        let data = options.place.make("scarce-postgres-data-")?;
        account.own(folder.path())?;
        account.own(data.path())?;
        initialize(account, folder.path(), data.path(), options)?;
        let (process, port) = ports::with_free(|[port]| {
            Ok((spawn(account, folder.path(), data.path(), options, port)?, port))
        })?;
        Ok(Self { process, folder, data, account, options: options.clone(), port })
    }

    /// The port for clients.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of the database `postgres`: `postgres://scarce@127.0.0.1:port/postgres`, with the password
    /// if there is one, and `?sslmode=require` if it accepts only TLS.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_of(DATABASE)
    }

    /// The address of a database.
    #[must_use]
    pub fn url_of(&self, database: &str) -> String {
        let url =
            urls::database("postgres", USER, self.options.kind.password.as_deref(), self.port, database);
        if self.options.certificates.is_some() { url + "?sslmode=require" } else { url }
    }

    /// The parent process of all others.
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

    /// Creates an empty database, so that tests can share a server; returns its address.
    ///
    /// # Errors
    /// When it does not answer, or the database exists.
    pub fn create_database(&self, name: &str) -> Result<String, LaunchError> {
        self.query(DATABASE, &format!("CREATE DATABASE \"{}\"", name.replace('"', "\"\"")))?;
        Ok(self.url_of(name))
    }

    /// Runs SQL with psql and returns its output: one line per row, columns separated by `|`.
    ///
    /// # Errors
    /// When the server does not answer, or refuses.
    pub fn query(&self, database: &str, sql: &str) -> Result<String, LaunchError> {
        let mut command = PSQL.command(&programs::folders());
        // The caller's own settings must not redirect the client.
        command.env_clear().env("PGPASSWORD", self.options.kind.password.as_deref().unwrap_or_default());
        command.env("PGSSLMODE", "prefer");
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1"]);
        command.args(["-p", &self.port.to_string(), "-U", USER, "-d", database, "-c", sql]);
        finish(PSQL, &mut command)
    }

    /// Kills all its processes at once, like a crash.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn kill(&mut self) -> Result<(), LaunchError> {
        self.process.kill()
    }

    /// Shuts it down cleanly: it rolls back transactions and writes everything to disk.
    ///
    /// # Errors
    /// When it does not end.
    pub fn stop(&mut self) -> Result<(), LaunchError> {
        self.process.stop(Signal::INT)
    }

    /// Starts it from its data on the same port; kills it first if it still runs.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn start_again(&mut self) -> Result<(), LaunchError> {
        self.kill()?;
        let (folder, data) = (self.folder.path(), self.data.path());
        // Its process id may belong to another process by now, which the server would mistake for a running
        // server.
        match std::fs::remove_file(data.join(LOCK_FILE)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
            _ => {}
        }
        self.process = spawn(self.account, folder, data, &self.options, self.port)?;
        Ok(())
    }

    /// Pauses all its processes, which looks to clients like a machine without a network.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn pause(&self) -> Result<(), LaunchError> {
        self.process.pause()
    }

    /// Resumes them.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn resume(&self) -> Result<(), LaunchError> {
        self.process.resume()
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // An immediate shutdown that the server performs itself, so that it frees the memory that its
        // processes share. It may have ended already.
        let _ = self.process.stop(Signal::QUIT);
        programs::forget_shared_memory(&self.data.path().join(LOCK_FILE));
    }
}

/// Creates the data of an empty server.
fn initialize(
    account: Account,
    folder: &Path,
    data: &Path,
    options: &PostgresOptions,
) -> Result<(), LaunchError> {
    let mut command = INITDB.command(&programs::folders());
    command.args(["--no-sync", "--no-instructions", "--encoding=UTF8", "--locale=C"]);
    command.args(["--username", USER, "--pgdata"]).arg(data).current_dir(folder);
    let method = if options.kind.password.is_some() { "scram-sha-256" } else { "trust" };
    command.arg(format!("--auth={method}"));
    if let Some(password) = &options.kind.password {
        command.arg("--pwfile").arg(account.write(&folder.join("password"), password.as_bytes())?);
    }
    finish(INITDB, account.run(&mut command))?;
    if let Some(certificates) = &options.certificates {
        account.copy(CERTIFICATE, certificates, folder)?;
        account.copy(KEY, certificates, folder)?;
        let rule = format!("hostssl all all 127.0.0.1/32 {method}\n");
        std::fs::write(data.join("pg_hba.conf"), rule)?;
    }
    Ok(())
}

/// Starts it and waits until it answers.
fn spawn(
    account: Account,
    folder: &Path,
    data: &Path,
    options: &PostgresOptions,
    port: u16,
) -> Result<Process, LaunchError> {
    let mut command = POSTGRES.command(&programs::folders());
    command.arg("-D").arg(data).current_dir(folder);
    let mut settings = vec![
        ("listen_addresses", "127.0.0.1".to_owned()),
        ("port", port.to_string()),
        ("unix_socket_directories", String::new()),
        // Stored in its folder, so that it is removed with everything else even after a kill.
        ("dynamic_shared_memory_type", "mmap".to_owned()),
    ];
    if options.certificates.is_some() {
        let path = |name: &str| folder.join(name).display().to_string();
        settings.push(("ssl", "on".to_owned()));
        settings.push(("ssl_cert_file", path(CERTIFICATE)));
        settings.push(("ssl_key_file", path(KEY)));
    }
    let own = options.settings.iter().map(|(name, value)| (name.as_str(), value.clone()));
    for (name, value) in own.chain(settings) {
        command.args(["-c", &format!("{name}={value}")]);
    }
    let end = AtOwnersEnd { signal: Signal::QUIT, folders: vec![folder.to_owned(), data.to_owned()] };
    let mut process = Process::spawn(POSTGRES, account.run(&mut command), &folder.join("log"), &end)?;
    let (lock, number) = (data.join(LOCK_FILE), process.number().to_string());
    process.wait_ready(|_| programs::says_ready(&lock, &number))?;
    Ok(process)
}
