//! Promises that every demonstration judges: every acknowledged operation is in the log exactly once, despite
//! repetitions and requests in flight during the crash, and the log yields the same state again.

use redis::Value;
use serde_json::json;

use super::ask::CallerAnswer;
use super::crowd::Crowd;
use super::log::{Effect, Effects, Log};
use super::proof::{Proof, grouped};
use super::record::{Known, Record};

/// What every demonstration compares: what the crowd was told, and the log.
pub(super) struct Told<'a, C: Crowd> {
    pub(super) record: &'a Record<C>,
    pub(super) log: &'a Log,
    /// The digest before and after a restart.
    pub(super) digests: [String; 2],
}

impl<C: Crowd> Told<'_, C> {
    /// Compares what the crowd was told with the effects in the log; `effect` gives the effect that an answer
    /// promises, if any.
    pub(super) fn judge_by_effects(
        &self,
        proof: &mut Proof,
        effects: &Effects,
        effect: impl Fn(&C::Deed, &CallerAnswer) -> Option<Effect>,
    ) {
        let untold = self.count_untold(effects.ids());
        self.judge(proof, effects.twice(), untold, |id, known, answer| {
            effect(&known.ask.deed, answer).is_none_or(|effect| effects.has(id, &effect))
        });
    }

    /// Judges what the crowd was told, given that `twice` operations took effect more than once and `untold`
    /// without anyone being told; `is_in_log` looks up an acknowledged operation.
    pub(super) fn judge(
        &self,
        proof: &mut Proof,
        twice: usize,
        untold: usize,
        is_in_log: impl Fn(&str, &Known<C::Deed>, &CallerAnswer) -> bool,
    ) {
        self.judge_durability(proof, is_in_log);
        self.judge_single_effect(proof, twice);
        self.judge_answers(proof, untold);
        self.judge_flight(proof);
    }

    /// How many of the operations had an effect that their callers were not told of.
    pub(super) fn count_untold<'b>(&self, ids: impl Iterator<Item = &'b String>) -> usize {
        let is_told =
            |id: &&String| self.record.known.get(*id).is_some_and(|known| known.applied().is_some());
        ids.filter(|id| !is_told(id)).count()
    }

    /// Everything acknowledged is in the log, according to `is_in_log`.
    fn judge_durability(
        &self,
        proof: &mut Proof,
        is_in_log: impl Fn(&str, &Known<C::Deed>, &CallerAnswer) -> bool,
    ) {
        let (mut acknowledged, mut missing) = ([0_u64; 2], [0_u64; 2]);
        for (id, known) in &self.record.known {
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

    /// No id took effect more than once; `twice` did.
    fn judge_single_effect(&self, proof: &mut Proof, twice: usize) {
        let Record { repeats, doubles, lost, .. } = self.record;
        let again = lost.len();
        let text = format!(
            "{twice} ids took effect twice; {} were repeated, {} sent twice at once, {again} asked again after the kill",
            grouped(*repeats),
            grouped(*doubles)
        );
        let figures = json!({ "applied_twice": twice, "repeated": repeats, "sent_twice_at_once": doubles, "asked_again": again });
        proof.judge("one id, one effect", twice == 0, text, figures);
    }

    /// No id got two different answers, and no effect happened without an answer: `untold` effects in the log
    /// did.
    fn judge_answers(&self, proof: &mut Proof, untold: usize) {
        let changed = self.record.changed.len();
        let text = format!(
            "{changed} ids were answered otherwise later; {untold} effects that nobody was told of; {} answers",
            grouped(self.record.answers)
        );
        let figures = json!({ "changed": changed, "effects_nobody_was_told_of": untold, "answers": self.record.answers });
        proof.judge("one id, one answer", changed == 0 && untold == 0, text, figures);
    }

    /// Requests in flight when the server died: each id was asked again and is now known.
    fn judge_flight(&self, proof: &mut Proof) {
        let Self { record, log, .. } = self;
        let lost = &record.lost;
        let commands: u64 = lost.values().sum();
        let is_known = |id: &String| record.known.get(id).is_some_and(|known| known.answers > 0);
        let unknown = lost.keys().filter(|id| !is_known(id)).count();
        let logged = |before: bool| lost.keys().filter(|id| log.operations.get(*id) == Some(&before)).count();
        let (survived, again) = (logged(true), logged(false));
        let refused = lost.len() - survived - again;
        let text = format!(
            "{commands} commands under {} ids: {survived} had been logged, {again} were logged when asked again, {refused} refused, {unknown} unknown",
            lost.len()
        );
        let figures = json!({
            "commands": commands, "ids": lost.len(), "logged_before_kill": survived,
            "logged_when_asked_again": again, "refused": refused, "unknown": unknown,
        });
        proof.judge("in flight at the kill", unknown == 0, text, figures);
    }

    /// Judges the log: it has every sequence exactly once, and a restart folds it to the same state.
    pub(super) fn judge_log(&self, proof: &mut Proof) {
        let (events, gaps) = (self.log.events.len() as u64, self.log.gaps);
        let text = format!("{} events, {gaps} gaps, across the kill", grouped(events));
        proof.judge("the log has no gaps", gaps == 0, text, json!({ "events": events, "gaps": gaps }));
        let [before, after] = &self.digests;
        let text = if before == after {
            format!("{before} before and after a restart")
        } else {
            format!("{before}, then {after}")
        };
        let figures = json!({ "before": before, "after": after });
        proof.judge("replay gives the same state", before == after, text, figures);
    }
}

/// The numbers of an answer that was never given, for falsification.
pub(super) fn invented(figures: &[i64]) -> CallerAnswer {
    CallerAnswer::Applied(figures.iter().map(|figure| Value::Int(*figure)).collect())
}
