//! Databases, and processes that write to them, killed in the middle of batches again and again.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use scarce_launch::{MariaDb, MariaDbOptions, Postgres, PostgresOptions};
use scarce_outflow::{Batch, Consumer};
use scarce_projection::{Projection, ProjectionOptions};
use scarce_sim::random::Random;

use crate::agreement;
use crate::kit::{DEPLOYMENT, Database, DatabaseKind, Log, dump, number, open, take};

/// How often each is killed.
const KILLS: u64 = 10;

/// The minimum number of batches between two kills.
const BATCHES_BETWEEN: usize = 15;

/// How many entries a batch has.
const ENTRIES: usize = 4;

/// The timeout of every wait.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long to wait between two checks.
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

fn log(seed: u64) -> Log {
    Log::random(seed, 1_500)
}

/// A server that can be killed and started again.
trait Server: Send + 'static {
    fn kill_and_start(&mut self);
    fn database(&self) -> Database;
}

impl Server for Postgres {
    fn kill_and_start(&mut self) {
        self.kill().expect("to kill it");
        self.start_again().expect("to start it");
    }

    fn database(&self) -> Database {
        Database::at(DatabaseKind::Postgres, self.create_database("killed").expect("a database"))
    }
}

impl Server for MariaDb {
    fn kill_and_start(&mut self) {
        self.kill().expect("to kill it");
        self.start_again().expect("to start it");
    }

    fn database(&self) -> Database {
        Database::at(DatabaseKind::MariaDb, self.create_database("killed").expect("a database"))
    }
}

/// Projects everything, through all troubles; counts the written batches.
async fn project_through(projection: Projection, batches: Vec<Batch>, done: Arc<AtomicUsize>) -> usize {
    let (mut consumer, mut troubles) = (projection.consumer(0), 0);
    let begun = Instant::now();
    let mut next = 0;
    while let Some(batch) = batches.get(next) {
        match consumer.consume(batch).await {
            Ok(()) => next += 1,
            Err(trouble) => {
                assert!(begun.elapsed() < PATIENCE, "{trouble}");
                troubles += 1;
                if let Ok(Some(reached)) = consumer.position().await {
                    next = batches.iter().take_while(|batch| batch.end() <= reached).count();
                }
                tokio::time::sleep(LOOK_INTERVAL).await;
            }
        }
        done.store(next, Ordering::Relaxed);
    }
    troubles
}

async fn killed_again_and_again(mut server: impl Server, kind: DatabaseKind) {
    let seed = number("SCARCE_SEED", 11);
    let (log, mut random) = (log(seed), Random::new(seed));
    let database = server.database();
    let options = ProjectionOptions { ids_kept_ms_min: 5, rows_max: 50, timeout: Duration::from_secs(20) };
    let projection = Projection::open(database.url(), DEPLOYMENT, options).await.expect("the database");
    let done = Arc::new(AtomicUsize::new(0));
    let batches = log.pieces(ENTRIES);
    let kills = KILLS.min((batches.len() / BATCHES_BETWEEN) as u64 - 1);
    assert_eq!(kills, KILLS, "the log is too short");
    let projecting = tokio::spawn(project_through(projection, batches, Arc::clone(&done)));
    for _ in 0..kills {
        let from = done.load(Ordering::Relaxed);
        let until = from
            + BATCHES_BETWEEN / 2
            + usize::try_from(random.below(BATCHES_BETWEEN as u64 / 2)).expect("few");
        let begun = Instant::now();
        while done.load(Ordering::Relaxed) < until && !projecting.is_finished() {
            assert!(begun.elapsed() < PATIENCE, "it does not go on");
            tokio::time::sleep(LOOK_INTERVAL).await;
        }
        let killing = move || {
            server.kill_and_start();
            server
        };
        server = tokio::task::spawn_blocking(killing).await.expect("no panic");
    }
    let troubles = projecting.await.expect("no panic");
    assert!(troubles > 0, "no kill was ever noticed");
    check(&database, &log, kind).await;
}

/// Checks that the rows are those of an undisturbed projection, and agree with the machine.
async fn check(database: &Database, log: &Log, kind: DatabaseKind) {
    let alone = Database::new(kind);
    take(&mut open(&alone, 5).await.consumer(0), &log.all()).await;
    assert_eq!(dump(database).await, dump(&alone).await);
    agreement::check(database, log).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_is_killed_in_the_middle_of_batches() {
    killed_again_and_again(
        Postgres::start(&PostgresOptions::new()).expect("PostgreSQL"),
        DatabaseKind::Postgres,
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mariadb_is_killed_in_the_middle_of_batches() {
    killed_again_and_again(MariaDb::start(&MariaDbOptions::new()).expect("MariaDB"), DatabaseKind::MariaDb)
        .await;
}

/// The variable that gives a child its database.
const CHILD_URL: &str = "SCARCE_TEST_PROJECT_INTO";

/// What a child prints after each batch.
const BATCH_IS_IN: &str = "a batch is in";

/// The child: projects as fast as it can, until it is killed or done.
#[tokio::test]
#[allow(clippy::print_stdout, reason = "this is how it tells how far it is")]
async fn child_that_projects() {
    let Ok(url) = std::env::var(CHILD_URL) else { return };
    let log = log(number("SCARCE_SEED", 11));
    let options = ProjectionOptions { ids_kept_ms_min: 5, ..ProjectionOptions::default() };
    let projection = Projection::open(&url, DEPLOYMENT, options).await.expect("the database");
    let mut consumer = projection.consumer(0);
    let reached = consumer.position().await.expect("the database").expect("a cursor");
    for batch in log.pieces(ENTRIES).iter().filter(|batch| batch.end() > reached) {
        take(&mut consumer, batch).await;
        println!("{BATCH_IS_IN}");
    }
}

fn spawn_child(url: &str) -> Child {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command
        .args(["--exact", "kills::child_that_projects", "--nocapture", "--test-threads=1"])
        .env(CHILD_URL, url);
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("to start it")
}

/// Reads until a child has written this many batches; returns how many it wrote.
fn wait_for(child: &mut Child, batches: usize) -> usize {
    let output = BufReader::new(child.stdout.take().expect("its output"));
    let lines = output.lines().map_while(Result::ok).filter(|line| line.contains(BATCH_IS_IN));
    lines.take(batches).count()
}

#[tokio::test]
async fn a_process_that_projects_into_sqlite_is_killed_in_the_middle_of_batches() {
    let database = Database::new(DatabaseKind::Sqlite);
    let log = log(number("SCARCE_SEED", 11));
    let batches = log.pieces(ENTRIES).len();
    let each = batches / (usize::try_from(KILLS).expect("few") + 3);
    for _ in 0..KILLS {
        let mut child = spawn_child(database.url());
        assert_eq!(wait_for(&mut child, each), each, "it was done before it was killed");
        child.kill().expect("to kill it");
        child.wait().expect("its end");
    }
    let mut child = spawn_child(database.url());
    assert!(wait_for(&mut child, usize::MAX) > 0, "no kill was in the middle");
    assert!(child.wait().expect("its end").success());
    check(&database, &log, DatabaseKind::Sqlite).await;
}
