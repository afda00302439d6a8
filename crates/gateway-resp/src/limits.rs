//! Limits of rate, as callers of the port meet them.

use scarce_core::command::{Command, CommandSpec};
use scarce_limits::{Asker, Permit, Refused};

use super::documents::Control;
use super::session::{Flow, Session, Turn};

/// A refusal by a limit.
pub(super) type Beyond = Box<Refused>;

impl Session {
    fn asker(&self) -> Asker<'_> {
        self.caller
            .as_ref()
            .map_or(Asker { address: self.address, key: None }, |caller| caller.asker(self.address))
    }

    /// Counts a command that was not read yet, unless a limit asks for its resources. Whether it is still to be counted.
    ///
    /// # Errors
    /// The limit that it goes beyond.
    #[inline]
    pub(super) fn count_unread(&self, spec: &CommandSpec, turn: &Turn<'_>) -> Result<bool, Beyond> {
        // The plain way knows no tickets.
        let is_guarded = Self::may_be_guarded(spec, turn);
        match &*turn.shared.access.limiting.get() {
            None => Ok(is_guarded),
            Some(limits) if limits.asks_for_resources(spec) => Ok(true),
            Some(limits) if limits.bounds_progress(spec) => {
                limits.count(self.asker(), spec, None).map(|_| true)
            }
            Some(limits) => limits.count(self.asker(), spec, None).map(|_| is_guarded),
        }
    }

    /// Counts a command that was read, if a limit asks for its resources.
    ///
    /// # Errors
    /// The limit that it goes beyond.
    #[inline]
    pub(super) fn count_read(
        &self,
        spec: &CommandSpec,
        command: &Command,
        turn: &Turn<'_>,
    ) -> Result<(), Beyond> {
        match &*turn.shared.access.limiting.get() {
            Some(limits) if limits.asks_for_resources(spec) => self.count_now(spec, command, turn),
            _ => Ok(()),
        }
    }

    /// Counts a command that was read, and not counted before.
    ///
    /// # Errors
    /// The limit that it goes beyond.
    pub(super) fn count_now(
        &self,
        spec: &CommandSpec,
        command: &Command,
        turn: &Turn<'_>,
    ) -> Result<(), Beyond> {
        match &*turn.shared.access.limiting.get() {
            Some(limits) => limits.count(self.asker(), spec, Some(command)).map(drop),
            None => Ok(()),
        }
    }

    /// Whether it is limited how many commands of a row are in progress.
    #[inline]
    pub(super) fn is_progress_bounded(spec: &CommandSpec, turn: &Turn<'_>) -> bool {
        let limiting = &turn.shared.access.limiting;
        limiting.bounds_progress()
            && limiting.get().as_ref().is_some_and(|limits| limits.bounds_progress(spec))
    }

    /// Lets commands begin that are sent together; they are in progress until their answer is written.
    ///
    /// # Errors
    /// The limit of which too many are in progress.
    pub(super) fn begin<'a>(
        &mut self,
        commands: impl Iterator<Item = &'a Command>,
        turn: &Turn<'_>,
    ) -> Result<(), Beyond> {
        if !turn.shared.access.limiting.bounds_progress() {
            return Ok(());
        }
        if let Some(limits) = &*turn.shared.access.limiting.get() {
            let permit = limits.enter(self.asker(), commands)?;
            self.hold(permit);
        }
        Ok(())
    }

    fn hold(&mut self, permit: Permit) {
        self.permit = Some(permit).filter(|permit| !permit.is_empty());
    }

    /// Counts what is no command of the table, and lets it begin.
    ///
    /// # Errors
    /// The limit that it goes beyond.
    pub(super) fn count_control(
        &mut self,
        control: &Control,
        arguments: &[&[u8]],
        turn: &Turn<'_>,
    ) -> Result<(), Beyond> {
        let limits = turn.shared.access.limiting.get();
        let (Some(limits), Some((need, _))) = (&*limits, control.needs.of(arguments)) else { return Ok(()) };
        let (verb, kind) = need.parts();
        limits.count_other(self.asker(), verb, kind)?;
        let permit = limits.enter_other(self.asker(), verb, kind)?;
        self.hold(permit);
        Ok(())
    }

    /// Says which limit refuses a request, and how long to wait. A batch that it is in is refused, too.
    pub(super) fn beyond(&mut self, refused: &Refused, turn: &mut Turn<'_>) -> Flow {
        self.abort_transaction();
        let (limit, per, wait_ms) = (&refused.limit, refused.per.word(), refused.wait_ms());
        let text = format!(
            "the limit '{limit}' of this {per} is reached; send the command again with the same id after the wait retry_after_ms={wait_ms}"
        );
        self.say(turn, |replies| replies.error("OVERLOADED", &text));
        Flow::Continue
    }
}
