//! A web site of one page, which reports what it could do.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver, Sender};

use serde_json::Value;

use crate::support::PATIENCE;

/// A site whose port is known before its page.
pub struct Bound(TcpListener);

/// A running site.
pub struct Site {
    port: u16,
    reports: Mutex<Receiver<Value>>,
}

impl Site {
    /// Takes a free port.
    pub fn bind() -> Bound {
        Bound(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    /// Serves a page on a free port.
    pub fn serve(page: String) -> Self {
        Self::bind().start(page)
    }

    /// Its address by one of this machine's names.
    pub fn url(&self, host: &str) -> String {
        format!("http://{host}:{}/", self.port)
    }

    /// What the page reported.
    pub fn report(&self) -> Value {
        let reports = self.reports.lock().unwrap();
        reports.recv_timeout(PATIENCE).expect("the page reports what it could do")
    }
}

impl Bound {
    /// The origin of its page.
    pub fn origin(&self, host: &str) -> String {
        format!("http://{host}:{}", self.0.local_addr().unwrap().port())
    }

    /// Serves the page.
    pub fn start(self, page: String) -> Site {
        let port = self.0.local_addr().unwrap().port();
        let (sender, reports) = mpsc::channel();
        std::thread::spawn(move || {
            for socket in self.0.incoming().flatten() {
                let (page, sender) = (page.clone(), sender.clone());
                std::thread::spawn(move || answer(&socket, &page, &sender));
            }
        });
        Site { port, reports: Mutex::new(reports) }
    }
}

/// Answers one request, and closes.
fn answer(mut socket: &TcpStream, page: &str, sender: &Sender<Value>) {
    let mut reader = BufReader::new(socket);
    let (mut first, mut length) = (String::new(), 0);
    if reader.read_line(&mut first).is_err() {
        return;
    }
    loop {
        let mut line = String::new();
        match reader.read_line(&mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line == "\r\n" => break,
            Ok(_) => {}
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let (status, text) = match first.split(' ').take(2).collect::<Vec<_>>()[..] {
        ["GET", "/"] => ("200 OK", page),
        ["POST", "/report"] => {
            // Nobody may be waiting any more.
            let _ = sender.send(serde_json::from_slice(&body).unwrap());
            ("200 OK", "")
        }
        _ => ("404 Not Found", ""),
    };
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nConnection: close\r\n");
    // The browser may have gone.
    let _ = socket.write_all(format!("{head}Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
}
