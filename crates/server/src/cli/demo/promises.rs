//! Promises that every demonstration judges: what was acknowledged is in the log, once, whatever
//! was asked twice or was on the way in the crash, and the log gives the same state again.

use redis::Value;
use serde_json::json;

use super::ask::Answer;
use super::crowd::Crowd;
use super::log::{Effect, Effects, Log};
use super::proof::{Proof, grouped};
use super::record::{Known, Record};

/// Whatever was acknowledged stands in the log; `is_in_log` looks.
pub(super) fn judge_durability<C: Crowd>(
    proof: &mut Proof,
    record: &Record<C>,
    is_in_log: impl Fn(&str, &Known<C::Deed>, &Answer) -> bool,
) {
    let (mut acknowledged, mut missing) = ([0_u64; 2], [0_u64; 2]);
    for (id, known) in &record.known {
        let Some(answer) = known.applied() else { continue };
        let after = usize::from(known.life > 1);
        acknowledged[after] += 1;
        missing[after] += u64::from(!is_in_log(id, known, answer));
    }
    let text = format!(
        "{} before the kill, {} missing; {} after it, {} missing",
        grouped(acknowledged[0]),
        missing[0],
        grouped(acknowledged[1]),
        missing[1]
    );
    let figures = json!({
        "acknowledged_before_kill": acknowledged[0], "missing_before_kill": missing[0],
        "acknowledged_after_kill": acknowledged[1], "missing_after_kill": missing[1],
    });
    proof.judge("acknowledged is durable", missing == [0, 0], text, figures);
}

/// Whether an operation had this effect among its effects.
pub(super) fn has_effect(effects: &Effects, id: &str, told: &Effect) -> bool {
    effects.get(id).is_some_and(|effects| effects.contains(told))
}

/// How many operations had more than one effect.
pub(super) fn done_twice(effects: &Effects) -> usize {
    effects.values().filter(|effects| effects.len() > 1).count()
}

/// No id took effect more than once; `twice` did.
pub(super) fn judge_single_effect<C: Crowd>(proof: &mut Proof, record: &Record<C>, twice: usize) {
    let Record { repeats, doubles, lost, .. } = record;
    let again = lost.len();
    let text = format!(
        "{twice} ids took effect twice; {} were repeated, {} sent twice at once, {again} asked again after the kill",
        grouped(*repeats),
        grouped(*doubles)
    );
    let figures = json!({ "applied_twice": twice, "repeated": repeats, "sent_twice_at_once": doubles, "asked_again": again });
    proof.judge("one id, one effect", twice == 0, text, figures);
}

/// No id was answered in two ways, and nothing was done of which nobody was told: `untold` effects
/// of the log were.
pub(super) fn judge_answers<C: Crowd>(proof: &mut Proof, record: &Record<C>, untold: usize) {
    let changed = record.changed.len();
    let text = format!(
        "{changed} ids were answered otherwise later; {untold} effects that nobody was told of; {} answers",
        grouped(record.answers)
    );
    let figures =
        json!({ "changed": changed, "effects_nobody_was_told_of": untold, "answers": record.answers });
    proof.judge("one id, one answer", changed == 0 && untold == 0, text, figures);
}

/// How many operations of the crowd had an effect that their callers were not told of.
pub(super) fn untold<C: Crowd>(record: &Record<C>, effects: &Effects) -> usize {
    let is_told = |id: &String| record.known.get(id).is_some_and(|known| known.applied().is_some());
    effects.keys().filter(|id| !is_told(id)).count()
}

/// What was on the way when the server died: each id was asked again, and is now known.
pub(super) fn judge_flight<C: Crowd>(proof: &mut Proof, record: &Record<C>, log: &Log) {
    let lost = &record.lost;
    let commands: u64 = lost.values().sum();
    let is_known = |id: &String| record.known.get(id).is_some_and(|known| known.answers > 0);
    let unknown = lost.keys().filter(|id| !is_known(id)).count();
    let logged = |before: bool| lost.keys().filter(|id| log.operations.get(*id) == Some(&before)).count();
    let (survived, again) = (logged(true), logged(false));
    let refused = lost.len() - survived - again;
    let text = format!(
        "{commands} commands under {} ids: {survived} had been logged, {again} were when asked again, {refused} refused, {unknown} unknown",
        lost.len()
    );
    let figures = json!({
        "commands": commands, "ids": lost.len(), "logged_before_kill": survived,
        "logged_when_asked_again": again, "refused": refused, "unknown": unknown,
    });
    proof.judge("in flight at the kill", unknown == 0, text, figures);
}

/// The log has every sequence once.
pub(super) fn judge_log(proof: &mut Proof, log: &Log) {
    let (events, gaps) = (log.events.len() as u64, log.gaps);
    let text = format!("{} events, {gaps} gaps, across the kill", grouped(events));
    proof.judge("the log has no gaps", gaps == 0, text, json!({ "events": events, "gaps": gaps }));
}

/// A restart folds the log to the same state.
pub(super) fn judge_replay(proof: &mut Proof, [before, after]: &[String; 2]) {
    let text = if before == after {
        format!("{before} before and after a restart")
    } else {
        format!("{before}, then {after}")
    };
    let figures = json!({ "before": before, "after": after });
    proof.judge("replay gives the same state", before == after, text, figures);
}

/// The figures of an answer that was never given; for those who falsify.
pub(super) fn invented(figures: &[i64]) -> Answer {
    Answer::Applied(figures.iter().map(|figure| Value::Int(*figure)).collect())
}
