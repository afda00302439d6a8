//! The databases that a server writes into. A command opens what the server made: a mistyped address names none.

use scarce_client::Info;
use scarce_delivery::{Delivery, DeliveryOptions, SecretKeys};
use scarce_projection::{Projection, ProjectionOptions};

use crate::Failed;
use crate::config::{load, sql_url};
use crate::setting_flags::SettingFlags;

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

/// The same for the first endpoint, which may be added before the server delivers.
pub(crate) async fn new_delivery(flags: &SettingFlags, server: &Info) -> Result<Delivery, Failed> {
    let (url, options) = of_delivery(flags)?;
    Ok(Delivery::open(&url, &server.deployment_id, options).await?)
}

fn of_delivery(flags: &SettingFlags) -> Result<(String, DeliveryOptions), Failed> {
    let settings = load(flags)?.settings;
    let secret_keys =
        settings.secrets_key.as_ref().map(|keys| SecretKeys::parse(keys.reveal())).transpose()?;
    Ok((sql_url(&settings)?, DeliveryOptions { secret_keys, ..DeliveryOptions::default() }))
}
