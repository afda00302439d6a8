//! `scarce config`, and the settings that `scarce serve` takes, with the real binary.

mod support;

use scarce_client::Client;
use scarce_settings::SETTINGS;
use serde_json::Value;
use support::{Server, json_lines, refused_start, said, scarce_in, wait_until};
use tempfile::TempDir;

fn setting(stdout: &str, key: &str) -> Value {
    let found = json_lines(stdout).into_iter().find(|row| row["key"] == key);
    found.unwrap_or_else(|| panic!("no {key} in {stdout}"))
}

#[test]
fn each_value_is_shown_with_where_it_comes_from() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("scarce.toml"), "http = \"off\"\n\n[journal]\nsnapshot_mib = 7\n")
        .unwrap();
    let words = ["config", "show", "--origin", "--partitions", "3", "--clock-steady-ms", "120m"];
    let mut command = scarce_in(folder.path(), &words);
    let (code, shown, stderr) =
        said(command.env("SCARCE_SEGMENT_MIB", "9").env("SCARCE_LOG_RETENTION_MS", "7d"));
    assert_eq!(code, Some(0), "{stderr}");
    for (key, rest) in [
        ("data", "scarce-data default"),
        ("http", "off scarce.toml:1 http"),
        ("partitions", "3 flag --partitions"),
        ("password", "(not set) default"),
        ("clock_steady_ms", "2h flag --clock-steady-ms"),
        ("journal.log_retention_ms", "7d environment SCARCE_LOG_RETENTION_MS"),
        ("slow_ms", "1s default"),
        ("journal.segment_mib", "9 MiB environment SCARCE_SEGMENT_MIB"),
        ("journal.snapshot_mib", "7 MiB scarce.toml:4 journal.snapshot_mib"),
        ("limits.operations_max", "(not set) default"),
    ] {
        let line = shown.lines().find(|line| line.starts_with(&format!("{key} "))).expect(key);
        assert_eq!(line.split_whitespace().skip(1).collect::<Vec<_>>().join(" "), rest, "{key}");
    }
}

#[test]
fn durations_are_told_to_programs_in_milliseconds_and_to_people_with_a_unit() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("scarce.toml"), "drain_ms = \"5s\"\n").unwrap();
    let (_, shown, _) = said(&mut scarce_in(folder.path(), &["config", "show", "--json", "--slow-ms=2m"]));
    let value = |key| setting(&shown, key)["value"].clone();
    assert_eq!((value("drain_ms"), value("slow_ms")), (5_000.into(), 120_000.into()));
    let (code, _, refused) = said(&mut scarce_in(folder.path(), &["config", "show", "--drain-ms", "1 week"]));
    assert_eq!(code, Some(2));
    assert!(refused.contains("must be a duration of at most 10m, written as 500ms, 90s"), "{refused}");
    let (_, help, _) = said(&mut scarce_in(folder.path(), &["serve", "--help"]));
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("--clock-steady-ms <TIME>") && help.contains("[default: 1h]"), "{help}");
}

#[test]
fn the_settings_in_effect_are_shown_over_http_and_follow_what_is_read_again() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("scarce.toml"), "log_level = \"info\"\nslow_ms = \"2s\"\n").unwrap();
    std::fs::write(path("secret"), "a password of many words\n").unwrap();
    let options = ["--config", &path("scarce.toml"), "--password-file", &path("secret"), "--partitions", "3"];
    let server = Server::start(&folder.path().join("data"), &options);
    let shown = || {
        let login = [("Authorization", "Bearer a password of many words")];
        let answer = server.http().call("GET", "/v1/settings", &login, None);
        assert!(!answer.text().contains("many words"), "{}", answer.text());
        answer.json()["settings"].as_array().unwrap().clone()
    };
    let row = |key: &str| shown().into_iter().find(|row| row["key"] == key).unwrap();
    assert_eq!(shown().len(), SETTINGS.len());
    assert_eq!((&row("slow_ms")["value"], &row("slow_ms")["origin"]["line"]), (&2_000.into(), &2.into()));
    assert_eq!(row("partitions")["origin"]["name"], "--partitions");
    assert_eq!(row("data")["origin"]["layer"], "flag");
    let password = row("password")["value"].as_str().unwrap().to_owned();
    assert!(password.starts_with("(set)"), "{password}");
    std::fs::write(path("scarce.toml"), "log_level = \"debug\"\nslow_ms = \"3s\"\n").unwrap();
    server.signal("HUP");
    wait_until("the level is in effect", || row("log_level")["value"] == "debug");
    assert_eq!(row("slow_ms")["value"], 2_000, "this one needs a restart");
}

#[test]
fn no_secret_is_shown() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("secret"), "opensesame\n").unwrap();
    std::fs::write(folder.path().join("scarce.toml"), "password = \"opensesame\"\n").unwrap();
    for (words, variable) in [
        (&["config", "show", "--json"][..], None),
        (&["config", "show", "--json", "--password-file", "secret"], None),
        (&["config", "show", "--json"], Some("opensesame")),
    ] {
        let mut command = scarce_in(folder.path(), words);
        command.envs(variable.map(|value| ("SCARCE_PASSWORD", value)));
        let (code, shown, stderr) = said(&mut command);
        assert_eq!(code, Some(0), "{stderr}");
        assert!(!shown.contains("opensesame") && !stderr.contains("opensesame"), "{shown}{stderr}");
        assert!(setting(&shown, "password")["value"].as_str().unwrap().starts_with("(set)"), "{shown}");
    }
}

#[test]
fn a_check_names_line_and_column_and_says_what_to_do() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("wrong.toml");
    std::fs::write(&file, "partitions = 0\n\n[limits]\n  operation_max = 5\n").unwrap();
    let (code, found, _) = said(&mut scarce_in(folder.path(), &["config", "check", "wrong.toml"]));
    assert_eq!(code, Some(1));
    let lines: Vec<_> = found.lines().collect();
    assert_eq!(
        lines,
        [
            "error: wrong.toml:1:14: partitions must be a whole number from 1 to 1024, not 0; write for example partitions = 1",
            "error: wrong.toml:4:3: there is no setting 'limits.operation_max'; did you mean limits.operations_max?",
        ]
    );
    let (code, found, _) = said(&mut scarce_in(folder.path(), &["config", "check", "--json", "wrong.toml"]));
    let first: Value = serde_json::from_str(found.lines().next().unwrap()).unwrap();
    assert_eq!((code, &first["line"], &first["column"]), (Some(1), &1.into(), &14.into()), "{found}");
}

#[test]
fn a_check_says_what_would_keep_the_server_from_starting() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("scarce.toml"), "http = \"0.0.0.0:7380\"\n").unwrap();
    let (code, found, _) = said(&mut scarce_in(folder.path(), &["config", "check"]));
    assert_eq!(code, Some(0), "a flag of the server's may still name a password: {found}");
    assert!(found.contains("warning: http on 0.0.0.0:7380") && found.contains("ok: scarce.toml"), "{found}");
    let (code, message) = refused_start(&mut scarce_in(folder.path(), &["serve"]));
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("http on 0.0.0.0:7380") && message.contains("--password-file"), "{message}");
    assert!(!folder.path().join("scarce-data").exists(), "nothing was created");
}

#[test]
fn a_password_that_everybody_may_read_is_warned_of() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("scarce.toml");
    std::fs::write(&file, "password = \"opensesame\"\n").unwrap();
    for (mode, is_warned) in [(0o644, true), (0o600, false)] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let (code, found, _) = said(&mut scarce_in(folder.path(), &["config", "check"]));
        assert_eq!((code, found.contains("chmod 600")), (Some(0), is_warned), "{found}");
    }
}

#[test]
fn the_server_takes_what_the_layers_say() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("settings.toml");
    let data = folder.path().join("from-file");
    let text = format!(
        "data = {:?}\nresp = \"127.0.0.1:1\"\nhttp = \"off\"\npartitions = 2\npassword = \"opensesame\"\n",
        data.display()
    );
    std::fs::write(&file, text).unwrap();
    let data_flag = folder.path().join("from-flag");
    let server = Server::start(&data_flag, &["--config", &file.to_string_lossy()]);
    let mut client = Client::connect(&server.address, Some("opensesame")).unwrap();
    let info = scarce_client::text(&client.call(&["INFO"]).unwrap()).unwrap();
    assert!(info.contains("partitions:2"), "{info}");
    assert!(data_flag.is_dir() && !data.exists(), "a flag wins over the file");
    assert_eq!(server.socket().call(&["STOCK.GET", "sku"]), "-NOAUTH Authentication required.");
}

#[test]
fn a_refused_password_is_told_from_a_server_that_is_away() {
    let folder = TempDir::new().unwrap();
    for (name, password) in [("right", "open@se/same%"), ("wrong", "opensesamo")] {
        std::fs::write(folder.path().join(name), password).unwrap();
    }
    let right = folder.path().join("right");
    let server =
        Server::start(&folder.path().join("data"), &["--password-file", &right.display().to_string()]);
    let run = |words: &[&str], more: &[&str]| {
        said(scarce_in(folder.path(), words).args(["--resp", &server.address]).args(more))
    };
    for words in [&["call"][..], &["reconcile", "--data", "data"], &["consumers", "list"]] {
        let more: &[&str] = if words == ["call"] { &["PING"] } else { &[] };
        for (password, text) in [
            (&["--password-file", "wrong"][..], "refused the password (WRONGPASS "),
            (&[], "wants a password (NOAUTH "),
        ] {
            let (code, _, message) = run(words, &[password, more].concat());
            assert_eq!(code, Some(1), "{words:?} {message}");
            let is_told = message.contains(text) && !message.contains("cannot reach");
            assert!(is_told && message.contains(&server.address), "{words:?} {message}");
        }
        let (code, _, message) = run(words, &[&["--password-file", "right"], more].concat());
        assert_eq!(code, Some(0), "{words:?}: any text is a password: {message}");
    }
}

#[test]
fn a_server_with_wrong_settings_tells_all_of_them_and_does_not_start() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("scarce.toml"), "partitions = 0\nrespp = \"127.0.0.1:1\"\n").unwrap();
    let mut command = scarce_in(folder.path(), &["serve"]);
    let (code, message) = refused_start(command.env("SCARCE_OPERATIONS_MAX", "none"));
    assert_eq!(code, Some(2), "{message}");
    for part in ["scarce.toml:1:14", "scarce.toml:2:1", "did you mean resp?", "SCARCE_OPERATIONS_MAX"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    let (code, message) = refused_start(&mut scarce_in(folder.path(), &["serve", "--config", "absent.toml"]));
    assert_eq!(code, Some(2), "{message}");
    assert!(message.contains("absent.toml: cannot be read"), "{message}");
}
