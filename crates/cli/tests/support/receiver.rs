//! A receiver of webhooks.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

/// How long a request is waited for.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// A received request.
pub struct Came {
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

/// A receiver that answers with the statuses in order, then with 200. Returns its address and the requests. Each
/// connection is served on a thread: one that sends nothing, or was meant for another server, delays no other.
pub fn receiver(statuses: &'static [u16]) -> (String, mpsc::Receiver<Came>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let (sender, came) = mpsc::channel();
    let statuses = Arc::new(Mutex::new(statuses.iter().copied()));
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (sender, statuses) = (sender.clone(), statuses.clone());
            std::thread::spawn(move || receive(stream, &sender, &statuses));
        }
    });
    (url, came)
}

/// Reads a request and answers it. What is no request of ours ends the connection.
fn receive(
    stream: TcpStream,
    sender: &mpsc::Sender<Came>,
    statuses: &Mutex<impl Iterator<Item = u16>>,
) -> Option<()> {
    let mut stream = BufReader::new(stream);
    let lines = (&mut stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_ascii_lowercase(), value.to_owned()))
        })
        .collect();
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    stream.read_exact(&mut body).ok()?;
    let status = statuses.lock().unwrap().next().unwrap_or(200);
    let answer = format!("HTTP/1.1 {status} Noted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    stream.get_mut().write_all(answer.as_bytes()).ok()?;
    sender.send(Came { headers, body }).ok()
}
