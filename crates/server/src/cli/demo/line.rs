//! A pipelined connection: many questions on the way, each remembered until its answer is read.

use std::collections::VecDeque;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use redis::{Cmd, Parser, Value};

/// The connection is gone; what waits on it was not answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A connection on which questions of kind `Q` wait for their answers.
pub(super) struct Line<Q> {
    socket: Option<TcpStream>,
    parser: Parser,
    out: Vec<u8>,
    /// The questions on the way, and how many replies each is still owed.
    waiting: VecDeque<(Q, usize)>,
}

impl<Q> Line<Q> {
    /// Connects. Where nobody answers, the line is broken from the start.
    pub(super) fn open(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).and_then(|socket| {
            socket.set_nodelay(true)?;
            socket.set_read_timeout(Some(PATIENCE))?;
            Ok(socket)
        });
        Self { socket: socket.ok(), parser: Parser::new(), out: Vec::new(), waiting: VecDeque::new() }
    }

    /// How many questions wait for their answers.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Writes a question of one or more commands; the last one's reply is its answer.
    pub(super) fn ask(&mut self, question: Q, commands: &[Vec<String>]) {
        for words in commands {
            let mut command = Cmd::new();
            command.arg(words);
            command.write_packed_command(&mut self.out);
        }
        self.waiting.push_back((question, commands.len()));
    }

    /// Sends what was written.
    ///
    /// # Errors
    /// When the connection is gone.
    pub(super) fn flush(&mut self) -> Result<(), Broken> {
        let sent = self.socket.as_mut().ok_or(Broken)?.write_all(&self.out).map_err(|_| Broken);
        self.out.clear();
        sent
    }

    /// Reads the next answer; none when nothing waits.
    ///
    /// # Errors
    /// When the connection is gone.
    pub(super) fn read(&mut self) -> Result<Option<(Q, Value)>, Broken> {
        while let Some((_, owed)) = self.waiting.front_mut() {
            let socket = self.socket.as_mut().ok_or(Broken)?;
            let value = self.parser.parse_value(socket).map_err(|_| Broken)?;
            *owed -= 1;
            if *owed == 0 {
                return Ok(self.waiting.pop_front().map(|(question, _)| (question, value)));
            }
        }
        Ok(None)
    }

    /// What was not answered.
    pub(super) fn into_waiting(self) -> impl Iterator<Item = Q> {
        self.waiting.into_iter().map(|(question, _)| question)
    }
}
