//! Lists by keys of some resources, over several partitions, on both ports.

use serde_json::json;
use tempfile::TempDir;

use super::support::{Server, Socket};
use super::{logged_in, make};

/// The names in a list on the RESP port.
fn names(socket: &mut Socket, words: &[&str]) -> String {
    let answer = socket.call(words);
    let rows = answer.trim_matches(['[', ']']).split("] [");
    rows.filter_map(|row| row.split_whitespace().next()).collect::<Vec<_>>().join(" ")
}

/// The names of all pages over HTTP, with something created before each but the first.
fn pages(server: &Server, key: &str, target: &str) -> String {
    let (bearer, mut http) = (format!("Bearer {key}"), server.http());
    let (mut names, mut cursor) = (Vec::new(), String::new());
    for page in 0.. {
        let response = http.call("GET", &format!("{target}{cursor}"), &[("Authorization", &bearer)], None);
        assert_eq!(response.status, 200, "{}", response.text());
        let body = response.json();
        let rows = body["items"].as_array().expect("rows");
        names.extend(rows.iter().map(|row| row["sku"].as_str().expect("a name").to_owned()));
        assert_eq!(body["has_more"].as_bool(), Some(body["cursor"].is_string()));
        let Some(next) = body["cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
        let sku = json!({ "sku": format!("a-0{page}"), "quantity": 1 });
        let created = http.call("POST", "/v1/stock", &[("Authorization", &bearer)], Some(&sku));
        assert_eq!(created.status, 201, "{}", created.text());
    }
    names.join(" ")
}

#[test]
fn a_key_sees_in_lists_what_its_scopes_cover_whatever_partition_it_is_in() {
    let data = TempDir::new().expect("a folder");
    let all = make(data.path(), "all", &["*"], &[]);
    let scopes = ["create,read:stock:a-*", "read:stock:b", "read:stock:{t}", "take:stock:c", "read:account"];
    let some = make(data.path(), "some", &scopes, &[]);
    let none = make(data.path(), "none", &["take:stock"], &[]);
    let server = Server::start(data.path(), &["--partitions", "5"]);
    let mut socket = logged_in(&server, &all);
    for sku in ["b", "a-3", "c", "{t}9", "a-1", "bb", "{t}1", "t", "a-2", "tt", "x{t}"] {
        assert_eq!(socket.call(&["STOCK.CREATE", sku, "1"]), "[1 1]");
    }
    assert_eq!(names(&mut socket, &["STOCK.LIST"]), "a-1 a-2 a-3 b bb c t tt x{t} {t}1 {t}9");
    assert_eq!(names(&mut socket, &["STOCK.LIST", "AFTER", "a-2", "COUNT", "3"]), "a-3 b bb");
    assert_eq!(names(&mut socket, &["STOCK.LIST", "PREFIX", "{t}"]), "{t}1 {t}9");
    let mut socket = logged_in(&server, &some);
    assert_eq!(names(&mut socket, &["STOCK.LIST"]), "a-1 a-2 a-3 b t {t}1 {t}9");
    assert_eq!(names(&mut socket, &["STOCK.LIST", "COUNT", "2", "AFTER", "a-2"]), "a-3 b");
    assert_eq!(names(&mut socket, &["STOCK.LIST", "PREFIX", "a-2"]), "a-2");
    assert_eq!(names(&mut socket, &["STOCK.LIST", "PREFIX", "c"]), "");
    assert_eq!(names(&mut socket, &["ACCOUNT.LIST"]), "");
    assert!(socket.call(&["COUPON.LIST"]).starts_with("-NOPERM"));
    assert!(logged_in(&server, &none).call(&["STOCK.LIST"]).starts_with("-NOPERM"));
    // What is created behind a cursor's back is not seen, and moves nothing.
    assert_eq!(pages(&server, &some, "/v1/stock?limit=2"), "a-1 a-2 a-3 b t {t}1 {t}9");
    assert_eq!(pages(&server, &all, "/v1/stock?prefix=a-&limit=100"), "a-00 a-01 a-02 a-1 a-2 a-3");
}
