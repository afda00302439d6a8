//! `GET /v1/settings`: the settings in effect, each with where its value comes from. Secrets are only said to be set.

use std::sync::{Arc, PoisonError, RwLock};

use axum::extract::State;
use axum::response::Response;
use serde_json::{Value, json};

use super::exchange::Exchange;
use super::{Context, reply};

/// The settings as they are shown, a JSON object each. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct SettingsShown(Arc<RwLock<Vec<Value>>>);

impl SettingsShown {
    /// Shows these from now on.
    pub fn set(&self, rows: Vec<Value>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = rows;
    }

    fn rows(&self) -> Vec<Value> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Lists them in the order of their table.
pub(super) async fn list(State(shared): Context, exchange: Exchange) -> Response {
    match exchange.fields().check_none() {
        Ok(()) => reply::json(200, &json!({ "settings": shared.settings.rows() })),
        Err(misshapen) => reply::misshapen(&misshapen, exchange.speech),
    }
}
