//! A group of messages whose delivery is awaited together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Why messages were not delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// The message of librdkafka.
    pub(crate) reason: String,
    /// Whether a message is larger than the limit.
    pub(crate) is_too_large: bool,
}

/// Called once, when all messages were delivered or failed.
type Done = Box<dyn FnOnce(Result<(), Cause>) + Send>;

/// Counts the messages in flight.
pub(crate) struct Ticket {
    left: AtomicUsize,
    cause: Mutex<Option<Cause>>,
    done: Mutex<Option<Done>>,
}

impl Ticket {
    /// A ticket for this many messages.
    pub(crate) fn new(messages: usize, done: impl FnOnce(Result<(), Cause>) + Send + 'static) -> Self {
        Self {
            left: AtomicUsize::new(messages),
            cause: Mutex::default(),
            done: Mutex::new(Some(Box::new(done))),
        }
    }

    /// How many are still in flight.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Acquire)
    }

    /// Notes that one was delivered.
    pub(crate) fn delivered(&self) {
        self.count(1);
    }

    /// Notes that this many failed, the first of them for this cause.
    pub(crate) fn failed(&self, messages: usize, cause: Cause) {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cause);
        self.count(messages);
    }

    /// Removes this many messages that were never sent.
    pub(crate) fn withdraw(&self, messages: usize) {
        self.count(messages);
    }

    fn count(&self, messages: usize) {
        if messages == 0 || self.left.fetch_sub(messages, Ordering::AcqRel) != messages {
            return;
        }
        let cause = self.cause.lock().unwrap_or_else(PoisonError::into_inner).take();
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(done) = done {
            done(cause.map_or(Ok(()), Err));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    fn ticket(messages: usize) -> (Ticket, mpsc::Receiver<Result<(), Cause>>) {
        let (sender, receiver) = mpsc::channel();
        (Ticket::new(messages, move |result| sender.send(result).expect("a listener")), receiver)
    }

    #[test]
    fn it_is_done_with_the_last_message_and_not_before() {
        let (ticket, done) = ticket(2);
        ticket.delivered();
        assert!(done.try_recv().is_err());
        assert_eq!(ticket.left(), 1);
        ticket.delivered();
        assert_eq!(done.try_recv(), Ok(Ok(())));
    }

    #[test]
    fn the_first_cause_is_told() {
        let (ticket, done) = ticket(3);
        let cause = |reason: &str| Cause { reason: reason.to_owned(), is_too_large: false };
        ticket.failed(1, cause("first"));
        ticket.failed(1, cause("second"));
        ticket.delivered();
        assert_eq!(done.try_recv(), Ok(Err(cause("first"))));
    }
}
