//! The loop that serves sockets: on an owner's own thread, or on a separate one if the engine runs elsewhere.

mod bounds;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;
use mio::event::Event;
use mio::net::{TcpListener, TcpStream};
use mio::{Events, Interest, Poll, Token};
use scarce_core::command::Envelope;
use scarce_engine::stop::{Stop, Waker};
use scarce_engine_embedded::{Owner, Port};
use scarce_gateway::unread::{UNSENT_BYTES_MAX, UnreadOfThread};
use scarce_gateway::{ConnectionPlace, PortKind};
use socket2::SockRef;

use super::connection::{Connection, READ_BYTES};
use super::handshakes::{Greeted, Greeter};
use super::local::{Elsewhere, Local};
use super::outbox::Outbox;
use super::session::{Around, Arrived, Mailbox};
use super::tally::Tally;
use super::transport::Transport;
use super::{CONNECTIONS_MAX, RespShared};
use bounds::Unfinished;

const LISTENER: Token = Token(usize::MAX - 1);
const WAKER: Token = Token(usize::MAX);

/// How often clogged connections, callers that could not be accepted and unauthenticated callers are checked.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Opens the port's socket.
///
/// # Errors
/// When the address cannot be bound.
pub fn bind(address: SocketAddr) -> io::Result<StdListener> {
    let listener = StdListener::bind(address)?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// How far the orderly end of the port is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Draining {
    /// Requests are taken.
    No,
    /// No more are taken, and callers wait for answers.
    Begun,
    /// Nobody waits for an answer.
    Done,
}

/// The RESP port of one thread.
pub struct Reactor {
    poll: Poll,
    events: Events,
    listener: TcpListener,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    open: usize,
    /// Callers are waiting because file descriptors ran out; nothing will announce them again.
    accepts_again: bool,
    overdue_seen_at: Instant,
    unfinished: Unfinished,
    /// The memory that unread replies take.
    unread: Arc<UnreadOfThread>,
    draining: Draining,
    /// How often the keys of callers had changed when connections were last checked.
    keys_seen: u64,
    /// The connections with work to do, so that idle ones cost nothing in a turn.
    active: Vec<usize>,
    scratch: Vec<u8>,
    /// The command that is being served.
    envelope: Envelope,
    shared: Arc<RespShared>,
    mailbox: Mailbox,
    outbox: Outbox,
    arrivals: Receiver<Arrived>,
    /// How long commands take.
    tally: Tally,
    /// Where TLS begins, if the port speaks it.
    greeter: Option<Greeter>,
    waker: Waker,
}

impl Reactor {
    /// Serves connections to `listener`.
    ///
    /// # Errors
    /// When the system provides no poll.
    pub fn new(listener: StdListener, shared: Arc<RespShared>) -> io::Result<Self> {
        let poll = Poll::new()?;
        let mut listener = TcpListener::from_std(listener);
        poll.registry().register(&mut listener, LISTENER, Interest::READABLE)?;
        let mio_waker = mio::Waker::new(poll.registry(), WAKER)?;
        let waker: Waker = Arc::new(move || {
            // It fails only when the poll is gone, and then no thread waits in it.
            let _ = mio_waker.wake();
        });
        let (sender, arrivals) = crossbeam_channel::unbounded();
        shared.drain.join(waker.clone());
        shared.access.keys.wake_on_change(waker.clone());
        let greeter = shared.handshakes.clone().map(|handshakes| Greeter::new(handshakes, waker.clone()));
        Ok(Self {
            poll,
            events: Events::with_capacity(1_024),
            listener,
            connections: Vec::new(),
            free: Vec::new(),
            open: 0,
            accepts_again: false,
            overdue_seen_at: Instant::now(),
            unfinished: Unfinished::default(),
            unread: shared.places.unread.join(waker.clone()),
            draining: Draining::No,
            tally: Tally::new(shared.latencies.join("resp")),
            keys_seen: shared.access.keys.changes(),
            active: Vec::new(),
            scratch: vec![0; READ_BYTES],
            envelope: Envelope::default(),
            shared,
            mailbox: Mailbox { sender, wake: waker.clone() },
            outbox: Outbox::default(),
            arrivals,
            greeter,
            waker,
        })
    }

    fn wait(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        let clogged =
            self.accepts_again || self.has_overdue() || self.active_connections().any(Connection::is_clogged);
        let timeout = match timeout {
            Some(timeout) if clogged => Some(timeout.min(LOOK_INTERVAL)),
            None if clogged => Some(LOOK_INTERVAL),
            timeout => timeout,
        };
        match self.poll.poll(&mut self.events, timeout) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => self.events.clear(),
            result => result?,
        }
        let mut accepts = self.accepts_again;
        for event in &self.events {
            match event.token() {
                LISTENER => accepts = true,
                WAKER => {}
                Token(at) => {
                    if let Some(Some(connection)) = self.connections.get_mut(at) {
                        note(event, connection);
                        activate(at, connection, &mut self.active);
                    }
                }
            }
        }
        if accepts {
            self.accept();
        }
        Ok(())
    }

    fn active_connections(&self) -> impl Iterator<Item = &Connection> {
        self.active.iter().filter_map(|at| self.connections.get(*at)?.as_ref())
    }

    fn accept(&mut self) {
        self.accepts_again = false;
        loop {
            match self.listener.accept() {
                Ok((socket, address)) => self.adopt(socket, address),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.accepts_again = error.kind() != io::ErrorKind::WouldBlock;
                    return;
                }
            }
        }
    }

    fn adopt(&mut self, mut socket: TcpStream, address: SocketAddr) {
        if self.draining != Draining::No {
            return;
        }
        let place = if self.open < CONNECTIONS_MAX { self.shared.places.take(PortKind::Resp) } else { None };
        let Some(place) = place else {
            // In TLS it would not be understood.
            if self.greeter.is_none() {
                let _ = io::Write::write(&mut socket, b"-ERR max number of clients reached\r\n");
            }
            return;
        };
        // Without it, small replies wait for the client's acknowledgement of the previous one.
        let _ = socket.set_nodelay(true);
        // If the system refuses, it holds more of what is not read.
        let _ = SockRef::from(&socket).set_tcp_notsent_lowat(UNSENT_BYTES_MAX);
        match &self.greeter {
            Some(greeter) => greeter.begin(socket.into(), address, place),
            None => {
                self.connect(Transport::Plain(socket), address.ip(), place);
            }
        }
    }

    /// Takes connections whose handshake is done.
    fn adopt_greeted(&mut self) {
        while let Some(Greeted { socket, tls, records, address, place }) =
            self.greeter.as_ref().and_then(Greeter::next)
        {
            if self.draining != Draining::No || self.open >= CONNECTIONS_MAX {
                continue;
            }
            let transport = Transport::encrypted(TcpStream::from_std(socket), tls, records);
            let Some(at) = self.connect(transport, address.ip(), place) else { continue };
            if let Some(Some(connection)) = self.connections.get_mut(at) {
                // Its first request may have come with the handshake, and then nothing announces it.
                connection.set_readable();
                activate(at, connection, &mut self.active);
            }
        }
    }

    /// Serves a caller from now on, unless the system cannot announce what it sends.
    fn connect(
        &mut self,
        mut transport: Transport,
        address: IpAddr,
        place: ConnectionPlace,
    ) -> Option<usize> {
        let at = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        let interest = Interest::READABLE | Interest::WRITABLE;
        if self.poll.registry().register(transport.socket(), Token(at), interest).is_err() {
            self.free.push(at);
            return None;
        }
        self.connections[at] = Some(Connection::new(transport, address, &self.shared, place));
        self.open += 1;
        self.shared.connections_open.fetch_add(1, Ordering::Relaxed);
        Some(at)
    }

    fn serve(&mut self, local: &mut dyn Local) {
        for turn in 0..self.active.len() {
            if !local.has_room() {
                // Connections that got no turn for lack of room go first next time.
                return self.active.rotate_left(turn);
            }
            let at = self.active[turn];
            let Some(connection) = self.connections[at].as_mut().filter(|connection| connection.is_pending())
            else {
                continue;
            };
            let (mailbox, outbox, envelope) = (&self.mailbox, &mut self.outbox, &mut self.envelope);
            let (shared, tally) = (&*self.shared, &mut self.tally);
            let mut around = Around { local: &mut *local, shared, envelope, mailbox, outbox, tally };
            let before = Unfinished::of(connection);
            let served = connection.serve(&mut around, at, &mut self.scratch);
            self.unfinished = self.unfinished.with(Unfinished::of(connection)).without(before);
            if served.is_err() {
                self.drop_connection(at);
            }
            self.bound_unfinished();
        }
    }

    fn deliver(&mut self) {
        while let Ok(arrived) = self.arrivals.try_recv() {
            let token = arrived.token;
            if let Some(Some(connection)) = self.connections.get_mut(token) {
                connection.arrive(arrived, &self.tally);
                activate(token, connection, &mut self.active);
            }
        }
    }

    fn flush(&mut self, durable: u64, now: Instant) {
        self.tally.settle(durable, now);
        for turn in 0..self.active.len() {
            let at = self.active[turn];
            let Some(connection) = self.connections[at].as_mut() else { continue };
            if (connection.owes() || connection.is_ended()) && !connection.flush(durable, now) {
                self.drop_connection(at);
            } else if connection.has_stalled(now, self.shared.unread_max) {
                self.shared.places.unread.note_stalled(connection.peer(), self.shared.unread_max);
                self.drop_connection(at);
            }
        }
    }

    /// Deactivates connections that have nothing to do until their socket announces something.
    fn rest(&mut self) {
        let connections = &mut self.connections;
        self.active.retain(|at| {
            let Some(connection) = connections[*at].as_mut() else { return false };
            connection.is_active = connection.is_busy();
            connection.is_active
        });
    }

    fn drop_connection(&mut self, at: usize) {
        if let Some(mut connection) = self.connections[at].take() {
            let _ = self.poll.registry().deregister(connection.socket());
            self.unfinished = self.unfinished.without(Unfinished::of(&connection));
            self.free.push(at);
            self.open -= 1;
            self.shared.connections_open.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Whether a connection has requests that nothing will announce again.
    fn has_pending(&self, local: &dyn Local) -> bool {
        local.has_room() && self.active_connections().any(Connection::is_pending)
            || self.active_connections().any(Connection::has_news_to_send)
    }
}

impl Reactor {
    /// Serves on this thread until asked to stop, when every partition is decided elsewhere.
    ///
    /// # Errors
    /// When the port as a whole cannot continue.
    pub fn run(mut self, stop: &Stop) -> io::Result<()> {
        while !stop.is_requested() {
            self.turn_with(&mut Elsewhere, None)?;
        }
        self.close_with(&Elsewhere);
        Ok(())
    }

    pub(super) fn turn_with(&mut self, local: &mut dyn Local, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = if self.has_pending(local) { Some(Duration::ZERO) } else { timeout };
        self.wait(timeout)?;
        local.begin_turn();
        self.adopt_greeted();
        self.deliver();
        self.end_revoked();
        if self.shared.drain.is_requested() {
            self.begin_drain();
        }
        let now = Instant::now();
        self.flush(local.durable(), now);
        self.tally.begin(now);
        self.serve(local);
        self.tally.close();
        self.outbox.send(&*self.shared.engine, &self.waker);
        // Replies that depend on nothing, or only on durable batches, need not wait for another turn.
        self.flush(local.durable(), Instant::now());
        self.bound_unread();
        self.note_drained();
        self.drop_overdue();
        self.rest();
        Ok(())
    }

    /// Takes no more requests of callers that may not go on. What they asked before is still answered.
    fn end_revoked(&mut self) {
        let changes = self.shared.access.keys.changes();
        if changes == std::mem::replace(&mut self.keys_seen, changes) {
            return;
        }
        for (at, connection) in self.connections.iter_mut().enumerate() {
            let Some(connection) = connection else { continue };
            if connection.is_over(&self.shared.access) {
                connection.end();
                activate(at, connection, &mut self.active);
            }
        }
    }

    /// Takes no more requests.
    fn begin_drain(&mut self) {
        if self.draining != Draining::No {
            return;
        }
        self.draining = Draining::Begun;
        for (at, connection) in self.connections.iter_mut().enumerate() {
            let Some(connection) = connection else { continue };
            connection.end();
            activate(at, connection, &mut self.active);
        }
    }

    /// Reports once that no caller waits for an answer any more.
    fn note_drained(&mut self) {
        if self.draining == Draining::Begun && !self.connections.iter().flatten().any(Connection::owes) {
            self.draining = Draining::Done;
            self.shared.drain.note_done();
        }
    }

    fn close_with(&mut self, local: &dyn Local) {
        let reason = local.failure().unwrap_or_else(|| "the server is shutting down".to_owned());
        for (at, connection) in self.connections.iter_mut().enumerate() {
            let Some(connection) = connection else { continue };
            connection.fail(local.durable(), &reason);
            activate(at, connection, &mut self.active);
        }
        self.flush(local.durable(), Instant::now());
    }

    /// Wakes it from any thread.
    #[must_use]
    pub fn waker(&self) -> Waker {
        self.waker.clone()
    }
}

impl Port for Reactor {
    fn turn(&mut self, owner: &mut Owner, timeout: Option<Duration>) -> io::Result<()> {
        self.turn_with(owner, timeout)
    }

    fn send(&mut self, owner: &mut Owner) {
        self.flush(owner.durable(), Instant::now());
    }

    fn close(&mut self, owner: &mut Owner) {
        self.close_with(owner);
    }

    fn waker(&self) -> Waker {
        Self::waker(self)
    }
}

/// Records on a connection what its socket announced.
fn note(event: &Event, connection: &mut Connection) {
    if event.is_readable() || event.is_read_closed() || event.is_error() {
        connection.set_readable();
    }
    if event.is_read_closed() {
        connection.set_read_closed();
    }
    if event.is_writable() || event.is_write_closed() || event.is_error() {
        connection.set_writable();
    }
}

fn activate(at: usize, connection: &mut Connection, active: &mut Vec<usize>) {
    if !connection.is_active {
        connection.is_active = true;
        active.push(at);
    }
}
