//! `scarce script`: a user's script, loaded, listed and run on a real Redis.

mod support;

use std::path::Path;

use support::{redis_server, said, scarce_in};
use tempfile::TempDir;

fn script(folder: &Path, words: &[&str]) -> (Option<i32>, String, String) {
    said(&mut scarce_in(folder, &[&["script"], words].concat()))
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
    let (code, _, error) = run(&sha, &["2"]);
    assert_eq!(code, Some(1), "as a Function it has no digest there");
    assert!(error.contains("there is no script"), "{error}");
    let (code, _, error) = run("other", &[]);
    assert_eq!(code, Some(1));
    assert!(error.contains("scarce script load"), "{error}");
    let (code, _, error) = script(folder, &["run", "--redis-url", &at, "count_up"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("--key"), "{error}");
}
