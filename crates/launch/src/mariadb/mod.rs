//! One MariaDB server.

mod options;

use std::path::Path;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::account::Account;
use crate::folder::{CERTIFICATE, FolderPlace, KEY};
use crate::process::{AtOwnersEnd, Process, finish};
use crate::{LaunchError, Program, ports, urls};
pub use options::MariaDbOptions;

// This package has no service that would start on installation.
const MARIADBD: Program = Program { name: "mariadbd", package: "mariadb-server-core" };
const INSTALL_DB: Program = Program { name: "mariadb-install-db", package: "mariadb-server-core" };
const MARIADB: Program = Program { name: "mariadb", package: "mariadb-client-core" };

/// The user with all rights.
const USER: &str = "root";

/// The database that every server has.
const DATABASE: &str = "mysql";

/// What a server prints when it is ready.
const READY: &str = "ready for connections";

/// A running MariaDB server with its data in a temporary folder; it ends when dropped.
///
/// It listens on 127.0.0.1 only, and on no Unix socket. If root starts it, it runs as the user `mysql` or
/// `nobody`.
#[derive(Debug)]
pub struct MariaDb {
    process: Process,
    folder: TempDir,
    data: TempDir,
    account: Account,
    options: MariaDbOptions,
    port: u16,
}

impl MariaDb {
    /// Starts one and waits until it answers.
    ///
    /// # Errors
    /// When MariaDB is not installed, or it does not answer.
    pub fn start(options: &MariaDbOptions) -> Result<Self, LaunchError> {
        let account = Account::instead_of_root("mysql")?;
        let folder = FolderPlace::Temporary.make("scarce-mariadb-")?;
        account.own(folder.path())?;
        let data = make_data(account, folder.path(), options)?;
        let (process, port) = ports::with_free(|[port]| {
            Ok((spawn(account, folder.path(), data.path(), options, port)?, port))
        })?;
        let server = Self { process, folder, data, account, options: options.clone(), port };
        server.set_password()?;
        Ok(server)
    }

    /// The port for clients.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of the database `mysql`: `mysql://root@127.0.0.1:port/mysql`, with the password if there
    /// is one, and `?ssl-mode=required` if it accepts only TLS.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_of(DATABASE)
    }

    /// The address of a database.
    #[must_use]
    pub fn url_of(&self, database: &str) -> String {
        let url = urls::database("mysql", USER, self.options.kind.password.as_deref(), self.port, database);
        if self.options.certificates.is_some() { url + "?ssl-mode=required" } else { url }
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

    /// Creates an empty database, so that tests can share a server; returns its address.
    ///
    /// # Errors
    /// When it does not answer, or the database exists.
    pub fn create_database(&self, name: &str) -> Result<String, LaunchError> {
        self.query(DATABASE, &format!("CREATE DATABASE `{}`", name.replace('`', "``")))?;
        Ok(self.url_of(name))
    }

    /// Runs SQL with MariaDB's client and returns its output: one line per row, columns separated by tabs.
    ///
    /// # Errors
    /// When the server does not answer, or refuses.
    pub fn query(&self, database: &str, sql: &str) -> Result<String, LaunchError> {
        self.query_knowing(self.options.kind.password.as_deref(), database, sql)
    }

    /// Kills it, like a crash.
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
        self.process.stop(Signal::TERM)
    }

    /// Starts it from its data on the same port; kills it first if it still runs.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn start_again(&mut self) -> Result<(), LaunchError> {
        self.kill()?;
        let (folder, data) = (self.folder.path(), self.data.path());
        self.process = spawn(self.account, folder, data, &self.options, self.port)?;
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

    fn set_password(&self) -> Result<(), LaunchError> {
        let Some(password) = &self.options.kind.password else { return Ok(()) };
        let quoted = password.replace('\\', "\\\\").replace('\'', "''");
        let sql = format!("ALTER USER {USER}@127.0.0.1 IDENTIFIED BY '{quoted}'");
        self.query_knowing(None, DATABASE, &sql).map(drop)
    }

    fn query_knowing(
        &self,
        password: Option<&str>,
        database: &str,
        sql: &str,
    ) -> Result<String, LaunchError> {
        let mut command = MARIADB.command(&[]);
        // The caller's own settings must not redirect the client.
        command.env_clear().env("MYSQL_PWD", password.unwrap_or_default());
        let tls = if self.options.certificates.is_some() { "--ssl" } else { "--skip-ssl" };
        command.args(["--no-defaults", tls, "--skip-ssl-verify-server-cert", "-N", "-B", "-h", "127.0.0.1"]);
        command.args(["-P", &self.port.to_string(), "-u", USER, "-e", sql, database]);
        finish(MARIADB, &mut command)
    }
}

/// The maximum number of attempts to create the data.
const TRIES_MAX: u32 = 3;

/// A folder with the tables that every server has. The program that creates them sometimes crashes on a busy
/// machine before it has done anything (seen with MariaDB 10.11).
fn make_data(account: Account, folder: &Path, options: &MariaDbOptions) -> Result<TempDir, LaunchError> {
    let mut tries = 1;
    loop {
        let data = options.place.make("scarce-mariadb-data-")?;
        account.own(data.path())?;
        match initialize(account, folder, data.path(), options) {
            Err(LaunchError::Refused { .. }) if tries < TRIES_MAX => tries += 1,
            ended => return ended.map(|()| data),
        }
    }
}

/// Creates the data of an empty server.
fn initialize(
    account: Account,
    folder: &Path,
    data: &Path,
    options: &MariaDbOptions,
) -> Result<(), LaunchError> {
    let mut command = INSTALL_DB.command(&[]);
    command.args(["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db"]);
    // This need not survive a power failure: it is created anew for each server.
    command.args(["--skip-name-resolve", "--debug-no-sync=1", "--innodb-flush-method=nosync"]);
    // The size of the log is fixed here.
    let sizes = options.words().filter(|word| word.starts_with("--innodb-log-file-size="));
    command.args(sizes).arg(format!("--datadir={}", data.display())).current_dir(folder);
    finish(INSTALL_DB, account.run(&mut command))?;
    if let Some(certificates) = &options.certificates {
        account.copy(CERTIFICATE, certificates, folder)?;
        account.copy(KEY, certificates, folder)?;
    }
    Ok(())
}

/// Starts it and waits until it answers.
fn spawn(
    account: Account,
    folder: &Path,
    data: &Path,
    options: &MariaDbOptions,
    port: u16,
) -> Result<Process, LaunchError> {
    let mut command = MARIADBD.command(&[]);
    command.args(["--no-defaults", "--skip-name-resolve"]).args(options.words());
    command.args([format!("--datadir={}", data.display()), format!("--port={port}")]);
    command.args(["--bind-address=127.0.0.1", "--socket="]).current_dir(folder);
    if options.certificates.is_some() {
        let word = |option: &str, name: &str| format!("--{option}={}", folder.join(name).display());
        command.args([word("ssl-cert", CERTIFICATE), word("ssl-key", KEY)]);
        command.arg("--require-secure-transport=ON");
    }
    let end = AtOwnersEnd { signal: Signal::KILL, folders: vec![folder.to_owned(), data.to_owned()] };
    let mut process = Process::spawn(MARIADBD, account.run(&mut command), &folder.join("log"), &end)?;
    process.wait_ready(|printed| printed.contains(READY))?;
    Ok(process)
}
