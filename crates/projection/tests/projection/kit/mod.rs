//! Shared parts of the tests: real databases, real logs, and ways to inspect both.

mod log;
mod schema;

pub use log::{Log, batch, split};
pub use scarce_testkit::{Database, DatabaseKind, number};
pub use schema::{columns, dump, indexes, views};

use scarce_core::event::Position;
use scarce_outflow::{Batch, Consumer};
use scarce_projection::{Projection, ProjectionOptions, SqlConsumer};

/// The deployment of all tests.
pub const DEPLOYMENT: &str = "00112233445566778899aabbccddeeff";

/// Opens the projection of a database; ids may be used again after `ids_kept_ms_min`.
pub async fn open(database: &Database, ids_kept_ms_min: u64) -> Projection {
    let options = ProjectionOptions { ids_kept_ms_min, rows_max: 20, ..ProjectionOptions::default() };
    Projection::open(database.url(), DEPLOYMENT, options).await.expect("the database")
}

/// Consumes a batch, which must succeed.
#[track_caller]
pub fn take<'c>(consumer: &'c mut SqlConsumer, batch: &'c Batch) -> impl Future<Output = ()> + use<'c> {
    let caller = std::panic::Location::caller();
    async move {
        if let Err(trouble) = consumer.consume(batch).await {
            panic!("{caller}: {trouble}");
        }
    }
}

/// The position of a consumer.
pub async fn position(consumer: &mut SqlConsumer) -> Position {
    consumer.position().await.expect("the database").expect("a cursor")
}
