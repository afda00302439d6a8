//! What every partition is asked: lists of resources, digests of all.

use std::sync::{Arc, Mutex, PoisonError};

use scarce_engine::Request;
use scarce_gateway::lists::ListAsked;

use super::form::Form;
use super::session::{Session, Turn};

impl Session {
    /// Asks every partition for a list, unless the caller is shown nothing of it.
    pub(super) fn list(&mut self, asked: ListAsked, turn: &mut Turn<'_>) {
        let requests = asked.requests();
        if requests.is_empty() {
            let outcome = asked.join(std::iter::empty());
            return self.refuse(outcome, &Form::Command(asked.spec()), turn);
        }
        let form = Form::List(Box::new(asked));
        match (turn.shared.engine.partitions(), requests.as_slice()) {
            (1, [request]) => self.submit(0, request.clone(), form, turn),
            _ => self.ask_all(&requests, form, turn),
        }
    }

    /// Asks every partition the same, and answers when all have.
    pub(super) fn ask_all(&mut self, requests: &[Request], form: Form, turn: &mut Turn<'_>) {
        let partitions = turn.shared.engine.partitions();
        if partitions == 1 {
            return self.leave(0, requests.to_vec(), form, turn);
        }
        let (ticket, reply) = self.expect(form, turn);
        self.aside = Some(ticket);
        let wake = turn.mailbox.wake.clone();
        let gathered = Arc::new(Mutex::new((vec![Vec::new(); partitions as usize], partitions)));
        let reply = Arc::new(reply);
        for partition in 0..partitions {
            let (gathered, reply, wake) = (gathered.clone(), reply.clone(), wake.clone());
            let add = move |answers| {
                let mut gathered = gathered.lock().unwrap_or_else(PoisonError::into_inner);
                gathered.0[partition as usize] = answers;
                gathered.1 -= 1;
                if gathered.1 == 0 {
                    reply(ticket, std::mem::take(&mut gathered.0).concat());
                    wake();
                }
            };
            turn.shared.engine.submit(partition, requests.to_vec(), Box::new(add));
        }
    }
}
