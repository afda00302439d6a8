//! What the two say to each other: a line each, of words.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use scarce_engine_embedded::relocation::Told;

use super::SOCKET_NAME;

/// The version of what is said; servers of others refuse.
const VERSION: u32 = 1;

const LINE_BYTES_MAX: u64 = 64 << 10;

/// What is asked of the server that is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ask {
    /// Begin a move of a deployment.
    Begin { deployment: String },
    /// How far is each partition durable?
    Durable,
    /// What is each partition's digest, and at which sequence?
    Digests,
    /// Take no changes for so long at most. Answered with the last sequences.
    Rest(Duration),
    /// Mark the files: they have moved.
    Finish { id: String, address: String },
}

impl fmt::Display for Ask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begin { deployment } => write!(formatter, "begin {VERSION} {deployment}"),
            Self::Durable => formatter.write_str("durable"),
            Self::Digests => formatter.write_str("digests"),
            Self::Rest(most) => write!(formatter, "rest {}", most.as_millis()),
            Self::Finish { id, address } => write!(formatter, "finish {id} {address}"),
        }
    }
}

impl Ask {
    pub(super) fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Some(match word {
            "begin" => {
                let (version, deployment) = rest.split_once(' ')?;
                (version.parse() == Ok(VERSION)).then_some(())?;
                Self::Begin { deployment: deployment.to_owned() }
            }
            "durable" => Self::Durable,
            "digests" => Self::Digests,
            "rest" => Self::Rest(Duration::from_millis(rest.parse().ok()?)),
            "finish" => {
                let (id, address) = rest.split_once(' ')?;
                Self::Finish { id: id.to_owned(), address: address.to_owned() }
            }
            _ => return None,
        })
    }
}

/// Numbers of all partitions, as an answer.
pub(super) fn sequences_text(sequences: &[u64]) -> String {
    sequences.iter().map(u64::to_string).collect::<Vec<_>>().join(" ")
}

pub(super) fn read_sequences(text: &str) -> Option<Vec<u64>> {
    text.split(' ').map(|word| word.parse().ok()).collect()
}

/// Digests of all partitions, as an answer.
pub(super) fn told_text(told: &[Told]) -> String {
    told.iter().map(|its| format!("{}:{:032x}", its.sequence, its.digest)).collect::<Vec<_>>().join(" ")
}

pub(super) fn read_told(text: &str) -> Option<Vec<Told>> {
    let read = |word: &str| {
        let (sequence, digest) = word.split_once(':')?;
        let digest = u128::from_str_radix(digest, 16).ok()?;
        Some(Told { sequence: sequence.parse().ok()?, digest })
    };
    text.split(' ').map(read).collect()
}

/// A connection between the two.
pub(super) struct Line {
    reader: BufReader<UnixStream>,
}

impl Line {
    pub(super) fn new(stream: UnixStream) -> Self {
        Self { reader: BufReader::new(stream) }
    }

    pub(super) fn stream(&self) -> &UnixStream {
        self.reader.get_ref()
    }

    /// The next line; none where the other side has ended.
    pub(super) fn read(&mut self, timeout: Option<Duration>) -> io::Result<Option<String>> {
        self.stream().set_read_timeout(timeout)?;
        let mut line = String::new();
        let read = Read::by_ref(&mut self.reader).take(LINE_BYTES_MAX).read_line(&mut line)?;
        let line = line.strip_suffix('\n').map(str::to_owned);
        if line.is_none() && read > 0 { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(line) }
    }

    pub(super) fn write(&mut self, line: &str) -> io::Result<()> {
        self.reader.get_mut().write_all(format!("{}\n", line.replace(['\n', '\r'], " ")).as_bytes())
    }
}

/// Calls `use_path` with a short path of the socket: the kernel takes about a hundred bytes, and a directory's path may be
/// longer.
fn at_socket<T>(data: &Path, use_path: impl FnOnce(PathBuf) -> io::Result<T>) -> io::Result<T> {
    let directory = File::open(data)?;
    use_path(PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(SOCKET_NAME))
}

/// Opens the socket of a data directory whose lock this process has.
pub(super) fn listen(data: &Path) -> io::Result<UnixListener> {
    match std::fs::remove_file(data.join(SOCKET_NAME)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    at_socket(data, UnixListener::bind)
}

/// Removes the socket; one that stays is replaced by the next server.
pub(super) fn remove(data: &Path) {
    let _ = std::fs::remove_file(data.join(SOCKET_NAME));
}

/// Connects to the server of a data directory.
pub(super) fn connect(data: &Path) -> io::Result<UnixStream> {
    at_socket(data, UnixStream::connect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_read() {
        let asks = [
            Ask::Begin { deployment: "00ff".to_owned() },
            Ask::Durable,
            Ask::Digests,
            Ask::Rest(Duration::from_millis(900)),
            Ask::Finish { id: "1a".to_owned(), address: "a directory with spaces".to_owned() },
        ];
        for ask in asks {
            assert_eq!(Ask::parse(&ask.to_string()), Some(ask));
        }
        for line in ["", "begin 2 00ff", "begin", "rest", "rest x", "finish 1a", "stop"] {
            assert_eq!(Ask::parse(line), None, "{line}");
        }
        let told = vec![Told { sequence: 7, digest: 1 }, Told { sequence: 0, digest: u128::MAX }];
        assert_eq!(read_told(&told_text(&told)), Some(told));
        assert_eq!(read_sequences(&sequences_text(&[0, 12])), Some(vec![0, 12]));
        assert_eq!(read_sequences("1 x"), None);
    }

    #[test]
    fn a_directory_may_have_a_long_path_and_an_old_socket() {
        let folder = tempfile::tempdir().expect("a directory");
        let long = folder.path().join("d".repeat(200));
        std::fs::create_dir(&long).expect("a directory");
        drop(listen(&long).expect("a socket"));
        assert!(connect(&long).is_err(), "nobody listens");
        let listener = listen(&long).expect("a socket");
        let mut here = Line::new(connect(&long).expect("connected"));
        let mut there = Line::new(listener.accept().expect("accepted").0);
        here.write("two\nlines").expect("written");
        assert_eq!(there.read(None).expect("read").as_deref(), Some("two lines"));
        drop(here);
        assert_eq!(there.read(None).expect("read"), None);
    }
}
