//! Waiting rooms: who wants something that is guarded takes a ticket, and may have it when its time has come. Each room admits at a set
//! rate in the order of arrival.
//!
//! ```text
//!  join ─▶ SCHEDULE gives the next free moment ─▶ a signed TICKET: room, user, moment
//!  a guarded command ─▶ is there a ticket for its room and its user, whose moment has come?
//! ```
//!
//! A room holds its next free moment, and the users that wait, to give each one place only. Any process with the same
//! secret can check a ticket.

mod file;
mod schedule;
mod ticket;

pub use file::{Room, RoomFileError, read};
pub use ticket::{Ticket, TicketKey};

use std::collections::BTreeMap;
use std::sync::Arc;

use scarce_access::Kind;
use scarce_core::command::rules::Verb;
use scarce_core::command::{COMMANDS, Command, CommandSpec};
use scarce_core::outcome::Value;
use scarce_core::types::TimeMs;

use schedule::Schedule;

/// How many users all rooms remember together, at some fifty bytes each. Beyond that, one that joins again gets a further place.
const USERS_MAX: usize = 2_000_000;

/// How many tickets a caller shows at a time.
pub const TICKETS_MAX: usize = 64;

/// A command needs a ticket that was not shown, or whose time has not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAdmitted {
    /// The room.
    pub room: String,
    /// The user that the ticket must be for.
    pub user: String,
    /// How long to wait, where a ticket was shown whose time has not come.
    pub wait_ms: Option<u64>,
}

/// Where a ticket stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TicketStatus {
    /// How many wait before it; 0 once it is admitted.
    pub place: u64,
    /// How long it waits.
    pub wait_ms: u64,
    /// Until when it is good.
    pub expires_ms: TimeMs,
    /// Whether its time has come, and is not over.
    pub is_admitted: bool,
}

#[derive(Debug)]
struct Opened {
    room: Room,
    schedule: Arc<Schedule>,
}

/// All rooms.
#[derive(Debug)]
pub struct Rooms {
    rooms: Vec<Opened>,
    /// Those that are not in the file at the moment: who waits for one keeps its place until it is there again.
    closed: BTreeMap<String, Arc<Schedule>>,
    /// Which rooms may guard a command, by its number.
    commands: Vec<Vec<usize>>,
}

impl Rooms {
    /// The rooms of a file. Those that were there before go on.
    #[must_use]
    pub fn new(rooms: Vec<Room>, former: Option<&Self>) -> Self {
        let numbers = COMMANDS.iter().map(|spec| usize::from(spec.number)).max().unwrap_or(0);
        let mut commands = vec![Vec::new(); numbers + 1];
        for spec in COMMANDS.iter().filter(|spec| spec.verb() == Verb::Take) {
            let guards = |room: &Room| room.guards(spec.resource.map(Kind::from));
            let its = rooms.iter().enumerate().filter(|(_, room)| guards(room)).map(|(at, _)| at);
            commands[usize::from(spec.number)].extend(its);
        }
        let mut closed = former.map(Self::schedules).unwrap_or_default();
        let open = |room: Room| Opened { schedule: closed.remove(&room.name).unwrap_or_default(), room };
        Self { rooms: rooms.into_iter().map(open).collect(), closed, commands }
    }

    fn schedules(&self) -> BTreeMap<String, Arc<Schedule>> {
        let open = self.rooms.iter().map(|its| (its.room.name.clone(), its.schedule.clone()));
        self.closed.clone().into_iter().chain(open).collect()
    }

    fn find(&self, name: &str) -> Option<&Opened> {
        self.rooms.iter().find(|opened| opened.room.name == name)
    }

    /// The rooms as they are written.
    pub fn rooms(&self) -> impl Iterator<Item = &Room> {
        self.rooms.iter().map(|opened| &opened.room)
    }

    /// How many users wait in each room.
    pub fn waiting(&self, now_ms: TimeMs) -> impl Iterator<Item = (&Room, u64)> {
        self.rooms.iter().map(move |its| {
            let ahead = its.schedule.next_ms().saturating_sub(now_ms);
            (&its.room, its.room.places(ahead))
        })
    }

    /// Gives a user a place in a room, the same one as long as it waits. `None` if there is no such room.
    #[must_use]
    pub fn join(&self, name: &str, user: &str, now_ms: TimeMs) -> Option<Ticket> {
        let Opened { room, schedule } = self.find(name)?;
        let users_max = USERS_MAX / self.rooms.len().max(1);
        let admit_ms = schedule.join(user, now_ms, room.period(), room.admission_ms(), users_max);
        Some(Ticket { room: room.name.clone(), user: user.to_owned(), admit_ms })
    }

    /// Where a ticket stands. `None` if there is no such room.
    #[must_use]
    pub fn place(&self, ticket: &Ticket, now_ms: TimeMs) -> Option<TicketStatus> {
        let room = &self.find(&ticket.room)?.room;
        let wait_ms = ticket.admit_ms.saturating_sub(now_ms);
        let expires_ms = ticket.admit_ms.saturating_add(room.admission_ms());
        let is_admitted = wait_ms == 0 && now_ms < expires_ms;
        Some(TicketStatus { place: room.places(wait_ms), wait_ms, expires_ms, is_admitted })
    }

    /// Whether a room may guard commands of a row.
    #[inline]
    #[must_use]
    pub fn may_guard(&self, spec: &CommandSpec) -> bool {
        self.commands.get(usize::from(spec.number)).is_some_and(|its| !its.is_empty())
    }

    /// Whether a command may be sent by who shows these tickets.
    ///
    /// # Errors
    /// The room that guards it, if there is no ticket for it whose time has come.
    pub fn check<'a>(
        &self,
        command: &Command,
        tickets: &(impl Iterator<Item = &'a Ticket> + Clone),
        now_ms: TimeMs,
    ) -> Result<(), Box<NotAdmitted>> {
        self.check_sent(command, tickets, (now_ms, now_ms))
    }

    /// The same for a command that was sent at the first time and is looked at at the second one: a ticket need only have been
    /// good at some time between, so that what was admitted once is admitted whenever it is looked at again.
    ///
    /// # Errors
    /// The room that guards it.
    pub fn check_sent<'a>(
        &self,
        command: &Command,
        tickets: &(impl Iterator<Item = &'a Ticket> + Clone),
        (sent_ms, now_ms): (TimeMs, TimeMs),
    ) -> Result<(), Box<NotAdmitted>> {
        let its = self.commands.get(usize::from(command.spec().number));
        for opened in its.into_iter().flatten().filter_map(|at| self.rooms.get(*at)) {
            let mut is_guarded = false;
            command.route(&mut |id| is_guarded |= opened.room.covers(id.as_str()));
            if !is_guarded {
                continue;
            }
            let (room, user) = (&opened.room.name, user_of(command));
            let fit = tickets.clone().filter(|ticket| ticket.room == *room && ticket.user == user);
            let places: Vec<TicketStatus> = fit.filter_map(|ticket| self.place(ticket, now_ms)).collect();
            let was_good =
                |place: &TicketStatus| place.wait_ms == 0 && sent_ms.min(now_ms) < place.expires_ms;
            if !places.iter().any(was_good) {
                let waits = places.iter().map(|place| place.wait_ms).filter(|wait_ms| *wait_ms > 0);
                return Err(NotAdmitted { room: room.clone(), user, wait_ms: waits.min() }.into());
            }
        }
        Ok(())
    }

    /// The next free moment of each room, to be kept.
    #[must_use]
    pub fn moments(&self) -> BTreeMap<String, TimeMs> {
        self.schedules().into_iter().map(|(name, schedule)| (name, schedule.next_ms())).collect()
    }

    /// Takes what was kept: no moment is given again that may have been given before.
    pub fn resume(&mut self, moments: &BTreeMap<String, TimeMs>) {
        for (name, next_ms) in moments {
            let open = self.rooms.iter().find(|its| its.room.name == *name).map(|its| its.schedule.clone());
            open.unwrap_or_else(|| self.closed.entry(name.clone()).or_default().clone()).resume(*next_ms);
        }
    }
}

/// The arguments that name who a command is for, the nearest to a person first.
const USERS: [&str; 5] = ["owner", "user", "subject", "account", "from"];

/// Whom a command is for: its owner or user; the account that is taken from, where it names none.
fn user_of(command: &Command) -> String {
    let names = command.spec().arguments.iter().map(|argument| argument.name);
    let values: Vec<(&str, Value)> = names.zip(command.values()).collect();
    let named = USERS.iter().find_map(|name| values.iter().find(|(its, _)| its == name));
    match named {
        Some((_, Value::Text(text))) => text.to_string(),
        // The subject of a coupon: pairs of a dimension and its value.
        Some((_, Value::List(pairs))) => user_among(pairs),
        _ => String::new(),
    }
}

fn user_among(pairs: &[Value]) -> String {
    let user = pairs.chunks(2).find_map(|pair| match pair {
        [Value::Text(name), Value::Text(user)] if name == "user" => Some(user.to_string()),
        _ => None,
    });
    user.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use scarce_core::command::table;

    use super::*;

    fn rooms(text: &str, former: Option<&Rooms>) -> Rooms {
        Rooms::new(read(text).expect("rooms"), former)
    }

    fn command(line: &str) -> Command {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let spec = table::find(words[0]).expect("a command");
        Command::parse(spec, &words[1..]).expect("well-formed").0
    }

    const SALE: &str =
        "[[room]]\nname = \"sale\"\nresources = [\"hot-*\"]\nrate = \"10/s\"\nadmission_s = 60\n";

    #[test]
    fn what_takes_from_a_guarded_resource_needs_a_ticket_of_its_user() {
        let rooms = rooms(SALE, None);
        let first = rooms.join("sale", "u1", 1_000).expect("a ticket");
        let second = rooms.join("sale", "u2", 1_000).expect("a ticket");
        let check = |line: &str, tickets: &[Ticket], now| rooms.check(&command(line), &tickets.iter(), now);
        let tickets = [first, second];
        assert_eq!(check("STOCK.TAKE hot-1 1 u1", &tickets, 1_000), Ok(()));
        let refused = check("STOCK.TAKE hot-1 1 u2", &tickets, 1_000).expect_err("it must wait");
        assert_eq!(
            (refused.room.as_str(), refused.user.as_str(), refused.wait_ms),
            ("sale", "u2", Some(100))
        );
        assert_eq!(check("STOCK.TAKE hot-1 1 u2", &tickets, 1_100), Ok(()));
        let other = check("STOCK.TAKE hot-1 1 u3", &tickets, 1_100).expect_err("it has none");
        assert_eq!((other.user.as_str(), other.wait_ms), ("u3", None));
        assert!(check("STOCK.TAKE hot-1 1 u1", &tickets, 61_000).is_err(), "its time is over");
        let sent = |at| rooms.check_sent(&command("STOCK.TAKE hot-1 1 u2"), &tickets.iter(), at);
        assert!(sent((500, 1_100)).is_ok(), "its time came while it was on its way");
        assert!(
            sent((61_099, 999_999)).is_ok() && sent((61_100, 999_999)).is_err(),
            "it was good when it was sent"
        );
        assert!(sent((999_999, 1_099)).is_err(), "a time to come counts for nothing");
        for free in ["STOCK.TAKE sku-1 1 u3", "STOCK.GET hot-1", "STOCK.CONFIRM hot-1 r", "STOCK.CLOSE hot-1"]
        {
            assert_eq!(check(free, &[], 1_000), Ok(()), "{free}");
        }
    }

    #[test]
    fn whom_a_command_is_for_is_its_owner_its_user_or_its_account() {
        for (line, user) in [
            ("STOCK.RESERVE s r 1 u1 1000", "u1"),
            ("PACKET.CLAIM c u2", "u2"),
            ("COUPON.CLAIM c USER u3 city x", "u3"),
            ("ACCOUNT.DEBIT a4 5", "a4"),
            ("ACCOUNT.TRANSFER a5 b 5", "a5"),
            ("ORDER.PLACE m o u6 BUY LIMIT 5 1", "u6"),
        ] {
            assert_eq!(user_of(&command(line)), user, "{line}");
        }
        for spec in COMMANDS.iter().filter(|spec| spec.verb() == Verb::Take) {
            assert!(spec.arguments.iter().any(|argument| USERS.contains(&argument.name)), "{}", spec.name);
        }
    }

    #[test]
    fn a_place_is_what_is_before_it_and_rooms_go_on_when_the_file_is_read_again() {
        let one = rooms(SALE, None);
        let tickets: Vec<Ticket> =
            (0..30).filter_map(|n| one.join("sale", &format!("u{n}"), 1_000)).collect();
        let place = one.place(&tickets[29], 1_000).expect("a room");
        assert_eq!((place.place, place.wait_ms, place.is_admitted), (29, 2_900, false));
        assert_eq!(
            one.place(&tickets[29], 3_900).map(|place| (place.place, place.is_admitted)),
            Some((0, true))
        );
        assert_eq!(one.waiting(1_000).map(|(_, count)| count).collect::<Vec<_>>(), [30]);
        assert!(one.join("other", "u", 1_000).is_none());
        let again = rooms(&SALE.replace("10/s", "100/s"), Some(&one));
        assert_eq!(again.join("sale", "u29", 1_000), Some(tickets[29].clone()), "it keeps its place");
        assert_eq!(again.join("sale", "late", 1_000).map(|ticket| ticket.admit_ms), Some(4_000));
        let shared = rooms(&SALE.replace("admission_s", "servers = 4\nadmission_s"), None);
        let moments = ["a", "b"].map(|user| shared.join("sale", user, 1_000).expect("a ticket"));
        assert_eq!(moments.each_ref().map(|ticket| ticket.admit_ms), [1_000, 1_400], "a quarter of the rate");
        assert_eq!(
            shared.place(&moments[1], 1_000).map(|place| place.place),
            Some(4),
            "others are before it elsewhere"
        );
        let none = rooms("", Some(&again));
        let back = rooms(SALE, Some(&none)).join("sale", "later", 1_000).map(|ticket| ticket.admit_ms);
        assert_eq!(back, Some(4_010), "it was not in the file for a while");
        let mut after = rooms(SALE, None);
        after.resume(&again.moments());
        assert_eq!(after.join("sale", "late", 1_000).map(|ticket| ticket.admit_ms), Some(4_110));
    }
}
