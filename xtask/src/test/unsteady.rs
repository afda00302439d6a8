//! A server that is killed again and again, behind a proxy that loses requests and answers and delivers some requests
//! long after their callers have given up: what a client must get through without doubling or losing anything.

use std::error::Error;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::process::Server;

/// How long the server lives each time.
const LIFE: Duration = Duration::from_millis(1_500);

/// It starts often, and says so each time.
const QUIET: &[&str] = &["--log-level", "error"];

/// Of so many pieces of a connection one is lost, or comes late. The numbers have no common factor.
const LOST_REQUEST: usize = 29;
const LATE_REQUEST: usize = 37;
const LOST_ANSWER: usize = 13;

/// How late: its caller has asked again by then.
const LATENESS: Duration = Duration::from_millis(900);

/// The server and the proxy.
pub struct Unsteady {
    server: Server,
    line: Arc<Line>,
    /// Where the proxy is.
    pub url: String,
}

/// What the proxy's threads share.
struct Line {
    /// Where the server is at the moment.
    server: Mutex<String>,
    requests: AtomicUsize,
    answers: AtomicUsize,
    is_over: AtomicBool,
}

impl Unsteady {
    pub fn start(name: &str) -> Result<Self, Box<dyn Error>> {
        let server = Server::scarce_with(name, QUIET)?;
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}", listener.local_addr()?);
        let line = Arc::new(Line {
            server: Mutex::new(server.http.clone()),
            requests: AtomicUsize::new(0),
            answers: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let shared = line.clone();
        std::thread::spawn(move || {
            let callers = listener.incoming().map_while(Result::ok);
            for caller in callers.take_while(|_| !shared.is_over.load(Ordering::Relaxed)) {
                let line = shared.clone();
                // A connection that cannot be made is lost, which is what the proxy is for.
                std::thread::spawn(move || line.carry(&caller).ok());
            }
        });
        Ok(Self { server, line, url })
    }

    /// Kills the server while the work goes on. Gives what came of it, and how often the server was killed.
    pub fn during<T>(self, work: impl FnOnce() -> T) -> Result<(T, usize), Box<dyn Error>> {
        let Self { server, line, url } = self;
        let (done, ended) = channel::<()>();
        let shared = line.clone();
        let killer = std::thread::spawn(move || {
            let (mut server, mut kills) = (server, 0);
            while ended.recv_timeout(LIFE) == Err(RecvTimeoutError::Timeout) {
                let data = server.kill().map_err(|error| error.to_string())?;
                server = Server::scarce_on(data, QUIET).map_err(|error| error.to_string())?;
                shared.server.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&server.http);
                kills += 1;
            }
            Ok::<_, String>((server, kills))
        });
        let result = work();
        drop(done);
        let (server, kills) = killer.join().map_err(|_| "the thread that kills the server panicked")??;
        line.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread that waits for callers.
        drop(TcpStream::connect(url.trim_start_matches("http://")));
        drop(server);
        Ok((result, kills))
    }
}

impl Line {
    fn connect(&self) -> std::io::Result<TcpStream> {
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner).clone();
        TcpStream::connect(server)
    }

    /// Carries a connection's bytes in both directions until either end closes it.
    fn carry(&self, caller: &TcpStream) -> std::io::Result<()> {
        let server = self.connect()?;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                // Both ends learn of it by the connection.
                let _ = self.carry_requests(caller, &server, scope);
                close(caller, &server);
            });
            let _ = self.carry_answers(&server, caller);
            close(caller, &server);
        });
        Ok(())
    }

    fn carry_requests<'scope>(
        &'scope self,
        mut from: &TcpStream,
        mut to: &TcpStream,
        scope: &'scope std::thread::Scope<'scope, '_>,
    ) -> std::io::Result<()> {
        let mut rest = Vec::new();
        while let Some(request) = next_request(&mut from, &mut rest)? {
            let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
            if number.is_multiple_of(LOST_REQUEST) {
                break;
            }
            if number.is_multiple_of(LATE_REQUEST) {
                scope.spawn(move || self.deliver_late(&request).ok());
            } else {
                to.write_all(&request)?;
            }
        }
        Ok(())
    }

    fn deliver_late(&self, request: &[u8]) -> std::io::Result<()> {
        // Nothing is sent: the time is what is waited for.
        let (_held, never) = channel::<()>();
        let _ = never.recv_timeout(LATENESS);
        let mut server = self.connect()?;
        server.write_all(request)?;
        // The answer is nobody's, but the server shall get to it.
        server.set_read_timeout(Some(LATENESS))?;
        server.read(&mut [0; 1 << 10]).map(drop)
    }

    fn carry_answers(&self, mut from: &TcpStream, mut to: &TcpStream) -> std::io::Result<()> {
        let mut piece = vec![0; 64 << 10];
        loop {
            let length = from.read(&mut piece)?;
            let number = self.answers.fetch_add(1, Ordering::Relaxed) + 1;
            if length == 0 || number.is_multiple_of(LOST_ANSWER) {
                return Ok(());
            }
            to.write_all(&piece[..length])?;
        }
    }
}

/// The next whole request of a connection, since some clients send it in pieces; nothing at the connection's end.
fn next_request(from: &mut impl Read, rest: &mut Vec<u8>) -> std::io::Result<Option<Vec<u8>>> {
    let mut piece = vec![0; 64 << 10];
    loop {
        if let Some(length) = request_length(rest) {
            return Ok(Some(rest.drain(..length).collect()));
        }
        match from.read(&mut piece)? {
            0 => return Ok(None),
            length => rest.extend(&piece[..length]),
        }
    }
}

/// The length of the request at the beginning, once all of it is there.
fn request_length(bytes: &[u8]) -> Option<usize> {
    let head = bytes.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    let text = String::from_utf8_lossy(&bytes[..head]).to_ascii_lowercase();
    let length = |line: &str| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok();
    let whole = head + text.lines().find_map(length).unwrap_or_default();
    (bytes.len() >= whole).then_some(whole)
}

fn close(one: &TcpStream, other: &TcpStream) {
    // It may be closed already.
    let _ = one.shutdown(Shutdown::Both);
    let _ = other.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_taken_apart_wherever_their_pieces_end() {
        let first = b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}";
        let second = b"GET /a HTTP/1.1\r\n\r\n";
        for end in 0..first.len() {
            assert_eq!(request_length(&first[..end]), None, "{end}");
        }
        let both = [first.as_slice(), second].concat();
        let (mut from, mut rest) = (both.as_slice(), Vec::new());
        let mut next = || next_request(&mut from, &mut rest).expect("there is no trouble");
        assert_eq!(next().as_deref(), Some(first.as_slice()));
        assert_eq!(next().as_deref(), Some(second.as_slice()));
        assert_eq!(next(), None);
    }
}
