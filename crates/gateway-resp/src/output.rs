//! A connection's unsent replies, in order. Each is held back until the batch it depends on is durable, or
//! until another partition has answered.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::reply::{Protocol, Replies};

#[derive(Debug, PartialEq, Eq)]
enum Until {
    /// The batch of this number is durable.
    Durable(u64),
    /// The answer to this ticket has arrived.
    Answered(u64),
}

#[derive(Debug)]
struct Segment {
    until: Until,
    bytes: Vec<u8>,
    replies: usize,
}

impl Segment {
    /// Whether a reply that may be sent once the batch `after` is durable may join it.
    fn takes_after(&self, after: u64) -> bool {
        matches!(self.until, Until::Durable(own) if own >= after) && self.bytes.len() < SEGMENT_BYTES_MAX
    }
}

/// The maximum spare capacity that is kept for later replies.
const SPARE_BYTES_MAX: usize = 16 << 10;

/// A segment of so many bytes takes no further reply: its memory is released only once all of it is sent, and a caller that reads
/// slowly may always leave some.
const SEGMENT_BYTES_MAX: usize = 64 << 10;

/// The result of sending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Whether anything was sent.
    pub any: bool,
    /// Whether the socket accepts no more; it announces when it does.
    pub is_blocked: bool,
}

/// A connection's replies.
#[derive(Debug, Default)]
pub struct Output {
    segments: VecDeque<Segment>,
    /// How much of the first segment was sent.
    sent: usize,
    spare: Vec<u8>,
    bytes: usize,
}

impl Output {
    /// The number of unsent bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The memory that the unsent replies take.
    pub fn held_bytes(&self) -> usize {
        self.segments.iter().map(|segment| segment.bytes.capacity()).sum()
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Appends a reply that may be sent once the batch `after` is durable.
    pub fn reply(&mut self, after: u64, protocol: Protocol, write: impl FnOnce(&mut Replies<'_>)) {
        let joins = self.segments.back().is_some_and(|last| last.takes_after(after));
        if !joins {
            let bytes = std::mem::take(&mut self.spare);
            self.segments.push_back(Segment { until: Until::Durable(after), bytes, replies: 0 });
        }
        if let Some(segment) = self.segments.back_mut() {
            let before = segment.bytes.len();
            write(&mut Replies::new(&mut segment.bytes, protocol));
            segment.replies += 1;
            self.bytes += segment.bytes.len() - before;
        }
    }

    /// Reserves a slot for a reply that another partition gives.
    pub fn expect(&mut self, ticket: u64) {
        self.segments.push_back(Segment { until: Until::Answered(ticket), bytes: Vec::new(), replies: 1 });
    }

    /// Holds back what follows until the slot for `ticket`, which has no reply, is filled.
    pub fn hold_back(&mut self, ticket: u64) {
        self.segments.push_back(Segment { until: Until::Answered(ticket), bytes: Vec::new(), replies: 0 });
    }

    /// Fills the slot reserved for `ticket`.
    pub fn fulfil(&mut self, ticket: u64, protocol: Protocol, write: impl FnOnce(&mut Replies<'_>)) {
        let place = self.segments.iter_mut().find(|segment| segment.until == Until::Answered(ticket));
        if let Some(segment) = place {
            write(&mut Replies::new(&mut segment.bytes, protocol));
            segment.until = Until::Durable(0);
            self.bytes += segment.bytes.len();
        }
    }

    /// Fills the slot with a reply that is written already.
    pub fn fulfil_with(&mut self, ticket: u64, reply: Vec<u8>) {
        let place = self.segments.iter_mut().find(|segment| segment.until == Until::Answered(ticket));
        if let Some(segment) = place {
            self.bytes += reply.len();
            segment.bytes = reply;
            segment.until = Until::Durable(0);
        }
    }

    /// Replaces every reply whose batch will not become durable with an error.
    pub fn fail(&mut self, durable: u64, protocol: Protocol, reason: &str) {
        for segment in &mut self.segments {
            let kept = matches!(segment.until, Until::Durable(after) if after <= durable);
            if !kept {
                self.bytes -= segment.bytes.len();
                segment.bytes.clear();
                let mut replies = Replies::new(&mut segment.bytes, protocol);
                (0..segment.replies).for_each(|_| replies.error("UNKNOWN", reason));
                segment.until = Until::Durable(0);
                self.bytes += segment.bytes.len();
            }
        }
    }

    /// Sends the replies that may be sent.
    ///
    /// # Errors
    /// When the connection is broken; `WouldBlock` is not an error.
    pub fn send(&mut self, durable: u64, socket: &mut impl Write) -> io::Result<Sent> {
        let mut sent = Sent::default();
        while let Some(segment) = self.segments.front() {
            if !matches!(segment.until, Until::Durable(after) if after <= durable) {
                break;
            }
            match socket.write(&segment.bytes[self.sent..]) {
                Ok(0) if segment.bytes.len() > self.sent => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    sent.any = true;
                    self.sent += count;
                    self.bytes -= count;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    sent.is_blocked = true;
                    break;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            self.drop_sent();
        }
        Ok(sent)
    }

    /// Whether there are sendable replies that the socket did not accept.
    pub fn is_clogged(&self, durable: u64) -> bool {
        matches!(self.segments.front(), Some(Segment { until: Until::Durable(after), .. }) if *after <= durable)
    }

    fn drop_sent(&mut self) {
        if self.segments.front().is_some_and(|segment| segment.bytes.len() == self.sent) {
            if let Some(mut segment) = self.segments.pop_front() {
                segment.bytes.clear();
                // One long reply must not make a connection keep a large buffer.
                if segment.bytes.capacity() <= SPARE_BYTES_MAX {
                    self.spare = segment.bytes;
                }
            }
            self.sent = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes a time, and never all that there are.
    struct Slow(usize);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            if taken == 0 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_was_sent_takes_no_memory_although_something_always_waits() {
        const REPLY_BYTES: usize = 1_000;
        let mut output = Output::default();
        let text = "x".repeat(REPLY_BYTES);
        let write =
            |output: &mut Output| output.reply(0, Protocol::Resp2, |replies| replies.bulk(text.as_bytes()));
        (0..100).for_each(|_| write(&mut output));
        for _ in 0..1_000 {
            let waiting = output.bytes();
            while output.bytes() < 100 * REPLY_BYTES {
                write(&mut output);
            }
            output.send(0, &mut Slow(50 * REPLY_BYTES)).expect("sent");
            assert!(!output.is_empty() && waiting > 0);
            let held_bytes = output.held_bytes();
            assert!(held_bytes < 400 * REPLY_BYTES, "{} bytes wait in {held_bytes} bytes", output.bytes());
        }
    }

    #[test]
    fn replies_leave_in_order_and_not_before_their_batch() {
        let mut output = Output::default();
        output.reply(1, Protocol::Resp2, |replies| replies.integer(1));
        output.expect(7);
        output.reply(2, Protocol::Resp2, |replies| replies.integer(3));
        let mut sent = Vec::new();
        output.send(0, &mut sent).expect("sent");
        assert_eq!(sent, b"");
        output.send(2, &mut sent).expect("sent");
        assert_eq!(sent, b":1\r\n");
        output.fulfil(7, Protocol::Resp2, |replies| replies.integer(2));
        output.send(1, &mut sent).expect("sent");
        assert_eq!(sent, b":1\r\n:2\r\n");
        output.fail(1, Protocol::Resp2, "lost");
        output.send(1, &mut sent).expect("sent");
        assert_eq!(sent, b":1\r\n:2\r\n-UNKNOWN lost\r\n");
        assert!(output.is_empty());
        assert_eq!(output.bytes(), 0);
    }
}
