//! `/v1/scripts`: scripts of the operator's, run by name; and, where the settings allow it, registered and removed.

use axum::extract::State;
use axum::response::Response;
use scarce_access::{Kind, Need};
use scarce_api::Misshapen;
use scarce_api::arguments::{given, only};
use scarce_api::problem::{PortCode, Problem};
use scarce_core::command::rules::Verb;
use scarce_engine::scripts::{
    ScriptAnswer, ScriptCall, ScriptFailure, ScriptName, ScriptRequest, ScriptValue, ScriptVersion,
};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;

use super::exchange::{Exchange, Speech};
use super::{Context, HttpShared, guard, reply};

/// `GET /v1/scripts`: the current version of each.
pub(super) async fn list(context: Context, exchange: Exchange) -> Response {
    answer(context, exchange, Verb::Read, |exchange| {
        exchange.query_fields().check_none()?;
        Ok(ScriptRequest::List)
    })
    .await
}

/// `GET /v1/scripts/{script}`: all versions of one; with an `@` and a number, that version with its text.
pub(super) async fn show(context: Context, exchange: Exchange) -> Response {
    answer(context, exchange, Verb::Read, |exchange| {
        let name = name(exchange)?;
        let is_one = name.contains('@');
        Ok(if is_one { ScriptRequest::Version(name) } else { ScriptRequest::Versions(name) })
    })
    .await
}

/// `POST /v1/scripts/{script}`: registers a text.
pub(super) async fn register(context: Context, exchange: Exchange) -> Response {
    answer(context, exchange, Verb::Administrate, |exchange| {
        let name = name(exchange)?;
        let body = fields(exchange, &["body", "read_only"])?;
        let is_read_only = match given(body, "read_only") {
            None => false,
            Some(Value::Bool(is_read_only)) => *is_read_only,
            Some(_) => return Err(Misshapen::new("read_only", "must be true or false")),
        };
        let Some(Value::String(body)) = given(body, "body") else {
            return Err(Misshapen::new("body", "must be the script's text"));
        };
        Ok(ScriptRequest::Register { name, body: body.clone(), is_read_only })
    })
    .await
}

/// `DELETE /v1/scripts/{script}`: removes one with all of its versions.
pub(super) async fn remove(context: Context, exchange: Exchange) -> Response {
    answer(context, exchange, Verb::Administrate, |exchange| Ok(ScriptRequest::Remove(name(exchange)?))).await
}

/// `POST /v1/scripts/{script}/run`: runs one.
pub(super) async fn run(context: Context, exchange: Exchange) -> Response {
    answer(context, exchange, Verb::Take, |exchange| {
        let script = ScriptName::Named(name(exchange)?);
        let nothing = Map::new();
        let body = match &exchange.body {
            Some(_) => fields(exchange, &["keys", "arguments"])?,
            None => &nothing,
        };
        let keys = texts(body, "keys")?;
        let arguments = texts(body, "arguments")?.into_iter().map(String::into_bytes).collect();
        Ok(ScriptRequest::Run(ScriptCall { script, keys, arguments, must_only_read: false }))
    })
    .await
}

/// The script that the path names, and nothing in the query.
fn name(exchange: &Exchange) -> Result<String, Misshapen> {
    exchange.query_fields().check_none()?;
    Ok(exchange.fields().take_text("script")?.unwrap_or_default().to_owned())
}

fn fields<'a>(exchange: &'a Exchange, known: &[&str]) -> Result<&'a Map<String, Value>, Misshapen> {
    let body = exchange.body.as_ref().ok_or_else(|| Misshapen::new("body", "is missing"))?;
    only(body, known)?;
    Ok(body)
}

/// A list of texts, in which a number stands for its digits.
fn texts(body: &Map<String, Value>, field: &'static str) -> Result<Vec<String>, Misshapen> {
    let wrong = || Misshapen::new(field, "must be a list of texts or whole numbers");
    let Some(list) = given(body, field) else { return Ok(Vec::new()) };
    let text = |value: &Value| match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) if number.is_i64() || number.is_u64() => Ok(number.to_string()),
        _ => Err(wrong()),
    };
    list.as_array().ok_or_else(wrong)?.iter().map(text).collect()
}

/// Whether the caller may do this with the script that the path names, or with all.
fn check(exchange: &Exchange, verb: Verb) -> Result<(), Box<Response>> {
    let mut fields = exchange.fields();
    let script = fields.take_text("script").ok().flatten();
    let name = script.map(|script| script.split('@').next().unwrap_or_default());
    let Some(caller) = &exchange.caller else {
        return Err(reply::of_port(PortCode::Unauthenticated, exchange.speech).into());
    };
    let need = Need::on(verb, Kind::Script);
    let checked = caller.check_need(need, name, "/v1/scripts");
    checked.map_err(|lack| guard::lacking(&lack, exchange.speech))?;
    let limited = exchange.limited.as_ref();
    limited.map_or(Ok(()), |limited| limited.count_other(caller, need, exchange.speech))
}

async fn answer(
    State(shared): Context,
    exchange: Exchange,
    verb: Verb,
    read: impl FnOnce(&Exchange) -> Result<ScriptRequest, Misshapen>,
) -> Response {
    let speech = exchange.speech;
    if let Err(refused) = check(&exchange, verb) {
        return *refused;
    }
    let request = match read(&exchange) {
        Ok(request) => request,
        Err(misshapen) => return reply::misshapen(&misshapen, speech),
    };
    let is_of_one = matches!(request, ScriptRequest::Versions(_));
    let has_text = matches!(request, ScriptRequest::Version(_));
    let name = match &request {
        ScriptRequest::Remove(name) => name.clone(),
        _ => String::new(),
    };
    match ask(&shared, request).await {
        Ok(ScriptAnswer::Value(value)) => reply::json(200, &json!({ "answer": shown(&value) })),
        Ok(ScriptAnswer::Version(version)) => reply::json(200, &row(&version, has_text)),
        Ok(ScriptAnswer::Versions(versions)) => {
            let rows: Vec<Value> = versions.iter().map(|its| row(its, false)).collect();
            reply::json(200, &json!({ (if is_of_one { "versions" } else { "scripts" }): rows }))
        }
        Ok(ScriptAnswer::Removed(true)) => reply::json(200, &json!({ "removed": name })),
        Ok(ScriptAnswer::Removed(false)) => failed(&ScriptFailure::Missing(name), speech),
        Err(failure) => failed(&failure, speech),
    }
}

async fn ask(shared: &HttpShared, request: ScriptRequest) -> Result<ScriptAnswer, ScriptFailure> {
    let (sender, answer) = oneshot::channel();
    let runner = shared.engine.scripts().map_err(ScriptFailure::Forbidden)?;
    // A caller that is gone takes no answer.
    runner.ask(request, Box::new(move |answer| drop(sender.send(answer))));
    let unanswered = |_| Err(ScriptFailure::Unknown("the engine has stopped".to_owned()));
    answer.await.unwrap_or_else(unanswered)
}

fn row(version: &ScriptVersion, has_text: bool) -> Value {
    let ScriptVersion { name, version, is_read_only, digest, body } = version;
    let mut row = json!({ "name": name, "version": version, "read_only": is_read_only, "digest": digest });
    if has_text {
        row["body"] = body.as_str().into();
    }
    row
}

/// A value as JSON. Bytes that are no text are shown with what is not UTF-8 replaced.
fn shown(value: &ScriptValue) -> Value {
    match value {
        ScriptValue::Nothing => Value::Null,
        ScriptValue::Integer(number) => (*number).into(),
        ScriptValue::Bytes(bytes) => String::from_utf8_lossy(bytes).into_owned().into(),
        ScriptValue::Status(text) => text.as_str().into(),
        ScriptValue::Error(text) => json!({ "error": text }),
        ScriptValue::List(values) => values.iter().map(shown).collect(),
    }
}

fn failed(failure: &ScriptFailure, speech: Speech) -> Response {
    let code = match failure {
        ScriptFailure::Engine(failure) => return reply::refusal(&failure.outcome(), None, speech),
        ScriptFailure::Invalid(reason) => {
            return reply::misshapen(&Misshapen::new("script", reason.clone()), speech);
        }
        ScriptFailure::Forbidden(_) => PortCode::ScriptForbidden,
        ScriptFailure::Full(_) => PortCode::ScriptsFull,
        ScriptFailure::Missing(_) => PortCode::ScriptNotFound,
        ScriptFailure::Failed(_) => PortCode::ScriptFailed,
        ScriptFailure::Unknown(_) => PortCode::ScriptUnknown,
    };
    let facts = Map::from_iter([("reason".to_owned(), Value::from(failure.to_string()))]);
    reply::problem(&Problem::of_port_with(code, facts, speech.0), speech)
}
