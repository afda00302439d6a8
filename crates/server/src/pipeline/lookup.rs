//! Looks up in the projection whether a credit happened that the engine no longer remembers.

use std::sync::Arc;

use scarce_core::event::Position;
use scarce_core::outcome::Code;
use scarce_delivery::{LookedUp, Settled, SettledLookup, Tried};
use scarce_engine::{Engine, Failure, Standing};
use scarce_projection::Projection;
use scarce_projection::history::Operation;

use super::SQL;

/// The projected operations of a deployment.
pub(super) struct Operations {
    projection: Projection,
    engine: Arc<dyn Engine>,
}

impl Operations {
    pub(super) fn new(projection: &Projection, engine: &Arc<dyn Engine>) -> Arc<Self> {
        Arc::new(Self { projection: projection.clone(), engine: engine.clone() })
    }

    /// The last position of a partition's log, in the engine and in the tables; an error if the tables hold another history.
    async fn reach(&self, partition: u32) -> Result<(u64, u64), String> {
        // The order matters: what the tables lack after this did not happen before the question.
        let through = self.of_engine(move |engine| engine.durable_through(partition)).await?;
        let positions = self.projection.positions().await.map_err(|error| error.to_string())?;
        let its = positions.iter().find(|its| its.partition == partition);
        let reached = its.map_or(Position::default(), |its| its.position);
        if self.of_engine(move |engine| has_diverged(engine, partition, reached)).await? {
            let text =
                format!("the tables hold events up to {reached} of another history of partition {partition}");
            return Err(format!("{text}; 'scarce consumers rebase {SQL}' ends that"));
        }
        Ok((through, reached.sequence))
    }

    /// Asks the engine, which may have to query a server.
    async fn of_engine<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn Engine) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, String> {
        let engine = self.engine.clone();
        let asked = tokio::task::spawn_blocking(move || question(&*engine)).await;
        asked.map_err(|error| error.to_string())?.map_err(|failure| failure.to_string())
    }

    async fn ask(&self, tried: &Tried) -> Result<Settled, String> {
        let (through, reached) = self.reach(tried.partition).await?;
        if reached < through {
            return Err(format!("the tables are {} events behind the log", through - reached));
        }
        let found = self.projection.history().operations(&tried.operation_id).await;
        let operations = found.map_err(|error| error.to_string())?;
        let applied = operations
            .iter()
            .find(|its| its.namespace == tried.namespace && its.outcome == Code::Applied.word());
        if let Some(operation) = applied {
            return self.compare(tried, operation).await;
        }
        let openings = self.projection.openings().await.map_err(|error| error.to_string())?;
        let opening = openings.iter().find(|its| its.partition == tried.partition);
        if let Some(opening) = opening.filter(|its| its.at_ms > tried.from_ms) {
            let reason =
                format!("and the tables know nothing of it up to {}, where they begin", opening.position);
            return Ok(Settled::Unknown { reason });
        }
        if operations.iter().any(|its| its.namespace == tried.namespace) {
            return Ok(Settled::Refused);
        }
        Ok(Settled::Absent)
    }

    /// Whether an operation was the credit: its id alone does not say which account it credited, and with how much.
    async fn compare(&self, tried: &Tried, operation: &Operation) -> Result<Settled, String> {
        let entries = self.projection.history().entries_of(operation).await;
        let entries = entries.map_err(|error| error.to_string())?;
        let amount = i64::try_from(tried.amount).unwrap_or(i64::MAX);
        if entries.iter().any(|its| its.account_id == tried.account && its.amount == amount) {
            return Ok(Settled::Applied);
        }
        let shown: Vec<String> =
            entries.iter().map(|its| format!("{} to '{}'", its.amount, its.account_id)).collect();
        Ok(Settled::Other { found: format!("{} at {}", shown.join(", "), operation.last_sequence) })
    }
}

/// Whether the tables hold another history, by the log or by what the engine remembers of their consumer.
fn has_diverged(engine: &dyn Engine, partition: u32, reached: Position) -> Result<bool, Failure> {
    let known = engine.consumers(partition)?;
    let is_noted = known.iter().any(|its| its.name.as_str() == SQL && its.diverged.is_some());
    Ok(is_noted || matches!(engine.standing(partition, reached)?, Standing::Diverged { .. }))
}

impl SettledLookup for Operations {
    fn look_up<'a>(&'a self, tried: &'a Tried) -> LookedUp<'a> {
        Box::pin(self.ask(tried))
    }
}
