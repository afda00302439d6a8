//! Keys that are not what the map says, and maps that are wrong.

use crate::shop::{Desk, MAP, fill};
use crate::support::{Server, redis_server};

#[test]
fn what_is_not_a_number_is_named_with_its_key_and_line_and_nothing_is_made() {
    let (redis, desk) = (redis_server(&[]), Desk::new(MAP));
    fill(
        &redis,
        "SET balance:good 1.00
SET balance:nan nan
SET balance:lua 1.2345678901235e+15
SET balance:fine 12.345
SET balance:below -1
SET balance:large 99999999999999999
LPUSH balance:list 1
HSET wallet:half balance 5 credit 0
HSET wallet:low currency USD balance -5 credit 4
SET balance:spa!ce 1
SET stock:shoe 1
HSET bought:shoe alice 4
HSET bought:nothing alice 1
RPUSH packets:torn {\"amount\":
RPUSH packets:none {\"amount\":0}
SET coupon:late:left x
ZADD coupon:late:users 1 alice",
    );
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path(), &[]);
    let before = server.connect().call(&["DIGEST"]).unwrap();
    let said = desk.json(&redis.url(), &["--resp", &server.address, "--run", "bad"], 1);
    let problems = said["problems"].as_array().unwrap();
    let find = |key: &str| {
        let found = problems.iter().find(|problem| problem["key"] == key);
        found.unwrap_or_else(|| panic!("{key} is not named: {said}"))["reason"].as_str().unwrap()
    };
    for (key, part) in [
        ("balance:nan", "no number"),
        ("balance:lua", "no number"),
        ("balance:fine", "the scale of the map is 2"),
        ("balance:below", "below zero"),
        ("balance:large", "too large"),
        ("balance:list", "is not a string"),
        ("wallet:half", "no field 'currency'"),
        ("wallet:low", "below zero"),
        ("balance:spa!ce", "ACCOUNT.OPEN"),
        ("stock:shoe", "per_owner_max is 3"),
        ("bought:nothing", "no key as stock:{sku}"),
        ("packets:torn", "not JSON"),
        ("packets:none", "nothing in it"),
        ("coupon:late:left", "no number"),
    ] {
        assert!(find(key).contains(part), "{key}: {}", find(key));
    }
    assert_eq!(problems[0]["line"], 5, "{said}");
    assert!(problems.iter().all(|problem| problem["key"] != "balance:good"), "{said}");
    assert_eq!(server.connect().call(&["DIGEST"]).unwrap(), before, "nothing was made");
    assert!(!desk.path().join("bad.plan.ndjson").exists(), "and nothing was planned");
}

#[test]
fn a_key_that_two_lines_read_is_wrong() {
    let accounts = |key: &str| {
        format!("[[accounts]]\nkey = \"{key}\"\ntype = \"string\"\naccount = \"{{user}}\"\nasset = \"EUR\"\n")
    };
    let redis = redis_server(&[]);
    fill(&redis, "SET balance:alice 1");
    let map = accounts("balance:{user}") + &accounts("{kind}:{user}");
    let said = Desk::new(&map).json(&redis.url(), &["--dry-run"], 1);
    assert_eq!(said["problems"][0]["reason"], "is read by line 7 of the map too", "{said}");
    fill(&redis, "DEL balance:alice\nSET one:alice 1\nSET two:alice 2");
    let said = Desk::new(&accounts("{kind}:{user}")).json(&redis.url(), &["--dry-run"], 1);
    let reason = said["problems"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("makes 'alice'"), "{said}");
}

#[test]
fn a_wrong_map_is_refused_with_its_line() {
    let redis = redis_server(&[]);
    let stock = |rest: &str| format!("\n[[stock]]\nkey = \"stock:{{sku}}\"\ntype = \"string\"\n{rest}");
    for (map, part) in [
        (String::new(), "it names no keys"),
        ("[[stock]]\nkey = 5".to_owned(), "in line 2"),
        (stock("sku = \"{name}\""), "in line 3: stock:{sku}: '{name}' is neither"),
        (stock("sku = \"{sku\""), "without its partner"),
        (stock("sku = \"{sku}\"\nprice = 5"), "in line 6"),
        (stock("sku = \"{sku}\"\ncounts = \"used\""), "counts must be left or total"),
        (stock("sku = \"{sku}\"\nquantity = \"{field}\""), "something that a string has"),
        (MAP.replace("decimals = 2", "decimals = 40"), "decimals must be at most 18"),
        (MAP.replace("type = \"list\"", "type = \"set\""), "their type must be list"),
        (MAP.replace("per_user = 2", "counts = \"used\""), "max is missing"),
    ] {
        let output = Desk::new(&map).run(&redis.url(), &["--dry-run"], 2);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(part), "{map}\n{said}");
    }
}

#[test]
fn a_damaged_plan_is_refused() {
    let (redis, desk) = (redis_server(&[]), Desk::new(MAP));
    for (text, part) in [
        ("", "it is empty"),
        ("{\"plan\":9,\"run\":\"a\",\"map\":\"\",\"source\":\"\",\"resources\":0}", "format 9"),
        ("{\"plan\":1,\"run\":\"a\",\"map\":\"\",\"source\":\"\",\"resources\":2}\n", "0 of 2 resources"),
        ("nothing", "line 1"),
    ] {
        desk.file("a.plan.ndjson", text);
        let said = String::from_utf8(desk.run(&redis.url(), &["--run", "a"], 1).stderr).unwrap();
        assert!(said.contains(part), "{text}: {said}");
    }
}
