//! Operations as JSON objects: a command by its name, its arguments, its id, its deadline and its
//! durability; and batches of them that are applied all or none.

use scarce_core::command::work::{WORK_MAX, too_much};
use scarce_core::command::{Body, Command, CommandSpec, Common, Effect, table};
use scarce_core::types::{Natural, OperationId};
use serde_json::{Map, Value};

use crate::arguments::{self, given, only};
use crate::openapi::BATCH_OPERATIONS_MAX;
use crate::{Fields, Misshapen};

/// The fields of an operation besides its command and its arguments.
const COMMON: [&str; 3] = ["id", "deadline", "durability"];

/// One operation.
#[derive(Clone, Debug)]
pub struct Operation {
    /// The row of its command.
    pub spec: &'static CommandSpec,
    /// The command.
    pub command: Command,
    /// Its id, deadline and durability.
    pub common: Common,
}

impl Operation {
    /// Reads an operation. A line of an atomic batch has no id, deadline and durability of its own, and
    /// changes state.
    ///
    /// # Errors
    /// When a field is missing, superfluous or malformed.
    pub fn read(value: &Value, is_line: bool) -> Result<Self, Misshapen> {
        let Value::Object(object) = value else {
            return Err(Misshapen::new("operation", "must be a JSON object"));
        };
        only(object, &["command", "arguments", "id", "deadline", "durability"])?;
        let Some(Value::String(name)) = object.get("command") else {
            return Err(Misshapen::new("command", "must be the name of a command, such as STOCK.TAKE"));
        };
        let spec = table::find(name.as_bytes())
            .filter(|spec| spec.name == name)
            .ok_or_else(|| Misshapen::new("command", "is unknown; /openapi.json names all"))?;
        check_batchable(spec, is_line)?;
        let Some(Value::Object(its)) = object.get("arguments") else {
            return Err(Misshapen::new("arguments", "must be a JSON object"));
        };
        let mut fields = Fields::default();
        fields.add_object(its);
        let command = arguments::command(spec, &fields)
            .map_err(|error| Misshapen::new(format!("arguments.{}", error.field), error.reason))?;
        let common = if is_line || spec.effect == Effect::Read {
            refuse_common(object)?;
            Common::default()
        } else {
            read_common(object)?
        };
        Ok(Self { spec, command, common })
    }
}

/// Reads the operations of a batch.
///
/// # Errors
/// When there are none or too many, one of them is malformed, or they ask for too much work together; the error
/// includes its index.
pub fn read_all(value: Option<&Value>, is_atomic: bool) -> Result<Vec<Operation>, Misshapen> {
    let Some(Value::Array(operations)) = value else {
        return Err(Misshapen::new("operations", "must be a JSON array"));
    };
    if operations.is_empty() || operations.len() > BATCH_OPERATIONS_MAX {
        return Err(Misshapen::new("operations", format!("must be 1 to {BATCH_OPERATIONS_MAX}")));
    }
    let read = |(at, value)| {
        Operation::read(value, is_atomic).map_err(|error: Misshapen| {
            Misshapen::new(format!("operations[{at}].{}", error.field), error.reason)
        })
    };
    let operations: Vec<Operation> = operations.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let work = operations.iter().map(|operation| operation.command.work()).fold(0, u64::saturating_add);
    if work > WORK_MAX {
        return Err(Misshapen::new("operations", too_much(work).reason));
    }
    Ok(operations)
}

/// The request in a message: a command that changes state, or several that are applied all or none, with
/// one id.
#[derive(Clone, Debug)]
pub struct Message {
    /// The rows of its commands in order.
    pub specs: Vec<&'static CommandSpec>,
    /// The command, or the commands.
    pub body: Body,
    /// The id, the deadline and the durability of the whole.
    pub common: Common,
}

impl Message {
    /// Reads a message.
    ///
    /// # Errors
    /// When a field is missing, superfluous or malformed.
    pub fn read(value: &Value) -> Result<Self, Misshapen> {
        let Value::Object(object) = value else {
            return Err(Misshapen::new("value", "must be a JSON object"));
        };
        if given(object, "operations").is_some() {
            return Self::read_atomic(object);
        }
        let Operation { spec, command, common } = Operation::read(value, false)?;
        if spec.effect == Effect::Read {
            let reason = format!("{} changes nothing; ask over HTTP or RESP", spec.name);
            return Err(Misshapen::new("command", reason));
        }
        Ok(Self { specs: vec![spec], body: Body::Single(command), common })
    }

    fn read_atomic(object: &Map<String, Value>) -> Result<Self, Misshapen> {
        only(object, &["atomic", "operations", "id", "deadline", "durability"])?;
        if given(object, "atomic") != Some(&Value::Bool(true)) {
            let reason = "must be true; what is to be applied each by itself comes in a message each";
            return Err(Misshapen::new("atomic", reason));
        }
        let operations = read_all(given(object, "operations"), true)?;
        let (specs, commands) =
            operations.into_iter().map(|operation| (operation.spec, operation.command)).unzip();
        Ok(Self { specs, body: Body::Atomic(commands), common: read_common(object)? })
    }
}

fn check_batchable(spec: &CommandSpec, is_atomic: bool) -> Result<(), Misshapen> {
    let joins = if is_atomic { spec.joins_atomic_batches() } else { spec.joins_batches() };
    if !joins {
        let reason = format!("{} cannot be part of this batch; ask before or after it", spec.name);
        return Err(Misshapen::new("command", reason));
    }
    Ok(())
}

fn refuse_common(object: &Map<String, Value>) -> Result<(), Misshapen> {
    match COMMON.into_iter().find(|name| given(object, name).is_some()) {
        None => Ok(()),
        Some(name) => {
            let reason =
                "belongs to a single command that changes something; an atomic batch has it for the whole";
            Err(Misshapen::new(name, reason))
        }
    }
}

/// The id, the deadline and the durability, if given.
fn read_common(object: &Map<String, Value>) -> Result<Common, Misshapen> {
    let mut common = Common::default();
    for (name, value) in COMMON.into_iter().filter_map(|name| Some((name, given(object, name)?))) {
        match (name, value) {
            ("id", Value::String(id)) => common.operation = Some(OperationId::parse(id.as_bytes(), "id")?),
            ("durability", Value::String(level)) => {
                common.durability = Some(arguments::durability(level.as_bytes(), "durability")?);
            }
            ("deadline", Value::Number(number)) => {
                common.deadline = Some(Natural::parse(number.to_string().as_bytes(), "deadline")?.get());
            }
            ("deadline", _) => return Err(Misshapen::new("deadline", "must be a JSON integer")),
            _ => return Err(Misshapen::new(name, "must be a JSON string")),
        }
    }
    Ok(common)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(value: &Value) -> String {
        let misshapen = Message::read(value).expect_err("a refusal");
        format!("{} {}", misshapen.field, misshapen.reason)
    }

    #[test]
    fn a_message_is_one_command_or_an_atomic_batch() {
        let debit = json!({ "command": "ACCOUNT.DEBIT", "arguments": { "account": "a", "amount": 5 }, "id": "1", "deadline": 9 });
        let message = Message::read(&debit).expect("a message");
        assert_eq!(message.specs[0].name, "ACCOUNT.DEBIT");
        assert_eq!(message.common.operation.as_ref().map(OperationId::as_str), Some("1"));
        assert_eq!(message.common.deadline, Some(9));
        let line = json!({ "command": "ACCOUNT.DEBIT", "arguments": { "account": "a", "amount": 5 } });
        let batch = json!({ "atomic": true, "operations": [line, line], "id": "2", "durability": "synced" });
        let message = Message::read(&batch).expect("a message");
        assert_eq!((message.specs.len(), message.body.commands().len()), (2, 2));
        assert_eq!(message.common.operation.as_ref().map(OperationId::as_str), Some("2"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let line = json!({ "command": "STOCK.GET", "arguments": { "sku": "s" } });
        let debit = |id: Value| json!({ "command": "ACCOUNT.DEBIT", "arguments": { "account": "a", "amount": 5 }, "id": id });
        for (value, field) in [
            (json!([]), "value "),
            (json!({}), "command "),
            (line.clone(), "command STOCK.GET changes nothing"),
            (debit(json!(7)), "id must be"),
            (debit(json!("a b")), "id may hold"),
            (
                json!({ "command": "ACCOUNT.DEBIT", "arguments": { "account": "a" } }),
                "arguments.amount is missing",
            ),
            (json!({ "operations": [debit(Value::Null)] }), "atomic must be true"),
            (json!({ "atomic": true, "operations": [] }), "operations must be 1"),
            (json!({ "atomic": true, "operations": [line] }), "operations[0].command"),
            (json!({ "atomic": true, "operations": [debit(json!("1"))] }), "operations[0].id belongs"),
            (json!({ "atomic": true, "operations": [debit(Value::Null)], "x": 1 }), "x is no field"),
        ] {
            assert!(refused(&value).starts_with(field), "{}", refused(&value));
        }
    }
}
