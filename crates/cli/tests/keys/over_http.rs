//! Keys made, rotated and revoked over HTTP, by those who may do everything and by no others.

use scarce_access::Shown;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Http, Response, Server, redis_server, wait_until};
use super::{json_of, make};

fn post(http: &mut Http, key: Option<&str>, path: &str, body: &Value) -> Response {
    let bearer = key.map(|key| format!("Bearer {key}"));
    let headers: Vec<(&str, &str)> = bearer.iter().map(|bearer| ("Authorization", bearer.as_str())).collect();
    http.call("POST", path, &headers, Some(body))
}

fn get(http: &mut Http, key: &str, path: &str) -> Response {
    http.call("GET", path, &[("Authorization", &format!("Bearer {key}"))], None)
}

fn text(body: &Value, name: &str) -> String {
    body[name].as_str().unwrap_or_else(|| panic!("no {name} in {body}")).to_owned()
}

#[test]
fn the_first_key_closes_an_open_server_and_others_are_made_rotated_and_revoked_with_either_engine() {
    let redis = redis_server(&[]);
    let address = redis.url();
    for engine in [&[][..], &["--engine", "redis", "--redis-url", &address]] {
        let server = Server::fresh(engine);
        let mut http = server.http();
        let made = post(&mut http, None, "/v1/keys", &json!({ "name": "admin", "scopes": ["*"] }));
        assert_eq!(made.status, 201, "{}", made.text());
        let admin = text(&made.json(), "key");
        assert!(Shown::parse(admin.as_bytes()).is_some(), "{admin}");
        assert_eq!(made.header("cache-control"), Some("no-store"));
        wait_until("the server is closed", || server.http().get("/v1/stock").status == 401);
        let mut http = server.http();
        let asked = json!({ "name": "shop", "scopes": ["read:stock:sku-*", "take:stock"], "ttl_ms": 60_000 });
        let made = post(&mut http, Some(&admin), "/v1/keys", &asked).json();
        let shop = text(&made, "key");
        assert_eq!(made["scopes"], json!(["read:stock:sku-*", "take:stock"]));
        let span = made["expires_ms"].as_u64().zip(made["created_ms"].as_u64());
        assert_eq!(span.map(|(expires, created)| expires - created), Some(60_000));
        wait_until("the key is known", || get(&mut server.http(), &shop, "/v1/stock/sku-1").status == 404);
        let mut http = server.http();
        let rotated =
            post(&mut http, Some(&admin), "/v1/keys/shop/rotate", &json!({ "overlap_ms": 0 })).json();
        assert_eq!((&rotated["name"], &rotated["namespace"]), (&json!("shop"), &made["namespace"]));
        let next = text(&rotated, "key");
        wait_until("its time is over", || get(&mut server.http(), &shop, "/v1/stock/sku-1").status == 401);
        wait_until("its successor is known", || {
            get(&mut server.http(), &next, "/v1/stock/sku-1").status == 404
        });
        let revoke = format!("/v1/keys/{}/revoke", text(&rotated, "id"));
        let mut http = server.http();
        for was_revoked in [false, true] {
            let body = post(&mut http, Some(&admin), &revoke, &json!({})).json();
            assert_eq!(body, json!({ "id": rotated["id"], "was_revoked": was_revoked }));
        }
        wait_until("it is over", || get(&mut server.http(), &next, "/v1/stock/sku-1").status == 401);
        let listed = get(&mut server.http(), &admin, "/v1/keys");
        assert!(
            !listed.text().contains(&admin[16..]) && !listed.text().contains("secret"),
            "{}",
            listed.text()
        );
        let rows = listed.json()["keys"].as_array().expect("keys").clone();
        let mut standings: Vec<_> =
            rows.iter().map(|row| (text(row, "name"), text(row, "standing"))).collect();
        standings.sort();
        let expected = [("admin", "active"), ("shop", "expired"), ("shop", "revoked")];
        assert_eq!(standings, expected.map(|(name, standing)| (name.to_owned(), standing.to_owned())));
    }
}

#[test]
fn only_who_may_do_everything_changes_keys_and_what_cannot_be_is_refused() {
    let data = TempDir::new().expect("a folder");
    let admin = make(data.path(), "admin", &["*"], &[]);
    let each = ["read", "take", "settle", "create", "administrate", "operate"];
    let operator = make(data.path(), "operator", &each, &[]);
    let server = Server::start(data.path(), &[]);
    let mut http = server.http();
    let asked = json!({ "name": "mine", "scopes": ["*"] });
    for path in ["/v1/keys", "/v1/keys/admin/rotate", "/v1/keys/admin/revoke"] {
        let refused = post(&mut http, Some(&operator), path, &asked);
        assert_eq!((refused.status, &refused.json()["facts"]["scope"]), (403, &json!("*")), "{path}");
    }
    assert_eq!(get(&mut http, &operator, "/v1/keys").json()["keys"].as_array().map(Vec::len), Some(2));
    for (path, body, status, code) in [
        ("/v1/keys", json!({ "name": "admin", "scopes": ["read"] }), 409, "KEY_EXISTS"),
        ("/v1/keys", json!({ "name": "<b>", "scopes": ["read"] }), 400, "INVALID"),
        ("/v1/keys", json!({ "name": "sk_1", "scopes": ["read"] }), 400, "INVALID"),
        ("/v1/keys", json!({ "name": "x", "scopes": [] }), 400, "INVALID"),
        ("/v1/keys", json!({ "name": "x", "scopes": ["reads"] }), 400, "INVALID"),
        ("/v1/keys", json!({ "name": "x", "scopes": "read" }), 400, "INVALID"),
        ("/v1/keys", json!({ "name": "x", "scopes": ["read"], "ttl_ms": -1 }), 400, "INVALID"),
        ("/v1/keys", json!({ "name": "x", "scopes": ["read"], "ttl_ms": 1e300 }), 400, "INVALID"),
        ("/v1/keys", json!({ "name": "x", "scopes": ["read"], "days": 1 }), 400, "INVALID"),
        ("/v1/keys", json!({}), 400, "INVALID"),
        ("/v1/keys/nobody/rotate", json!({}), 404, "NOT_FOUND"),
        ("/v1/keys/nobody/revoke", json!({}), 404, "NOT_FOUND"),
        ("/v1/keys/operator/rotate", json!({ "overlap_ms": "1h" }), 400, "INVALID"),
        ("/v1/keys/operator/revoke", json!({ "all": true }), 400, "INVALID"),
    ] {
        let refused = post(&mut http, Some(&admin), path, &body);
        assert_eq!((refused.status, &refused.json()["code"]), (status, &json!(code)), "{path} {body}");
    }
    let operator_id = &operator[3..15];
    let path = format!("/v1/keys/{operator_id}/rotate");
    let successor = post(&mut http, Some(&admin), &path, &json!({})).json();
    let again = post(&mut http, Some(&admin), &path, &json!({})).json();
    assert_eq!((&again["code"], &again["facts"]["replaced_by"]), (&json!("KEY_REPLACED"), &successor["id"]));
    let several = post(&mut http, Some(&admin), "/v1/keys/operator/revoke", &json!({})).json();
    assert_eq!(several["code"], json!("KEY_AMBIGUOUS"));
    // A key in place of its ID is known by neither, and its secret is in no record.
    let whole = format!("/v1/keys/{operator}/revoke");
    assert_eq!(post(&mut http, Some(&admin), &whole, &json!({})).status, 404);
    wait_until("the acts are recorded", || {
        let records =
            get(&mut server.http(), &admin, "/v1/audit?kind=act&who=admin&what=POST%20/v1/keys*").text();
        assert!(!records.contains(&operator[16..]), "{records}");
        records.contains(&format!("POST /v1/keys/{operator_id}/revoke")) && records.contains("APPLIED")
    });
    assert_eq!(json_of(data.path(), &["show", operator_id, "--json"])["standing"], json!("active"));
}
