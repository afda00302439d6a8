//! One socket: bytes in, requests out of them, replies back.

use std::io::{self, Read, Write};
use std::net::IpAddr;
use std::ops::Range;
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use scarce_gateway::{Access, ConnectionPlace};

use super::RespShared;
use super::output::{Output, Sent};
use super::pushes::WAITING_BYTES_MAX;
use super::request::{LIMITS, LIMITS_BEFORE_AUTH, ParseProgress, Parser, ProtocolError};
use super::session::{Around, Arrived, Flow, Session, Turn};
use super::tally::Tally;
use super::transport::Transport;

/// How much is read from a socket at a time.
pub(super) const READ_BYTES: usize = 64 << 10;

/// After so many looks for operation ids on disk, other connections have their turn.
const DISK_READS_PER_TURN_MAX: u64 = 16;

/// How often a socket is read before other connections get their turn.
const READS_PER_TURN_MAX: usize = 4;

/// The input buffer that an idle connection keeps.
const INPUT_BYTES_KEPT: usize = 4 << 10;

/// While this many answers of other partitions are pending, nothing more is read.
const AWAITED_MAX: usize = 256;

/// While this many bytes of replies are unsent, nothing more is read: a caller that does not read is not
/// served.
const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// How often messages of channels are written before other connections get their turn.
const FLUSHES_OF_NEWS_MAX: usize = 8;

/// How often a socket that took nothing more is tried again, whether or not the system has announced that it would.
const TRY_INTERVAL: Duration = Duration::from_secs(1);

/// How long a caller may take to authenticate.
const LOGIN_MAX: Duration = Duration::from_secs(10);

/// How long a request may take to arrive once it has begun.
const REQUEST_MAX: Duration = Duration::from_secs(30);

/// A caller's socket and its state.
pub(super) struct Connection {
    socket: Transport,
    session: Session,
    opened_at: Instant,
    output: Output,
    input: Vec<u8>,
    parser: Parser,
    /// The offset at which the next request begins.
    at: usize,
    is_readable: bool,
    /// The caller sends nothing more; what it sent before must still be read.
    is_read_closed: bool,
    /// The bytes read so far contain no further complete request.
    is_starved: bool,
    /// When the request that has not arrived whole began.
    unfinished_since: Option<Instant>,
    /// Whether a request has arrived whole before.
    has_asked: bool,
    /// How much of it had arrived, and since when nothing more has.
    arrived: (usize, Instant),
    /// No more requests are accepted; pending replies are still sent.
    is_closing: bool,
    clogged_since: Option<Instant>,
    /// When its socket last took nothing more.
    blocked_at: Instant,
    /// The socket may accept more bytes.
    is_writable: bool,
    /// Whether the loop visits the connection in each turn.
    pub(super) is_active: bool,
    _place: ConnectionPlace,
}

impl Connection {
    pub(super) fn new(
        socket: Transport,
        address: IpAddr,
        shared: &RespShared,
        place: ConnectionPlace,
    ) -> Self {
        Self {
            socket,
            session: Session::new(shared, address),
            opened_at: Instant::now(),
            output: Output::default(),
            input: Vec::new(),
            parser: Parser::default(),
            at: 0,
            is_readable: false,
            is_read_closed: false,
            is_starved: true,
            unfinished_since: None,
            has_asked: false,
            arrived: (0, Instant::now()),
            is_closing: false,
            clogged_since: None,
            blocked_at: Instant::now(),
            is_writable: true,
            is_active: false,
            _place: place,
        }
    }

    pub(super) fn socket(&mut self) -> &mut TcpStream {
        self.socket.socket()
    }

    pub(super) fn set_readable(&mut self) {
        self.is_readable = true;
    }

    pub(super) fn set_writable(&mut self) {
        self.is_writable = true;
    }

    /// The end of the caller's input is in the socket, and the system announces it only once.
    pub(super) fn set_read_closed(&mut self) {
        self.is_read_closed = true;
    }

    /// Whether a turn may find requests without the socket announcing anything new.
    pub(super) fn is_pending(&self) -> bool {
        !self.is_closing && (self.is_readable || self.has_buffered()) && self.may_ask()
    }

    /// Whether the caller reads its replies as fast as it sends requests.
    fn may_ask(&self) -> bool {
        let awaits = self.session.is_waiting() || self.session.awaited() >= AWAITED_MAX;
        self.output.bytes() < OUTPUT_BYTES_MAX && !awaits
    }

    /// Whether there is work for it other than waiting for the socket.
    pub(super) fn is_busy(&self) -> bool {
        self.is_pending() || self.is_closing || self.owes()
    }

    /// Whether there are bytes that the parser has not yet found incomplete.
    fn has_buffered(&self) -> bool {
        self.at < self.input.len() && !self.is_starved
    }

    /// Serves requests while the owner has room and the caller reads its replies, until other connections
    /// must get their turn. Input passes through `scratch`, so that an idle connection keeps no buffer for
    /// it.
    ///
    /// # Errors
    /// When the connection is broken or the caller has closed it.
    pub(super) fn serve(
        &mut self,
        around: &mut Around<'_>,
        token: usize,
        scratch: &mut [u8],
    ) -> io::Result<()> {
        for _ in 0..READS_PER_TURN_MAX {
            self.serve_buffered(around, token)?;
            if !self.is_pending() || self.has_buffered() || !around.local.has_room() {
                return Ok(());
            }
            self.fill(scratch)?;
        }
        self.serve_buffered(around, token)
    }

    fn serve_buffered(&mut self, around: &mut Around<'_>, token: usize) -> io::Result<()> {
        let reads_max = around.local.disk_reads() + DISK_READS_PER_TURN_MAX;
        while !self.is_closing && around.local.has_room() && self.may_ask() {
            let limits = if self.session.is_authenticated() { LIMITS } else { LIMITS_BEFORE_AUTH };
            match self.parser.read(&self.input[self.at..], limits) {
                Ok(ParseProgress::Incomplete) => {
                    self.compact();
                    self.is_starved = true;
                    if self.input.is_empty() {
                        self.unfinished_since = None;
                    } else {
                        self.unfinished_since.get_or_insert_with(Instant::now);
                    }
                    if self.arrived.0 != self.input.len() {
                        self.arrived = (self.input.len(), Instant::now());
                    }
                    return Ok(());
                }
                Ok(ParseProgress::Complete(bytes)) => {
                    self.unfinished_since = None;
                    self.has_asked = true;
                    let request = &self.input[self.at..self.at + bytes];
                    let mut turn = Turn::of(around, &mut self.output, token);
                    let flow = handle(&mut self.session, request, self.parser.words(), &mut turn);
                    self.parser.reset();
                    self.at += bytes;
                    self.is_closing = flow == Flow::Close;
                    if flow == Flow::Yield || around.local.disk_reads() >= reads_max {
                        return Ok(());
                    }
                }
                Err(ProtocolError::Foreign) => return Err(io::ErrorKind::InvalidData.into()),
                Err(ProtocolError::Malformed(reason)) => {
                    let text = format!("Protocol error: {reason}");
                    self.output.reply(0, self.session.protocol, |replies| replies.error("ERR", &text));
                    self.is_closing = true;
                }
            }
        }
        Ok(())
    }

    /// Moves an incomplete request to the front of the buffer.
    fn compact(&mut self) {
        if self.at > 0 {
            self.input.drain(..self.at);
            self.at = 0;
        }
        if self.input.is_empty() && self.input.capacity() > INPUT_BYTES_KEPT {
            self.input = Vec::new();
        }
    }

    fn fill(&mut self, scratch: &mut [u8]) -> io::Result<()> {
        match self.socket.read(scratch) {
            Ok(0) => {
                // A caller that only stopped sending still receives its pending replies.
                self.is_closing = true;
                Ok(())
            }
            Ok(count) => {
                self.input.extend_from_slice(&scratch[..count]);
                self.is_starved = false;
                // Otherwise the socket is empty and will announce the next bytes.
                self.is_readable = self.socket.may_have_more(count, scratch.len()) || self.is_read_closed;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.is_readable = false;
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Sends the replies that may be sent. Returns whether to keep the connection.
    pub(super) fn flush(&mut self, durable: u64, now: Instant) -> bool {
        let mut flushes = 0;
        while self.has_news_to_send() && flushes < FLUSHES_OF_NEWS_MAX {
            self.session.tell_news(&mut self.output);
            let Ok(sent) = self.send(durable) else { return false };
            self.is_writable = !sent.is_blocked;
            flushes += 1;
        }
        if self.is_writable || now - self.blocked_at > TRY_INTERVAL {
            let Ok(sent) = self.send(durable) else { return false };
            self.is_writable = !sent.is_blocked;
            if sent.is_blocked {
                self.blocked_at = now;
            }
            if sent.any {
                self.clogged_since = None;
            }
        }
        if self.output.is_clogged(durable) || self.socket.unsent_bytes() > 0 {
            self.clogged_since.get_or_insert(now);
        } else {
            self.clogged_since = None;
        }
        if self.is_closing && self.output.is_empty() {
            self.socket.end();
            return self.socket.unsent_bytes() > 0;
        }
        true
    }

    fn send(&mut self, durable: u64) -> io::Result<Sent> {
        let had_unsent = self.socket.unsent_bytes() > 0;
        let mut sent = self.output.send(durable, &mut self.socket)?;
        match self.socket.flush() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sent.is_blocked = true,
            flushed => {
                flushed?;
                sent.any |= had_unsent;
            }
        }
        Ok(sent)
    }

    /// Whether the caller has taken none of the replies that wait for it for longer than it may.
    pub(super) fn has_stalled(&self, now: Instant, max: Duration) -> bool {
        self.clogged_since.is_some_and(|since| now - since > max)
    }

    /// Whether replies are waiting for the batch or the socket.
    pub(super) fn owes(&self) -> bool {
        !self.output.is_empty() || self.socket.unsent_bytes() > 0 || self.has_news()
    }

    /// Whether messages of channels wait that its caller may still get.
    fn has_news(&self) -> bool {
        self.session.has_news() && !self.is_closing
    }

    /// Whether a turn sends such messages although the socket announces nothing.
    pub(super) fn has_news_to_send(&self) -> bool {
        self.has_news() && self.is_writable && self.output.bytes() < WAITING_BYTES_MAX
    }

    /// Whether no more requests are accepted from the caller.
    pub(super) fn is_ended(&self) -> bool {
        self.is_closing
    }

    /// Whether the caller had enough time to authenticate, or to finish a request, and has not done so.
    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        let is_stranger = !self.session.is_authenticated() && now - self.opened_at > LOGIN_MAX;
        // What it sent and was not read yet is not the caller's delay.
        let begun = [self.unfinished_since, self.socket.begun().map(|begun| begun.at)];
        let is_slow = begun.into_iter().flatten().any(|since| now - since > REQUEST_MAX);
        is_stranger || is_slow && !self.is_readable
    }

    /// Whether an earlier request was whole and since when nothing more has arrived of this one, which is not; and
    /// the memory that it takes.
    pub(super) fn unfinished(&self) -> Option<((bool, Instant), usize)> {
        let begun = self.socket.begun();
        if self.unfinished_since.is_none() && begun.is_none() {
            return None;
        }
        let arrived_at = begun.map_or(self.arrived.1, |begun| begun.arrived_at.max(self.arrived.1));
        let bytes = self.input.capacity() + begun.map_or(0, |begun| begun.bytes);
        Some(((self.has_asked, arrived_at), bytes))
    }

    /// Whether its caller may not go on although it was admitted.
    pub(super) fn is_over(&self, access: &Access) -> bool {
        self.session.is_over(access)
    }

    /// Takes no more requests. Pending replies are still sent.
    pub(super) fn end(&mut self) {
        self.is_closing = true;
    }

    /// The memory that it takes because the caller does not read its replies.
    pub(super) fn unread_bytes(&self) -> u64 {
        if self.is_clogged() {
            (self.output.held_bytes() + self.socket.unsent_bytes() + self.input.capacity()) as u64
        } else {
            0
        }
    }

    /// Since when it has taken none of the replies that wait for it.
    pub(super) const fn clogged_since(&self) -> Option<Instant> {
        self.clogged_since
    }

    /// The caller's address.
    pub(super) fn peer(&self) -> IpAddr {
        self.session.address
    }

    pub(super) fn is_clogged(&self) -> bool {
        self.clogged_since.is_some()
    }

    pub(super) fn arrive(&mut self, arrived: Arrived, tally: &Tally) {
        if arrived.session == self.session.id {
            self.session.arrive(arrived, &mut self.output, tally);
        }
    }

    /// Replaces replies that will never be durable with errors, and accepts no more requests.
    pub(super) fn fail(&mut self, durable: u64, reason: &str) {
        self.output.fail(durable, self.session.protocol, reason);
        self.is_closing = true;
        self.is_writable = true;
    }
}

/// Most requests have no more words than this.
const WORDS_USUAL: usize = 16;

/// Handles the words of one request.
fn handle(session: &mut Session, request: &[u8], words: &[Range<usize>], turn: &mut Turn<'_>) -> Flow {
    let text = |word: &Range<usize>| &request[word.clone()];
    if words.len() > WORDS_USUAL {
        let words: Vec<&[u8]> = words.iter().map(text).collect();
        return session.handle(&words, turn);
    }
    let mut usual: [&[u8]; WORDS_USUAL] = [&[]; WORDS_USUAL];
    // By index, which is faster than to go through both together.
    for (at, word) in words.iter().enumerate() {
        usual[at] = text(word);
    }
    session.handle(&usual[..words.len()], turn)
}
