//! What callers are told whose requests cannot be read. The HTTP library answers such a request without a body, which is
//! replaced by a problem document here, and a request that does not arrive in time with nothing.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::response::Response;
use http_body_util::BodyExt as _;
use scarce_api::Misshapen;
use scarce_api::glossary::Language;
use scarce_api::problem::PortCode;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};

use super::exchange::Speech;
use super::pace::Pace;
use super::reply;
use super::trace::RequestId;

/// How much is read of what a caller goes on sending after its answer, and for how long: a socket that is closed with
/// bytes unread takes the answer back.
const REST_BYTES_MAX: u64 = 1 << 20;

const REST_TIMEOUT: Duration = Duration::from_secs(1);

/// Why a request cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unparsed {
    /// It is not HTTP.
    Malformed,
    /// Its line and headers are too large, or too many.
    Large,
    /// It did not arrive in time.
    Late,
}

impl Unparsed {
    fn of_status(digits: &[u8]) -> Option<Self> {
        match digits {
            b"400" => Some(Self::Malformed),
            b"414" | b"431" => Some(Self::Large),
            _ => None,
        }
    }

    fn response(self) -> Response {
        // Which language the caller would like is not known.
        let speech = Speech(Language::default());
        match self {
            Self::Malformed => {
                let reason =
                    "cannot be read: its line, a header or the length of its body is not as HTTP/1.1 has it";
                reply::misshapen(&Misshapen::new("request", reason), speech)
            }
            Self::Large => reply::of_port(PortCode::HeadersTooLarge, speech),
            Self::Late => reply::of_port(PortCode::RequestTimeout, speech),
        }
    }

    /// The whole answer, as it is sent.
    fn bytes(self) -> Vec<u8> {
        let (mut parts, body) = self.response().into_parts();
        RequestId::of(&parts.headers).tell(&mut parts.headers);
        // The body is in memory.
        let body = futures_util::FutureExt::now_or_never(body.collect()).and_then(Result::ok);
        let body = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        let reason = parts.status.canonical_reason().unwrap_or_default();
        let mut bytes = format!("HTTP/1.1 {} {reason}\r\n", parts.status.as_u16()).into_bytes();
        for (name, value) in &parts.headers {
            bytes.extend_from_slice(name.as_str().as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value.as_bytes());
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(
            format!("content-length: {}\r\nconnection: close\r\n\r\n", body.len()).as_bytes(),
        );
        bytes.extend_from_slice(&body);
        bytes
    }
}

/// Answers a request of which only a part has arrived, and ends the connection.
pub(super) async fn tell_late(mut stream: impl AsyncRead + AsyncWrite + Unpin) {
    // A caller that is gone needs no answer.
    if stream.write_all(&Unparsed::Late.bytes()).await.is_ok() && stream.shutdown().await.is_ok() {
        read_rest(stream).await;
    }
}

/// Reads on for a little while, so that the answer arrives.
pub(super) async fn read_rest(stream: impl AsyncRead + Unpin) {
    let (mut rest, mut nowhere) = (stream.take(REST_BYTES_MAX), tokio::io::sink());
    let reading = tokio::io::copy(&mut rest, &mut nowhere);
    // It is closed all the same.
    let _ = tokio::time::timeout(REST_TIMEOUT, reading).await;
}

/// What a connection begins with whose caller knows that the server speaks HTTP/2 (RFC 9113, section 3.4).
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// A connection on which the library's answers without a body become problem documents.
pub(super) struct Explained<S> {
    stream: S,
    pace: Arc<Pace>,
    /// What was read ahead.
    ahead: Vec<u8>,
    /// What takes the place of what was written last, and how much of it was sent.
    instead: Vec<u8>,
    sent: usize,
}

impl<S> Explained<S> {
    pub(super) fn new(stream: S, pace: Arc<Pace>) -> Self {
        Self { stream, pace, ahead: Vec::new(), instead: Vec::new(), sent: 0 }
    }
}

impl<S: AsyncRead + Unpin> Explained<S> {
    /// Whether the caller speaks HTTP/2 from the beginning. What is read for that is read again.
    pub(super) async fn begins_http2(&mut self) -> io::Result<bool> {
        let mut buffer = [0; HTTP2_PREFACE.len()];
        while self.ahead.len() < HTTP2_PREFACE.len() && HTTP2_PREFACE.starts_with(&self.ahead) {
            let room = &mut buffer[self.ahead.len()..];
            let count = self.stream.read(room).await?;
            if count == 0 {
                break;
            }
            self.ahead.extend_from_slice(&room[..count]);
            self.pace.note_arrived();
        }
        Ok(self.ahead == HTTP2_PREFACE)
    }
}

impl<S: AsyncWrite + Unpin> Explained<S> {
    /// Sends what takes the place of an answer.
    fn poll_instead(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while self.sent < self.instead.len() {
            let left = &self.instead[self.sent..];
            let sent = ready!(Pin::new(&mut self.stream).poll_write(context, left))?;
            if sent == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.sent += sent;
        }
        Poll::Ready(Ok(()))
    }

    /// Takes the end of what is written, if that is an answer of the library. Whether it is.
    fn replace(&mut self, slices: &[IoSlice<'_>]) -> bool {
        let last = slices.iter().rev().find(|slice| !slice.is_empty());
        let Some((at, why)) = last.and_then(|last| bare(last)) else { return false };
        let mut before: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
        let bytes_of_last = last.map_or(0, |last| last.len());
        before.truncate(before.len() - bytes_of_last + at);
        before.append(&mut why.bytes());
        (self.instead, self.sent) = (before, 0);
        true
    }
}

/// Where an answer of the library begins in what is written, if it ends with one, and what that says. Each answer of
/// this server has an `x-request-id`.
fn bare(written: &[u8]) -> Option<(usize, Unparsed)> {
    const LINE: &[u8] = b"HTTP/1.1 ";
    if !written.ends_with(b"\r\n\r\n") {
        return None;
    }
    let at = memchr::memmem::rfind(written, LINE)?;
    let answer = &written[at..];
    let has = |text: &[u8]| memchr::memmem::find(answer, text).is_some();
    let is_bare = has(b"content-length: 0\r\n") && !has(b"x-request-id");
    let why = Unparsed::of_status(answer.get(LINE.len()..LINE.len() + 3)?)?;
    is_bare.then_some((at, why))
}

impl<S: AsyncRead + Unpin> AsyncRead for Explained<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.ahead.is_empty() {
            let count = self.ahead.len().min(buffer.remaining());
            buffer.put_slice(&self.ahead[..count]);
            self.ahead.drain(..count);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.pace.note_arrived();
        }
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Explained<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_instead(context))?;
        if self.replace(&[IoSlice::new(bytes)]) {
            return Poll::Ready(Ok(bytes.len()));
        }
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_instead(context))?;
        if self.replace(slices) {
            return Poll::Ready(Ok(slices.iter().map(|slice| slice.len()).sum()));
        }
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_instead(context))?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_instead(context))?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BARE: &str = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\ndate: Fri, 27 Nov 2026 18:00:00 GMT\r\n\r\n";

    #[test]
    fn only_the_library_s_own_answers_are_replaced() {
        assert_eq!(bare(BARE.as_bytes()), Some((0, Unparsed::Large)));
        let earlier = format!("HTTP/1.1 200 OK\r\nx-request-id: 7\r\n\r\n{{}}{BARE}");
        assert_eq!(bare(earlier.as_bytes()), Some((earlier.len() - BARE.len(), Unparsed::Large)));
        let ours = BARE.replace("connection: close", "x-request-id: 7");
        let with_body = format!("{BARE}body");
        for other in [
            &ours,
            &with_body,
            "{}\r\n\r\n",
            "\r\n\r\n",
            "HTTP/1.1 304 Not Modified\r\ncontent-length: 0\r\n\r\n",
        ] {
            assert_eq!(bare(other.as_bytes()), None, "{other:?}");
        }
    }

    #[test]
    fn what_is_sent_instead_is_a_problem_document_of_its_length() {
        for (why, status, code) in [
            (Unparsed::Malformed, "400", "INVALID"),
            (Unparsed::Large, "431", "HEADERS_TOO_LARGE"),
            (Unparsed::Late, "408", "REQUEST_TIMEOUT"),
        ] {
            let text = String::from_utf8(why.bytes()).expect("text");
            let (head, body) = text.split_once("\r\n\r\n").expect("a head");
            assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{head}");
            assert!(head.contains("application/problem+json") && head.contains("x-request-id: "), "{head}");
            assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
            let problem: serde_json::Value = serde_json::from_str(body).expect("JSON");
            assert_eq!(problem["code"], code);
        }
    }
}
