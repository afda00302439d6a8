//! A connection to the HTTP port: requests between two flushes are sent as one batch, each operation under
//! its own id.
//!
//! Requests are pipelined: the next ones leave before the answers to the last have come. hyper's client waits for each
//! answer, and would measure the round trip and not the server.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use redis::Value as Reply;
use scarce_api::arguments::of_words;
use scarce_core::command::{CommandSpec, table};
use scarce_core::outcome::Code;
use scarce_core::outcome::shape::{ValueSpec, names};
use serde_json::{Map, Value, json};

use super::ask::{CallerAnswer, Request};
use super::line::{Broken, Line, PATIENCE};

/// The port's limit for operations in one request.
const OPERATIONS_MAX: usize = 1_000;

/// A line to the HTTP port.
pub(super) struct HttpLine<Q> {
    address: SocketAddr,
    socket: Option<TcpStream>,
    /// Bytes already read of the next responses.
    input: Vec<u8>,
    /// Questions since the last flush.
    open: Vec<(Q, Vec<Operation>, Option<String>)>,
    /// The content of each request sent.
    sent: VecDeque<Sent<Q>>,
    /// Answers that were read.
    ready: VecDeque<(Q, CallerAnswer)>,
}

/// A request in flight.
enum Sent<Q> {
    /// Each operation is a question of its own.
    Each(Vec<(Q, &'static CommandSpec)>),
    /// All operations together are one question.
    Atomic(Q, Vec<&'static CommandSpec>),
}

/// An operation of a batch.
type Operation = (&'static CommandSpec, Map<String, Value>);

impl<Q> HttpLine<Q> {
    /// Connects. If nothing answers, the line is broken from the start.
    pub(super) fn open(address: SocketAddr) -> Self {
        let socket = TcpStream::connect(address).and_then(|socket| {
            socket.set_nodelay(true)?;
            socket.set_read_timeout(Some(PATIENCE))?;
            Ok(socket)
        });
        Self {
            address,
            socket: socket.ok(),
            input: Vec::new(),
            open: Vec::new(),
            sent: VecDeque::new(),
            ready: VecDeque::new(),
        }
    }

    fn post(&mut self, body: &Value, id: Option<&str>) -> Result<(), Broken> {
        let body = body.to_string();
        let key = id.map(|id| format!("Idempotency-Key: {id}\r\n")).unwrap_or_default();
        let request = format!(
            "POST /v1/batch HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{key}\r\n{body}",
            self.address,
            body.len(),
        );
        self.socket.as_mut().ok_or(Broken)?.write_all(request.as_bytes()).map_err(|_| Broken)
    }

    /// Sends single-command questions as one request.
    fn post_each(&mut self, asked: Vec<(Q, Vec<Operation>, Option<String>)>) -> Result<(), Broken> {
        let operations: Vec<Value> = asked
            .iter()
            .flat_map(|(_, lines, id)| lines.iter().map(|line| operation(line, id.as_deref())))
            .collect();
        let questions =
            asked.into_iter().filter_map(|(question, lines, _)| Some((question, lines.first()?.0)));
        self.sent.push_back(Sent::Each(questions.collect()));
        self.post(&json!({ "operations": operations }), None)
    }

    /// Reads a response.
    fn response(&mut self) -> Result<Value, Broken> {
        loop {
            if let Some((body, length)) = whole(&self.input)? {
                self.input.drain(..length);
                return Ok(body);
            }
            let mut bytes = [0; 16 * 1024];
            let count = self.socket.as_mut().ok_or(Broken)?.read(&mut bytes).map_err(|_| Broken)?;
            if count == 0 {
                return Err(Broken);
            }
            self.input.extend_from_slice(&bytes[..count]);
        }
    }
}

impl<Q> Line<Q> for HttpLine<Q> {
    fn waiting(&self) -> usize {
        let sent = self.sent.iter().map(|sent| match sent {
            Sent::Each(questions) => questions.len(),
            Sent::Atomic(..) => 1,
        });
        self.open.len() + self.ready.len() + sent.sum::<usize>()
    }

    fn ask(&mut self, question: Q, request: &Request) {
        let operation = |words: &Vec<String>| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let spec = table::find(words.first()?.as_bytes())?;
            Some((spec, of_words(spec, &words[1..])?.fields))
        };
        let lines = request.lines.iter().filter_map(operation).collect();
        self.open.push((question, lines, request.id.clone()));
    }

    fn flush(&mut self) -> Result<(), Broken> {
        let mut single = Vec::new();
        for (question, lines, id) in std::mem::take(&mut self.open) {
            if lines.len() == 1 && single.len() < OPERATIONS_MAX {
                single.push((question, lines, id));
                continue;
            }
            if !single.is_empty() {
                self.post_each(std::mem::take(&mut single))?;
            }
            if lines.len() == 1 {
                single.push((question, lines, id));
                continue;
            }
            let operations: Vec<Value> = lines.iter().map(|line| operation(line, None)).collect();
            self.sent.push_back(Sent::Atomic(question, lines.iter().map(|(spec, _)| *spec).collect()));
            self.post(&json!({ "atomic": true, "operations": operations }), id.as_deref())?;
        }
        if single.is_empty() { Ok(()) } else { self.post_each(single) }
    }

    fn read(&mut self) -> Result<Option<(Q, CallerAnswer)>, Broken> {
        if self.ready.is_empty() && !self.sent.is_empty() {
            let body = self.response()?;
            match self.sent.pop_front() {
                Some(Sent::Each(questions)) => {
                    let results = body["results"].as_array().cloned().unwrap_or_default();
                    let answered = questions.into_iter().enumerate().map(|(at, (question, spec))| {
                        let answer =
                            results.get(at).map_or_else(|| refused(&body), |result| of_result(spec, result));
                        (question, answer)
                    });
                    self.ready.extend(answered);
                }
                Some(Sent::Atomic(question, specs)) => {
                    self.ready.push_back((question, of_batch(&specs, &body)));
                }
                None => {}
            }
        }
        Ok(self.ready.pop_front())
    }

    fn unanswered(self: Box<Self>) -> Vec<Q> {
        let sent = self.sent.into_iter().flat_map(|sent| match sent {
            Sent::Each(questions) => questions.into_iter().map(|(question, _)| question).collect(),
            Sent::Atomic(question, _) => vec![question],
        });
        // Answers that were read along with others but not yet returned count as unanswered.
        let unseen = self.ready.into_iter().map(|(question, _)| question);
        unseen.chain(sent).chain(self.open.into_iter().map(|(question, ..)| question)).collect()
    }
}

fn operation((spec, arguments): &Operation, id: Option<&str>) -> Value {
    let mut operation = json!({ "command": spec.name, "arguments": arguments });
    if let Some(id) = id {
        operation["id"] = id.into();
    }
    operation
}

/// The body of the first response, and the response's length in bytes; `None` until it is complete.
fn whole(input: &[u8]) -> Result<Option<(Value, usize)>, Broken> {
    let mut headers = [httparse::EMPTY_HEADER; 32];
    let mut response = httparse::Response::new(&mut headers);
    let Ok(httparse::Status::Complete(head)) = response.parse(input) else { return Ok(None) };
    let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length: usize =
        length.and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok()).ok_or(Broken)?;
    let Some(body) = input.get(head..head + length) else { return Ok(None) };
    Ok(Some((serde_json::from_slice(body).map_err(|_| Broken)?, head + length)))
}

fn of_result(spec: &CommandSpec, result: &Value) -> CallerAnswer {
    match result.get("result") {
        Some(figures) => CallerAnswer::Applied(values(spec.reply, figures)),
        None => refused(&result["problem"]),
    }
}

fn of_batch(specs: &[&CommandSpec], body: &Value) -> CallerAnswer {
    let Some(results) = body["results"].as_array() else { return refused(body) };
    let lines = specs.iter().zip(results).flat_map(|(spec, result)| values(spec.reply, &result["result"]));
    CallerAnswer::Applied(lines.collect())
}

/// The refusal in a problem document; for a batch, that of its refused line.
fn refused(problem: &Value) -> CallerAnswer {
    let code = problem["code"].as_str().and_then(Code::from_word);
    match code {
        Some(Code::Overloaded | Code::Unavailable | Code::Unknown) => CallerAnswer::Later,
        Some(Code::BatchRefused) => refused(&problem["facts"]),
        Some(code) if code != Code::Invalid => {
            CallerAnswer::Refused(code.word().to_owned(), values(code.facts(), &problem["facts"]))
        }
        _ => CallerAnswer::Error(problem.to_string()),
    }
}

/// Named figures as the values of a reply.
fn values(specs: &'static [ValueSpec], figures: &Value) -> Vec<Reply> {
    let value = |name: &str| match &figures[name] {
        Value::Number(number) => number.as_i64().map_or(Reply::Nil, Reply::Int),
        Value::String(text) => Reply::BulkString(text.as_bytes().to_vec()),
        _ => Reply::Nil,
    };
    names(specs).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_is_read_whole_wherever_it_is_cut() {
        let text = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n{\"a\": 1}HTTP/1.1";
        let end = text.len() - 8;
        for cut in 0..end {
            assert_eq!(whole(&text[..cut]), Ok(None), "{cut}");
        }
        assert_eq!(whole(text), Ok(Some((json!({ "a": 1 }), end))));
        assert_eq!(whole(b"HTTP/1.1 200 OK\r\n\r\n"), Err(Broken));
    }

    #[test]
    fn problems_are_read_as_refusals() {
        let sold_out = json!({ "code": "SOLD_OUT", "facts": { "available": 0, "requested": 2 } });
        let refusal = CallerAnswer::Refused("SOLD_OUT".to_owned(), vec![Reply::Int(0), Reply::Int(2)]);
        assert_eq!(refused(&sold_out), refusal);
        let mut line = sold_out.clone();
        line["index"] = 1.into();
        assert_eq!(refused(&json!({ "code": "BATCH_REFUSED", "facts": line })), refusal);
        assert_eq!(refused(&json!({ "code": "OVERLOADED", "facts": {} })), CallerAnswer::Later);
        assert!(matches!(refused(&json!({ "code": "UNAUTHENTICATED" })), CallerAnswer::Error(_)));
    }
}
