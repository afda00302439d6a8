//! Requests of a turn for other partitions: collected while sockets are served, then handed over as one batch
//! for each partition, so that a partition's bounded inbox counts turns and not commands.

use scarce_core::outcome::Receipt;
use scarce_engine::stop::Waker;
use scarce_engine::{Engine, Failure, Request};

/// Receives the answer to one request, on a thread of the engine.
pub(super) type Deliver = Box<dyn FnOnce(Result<Receipt, Failure>) + Send>;

/// The requests of a turn, by partition.
#[derive(Default)]
pub(super) struct Outbox {
    batches: Vec<Vec<(Request, Deliver)>>,
}

impl Outbox {
    /// Adds a request.
    pub(super) fn push(&mut self, partition: u32, request: Request, deliver: Deliver) {
        let partition = partition as usize;
        if self.batches.len() <= partition {
            self.batches.resize_with(partition + 1, Vec::new);
        }
        self.batches[partition].push((request, deliver));
    }

    /// Hands everything over; `wake` is called once for each batch when its answers are delivered.
    pub(super) fn send(&mut self, engine: &dyn Engine, wake: &Waker) {
        for (partition, batch) in (0..).zip(&mut self.batches) {
            if batch.is_empty() {
                continue;
            }
            let (requests, delivers): (Vec<_>, Vec<_>) = std::mem::take(batch).into_iter().unzip();
            let wake = wake.clone();
            let reply = move |answers: Vec<Result<Receipt, Failure>>| {
                delivers.into_iter().zip(answers).for_each(|(deliver, answer): (Deliver, _)| deliver(answer));
                wake();
            };
            engine.submit(partition, requests, Box::new(reply));
        }
    }
}
