//! `scarce try`: a server with sample data for a first look at Scarce. It forgets everything when it
//! ends.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::net::SocketAddr;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use scarce_client::{Client, ClientError, Reply};
use signal_hook::consts::{SIGINT, SIGTERM};
use tempfile::TempDir;

use super::{Ended, Exit, Failed};

/// `scarce try`.
#[derive(Debug, clap::Args)]
pub struct Try {
    /// Where to listen for the Redis protocol; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:7379", value_name = "ADDR")]
    pub resp: SocketAddr,
    /// Where to listen for HTTP and for the console; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:7380", value_name = "ADDR")]
    pub http: SocketAddr,
}

/// What there is to see, one command a line.
const SAMPLE: &str = include_str!("trial.txt");

/// How long the crowd waits between two buyers.
const PAUSE: Duration = Duration::from_millis(250);

/// Where the server listens.
struct Doors {
    resp: String,
    http: String,
}

pub(super) fn run(options: &Try) -> Ended {
    let folder = TempDir::with_prefix("scarce-try-")?;
    let (mut child, doors) = start(options, &folder)?;
    let ending = end_on_signals(&child)?;
    let shown = fill(&doors).and_then(|()| show(&doors));
    if shown.is_ok() {
        crowd(&doors, &ending);
    } else {
        // It fails only if the server has ended already.
        let _ = child.kill();
    }
    let status = child.wait()?;
    folder.close()?;
    shown?;
    match status.success() || ending.load(Ordering::Acquire) {
        true => Ok(Exit::Done),
        false => Err(Failed::text(Exit::Failed, format!("the server ended: {status}"))),
    }
}

/// Starts this program again as a server in a folder of its own, with tables, so that there is history to see.
fn start(options: &Try, folder: &TempDir) -> Result<(Child, Doors), Failed> {
    let mut server = Command::new(std::env::current_exe()?);
    server.args(["serve", "--log-level", "warn", "--data"]).arg(folder.path().join("data"));
    server.args(["--resp", &options.resp.to_string(), "--http", &options.http.to_string()]);
    server.arg("--sql").arg(format!("sqlite://{}", folder.path().join("log.db").display()));
    // The settings of a service on this machine are not meant for it.
    server.env("SCARCE_CONFIG", "/dev/null");
    // Ctrl-C reaches this process only, which asks the server once: it takes a second signal for haste.
    let mut child = server.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout).read_line(&mut line)?;
    }
    let named = |port: &str| Some(line.split_once(port)?.1.split(',').next().unwrap_or_default().to_owned());
    match (named("resp "), named("http ")) {
        (Some(resp), Some(http)) => Ok((child, Doors { resp, http })),
        _ => {
            child.wait()?;
            let advice = "the server did not start; if its ports are taken, choose others: \
                          scarce try --resp 127.0.0.1:0 --http 127.0.0.1:0";
            Err(Failed::text(Exit::Failed, advice))
        }
    }
}

/// Asks the server to end when this process is asked to.
fn end_on_signals(child: &Child) -> Result<Arc<AtomicBool>, Failed> {
    let ending = Arc::new(AtomicBool::new(false));
    let mut signals = signal_hook::iterator::Signals::new([SIGTERM, SIGINT])?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let is_ending = ending.clone();
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        for _ in signals.forever() {
            is_ending.store(true, Ordering::Release);
            // It fails only if the server has ended already.
            let _ = pid.map(|pid| kill_process(pid, Signal::TERM));
        }
    })?;
    Ok(ending)
}

/// Applies the sample.
fn fill(doors: &Doors) -> Result<(), Failed> {
    let mut client = Client::connect(&doors.resp, None)?;
    let lines = SAMPLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let (Reply::Refused(reason, _) | Reply::Error(reason)) = Reply::of(client.call(&words)?) else {
            continue;
        };
        return Err(Failed::text(Exit::Refused, format!("'{line}' of the sample was not applied: {reason}")));
    }
    Ok(())
}

/// What to do next: the page, and three commands.
fn show(doors: &Doors) -> Result<(), Failed> {
    let Doors { resp, http } = doors;
    let port = resp.rsplit(':').next().unwrap_or_default();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "A server with sample data. It ends with Ctrl-C, and everything in it is removed.\n\n\
         open      http://{http}/console\n\
         buy       redis-cli -p {port} STOCK.TAKE sneaker 1 you ID order-1\n\
         look      curl http://{http}/v1/markets/BTC-USDT/ticker\n\
         follow    curl -N -H 'Accept: text/event-stream' 'http://{http}/v1/events?from=now'\n",
    );
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Buyers and traders come one after the other until all is sold or the server ends.
fn crowd(doors: &Doors, ending: &AtomicBool) {
    let Ok(mut client) = Client::connect(&doors.resp, None) else { return };
    let (_never, pause) = mpsc::channel::<()>();
    for turn in 1_u64.. {
        let goes_on = !ending.load(Ordering::Acquire) && visit(&mut client, turn).is_ok();
        if !goes_on {
            return;
        }
        // Nothing is ever sent: this waits.
        let _ = pause.recv_timeout(PAUSE);
    }
}

/// One buyer, and one order around a price that wanders. A refusal is part of what there is to see.
fn visit(client: &mut Client, turn: u64) -> Result<(), ClientError> {
    let (buyer, order) = (format!("u{turn}"), format!("o{turn}"));
    match turn % 5 {
        0 => client.call(&["STOCK.RESERVE", "sneaker", &format!("r{turn}"), "1", &buyer, "20000"])?,
        _ => client.call(&["STOCK.TAKE", "sneaker", "1", &buyer, "ID", &format!("buy-{turn}")])?,
    };
    let swing = turn % 120;
    let middle = 60_000 + 5 * swing.min(120 - swing);
    let away = 5 * (turn * 7 % 11);
    let side = if turn * 3 % 7 < 4 { "BUY" } else { "SELL" };
    let price = if side == "BUY" { middle + 25 - away } else { middle - 25 + away };
    let quantity = 1 + turn * 13 % 40;
    let (price, quantity) = (price.to_string(), quantity.to_string());
    client.call(&["ORDER.PLACE", "BTC-USDT", &order, &buyer, side, "LIMIT", &price, &quantity])?;
    Ok(())
}
