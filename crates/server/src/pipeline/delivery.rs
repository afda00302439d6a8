//! Delivers to outside systems and credits accounts: consumers record the work to do, and workers do it.

use std::sync::Arc;
use std::time::Duration;

use scarce_delivery::{Delivery, DeliveryOptions, Secret, SecretKeys, SettlementOptions, Workers};
use scarce_engine::Engine;
use scarce_gateway_http::HealthSeen;
use scarce_outflow::{Outflow, Start};
use scarce_projection::Projection;
use scarce_settings::{Password, ServerSettings, SettlementChoice};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::lookup::Operations;
use super::{PipelineError, Serve};

/// The names of the consumers.
const WEBHOOKS: &str = "webhooks";
const SETTLEMENT: &str = "settlement";

/// How many bytes of log are read at a time.
const BATCH_BYTES: u64 = 1 << 20;

/// How often the waiting deliveries are counted for metrics.
const HEALTH_INTERVAL: Duration = Duration::from_secs(5);

/// How often deliveries that succeeded long ago are deleted.
const CLEANING_INTERVAL: Duration = Duration::from_secs(3_600);

const DAY: Duration = Duration::from_secs(86_400);

/// Opens the database for deliveries, if the settings ask for any.
pub(super) fn open(
    engine: &dyn Engine,
    settings: &ServerSettings,
) -> Result<Option<Delivery>, PipelineError> {
    if !settings.webhooks && settings.settlement == SettlementChoice::Off {
        return Ok(None);
    }
    let Some(url) = settings.sql_url() else { return Err(PipelineError::NoDatabase) };
    let secret_keys =
        settings.secrets_key.as_ref().map(|keys| SecretKeys::parse(keys.reveal())).transpose()?;
    let ca_file = settings.receivers_ca.clone();
    let suspend_after = Duration::from_millis(settings.webhooks_suspend_after_ms);
    let options = DeliveryOptions {
        ca_file,
        secret_keys,
        suspend_after: Some(suspend_after).filter(|after| !after.is_zero()),
        suspend_failures_min: u32::try_from(settings.webhooks_suspend_failures).unwrap_or(u32::MAX),
        ..DeliveryOptions::default()
    };
    Ok(Some(Delivery::new(&url, engine.deployment_id(), options)?))
}

/// Starts the consumers that record deliveries and the workers that make them.
pub(super) fn start(
    delivery: &Delivery,
    serve: &Serve<'_>,
    engine: &Arc<dyn Engine>,
    projection: Option<&Projection>,
    settings: &ServerSettings,
) -> Result<(Vec<Outflow>, Vec<Workers>), PipelineError> {
    let runtime = serve.runtime.handle();
    let (mut outflows, mut workers) = (Vec::new(), Vec::new());
    if settings.webhooks {
        // An endpoint receives events from after it was added, so events before the first endpoint have no
        // recipient.
        let consumer = |partition| delivery.webhooks_consumer(partition);
        outflows.push(serve.run(WEBHOOKS, Start::Now, BATCH_BYTES, consumer));
        workers.push(delivery.run_webhooks(runtime, engine.clone()));
    }
    if settings.settlement != SettlementChoice::Off {
        workers.extend(settle(delivery, runtime, engine, projection, settings)?);
        // Packets claimed earlier may have been paid in another way.
        let start = if settings.settlement_from_beginning { Start::Beginning } else { Start::Now };
        let consumer = |partition| delivery.settlement_consumer(partition);
        outflows.push(serve.run(SETTLEMENT, start, BATCH_BYTES, consumer));
    }
    Ok((outflows, workers))
}

/// Starts what settles claims. Where an outside system does, those whose credit was begun in the engine end there all the
/// same.
fn settle(
    delivery: &Delivery,
    runtime: &Handle,
    engine: &Arc<dyn Engine>,
    projection: Option<&Projection>,
    settings: &ServerSettings,
) -> Result<Vec<Workers>, PipelineError> {
    let mut workers = Vec::new();
    if let SettlementChoice::Outside(url) = &settings.settlement {
        let secret = settings.settlement_secret.as_ref().map(Password::reveal);
        let secret = Secret::parse(secret.ok_or(PipelineError::NoSecret)?)?;
        workers.push(delivery.run_settlement_outside(runtime, engine.clone(), url, secret)?);
    }
    let lookup = projection.map(|projection| Operations::new(projection, engine) as _);
    let options = SettlementOptions {
        account_template: settings.settlement_account.clone(),
        open_accounts: settings.settlement_opens_accounts,
        lookup,
        looks_up_first_tries: settings.settlement_looks_up_first_tries,
        only_begun: !workers.is_empty(),
        ..SettlementOptions::default()
    };
    workers.push(delivery.run_settlement(runtime, engine.clone(), options));
    Ok(workers)
}

/// Counts waiting deliveries and deletes old ones, until the end.
pub(super) async fn look_after(
    delivery: Delivery,
    retention_days: u64,
    seen: HealthSeen,
    mut ending: watch::Receiver<bool>,
) {
    let age = DAY.saturating_mul(u32::try_from(retention_days).unwrap_or(u32::MAX));
    let (mut counting, mut cleaning) =
        (tokio::time::interval(HEALTH_INTERVAL), tokio::time::interval(CLEANING_INTERVAL));
    loop {
        tokio::select! {
            // The consumers and workers report problems with the database.
            _ = counting.tick() => seen.note(delivery.health().await.ok()),
            _ = cleaning.tick() => drop(delivery.remove_delivered(age).await),
            () = asked(&mut ending) => return,
        }
    }
}

/// The end was requested, or nobody is left who could request it.
async fn asked(ending: &mut watch::Receiver<bool>) {
    let _ = ending.wait_for(|ending| *ending).await;
}
