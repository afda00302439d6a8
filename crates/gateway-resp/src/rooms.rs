//! Waiting rooms, as callers of the port meet them: `WAITINGROOM JOIN|GET|SHOW`, and commands that need a ticket.

use scarce_core::command::{Body, Command, CommandSpec, Common};
use scarce_core::outcome::Value;
use scarce_core::types::Id;
use scarce_engine::Failure;
use scarce_gateway::steady_ms;
use scarce_limits::rooms::{NotAdmitted, TICKETS_MAX, Ticket, TicketStatus};

use super::form::Form;
use super::reply::Replies;
use super::session::{Flow, Session, Turn};

impl Session {
    /// Whether a command of a row may need a ticket.
    #[inline]
    pub(super) fn may_be_guarded(spec: &CommandSpec, turn: &Turn<'_>) -> bool {
        let limiting = &turn.shared.access.limiting;
        limiting.has_rooms() && limiting.rooms().as_ref().is_some_and(|rooms| rooms.may_guard(spec))
    }

    /// Whether a command may be sent with the tickets that were shown.
    ///
    /// # Errors
    /// The room that guards it.
    #[inline]
    pub(super) fn check_rooms(&self, command: &Command, turn: &Turn<'_>) -> Result<(), Box<NotAdmitted>> {
        if !turn.shared.access.limiting.has_rooms() {
            return Ok(());
        }
        match &*turn.shared.access.limiting.rooms() {
            Some(rooms) if rooms.may_guard(command.spec()) => {
                rooms.check(command, &self.tickets_shown.iter(), steady_ms())
            }
            _ => Ok(()),
        }
    }

    /// Refuses a command that needs a ticket: as a refusal, or as an error where it is a line of a batch.
    pub(super) fn not_admitted(&mut self, refused: &NotAdmitted, turn: &mut Turn<'_>) -> Flow {
        if self.transaction.is_some() {
            self.refuse_line(turn, &line_of(refused));
            return Flow::Continue;
        }
        self.say(turn, |replies| write_refusal(replies, refused, false));
        Flow::Continue
    }

    /// Refuses a command that needs a ticket, unless it was sent before: then what became of it is told again.
    pub(super) fn refuse_waiting(
        &mut self,
        refused: Box<NotAdmitted>,
        (common, body, form): (Common, Body, Form),
        turn: &mut Turn<'_>,
    ) -> Flow {
        match common.of_duplicate() {
            None => return self.not_admitted(&refused, turn),
            Some(common) => self.write(common, body, Form::Waits(refused, form.into()), turn),
        }
        Flow::Continue
    }

    /// `WAITINGROOM JOIN room user`, `GET ticket` or `SHOW [ticket …]`.
    pub(super) fn waiting_room(&mut self, subcommand: &[u8], rest: &[&[u8]], turn: &mut Turn<'_>) {
        // A place would be given here and at the new address.
        if let Err(failure @ Failure::Migrated { .. }) = turn.shared.engine.check_ready(0) {
            return self.say(turn, |replies| replies.failure(&failure));
        }
        match (subcommand.to_ascii_uppercase().as_slice(), rest) {
            (b"JOIN", [room, user]) => self.join(room, user, turn),
            (b"GET", [ticket]) => self.show_place(ticket, turn),
            (b"SHOW", tickets) => self.show_tickets(tickets, turn),
            _ => self.unknown("WAITINGROOM", turn),
        }
    }

    fn join(&mut self, room: &[u8], user: &[u8], turn: &mut Turn<'_>) {
        let user = match Id::parse(user, "user") {
            Ok(user) => user,
            Err(problem) => {
                return self.say(turn, |replies| replies.error("ERR", &format!("INVALID {problem}")));
            }
        };
        let room = String::from_utf8_lossy(room);
        match turn.shared.access.limiting.join(&room, user.as_str(), steady_ms()) {
            None => self.no_room(turn),
            Some((text, _, place)) => self.say(turn, |replies| {
                let values = [&[Value::from(text.as_str())], shown(place).as_slice()].concat();
                replies.value(&Value::List(values));
            }),
        }
    }

    fn show_place(&self, text: &[u8], turn: &mut Turn<'_>) {
        let Some(ticket) = read(text, turn) else { return self.no_ticket(turn) };
        match turn.shared.access.limiting.place(&ticket, steady_ms()) {
            None => self.no_room(turn),
            Some(place) => self.say(turn, |replies| replies.value(&Value::List(shown(place).to_vec()))),
        }
    }

    /// Tickets for the commands that follow, in place of those before.
    fn show_tickets(&mut self, texts: &[&[u8]], turn: &mut Turn<'_>) {
        if texts.len() > TICKETS_MAX {
            let text = format!("a connection shows at most {TICKETS_MAX} tickets at a time");
            return self.say(turn, |replies| replies.error("ERR", &text));
        }
        let tickets: Option<Vec<Ticket>> = texts.iter().map(|text| read(text, turn)).collect();
        match tickets {
            None => self.no_ticket(turn),
            Some(tickets) => {
                self.tickets_shown = tickets;
                self.say(turn, |replies| replies.simple("OK"));
            }
        }
    }

    fn no_room(&self, turn: &mut Turn<'_>) {
        let text = "no waiting room has this name; the file of the setting waiting_rooms names them";
        self.say(turn, |replies| replies.error("ERR", text));
    }

    fn no_ticket(&self, turn: &mut Turn<'_>) {
        let text = "this is no ticket of a waiting room of this deployment; take one with WAITINGROOM JOIN";
        self.say(turn, |replies| replies.error("ERR", text));
    }
}

fn line_of(NotAdmitted { room, user, .. }: &NotAdmitted) -> String {
    format!("NOT_ADMITTED {room} {user}: show a ticket of this user before MULTI")
}

/// Writes that a command needs a ticket: as a refusal, or as an error of a batch.
pub(super) fn write_refusal(replies: &mut Replies<'_>, refused: &NotAdmitted, is_batch: bool) {
    if is_batch {
        return replies.error("EXECABORT", &line_of(refused));
    }
    let NotAdmitted { room, user, wait_ms } = refused;
    let values = vec![
        Value::Integer(0),
        Value::from("NOT_ADMITTED"),
        Value::from(room.as_str()),
        Value::from(user.as_str()),
        wait_ms.map_or(Value::Absent, Value::from),
    ];
    replies.value(&Value::List(values));
}

fn read(text: &[u8], turn: &Turn<'_>) -> Option<Ticket> {
    turn.shared.access.limiting.read_ticket(std::str::from_utf8(text).ok()?)
}

/// Its place, wait, whether it is admitted, and until when it is good.
fn shown(place: TicketStatus) -> [Value; 4] {
    let TicketStatus { place, wait_ms, expires_ms, is_admitted } = place;
    [place.into(), wait_ms.into(), Value::Integer(is_admitted.into()), expires_ms.into()]
}
