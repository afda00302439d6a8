//! The databases that a server writes into. A command opens what the server made: a mistyped address names none.

use std::time::Duration;

use scarce_client::{Client, Info};
use scarce_delivery::{DatabaseError, Delivery, DeliveryError, DeliveryOptions, SecretKeys};
use scarce_projection::{Projection, ProjectionOptions};
use serde_json::Value;

use crate::Failed;
use crate::call::json;
use crate::config::{load, sql_url};
use crate::setting_flags::SettingFlags;

/// How often to look whether a server that starts has made its tables.
const TABLES_INTERVAL: Duration = Duration::from_millis(100);

/// The tables of the projection.
pub(crate) async fn projection(flags: &SettingFlags, server: &Info) -> Result<Projection, Failed> {
    let url = sql_url(&load(flags)?.settings)?;
    Ok(Projection::open_existing(&url, &server.deployment_id, ProjectionOptions::default()).await?)
}

/// The tables of deliveries and settlements.
pub(crate) async fn delivery(flags: &SettingFlags, server: &Info) -> Result<Delivery, Failed> {
    let (url, options) = of_delivery(flags)?;
    Ok(Delivery::open_existing(&url, &server.deployment_id, options).await?)
}

/// The same for the first endpoint: a server that has just been started may still be making its tables.
pub(crate) async fn new_delivery(
    flags: &SettingFlags,
    server: &Info,
    client: &mut Client,
) -> Result<Delivery, Failed> {
    loop {
        let is_starting = is_starting(client, "webhooks")?;
        let (url, options) = of_delivery(flags)?;
        match Delivery::open_existing(&url, &server.deployment_id, options).await {
            Err(DeliveryError::Database(DatabaseError::NoTables { .. })) if is_starting => {
                tokio::time::sleep(TABLES_INTERVAL).await;
            }
            opened => return Ok(opened?),
        }
    }
}

/// Whether a consumer of the server has not got as far as its database.
fn is_starting(client: &mut Client, name: &str) -> Result<bool, Failed> {
    let answer = json(&client.call(&["CONSUMER", "LIST"])?);
    let is_its = |row: &Value| row.get(0).and_then(Value::as_str) == Some(name);
    let mut rows = answer.as_array().into_iter().flatten().filter(|row| is_its(row));
    Ok(rows.any(|row| row.as_array().is_some_and(|values| values.contains(&Value::from("starting")))))
}

fn of_delivery(flags: &SettingFlags) -> Result<(String, DeliveryOptions), Failed> {
    let settings = load(flags)?.settings;
    let secret_keys =
        settings.secrets_key.as_ref().map(|keys| SecretKeys::parse(keys.reveal())).transpose()?;
    Ok((sql_url(&settings)?, DeliveryOptions { secret_keys, ..DeliveryOptions::default() }))
}
