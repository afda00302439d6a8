//! Slots in a connection's output for replies that come later: from another partition, from a thread beside this one, or once the
//! audit log has a record.

use std::sync::Arc;
use std::time::Instant;

use scarce_engine::Failure;
use scarce_engine::engine::Answers;

use super::aside::Aside;
use super::form::Form;
use super::output::Output;
use super::session::{Arrival, Arrived, Expected, Session, Turn};
use super::tally::Tally;

impl Session {
    /// Has work done beside this thread. The connection's next request waits for it: it may rest on the answer, and
    /// a connection thus has one such piece of work at a time.
    pub(super) fn do_aside(
        &mut self,
        form: Form,
        aside: &Aside,
        work: impl FnOnce() -> Arrival + Send + 'static,
        turn: &mut Turn<'_>,
    ) {
        let ticket = self.reserve(form, turn);
        let (mailbox, token, session) = (turn.mailbox.clone(), turn.token, self.id);
        let job = move || {
            let answer = work();
            // The connection's owner may be gone; then nobody waits.
            let _ = mailbox.sender.send(Arrived { token, session, ticket, answer });
            (mailbox.wake)();
        };
        self.aside = Some(ticket);
        if let Err(queue) = aside.hand_over(Box::new(job)) {
            let answer = Arrival::Answers(vec![Err(Failure::Overloaded { queue })]);
            self.arrive(Arrived { token, session, ticket, answer }, turn.output, turn.tally);
        }
    }

    /// Reserves a slot for a reply that is written on another thread. The connection's next request waits for it.
    pub(super) fn wait_for_writing(&mut self, turn: &mut Turn<'_>) -> impl FnOnce(Vec<u8>) + Send + use<> {
        let ticket = self.reserve(Form::Elsewhere, turn);
        self.aside = Some(ticket);
        let (mailbox, token, session) = (turn.mailbox.clone(), turn.token, self.id);
        move |reply| {
            let answer = Arrival::Written(reply);
            // The connection's owner may be gone; then nobody waits.
            let _ = mailbox.sender.send(Arrived { token, session, ticket, answer });
            (mailbox.wake)();
        }
    }

    /// Holds back the replies that follow until the returned function was called, on any thread.
    pub(super) fn hold_back(&mut self, turn: &mut Turn<'_>) -> impl FnOnce() + Send + use<> {
        self.tickets += 1;
        let ticket = self.tickets;
        turn.output.hold_back(ticket);
        self.expected.push(Expected { ticket, form: Form::Elsewhere, begun: turn.tally.begun() });
        let (mailbox, token, session) = (turn.mailbox.clone(), turn.token, self.id);
        move || {
            let answer = Arrival::Written(Vec::new());
            // The connection's owner may be gone; then nobody waits.
            let _ = mailbox.sender.send(Arrived { token, session, ticket, answer });
            (mailbox.wake)();
        }
    }

    /// Reserves a slot in the output and returns the function that fills it from any thread.
    pub(super) fn expect(
        &mut self,
        form: Form,
        turn: &mut Turn<'_>,
    ) -> (u64, impl Fn(u64, Answers) + Send + Sync + use<>) {
        let ticket = self.reserve(form, turn);
        let (mailbox, token, session) = (turn.mailbox.clone(), turn.token, self.id);
        let reply = move |ticket, answers| {
            let answer = Arrival::Answers(answers);
            // The connection's owner may be gone; then nobody waits.
            let _ = mailbox.sender.send(Arrived { token, session, ticket, answer });
        };
        (ticket, reply)
    }

    /// Reserves a slot in the output.
    fn reserve(&mut self, form: Form, turn: &mut Turn<'_>) -> u64 {
        self.tickets += 1;
        turn.output.expect(self.tickets);
        let form = match self.permit.take() {
            Some(permit) => Form::Held { _permit: Arc::new(permit), form: form.into() },
            None => form,
        };
        self.expected.push(Expected { ticket: self.tickets, form, begun: turn.tally.begun() });
        self.tickets
    }

    /// Fills the slot that was reserved for an answer.
    pub(super) fn arrive(&mut self, arrived: Arrived, output: &mut Output, tally: &Tally) {
        if matches!(arrived.answer, Arrival::News) {
            return self.tell_news(output);
        }
        let Some(at) = self.expected.iter().position(|its| its.ticket == arrived.ticket) else { return };
        let Expected { ticket, form, begun } = self.expected.swap_remove(at);
        self.aside = self.aside.filter(|aside| *aside != ticket);
        match arrived.answer {
            Arrival::Answers(answers) => {
                if let Some(number) = form.number() {
                    tally.note_answer(number, begun, Instant::now());
                }
                output.fulfil(ticket, self.protocol, |replies| form.write(replies, &answers));
            }
            Arrival::Written(reply) => output.fulfil_with(ticket, reply),
            Arrival::News => {}
        }
    }
}
