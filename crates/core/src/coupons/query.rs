use crate::command::table::CouponCheck;
use crate::outcome::{Refusal, Verdict};
use crate::state::State;
use crate::types::{Id, Positive, TimeMs};

pub(crate) fn check(_: &State, _: &CouponCheck, _: TimeMs) -> Verdict {
    Err(Refusal::invalid("command", "is not available"))
}

pub(crate) fn claim(_: &State, _: &Id, _: Positive, _: TimeMs) -> Verdict {
    Err(Refusal::invalid("command", "is not available"))
}

pub(crate) fn coupon(_: &State, _: &Id, _: TimeMs) -> Verdict {
    Err(Refusal::invalid("command", "is not available"))
}
