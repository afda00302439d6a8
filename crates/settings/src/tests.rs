use std::path::Path;

use super::layers::Given;
use super::*;

fn variables(pairs: &[(&str, &str)]) -> Sources {
    let environment = pairs.iter().map(|(name, value)| (name.into(), value.into())).collect();
    Sources { environment, ..Sources::default() }
}

/// The values and the problems of a file's text.
fn parsed(text: &str) -> (Vec<Given>, Vec<String>) {
    let mut problems = Vec::new();
    let given = file::parse(Path::new("f.toml"), text, &mut problems);
    (given, problems.iter().map(Problem::to_string).collect())
}

fn one_problem(text: &str) -> String {
    let (_, problems) = parsed(text);
    assert_eq!(problems.len(), 1, "{text}: {problems:?}");
    problems[0].clone()
}

#[test]
fn no_two_settings_share_a_flag_or_a_variable() {
    let mut names: Vec<_> = SETTINGS.iter().map(Spec::short_key).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), SETTINGS.len());
}

#[test]
fn every_default_has_its_settings_shape() {
    for spec in SETTINGS {
        assert!(spec.default.is_none_or(|default| spec.check(default).is_ok()), "{}", spec.key);
        assert!(!spec.shape().is_empty() && spec.check("").is_err(), "{}", spec.key);
    }
    let loaded = load(&Sources::default()).expect("the defaults");
    assert_eq!(loaded.settings.partitions, 1);
    assert!(loaded.shown.iter().all(|shown| shown.origin == Origin::Default));
    assert!(loaded.settings.exposed().is_none());
}

#[test]
fn a_later_layer_wins_and_is_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let (system, local) = (folder.path().join("system.toml"), folder.path().join("local.toml"));
    std::fs::write(&system, "partitions = 2\nresp = \"127.0.0.1:1\"\n\n[journal]\nsegment_mib = 8\n")
        .expect("written");
    std::fs::write(&local, "# a comment\npartitions = 3\n[limits]\noperations_max = 0x10\n")
        .expect("written");
    let flag = Origin::Flag("--segment-mib".to_owned());
    let sources = Sources {
        usual_files: vec![system.clone(), folder.path().join("absent.toml"), local.clone()],
        flags: vec![Given {
            key: "journal.segment_mib",
            text: "32".to_owned(),
            by_file: false,
            origin: flag.clone(),
        }],
        ..variables(&[("SCARCE_JOURNAL__SEGMENT_MIB", "16"), ("SCARCE_PARTITIONS", "4"), ("SCARCE_HTTP", "")])
    };
    let loaded = load(&sources).expect("settings");
    let origin =
        |key: &str| loaded.shown.iter().find(|shown| shown.spec.key == key).expect("it").origin.clone();
    assert_eq!((loaded.settings.partitions, loaded.settings.segment_mib), (4, 32));
    assert_eq!(loaded.settings.operations_max, Some(16));
    assert_eq!(loaded.files, [system.clone(), local.clone()]);
    assert_eq!(origin("journal.segment_mib"), flag);
    assert_eq!(origin("partitions"), Origin::Environment("SCARCE_PARTITIONS".to_owned()));
    assert_eq!(origin("resp").to_string(), format!("{}:2 resp", system.display()));
    assert_eq!(
        origin("limits.operations_max").to_string(),
        format!("{}:4 limits.operations_max", local.display())
    );
    assert_eq!(origin("http"), Origin::Default, "an empty variable says nothing");
}

#[test]
fn a_file_that_was_asked_for_is_the_only_one_and_must_exist() {
    let folder = tempfile::tempdir().expect("a folder");
    let usual = folder.path().join("usual.toml");
    std::fs::write(&usual, "partitions = 2").expect("written");
    let asked = folder.path().join("asked.toml");
    let mut sources = variables(&[("SCARCE_CONFIG", &asked.to_string_lossy())]);
    sources.usual_files = vec![usual];
    let problems = load(&sources).expect_err("there is none");
    assert!(problems[0].to_string().contains("asked.toml: cannot be read"), "{problems:?}");
    std::fs::write(&asked, "").expect("written");
    assert_eq!(load(&sources).expect("settings").settings.partitions, 1);
}

#[test]
fn mistakes_in_a_file_are_named_with_place_and_remedy() {
    assert_eq!(
        one_problem("data = \"d\"\n  pertitions = 3"),
        "f.toml:2:3: there is no setting 'pertitions'; did you mean partitions?"
    );
    assert_eq!(
        one_problem("segment_mib = 3"),
        "f.toml:1:1: there is no setting 'segment_mib'; did you mean journal.segment_mib?"
    );
    assert_eq!(
        one_problem("[jurnal]\nsegment_mib = 3"),
        "f.toml:1:2: there is no section 'jurnal'; did you mean journal?"
    );
    assert_eq!(
        one_problem("[journal]\nsegment_mb = 3"),
        "f.toml:2:1: there is no setting 'journal.segment_mb'; did you mean journal.segment_mib?"
    );
    assert_eq!(
        one_problem("partitions = 0"),
        "f.toml:1:14: partitions must be a whole number from 1 to 1024, not 0; write for example partitions = 1"
    );
    assert_eq!(one_problem("é = 1\n").split(": ").next(), Some("f.toml:1:1"), "what is no TOML is named too");
    assert_eq!(
        one_problem("[journal]\nsegment_mib = \"64\""),
        "f.toml:2:15: journal.segment_mib must be a whole number from 1 to 4096, not the text '64'; \
         write for example segment_mib = 64"
    );
    assert_eq!(
        one_problem("http = false"),
        "f.toml:1:8: http must be an address and a port such as 127.0.0.1:7380, or off, not a truth value; \
         write for example http = \"127.0.0.1:7380\""
    );
    let broken = one_problem("data = \"d\"\nresp = \n");
    assert!(broken.starts_with("f.toml:2:"), "{broken}");
    assert_eq!(parsed("data = 1\nresp = 2\nnonsense = 3").1.len(), 3, "all of them are told at once");
}

#[test]
fn a_duration_may_have_a_unit_in_every_layer() {
    let (given, problems) = parsed("drain_ms = \"5s\"\nslow_ms = 250\n[journal]\nlog_retention_ms = \"7d\"");
    assert_eq!(problems, [""; 0]);
    let mut sources = variables(&[("SCARCE_CLOCK_STEADY_MS", "24h"), ("SCARCE_REDIS_TIMEOUT_MS", "1500")]);
    sources.flags = given;
    let loaded = load(&sources).expect("settings");
    let settings = &loaded.settings;
    assert_eq!((settings.drain_ms, settings.slow_ms, settings.log_retention_ms), (5_000, 250, 604_800_000));
    assert_eq!((settings.clock_steady_ms, settings.redis_timeout_ms), (86_400_000, 1_500));
    let text = |key: &str| {
        loaded.shown.iter().find(|shown| shown.spec.key == key).and_then(|shown| shown.text.clone())
    };
    assert_eq!(text("drain_ms").as_deref(), Some("5000"), "it is told in milliseconds");
    let twice = [("SCARCE_LOG_RETENTION_MS", "7d"), ("SCARCE_JOURNAL__LOG_RETENTION_MS", "168h")];
    assert!(load(&variables(&twice)).is_ok(), "both say the same");
}

#[test]
fn a_duration_that_cannot_be_read_is_told_how_to_write_it() {
    assert_eq!(
        one_problem("event_stream_unread_ms = \"2d\""),
        "f.toml:1:26: event_stream_unread_ms must be a duration from 1s to 1h, written as 500ms, 90s, 15m, 24h \
         or 7d, or a whole number of milliseconds, not the text '2d'; write for example event_stream_unread_ms = \"1m\""
    );
    let problems = load(&variables(&[("SCARCE_DRAIN_MS", "a while")])).expect_err("no duration").remove(0);
    let said = "SCARCE_DRAIN_MS must be a duration of at most 10m, written as 500ms";
    assert!(problems.to_string().contains(said), "{problems}");
}

#[test]
fn a_secret_is_taken_from_a_file_and_never_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("secret");
    std::fs::write(&path, "opensesame\n").expect("written");
    let loaded = load(&variables(&[("SCARCE_PASSWORD_FILE", &path.to_string_lossy())])).expect("settings");
    assert_eq!(loaded.settings.password.as_ref().map(Password::reveal), Some("opensesame"));
    assert!(!format!("{loaded:?}").contains("opensesame"));
    let text = loaded.shown.iter().find(|shown| shown.spec.key == "password").and_then(|s| s.text.clone());
    assert_eq!(text, Some(format!("(set), read from {}", path.display())));
    let direct = load(&variables(&[("SCARCE_PASSWORD", "opensesame")])).expect("settings");
    assert_eq!(direct.settings.password, loaded.settings.password);
    assert!(!format!("{direct:?}").contains("opensesame"));
    assert!(!one_problem("password = [\"opensesame\"]").contains("opensesame"));
    let both = variables(&[("SCARCE_PASSWORD", "x"), ("SCARCE_PASSWORD_FILE", "y")]);
    let problems = load(&both).expect_err("which of the two is meant?");
    assert!(problems[0].text.contains("SCARCE_PASSWORD and SCARCE_PASSWORD_FILE both set"), "{problems:?}");
    std::fs::write(&path, "\n").expect("written");
    assert!(load(&variables(&[("SCARCE_PASSWORD_FILE", &path.to_string_lossy())])).is_err());
}

#[test]
fn variables_that_look_like_settings_are_warned_of_and_others_are_not() {
    let warnings = |name: &str| {
        let loaded = load(&variables(&[(name, "1")])).expect("a warning is no error");
        loaded.warnings.iter().map(Problem::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        warnings("SCARCE_LIMITS__OPERATION_MAX"),
        [
            "the variable SCARCE_LIMITS__OPERATION_MAX sets nothing; did you mean SCARCE_LIMITS__OPERATIONS_MAX?"
        ]
    );
    assert_eq!(warnings("SCARCE_PARTITION").len(), 1);
    for other in
        ["SCARCE_SEED", "SCARCE_SEQUENCES", "SCARCE_PORT", "SCARCE_PORT_7379_TCP_ADDR", "SCARCE_SERVICE_HOST"]
    {
        assert_eq!(warnings(other), [""; 0], "{other}");
    }
    assert_eq!(warnings("SCARCE_CONFIGS"), [""; 0]);
    let problems = load(&variables(&[("SCARCE_PARTITIONS", "many")])).expect_err("no number");
    assert_eq!(
        problems[0].to_string(),
        "the variable SCARCE_PARTITIONS must be a whole number from 1 to 1024, not 'many'; correct it or unset it"
    );
}

#[test]
fn both_ports_need_a_password_off_loopback() {
    let exposed = |pairs: &[(&str, &str)]| load(&variables(pairs)).expect("settings").settings.exposed();
    let open = exposed(&[("SCARCE_HTTP", "0.0.0.0:7380")]).expect("exposed").to_string();
    assert!(open.contains("http on 0.0.0.0:7380") && open.contains("--password-file"), "{open}");
    assert!(exposed(&[("SCARCE_RESP", "[::]:1")]).is_some());
    assert!(exposed(&[("SCARCE_RESP", "[::1]:1"), ("SCARCE_HTTP", "off")]).is_none());
    let with = |password| [("SCARCE_HTTP", "0.0.0.0:7380"), ("SCARCE_PASSWORD", password)];
    assert!(exposed(&with("correct horse")).is_none());
    let weak = exposed(&with("x")).expect("soon guessed").to_string();
    assert!(weak.contains("only 1 of at least 12") && weak.contains("--accept-weak-password"), "{weak}");
    let insists = [with("x").as_slice(), &[("SCARCE_ACCEPT_WEAK_PASSWORD", "true")]].concat();
    assert!(exposed(&insists).is_none());
}

#[test]
fn the_page_of_settings_names_each_with_its_flag_variable_and_default() {
    let page = include_str!("../../../docs/reference/settings.md");
    for spec in SETTINGS {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{}` |", spec.key)));
        let row = row.unwrap_or_else(|| panic!("the page has no row for {}", spec.key));
        let flat = spec.key.rsplit('.').next().unwrap_or_default();
        let (flag, variable) =
            (format!("--{}", flat.replace('_', "-")), format!("SCARCE_{}", flat.to_ascii_uppercase()));
        assert!(row.contains(&flag) && row.contains(&variable), "{row}");
        let row = row.replace(' ', "");
        let default = spec.default.unwrap_or("none").replace(' ', "");
        if spec.is_duration() {
            assert!(row.contains(&format!("|{}|", spec.readable(&default))), "{row}");
        } else {
            assert!(row.contains(&default), "{row}");
        }
    }
}
