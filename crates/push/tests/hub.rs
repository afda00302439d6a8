//! The hub on an engine in process, whose disk can be held up.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use scarce_core::command::{Body, Command, Envelope, table};
use scarce_engine::clock::ManualClock;
use scarce_engine::{Engine, Request};
use scarce_engine_embedded::storage::FaultyDisk;
use scarce_engine_embedded::{
    ClockChoice, DeploymentFiles, Embedded, EmbeddedSettings, Running, SilentPort, open_files,
};
use scarce_push::{Asked, Hub, Message, Subscriber};
use serde_json::Value;

/// How long a message may take that comes.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long is waited for one that must not.
const WHILE: Duration = Duration::from_millis(300);

struct Bench {
    disk: FaultyDisk,
    engine: Arc<Embedded>,
    running: Running,
    hub: Arc<Hub>,
}

impl Bench {
    fn new() -> Self {
        let (disk, clock) = (FaultyDisk::new(), ManualClock::default());
        clock.set(1_000);
        let settings = EmbeddedSettings { clock: ClockChoice::Manual(clock), ..EmbeddedSettings::default() };
        let files = DeploymentFiles { root: FaultyDisk::new().storage(), partitions: vec![disk.storage()] };
        let recovered = open_files(&files, &settings, &mut |_| {}).expect("recovery");
        let (engine, running) = recovered.start(|_, _| Ok(Box::new(SilentPort::default()))).expect("start");
        let hub = Hub::new(engine.clone());
        Self { disk, engine, running, hub }
    }

    fn request(line: &str) -> Request {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let spec = table::find(words[0]).expect("a command");
        let (command, common) = Command::parse(spec, &words[1..]).expect("well-formed");
        Request::Write(Envelope::new("", common, Body::Single(command), &[0; 32]).expect("an envelope"))
    }

    fn call(&self, line: &str) {
        let answer = self.engine.call(0, vec![Self::request(line)]).remove(0).expect("an answer");
        assert!(answer.outcome.to_string().starts_with("APPLIED"), "{line}: {}", answer.outcome);
    }

    fn end(self) {
        self.hub.end();
        self.running.shut_down().expect("a clean end");
    }
}

/// A subscriber, and how it is woken.
struct Listening {
    subscriber: Subscriber,
    woken: mpsc::Receiver<()>,
}

impl Listening {
    fn new(hub: &Arc<Hub>, channels: &[&str]) -> Self {
        let (wake, woken) = mpsc::channel();
        let wake = std::sync::Mutex::new(wake);
        let waker = move || {
            // Nobody waits any more.
            let _ = wake.lock().expect("no panic").send(());
        };
        let mut subscriber = Subscriber::new(hub.clone(), None, Arc::new(waker));
        for channel in channels {
            subscriber.subscribe(Asked::parse(channel).expect("a channel")).expect("room");
        }
        Self { subscriber, woken }
    }

    fn next_within(&mut self, patience: Duration) -> Option<Message> {
        loop {
            if let Some(message) = self.subscriber.take_next() {
                return Some(message);
            }
            self.woken.recv_timeout(patience).ok()?;
        }
    }

    fn next(&mut self) -> (Message, Value) {
        let message = self.next_within(PATIENCE).expect("a message");
        let json = serde_json::from_slice(&message.text).expect("JSON");
        (message, json)
    }
}

#[test]
fn nothing_is_told_before_it_is_durable() {
    let bench = Bench::new();
    bench.call("ACCOUNT.OPEN a EUR");
    let mut listening = Listening::new(&bench.hub, &["account.a", "market.m.trades"]);
    listening.next();
    listening.next();
    bench.disk.block_syncs();
    let (sender, answered) = mpsc::channel();
    let reply = Box::new(move |answers: Vec<_>| sender.send(answers.len()).expect("a listener"));
    bench.engine.submit(0, vec![Bench::request("ACCOUNT.CREDIT a 5")], reply);
    bench.disk.wait_for_blocked_syncs(1);
    // Newcomers wait, too: what they would see is not on disk.
    let mut newcomer = Listening::new(&bench.hub, &["account.a", "account.b"]);
    let early = newcomer.next_within(WHILE).map(|message| message.text);
    let shown = early.as_deref().map(String::from_utf8_lossy);
    assert!(shown.as_deref().is_none_or(|text| text.contains("\"balance\":0")), "{shown:?}");
    assert!(listening.next_within(WHILE).is_none(), "it was told before it was durable");
    bench.disk.release_syncs();
    assert_eq!(answered.recv_timeout(PATIENCE), Ok(1));
    let (_, told) = listening.next();
    assert_eq!((&told["type"], &told["data"]["balance"]), (&"delta".into(), &5.into()));
    drop((listening, newcomer));
    bench.end();
}

#[test]
fn a_change_is_written_once_for_all_subscribers() {
    let bench = Bench::new();
    bench.call("STOCK.CREATE s 100");
    let mut all: Vec<Listening> = (0..50).map(|_| Listening::new(&bench.hub, &["stock.s"])).collect();
    all.iter_mut().for_each(|one| drop(one.next()));
    bench.call("STOCK.TAKE s 1 o");
    let texts: Vec<Message> = all.iter_mut().map(|one| one.next().0).collect();
    let first = texts[0].text.as_ptr();
    assert!(texts.iter().all(|message| message.text.as_ptr() == first), "they share one text");
    assert_eq!(bench.hub.figures.subscriptions.get(), 50);
    assert!(bench.hub.figures.reads.get() <= 3, "{} reads", bench.hub.figures.reads.get());
    drop(all);
    assert_eq!((bench.hub.figures.subscriptions.get(), bench.hub.figures.subscribers.get()), (0, 0));
    bench.end();
}

#[test]
fn who_comes_back_soon_goes_on_and_who_has_no_place_in_it_begins_anew() {
    let bench = Bench::new();
    bench.call("STOCK.CREATE s 100");
    let mut first = Listening::new(&bench.hub, &["stock.s"]);
    let (snapshot, _) = first.next();
    let position = snapshot.position.expect("a position");
    drop(first);
    bench.call("STOCK.TAKE s 1 o");
    bench.call("STOCK.TAKE s 2 p");
    let mut back = Listening::new(&bench.hub, &[&format!("stock.s;after={position}")]);
    let (_, told) = back.next();
    assert_eq!((&told["type"], &told["data"]["available"]), (&"delta".into(), &97.into()));
    assert!(told["first"].as_u64() <= Some(position.sequence + 1), "{told}");
    for elsewhere in ["stock.s;after=1.0", &format!("stock.s;after=123456.{}", position.sequence)] {
        let (_, told) = Listening::new(&bench.hub, &[elsewhere]).next();
        assert_eq!(
            (&told["type"], &told["data"]["available"]),
            (&"snapshot".into(), &97.into()),
            "{elsewhere}"
        );
    }
    drop(back);
    bench.end();
}
