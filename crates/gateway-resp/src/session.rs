//! The state of one connection: its caller, its protocol and an open batch; and how its commands reach the
//! engine.

use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::Instant;

use scarce_core::command::plain::Plain;
use scarce_core::command::{Body, Command, CommandSpec, Common, Effect, Envelope, Invalid, table};
use scarce_core::outcome::{Durability, Outcome, Receipt};
use scarce_core::packets::count_to_cut;
use scarce_engine::Request;
use scarce_engine::engine::{Answers, partition_of};
use scarce_gateway::lists::ListAsked;
use scarce_gateway::{Acts, Caller};
use scarce_limits::Permit;
use scarce_limits::rooms::Ticket;

use super::RespShared;
use super::form::Form;
use super::local::Local;
use super::outbox::{Deliver, Outbox};
use super::output::Output;
use super::permission::Unfit;
use super::pushes::Pushes;
use super::reply::{Protocol, Replies};
use super::tally::Tally;
use super::transaction::Transaction;

/// What a session needs while it handles a request.
pub(super) struct Turn<'a> {
    pub(super) local: &'a mut dyn Local,
    pub(super) shared: &'a RespShared,
    /// A command on its way to this thread's partition; its memory is used again.
    pub(super) envelope: &'a mut Envelope,
    pub(super) output: &'a mut Output,
    pub(super) mailbox: &'a Mailbox,
    pub(super) outbox: &'a mut Outbox,
    pub(super) tally: &'a mut Tally,
    pub(super) token: usize,
}

impl<'a> Turn<'a> {
    /// The view of the connection `token`.
    pub(super) fn of(around: &'a mut Around<'_>, output: &'a mut Output, token: usize) -> Self {
        let Around { local, shared, envelope, mailbox, outbox, tally } = around;
        Self { local: &mut **local, shared, envelope, output, mailbox, outbox, tally, token }
    }
}

/// What all connections of a turn share.
pub(super) struct Around<'a> {
    pub(super) local: &'a mut dyn Local,
    pub(super) shared: &'a RespShared,
    pub(super) envelope: &'a mut Envelope,
    pub(super) mailbox: &'a Mailbox,
    pub(super) outbox: &'a mut Outbox,
    pub(super) tally: &'a mut Tally,
}

/// Where answers of other partitions arrive for the connections of this thread.
#[derive(Clone)]
pub(super) struct Mailbox {
    pub(super) sender: crossbeam_channel::Sender<Arrived>,
    /// Signals that something arrived.
    pub(super) wake: scarce_engine::stop::Waker,
}

/// An answer from another partition.
pub(super) struct Arrived {
    pub(super) token: usize,
    pub(super) session: u64,
    pub(super) ticket: u64,
    pub(super) answer: Arrival,
}

/// What arrived.
pub(super) enum Arrival {
    /// The engine's answers.
    Answers(Answers),
    /// The whole reply.
    Written(Vec<u8>),
    /// A channel has something new.
    News,
}

/// Whether the connection continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    Continue,
    /// It continues after other connections had their turn: the request took long.
    Yield,
    Close,
}

impl Flow {
    /// How it goes on after a request of so much work.
    pub(super) fn after(work: u64) -> Self {
        if work > WORK_BETWEEN_OTHERS { Self::Yield } else { Self::Continue }
    }
}

/// After a request of more work, other connections have their turn.
const WORK_BETWEEN_OTHERS: u64 = 1_000;

/// Plans with more packets than this are cut beside the port's thread.
const CUT_INLINE_MAX: u64 = 1_000;

/// An answer that another thread gives.
pub(super) struct Expected {
    pub(super) ticket: u64,
    pub(super) form: Form,
    /// When the request was read.
    pub(super) begun: Instant,
}

/// The state of a caller.
pub(super) struct Session {
    pub(super) id: u64,
    pub(super) protocol: Protocol,
    pub(super) name: String,
    pub(super) library: String,
    /// Who it is, once it is authenticated.
    pub(super) caller: Option<Caller>,
    /// The caller's address.
    pub(super) address: IpAddr,
    pub(super) transaction: Option<Transaction>,
    /// Its subscriptions, if there are any.
    pub(super) pushes: Option<Box<Pushes>>,
    last_spec: Option<&'static CommandSpec>,
    pub(super) expected: Vec<Expected>,
    pub(super) tickets: u64,
    /// The ticket of what is done beside this thread. What follows may rest on it, and waits.
    pub(super) aside: Option<u64>,
    /// What the request counts for that is being handled, where it is limited how many are in progress.
    pub(super) permit: Option<Permit>,
    /// The tickets of waiting rooms that the caller shows.
    pub(super) tickets_shown: Vec<Ticket>,
}

impl Session {
    pub(super) fn new(shared: &RespShared, address: IpAddr) -> Self {
        Self {
            id: shared.connection_ids.fetch_add(1, Ordering::Relaxed),
            protocol: Protocol::Resp2,
            name: String::new(),
            library: String::new(),
            caller: shared.access.stranger(),
            address,
            transaction: None,
            pushes: None,
            last_spec: None,
            expected: Vec::new(),
            tickets: 0,
            aside: None,
            permit: None,
            tickets_shown: Vec::new(),
        }
    }

    /// The number of pending answers from other partitions.
    pub(super) fn awaited(&self) -> usize {
        self.expected.len()
    }

    /// Whether the next request must wait for work that is done beside this thread.
    pub(super) fn is_waiting(&self) -> bool {
        self.aside.is_some()
    }

    /// Handles one request.
    pub(super) fn handle(&mut self, words: &[&[u8]], turn: &mut Turn<'_>) -> Flow {
        let Some((name, arguments)) = words.split_first() else { return Flow::Continue };
        if self.pushes.is_some() && self.is_subscribed_only() && self.refuse_subscribed(name, turn) {
            return Flow::Continue;
        }
        let flow = match self.spec_of(name).filter(|_| self.is_authenticated()) {
            Some(spec) => self.command(spec, arguments, turn),
            None => self.control(name, arguments, turn),
        };
        // Whatever is still in progress has a form that holds it.
        self.permit = None;
        flow
    }

    /// The command's row in the table. Callers mostly repeat a command, so the last row is cached.
    fn spec_of(&mut self, name: &[u8]) -> Option<&'static CommandSpec> {
        if let Some(last) = self.last_spec.filter(|last| last.name.as_bytes() == name) {
            return Some(last);
        }
        self.last_spec = table::find(name);
        self.last_spec
    }

    /// Writes a reply that depends on no batch.
    pub(super) fn say(&self, turn: &mut Turn<'_>, write: impl FnOnce(&mut Replies<'_>)) {
        turn.output.reply(0, self.protocol, write);
    }

    fn command(&mut self, spec: &'static CommandSpec, arguments: &[&[u8]], turn: &mut Turn<'_>) -> Flow {
        let is_to_count = match self.count_unread(spec, turn) {
            Ok(is_to_count) => is_to_count,
            Err(refused) => return self.beyond(&refused, turn),
        };
        if spec.effect == Effect::Write && self.transaction.is_none() && turn.shared.engine.partitions() == 1
        {
            // The plain way knows no keys, no namespaces and no limits of resources.
            return match is_to_count || self.is_limited() {
                true => self.change(spec, arguments, turn),
                false => self.plain(spec, arguments, turn),
            };
        }
        let parsed = Command::parse(spec, arguments);
        let (command, common) = match parsed {
            Ok(parsed) => parsed,
            Err(problem) => {
                self.abort_transaction();
                self.misshapen(spec, &problem, turn);
                return Flow::Continue;
            }
        };
        match self.admit(spec, &command, turn) {
            Err(Unfit::Waits(refused)) if self.is_named_batch() => self.wait_in_batch(refused),
            Err(Unfit::Waits(refused)) if self.transaction.is_none() => {
                let asked = (common, Body::Single(command), Form::Command(spec));
                return self.refuse_waiting(refused, asked, turn);
            }
            Err(unfit) => return self.turn_away(&unfit, turn),
            Ok(()) => {}
        }
        if self.transaction.is_some() {
            let bytes = arguments.iter().map(|word| word.len()).sum();
            self.queue(spec, (command, bytes), &common, turn);
            return Flow::Continue;
        }
        let flow = if takes_long(spec) { Flow::Yield } else { Flow::after(command.work()) };
        match spec.effect {
            Effect::Read => self.read(spec, command, turn),
            Effect::Write => self.write(common, Body::Single(command), Form::Command(spec), turn),
        }
        flow
    }

    /// A single change, in the plain way if that takes it.
    fn plain(&mut self, spec: &'static CommandSpec, arguments: &[&[u8]], turn: &mut Turn<'_>) -> Flow {
        let decided = Plain::read(spec, arguments).filter(|_| turn.local.owns(0));
        match decided.and_then(|plain| turn.local.decide_plain(&plain)) {
            None => self.change(spec, arguments, turn),
            Some((numbers, after)) => {
                turn.output.reply(after, self.protocol, |replies| replies.applied_pair(numbers));
                turn.tally.note(spec.number, after);
                Flow::Continue
            }
        }
    }

    /// A single change. What this thread decides itself is moved nowhere: it is read into the turn's envelope, decided
    /// there, and its receipt is written from where the owner has it.
    fn change(&mut self, spec: &'static CommandSpec, arguments: &[&[u8]], turn: &mut Turn<'_>) -> Flow {
        if let Err(problem) = turn.envelope.read(spec, arguments) {
            self.misshapen(spec, &problem, turn);
            return Flow::Continue;
        }
        if self.is_limited() {
            turn.envelope.namespace = self.namespace().into();
        }
        let admitted = turn.envelope.commands().first().map_or(Ok(()), |its| self.admit(spec, its, turn));
        match admitted {
            Err(Unfit::Waits(refused)) => {
                let Envelope { common, body, .. } = std::mem::take(turn.envelope);
                return self.refuse_waiting(refused, (common, body, Form::Command(spec)), turn);
            }
            Err(unfit) => return self.turn_away(&unfit, turn),
            Ok(()) => {}
        }
        let work = turn.envelope.commands().first().map_or(0, Command::work);
        let flow = if takes_long(spec) { Flow::Yield } else { Flow::after(work) };
        let partition = partition_of(turn.envelope.commands(), turn.shared.engine.partitions());
        let is_own = partition.is_ok_and(|partition| turn.local.owns(partition));
        let is_usual = !Acts::has(spec) && !Self::is_progress_bounded(spec, turn);
        let (output, tally, protocol) = (&mut *turn.output, &mut *turn.tally, self.protocol);
        let is_decided = is_own
            && is_usual
            && turn.envelope.is_ready()
            && turn.local.decide(turn.envelope, &mut |receipt, after| {
                output.reply(after, protocol, |replies| replies.outcome(spec, &receipt.outcome));
                tally.note(spec.number, after);
            });
        if !is_decided {
            let Envelope { common, body, .. } = std::mem::take(turn.envelope);
            self.write(common, body, Form::Command(spec), turn);
        }
        flow
    }

    pub(super) fn write(&mut self, common: Common, body: Body, form: Form, turn: &mut Turn<'_>) {
        let form = self.audited(&common, &body, form, turn);
        self.send(common, body, form, Request::Write, turn);
    }

    pub(super) fn misshapen(&self, spec: &CommandSpec, problem: &Invalid, turn: &mut Turn<'_>) {
        self.say(turn, |replies| {
            replies.error("ERR", &format!("INVALID {problem}. Usage: {}", spec.usage()));
        });
    }

    pub(super) fn send(
        &mut self,
        common: Common,
        body: Body,
        form: Form,
        request: fn(Envelope) -> Request,
        turn: &mut Turn<'_>,
    ) {
        let partition = match partition_of(body.commands(), turn.shared.engine.partitions()) {
            Ok(partition) => partition,
            Err(outcome) => return self.refuse(*outcome, &form, turn),
        };
        if let Err(refused) = self.begin(body.commands().iter(), turn) {
            self.beyond(&refused, turn);
            return;
        }
        if count_to_cut(body.commands()) > CUT_INLINE_MAX {
            let engine = turn.shared.engine.clone();
            let namespace = self.namespace().to_owned();
            let (acts, form) = form.parted();
            let work = move || {
                let envelope = Envelope::new(&namespace, common, body, engine.secret());
                let answers = match envelope {
                    // Waiting here bounds how many cuts there are in memory at a time.
                    Ok(envelope) => engine.call(partition, vec![request(envelope)]),
                    Err(problem) => vec![Ok(made_here(problem.into()))],
                };
                if let Some((acts, answer)) = acts.zip(answers.first()) {
                    acts.noted(answer).keep_and_wait();
                }
                Arrival::Answers(answers)
            };
            return self.do_aside(form, &turn.shared.cuts, work, turn);
        }
        match Envelope::new(self.namespace(), common, body, turn.shared.engine.secret()) {
            Ok(envelope) => self.submit(partition, request(envelope), form, turn),
            Err(problem) => self.refuse(problem.into(), &form, turn),
        }
    }

    pub(super) fn read(&mut self, spec: &'static CommandSpec, command: Command, turn: &mut Turn<'_>) {
        if let Err(refused) = self.begin(std::iter::once(&command), turn) {
            self.beyond(&refused, turn);
            return;
        }
        if spec.is_list() {
            return self.list(ListAsked::new(spec, command, self.caller.as_ref()), turn);
        }
        let is_of_all = matches!(&command, Command::Digest(digest) if digest.resource.0.is_none());
        let partition = partition_of(std::slice::from_ref(&command), turn.shared.engine.partitions());
        let request = Request::Read(self.namespace().to_owned(), command);
        match partition {
            _ if is_of_all => self.ask_all(&[request], Form::Digests(spec), turn),
            Ok(partition) if takes_long(spec) => {
                self.leave(partition, vec![request], Form::Command(spec), turn);
            }
            Ok(partition) => self.submit(partition, request, Form::Command(spec), turn),
            Err(outcome) => self.refuse(*outcome, &Form::Command(spec), turn),
        }
    }

    /// A refusal that was decided here, without the engine.
    pub(super) fn refuse(&self, outcome: Outcome, form: &Form, turn: &mut Turn<'_>) {
        self.say(turn, |replies| form.write(replies, &[Ok(made_here(outcome))]));
    }

    pub(super) fn submit(&mut self, partition: u32, request: Request, form: Form, turn: &mut Turn<'_>) {
        let (acts, form) = form.parted();
        if turn.local.owns(partition) {
            let held = turn.local.serve(&request);
            if let Some(acts) = acts {
                acts.noted(&held.result).then(self.hold_back(turn));
            }
            if let Some(number) = form.number() {
                turn.tally.note(number, held.after);
            }
            turn.output.reply(held.after, self.protocol, |replies| form.write(replies, &[held.result]));
            return;
        }
        let (ticket, reply) = self.expect(form, turn);
        let deliver: Deliver = match acts {
            None => Box::new(move |answer| reply(ticket, vec![answer])),
            Some(acts) => {
                let wake = turn.mailbox.wake.clone();
                Box::new(move |answer| {
                    acts.noted(&answer).then(move || {
                        reply(ticket, vec![answer]);
                        wake();
                    });
                })
            }
        };
        turn.outbox.push(partition, request, deliver);
    }

    /// Leaves a request for a partition, also for one of this thread: its answer may take long, and others are served
    /// meanwhile. The connection's next request waits for it.
    pub(super) fn leave(&mut self, partition: u32, requests: Vec<Request>, form: Form, turn: &mut Turn<'_>) {
        let (ticket, reply) = self.expect(form, turn);
        self.aside = Some(ticket);
        let wake = turn.mailbox.wake.clone();
        let answer = move |answers| {
            reply(ticket, answers);
            wake();
        };
        turn.shared.engine.submit(partition, requests, Box::new(answer));
    }
}

/// A receipt for an outcome that no partition stamped.
pub(super) fn made_here(outcome: Outcome) -> Receipt {
    let durability = Durability::Memory;
    Receipt {
        outcome,
        partition: 0,
        epoch: 0,
        sequence_first: 0,
        sequence_last: 0,
        at: 0,
        replayed: false,
        durability,
    }
}

/// Whether a command's work grows with more than its arguments, so that a pipeline of such commands would
/// keep all other connections waiting.
fn takes_long(spec: &CommandSpec) -> bool {
    matches!(spec.name, "DIGEST" | "ORDER.CANCELALL")
}
