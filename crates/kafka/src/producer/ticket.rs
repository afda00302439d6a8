//! Several messages whose delivery is waited for together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Why messages were not delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// What librdkafka says.
    pub(crate) reason: String,
    /// Whether one of them is larger than is taken.
    pub(crate) is_too_large: bool,
}

/// What is called once, when the fate of all messages is known.
type Done = Box<dyn FnOnce(Result<(), Cause>) + Send>;

/// Counts the messages that are still under way.
pub(crate) struct Ticket {
    left: AtomicUsize,
    cause: Mutex<Option<Cause>>,
    done: Mutex<Option<Done>>,
}

impl Ticket {
    /// For so many messages.
    pub(crate) fn new(messages: usize, done: impl FnOnce(Result<(), Cause>) + Send + 'static) -> Self {
        Self {
            left: AtomicUsize::new(messages),
            cause: Mutex::default(),
            done: Mutex::new(Some(Box::new(done))),
        }
    }

    /// How many are still under way.
    pub(crate) fn left(&self) -> usize {
        self.left.load(Ordering::Acquire)
    }

    /// One was delivered.
    pub(crate) fn delivered(&self) {
        self.count(1);
    }

    /// So many were not, the first of them for this cause.
    pub(crate) fn failed(&self, messages: usize, cause: Cause) {
        self.cause.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(cause);
        self.count(messages);
    }

    /// So many were never sent, and are no longer waited for.
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
