//! An engine that loses answers, or refuses to answer, like a network in between.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use scarce_core::event::{Entry, Histories, Position};
use scarce_core::state;
use scarce_engine::consumers::{ConsumerName, Consumption, Lease};
use scarce_engine::engine::{Reply, Watch};
use scarce_engine::inputs::InputPosition;
use scarce_engine::metrics::PartitionMetrics;
use scarce_engine::{Engine, Failure, Image, Log, Request};

/// The fate of a batch of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing.
    None,
    /// It is done, and its answers are lost.
    AnswersLost,
    /// It is done, and its answers never come.
    Silent,
    /// It is not done, and its outcome is unknown.
    RequestLost,
    /// It is refused at once.
    Overloaded,
}

type Chooser = Box<dyn FnMut(&[Request]) -> Fault + Send>;

/// An engine behind the faults.
pub struct Faulty {
    engine: Arc<dyn Engine>,
    choose: Mutex<Chooser>,
    /// Replies that are never called; dropped with this, so that waiting ends with the worker that waits.
    unheard: Mutex<Vec<Reply>>,
}

impl Faulty {
    pub fn new(
        engine: &Arc<dyn Engine>,
        choose: impl FnMut(&[Request]) -> Fault + Send + 'static,
    ) -> Arc<Self> {
        let choose: Mutex<Chooser> = Mutex::new(Box::new(choose));
        Arc::new(Self { engine: Arc::clone(engine), choose, unheard: Mutex::default() })
    }
}

fn lost(count: usize) -> Vec<Result<scarce_core::outcome::Receipt, Failure>> {
    vec![Err(Failure::Unknown { reason: "the connection broke".to_owned() }); count]
}

impl Engine for Faulty {
    fn secret(&self) -> &[u8; 32] {
        self.engine.secret()
    }

    fn state_settings(&self) -> &state::StateSettings {
        self.engine.state_settings()
    }

    fn submit(&self, partition: u32, batch: Vec<Request>, reply: Reply) {
        let count = batch.len();
        let fault = (self.choose.lock().expect("no panic"))(&batch);
        match fault {
            Fault::None => self.engine.submit(partition, batch, reply),
            Fault::AnswersLost => {
                self.engine.submit(partition, batch, Box::new(move |_| reply(lost(count))));
            }
            Fault::Silent => {
                self.engine.submit(partition, batch, Box::new(drop));
                self.unheard.lock().expect("no panic").push(reply);
            }
            Fault::RequestLost => reply(lost(count)),
            Fault::Overloaded => reply(vec![Err(Failure::Overloaded { queue: "test" }); count]),
        }
    }

    fn inputs(&self, partition: u32) -> Result<Vec<InputPosition>, Failure> {
        self.engine.inputs(partition)
    }

    fn keep_inputs(&self, partition: u32, positions: &[InputPosition]) -> Result<(), Failure> {
        self.engine.keep_inputs(partition, positions)
    }

    fn check_ready(&self, partition: u32) -> Result<(), Failure> {
        self.engine.check_ready(partition)
    }

    fn metrics(&self, partition: u32) -> Result<&PartitionMetrics, Failure> {
        self.engine.metrics(partition)
    }
}

impl Log for Faulty {
    fn partitions(&self) -> u32 {
        self.engine.partitions()
    }

    fn deployment_id(&self) -> &str {
        self.engine.deployment_id()
    }

    fn entries(&self, partition: u32, sequence: u64, bytes_max: u64) -> Result<Vec<Entry>, Failure> {
        self.engine.entries(partition, sequence, bytes_max)
    }

    fn watch(&self, partition: u32, wake: Arc<dyn Fn() + Send + Sync>) -> Result<Watch, Failure> {
        self.engine.watch(partition, wake)
    }

    fn durable_through(&self, partition: u32) -> Result<u64, Failure> {
        self.engine.durable_through(partition)
    }

    fn first_sequence(&self, partition: u32) -> Result<u64, Failure> {
        self.engine.first_sequence(partition)
    }

    fn image(&self, partition: u32) -> Result<Box<dyn Image>, Failure> {
        self.engine.image(partition)
    }

    fn consumers(&self, partition: u32) -> Result<Vec<Consumption>, Failure> {
        self.engine.consumers(partition)
    }

    fn confirm(
        &self,
        partition: u32,
        name: &ConsumerName,
        holder: &str,
        confirmed: Position,
    ) -> Result<Lease, Failure> {
        self.engine.confirm(partition, name, holder, confirmed)
    }

    fn lease(
        &self,
        partition: u32,
        name: &ConsumerName,
        holder: &str,
        ttl: Duration,
    ) -> Result<Lease, Failure> {
        self.engine.lease(partition, name, holder, ttl)
    }

    fn note_divergence(&self, partition: u32, name: &ConsumerName, held: Position) -> Result<(), Failure> {
        self.engine.note_divergence(partition, name, held)
    }

    fn epoch(&self, partition: u32) -> Result<u64, Failure> {
        self.engine.epoch(partition)
    }

    fn histories(&self, partition: u32) -> Result<Histories, Failure> {
        self.engine.histories(partition)
    }

    fn rebase_consumer(&self, partition: u32, name: &ConsumerName, to: Position) -> Result<(), Failure> {
        self.engine.rebase_consumer(partition, name, to)
    }

    fn forget_consumer(&self, partition: u32, name: &ConsumerName) -> Result<bool, Failure> {
        self.engine.forget_consumer(partition, name)
    }
}
