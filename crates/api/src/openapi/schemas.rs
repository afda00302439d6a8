//! The schemas: of arguments by their kinds, of values, facts and fields by their types.

use crate::glossary::{Language, Term, term_in};
use scarce_core::command::{ArgumentKind, ArgumentSpec, COMMANDS, CommandSpec, Effect};
use scarce_core::outcome::shape::{Shape, ValueSpec, ValueType, names};
use scarce_core::outcome::{Code, Durability};
use scarce_core::packets::AMOUNTS_MAX;
use scarce_core::types::{ID_BYTES_MAX, INTEGER_MAX, OPERATION_ID_BYTES_MAX, ROWS_MAX};
use serde_json::{Map, Value, json};

use crate::answer::paged;
use crate::arguments::names_of;
use crate::problem::PortCode;
use crate::routes::{self, Route};

/// The pattern of an id: at most one hash tag.
pub const ID_PATTERN: &str = r"^[A-Za-z0-9_.:@/+=\-]*(\{[A-Za-z0-9_.:@/+=\-]*\})?[A-Za-z0-9_.:@/+=\-]*$";

/// The pattern of an operation id: printable ASCII without blanks.
pub const OPERATION_ID_PATTERN: &str = r"^[!-~]+$";

/// The pattern of a text: no control characters.
const TEXT_PATTERN: &str = r"^[^\u0000-\u001f\u007f-\u009f]+$";

/// The pattern of a dimension, other than `-`.
pub const DIMENSION_PATTERN: &str = r"^(?!(-|id|deadline|durability)$)[a-z0-9_\-]{1,32}$";

/// A reference to a schema.
pub fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// `ACCOUNT.OPEN` as `AccountOpen`.
pub fn type_name(command: &str) -> String {
    let word = |word: &str| {
        let lower = word.to_ascii_lowercase();
        let (first, rest) = lower.split_at(lower.len().min(1));
        first.to_ascii_uppercase() + rest
    };
    command.split(['.', '_']).map(word).collect()
}

/// Every schema by its name.
pub fn all(language: Language) -> Value {
    let mut schemas = shared(language);
    for spec in COMMANDS {
        schemas.insert(format!("{}Answer", type_name(spec.name)), answer(spec, language));
        schemas.insert(format!("{}Result", type_name(spec.name)), with_receipt(spec, language));
        if let Some(request) = routes::of(spec.name).and_then(|route| request(route, spec, language)) {
            schemas.insert(format!("{}Request", type_name(spec.name)), request);
        }
        schemas.insert(format!("{}Arguments", type_name(spec.name)), arguments(spec, &[], language));
    }
    for code in Code::ALL.iter().filter(|code| **code != Code::Applied) {
        schemas.insert(format!("{}Facts", type_name(code.word())), facts(*code, language));
    }
    schemas.extend(super::batch::schemas());
    Value::Object(schemas)
}

/// The body of a route: the arguments that are not in its path.
fn request(route: &Route, spec: &'static CommandSpec, language: Language) -> Option<Value> {
    if !route.method.has_body() {
        return None;
    }
    let in_path: Vec<_> = route.path_arguments().collect();
    let in_query: &[&str] = if spec.asks_about_operation() { &["on"] } else { &[] };
    Some(arguments(spec, &[in_path.as_slice(), in_query].concat(), language))
}

/// An object with a command's arguments except those in `without`.
fn arguments(spec: &'static CommandSpec, without: &[&str], language: Language) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for argument in spec.arguments {
        for name in names_of(spec, argument).iter().filter(|name| !without.contains(name)) {
            properties.insert((*name).to_owned(), field(spec, argument, name, language));
            if is_required(argument, name) {
                required.push(*name);
            }
        }
    }
    let mut schema = object(properties, &required);
    if let Value::Object(schema) = &mut schema {
        restrict(spec, schema);
    }
    schema
}

/// The dependencies between fields, if a schema can express them.
fn restrict(spec: &CommandSpec, schema: &mut Map<String, Value>) {
    for argument in spec.arguments {
        restrict_by(argument.kind, schema);
    }
}

fn restrict_by(kind: ArgumentKind, schema: &mut Map<String, Value>) {
    match kind {
        ArgumentKind::Cut => {
            let planned = json!({ "properties": { "plan": { "type": "object" } }, "required": ["plan"] });
            let without_amounts = json!({ "properties": { "amounts": { "type": "null" } } });
            let with_amounts =
                json!({ "required": ["amounts"], "properties": { "amounts": { "type": "array" } } });
            schema.insert("if".to_owned(), planned);
            schema.insert("then".to_owned(), without_amounts);
            schema.insert("else".to_owned(), with_amounts);
        }
        ArgumentKind::Pricing => {
            let market = json!({ "properties": { "type": { "const": "MARKET" } }, "required": ["type"] });
            let without_price = json!({
                "properties": { "price": { "type": "null" }, "tif": { "enum": ["IOC", "FOK", null] } }
            });
            let with_price =
                json!({ "required": ["price"], "properties": { "price": { "type": "integer" } } });
            schema.insert("if".to_owned(), market);
            schema.insert("then".to_owned(), without_price);
            schema.insert("else".to_owned(), with_price);
        }
        _ => {}
    }
}

fn is_required(argument: &ArgumentSpec, name: &str) -> bool {
    let given = matches!(argument.kind, ArgumentKind::Limits | ArgumentKind::LimitChanges);
    (given || !argument.optional)
        && !depends(argument, name)
        && argument.kind != ArgumentKind::OptionalResource
}

/// Whether another field decides if this one is required.
fn depends(argument: &ArgumentSpec, name: &str) -> bool {
    match argument.kind {
        ArgumentKind::Cut => true,
        ArgumentKind::Pricing => name == "price",
        _ => false,
    }
}

/// The schema of one field of a request.
pub fn field(spec: &CommandSpec, argument: &ArgumentSpec, name: &str, language: Language) -> Value {
    let mut schema = match name {
        "plan" => reference("Plan"),
        "type" => json!({ "type": "string", "enum": ["LIMIT", "MARKET"] }),
        "price" if argument.kind == ArgumentKind::Pricing => positive(),
        "amounts" => json!({ "type": "array", "items": positive(), "minItems": 1, "maxItems": AMOUNTS_MAX }),
        _ => of_kind(argument),
    };
    // Price, plan and amounts may be absent, depending on other fields.
    let is_optional = argument.optional || depends(argument, name);
    if is_optional && !matches!(argument.kind, ArgumentKind::Limits | ArgumentKind::LimitChanges) {
        schema = nullable(schema);
    }
    described(schema, term_in(spec.name, name), language)
}

fn of_kind(argument: &ArgumentSpec) -> Value {
    use ArgumentKind as K;
    match argument.kind {
        K::Id | K::Resource | K::OptionalResource | K::Cut | K::Pricing => reference("Id"),
        K::OperationId => reference("OperationId"),
        K::Text | K::Reason => {
            json!({ "type": "string", "minLength": 1, "maxLength": 256, "pattern": TEXT_PATTERN })
        }
        K::Positive => positive(),
        K::RowCount => json!({ "type": "integer", "minimum": 1, "maximum": ROWS_MAX }),
        K::Natural => json!({ "type": "integer", "minimum": 0, "maximum": INTEGER_MAX }),
        K::Delta => json!({
            "type": "integer", "minimum": -9_007_199_254_740_991_i64, "maximum": INTEGER_MAX, "not": { "const": 0 }
        }),
        K::Flag => json!({ "type": "boolean" }),
        K::Word => json!({
            "type": "string", "enum": argument.syntax.unwrap_or_default().split('|').collect::<Vec<_>>()
        }),
        K::Limits => json!({ "type": "array", "items": reference("Limit"), "minItems": 1, "maxItems": 16 }),
        K::LimitChanges => {
            json!({ "type": "array", "items": reference("Limit"), "minItems": 1, "maxItems": 16 })
        }
        K::Subject => reference("Subject"),
    }
}

fn positive() -> Value {
    json!({ "type": "integer", "minimum": 1, "maximum": INTEGER_MAX })
}

pub fn integer() -> Value {
    json!({ "type": "integer", "minimum": -9_007_199_254_740_991_i64, "maximum": INTEGER_MAX })
}

/// The same, or null.
pub fn nullable(schema: Value) -> Value {
    match schema {
        Value::Object(mut object) if object.get("type").is_some_and(Value::is_string) => {
            let kind = object.get("type").cloned().unwrap_or_default();
            object.insert("type".to_owned(), json!([kind, "null"]));
            if let Some(Value::Array(words)) = object.get_mut("enum") {
                words.push(Value::Null);
            }
            Value::Object(object)
        }
        other => json!({ "anyOf": [other, { "type": "null" }] }),
    }
}

/// Adds the glossary's explanation of the field.
pub fn described(schema: Value, term: Option<&Term>, language: Language) -> Value {
    let (Value::Object(mut object), Some(term)) = (schema.clone(), term) else { return schema };
    let unit = term.unit.map(|unit| format!(" ({})", unit.text().get(language))).unwrap_or_default();
    object.insert("description".to_owned(), format!("{}{unit}", term.meaning.get(language)).into());
    Value::Object(object)
}

/// The answer of a command.
fn answer(spec: &CommandSpec, language: Language) -> Value {
    let mut fields = properties(spec.name, spec.reply, language);
    let mut required: Vec<_> = names(spec.reply).collect();
    if paged(spec).is_some() {
        fields.insert("has_more".to_owned(), json!({ "type": "boolean" }));
        fields.insert("cursor".to_owned(), json!({ "type": ["string", "null"] }));
        required.extend(["has_more", "cursor"]);
    }
    object(fields, &required)
}

/// The same with the receipt of a change.
fn with_receipt(spec: &CommandSpec, language: Language) -> Value {
    let mut schema = answer(spec, language);
    if spec.effect == Effect::Write
        && let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut)
    {
        fields.insert("receipt".to_owned(), reference("Receipt"));
        fields.insert("dry_run".to_owned(), json!({ "type": "boolean", "const": true }));
    }
    schema
}

fn facts(code: Code, language: Language) -> Value {
    all_required(code.word(), code.facts(), language)
}

/// An object with these values, all required.
pub fn all_required(scope: &str, values: &'static [ValueSpec], language: Language) -> Value {
    object(properties(scope, values, language), &names(values).collect::<Vec<_>>())
}

fn properties(scope: &str, values: &[ValueSpec], language: Language) -> Map<String, Value> {
    let field = |value: &ValueSpec| {
        let schema = of_type(value.value_type, language);
        (value.name.to_owned(), described(schema, term_in(scope, value.name), language))
    };
    values.iter().map(field).collect()
}

/// The schema of a value, a fact or a field.
fn of_type(its: ValueType, language: Language) -> Value {
    let schema = match its.shape {
        Shape::Integer => integer(),
        Shape::Text => json!({ "type": "string" }),
        Shape::IntegerOrText => json!({ "type": ["integer", "string"] }),
        Shape::Words(words) => json!({ "type": "string", "enum": words }),
        Shape::Boolean => json!({ "type": "boolean" }),
        Shape::Integers => json!({ "type": "array", "items": integer() }),
        Shape::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Shape::Rows(row) => {
            json!({ "type": "array", "items": all_required(row.name, row.values, language) })
        }
        Shape::Limit => reference("Limit"),
        Shape::Limits => json!({ "type": "array", "items": reference("Limit") }),
        Shape::Subject => reference("Subject"),
        Shape::Outcome => reference("RememberedOutcome"),
        Shape::Facts => json!({ "type": "object" }),
    };
    if its.is_nullable { nullable(schema) } else { schema }
}

/// An object with these properties and no others.
pub fn object(properties: Map<String, Value>, required: &[&str]) -> Value {
    let properties = Value::Object(properties);
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// The schemas shared by several routes.
fn shared(language: Language) -> Map<String, Value> {
    let mut schemas = Map::new();
    let mut add = |name: &str, schema: Value| {
        schemas.insert(name.to_owned(), schema);
    };
    add("Id", json!({ "type": "string", "minLength": 1, "maxLength": ID_BYTES_MAX, "pattern": ID_PATTERN }));
    add(
        "OperationId",
        json!({
            "type": "string", "minLength": 1, "maxLength": OPERATION_ID_BYTES_MAX, "pattern": OPERATION_ID_PATTERN
        }),
    );
    add("Plan", plan(language));
    add("Window", json!({ "type": "string", "enum": crate::arguments::WINDOWS }));
    add("Limit", limit(language));
    add("Subject", subject());
    let levels = Durability::ALL.map(Durability::word);
    add("Durability", json!({ "type": "string", "enum": levels }));
    add("Receipt", receipt(language));
    add("RememberedOutcome", remembered());
    add("Problem", problem());
    add("Event", super::event::any(language));
    schemas
}

fn plan(language: Language) -> Value {
    let term = |name| term_in("plan", name);
    let methods = json!({ "type": "string", "enum": crate::arguments::METHODS });
    let count = json!({ "type": "integer", "minimum": 1, "maximum": 1_000_000 });
    let fields = [
        ("total", positive()),
        ("count", count),
        ("method", methods),
        ("min", nullable(positive())),
        ("max", nullable(positive())),
    ];
    let fields = fields.map(|(name, schema)| (name.to_owned(), described(schema, term(name), language)));
    object(fields.into_iter().collect(), &["total", "count", "method"])
}

fn limit(language: Language) -> Value {
    let term = |name| term_in("limit", name);
    let per = json!({
        "type": "array", "maxItems": 8, "uniqueItems": true,
        "items": { "type": "string", "pattern": DIMENSION_PATTERN }
    });
    let natural = json!({ "type": "integer", "minimum": 0, "maximum": INTEGER_MAX });
    let offset = json!({ "type": ["integer", "null"], "minimum": -1080, "maximum": 1080 });
    let fields = [
        ("name", reference("Id")),
        ("max", natural),
        ("per", nullable(per)),
        ("window", nullable(reference("Window"))),
        ("window_ms", nullable(positive())),
        ("offset_minutes", offset),
    ];
    let fields = fields.map(|(name, schema)| (name.to_owned(), described(schema, term(name), language)));
    let mut schema = object(fields.into_iter().collect(), &["name", "max"]);
    let calendar = json!({ "enum": crate::arguments::WINDOWS.iter().filter(|word| **word != "NONE").collect::<Vec<_>>() });
    let none = json!({ "type": "null" });
    // A window is a word or a duration, and only those of the calendar have an offset.
    schema["allOf"] = json!([
        {
            "if": { "properties": { "window": { "type": "string" } }, "required": ["window"] },
            "then": { "properties": { "window_ms": none } },
        },
        {
            "if": { "properties": { "window": calendar }, "required": ["window"] },
            "else": { "properties": { "offset_minutes": none } },
        },
    ]);
    schema
}

fn subject() -> Value {
    json!({
        "type": "object",
        "properties": { "user": reference("Id") },
        "required": ["user"],
        "additionalProperties": reference("Id"),
        "propertyNames": { "pattern": DIMENSION_PATTERN },
        "maxProperties": 8,
    })
}

fn receipt(language: Language) -> Value {
    let names = ["operation", "partition", "epoch", "sequence_first", "sequence_last", "at", "durability"];
    let fields = names.map(|name| {
        let schema = match name {
            "operation" => json!({ "type": "string" }),
            "durability" => reference("Durability"),
            _ => integer(),
        };
        let scope = if name == "operation" { "request" } else { "receipt" };
        (name.to_owned(), described(schema, term_in(scope, name), language))
    });
    object(fields.into_iter().collect(), &names)
}

fn remembered() -> Value {
    json!({
        "type": "object",
        "properties": {
            "applied": { "type": "boolean" },
            "code": { "type": "string" },
            "figures": { "type": "array", "items": {} },
            "facts": { "type": "object" },
        },
        "required": ["applied"],
        "additionalProperties": false,
    })
}

/// The code words of all problems, including the port's own.
pub fn words() -> Vec<&'static str> {
    let refusals = Code::ALL.iter().filter(|code| **code != Code::Applied).map(|code| code.word());
    refusals.chain(PortCode::ALL.iter().map(|code| code.word())).collect()
}

fn problem() -> Value {
    json!({
        "type": "object",
        "properties": {
            "type": { "type": "string", "format": "uri-reference" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
            "code": { "type": "string", "enum": words() },
            "retryable": { "type": "boolean" },
            "advice": { "type": "string" },
            "facts": { "type": "object" },
            "operation": { "type": "string" },
        },
        "required": ["type", "title", "status", "code", "retryable", "advice"],
        "additionalProperties": false,
    })
}
