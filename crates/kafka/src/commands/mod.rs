//! In: commands from a topic to the engine, and their outcomes to another topic.
//!
//! A consumer group shares the partitions of the topic among processes. Commands of one partition are sent to
//! the engine in order. The offset of a command is committed only after its outcome, or its dead letter, was
//! acknowledged by the brokers; after a crash commands come again, and the engine recognizes their ids and
//! repeats its first answers. The engine keeps the positions, too, and they count: it is there that reading goes on
//! after a restart. A message that is older than the ids that the engine remembers is not executed.

mod figures;
mod flow;
mod gaps;
mod intake;
mod lane;
mod ledger;
mod outbox;
mod positions;
mod record;
mod recreation;
mod replay;
mod run;

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rdkafka::consumer::{Consumer, StreamConsumer};
use scarce_core::command::Command;
use scarce_core::types::TimeMs;
use scarce_engine::Engine;
use scarce_outflow::Backoff;
use tokio::sync::{mpsc, watch};

pub use figures::Figures;
pub use intake::{CORRELATION_HEADERS, CORRELATION_PREFIXES, TICKET_HEADER, VALUE_BYTES_MAX};
pub use replay::{Choice, Replayed, replay};

use crate::membership::Membership;
use crate::producer::Publisher;
use crate::topics::{self, Wanted};
use crate::{KafkaError, KafkaSettings};
use positions::Positions;
use run::{Ending, Run, Work};

/// How many partitions the topic of dead letters is created with.
const DEAD_LETTER_PARTITIONS: u32 = 1;

/// How long to wait before commands or outcomes that failed are retried.
const RETRIES: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(5));

/// Commands of a message, before the engine has them.
#[derive(Clone, Copy, Debug)]
pub struct Arriving<'a> {
    /// The commands.
    pub commands: &'a [Command],
    /// What the header [`TICKET_HEADER`] says: tickets of waiting rooms, with commas between them.
    pub tickets: &'a str,
    /// When the message was sent; it says so itself, or the broker does.
    pub sent_ms: Option<TimeMs>,
}

/// Says whether commands may be executed, and otherwise why not. It must say the same whenever a message comes again.
pub type Admission = Arc<dyn Fn(Arriving<'_>) -> Result<(), String> + Send + Sync>;

/// The running consumer of commands. Dropping it abandons the commands in progress; they come again at the
/// next start.
pub struct Commands {
    ending: watch::Sender<Ending>,
    figures: Arc<Figures>,
    thread: Option<JoinHandle<()>>,
}

impl Commands {
    /// Ensures that the topics exist, and starts.
    ///
    /// # Errors
    /// When no broker answers, or a topic is missing or wrong and may not be created.
    pub async fn start(settings: &KafkaSettings, engine: Arc<dyn Engine>) -> Result<Self, KafkaError> {
        Self::start_guarded(settings, engine, Arc::new(|_: Arriving<'_>| Ok(()))).await
    }

    /// The same, where not every command may be executed.
    ///
    /// # Errors
    /// As [`Commands::start`].
    pub async fn start_guarded(
        settings: &KafkaSettings,
        engine: Arc<dyn Engine>,
        admission: Admission,
    ) -> Result<Self, KafkaError> {
        let partitions = engine.partitions();
        let wanted = |topic, partitions, exactly| Wanted { topic, partitions, exactly };
        let topics = &settings.topics;
        let needed = [
            wanted(&topics.commands, partitions, false),
            wanted(&topics.outcomes, partitions, true),
            wanted(&topics.dead_letters, DEAD_LETTER_PARTITIONS, false),
        ];
        topics::ensure(settings, &needed).await?;
        let figures = Arc::new(Figures::default());
        let work = Work {
            settings: Arc::new(settings.clone()),
            engine,
            admission,
            publisher: Publisher::new(settings)?,
            figures: figures.clone(),
        };
        // Reports wrong settings now rather than later.
        settings.group_member()?.create_native_config().map_err(KafkaError::of_settings)?;
        let (ending, ended) = watch::channel(Ending::No);
        let name = "kafka-commands";
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || serve(&work, &ended));
        let thread = thread.map_err(|source| KafkaError::Thread { name, source })?;
        Ok(Self { ending, figures, thread: Some(thread) })
    }

    /// The metrics.
    #[must_use]
    pub fn figures(&self) -> &Arc<Figures> {
        &self.figures
    }

    /// Takes no more commands, waits some seconds for those in progress, commits the offsets and leaves the
    /// group. Blocks.
    pub fn shut_down(mut self) {
        self.end(Ending::Finished);
    }

    fn end(&mut self, ending: Ending) {
        // A thread that has ended already does not receive this.
        let _ = self.ending.send(ending);
        if let Some(thread) = self.thread.take() {
            // The message of a panic was printed already.
            drop(thread.join());
        }
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        self.end(Ending::Abandoned);
    }
}

/// The thread: one consumer after another, because one may fail for good.
fn serve(work: &Work, ending: &watch::Receiver<Ending>) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_time().build() {
        Ok(runtime) => runtime,
        Err(error) => return work.figures.note_trouble(&error.to_string()),
    };
    runtime.block_on(async {
        let mut backoff = RETRIES;
        while *ending.borrow() == Ending::No {
            match consume(work, ending.clone()).await {
                Ok(()) => return,
                Err(text) => work.figures.note_trouble(&text),
            }
            let mut ending = ending.clone();
            tokio::select! {
                () = tokio::time::sleep(backoff.next_delay()) => {}
                _ = ending.wait_for(|ending| *ending != Ending::No) => {}
            }
        }
    });
}

/// The life of one consumer, from joining the group to leaving it.
async fn consume(work: &Work, ending: watch::Receiver<Ending>) -> Result<(), String> {
    let config = work.settings.group_member().map_err(|error| error.to_string())?;
    let positions =
        Arc::new(Positions::new(work.settings.clone(), work.engine.clone(), work.figures.clone()));
    let consumer: StreamConsumer<Membership> = config
        .create_with_context(Membership::with(positions.clone()))
        .map_err(|error| KafkaError::of_settings(error).to_string())?;
    consumer.subscribe(&[&work.settings.topics.commands]).map_err(|error| error.to_string())?;
    let (news, heard) = mpsc::unbounded_channel();
    Run::new(work, &consumer, positions, news).run(heard, ending).await
}
