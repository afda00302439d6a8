//! Every command, control and route by every kind of key.

use std::collections::BTreeSet;

use scarce_api::ROUTES;
use scarce_api::history::HISTORIES;
use scarce_core::command::rules::Verb;
use scarce_core::command::{ArgumentKind, ArgumentSpec, COMMANDS, CommandSpec, Effect};
use scarce_gateway_resp::{CONTROLS, Needs};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Http, Server, Socket};
use super::{id_of, logged_in, make};

/// The words of an argument, with an id of its own for resources.
fn words_of(argument: &ArgumentSpec, id: &str) -> Vec<String> {
    let text = match (argument.kind, argument.name) {
        (ArgumentKind::Resource, _) => return vec!["ON".to_owned(), id.to_owned()],
        (ArgumentKind::Reason, _) => return vec!["REASON".to_owned(), "count".to_owned()],
        (ArgumentKind::OperationId, _) => "operation-1",
        (_, "account" | "from" | "to" | "sku" | "campaign" | "coupon" | "market") => id,
        (_, "side") => "BUY",
        (_, "pricing") => return vec!["LIMIT".to_owned(), "5".to_owned()],
        (_, "subject") => return vec!["USER".to_owned(), "user-1".to_owned()],
        (_, "cut") => return ["PLAN", "100", "2", "EVEN"].map(str::to_owned).to_vec(),
        (_, "asset" | "owner" | "user" | "hold" | "reservation" | "order" | "after" | "resource") => "some",
        _ => "1",
    };
    vec![text.to_owned()]
}

/// A command that is well formed, on a resource.
fn line(spec: &CommandSpec, id: &str) -> Vec<String> {
    let required = spec.arguments.iter().filter(|argument| !argument.optional);
    let mut words = vec![spec.name.to_owned()];
    words.extend(required.flat_map(|argument| words_of(argument, id)));
    let limit = match spec.name {
        "COUPON.CREATE" => "LIMIT all 5 PER - WINDOW none",
        "COUPON.UPDATE" => "LIMIT all 5",
        _ => "",
    };
    words.extend(limit.split_whitespace().map(str::to_owned));
    words
}

fn ask(socket: &mut Socket, words: &[String]) -> String {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    socket.call(&words)
}

/// The scope that allows a command on a resource, and nothing else of its verb.
fn scope_of(spec: &CommandSpec, id: &str) -> String {
    if spec.verb() == Verb::Any {
        return format!("take:stock:{id}");
    }
    let verb = spec.verb().word();
    let group = match spec.group() {
        "ACCOUNT" if spec.resource.is_some() => "account",
        "STOCK" => "stock",
        "PACKET" => "campaign",
        "COUPON" => "coupon",
        "MARKET" | "ORDER" => "market",
        _ => "*",
    };
    if IS_OF_ALL.contains(&spec.name) { "read".to_owned() } else { format!("{verb}:{group}:{id}") }
}

/// What shows more than the resource that it names, or may name none.
const IS_OF_ALL: [&str; 2] = ["DIGEST", "ACCOUNT.WORLD"];

/// Whether a scope, as the tests write them, allows a command on `mine`.
fn allows(scope: &str, spec: &CommandSpec) -> bool {
    let parts: Vec<&str> = scope.split(':').collect();
    let is_verb = match spec.verb() {
        Verb::Any => parts[0] != "read" || spec.effect == Effect::Read,
        verb => verb.word() == parts[0],
    };
    let is_kind = parts.len() == 1
        || parts[1] == "*"
        || spec.verb() == Verb::Any
        || scope_of(spec, "mine").split(':').nth(1) == Some(parts[1]);
    is_verb && is_kind && (parts.len() == 1 || !IS_OF_ALL.contains(&spec.name))
}

#[test]
fn every_command_is_allowed_by_its_scope_and_by_no_other() {
    let data = TempDir::new().expect("a folder");
    let all: BTreeSet<String> = COMMANDS.iter().map(|spec| scope_of(spec, "mine")).collect();
    let mut made = Vec::new();
    for (at, scope) in all.iter().enumerate() {
        made.push((scope, make(data.path(), &format!("k{at}"), &[scope], &[])));
    }
    let server = Server::start(data.path(), &[]);
    let mut stranger = server.socket();
    for spec in COMMANDS {
        assert!(ask(&mut stranger, &line(spec, "mine")).starts_with("-NOAUTH"), "{}", spec.name);
    }
    for (scope, key) in &made {
        let mut socket = logged_in(&server, key);
        for spec in COMMANDS {
            let may = allows(scope, spec);
            let answer = ask(&mut socket, &line(spec, "mine"));
            assert_eq!(!answer.starts_with("-NOPERM"), may, "{} by {scope}: {answer}", spec.name);
            assert!(!answer.contains("Usage"), "{}: {answer}", spec.name);
            if scope.ends_with(":mine") && !IS_OF_ALL.contains(&spec.name) && !spec.is_list() {
                let other = ask(&mut socket, &line(spec, "yours"));
                assert!(
                    other.starts_with("-NOPERM this key lacks the scope "),
                    "{} by {scope}: {other}",
                    spec.name
                );
                let dry = [vec!["DRYRUN".to_owned()], line(spec, "yours")].concat();
                assert!(ask(&mut socket, &dry).starts_with("-NOPERM"), "{} by {scope}", spec.name);
            }
        }
    }
}

#[test]
fn every_control_needs_what_its_row_says() {
    let data = TempDir::new().expect("a folder");
    let operator = make(data.path(), "operator", &["operate"], &[]);
    let everything_else = make(data.path(), "rest", &["read,take,settle,create,administrate"], &[]);
    let server = Server::start(data.path(), &[]);
    for control in CONTROLS.iter().filter(|control| !["QUIT", "AUTH"].contains(&control.name)) {
        let mut socket = logged_in(&server, &everything_else);
        let refused = socket.call(&[control.name, "x"]).starts_with("-NOPERM");
        assert_eq!(refused, control.needs == Needs::Operate, "{}", control.name);
        let mut socket = logged_in(&server, &operator);
        let refused = socket.call(&[control.name, "x"]).starts_with("-NOPERM");
        assert_eq!(
            refused,
            matches!(control.needs, Needs::Script(_) | Needs::Digest(_) | Needs::Scripts | Needs::Some(_)),
            "{}",
            control.name
        );
    }
    let mut socket = logged_in(&server, &everything_else);
    assert!(socket.call(&["EVENTS", "0", "0", "0"]).starts_with("-NOPERM"));
    assert!(socket.call(&["DEBUG.EXPIRE", "1"]).starts_with("-NOPERM"));
    assert!(!socket.call(&["INFO"]).contains("deployment_id"));
    assert!(logged_in(&server, &operator).call(&["INFO"]).contains("deployment_id"));
}

/// A request that is well formed where only a path is needed.
fn http(http: &mut Http, (method, path): (&str, &str), id: &str, key: Option<&str>) -> (u16, Value) {
    let mut target = String::new();
    for part in path.split('/').skip(1) {
        let part = match part {
            "{account}" | "{sku}" | "{campaign}" | "{coupon}" | "{market}" => id,
            "{serial}" => "1",
            part if part.starts_with('{') => "some",
            part => part,
        };
        target.push_str(&format!("/{part}"));
    }
    let bearer = key.map(|key| format!("Bearer {key}"));
    let headers: Vec<(&str, &str)> = bearer.iter().map(|bearer| ("Authorization", bearer.as_str())).collect();
    let response = http.call(method, &target, &headers, None);
    let body = if response.body.is_empty() { Value::Null } else { response.json() };
    (response.status, body)
}

#[test]
fn every_route_asks_for_a_key_and_refuses_one_that_may_something_else() {
    let data = TempDir::new().expect("a folder");
    let useless = make(data.path(), "useless", &["take:script:none"], &[]);
    let reader =
        make(data.path(), "reader", &["read:account:mine", "read:stock:mine", "read:market:mine"], &[]);
    let server = Server::start(data.path(), &[]);
    let mut client = server.http();
    let of_commands = ROUTES.iter().map(|route| (route.method.word(), route.path));
    let of_histories = HISTORIES.iter().map(|history| ("GET", history.path));
    let others = [
        ("POST", "/v1/batch"),
        ("GET", "/v1/events"),
        ("GET", "/v1/audit"),
        ("GET", "/v1/consumers"),
        ("POST", "/v1/waiting-rooms/{room}/tickets"),
        ("GET", "/v1/waiting-rooms/{room}/tickets/{ticket}"),
        ("GET", "/v1/reconciliations"),
        ("POST", "/v1/reconciliations"),
        ("GET", "/v1/reconciliations/{id}"),
        ("GET", "/v1/scripts"),
        ("GET", "/v1/scripts/{script}"),
        ("POST", "/v1/scripts/{script}"),
        ("DELETE", "/v1/scripts/{script}"),
        ("POST", "/v1/scripts/{script}/run"),
        ("GET", "/v1/settings"),
        ("GET", "/v1/keys"),
        ("POST", "/v1/keys"),
        ("POST", "/v1/keys/{key}/rotate"),
        ("POST", "/v1/keys/{key}/revoke"),
        ("GET", "/v1/webhooks"),
        ("POST", "/v1/webhooks/{endpoint}/pause"),
        ("POST", "/v1/webhooks/{endpoint}/resume"),
        ("POST", "/v1/webhooks/{endpoint}/replay"),
        ("GET", "/v1/deliveries"),
        ("POST", "/v1/deliveries/{delivery}/replay"),
        ("GET", "/v1/settlements"),
        ("POST", "/v1/settlements/{campaign}/replay"),
        ("GET", "/metrics"),
        ("POST", "/v1/packet-previews"),
    ];
    for route in of_commands.chain(of_histories).chain(others) {
        let (status, body) = http(&mut client, route, "mine", None);
        assert_eq!((status, &body["code"]), (401, &json!("UNAUTHENTICATED")), "{route:?}");
        let (status, body) = http(&mut client, route, "mine", Some(&useless));
        if ["/v1/packet-previews", "/v1/batch"].contains(&route.1) {
            assert_eq!(status, 400, "without a body: {body}");
            continue;
        }
        assert_eq!((status, &body["code"]), (403, &json!("FORBIDDEN")), "{route:?}");
        assert!(body["facts"]["scope"].is_string(), "{route:?}: {body}");
    }
    let wrong = format!("sk_{}_{}", id_of(&useless), "0".repeat(48));
    assert_eq!(http(&mut client, ("GET", "/metrics"), "", Some(&wrong)).0, 401);
    for (path, status) in [
        ("/v1/accounts/{account}", 404),
        ("/v1/stock/{sku}", 404),
        ("/v1/markets/{market}", 404),
        ("/v1/packets/{campaign}", 403),
        ("/v1/coupons/{coupon}", 403),
        ("/v1/history/accounts/{account}/entries", 503),
        ("/v1/history/owners/{owner}/receipts", 403),
        ("/v1/history/operations/{operation}", 403),
    ] {
        assert_eq!(http(&mut client, ("GET", path), "mine", Some(&reader)).0, status, "{path}");
        assert_eq!(http(&mut client, ("GET", path), "yours", Some(&reader)).0, 403, "{path} of another");
    }
    let basic = [("Authorization", "Basic YTpi")];
    assert_eq!(client.call("GET", "/v1/accounts/mine", &basic, None).status, 401);
    assert_eq!(client.get("/livez").status, 200);
}
