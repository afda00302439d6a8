//! `scarce webhooks`: endpoints and their deliveries.

use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use scarce_delivery::{
    Delivery, DeliveryFilter, DeliveryState, Endpoint, Secret, SecretReference, WebhookDelivery,
};
use serde_json::Value;

use super::{DeliverySource, Paging, done};
use crate::files::print_rows;
use crate::show::calendar;
use crate::{Ended, Exit, Failed};

/// `scarce webhooks`.
#[derive(Debug, Subcommand)]
pub enum Webhooks {
    /// Add an endpoint, which is sent what comes from now on; prints its id and its secret, which is shown only now.
    Add(Add),
    /// List the endpoints.
    List(List),
    /// Remove an endpoint with all its deliveries.
    Remove(One),
    /// Have deliveries to an endpoint wait.
    Pause(One),
    /// Go on with deliveries to an endpoint that was paused, suspended or disabled.
    Resume(One),
    /// Sign with another secret, and for a while with the one before, too; prints the new one.
    RotateSecret(Rotate),
    /// Encrypt secrets that are stored as plain text or with an earlier key; the running server does so, too.
    Rekey(Rekey),
    /// List deliveries, with what became of each.
    Deliveries(Deliveries),
    /// Send a delivery again, or all dead letters of an endpoint.
    Replay(Replay),
}

/// `scarce webhooks add`.
#[derive(Debug, Args)]
pub struct Add {
    #[command(flatten)]
    /// Where.
    pub place: DeliverySource,
    /// A file with the secret, 'whsec_' and 24 to 64 bytes as base64; without it one is made.
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// Keep the secret out of the database: 'file:/path' or 'env:NAME', which the server reads.
    #[arg(long, value_name = "PLACE", conflicts_with = "secret_file")]
    pub secret_from: Option<String>,
    /// Where deliveries go to: http:// or https://.
    pub url: String,
    /// Which events: names such as stock.taken, patterns such as stock.*, or '*'.
    #[arg(required = true, value_name = "EVENT")]
    pub events: Vec<String>,
}

/// `scarce webhooks list`.
#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    /// Where.
    pub place: DeliverySource,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
}

/// One endpoint.
#[derive(Debug, Args)]
pub struct One {
    #[command(flatten)]
    /// Where.
    pub place: DeliverySource,
    /// The endpoint's id, as the list shows it.
    pub endpoint: String,
}

/// `scarce webhooks rotate-secret`.
#[derive(Debug, Args)]
pub struct Rotate {
    #[command(flatten)]
    /// Which endpoint.
    pub one: One,
    /// A file with the new secret; without it one is made.
    #[arg(long, value_name = "FILE")]
    pub secret_file: Option<PathBuf>,
    /// Keep the new secret out of the database: 'file:/path' or 'env:NAME', which the server reads.
    #[arg(long, value_name = "PLACE", conflicts_with = "secret_file")]
    pub secret_from: Option<String>,
    /// For how many hours the secret before signs, too.
    #[arg(long, default_value_t = 24, value_name = "HOURS", value_parser = clap::value_parser!(u32).range(0..=8_760))]
    pub overlap_hours: u32,
}

/// `scarce webhooks rekey`.
#[derive(Debug, Args)]
pub struct Rekey {
    #[command(flatten)]
    /// Where.
    pub place: DeliverySource,
}

/// What became of a delivery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum State {
    /// It is to be made.
    Pending,
    /// It was made.
    Delivered,
    /// It is not tried any more.
    Dead,
}

/// `scarce webhooks deliveries`.
#[derive(Debug, Args)]
pub struct Deliveries {
    #[command(flatten)]
    /// Where.
    pub place: DeliverySource,
    /// Only those to this endpoint.
    #[arg(long, value_name = "ID")]
    pub endpoint: Option<String>,
    /// Only those in this state.
    #[arg(long, value_enum)]
    pub state: Option<State>,
    #[command(flatten)]
    /// Which page.
    pub paging: Paging,
}

/// `scarce webhooks replay`.
#[derive(Debug, Args)]
pub struct Replay {
    #[command(flatten)]
    /// Where.
    pub place: DeliverySource,
    /// All dead letters of this endpoint.
    #[arg(long, value_name = "ID", required_unless_present = "delivery", conflicts_with = "delivery")]
    pub endpoint: Option<String>,
    /// The delivery's number, as the list shows it.
    pub delivery: Option<i64>,
}

const ENDPOINTS: [&str; 7] = ["endpoint", "url", "events", "state", "failures", "since", "reason"];
const DELIVERIES: [&str; 8] =
    ["delivery", "endpoint", "event", "state", "attempts", "last_status", "last_error", "next_at_ms"];

pub(in super::super) fn run(command: &Webhooks) -> Ended {
    match command {
        Webhooks::Add(options) => add(options),
        Webhooks::List(options) => list(options),
        Webhooks::Remove(one) => {
            let removed = one.place.with(async |delivery| delivery.remove_endpoint(&one.endpoint).await)?;
            done(removed, "removed, with its deliveries", &one.missing())
        }
        Webhooks::Pause(one) => {
            let paused = one.place.with(async |delivery| delivery.pause_endpoint(&one.endpoint).await)?;
            done(paused, "paused; deliveries wait until it is resumed", &one.missing())
        }
        Webhooks::Resume(one) => {
            let resumed = one.place.with(async |delivery| delivery.resume_endpoint(&one.endpoint).await)?;
            done(resumed, "resumed", &one.missing())
        }
        Webhooks::RotateSecret(options) => rotate(options),
        Webhooks::Rekey(options) => rekey(options),
        Webhooks::Deliveries(options) => deliveries(options),
        Webhooks::Replay(options) => replay(options),
    }
}

impl One {
    fn missing(&self) -> String {
        format!("no such endpoint as '{}' can be changed so; 'scarce webhooks list' shows all", self.endpoint)
    }
}

fn secret(file: Option<&PathBuf>) -> Result<Option<Secret>, Failed> {
    let Some(file) = file else { return Ok(None) };
    Ok(Some(Secret::parse(std::fs::read_to_string(file)?.trim())?))
}

/// Says that a secret is not encrypted, where that is so.
fn warn_of_plain(place: &DeliverySource) -> Result<(), Failed> {
    if !place.has_key()? {
        let text = "the secret is stored as plain text until a server with --secrets-key-file encrypts it; --secret-from \
                    keeps it out of the database";
        writeln!(std::io::stderr(), "{text}")?;
    }
    Ok(())
}

fn rekey(options: &Rekey) -> Ended {
    if !options.place.has_key()? {
        return Err(Failed::text(Exit::Usage, "name the keys with --secrets-key-file, the newest first"));
    }
    let done = options.place.with(async |delivery| delivery.encrypt_secrets().await)?;
    writeln!(std::io::stderr(), "{} secrets were encrypted with the first key", done.count)?;
    if done.unreadable.is_empty() {
        return Ok(Exit::Done);
    }
    let left: Vec<String> = done.unreadable.iter().map(|(id, error)| format!("{id}: {error}")).collect();
    let text = format!("{} secrets were left as they are; {}", left.len(), left.join("; "));
    Err(Failed::text(Exit::Failed, text))
}

fn add(options: &Add) -> Ended {
    let events: Vec<&str> = options.events.iter().map(String::as_str).collect();
    if let Some(reference) = &options.secret_from {
        let reference = SecretReference::parse(reference)?;
        let id = options
            .place
            .with_new(async |delivery| delivery.add_endpoint_with(&options.url, &events, &reference).await)?;
        writeln!(std::io::stdout(), "{id}")?;
        return Ok(Exit::Done);
    }
    let secret = secret(options.secret_file.as_ref())?;
    let added = options
        .place
        .with_new(async |delivery| delivery.add_endpoint(&options.url, &events, secret).await)?;
    writeln!(std::io::stdout(), "{} {}", added.id, added.secret.reveal())?;
    writeln!(std::io::stderr(), "keep the secret: it is not shown again; a server with --webhooks sends")?;
    warn_of_plain(&options.place)?;
    Ok(Exit::Done)
}

fn list(options: &List) -> Ended {
    let endpoints = options.place.with(async |delivery| delivery.endpoints().await)?;
    // In one column each, as people read them.
    let row = |its: &Endpoint| {
        let mut row = its.to_json();
        row["events"] = its.events.join(" ").into();
        row["failures"] = its.failing.as_ref().map(|failing| failing.failures).into();
        row["since"] =
            its.failing.as_ref().and_then(|failing| calendar(i64::try_from(failing.since_ms).ok()?)).into();
        row
    };
    print_rows(&endpoints.iter().map(row).collect::<Vec<_>>(), &ENDPOINTS, options.json)?;
    Ok(Exit::Done)
}

fn rotate(options: &Rotate) -> Ended {
    let (one, secret) = (&options.one, secret(options.secret_file.as_ref())?);
    let overlap = Duration::from_secs(3_600 * u64::from(options.overlap_hours));
    if let Some(reference) = &options.secret_from {
        let reference = SecretReference::parse(reference)?;
        let work =
            async |delivery: &Delivery| delivery.rotate_secret_to(&one.endpoint, &reference, overlap).await;
        return done(one.place.with(work)?, "rotated", &one.missing());
    }
    let rotated =
        one.place.with(async |delivery| delivery.rotate_secret(&one.endpoint, secret, overlap).await)?;
    let secret = rotated.ok_or_else(|| Failed::text(Exit::Failed, one.missing()))?;
    writeln!(std::io::stdout(), "{}", secret.reveal())?;
    warn_of_plain(&one.place)?;
    Ok(Exit::Done)
}

fn deliveries(options: &Deliveries) -> Ended {
    let state = options.state.map(|state| match state {
        State::Pending => DeliveryState::Pending,
        State::Delivered => DeliveryState::Delivered,
        State::Dead => DeliveryState::Dead,
    });
    let filter = DeliveryFilter { endpoint_id: options.endpoint.as_deref(), state };
    let paging = &options.paging;
    let page = options.place.with(async |delivery| {
        delivery.deliveries(filter, paging.after.as_deref(), paging.limit.into()).await
    })?;
    let rows: Vec<Value> = page.items.iter().map(WebhookDelivery::to_json).collect();
    paging.print(&rows, &DELIVERIES, page.next.as_deref())
}

fn replay(options: &Replay) -> Ended {
    let count = options.place.with(async |delivery| match (&options.endpoint, options.delivery) {
        (Some(endpoint), _) => delivery.replay_endpoint(endpoint).await,
        (None, Some(id)) => Ok(u64::from(delivery.replay_delivery(id).await?)),
        (None, None) => Ok(0),
    })?;
    let missing =
        "there is nothing to be sent again; 'scarce webhooks deliveries --state dead' lists dead letters";
    done(count > 0, &format!("{count} to be sent again"), missing)
}
