//! What operations were asked to do, as the tables tell it, against what was sent.

use std::collections::BTreeSet;

use scarce_core::command::{ArgumentKind, Body, Command};
use scarce_core::outcome::Value;
use scarce_core::state::StateSettings;
use scarce_core::types::INTEGER_MAX;
use serde_json::json;

use crate::kit::{Database, DatabaseKind, Log, open, take};

/// A row of an operation that shows a command, and what was sent.
struct Told {
    command: String,
    arguments: Option<serde_json::Value>,
}

/// The operations by their last sequence.
async fn told(database: &Database) -> Vec<(u64, String, Option<Told>)> {
    let columns = ["last_sequence", "event", "command", "arguments"];
    let rows = database.ask(&columns, "FROM operations WHERE outcome <> 'RESOLVED_ABSENT'").await;
    let read = |row: Vec<String>| {
        let command = row[2].clone();
        let told = (command != "-").then(|| Told { command, arguments: serde_json::from_str(&row[3]).ok() });
        (row[0].parse().expect("a sequence"), row[1].clone(), told)
    };
    rows.into_iter().map(read).collect()
}

/// Whether two commands that cancel leave the same events: one order of one unit.
fn are_alike(told: &str, sent: &str) -> bool {
    told == sent || (told, sent) == ("ORDER.CANCEL", "ORDER.CANCELALL")
}

/// Whether something that was sent may have had several steps.
fn may_take_steps(sent: &Body) -> bool {
    matches!(sent, Body::Single(command) if command.spec().takes_several_steps())
}

/// Checks the arguments that the tables tell against those that were sent.
fn check_arguments(told: &serde_json::Value, sent: &Command, what: &str) -> usize {
    let mut checked = 0;
    for (argument, value) in sent.spec().arguments.iter().zip(sent.values()) {
        let shown = &told[argument.name];
        // The bounds of a plan are not public before its end.
        if sent.spec().arguments.iter().any(|its| its.kind == ArgumentKind::Cut)
            && ["min", "max"].contains(&argument.name)
        {
            assert!(shown.is_null(), "{what}");
            continue;
        }
        let expected = match (&value, argument.kind) {
            // Of limits that were changed, those that resulted are told.
            (_, ArgumentKind::Cut | ArgumentKind::LimitChanges) | (Value::Absent, _) => continue,
            (_, ArgumentKind::Pricing) => {
                assert_eq!(told["type"], "LIMIT", "{what}");
                assert_eq!(told["price"].to_string(), value.to_string(), "{what}");
                continue;
            }
            // By how much more than its rest an order was reduced is not told.
            (Value::Integer(_), _) if argument.name == "by" && shown.is_null() => continue,
            // What was not given, or changed nothing, is not told.
            (Value::Integer(flag), ArgumentKind::Flag) if *flag == 0 || shown.is_null() => continue,
            (_, ArgumentKind::Flag) => json!(true),
            // A deadline is no later than the largest integer.
            (Value::Integer(number), _)
                if argument.name == "ttl_ms" && number.unsigned_abs() > INTEGER_MAX / 2 =>
            {
                assert!(shown.as_i64().is_some_and(|shown| shown <= *number), "{what}: {shown}");
                continue;
            }
            (Value::Integer(number), _) => json!(number),
            (Value::Text(text), _) => json!(text.as_str()),
            (Value::List(_), _) => {
                assert!(shown.is_object() || shown.is_array(), "{what}: {}", argument.name);
                continue;
            }
        };
        assert_eq!(*shown, expected, "{what}: {}", argument.name);
        checked += 1;
    }
    checked
}

#[tokio::test]
async fn operations_of_random_logs_show_the_commands_and_arguments_that_were_sent() {
    let database = Database::new(DatabaseKind::Sqlite);
    let projection = open(&database, 5).await;
    let (mut seen, mut arguments) = (BTreeSet::new(), 0);
    for seed in 1..60 {
        let log = Log::random(seed, 300);
        projection.rebuild().await.expect("the database");
        let mut consumer = projection.consumer(0);
        for piece in log.pieces(7) {
            // Steps of one operation are in several batches, and another process takes over in between.
            consumer = if piece.after.sequence % 2 == 0 { projection.consumer(0) } else { consumer };
            take(&mut consumer, &piece).await;
        }
        for (sequence, event, told) in told(&database).await {
            let sent = &log.sent[&sequence];
            let what = format!("seed {seed}, sequence {sequence}, {event}");
            // What was refused, or found nothing to change, may have been one of several commands; and so may what had several
            // steps, of which the first one changed nothing.
            let is_certain = !event.starts_with("operation.") && !may_take_steps(sent);
            let Some(told) = told else {
                assert!(!is_certain, "{what}: {sent:?}");
                continue;
            };
            match sent {
                Body::Atomic(_) => {
                    assert_eq!((told.command.as_str(), told.arguments), ("MULTI", None), "{what}");
                }
                Body::Single(command) => {
                    assert!(
                        are_alike(&told.command, command.spec().name),
                        "{what}: {} {sent:?}",
                        told.command
                    );
                    if let Some(its) = told.arguments.filter(|_| told.command == command.spec().name) {
                        arguments += check_arguments(&its, command, &what);
                    }
                }
            }
            seen.insert(told.command);
        }
    }
    assert!(seen.len() > 12 && arguments > 300, "{} commands, {arguments} arguments: {seen:?}", seen.len());
}

#[tokio::test]
async fn every_database_shows_the_command_of_an_operation_in_steps() {
    for kind in DatabaseKind::ALL {
        let database = Database::new(kind);
        let projection = open(&database, 5).await;
        let mut log = Log::new(StateSettings { step_max: 2, ..StateSettings::default() }, 0);
        log.run("MARKET.CREATE m");
        (0..7).for_each(|number| log.run(&format!("ORDER.PLACE m s{number} u1 SELL LIMIT 10 1")));
        log.run("ORDER.PLACE m b u2 BUY LIMIT 10 7 ID sweep");
        (0..5).for_each(|number| log.run(&format!("ORDER.PLACE m r{number} u1 SELL LIMIT 10 1")));
        log.run("ORDER.CANCELALL m u1 ID clear");
        for piece in log.pieces(1) {
            // A consumer of its own for each entry: what an operation was asked is in the database between its steps.
            take(&mut projection.consumer(0), &piece).await;
        }
        let columns = ["operation_id", "command", "arguments"];
        let rows = database.ask(&columns, "FROM operations ORDER BY first_sequence").await;
        let placed = r#"{"market":"m","order":"b","owner":"u2","side":"BUY","type":"LIMIT","price":10,"quantity":7,"tif":"GTC","stp":"NONE"}"#;
        let cleared = r#"{"market":"m","owner":"u1"}"#;
        let expected = [["sweep", "ORDER.PLACE", placed], ["clear", "ORDER.CANCELALL", cleared]];
        assert_eq!(rows, expected.map(|row| row.map(str::to_owned).to_vec()), "{kind:?}");
        let left = database.figure("COUNT(*)", "FROM cursors WHERE step_command IS NULL").await;
        assert_eq!(left, "1", "{kind:?}: nothing is left of an operation that has finished");
    }
}
