//! What the caller of a connection may do, by its key.

use scarce_access::{Lack, Need};
use scarce_core::command::{Body, Command, CommandSpec, Common};
use scarce_engine::scripts::{Among, ScriptAnswer, ScriptFailure};
use scarce_gateway::{Access, Caller, Denied};
use scarce_limits::rooms::NotAdmitted;

use super::documents::{self, Control, Needs};
use super::form::Form;
use super::limits::Beyond;
use super::reply::Replies;
use super::session::{Flow, Session, Turn};

/// Why a caller may not send a command.
#[derive(Debug)]
pub(super) enum Unfit {
    /// What its key lacks, and for which command.
    Lacks(Lack, &'static str),
    Beyond(Beyond),
    /// The waiting room that guards what it takes from.
    Waits(Box<NotAdmitted>),
}

impl Session {
    /// Whether it is known who the caller is.
    #[inline]
    pub(super) const fn is_authenticated(&self) -> bool {
        self.caller.is_some()
    }

    /// Whether the caller's requests must be checked, or have a namespace.
    #[inline]
    pub(super) fn is_limited(&self) -> bool {
        self.caller.as_ref().is_none_or(Caller::is_limited)
    }

    /// Whether the caller may not go on although it was admitted.
    pub(super) fn is_over(&self, access: &Access) -> bool {
        self.caller.as_ref().is_some_and(|caller| !access.still_admits(caller))
    }

    /// Whether the caller may send what is not in the command table.
    pub(super) fn may(&self, control: &Control, arguments: &[&[u8]]) -> Result<(), Lack> {
        let Some(caller) = &self.caller else { return Ok(()) };
        let Some((need, id)) = control.needs.of(arguments) else { return Ok(()) };
        if matches!(control.needs, Needs::Digest(_) | Needs::Some(_)) && caller.may_some(need) {
            return Ok(());
        }
        caller.check_need(need, id.as_deref(), control.name)
    }

    /// The caller of a script by its digest, if it may not call all scripts.
    pub(super) fn by_digest(&self, name: &str) -> Option<ByDigest> {
        let (caller, control) = (self.caller.clone()?, documents::control(name)?);
        let (Needs::Digest(_), Some((need, _))) = (control.needs, control.needs.of(&[])) else { return None };
        (!caller.may(need)).then_some(ByDigest { caller, need, request: control.name })
    }

    /// Whether the caller may send a command.
    pub(super) fn check(&self, spec: &CommandSpec, command: &Command) -> Result<(), Lack> {
        self.caller.as_ref().map_or(Ok(()), |caller| caller.check(spec, command))
    }

    /// Whether the caller may send a command that was read, and may send so many.
    ///
    /// # Errors
    /// What its key lacks, or the limit that it goes beyond.
    #[inline]
    pub(super) fn admit(&self, spec: &CommandSpec, command: &Command, turn: &Turn<'_>) -> Result<(), Unfit> {
        self.check(spec, command).map_err(|lack| Unfit::Lacks(lack, spec.name))?;
        self.count_read(spec, command, turn).map_err(Unfit::Beyond)?;
        self.check_rooms(command, turn).map_err(Unfit::Waits)
    }

    /// Says why the caller may not send a command. A batch that it is in is refused, too.
    pub(super) fn turn_away(&mut self, unfit: &Unfit, turn: &mut Turn<'_>) -> Flow {
        self.abort_transaction();
        match unfit {
            Unfit::Lacks(lack, request) => self.lacking(lack, request, turn),
            Unfit::Beyond(refused) => return self.beyond(refused, turn),
            Unfit::Waits(refused) => return self.not_admitted(refused, turn),
        }
        Flow::Continue
    }

    /// The namespace of the caller's operation ids.
    pub(super) fn namespace(&self) -> &str {
        self.caller.as_ref().map_or("", Caller::namespace)
    }

    /// Says what the caller's key lacks for a request.
    pub(super) fn lacking(&self, lack: &Lack, request: &str, turn: &mut Turn<'_>) {
        self.deny(request, "LACKS_SCOPE", Some(&lack.to_string()), turn);
        self.say(turn, |replies| refuse(replies, lack));
    }

    /// Records that the caller is turned away.
    pub(super) fn deny(&self, what: &str, outcome: &'static str, detail: Option<&str>, turn: &Turn<'_>) {
        let denied = Denied { what, outcome, detail };
        turn.shared.access.deny(self.caller.as_ref(), self.address, denied);
    }

    /// The form of an answer that is recorded, too, if there are administrative commands in what is sent.
    pub(super) fn audited(&self, common: &Common, body: &Body, form: Form, turn: &Turn<'_>) -> Form {
        let access = &turn.shared.access;
        let commands = body.commands().iter();
        match access.acts(self.caller.as_ref(), self.address, commands, common.operation.as_ref()) {
            Some(acts) => Form::Audited(acts, form.into()),
            None => form,
        }
    }

    /// Records that the caller asks for what its row calls an act. What it is answered waits for that.
    pub(super) fn note_control(&mut self, control: &Control, arguments: &[&[u8]], turn: &mut Turn<'_>) {
        let Some(what) = control.acts.of(control.name, arguments) else { return };
        let act = turn.shared.access.other_act(self.caller.as_ref(), self.address, &what, "REQUESTED");
        if let Some(noted) = act {
            noted.then(self.hold_back(turn));
        }
    }
}

/// Says what a key lacks.
pub(super) fn refuse(replies: &mut Replies<'_>, lack: &Lack) {
    let text = format!("this key lacks the scope {lack}; 'scarce keys show' shows what it has");
    replies.error("NOPERM", &text);
}

/// A caller of a script by its digest, whose key allows some scripts by their names. It learns of no others.
pub(super) struct ByDigest {
    caller: Caller,
    need: Need,
    request: &'static str,
}

impl ByDigest {
    /// The scripts that it may mean.
    pub(super) fn among(&self) -> Among {
        let (caller, need) = (self.caller.clone(), self.need);
        Among::those(move |script| caller.may_with(need, script))
    }

    /// What it lacks if there is no script of the digest among those.
    pub(super) fn lack(&self, answer: &Result<ScriptAnswer, ScriptFailure>) -> Option<Lack> {
        let is_missing = matches!(answer, Err(ScriptFailure::Missing(_)));
        is_missing.then(|| self.caller.check_need(self.need, None, self.request).err()).flatten()
    }
}
