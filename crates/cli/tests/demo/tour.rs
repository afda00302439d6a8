//! `--open`: the console beside a demonstration.

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use tempfile::TempDir;

use super::support::{Http, scarce, wait_until};

const SMALL: [&str; 8] =
    ["demo", "flash-sale", "--open", "--units", "120", "--buyers", "1500", "--ttl-ms=300"];

#[test]
fn the_console_is_opened_on_the_sale_and_stays_up_until_it_is_ended() {
    let folder = TempDir::new().expect("a folder");
    let (browser, opened) = (folder.path().join("xdg-open"), folder.path().join("opened"));
    std::fs::write(&browser, format!("#!/bin/sh\necho \"$@\" > {}\n", opened.display())).expect("a program");
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap_or_default());
    let mut command = scarce();
    command.args(SMALL).env("DISPLAY", ":99").env("PATH", path).env("TMPDIR", folder.path());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut lines = BufReader::new(child.stderr.take().expect("its output")).lines().map_while(Result::ok);
    let address = |line: String| Some(line.strip_prefix("console")?.split_whitespace().next()?.to_owned());
    let first = lines.by_ref().find_map(address).expect("an address");
    wait_until("a browser is started", || {
        std::fs::read_to_string(&opened).is_ok_and(|its| its.trim() == first)
    });
    // After the proof the server is there again, at the same address, with what the sale left.
    let last = lines.by_ref().find_map(address).expect("the address again");
    assert_eq!(first, last);
    let http = last.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/console/#/stock/sneaker"));
    let mut http = Http::connect(http.unwrap_or_else(|| panic!("{last} is no page of the console")));
    assert_eq!(http.get("/console/").status, 200);
    assert_eq!(http.get("/v1/stock/sneaker").json()["sold"], 120);
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("it runs");
    assert!(sent.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    let mut proof = String::new();
    child.stdout.take().expect("its output").read_to_string(&mut proof).expect("text");
    assert!(proof.contains("all 11 promises were kept"), "{proof}");
    let left = std::fs::read_dir(folder.path())
        .expect("a folder")
        .map_while(Result::ok)
        .map(|file| file.file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with("scarce-demo-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_demonstration_must_be_named_unless_the_sale_is_to_be_seen() {
    let said = |words: &[&str]| {
        let output = scarce().args(words).output().expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, text) = said(&["demo"]);
    assert!(code == Some(2) && text.contains("flash-sale, red-packets") && text.contains("--open"), "{text}");
    let (code, text) = said(&["demo", "--open", "wallet"]);
    assert!(code == Some(2) && text.contains("scarce demo wallet --open"), "{text}");
}
