//! Rows against those of the engine inside Redis, byte for byte, and against a state that was made anew.

use std::collections::BTreeMap;

use scarce_core::command::{Body, Effect};
use scarce_core::event::Entry;
use scarce_core::machine::Machine;
use scarce_core::state::StateSettings;
use scarce_engine::clock::ManualClock;
use scarce_engine::{Engine, Log, Request};
use scarce_engine_redis::keys::Keys;
use scarce_engine_redis::{RedisEngine, RedisSettings};
use scarce_launch::Server;
use scarce_mirror::{Item, Tracker};
use scarce_sim::compare::envelope;
use scarce_sim::random::{Sequence, Step};

use super::bench::server;

const STEPS: usize = 200;

/// Rows by the name of the key and the field; a member has no text.
type Rows = BTreeMap<(String, String), String>;

fn place(item: &Item) -> (String, String) {
    (item.key().to_owned(), item.place().to_owned())
}

fn text(item: &Item) -> String {
    if let Item::Row(_, _, text) = item { text.clone() } else { String::new() }
}

fn all(tracker: &Tracker) -> Rows {
    let mut rows = Rows::new();
    tracker.each_item(|_, item| {
        assert!(rows.insert(place(item), text(item)).is_none(), "{item:?} is there twice");
    });
    rows
}

fn apply(rows: &mut Rows, tracker: &mut Tracker) {
    let changes = tracker.changes();
    for item in &changes.absent {
        rows.remove(&place(item));
    }
    rows.extend(changes.present.iter().map(|item| (place(item), text(item))));
}

fn machine(settings: &StateSettings, entries: &[Entry]) -> Machine {
    let mut machine = Machine::new(settings.clone(), 0);
    entries.iter().for_each(|entry| machine.apply(entry));
    machine
}

#[test]
fn changes_lead_to_the_rows_of_a_state_that_was_made_anew() {
    for seed in 100..180 {
        let sequence = Sequence::random(seed, STEPS);
        let settings = &sequence.settings;
        let mut decides = Machine::new(settings.clone(), 0);
        let mut tracker = Tracker::new(Machine::new(settings.clone(), 0));
        let (mut entries, mut rows) = (Vec::new(), Rows::new());
        for (at, step) in sequence.steps.iter().enumerate() {
            let mut log = Vec::new();
            match step {
                Step::Reload | Step::Fold => {}
                Step::Expire { clock, limit } => drop(decides.expire(*limit, *clock, &mut log)),
                Step::Submit { clock, namespace, options, lines } => {
                    if let Ok(envelope) = envelope(namespace, options, lines) {
                        decides.submit(&envelope, *clock, &mut log);
                    }
                }
            }
            let new = Entry::read_all(&log).expect("entries");
            new.iter().for_each(|entry| tracker.follow(entry));
            entries.extend(new);
            if at % 7 == 0 {
                apply(&mut rows, &mut tracker);
                let expected = all(&Tracker::new(machine(settings, &entries)));
                let differs = rows.iter().find(|(place, text)| expected.get(*place) != Some(*text));
                assert_eq!(differs, None, "seed {seed} step {at}: {step}");
                assert_eq!(rows, expected, "seed {seed} step {at}: {step}");
            }
        }
    }
}

/// What the engine inside Redis has behind a key, without what a mirror leaves out.
fn rows_of(server: &Server, keys: &Keys, claimed: &Rows) -> Rows {
    let mut rows = Rows::new();
    let left_out = ["meta", "operations", "operations_by", "histories", "log", "steps", "listed"];
    for name in scarce_engine_redis::keys::NAMES.iter().filter(|name| !left_out.contains(name)) {
        let key = keys.of(name);
        match server.ask::<String>(&["TYPE", &key]).expect("a type").as_str() {
            "hash" => {
                let found: BTreeMap<String, String> = server.ask(&["HGETALL", &key]).expect("rows");
                rows.extend(found.into_iter().map(|(field, text)| (((*name).to_owned(), field), text)));
            }
            "zset" => {
                let found: Vec<String> = server.ask(&["ZRANGE", &key, "0", "-1"]).expect("members");
                rows.extend(found.into_iter().map(|member| (((*name).to_owned(), member), String::new())));
            }
            other => assert_eq!(other, "none", "{key}"),
        }
    }
    rows.retain(|(key, field), text| {
        if key == "campaigns" {
            let mut fields: Vec<&str> = text.split('|').collect();
            // The seed is a secret until the campaign is closed.
            if fields[13].is_empty() {
                fields[8] = "";
            }
            *text = fields.join("|");
        }
        key != "packets" || claimed.contains_key(&("claimants".to_owned(), field.clone()))
    });
    rows
}

#[test]
fn rows_are_those_that_the_engine_inside_redis_writes() {
    let server = server();
    for seed in 1..16 {
        server.ask::<()>(&["FLUSHALL"]).expect("an empty server");
        let sequence = Sequence::random(seed, STEPS);
        let clock = ManualClock::default();
        // Records that ended are dropped by other measures there, and are in no digest.
        let state = StateSettings { retention_ms: 1 << 40, ..sequence.settings.clone() };
        let settings = RedisSettings {
            url: server.url(),
            partitions: 1,
            state: state.clone(),
            clock: Some(clock.clone()),
            ..RedisSettings::default()
        };
        let engine = RedisEngine::open(settings).expect("an engine");
        for step in &sequence.steps {
            match step {
                Step::Reload | Step::Fold => continue,
                Step::Expire { clock: at, limit } => {
                    clock.set(*at);
                    let _ = engine.call(0, vec![Request::Expire(*limit)]);
                }
                Step::Submit { clock: at, namespace, options, lines } => {
                    clock.set(*at);
                    let Ok(envelope) = envelope(namespace, options, lines) else { continue };
                    let request = match &envelope.body {
                        Body::Single(command) if command.spec().effect == Effect::Read => continue,
                        _ => Request::Write(envelope),
                    };
                    let _ = engine.call(0, vec![request]);
                }
            }
        }
        let entries = engine.entries(0, 1, 1 << 30).unwrap_or_default();
        let expected = all(&Tracker::new(machine(&state, &entries)));
        let found = rows_of(&server, &Keys::new("scarce:", 0, 1), &expected);
        for (place, text) in &found {
            assert_eq!(expected.get(place), Some(text), "seed {seed}: {place:?}");
        }
        assert_eq!(found.len(), expected.len(), "seed {seed}");
    }
}
