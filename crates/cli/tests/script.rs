//! `scarce scripts`: a user's script, loaded, listed and run on a real Redis.

mod support;

use std::path::Path;

use support::{redis_server, said, scarce_in};
use tempfile::TempDir;

fn script(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    said(&mut scarce_in(folder, &[&["scripts"], words].concat()))
}

#[test]
fn a_script_is_loaded_listed_and_run_by_name_and_by_digest() {
    let (redis, folder) = (redis_server(&[]), TempDir::new().unwrap());
    let (at, folder) = (redis.url(), folder.path());
    let text = "return {redis.call('INCRBY', KEYS[1], ARGV[1]), ARGV[2] or 'nothing'}";
    std::fs::write(folder.join("count_up.lua"), text).unwrap();
    let (code, out, error) = script(folder, &["load", "--redis-url", &at, "count_up.lua"]);
    assert_eq!(code, Some(0), "{error}");
    let function = out.split_whitespace().last().unwrap().to_owned();
    assert!(function.starts_with("count_up_"), "{out}");
    let (_, out, _) = script(folder, &["list", "--redis-url", &at]);
    assert!(out.contains(&function) && out.contains("writes"), "{out}");
    let sha = out.split_whitespace().last().unwrap().to_owned();
    let run = |name: &str, rest: &[&str]| {
        script(folder, &[&["run", "--redis-url", &at, "--json", "--key", "a", name], rest].concat())
    };
    assert_eq!(run("count_up", &["2", "-x"]), (Some(0), "[2,\"-x\"]\n".to_owned(), String::new()));
    redis.ask::<()>(&["SCRIPT", "FLUSH"]).unwrap();
    assert_eq!(run(&sha, &["2"]), (Some(0), "[4,\"nothing\"]\n".to_owned(), String::new()));
    assert!(run(&"0".repeat(40), &[]).2.contains("there is no script"));
    let (code, _, error) = run("other", &[]);
    assert_eq!(code, Some(1));
    assert!(error.contains("scarce scripts load"), "{error}");
    let kept: i64 = redis.ask(&["GET", "scarce:~a"]).unwrap();
    assert_eq!(kept, 4, "its keys are in a namespace of their own");
    std::fs::write(folder.join("count_up.lua"), "return 'other'").unwrap();
    let (code, out, error) = script(folder, &["load", "--redis-url", &at, "count_up.lua"]);
    assert_eq!(code, Some(0), "{error}");
    assert!(out.contains("count_up@2"), "{out}");
    assert_eq!(run("count_up", &[]).1, "\"other\"\n");
    assert_eq!(run("count_up@1", &["3"]).1, "[7,\"nothing\"]\n");
    let (_, out, _) = script(folder, &["show", "--redis-url", &at, "count_up@1"]);
    assert_eq!(out, text);
    assert_eq!(script(folder, &["list", "--all", "--redis-url", &at]).1.lines().count(), 2);
    assert_eq!(script(folder, &["list", "--redis-url", &at]).1.lines().count(), 1);
    assert_eq!(script(folder, &["remove", "--redis-url", &at, "count_up"]).0, Some(0));
    assert_eq!(script(folder, &["remove", "--redis-url", &at, "count_up"]).0, Some(1));
    assert_eq!(run("count_up@1", &["3"]).0, Some(1), "nothing is left of it");
    let (code, _, error) = script(folder, &["run", "--redis-url", &at, "count_up"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("--key"), "{error}");
}
