//! A setting as JSON, for programs and pages.

use serde_json::{Value, json};

use super::layers::{Origin, Shown};
use super::value::Kind;

impl Shown {
    /// The setting with its value, what it means and where it comes from. A secret is only said to be set.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let value = self.text.as_ref().map(|text| match self.spec.kind {
            Kind::Integer => text.parse::<u64>().map_or_else(|_| json!(text), |number| json!(number)),
            Kind::Switch => json!(["true", "1", "yes", "on"].contains(&text.to_ascii_lowercase().as_str())),
            Kind::Text | Kind::Url | Kind::Secret => json!(text),
        });
        json!({
            "key": self.spec.key,
            "value": value,
            "unit": self.spec.unit,
            "default": self.spec.default,
            "meaning": self.spec.meaning,
            "variable": self.spec.variables()[1],
            "origin": origin_json(&self.origin),
        })
    }
}

fn origin_json(origin: &Origin) -> Value {
    match origin {
        Origin::Default => json!({ "layer": origin.layer() }),
        Origin::File { place, key } => json!({
            "layer": origin.layer(), "path": place.path, "line": place.line, "column": place.column, "key": key,
        }),
        Origin::Environment(name) | Origin::Flag(name) => json!({ "layer": origin.layer(), "name": name }),
    }
}
