//! The server's own description, against which every answer is checked.

use std::collections::BTreeMap;

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::Response;

/// `/openapi.json` of the server under test.
pub struct Description {
    document: Value,
    validators: BTreeMap<String, Validator>,
}

impl Description {
    /// Reads the description.
    pub fn new(document: Value) -> Self {
        Self { document, validators: BTreeMap::new() }
    }

    /// Checks that the description has a response's status, media type and body.
    pub fn check_response(&mut self, method: &str, path: &str, response: &Response) {
        let media_type = response.media_type().replace('/', "~1");
        let status = response.status;
        let place = format!("{}/responses/{status}/content/{media_type}/schema", operation(method, path));
        let body = response.json();
        self.check(&place, &body);
        if let Some(code) = body["code"].as_str().filter(|_| body.get("facts").is_some()) {
            self.check(&format!("/components/schemas/{}Facts", type_name(code)), &body["facts"]);
        }
        for (name, value) in &response.headers {
            self.check_header(&format!("{}/responses/{status}", operation(method, path)), name, value);
        }
    }

    /// Checks that the description allows a body that the server accepted.
    pub fn check_request(&mut self, method: &str, path: &str, body: &Value) {
        self.check(
            &format!("{}/requestBody/content/application~1json/schema", operation(method, path)),
            body,
        );
    }

    /// The description of the response must contain each of our headers.
    fn check_header(&self, response: &str, name: &str, value: &str) {
        if !name.starts_with("idempotency-") && name != "retry-after" {
            return;
        }
        let headers = self.document.pointer(response).and_then(|its| its["headers"].as_object());
        let is_known = headers.is_some_and(|its| its.keys().any(|known| known.eq_ignore_ascii_case(name)));
        assert!(is_known, "{response} has no header {name}: {value}");
    }

    fn check(&mut self, place: &str, value: &Value) {
        let Self { document, validators } = self;
        let validator = validators.entry(place.to_owned()).or_insert_with(|| {
            let its =
                document.pointer(place).unwrap_or_else(|| panic!("not described: {place}, for {value}"));
            let schema = json!({ "allOf": [its], "components": document["components"] });
            jsonschema::draft202012::new(&schema).unwrap_or_else(|error| panic!("{place}: {error}"))
        });
        let errors: Vec<_> =
            validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path)).collect();
        assert!(errors.is_empty(), "not as described at {place}: {value}\n{}", errors.join("\n"));
    }
}

fn operation(method: &str, path: &str) -> String {
    format!("/paths/{}/{}", path.replace('~', "~0").replace('/', "~1"), method.to_ascii_lowercase())
}

/// `SOLD_OUT` as `SoldOut`.
fn type_name(word: &str) -> String {
    let capital = |word: &str| word[..1].to_owned() + &word[1..].to_ascii_lowercase();
    word.split('_').map(capital).collect()
}
