//! Arguments that are objects or lists in JSON.

use scarce_core::command::table::PacketCreate;
use scarce_core::command::{Command, is_common_option};
use scarce_core::packets::cut::Plan;
use serde_json::{Map, Value};

use super::{Fields, Given, Misshapen, integer, text};

/// The words for a window, besides a number of milliseconds.
pub const WINDOWS: [&str; 5] = ["NONE", "HOUR", "DAY", "WEEK", "MONTH"];

/// The words for a method of cutting.
pub const METHODS: [&str; 3] = ["EVEN", "DOUBLE_MEAN", "LINE_CUT"];

/// Exactly one of `plan` and `amounts`.
pub(super) fn cut(fields: &Fields<'_>, words: &mut Vec<String>) -> Result<(), Misshapen> {
    match (fields.get("plan")?, fields.get("amounts")?) {
        (Some(_), Some(_)) => Err(Misshapen::new("amounts", "does not go with plan")),
        (None, None) => Err(Misshapen::new("plan", "is missing: give plan or amounts")),
        (Some(plan), None) => {
            let plan = object("plan", plan)?;
            only(plan, &["total", "count", "method", "min", "max"]).map_err(|error| error.within("plan"))?;
            words.push("PLAN".to_owned());
            for name in ["total", "count"] {
                let value = needed(plan, name).and_then(|value| integer(name, Given::Json(value)));
                words.push(value.map_err(|error| error.within("plan"))?);
            }
            let method = needed(plan, "method").and_then(|value| word("method", value, &METHODS));
            words.push(method.map_err(|error| error.within("plan"))?);
            Ok(())
        }
        (None, Some(amounts)) => {
            let amounts = list("amounts", amounts)?;
            words.push("AMOUNTS".to_owned());
            words.push(amounts.len().to_string());
            for amount in amounts {
                words.push(integer("amounts", Given::Json(amount))?);
            }
            if amounts.is_empty() { Err(Misshapen::new("amounts", "is empty")) } else { Ok(()) }
        }
    }
}

/// Reads a plan alone, for a preview.
///
/// # Errors
/// When one of its fields is missing, superfluous or malformed.
pub fn read_plan(plan: &Value) -> Result<Plan, Misshapen> {
    let mut body = Map::new();
    body.insert("plan".to_owned(), plan.clone());
    body.extend(["campaign", "asset"].map(|name| (name.to_owned(), Value::from("preview"))));
    let mut fields = Fields::default();
    fields.add_object(&body);
    match super::command(PacketCreate::SPEC, &fields)? {
        Command::PacketCreate(create) => {
            Plan::of(&create).ok_or_else(|| Misshapen::new("plan", "cannot be read"))
        }
        _ => Err(Misshapen::new("plan", "cannot be read")),
    }
}

/// The minimum and maximum of a plan, which are options of the command in the table.
pub(super) fn bounds(fields: &Fields<'_>, words: &mut Vec<String>) -> Result<(), Misshapen> {
    let Some(plan) = fields.get("plan")? else { return Ok(()) };
    let plan = object("plan", plan)?;
    for (name, token) in [("min", "MIN"), ("max", "MAX")] {
        if let Some(value) = given(plan, name) {
            let value = integer(name, Given::Json(value)).map_err(|error| error.within("plan"))?;
            words.extend([token.to_owned(), value]);
        }
    }
    Ok(())
}

/// `type` and, for a limit order, `price`.
pub(super) fn pricing(fields: &Fields<'_>, words: &mut Vec<String>) -> Result<(), Misshapen> {
    let kind = fields.get("type")?.ok_or_else(|| Misshapen::new("type", "is missing: LIMIT or MARKET"))?;
    let price = fields.get("price")?;
    match (text("type", kind)?, price) {
        ("LIMIT", Some(price)) => {
            words.push("LIMIT".to_owned());
            words.push(integer("price", price)?);
            Ok(())
        }
        ("LIMIT", None) => Err(Misshapen::new("price", "is missing: a limit order has one")),
        ("MARKET", None) => {
            words.push("MARKET".to_owned());
            Ok(())
        }
        ("MARKET", Some(_)) => Err(Misshapen::new("price", "does not go with a market order")),
        _ => Err(Misshapen::new("type", "must be one of LIMIT|MARKET")),
    }
}

/// A coupon's limits, all new, or changes to them.
pub(super) fn limits(
    name: &str,
    given: Given<'_>,
    are_new: bool,
    words: &mut Vec<String>,
) -> Result<(), Misshapen> {
    for (at, value) in list(name, given)?.iter().enumerate() {
        let place = format!("{name}[{at}]");
        let limit = object(&place, Given::Json(value))?;
        self::limit(limit, are_new, words).map_err(|error| error.within(&place))?;
    }
    Ok(())
}

fn limit(limit: &Map<String, Value>, is_new: bool, words: &mut Vec<String>) -> Result<(), Misshapen> {
    only(limit, &["name", "max", "per", "window", "window_ms", "offset_minutes"])?;
    words.push("LIMIT".to_owned());
    words.push(text("name", Given::Json(needed(limit, "name")?))?.to_owned());
    words.push(integer("max", Given::Json(needed(limit, "max")?))?);
    let field = |name: &str| given(limit, name);
    let shaped = ["per", "window", "window_ms", "offset_minutes"].iter().any(|name| field(name).is_some());
    // A change of an existing limit's maximum does not repeat its shape.
    if !shaped && !is_new {
        return Ok(());
    }
    words.extend(["PER".to_owned(), dimensions(field("per"))?, "WINDOW".to_owned()]);
    words.push(match (field("window"), field("window_ms")) {
        (Some(_), Some(_)) => return Err(Misshapen::new("window_ms", "does not go with window")),
        (Some(window), None) => word("window", window, &WINDOWS)?,
        (None, Some(duration_ms)) => integer("window_ms", Given::Json(duration_ms))?,
        (None, None) => "NONE".to_owned(),
    });
    if let Some(offset) = field("offset_minutes") {
        words.extend(["OFFSET".to_owned(), integer("offset_minutes", Given::Json(offset))?]);
    }
    Ok(())
}

/// The dimensions as one word, `-` for none.
fn dimensions(per: Option<&Value>) -> Result<String, Misshapen> {
    let Some(per) = per else { return Ok("-".to_owned()) };
    let names = list("per", Given::Json(per))?
        .iter()
        .map(|name| {
            let name = text("per", Given::Json(name))?;
            check_dimension(name).map(|()| name)
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(if names.is_empty() { "-".to_owned() } else { names.join(",") })
}

/// Separators and terminators of dimensions cannot be part of a name.
fn check_dimension(name: &str) -> Result<(), Misshapen> {
    let legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(&byte);
    let reserved = name == "-" || is_common_option(name.as_bytes());
    if !name.is_empty() && name.len() <= 32 && name.bytes().all(legal) && !reserved {
        return Ok(());
    }
    let reason = "is no dimension: 1 to 32 of a-z 0-9 _ -, other than id, deadline and durability";
    Err(Misshapen::new(name, reason))
}

/// `{"user": …, "device": …}`.
pub(super) fn subject(name: &str, given: Given<'_>, words: &mut Vec<String>) -> Result<(), Misshapen> {
    let subject = object(name, given)?;
    let user = needed(subject, "user").map_err(|error| error.within(name))?;
    let others = subject.iter().filter(|(dimension, _)| *dimension != "user");
    for (dimension, value) in std::iter::once((&"user".to_owned(), user)).chain(others) {
        check_dimension(dimension).map_err(|error| error.within(name))?;
        words.push(dimension.clone());
        words.push(text(dimension, Given::Json(value)).map_err(|error| error.within(name))?.to_owned());
    }
    Ok(())
}

fn object<'a>(name: &str, given: Given<'a>) -> Result<&'a Map<String, Value>, Misshapen> {
    match given {
        Given::Json(Value::Object(object)) => Ok(object),
        _ => Err(Misshapen::new(name, "must be a JSON object")),
    }
}

fn list<'a>(name: &str, given: Given<'a>) -> Result<&'a [Value], Misshapen> {
    match given {
        Given::Json(Value::Array(values)) => Ok(values),
        _ => Err(Misshapen::new(name, "must be a JSON array")),
    }
}

fn needed<'a>(object: &'a Map<String, Value>, name: &str) -> Result<&'a Value, Misshapen> {
    given(object, name).ok_or_else(|| Misshapen::new(name, "is missing"))
}

fn word(name: &str, value: &Value, words: &[&str]) -> Result<String, Misshapen> {
    let word = text(name, Given::Json(value))?;
    if words.contains(&word) {
        Ok(word.to_owned())
    } else {
        Err(Misshapen::new(name, format!("must be one of {}", words.join("|"))))
    }
}

/// A field of an object; an explicit null counts as absent.
#[must_use]
pub fn given<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    object.get(name).filter(|value| !value.is_null())
}

/// Refuses unknown fields.
///
/// # Errors
/// The first unknown field.
pub fn only(object: &Map<String, Value>, names: &[&str]) -> Result<(), Misshapen> {
    match object.keys().find(|name| !names.contains(&name.as_str())) {
        None => Ok(()),
        Some(name) => {
            Err(Misshapen::new(name.as_str(), format!("is no field here; known are {}", names.join(", "))))
        }
    }
}
