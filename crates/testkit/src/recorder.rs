//! The statements that the code under test sends to its database.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{DefaultGuard, set_default};
use tracing::{Dispatch, Event, Metadata, Subscriber};

/// Where statements are shown.
const TARGET: &str = "scarce_sql::statement";

/// Records the distinct statements that are sent on this thread, until it is dropped.
#[derive(Debug)]
pub struct Recorder {
    statements: Statements,
    _guard: DefaultGuard,
    /// While there is only one subscriber, a thread without one decides for all threads that nobody follows.
    _second: Dispatch,
}

type Statements = Arc<Mutex<BTreeSet<String>>>;

impl Recorder {
    /// Begins to record.
    #[must_use]
    pub fn start() -> Self {
        let statements = Statements::default();
        let follower = || Follower(Arc::clone(&statements));
        let second = Dispatch::new(follower());
        Self { _guard: set_default(follower()), _second: second, statements }
    }

    /// The statements that read rows or look for them, each once.
    ///
    /// # Panics
    /// When a test that recorded has panicked.
    #[must_use]
    pub fn statements(&self) -> Vec<String> {
        let verbs = ["SELECT", "WITH", "UPDATE", "DELETE"];
        let statements = self.statements.lock().expect("no panic");
        statements.iter().filter(|sql| verbs.iter().any(|verb| sql.starts_with(verb))).cloned().collect()
    }
}

#[derive(Debug)]
struct Follower(Statements);

impl Subscriber for Follower {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == TARGET
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Noting(&self.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Noting<'s>(&'s Statements);

impl Visit for Noting<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "sql" {
            self.0.lock().expect("no panic").insert(value.to_owned());
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn Debug) {}
}
