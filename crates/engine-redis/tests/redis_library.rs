//! The library's text is held against the tables that it is made of: what is mistyped or missing in it is found
//! without a server, and by a server at the first call.

#[path = "redis_library/rules.rs"]
mod rules;
#[path = "redis/servers.rs"]
#[allow(dead_code, reason = "each test needs a part of it")]
mod servers;
#[path = "redis_library/tokens.rs"]
mod tokens;
#[path = "redis_library/walk.rs"]
mod walk;

use scarce_core::state::StateSettings;
use scarce_engine::Request;
use scarce_engine_redis::call;
use scarce_engine_redis::keys::Keys;
use scarce_engine_redis::library::{ClockSource, Library};
use scarce_sim::conformance::request;

/// The library, with blocks in place of the functions that are whole files.
fn text() -> String {
    let script = Library::new(ClockSource::Server).script();
    let (body, _) = script.split_once("return main\nend\n").expect("the library, and what calls it");
    let text = format!("{}return main.serve(KEYS, ARGV)\n", body.replacen("local function build()\n", "", 1));
    text.replace("do local function file()", "do").replace("end file() end", "end")
}

/// The text with something else in place of what is there.
fn altered(there: &str, instead: &str) -> String {
    let text = text();
    assert!(text.contains(there), "'{there}' is not there");
    text.replacen(there, instead, 1)
}

#[test]
fn every_name_is_declared_and_used() {
    assert_eq!(rules::complaints(&text()), Vec::<String>::new());
}

#[test]
fn what_is_mistyped_is_found() {
    let planted = [
        // A field of a record, of an event, of a command.
        (
            "account.balance - account.held",
            "account.balance - account.hold_sum",
            "nothing has a field 'hold_sum'",
        ),
        (
            "move_money(event.account, event.amount)",
            "move_money(event.acount, event.amount)",
            "has no 'acount'",
        ),
        (
            "account = command.account, amount = amount, balance",
            "acount = command.account, amount = amount, balance",
            "has other fields",
        ),
        ("command.overdraft,\n", "command.overdraught,\n", "has no 'overdraught'"),
        (
            "used = quantity, ends_at = ends_at",
            "used = quantity, ends = ends_at",
            "'counts' has no field 'ends'",
        ),
        ("account.status == \"frozen\"", "account.status == \"frosen\"", "'status' is never 'frosen'"),
        // A code, and its facts.
        ("codes.ACCOUNT_CLOSED", "codes.ACCOUNT_SHUT", "'codes' has no 'ACCOUNT_SHUT'"),
        (
            "refuse(codes.ACCOUNT_CLOSED, id)",
            "refuse(codes.ACCOUNT_CLOSED)",
            "other facts than those of ACCOUNT_CLOSED",
        ),
        ("codes.SOLD_OUT", "\"SOLD_OUT\"", "'SOLD_OUT' is written codes.SOLD_OUT"),
        // A setting and a constant.
        ("settings.retention_ms", "settings.retention", "'settings' has no 'retention'"),
        ("constants.FILLS_MAX", "constants.FILL_MAX", "'constants' has no 'FILL_MAX'"),
        // A function, a variable, a key, a command, an event.
        ("records.change(\"accounts\"", "records.alter(\"accounts\"", "'records' has no 'alter'"),
        ("math.max(call.meta.now", "math.max(cal.meta.now", "no variable 'cal'"),
        ("records.get(\"holds\"", "records.get(\"hold\"", "of the key 'hold'"),
        ("decide[\"ACCOUNT.DEBIT\"]", "decide[\"ACCOUNT.DEBITS\"]", "nothing is named 'ACCOUNT.DEBITS'"),
        ("evolve[\"hold.voided\"]", "evolve[\"hold.void\"]", "nothing is named 'hold.void'"),
    ];
    for (there, instead, expected) in planted {
        let complaints = rules::complaints(&altered(there, instead));
        assert!(
            complaints.iter().any(|complaint| complaint.contains(expected)),
            "{instead}: {complaints:#?}"
        );
    }
}

#[test]
fn a_setting_that_the_library_does_not_read_is_found() {
    let told = altered("  retention_ms = false,\n", "  retention_ms = false,\n  grace_ms = false,\n");
    assert_eq!(rules::complaints(&told), ["nobody asks 'settings' for 'grace_ms'"]);
}

/// What a server says to a call of a library that was altered, and how many keys it has then.
fn called(there: &str, instead: &str) -> (String, usize) {
    let library = Library::new(ClockSource::Server);
    let text = library.functions();
    assert!(text.contains(there), "'{there}' is not there");
    let server = servers::server();
    let connection = &mut servers::connection(&server);
    let load =
        redis::cmd("FUNCTION").arg("LOAD").arg(text.replacen(there, instead, 1)).query::<String>(connection);
    if let Err(error) = load {
        return (error.to_string(), 0);
    }
    let Ok(request::Request::Write(open)) = request::single(&["ACCOUNT.OPEN", "a", "EUR"], &[0; 32]) else {
        panic!("it is a command that writes")
    };
    let settings = StateSettings::default();
    let encoded = call::encode(&Request::Write(open), &settings, &mut Vec::new());
    let (keys, message) =
        (Keys::new("scarce:", 0, 1), call::message(&call::Heading::from(&settings), &[&encoded]));
    let mut command = redis::cmd("FCALL");
    command.arg(&library.name).arg(keys.all().len()).arg(keys.all()).arg(message).arg("write");
    let answer = match command.query::<redis::Value>(connection) {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => error.to_string(),
    };
    (answer, redis::cmd("DBSIZE").query(connection).expect("the number of keys"))
}

#[test]
fn a_server_refuses_a_library_with_a_mistake_and_keeps_what_it_has() {
    let planted = [
        ("decide[\"ACCOUNT.DEBIT\"] = function", "decide[\"ACCOUNT.DEBIT\"] = functoin", "near"),
        ("evolve[\"hold.voided\"] = ", "local _ = ", "the library lacks the event 'hold.voided'"),
        ("evolve[\"hold.voided\"]", "evolve[\"hold.void\"]", "the library has no event 'hold.void'"),
        ("decide[\"ACCOUNT.DEBIT\"] = ", "local _ = ", "the library lacks the decision 'ACCOUNT.DEBIT'"),
        ("constants.FILLS_MAX", "constants.FILL_MAX", "the library has no constant 'FILL_MAX'"),
        (
            "call.meta.at - settings.retention_ms",
            "call.meta.at - settings.retention",
            "the library has no setting 'retention'",
        ),
        (
            "records.note_type(\"meta\")",
            "records.note_tpye(\"meta\")",
            "no function in records.lua 'note_tpye'",
        ),
        ("join = false, foretell = false }", "join = false }", "lacks 'foretell'"),
    ];
    for (there, instead, expected) in planted {
        let (answer, keys) = called(there, instead);
        assert!(answer.contains(expected), "{instead}: {answer}");
        assert_eq!(keys, 0, "{instead}");
    }
    let (answer, keys) = called("complete()", "complete()");
    assert!(!answer.contains("SCARCE") && keys > 0, "{answer}");
}
