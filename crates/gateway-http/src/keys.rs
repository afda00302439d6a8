//! `/v1/keys`: the keys of callers. A new key is in the answer that makes it, and nowhere else.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use scarce_access::{Asked, Key, KeyError, KeyId, Ring, Scope, Shown};
use scarce_api::Misshapen;
use scarce_api::arguments::{given, only};
use scarce_api::problem::{PortCode, Problem};
use scarce_core::types::TimeMs;
use scarce_engine::Failure;
use scarce_gateway::now_ms;
use serde_json::{Map, Value, json};

use super::exchange::{Exchange, Speech};
use super::{Context, HttpShared, reply};

/// For how long a key may be made, at most: a hundred years.
const TTL_MS_MAX: u64 = 36_500 * 86_400_000;

/// How long the former key goes on where nothing else is asked: a day.
const OVERLAP_MS_DEFAULT: u64 = 86_400_000;

/// Why keys were not changed.
#[derive(Debug)]
pub enum KeyTrouble {
    /// They cannot be as asked.
    Refused(KeyError),
    /// They cannot be read or written, and why.
    Away(String),
}

/// A change of all keys, which may be called several times.
pub type KeyChange<'c> = &'c mut (dyn FnMut(&mut Ring) -> Result<(), KeyError> + Send);

/// Where keys are kept.
pub trait KeyKeeper: Send + Sync {
    /// All keys, and when each was last shown, to the hour.
    ///
    /// # Errors
    /// When they cannot be read.
    fn load(&self) -> Result<(Ring, BTreeMap<KeyId, TimeMs>), KeyTrouble>;

    /// Changes them; nobody else does at the same time.
    ///
    /// # Errors
    /// What the change says, or when they cannot be read or written.
    fn change(&self, change: KeyChange<'_>) -> Result<(), KeyTrouble>;
}

/// `GET /v1/keys`: all of them, those that are over included.
pub(super) async fn list(State(shared): Context, exchange: Exchange) -> Response {
    let checked = exchange.fields().check_none();
    answer(&shared, &exchange, 200, checked, |keeper, ()| {
        let (ring, uses) = keeper.load()?;
        let row = |key: &Key| {
            let mut row = key.public_json();
            row["standing"] = key.standing(now_ms()).word().into();
            row["last_used_ms"] = uses.get(&key.id).copied().into();
            row
        };
        Ok(json!({ "keys": ring.keys().map(row).collect::<Vec<_>>() }))
    })
    .await
}

/// `POST /v1/keys`: makes one.
pub(super) async fn create(State(shared): Context, exchange: Exchange) -> Response {
    let asked = read_asked(&exchange);
    answer(&shared, &exchange, 201, asked, |keeper, asked| {
        make(keeper, |ring, shown| ring.create(&asked, shown, now_ms()))
    })
    .await
}

/// `POST /v1/keys/{key}/rotate`: makes one in place of another one.
pub(super) async fn rotate(State(shared): Context, exchange: Exchange) -> Response {
    let asked = name(&exchange).and_then(|name| {
        let body = body(&exchange, &["overlap_ms"])?;
        Ok((name, duration(body, "overlap_ms", 0..=TTL_MS_MAX)?.unwrap_or(OVERLAP_MS_DEFAULT)))
    });
    answer(&shared, &exchange, 201, asked, |keeper, (name, overlap_ms)| {
        make(keeper, |ring, shown| ring.rotate(&name, shown, overlap_ms, now_ms()))
    })
    .await
}

/// `POST /v1/keys/{key}/revoke`: ends one at once.
pub(super) async fn revoke(State(shared): Context, exchange: Exchange) -> Response {
    let asked = name(&exchange).and_then(|name| body(&exchange, &[]).map(|_| name));
    answer(&shared, &exchange, 200, asked, |keeper, name| {
        let mut revoked = Vec::new();
        keeper.change(&mut |ring| {
            revoked = ring.revoke(&name, false, now_ms())?;
            Ok(())
        })?;
        let (id, is_new) = revoked.first().ok_or_else(|| refused(KeyError::Unknown(name)))?;
        Ok(json!({ "id": id.to_string(), "was_revoked": !is_new }))
    })
    .await
}

fn refused(error: KeyError) -> KeyTrouble {
    KeyTrouble::Refused(error)
}

/// Makes a key, and shows it this once.
fn make(
    keeper: &dyn KeyKeeper,
    mut change: impl FnMut(&mut Ring, &Shown) -> Result<Key, KeyError> + Send,
) -> Result<Value, KeyTrouble> {
    let shown = Shown::draw().map_err(|error| refused(error.into()))?;
    let mut made = None;
    keeper.change(&mut |ring| {
        made = Some(change(ring, &shown)?);
        Ok(())
    })?;
    let mut body = made.map_or_else(|| json!({}), |key| key.public_json());
    body["key"] = shown.reveal().into();
    Ok(body)
}

/// Runs what was asked on a thread that may wait for the store.
async fn answer<A: Send + 'static>(
    shared: &HttpShared,
    exchange: &Exchange,
    status: u16,
    asked: Result<A, Misshapen>,
    run: impl FnOnce(&dyn KeyKeeper, A) -> Result<Value, KeyTrouble> + Send + 'static,
) -> Response {
    let asked = match asked {
        Ok(asked) => asked,
        Err(misshapen) => return reply::misshapen(&misshapen, exchange.speech),
    };
    let keeper = Arc::clone(&shared.keys);
    let done = tokio::task::spawn_blocking(move || run(&*keeper, asked)).await;
    let unfinished = |_| Err(KeyTrouble::Away("the keys were not changed to the end".to_owned()));
    match done.unwrap_or_else(unfinished) {
        Ok(body) => reply::json(status, &body),
        Err(trouble) => explain(trouble, exchange.speech),
    }
}

fn explain(trouble: KeyTrouble, speech: Speech) -> Response {
    let away = |reason: String| reply::refusal(&Failure::Unavailable { reason }.outcome(), None, speech);
    let error = match trouble {
        KeyTrouble::Away(reason) => return away(reason),
        KeyTrouble::Refused(error) => error,
    };
    let reason = error.to_string();
    match error {
        KeyError::Scope(_) | KeyError::Scopes => misshapen("scopes", reason, speech),
        KeyError::Name | KeyError::NameOfId => misshapen("name", reason, speech),
        KeyError::Namespace => misshapen("namespace", reason, speech),
        KeyError::Unknown(name) => of_key(PortCode::NotFound, &[("key", name)], speech),
        KeyError::Taken(id, namespace) => {
            let facts = [("key", id.to_string()), ("namespace", namespace)];
            of_key(PortCode::KeyExists, &facts, speech)
        }
        KeyError::Replaced(id, successor) => {
            let facts = [("key", id.to_string()), ("replaced_by", successor.to_string())];
            of_key(PortCode::KeyReplaced, &facts, speech)
        }
        KeyError::Several(name, _) | KeyError::Ambiguous(name) => {
            of_key(PortCode::KeyAmbiguous, &[("key", name)], speech)
        }
        KeyError::Unseen(_) | KeyError::Random(_) | KeyError::Damaged(_) => away(reason),
    }
}

fn misshapen(field: &'static str, reason: String, speech: Speech) -> Response {
    reply::misshapen(&Misshapen::new(field, reason), speech)
}

fn of_key(code: PortCode, facts: &[(&str, String)], speech: Speech) -> Response {
    let facts = facts.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into()));
    reply::problem(&Problem::of_port_with(code, facts.collect(), speech.0), speech)
}

/// The key that the path names, by its ID or its name.
fn name(exchange: &Exchange) -> Result<String, Misshapen> {
    exchange.query_fields().check_none()?;
    Ok(exchange.fields().take_text("key")?.unwrap_or_default().to_owned())
}

fn body<'a>(exchange: &'a Exchange, known: &[&str]) -> Result<Option<&'a Map<String, Value>>, Misshapen> {
    exchange.body.as_ref().map(|body| only(body, known).map(|()| body)).transpose()
}

fn duration(
    body: Option<&Map<String, Value>>,
    field: &'static str,
    bounds: RangeInclusive<u64>,
) -> Result<Option<u64>, Misshapen> {
    let Some(value) = body.and_then(|body| given(body, field)) else { return Ok(None) };
    let wrong = || {
        let (least, most) = (bounds.start(), bounds.end());
        Misshapen::new(field, format!("must be a whole number of milliseconds from {least} to {most}"))
    };
    value.as_u64().filter(|ms| bounds.contains(ms)).map(Some).ok_or_else(wrong)
}

fn read_asked(exchange: &Exchange) -> Result<Asked, Misshapen> {
    exchange.query_fields().check_none()?;
    let known = ["name", "scopes", "namespace", "ttl_ms"];
    let body = body(exchange, &known)?.ok_or_else(|| Misshapen::new("body", "is missing"))?;
    let text = |field: &'static str| match given(body, field) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(Misshapen::new(field, "must be a text")),
    };
    let wrong = || Misshapen::new("scopes", "must be a list of scopes such as read:stock:sku-*");
    let scopes = given(body, "scopes").and_then(Value::as_array).ok_or_else(wrong)?;
    let scope = |value: &Value| {
        let text = value.as_str().ok_or_else(wrong)?;
        Scope::parse(text).map_err(|error| Misshapen::new("scopes", error.to_string()))
    };
    Ok(Asked {
        name: text("name")?.ok_or_else(|| Misshapen::new("name", "is missing"))?,
        scopes: scopes.iter().map(scope).collect::<Result<_, _>>()?,
        namespace: text("namespace")?,
        ttl_ms: duration(Some(body), "ttl_ms", 1_000..=TTL_MS_MAX)?,
    })
}
