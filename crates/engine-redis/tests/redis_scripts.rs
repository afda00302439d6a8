//! Scripts of one's own: loaded by themselves, run where their keys are, ended when they take too long.

#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;

use std::time::Duration;

use scarce_engine_redis::script::{Call, Fate, Script, ScriptError, Scripts};
use scarce_engine_redis::{RedisSettings, ScriptKind};
use scarce_launch::{Cluster, Options};

const COUNT_UP: &str = "return redis.call('INCRBY', KEYS[1], ARGV[1])";

fn settings(url: &str, script: ScriptKind) -> RedisSettings {
    RedisSettings { url: url.to_owned(), script: Some(script), ..RedisSettings::default() }
}

/// The same, with a bound that is meant to be reached.
fn hasty(url: &str, script: ScriptKind, response_timeout_ms: u64) -> RedisSettings {
    RedisSettings { response_timeout: Duration::from_millis(response_timeout_ms), ..settings(url, script) }
}

fn run<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

#[test]
fn a_script_runs_where_its_keys_are_and_is_loaded_where_it_is_missed() {
    let cluster = Cluster::start(&Options::new(), 3, 0).expect("a cluster");
    for (at, kind) in [ScriptKind::Functions, ScriptKind::Evalsha].into_iter().enumerate() {
        run(async {
            let scripts = Scripts::open(&settings(&cluster.url(), kind)).await.expect("the servers");
            let script = Script::new("count_up", COUNT_UP).expect("a script");
            let keys: Vec<String> = (0..100).map(|number| format!("key-{at}-{number}")).collect();
            let calls: Vec<Call> = keys.iter().map(|key| Call::on(key).argument("2")).collect();
            for round in [2_i64, 4] {
                let counts = scripts.run_all::<i64>(&script, &calls).await;
                assert!(counts.iter().all(|count| *count == Ok(round)), "{counts:?}");
                // Whoever lost it is given it again.
                for node in &cluster.nodes {
                    node.ask::<()>(&["FUNCTION", "FLUSH"]).expect("no functions");
                    node.ask::<()>(&["SCRIPT", "FLUSH"]).expect("no scripts");
                }
            }
        });
    }
}

#[test]
fn whoever_knows_the_name_runs_it() {
    let server = servers::server();
    run(async {
        let settings = settings(&server.url(), ScriptKind::Functions);
        let (loader, user) = (Scripts::open(&settings).await, Scripts::open(&settings).await);
        let (loader, user) = (loader.expect("the server"), user.expect("the server"));
        let script = Script::new("count_up", COUNT_UP).expect("a script");
        let loaded = loader.load(&script).await.expect("loaded");
        assert_eq!((loaded.len(), loaded[0].called_by.as_str()), (1, script.function()));
        let call = Call::on("a").argument("3");
        assert_eq!(user.run_named::<i64>("count_up", &call).await, Ok(3));
        let missing = user.run_named::<i64>("nothing", &call).await;
        assert_eq!(missing, Err(ScriptError::Missing { name: "nothing".to_owned() }));
        let names: Vec<String> =
            user.list().await.expect("the list").iter().map(|found| found.script.name().to_owned()).collect();
        assert_eq!(names, ["count_up"]);
        let sha: String = server.ask(&["SCRIPT", "LOAD", COUNT_UP]).expect("a digest");
        assert_eq!(sha, script.sha());
        assert_eq!(user.run_named::<i64>(&sha, &call).await, Ok(6));
        assert!(matches!(
            user.run_named::<i64>(&"0".repeat(40), &call).await,
            Err(ScriptError::Missing { .. })
        ));
        let wrong = Script::new("wrong", "return (").expect("a name");
        assert!(matches!(loader.load(&wrong).await, Err(ScriptError::Failed { .. })));
    });
}

#[test]
fn what_goes_wrong_is_told_apart() {
    let server = servers::server();
    run(async {
        let scripts =
            Scripts::open(&settings(&server.url(), ScriptKind::Functions)).await.expect("the server");
        let failing =
            Script::new("failing", "return redis.error_reply('EMPTY nothing is left')").expect("a script");
        let told = scripts.run::<i64>(&failing, &Call::on("a")).await;
        let message = "EMPTY nothing is left".to_owned();
        assert_eq!(told, Err(ScriptError::Failed { name: "failing".to_owned(), message }));
        let crossing = Call::on("{a}1").key("{b}1");
        assert!(matches!(scripts.run::<i64>(&failing, &crossing).await, Err(ScriptError::CrossSlot { .. })));
        let word = Script::new("word", "return 'x'").expect("a script");
        assert!(matches!(
            scripts.run::<i64>(&word, &Call::on("a")).await,
            Err(ScriptError::WrongShape { .. })
        ));
        let writing = Script::reader("writing", "return redis.call('SET', KEYS[1], 1)").expect("a script");
        let told = scripts.run::<String>(&writing, &Call::on("a")).await;
        assert!(matches!(told, Err(ScriptError::Failed { .. })), "{told:?}");
        assert!(!server.ask::<bool>(&["EXISTS", "a"]).expect("an answer"), "a reader has written");
    });
}

/// What became of a script that takes too long.
async fn fate_of(scripts: &Scripts, script: &Script) -> Fate {
    match scripts.run::<i64>(script, &Call::on("a")).await {
        Err(ScriptError::TimedOut { fate, .. }) => fate,
        other => panic!("{other:?}"),
    }
}

#[test]
fn somebody_elses_script_is_left_alone() {
    let server = servers::server();
    server.ask::<()>(&["CONFIG", "SET", "busy-reply-threshold", "2000"]).expect("set");
    let slow = "#!lua name=slow\nredis.register_function('slow', function() while true do end end)";
    server.ask::<String>(&["FUNCTION", "LOAD", slow]).expect("loaded");
    let settings = hasty(&server.url(), ScriptKind::Functions, 200);
    let mut connection = server.connection().expect("a connection");
    let others = run(async {
        let scripts = Scripts::open(&settings).await.expect("the server");
        let quick = Script::new("quick", "return 1").expect("a script");
        assert_eq!(scripts.run::<i64>(&quick, &Call::on("a")).await, Ok(1));
        let others =
            std::thread::spawn(move || redis::cmd("FCALL").arg("slow").arg(0).query::<()>(&mut connection));
        // Until the slow one has begun, the quick one is answered.
        let told = loop {
            match scripts.run::<i64>(&quick, &Call::on("a")).await {
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        let is_left = matches!(
            told,
            ScriptError::TimedOut { fate: Fate::Unknown, .. } | ScriptError::Unavailable { .. }
        );
        assert!(is_left, "{told:?}");
        others
    });
    while server.ask::<String>(&["FUNCTION", "KILL"]).is_err() {}
    assert!(others.join().expect("no panic").is_err(), "it ran until it was killed");
}

#[test]
fn a_script_that_takes_too_long_is_ended_if_it_has_written_nothing() {
    for kind in [ScriptKind::Functions, ScriptKind::Evalsha] {
        let server = servers::server();
        server.ask::<()>(&["CONFIG", "SET", "busy-reply-threshold", "600"]).expect("set");
        run(async {
            let scripts = Scripts::open(&hasty(&server.url(), kind, 500)).await.expect("the server");
            let endless = Script::new("endless", "while true do end").expect("a script");
            let fate = fate_of(&scripts, &endless).await;
            if kind == ScriptKind::Evalsha {
                // It could be anyone's.
                assert_eq!(fate, Fate::Unknown);
                server.ask::<()>(&["SCRIPT", "KILL"]).expect("killed");
                while server.ask::<String>(&["PING"]).is_err() {}
                return;
            }
            assert_eq!(fate, Fate::Killed);
            let next = Script::new("next", "return 1").expect("a script");
            assert_eq!(scripts.run::<i64>(&next, &Call::on("a")).await, Ok(1), "others are served again");
            let writing = "redis.call('SET', KEYS[1], 1) while true do end";
            let writing = Script::new("writing", writing).expect("a script");
            assert_eq!(fate_of(&scripts, &writing).await, Fate::HasWritten);
        });
    }
}

/// Errors in the words by which servers say that they have done nothing.
const WORDS_OF_SERVERS: [&str; 9] = [
    "TRYAGAIN later",
    "NOSCRIPT no",
    "ERR Function not found",
    "READONLY no",
    "BUSY shop",
    "MOVED 5 127.0.0.1:1",
    "ASK 5 127.0.0.1:1",
    "OOM full",
    "SCARCE UNMENDED x",
];

#[test]
fn an_error_of_a_script_in_a_servers_words_is_the_scripts_and_runs_once() {
    let server = servers::server();
    for kind in [ScriptKind::Functions, ScriptKind::Evalsha] {
        run(async {
            let scripts = Scripts::open(&settings(&server.url(), kind)).await.expect("the server");
            let write = "redis.call('INCR', KEYS[1])";
            let ways = [
                ("answered", "return redis.error_reply(ARGV[1])"),
                ("raised", "error({ err = ARGV[1] })"),
                ("nested", "return { 1, { err = ARGV[1] } }"),
            ];
            for (at, (way, end)) in ways.into_iter().enumerate() {
                let script = Script::new(way, &format!("{write} {end}")).expect("a script");
                for (place, word) in WORDS_OF_SERVERS.into_iter().enumerate() {
                    let key = format!("{kind:?}-{at}-{place}");
                    let told = scripts.run::<redis::Value>(&script, &Call::on(&key).argument(word)).await;
                    match (way, &told) {
                        ("nested", Ok(redis::Value::Array(parts))) => {
                            assert!(matches!(parts[1], redis::Value::ServerError(_)), "{told:?}");
                        }
                        (_, Err(ScriptError::Failed { .. })) => {}
                        _ => panic!("{kind:?} {way} {word}: {told:?}"),
                    }
                    let runs: u64 = server.ask(&["GET", &key]).expect("a count");
                    assert_eq!(runs, 1, "{kind:?} {way} {word}");
                }
            }
        });
    }
}

#[test]
fn an_answer_that_is_too_deep_or_too_large_fails_alone() {
    let server = servers::server();
    run(async {
        let scripts =
            Scripts::open(&settings(&server.url(), ScriptKind::Functions)).await.expect("the server");
        let deep = "local answer = {} for _ = 1, tonumber(ARGV[1]) do answer = { answer } end return answer";
        let deep = Script::new("deep", deep).expect("a script");
        let of = |levels: &str| Call::on("a").argument(levels);
        assert!(scripts.run::<redis::Value>(&deep, &of("60")).await.is_ok());
        let calls: Vec<Call> = ["500", "1", "500", "2"].into_iter().map(of).collect();
        let told = scripts.run_all::<redis::Value>(&deep, &calls).await;
        assert!(
            matches!(&told[0], Err(ScriptError::Failed { message, .. }) if message.contains("64 levels"))
        );
        assert!(told[1].is_ok() && told[2].is_err() && told[3].is_ok(), "{told:?}");
        let large = Script::new("large", "return { string.rep('x', tonumber(ARGV[1])) }").expect("a script");
        assert!(scripts.run::<redis::Value>(&large, &of("8000000")).await.is_ok());
        let told = scripts.run::<redis::Value>(&large, &of("9000000")).await;
        assert!(
            matches!(&told, Err(ScriptError::Failed { message, .. }) if message.contains("8 MiB")),
            "{told:?}"
        );
    });
}

#[test]
fn the_same_text_with_other_rights_is_another_script() {
    let server = servers::server();
    run(async {
        let scripts =
            Scripts::open(&settings(&server.url(), ScriptKind::Functions)).await.expect("the server");
        let body = "return redis.call('INCR', KEYS[1])";
        let (writer, reader) = (Script::new("f", body), Script::reader("f", body));
        let (writer, reader) = (writer.expect("a script"), reader.expect("a script"));
        for count in 1..=2 {
            assert_eq!(scripts.run::<i64>(&writer, &Call::on("a")).await, Ok(count));
            let told = scripts.run::<i64>(&reader, &Call::on("a")).await;
            assert!(matches!(told, Err(ScriptError::Failed { .. })), "{told:?}");
        }
    });
}

#[test]
fn of_calls_that_all_take_too_long_one_is_ended_and_the_others_are_not_begun() {
    let server = servers::server();
    server.ask::<()>(&["CONFIG", "SET", "busy-reply-threshold", "600"]).expect("set");
    run(async {
        let scripts =
            Scripts::open(&hasty(&server.url(), ScriptKind::Functions, 500)).await.expect("the server");
        let slow = Script::new("slow", "while true do end redis.call('INCR', KEYS[1])").expect("a script");
        let calls: Vec<Call> = ["1", "1", "2"].into_iter().map(|word| Call::on("a").argument(word)).collect();
        let told = scripts.run_all::<i64>(&slow, &calls).await;
        let count = |wanted: Fate| {
            let is_it = |told: &&Result<i64, ScriptError>| matches!(told, Err(ScriptError::TimedOut { fate, .. }) if *fate == wanted);
            told.iter().filter(is_it).count()
        };
        assert_eq!((count(Fate::Killed), count(Fate::NotBegun)), (1, 2), "{told:?}");
        let next = Script::new("next", "return 1").expect("a script");
        assert_eq!(scripts.run::<i64>(&next, &Call::on("a")).await, Ok(1), "others are served again");
    });
}

#[test]
fn of_calls_that_compute_too_long_each_is_told_what_it_came_to() {
    let server = servers::server();
    server.ask::<()>(&["CONFIG", "SET", "busy-reply-threshold", "60000"]).expect("set");
    run(async {
        let scripts =
            Scripts::open(&hasty(&server.url(), ScriptKind::Functions, 300)).await.expect("the server");
        let body = "for at = 1, 1e8 do end return redis.call('INCR', KEYS[1])";
        let slow = Script::new("slow", body).expect("a script");
        let mut done = 0;
        // A busy machine may begin none of them in time.
        while done == 0 {
            let told = scripts.run_all::<i64>(&slow, &[Call::on("a"), Call::on("a")]).await;
            done += told.iter().filter(|told| told.is_ok()).count();
            let is_told = |told: &Result<i64, ScriptError>| {
                matches!(told, Ok(_) | Err(ScriptError::TimedOut { fate: Fate::NotBegun, .. }))
            };
            assert!(told.iter().all(is_told), "{told:?}");
        }
        let kept: usize = server.ask(&["GET", "a"]).expect("a count");
        assert_eq!(kept, done);
    });
}

#[test]
fn a_registry_that_is_full_takes_no_further_script_and_says_why() {
    let server = servers::server();
    run(async {
        let scripts =
            Scripts::open(&settings(&server.url(), ScriptKind::Functions)).await.expect("the server");
        let script = Script::new("count_up", COUNT_UP).expect("a script");
        scripts.load(&script).await.expect("loaded");
        let other = Script::new("other", "return 1").expect("a script");
        let change = |words: Vec<&str>| server.ask::<()>(&words).expect("written");
        let removed = r#"{"removed":true,"version":1}"#;
        let names: Vec<String> = (1..10_000).map(|at| format!("removed_{at}")).collect();
        let versions: Vec<String> = (2..=1_000).map(|at| format!("count_up@{at}")).collect();
        let large = ["large@1".to_owned()];
        for (limit, fields, text) in [
            ("1000 versions", &versions[..], "{}"),
            ("10000 names", &names[..], removed),
            ("16777216 bytes", &large[..], "x".repeat(16 << 20).as_str()),
        ] {
            let rows = fields.iter().flat_map(|field| [field.as_str(), text]);
            change(["HSET", "scarce:scripts"].into_iter().chain(rows).collect());
            let refused = scripts.load(&other).await.expect_err(limit);
            assert!(matches!(refused, ScriptError::Full { .. }), "{refused:?}");
            let said = refused.to_string();
            assert!(said.contains(limit) && said.contains("scripts remove"), "{said}");
            let functions: String = format!("{:?}", server.ask::<redis::Value>(&["FUNCTION", "LIST"]));
            assert!(!functions.contains(other.function()), "{limit}: it was loaded");
            assert_eq!(scripts.load(&script).await.expect("it is there already")[0].version, 1);
            change(["HDEL", "scarce:scripts"].into_iter().chain(fields.iter().map(String::as_str)).collect());
        }
        assert_eq!(scripts.load(&other).await.expect("there is room")[0].version, 1);
    });
}

#[test]
fn a_registry_that_was_put_back_is_read_again() {
    let server = servers::server();
    run(async {
        let scripts =
            Scripts::open(&settings(&server.url(), ScriptKind::Functions)).await.expect("the server");
        let of = |body: &str| Script::new("v", body).expect("a script");
        scripts.load(&of("return 1")).await.expect("loaded");
        let seen = scripts.read_registry().await.expect("the registry");
        server.ask::<()>(&["DEL", "scarce:scripts"]).expect("put back");
        scripts.load(&of("return 2")).await.expect("loaded");
        let now = scripts.read_registry().await.expect("the registry");
        assert_ne!(seen.last_change(), now.last_change());
        let wrong = scripts.remove("v@1").await;
        assert!(matches!(wrong, Err(ScriptError::Name { .. })), "{wrong:?}");
        assert_eq!(scripts.run_named::<i64>("v", &Call::on("a")).await, Ok(2));
    });
}
