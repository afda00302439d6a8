use crate::outcome::{Refusal, Verdict};
use crate::state::State;
use crate::types::{Id, Positive, TimeMs};

pub(crate) fn market(_: &State, _: &Id) -> Verdict {
    Err(Refusal::invalid("command", "is not available"))
}

pub(crate) fn depth(_: &State, _: &Id, _: Positive) -> Verdict {
    Err(Refusal::invalid("command", "is not available"))
}

pub(crate) fn order(_: &State, _: &Id, _: &Id, _: TimeMs) -> Verdict {
    Err(Refusal::invalid("command", "is not available"))
}
