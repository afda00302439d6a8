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
        assert!(matches!(told, ScriptError::TimedOut { fate: Fate::Unknown, .. }), "{told:?}");
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
                // It could be anybody's.
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
