//! Operations as JSON objects, one on each line.

use scarce_core::outcome::Durability;
use scarce_core::types::{Natural, OperationId};
use serde_json::{Map, Value};

use super::operation::{self, Operation, Terms, shown};

/// The maximum number of lines of an atomic batch, as on the server.
const BATCH_MAX: usize = 1_000;

/// Parses a line; `own_id` is the id for a line without one, if such lines are allowed.
pub(super) fn read(line: u64, text: &[u8], own_id: Option<String>) -> Result<Operation, String> {
    let value: Value = serde_json::from_slice(text).map_err(|error| format!("is not JSON: {error}"))?;
    let Value::Object(fields) = value else { return Err("is not a JSON object".to_owned()) };
    if let Some(unknown) = fields.keys().find(|name| !FIELDS.contains(&name.as_str())) {
        return Err(format!("has an unknown field '{}'; known are {}", shown(unknown), FIELDS.join(", ")));
    }
    let id = match read_id(&fields)? {
        Some(id) => id.to_owned(),
        None => own_id.ok_or("has no id; give one, or --run, or --allow-no-id")?,
    };
    let terms = Terms { deadline: read_deadline(&fields)?, durability: read_durability(&fields)? };
    match (fields.get("command"), fields.get("atomic")) {
        (Some(command), None) => Ok(Operation::single(line, id, &read_command(command, "command")?, terms)),
        (None, Some(atomic)) => Ok(Operation::batch(line, id, &read_batch(atomic)?, terms)),
        _ => Err("needs either command or atomic".to_owned()),
    }
}

const FIELDS: [&str; 5] = ["id", "command", "atomic", "deadline", "durability"];

fn read_id(fields: &Map<String, Value>) -> Result<Option<&str>, String> {
    let Some(value) = fields.get("id") else { return Ok(None) };
    let id = value.as_str().ok_or("id must be a string")?;
    OperationId::parse(id.as_bytes(), "id").map_err(|problem| problem.to_string())?;
    Ok(Some(id))
}

fn read_deadline(fields: &Map<String, Value>) -> Result<Option<Natural>, String> {
    let Some(value) = fields.get("deadline") else { return Ok(None) };
    let deadline = value.as_u64().and_then(Natural::new);
    deadline.map(Some).ok_or_else(|| "deadline must be an integer of Unix milliseconds".to_owned())
}

fn read_durability(fields: &Map<String, Value>) -> Result<Option<Durability>, String> {
    let Some(value) = fields.get("durability") else { return Ok(None) };
    let level = value.as_str().ok_or("durability must be a string")?;
    Durability::parse(level.as_bytes(), "durability").map(Some).map_err(|problem| problem.to_string())
}

fn read_batch(value: &Value) -> Result<Vec<Vec<&str>>, String> {
    let lines = value.as_array().ok_or("atomic must be an array of commands")?;
    if lines.is_empty() || lines.len() > BATCH_MAX {
        return Err(format!("atomic must have 1 to {BATCH_MAX} commands"));
    }
    lines.iter().enumerate().map(|(at, line)| read_command(line, &format!("atomic[{at}]"))).collect()
}

/// The words of a command, checked so that the server will understand them.
fn read_command<'a>(value: &'a Value, place: &str) -> Result<Vec<&'a str>, String> {
    let words = value.as_array().ok_or_else(|| format!("{place} must be an array of strings"))?;
    let words: Vec<&str> = words
        .iter()
        .map(|word| word.as_str().ok_or_else(|| format!("{place} must hold strings only; quote numbers")))
        .collect::<Result<_, _>>()?;
    let name = words.first().ok_or_else(|| format!("{place} is empty"))?;
    let spec = operation::find(name).map_err(|problem| format!("{place} {problem}"))?;
    operation::check(spec, &words).map_err(|problem| format!("{place}: {problem}"))?;
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use scarce_client::pack;

    fn problem(text: &str) -> String {
        read(1, text.as_bytes(), None).expect_err(text)
    }

    #[test]
    fn a_command_goes_out_with_its_id_deadline_and_durability() {
        let text = r#"{"id":"a","command":["STOCK.TAKE","s","1","o"],"deadline":5,"durability":"synced"}"#;
        let operation = read(3, text.as_bytes(), None).unwrap();
        let mut expected = Vec::new();
        pack(
            &["STOCK.TAKE", "s", "1", "o", "ID", "a", "DEADLINE", "5", "DURABILITY", "synced"],
            &mut expected,
        );
        assert_eq!((operation.line, operation.packed, operation.answers), (3, expected, 1));
    }

    #[test]
    fn a_batch_goes_out_whole() {
        let text = r#"{"id":"a","atomic":[["ACCOUNT.DEBIT","u","5"],["STOCK.TAKE","s","1","u"]]}"#;
        let operation = read(1, text.as_bytes(), None).unwrap();
        let packed = String::from_utf8(operation.packed).unwrap();
        assert!(packed.starts_with("*1\r\n$5\r\nMULTI\r\n*2\r\n$8\r\nBATCH.ID\r\n$1\r\na\r\n"));
        assert!(packed.ends_with("*1\r\n$4\r\nEXEC\r\n"));
        assert!(operation.is_atomic && operation.answers == 5);
    }

    #[test]
    fn every_wrong_line_is_told_what_is_wrong() {
        for (text, part) in [
            ("nonsense", "is not JSON"),
            ("[1]", "is not a JSON object"),
            (r#"{"id":"a","comand":["X"]}"#, "unknown field 'comand'"),
            (r#"{"id":1,"command":["STOCK.CLOSE","s"]}"#, "id must be a string"),
            (r#"{"id":"a b","command":["STOCK.CLOSE","s"]}"#, "id may hold"),
            (r#"{"id":"a","command":["STOCK.TAKE","s",1,"o"]}"#, "quote numbers"),
            (r#"{"id":"a","command":["STOCK.TKE","s"]}"#, "unknown command 'STOCK.TKE'"),
            (r#"{"id":"a","command":["STOCK.TAKE","s","0","o"]}"#, "quantity must be"),
            (r#"{"id":"a","command":["STOCK.GET","s"]}"#, "changes nothing"),
            (r#"{"id":"a","command":["STOCK.CLOSE","s","ID","b"]}"#, "fields of the line"),
            (r#"{"id":"a","command":["STOCK.CLOSE","s"],"deadline":"5"}"#, "deadline must be"),
            (r#"{"id":"a","command":["STOCK.CLOSE","s"],"durability":1}"#, "durability must be a string"),
            (r#"{"id":"a","command":["STOCK.CLOSE","s"],"durability":"disk"}"#, "durability must be memory"),
            (r#"{"id":"a","command":["STOCK.CLOSE","s","DURABILITY","synced"]}"#, "fields of the line"),
            (r#"{"id":"a","command":["STOCK.CLOSE","s"],"atomic":[]}"#, "either command or atomic"),
            (r#"{"id":"a","atomic":[]}"#, "1 to 1000"),
            (r#"{"id":"a","atomic":[["STOCK.CLOSE","s"],["NO"]]}"#, "atomic[1] names"),
            (r#"{"command":["STOCK.CLOSE","s"]}"#, "has no id"),
        ] {
            let problem = problem(text);
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }
}
