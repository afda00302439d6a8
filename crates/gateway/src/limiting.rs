//! The limits and the waiting rooms that the ports apply. They can change while the server runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use arc_swap::{ArcSwapOption, Guard};
use scarce_core::command::Command;
use scarce_core::types::TimeMs;
use scarce_limits::rooms::{NotAdmitted, Room, Rooms, TICKETS_MAX, Ticket, TicketKey, TicketStatus};
use scarce_limits::{Limits, Rule};

/// The limits in effect, on all ports together.
#[derive(Debug, Default)]
pub struct Limiting {
    limits: ArcSwapOption<Limits>,
    rooms: ArcSwapOption<Rooms>,
    /// Whether there are rooms, and limits of concurrency: most servers have none, and each command asks.
    has_rooms: AtomicBool,
    bounds_progress: AtomicBool,
    ticket_key: OnceLock<TicketKey>,
}

impl Limiting {
    /// Changes the limits. Of those that are the same nothing is forgotten. Whether they are others.
    pub fn set(&self, rules: Vec<Rule>) -> bool {
        let current = self.limits.load();
        let is_same = match &*current {
            Some(limits) => limits.rules().eq(&rules),
            None => rules.is_empty(),
        };
        if !is_same {
            let bounds_progress = rules.iter().any(|rule| rule.concurrent.is_some());
            self.bounds_progress.store(bounds_progress, Ordering::Release);
            let former = current.as_deref();
            self.limits.store((!rules.is_empty()).then(|| Arc::new(Limits::new(rules, former))));
        }
        !is_same
    }

    /// The limits, if there are any.
    #[inline]
    pub fn get(&self) -> Guard<Option<Arc<Limits>>> {
        self.limits.load()
    }

    /// Changes the waiting rooms. Those of the same name go on. Whether they are others.
    pub fn set_rooms(&self, rooms: Vec<Room>) -> bool {
        let current = self.rooms.load();
        let is_same = match &*current {
            Some(current) => current.rooms().eq(&rooms),
            None => rooms.is_empty(),
        };
        if !is_same {
            self.has_rooms.store(!rooms.is_empty(), Ordering::Release);
            self.rooms.store(Some(Arc::new(Rooms::new(rooms, current.as_deref()))));
        }
        !is_same
    }

    /// Takes the next free moments that were kept of rooms, also of those that are not in the file at the moment.
    pub fn resume(&self, moments: &BTreeMap<String, TimeMs>) {
        let current = self.rooms.load();
        let rooms = current.iter().flat_map(|current| current.rooms()).cloned().collect();
        let mut resumed = Rooms::new(rooms, current.as_deref());
        resumed.resume(moments);
        self.rooms.store(Some(Arc::new(resumed)));
    }

    /// Whether there are waiting rooms.
    #[inline]
    pub fn has_rooms(&self) -> bool {
        self.has_rooms.load(Ordering::Acquire)
    }

    /// Whether there are limits of concurrency.
    #[inline]
    pub fn bounds_progress(&self) -> bool {
        self.bounds_progress.load(Ordering::Acquire)
    }

    /// The waiting rooms, if there are any.
    #[inline]
    pub fn rooms(&self) -> Guard<Option<Arc<Rooms>>> {
        self.rooms.load()
    }

    /// Signs tickets with a deployment's secret from now on.
    pub fn sign_with(&self, secret: &[u8; 32]) {
        // A process serves one deployment.
        let _ = self.ticket_key.set(TicketKey::of(secret));
    }

    /// Gives a user a place in a room: its ticket as text, and where it stands. `None` if there is no such room.
    pub fn join(&self, room: &str, user: &str, now: TimeMs) -> Option<(String, Ticket, TicketStatus)> {
        let rooms = self.rooms.load();
        let rooms = rooms.as_ref()?;
        let ticket = rooms.join(room, user, now)?;
        let place = rooms.place(&ticket, now)?;
        Some((self.ticket_key.get()?.sign(&ticket), ticket, place))
    }

    /// Reads a ticket's text. `None` if it is no ticket of this deployment.
    pub fn read_ticket(&self, text: &str) -> Option<Ticket> {
        self.ticket_key.get()?.read(text)
    }

    /// Whether commands that were sent at a time, with the texts of these tickets, may be executed now.
    ///
    /// # Errors
    /// The room that guards one of them.
    pub fn check_sent(
        &self,
        commands: &[Command],
        tickets: &str,
        (sent_ms, now_ms): (TimeMs, TimeMs),
    ) -> Result<(), Box<NotAdmitted>> {
        let rooms = self.rooms.load();
        let Some(rooms) = &*rooms else { return Ok(()) };
        let texts = tickets.split(',').map(str::trim).take(TICKETS_MAX);
        let tickets: Vec<Ticket> = texts.filter_map(|text| self.read_ticket(text)).collect();
        let mut commands = commands.iter();
        commands.try_for_each(|command| rooms.check_sent(command, &tickets.iter(), (sent_ms, now_ms)))
    }

    /// Where a ticket stands. `None` if its room is no longer there.
    pub fn place(&self, ticket: &Ticket, now: TimeMs) -> Option<TicketStatus> {
        self.rooms.load().as_ref()?.place(ticket, now)
    }

    /// The next free moments of the rooms, to be kept over a restart.
    pub fn moments(&self) -> BTreeMap<String, TimeMs> {
        self.rooms.load().as_ref().map(|rooms| rooms.moments()).unwrap_or_default()
    }
}
