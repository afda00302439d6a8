//! Lists of resources over all partitions.

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
}
