//! A pipelined connection: many questions in flight, each remembered until its answer is read.

use std::collections::VecDeque;
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use redis::Parser;

use super::ask::{CallerAnswer, Request, words};
use scarce_client::pack;

/// The connection is gone; its pending questions were not answered.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Broken;

/// A connection with questions of type `Q`, which are answered in order.
pub(super) trait Line<Q> {
    /// The number of questions without an answer.
    fn waiting(&self) -> usize;

    /// Writes a question.
    fn ask(&mut self, question: Q, request: &Request);

    /// Sends the written questions.
    ///
    /// # Errors
    /// When the connection is gone.
    fn flush(&mut self) -> Result<(), Broken>;

    /// Reads the next answer; `None` if no question is pending.
    ///
    /// # Errors
    /// When the connection is gone.
    fn read(&mut self) -> Result<Option<(Q, CallerAnswer)>, Broken>;

    /// The unanswered questions.
    fn unanswered(self: Box<Self>) -> Vec<Q>;
}

/// How long an answer may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A question in flight.
struct Waiting<Q> {
    question: Q,
    /// The number of replies still to come; the last one is the answer.
    owed: usize,
    is_batch: bool,
}

/// A line to the RESP port.
pub(super) struct RespLine<Q> {
    socket: Option<TcpStream>,
    parser: Parser,
    out: Vec<u8>,
    waiting: VecDeque<Waiting<Q>>,
}

impl<Q> RespLine<Q> {
    /// Connects. If nothing answers, the line is broken from the start.
    pub(super) fn open(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).and_then(|socket| {
            socket.set_nodelay(true)?;
            socket.set_read_timeout(Some(PATIENCE))?;
            Ok(socket)
        });
        Self { socket: socket.ok(), parser: Parser::new(), out: Vec::new(), waiting: VecDeque::new() }
    }
}

impl<Q> Line<Q> for RespLine<Q> {
    fn waiting(&self) -> usize {
        self.waiting.len()
    }

    fn ask(&mut self, question: Q, request: &Request) {
        let commands = commands(request);
        commands.iter().for_each(|words| pack(words, &mut self.out));
        let is_batch = request.lines.len() > 1;
        self.waiting.push_back(Waiting { question, owed: commands.len(), is_batch });
    }

    fn flush(&mut self) -> Result<(), Broken> {
        let sent = self.socket.as_mut().ok_or(Broken)?.write_all(&self.out).map_err(|_| Broken);
        self.out.clear();
        sent
    }

    fn read(&mut self) -> Result<Option<(Q, CallerAnswer)>, Broken> {
        while let Some(next) = self.waiting.front_mut() {
            let socket = self.socket.as_mut().ok_or(Broken)?;
            let value = self.parser.parse_value(socket).map_err(|_| Broken)?;
            next.owed -= 1;
            if next.owed == 0 {
                let answer =
                    if next.is_batch { CallerAnswer::of_batch(value) } else { CallerAnswer::of(value) };
                return Ok(self.waiting.pop_front().map(|asked| (asked.question, answer)));
            }
        }
        Ok(None)
    }

    fn unanswered(self: Box<Self>) -> Vec<Q> {
        self.waiting.into_iter().map(|asked| asked.question).collect()
    }
}

/// The commands of a request for the RESP port.
fn commands(Request { id, lines }: &Request) -> Vec<Vec<String>> {
    match (lines.as_slice(), id.as_deref()) {
        ([line], Some(id)) => vec![[line.clone(), words(&["ID", id])].concat()],
        ([line], None) => vec![line.clone()],
        (lines, id) => {
            let mut all = vec![words(&["MULTI"])];
            all.extend(id.map(|id| words(&["BATCH.ID", id])));
            all.extend(lines.iter().cloned());
            all.push(words(&["EXEC"]));
            all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_lines_are_sent_as_a_batch() {
        let one = commands(&Request::one("a-1", &["PACKET.CLAIM", "c", "u"]));
        assert_eq!(one, [["PACKET.CLAIM", "c", "u", "ID", "a-1"]]);
        let batch =
            commands(&Request::batch("a-2", &[&["ACCOUNT.DEBIT", "a", "1"], &["STOCK.TAKE", "s", "1", "a"]]));
        let first: Vec<&str> = batch.iter().map(|words| words[0].as_str()).collect();
        assert_eq!(first, ["MULTI", "BATCH.ID", "ACCOUNT.DEBIT", "STOCK.TAKE", "EXEC"]);
    }
}
