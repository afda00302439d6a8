//! The routes of those who operate the server: settings and keys.

use serde_json::{Value, json};

use super::schemas::object;
use super::system::{json_body, of_kind, with_problems};
use crate::glossary::{Language, Text};
use crate::routes::Method;

type Described = (&'static str, String, Value);

/// The path, method and description of each.
pub fn operations(language: Language) -> Vec<Described> {
    vec![
        Route::get("/v1/settings", "settings", SETTINGS)
            .answers(&list("settings", &setting()))
            .told(language),
        Route::get("/v1/keys", "keys", KEYS).answers(&list("keys", &key(Detail::Listed))).told(language),
        Route::post("/v1/keys", "key_create", CREATE)
            .takes(asked())
            .makes(&key(Detail::Made))
            .refuses("409", &["KEY_EXISTS"])
            .told(language),
        Route::post("/v1/keys/{key}/rotate", "key_rotate", ROTATE)
            .takes(of_optional(&[("overlap_ms", duration(0))]))
            .makes(&key(Detail::Made))
            .refuses("404", &["NOT_FOUND"])
            .refuses("409", &["KEY_REPLACED", "KEY_AMBIGUOUS"])
            .told(language),
        Route::post("/v1/keys/{key}/revoke", "key_revoke", REVOKE)
            .takes(of_optional(&[]))
            .answers(&of(&[("id", key_id()), ("was_revoked", json!({ "type": "boolean" }))]))
            .refuses("404", &["NOT_FOUND"])
            .refuses("409", &["KEY_AMBIGUOUS"])
            .told(language),
    ]
}

const SETTINGS: Text = Text::new(
    "The settings in effect, and where each value comes from; secrets are only said to be set.",
    "当前生效的设置及各值的来源；机密只显示是否已设置。",
);
const KEYS: Text = Text::new(
    "The keys of callers, those that are over included, without their secrets.",
    "调用方的密钥（含已失效的），不含机密部分。",
);
const CREATE: Text = Text::new(
    "Makes a key. Its text is in this answer alone; needs a key that may do everything, or the password.",
    "创建密钥。密钥全文只在本次响应中出现；需要拥有全部权限的密钥或密码。",
);
const ROTATE: Text = Text::new(
    "Makes a key in place of another one, which goes on for the overlap.",
    "创建新密钥替换原密钥；原密钥在重叠期内仍可使用。",
);
const REVOKE: Text = Text::new(
    "Ends a key at once, with the connections of its callers.",
    "立即吊销密钥，并断开使用它的连接。",
);

/// A route as it is put together.
pub(super) struct Route {
    path: &'static str,
    method: Method,
    id: &'static str,
    summary: Text,
    parameters: Vec<Value>,
    body: Option<Value>,
    answer: (&'static str, Value),
    refusals: Vec<(&'static str, &'static [&'static str])>,
}

impl Route {
    fn new(method: Method, path: &'static str, id: &'static str, summary: Text) -> Self {
        let answer = ("200", Value::Null);
        let (parameters, refusals) = (Vec::new(), Vec::new());
        Self { path, method, id, summary, parameters, body: None, answer, refusals }
    }

    pub(super) fn get(path: &'static str, id: &'static str, summary: Text) -> Self {
        Self::new(Method::Get, path, id, summary)
    }

    pub(super) fn post(path: &'static str, id: &'static str, summary: Text) -> Self {
        Self::new(Method::Post, path, id, summary)
    }

    pub(super) fn asks(mut self, parameters: Vec<Value>) -> Self {
        self.parameters.extend(parameters);
        self
    }

    pub(super) fn takes(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }

    pub(super) fn answers(mut self, schema: &Value) -> Self {
        self.answer = ("200", schema.clone());
        self
    }

    fn makes(mut self, schema: &Value) -> Self {
        self.answer = ("201", schema.clone());
        self
    }

    pub(super) fn refuses(mut self, status: &'static str, words: &'static [&'static str]) -> Self {
        self.refusals.push((status, words));
        self
    }

    /// The path, the method and the description. Everything may be malformed, or the store away.
    pub(super) fn told(self, language: Language) -> Described {
        let names = self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let of_path = names.map(|name| {
            json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } })
        });
        let speech = json!({ "$ref": "#/components/parameters/AcceptLanguage" });
        let parameters: Vec<Value> = of_path.chain(self.parameters).chain([speech]).collect();
        let always: [(&'static str, &'static [&'static str]); 2] =
            [("400", &["INVALID"]), ("503", &["UNAVAILABLE"])];
        let problems: Vec<_> = always.into_iter().chain(self.refusals).collect();
        let (status, schema) = self.answer;
        let success = json_body(self.summary, &schema, language);
        let mut responses = with_problems(success.clone(), of_kind(self.method, &problems, language));
        if let (Some(responses), false) = (responses.as_object_mut(), status == "200") {
            responses.remove("200");
            responses.insert(status.to_owned(), success);
        }
        let mut operation = json!({
            "operationId": self.id,
            "tags": ["system"],
            "summary": self.summary.get(language),
            "parameters": parameters,
            "responses": responses,
        });
        if let Some(schema) = self.body {
            // An empty object is enough where nothing is asked: what changes something is always declared as JSON.
            operation["requestBody"] =
                json!({ "required": true, "content": { "application/json": { "schema": schema } } });
        }
        (self.path, self.method.word().to_ascii_lowercase(), operation)
    }
}

pub(super) fn integer() -> Value {
    json!({ "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 })
}

pub(super) fn text() -> Value {
    json!({ "type": "string" })
}

pub(super) fn or_null(mut schema: Value) -> Value {
    schema["type"] = json!([schema["type"], "null"]);
    schema
}

/// An object that has all of these members.
pub(super) fn of(fields: &[(&str, Value)]) -> Value {
    let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    object(fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect(), &names)
}

/// An object that may have these members.
pub(super) fn of_optional(fields: &[(&str, Value)]) -> Value {
    let properties: serde_json::Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), or_null(schema.clone()))).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn list(name: &str, row: &Value) -> Value {
    of(&[(name, json!({ "type": "array", "items": row }))])
}

fn setting() -> Value {
    let value = || json!({ "type": ["string", "integer", "boolean", "null"] });
    let layers = json!({ "type": "string", "enum": ["default", "file", "environment", "flag"] });
    let mut origin = of(&[("layer", layers)]);
    for (name, schema) in
        [("name", text()), ("key", text()), ("path", text()), ("line", integer()), ("column", integer())]
    {
        origin["properties"][name] = schema;
    }
    of(&[
        ("key", text()),
        ("value", value()),
        ("unit", or_null(text())),
        ("default", or_null(text())),
        ("meaning", text()),
        ("variable", text()),
        ("origin", origin),
    ])
}

fn key_id() -> Value {
    json!({ "type": "string", "pattern": "^[0-9a-f]{12}$" })
}

fn duration(least: u64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": 3_153_600_000_000_u64 })
}

/// How much of a key is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    /// Whether it can be used, and when it was.
    Listed,
    /// Its text.
    Made,
}

fn key(detail: Detail) -> Value {
    let mut fields = vec![
        ("id", key_id()),
        ("name", text()),
        ("scopes", json!({ "type": "array", "items": text() })),
        ("namespace", text()),
        ("created_ms", integer()),
        ("expires_ms", or_null(integer())),
        ("revoked_ms", or_null(integer())),
        ("replaced_by", or_null(key_id())),
    ];
    if detail == Detail::Made {
        fields.push(("key", json!({ "type": "string", "pattern": "^sk_[0-9a-f]{12}_[0-9a-f]{48}$" })));
    } else {
        fields.push(("standing", json!({ "type": "string", "enum": ["active", "expired", "revoked"] })));
        fields.push(("last_used_ms", or_null(integer())));
    }
    of(&fields)
}

fn asked() -> Value {
    let name = json!({ "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,48}$" });
    let namespace = json!({ "type": "string", "pattern": "^[A-Za-z0-9_.-]{0,48}$" });
    let scopes = json!({ "type": "array", "items": text(), "minItems": 1, "maxItems": 64 });
    json!({
        "type": "object",
        "properties": {
            "name": name,
            "scopes": scopes,
            "namespace": or_null(namespace),
            "ttl_ms": or_null(duration(1_000)),
        },
        "required": ["name", "scopes"],
        "additionalProperties": false,
    })
}
