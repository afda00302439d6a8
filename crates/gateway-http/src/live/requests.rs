//! What a caller sends over WebSocket: `{"method":"SUBSCRIBE","params":["stock.sku-1"],"id":1}`.

use scarce_api::problem::Problem;
use scarce_api::{Misshapen, strict};
use scarce_core::event::Position;
use scarce_core::types::INTEGER_MAX;
use scarce_push::{Asked, Subscriber};
use serde_json::{Map, Value, json};

use super::{Listener, misshapen};
use crate::HttpShared;

/// What there is to ask for.
const METHODS: &str = "must be SUBSCRIBE, UNSUBSCRIBE, LIST or PING";

const OBJECT: &str =
    "must be a JSON object such as {\"method\":\"SUBSCRIBE\",\"params\":[\"stock.sku-1\"],\"id\":1}";

/// The most channels of one request, each of which is answered.
const PARAMS_MAX: usize = 1_000;

/// Answers a request.
pub(super) fn answer(
    text: &str,
    listener: &Listener,
    shared: &HttpShared,
    subscriber: &mut Subscriber,
) -> Value {
    let request = match strict::read(text.as_bytes()) {
        Ok(Value::Object(request)) => request,
        Ok(_) => return refusal(&Value::Null, &Misshapen::new("message", OBJECT), listener),
        Err(error) => {
            let reason = format!("is no JSON that is taken: {error}");
            return refusal(&Value::Null, &Misshapen::new("message", reason), listener);
        }
    };
    let id = request.get("id").cloned().unwrap_or_default();
    let answered = check(&request).and_then(|(method, params)| match method {
        "SUBSCRIBE" => Ok(subscribe(params, listener, shared, subscriber)),
        "UNSUBSCRIBE" => unsubscribe(params, subscriber),
        "LIST" => Ok(json!({ "channels": subscriber.channels().map(|name| &**name).collect::<Vec<&str>>() })),
        "PING" => Ok("PONG".into()),
        _ => Err(Misshapen::new("method", METHODS)),
    });
    match answered {
        Ok(result) => json!({ "id": id, "result": result }),
        Err(problem) => refusal(&id, &problem, listener),
    }
}

fn refusal(id: &Value, misshapen: &Misshapen, listener: &Listener) -> Value {
    json!({ "id": id, "error": Problem::of(&misshapen.outcome(), None, listener.speech.0).body })
}

/// The members of a request. Unknown ones are refused, as in bodies.
fn check(request: &Map<String, Value>) -> Result<(&str, &[Value]), Misshapen> {
    if let Some(name) = request.keys().find(|name| !["method", "params", "id"].contains(&name.as_str())) {
        let name: String = name.chars().take(64).collect();
        return Err(Misshapen::new("message", format!("has an unknown member '{name}'")));
    }
    if request.get("id").is_some_and(|id| id.is_array() || id.is_object()) {
        return Err(Misshapen::new("id", "must be a number or a text"));
    }
    let Some(Value::String(method)) = request.get("method") else {
        return Err(Misshapen::new("method", METHODS));
    };
    match request.get("params") {
        None => Ok((method, &[])),
        Some(Value::Array(params)) if params.len() <= PARAMS_MAX => Ok((method, params)),
        Some(Value::Array(_)) => {
            Err(Misshapen::new("params", "are more than 1000 channels; send several requests"))
        }
        Some(_) => Err(Misshapen::new("params", "must be a list of channels")),
    }
}

/// Subscribes to each channel that the caller may subscribe to, and says why not to the others.
fn subscribe(
    params: &[Value],
    listener: &Listener,
    shared: &HttpShared,
    subscriber: &mut Subscriber,
) -> Value {
    let (mut subscribed, mut refused) = (Vec::new(), Vec::new());
    for param in params {
        let name = param.get("channel").unwrap_or(param).clone();
        let asked =
            read(param).map_err(|error| Problem::of(&error.outcome(), None, listener.speech.0).into());
        match asked.and_then(|asked| {
            let name = asked.channel.name.clone();
            listener.subscribe(shared, subscriber, asked).map(|()| name)
        }) {
            Ok(name) => subscribed.push(Value::from(name)),
            Err(problem) => refused.push(json!({ "channel": name, "problem": problem.body })),
        }
    }
    json!({ "subscribed": subscribed, "refused": refused })
}

/// A channel as text, or as an object with the position from which to go on.
fn read(param: &Value) -> Result<Asked, Misshapen> {
    let object = match param {
        Value::String(text) => return Asked::parse(text).map_err(|error| misshapen(&error)),
        Value::Object(object) => object,
        _ => return Err(Misshapen::new("params", "must be channels as texts or objects")),
    };
    let known = ["channel", "epoch", "after", "conflate"];
    if let Some(name) = object.keys().find(|name| !known.contains(&name.as_str())) {
        let name: String = name.chars().take(64).collect();
        return Err(Misshapen::new("params", format!("have an unknown member '{name}'")));
    }
    let text = object.get("channel").and_then(Value::as_str).unwrap_or_default();
    let mut asked = Asked::parse(text).map_err(|error| misshapen(&error))?;
    asked.conflates |= match object.get("conflate") {
        None => false,
        Some(Value::Bool(conflates)) => *conflates,
        Some(_) => return Err(Misshapen::new("conflate", "must be true or false")),
    };
    if object.contains_key("after") || object.contains_key("epoch") {
        asked.after = Some(Position { epoch: number(object, "epoch")?, sequence: number(object, "after")? });
    }
    Ok(asked)
}

fn number(object: &Map<String, Value>, name: &'static str) -> Result<u64, Misshapen> {
    let number = object.get(name).and_then(Value::as_u64).filter(|number| *number <= INTEGER_MAX);
    number.ok_or_else(|| Misshapen::new(name, "must be an integer; epoch and after go together"))
}

fn unsubscribe(params: &[Value], subscriber: &mut Subscriber) -> Result<Value, Misshapen> {
    let names: Option<Vec<&str>> = params.iter().map(Value::as_str).collect();
    let names = names.ok_or_else(|| Misshapen::new("params", "must be the names of channels"))?;
    let ended: Vec<&str> = names.into_iter().filter(|name| subscriber.unsubscribe(name)).collect();
    Ok(json!({ "unsubscribed": ended }))
}
