//! The `OpenAPI` 3.1 description, generated from the tables of commands, codes and routes.

pub(crate) mod audit;
pub(crate) mod batch;
mod deliveries;
pub(crate) mod event;
mod examples;
mod history;
mod live;
mod operations;
mod operators;
mod reconciliations;
mod rooms;
pub(crate) mod schemas;
mod scripts;
mod system;

pub use batch::BATCH_OPERATIONS_MAX;
pub use examples::EXAMPLES;

use crate::glossary::Language;
use scarce_core::command::COMMANDS;
use serde_json::{Map, Value, json};

use crate::routes::ROUTES;

/// The description, with texts in the given language.
#[must_use]
pub fn document(version: &str, language: Language) -> Value {
    let mut paths: Map<String, Value> = Map::new();
    let commands = ROUTES.iter().filter_map(|route| {
        let spec = route.spec()?;
        Some((
            route.path,
            route.method.word().to_ascii_lowercase(),
            operations::operation(route, spec, language),
        ))
    });
    for (path, method, operation) in commands
        .chain(system::operations(language))
        .chain(audit::operations(language))
        .chain(deliveries::operations(language))
        .chain(history::operations(language))
        .chain(live::operations(language))
        .chain(operators::operations(language))
        .chain(reconciliations::operations(language))
        .chain(rooms::operations(language))
        .chain(scripts::operations(language))
    {
        let entry = paths.entry(path).or_insert_with(|| json!({}));
        if let Value::Object(methods) = entry {
            methods.insert(method, operation);
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Scarce",
            "version": version,
            "summary": summary(language),
            "description": description(language),
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "bearer": [] }, {}],
        "tags": tags(),
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "parameters": operations::parameters(language),
            "headers": operations::headers(language),
            "schemas": schemas::all(language),
        },
    })
}

fn summary(language: Language) -> &'static str {
    match language {
        Language::English => "Hands out what there is not enough of.",
        Language::Chinese => "把不够分的东西准确地分出去。",
    }
}

fn description(language: Language) -> &'static str {
    match language {
        Language::English => {
            "Every command that changes something is applied once per `Idempotency-Key`; a copy is answered as the \
             first time, with `Idempotency-Replayed: true`. Without the header the server makes an id and returns it. \
             Refusals are problem documents (RFC 9457) with a `code` and the `facts` that it rests on; \
             `retryable` says whether the same command may succeed later. Amounts and times are integers up to \
             2^53 − 1: minor units, and milliseconds since the Unix epoch. The examples rest on each other, and are applied \
             on an empty server: resources first, their ends last."
        }
        Language::Chinese => {
            "所有写命令按 `Idempotency-Key` 只生效一次；重复请求返回首次结果，并带 `Idempotency-Replayed: true`。\
             不带该头时由服务器生成 ID 并在响应中返回。拒绝以问题文档（RFC 9457）返回，含 `code` 与所依据的 `facts`；\
             `retryable` 表示同一命令稍后是否可能成功。金额与时间均为不超过 2^53 − 1 的整数：最小货币单位、Unix 毫秒。\
             各示例前后相承，可在空的服务器上依次执行：先创建资源，最后才关闭。"
        }
    }
}

fn tags() -> Value {
    let mut groups: Vec<&str> = Vec::new();
    for spec in COMMANDS {
        if !groups.contains(&spec.group()) {
            groups.push(spec.group());
        }
    }
    groups.extend(["BATCH", "EVENTS", "HISTORY", "SCRIPTS", "SYSTEM"]);
    groups.iter().map(|group| json!({ "name": tag(group) })).collect()
}

fn tag(group: &str) -> String {
    group.to_ascii_lowercase()
}

#[cfg(test)]
mod tests;
