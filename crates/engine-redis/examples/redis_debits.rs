//! How many debits a second the Redis engine takes: so many callers, each with one command under way.
//!
//!     cargo run --release -p scarce-engine-redis --example redis_debits -- redis://127.0.0.1:6379 64 200000

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Instant;

use scarce_core::command::table::find;
use scarce_core::command::{Body, Command, Common, Envelope};
use scarce_core::types::OperationId;
use scarce_engine::{Engine, Request};
use scarce_engine_redis::{RedisEngine, RedisSettings, ScriptKind};

/// How many accounts are debited by turns.
const ACCOUNTS: usize = 1_000;

type Failed = Box<dyn std::error::Error>;

fn request(engine: &RedisEngine, line: &str, id: Option<&str>) -> Result<Request, Failed> {
    let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
    let spec = find(words[0]).ok_or("no such command")?;
    let (command, _): (Command, Common) =
        Command::parse(spec, &words[1..]).map_err(|error| error.to_string())?;
    let operation = id.map(|id| OperationId::parse(id.as_bytes(), "ID")).transpose();
    let common =
        Common { operation: operation.map_err(|error| error.to_string())?, deadline: None, durability: None };
    let envelope = Envelope::new("", common, Body::Single(command), engine.secret());
    Ok(Request::Write(envelope.map_err(|error| error.to_string())?))
}

/// What all callers share.
struct Run {
    engine: RedisEngine,
    next: AtomicUsize,
    count: usize,
    label: u128,
    refused: AtomicUsize,
    done: SyncSender<()>,
}

/// Sends a caller's next command; its answer sends the one after.
fn send(run: &Arc<Run>) {
    let at = run.next.fetch_add(1, Ordering::Relaxed);
    if at >= run.count {
        let _ = run.done.send(());
        return;
    }
    let line = format!("ACCOUNT.DEBIT account-{} 1", at % ACCOUNTS);
    let Ok(request) = request(&run.engine, &line, Some(&format!("debit-{}-{at}", run.label))) else { return };
    let again = Arc::clone(run);
    let reply = Box::new(move |answers: scarce_engine::engine::Answers| {
        let applied =
            answers.iter().all(|answer| answer.as_ref().is_ok_and(|receipt| receipt.outcome.is_applied()));
        again.refused.fetch_add(usize::from(!applied), Ordering::Relaxed);
        send(&again);
    });
    run.engine.submit(0, vec![request], reply);
}

fn main() -> Result<(), Failed> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, callers, count, rest @ ..] = words.as_slice() else {
        return Err("give the server's URL, the number of callers and the number of debits".into());
    };
    let (callers, count): (usize, usize) = (callers.parse()?, count.parse()?);
    let script = rest.first().map(|_| ScriptKind::Evalsha);
    let settings = RedisSettings { url: url.clone(), partitions: 1, script, ..RedisSettings::default() };
    let engine = RedisEngine::open(settings)?;
    for account in 0..ACCOUNTS {
        let open = request(&engine, &format!("ACCOUNT.OPEN account-{account} EUR"), None)?;
        let credit = request(&engine, &format!("ACCOUNT.CREDIT account-{account} 1000000000"), None)?;
        engine.call(0, vec![open, credit]);
    }
    let (done, finished) = sync_channel(callers);
    let label = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH)?.as_millis();
    let run =
        Arc::new(Run { engine, next: AtomicUsize::new(0), count, label, refused: AtomicUsize::new(0), done });
    let begun = Instant::now();
    (0..callers).for_each(|_| send(&run));
    (0..callers).try_for_each(|_| finished.recv())?;
    let seconds = begun.elapsed().as_secs_f64();
    let (rate, refused) = (count as f64 / seconds, run.refused.load(Ordering::Relaxed));
    writeln!(
        std::io::stdout().lock(),
        "{count} debits, {callers} under way: {rate:.0} a second, {refused} not applied"
    )?;
    Ok(())
}
