//! The course of the sale: opening, rush, crash, recovery, deadlines, the late buyers.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};

use super::super::gate::Gate;
use super::super::progress::Progress;
use super::super::proof::grouped;
use super::super::server::Server;
use super::buyers::{ASSET, BANK, Crowd, PATIENT_TTL_MS, PRICE, SHOP, SKU};
use super::record::Record;
use super::rush::{News, Rush};
use crate::cli::args::FlashSale;
use crate::cli::{Exit, Failed};
use crate::client::{Client, Reply, integer, text};

/// How often the picture is drawn anew.
const FRAME: Duration = Duration::from_millis(60);

/// How often it is asked whether the last deadline has passed.
const ASK_INTERVAL: Duration = Duration::from_millis(25);

/// Everything on stage.
pub(super) struct Stage<'a> {
    pub(super) options: &'a FlashSale,
    pub(super) crowd: Crowd,
    pub(super) server: Server,
    pub(super) progress: Progress,
    pub(super) record: Mutex<Record>,
    gate: Gate,
    begun: Instant,
    /// How long the start after the crash took, once it happened.
    pub(super) recovery: Option<Duration>,
}

impl<'a> Stage<'a> {
    /// Starts the server and opens the sale.
    pub(super) fn open(options: &'a FlashSale) -> Result<Self, Failed> {
        let mut server = Server::new(options.stage.keep)?;
        let (address, _) = server.start()?;
        let crowd = Crowd {
            seed: options.stage.seed,
            count: options.buyers,
            per_owner: options.per_owner,
            ttl_ms: options.ttl_ms,
        };
        let stage = Self {
            options,
            crowd,
            server,
            progress: Progress::new("stock", options.units),
            record: Mutex::new(Record { available: options.units, ..Record::default() }),
            gate: Gate::default(),
            begun: Instant::now(),
            recovery: None,
        };
        stage.put_on_sale(&mut stage.server.connect()?)?;
        stage.gate.open(address);
        Ok(stage)
    }

    /// All the money there is: enough to pay for every unit.
    pub(super) fn money(&self) -> u64 {
        PRICE * self.options.units
    }

    fn put_on_sale(&self, client: &mut Client) -> Result<(), Failed> {
        let (units, limit) = (self.options.units.to_string(), self.options.per_owner.to_string());
        let money = self.money().to_string();
        apply(client, &["STOCK.CREATE", SKU, &units, "PEROWNER", &limit])?;
        apply(client, &["ACCOUNT.OPEN", BANK, ASSET])?;
        apply(client, &["ACCOUNT.OPEN", SHOP, ASSET])?;
        apply(client, &["ACCOUNT.CREDIT", BANK, &money])?;
        self.progress.say(&format!(
            "{} units of '{SKU}' for {} buyers, at most {} each",
            grouped(self.options.units),
            grouped(self.crowd.count),
            self.options.per_owner
        ));
        Ok(())
    }

    /// The rush, with the crash in its middle.
    pub(super) fn rush(&mut self) -> Result<(), Failed> {
        let early = self.crowd.early();
        let swing = (self.options.units.div_ceil(2), early.div_ceil(3));
        self.run(0..early, Some(swing))?;
        if self.recovery.is_none() {
            return Err(self.server.failed("was to be killed in the middle, but the rush was over before"));
        }
        Ok(())
    }

    /// Those who come when the stock that others let lie is on sale again.
    pub(super) fn stragglers(&mut self) -> Result<(), Failed> {
        self.run(self.crowd.early()..self.crowd.count, None)
    }

    fn run(&mut self, buyers: std::ops::Range<u64>, swing: Option<(u64, u64)>) -> Result<(), Failed> {
        let connections = self.options.stage.connections;
        let Self { options, crowd, server, progress, record, gate, begun, recovery } = self;
        let rush = Rush {
            crowd: *crowd,
            gate,
            record,
            next: buyers.start.into(),
            end: buyers.end,
            window: window(options.units, connections),
            swing,
        };
        let mut watch =
            Watch { server, progress, record, gate, begun: *begun, shown: (*begun, 0), life: 1, recovery };
        watch.life += u64::from(watch.recovery.is_some());
        let (sender, news) = unbounded();
        std::thread::scope(|scope| {
            // Two connections to a worker, so that it can say the same on both at once.
            for at in 0..connections.div_ceil(2) {
                let (rush, sender) = (&rush, sender.clone());
                let lines = if 2 * at + 1 < connections { 2 } else { 1 };
                scope.spawn(move || rush.work(lines, &sender));
            }
            drop(sender);
            let watched = watch.follow(&news);
            if watched.is_err() {
                // Whoever waits for the server to come back is let go.
                gate.close();
                watch.server.kill();
            }
            watched
        })
    }

    /// Waits until what the vanished had reserved is on sale again.
    pub(super) fn wait_for_deadlines(&mut self) -> Result<(), Failed> {
        let mut client = self.server.connect()?;
        let begun = Instant::now();
        let limit = Duration::from_millis(PATIENT_TTL_MS + self.options.ttl_ms) + Duration::from_secs(10);
        loop {
            let available = figure(&mut client, &["STOCK.GET", SKU], "available")?;
            let reserved = figure(&mut client, &["STOCK.GET", SKU], "reserved")?;
            self.progress
                .show(available, || format!("waiting for the deadlines of {reserved} reserved units"));
            if reserved == 0 {
                let waited = begun.elapsed().as_millis();
                self.progress.say(&format!(
                    "deadlines    nothing is reserved any more after {waited} ms; {available} units are left"
                ));
                return Ok(());
            }
            if begun.elapsed() > limit {
                return Err(Failed::text(
                    Exit::Failed,
                    format!("{reserved} units are still reserved long after their deadline"),
                ));
            }
            std::thread::park_timeout(ASK_INTERVAL);
        }
    }

    pub(super) fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn seconds(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }
}

/// So many commands on the way per connection that the crash finds about a quarter of the sale there.
fn window(units: u64, connections: u32) -> usize {
    usize::try_from(units / (4 * u64::from(connections))).unwrap_or(usize::MAX).clamp(2, 64)
}

/// What watches the rush: draws it, and crashes the server when it is in full swing.
struct Watch<'a> {
    server: &'a mut Server,
    progress: &'a Progress,
    record: &'a Mutex<Record>,
    gate: &'a Gate,
    begun: Instant,
    /// When the picture was last drawn, and how many answers there were.
    shown: (Instant, u64),
    life: u64,
    recovery: &'a mut Option<Duration>,
}

impl Watch<'_> {
    /// Follows the rush until the last worker has gone.
    fn follow(&mut self, news: &Receiver<News>) -> Result<(), Failed> {
        loop {
            match news.recv_timeout(FRAME) {
                Ok(News::InFullSwing) if self.life == 1 => self.crash()?,
                Ok(News::Broken(life)) if life == self.life => {
                    return Err(self.server.failed("broke its connections without being asked to"));
                }
                Ok(News::Failed(text)) => return Err(Failed::text(Exit::Failed, text)),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => self.show(),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }

    fn crash(&mut self) -> Result<(), Failed> {
        self.server.kill();
        self.life += 1;
        let (sold, answers) = self.figures();
        self.progress.say(&format!(
            "kill -9      after {:.2} s, with {} units sold and {} answers given",
            self.begun.elapsed().as_secs_f64(),
            grouped(sold),
            grouped(answers)
        ));
        let (address, took) = self.server.start()?;
        *self.recovery = Some(took);
        let took = took.as_millis();
        self.progress.say(&format!("recovery     ready again on the same data after {took} ms"));
        self.gate.open(address);
        Ok(())
    }

    fn figures(&self) -> (u64, u64) {
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        (record.sold, record.answers)
    }

    fn show(&mut self) {
        let record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        let (then, before) = self.shown;
        let rate = (record.answers - before) as f64 / then.elapsed().as_secs_f64().max(0.001);
        self.shown = (Instant::now(), record.answers);
        self.progress.show(record.available, || {
            let refusals: Vec<String> =
                record.refusals.iter().map(|(code, count)| format!("{code} {}", grouped(*count))).collect();
            format!("{} answers, {rate:.0}/s · {}", grouped(record.answers), refusals.join(" · "))
        });
    }
}

/// Sends a command that must be applied.
pub(super) fn apply(client: &mut Client, words: &[&str]) -> Result<Vec<redis::Value>, Failed> {
    match Reply::of(client.call(words)?) {
        Reply::Applied(values) => Ok(values),
        other => Err(Failed::text(Exit::Failed, format!("'{}' was answered {other:?}", words.join(" ")))),
    }
}

/// A figure of a reply that names its figures.
pub(super) fn figure(client: &mut Client, words: &[&str], name: &str) -> Result<u64, Failed> {
    let missing = || Failed::text(Exit::Failed, format!("'{}' does not show '{name}'", words.join(" ")));
    let redis::Value::Array(fields) = client.call(words)? else { return Err(missing()) };
    let found = fields.chunks(2).find(|pair| text(&pair[0]).as_deref() == Some(name));
    found.and_then(|pair| integer(pair.get(1)?)).map(i64::unsigned_abs).ok_or_else(missing)
}
