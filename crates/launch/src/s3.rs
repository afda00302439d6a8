//! A server that speaks S3: moto's, with its buckets in memory.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;

use rustix::process::Signal;
use tempfile::TempDir;

use crate::folder::FolderPlace;
use crate::process::{AtOwnersEnd, Process};
use crate::{LaunchError, Program};

/// Where `cargo xtask test` installs it, relative to the root of the project.
const PROGRAMS_FOLDER: &str = "target/xtask/s3/bin";

const MOTO: Program = Program {
    name: "moto_server",
    package: "moto of PyPI, which 'cargo xtask test --only servers' installs into target/xtask/s3",
};

/// A running server of S3 on 127.0.0.1, without TLS; killed when dropped. It takes any credentials until it is told to
/// refuse them.
#[derive(Debug)]
pub struct S3 {
    process: Process,
    address: SocketAddr,
    _folder: TempDir,
}

impl S3 {
    /// Starts one and waits until it answers: about a second.
    ///
    /// # Errors
    /// When it is not installed, or does not answer.
    pub fn start() -> Result<Self, LaunchError> {
        let folder = FolderPlace::Temporary.make("scarce-s3-")?;
        let here = std::env::current_dir()?;
        let places: Vec<PathBuf> = here.ancestors().map(|place| place.join(PROGRAMS_FOLDER)).collect();
        let mut command = MOTO.command(&places);
        command.args(["-H", "127.0.0.1", "-p", "0"]).env("PYTHONUNBUFFERED", "1");
        let at_end = AtOwnersEnd { signal: Signal::KILL, folders: vec![folder.path().to_owned()] };
        let mut process = Process::spawn(MOTO, &mut command, &folder.path().join("log"), &at_end)?;
        let mut address = None;
        process.wait_ready(|printed| {
            address = address_in(printed);
            address.is_some()
        })?;
        let address = address.ok_or_else(|| LaunchError::Late { what: "no address of moto".to_owned() })?;
        Ok(Self { process, address, _folder: folder })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Makes a bucket.
    ///
    /// # Errors
    /// When it does not.
    pub fn make_bucket(&self, name: &str) -> Result<(), LaunchError> {
        self.ask("PUT", &format!("/{name}"), "")
    }

    /// Refuses all requests from now on: no credentials are valid.
    ///
    /// # Errors
    /// When it does not answer.
    pub fn refuse_credentials(&self) -> Result<(), LaunchError> {
        self.ask("POST", "/moto-api/reset-auth", "0")
    }

    fn ask(&self, method: &str, path: &str, body: &str) -> Result<(), LaunchError> {
        let mut socket = TcpStream::connect(self.address)?;
        let length = body.len();
        write!(
            socket,
            "{method} {path} HTTP/1.0\r\nHost: {}\r\nContent-Length: {length}\r\n\r\n{body}",
            self.address
        )?;
        let mut answer = String::new();
        socket.read_to_string(&mut answer)?;
        if answer.split_whitespace().nth(1) == Some("200") {
            return Ok(());
        }
        Err(LaunchError::Refused { program: MOTO.name, output: answer })
    }

    /// Pauses it: it takes connections, and answers nothing.
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

fn address_in(printed: &str) -> Option<SocketAddr> {
    let (_, after) = printed.split_once("Running on http://")?;
    after.split_once('\n')?.0.trim().parse().ok()
}
