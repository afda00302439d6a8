use crate::outcome::{Refusal, Verdict};
use crate::state::State;
use crate::types::{Id, TimeMs};

pub(crate) fn campaign(_: &State, _: &Id, _: TimeMs) -> Verdict {
    Err(Refusal::invalid("command", "is not available"))
}

pub(crate) fn claim(_: &State, _: &Id, _: &Id) -> Verdict {
    Err(Refusal::invalid("command", "is not available"))
}
