//! A shop's Redis with something of each kind, and the map of it.

use std::path::{Path, PathBuf};
use std::process::Output;

use scarce_client::{Client, Reply, integer, text};
use scarce_launch::Server as Redis;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::scarce_in;

/// The map of the keys below.
pub const MAP: &str = r#"
ignore = ["session:{id}"]

[[accounts]]
key = "balance:{user}"
type = "string"
account = "{user}"
asset = "EUR"
decimals = 2

[[accounts]]
key = "wallet:{user}"
type = "hash"
account = "wallet-{user}"
asset = "{hash.currency}"
amount = "{hash.balance}"
overdraft = "{hash.credit}"

[[stock]]
key = "stock:{sku}"
type = "string"
sku = "{sku}"
per_owner_max = 3
[[stock.taken]]
key = "bought:{sku}"
type = "hash"

[[packets]]
key = "packets:{campaign}"
type = "list"
campaign = "{campaign}"
asset = "EUR"
amount = "{value.amount}"
decimals = 2
[[packets.taken]]
key = "taken:{campaign}"
type = "hash"
amount = "{value.amount}"

[[coupons]]
key = "coupon:{coupon}:left"
type = "string"
coupon = "{coupon}"
per_user = 2
[[coupons.taken]]
key = "coupon:{coupon}:users"
type = "zset"
"#;

/// What the shop has.
pub const KEYS: &str = "SET balance:alice 12.34
SET balance:bob 0
SET balance:carol 100
HSET wallet:alice currency USD balance -250 credit 1000
SET stock:shoe 7
HSET bought:shoe alice 2 bob 1
SET stock:hat 0
RPUSH packets:gift {\"amount\":5} {\"amount\":0.07}
HSET taken:gift bob {\"amount\":8.88} alice {\"amount\":1}
HSET taken:gone dora {\"amount\":3.30}
SET coupon:spring:left 98
ZADD coupon:spring:users 2 alice 1 bob
SET session:1 x
SET other y";

/// Runs commands, one a line.
pub fn fill(redis: &Redis, lines: &str) {
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split(' ').collect();
        redis.ask::<redis::Value>(&words).unwrap();
    }
}

/// A folder with a map, in which imports run.
pub struct Desk {
    pub folder: TempDir,
}

impl Desk {
    pub fn new(map: &str) -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("map.toml"), map).unwrap();
        Self { folder }
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// `scarce import redis` of a source.
    pub fn import(&self, from: &str, options: &[&str]) -> std::process::Command {
        let words = ["import", "redis", "--json", "--map", "map.toml", "--from", from];
        scarce_in(self.folder.path(), &[&words, options].concat())
    }

    /// Its output, which must have this exit code.
    pub fn run(&self, from: &str, options: &[&str], exit: i32) -> Output {
        let output = self.import(from, options).output().unwrap();
        assert_eq!(output.status.code(), Some(exit), "{options:?}: {output:?}");
        output
    }

    /// The same as JSON.
    pub fn json(&self, from: &str, options: &[&str], exit: i32) -> Value {
        let output = self.run(from, options, exit);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A value of an answer with names.
pub fn value(client: &mut Client, words: &[&str], name: &str) -> Option<String> {
    let Reply::Applied(values) = Reply::of(client.call(words).unwrap()) else { return None };
    let mut pairs = values.chunks_exact(2);
    let (_, value) =
        pairs.find(|pair| text(&pair[0]).as_deref() == Some(name)).map(|pair| (&pair[0], &pair[1]))?;
    text(value).or_else(|| integer(value).map(|number| number.to_string()))
}

/// A list of `command -> name value`, each asked and compared.
pub fn check(client: &mut Client, lines: &str) {
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let (command, expected) = line.split_once(" -> ").unwrap();
        let words: Vec<&str> = command.split(' ').collect();
        let pairs: Vec<&str> = expected.split(' ').collect();
        for pair in pairs.chunks_exact(2) {
            assert_eq!(value(client, &words, pair[0]).as_deref(), Some(pair[1]), "{line}");
        }
    }
}
