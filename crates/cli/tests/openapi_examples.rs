//! Every example of `/openapi.json`, sent to a server as a reader of `/docs` sends it.

#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use scarce_api::openapi::EXAMPLES;
use serde_json::Value;
use support::{Server, encoded, redis_server};

/// The operation of a command: its method, its path, and what the description says of it.
fn operation<'a>(document: &'a Value, command: &str) -> (&'a str, &'a str, &'a Value) {
    let paths = document["paths"].as_object().unwrap().iter();
    let mut all = paths.flat_map(|(path, methods)| {
        methods.as_object().unwrap().iter().map(move |(method, its)| (method.as_str(), path.as_str(), its))
    });
    all.find(|(_, _, its)| its["x-command"] == command).unwrap_or_else(|| panic!("no {command}"))
}

/// A value in a target, as a page sends it.
fn written(value: &Value) -> String {
    encoded(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// Sends an example by nothing but what the description says.
fn send(server: &Server, document: &Value, line: &str) {
    let (method, path, its) = operation(document, line.split(' ').next().unwrap());
    let (mut target, mut query, mut headers) = (path.to_owned(), Vec::new(), Vec::new());
    for parameter in its["parameters"].as_array().unwrap() {
        let (Some(name), Some(value)) =
            (parameter["name"].as_str(), parameter["examples"][line].get("value"))
        else {
            continue;
        };
        match parameter["in"].as_str().unwrap() {
            "path" => target = target.replace(&format!("{{{name}}}"), &written(value)),
            "query" => query.push(format!("{name}={}", written(value))),
            _ => headers.push((name, value.as_str().unwrap())),
        }
    }
    assert!(!target.contains('{'), "{line}: {target}");
    if !query.is_empty() {
        target = format!("{target}?{}", query.join("&"));
    }
    let body = its["requestBody"]["content"]["application/json"]["examples"][line].get("value");
    assert_eq!(body.is_some(), its.get("requestBody").is_some(), "{line}");
    let response = server.http().call(&method.to_uppercase(), &target, &headers, body);
    assert!([200, 201].contains(&response.status), "{line}: {method} {target}: {}", response.text());
}

#[test]
fn every_example_is_applied_on_both_engines() {
    let redis = redis_server(&[]);
    let url = redis.url();
    let inside = Server::fresh(&["--engine", "redis", "--redis-url", &url]);
    for server in [Server::fresh(&[]), inside] {
        for language in ["en", "zh"] {
            let document = server.http().get(&format!("/openapi.json?lang={language}")).json();
            let count = document["paths"].to_string().matches("x-command").count();
            assert!(count > 50, "{count}");
            if language == "en" {
                EXAMPLES.iter().for_each(|line| send(&server, &document, line));
            }
            for line in EXAMPLES {
                let (_, _, its) = operation(&document, line.split(' ').next().unwrap());
                assert!(its.to_string().contains(line) || *line == "DIGEST", "{line} in {language}");
            }
        }
    }
}
