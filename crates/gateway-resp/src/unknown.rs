//! The answer to an unknown command: the nearest existing one, or the equivalent of a Redis command.

use scarce_api::nearest::nearest;
use scarce_core::command::COMMANDS;

use super::control::printable;
use super::documents::CONTROLS;

/// Redis commands that people try first, and their equivalents here.
const REDIS: &[(&[&str], &str)] = &[
    (
        &["GET", "MGET", "HGET", "HGETALL", "HMGET", "EXISTS", "TYPE"],
        "Scarce keeps no keys; read a resource with ACCOUNT.GET, STOCK.GET, PACKET.GET, COUPON.GET or MARKET.GET",
    ),
    (
        &["SET", "SETNX", "HSET", "HSETNX", "MSET", "DEL", "EXPIRE", "TTL"],
        "Scarce keeps no keys; create a resource with ACCOUNT.OPEN, STOCK.CREATE, PACKET.CREATE, COUPON.CREATE or MARKET.CREATE",
    ),
    (
        &["INCR", "INCRBY", "DECR", "DECRBY", "HINCRBY"],
        "change a balance with ACCOUNT.CREDIT or ACCOUNT.DEBIT, and stock with STOCK.TAKE or STOCK.RESTOCK; neither falls below its bound",
    ),
    (
        &["EVAL", "EVAL_RO", "FUNCTION"],
        "texts of scripts do not run here; docs/coming-from-redis-lua.md shows the commands that replace them, and 'scarce scripts load' registers your own, for FCALL on the Redis engine",
    ),
    (
        &["KEYS", "SCAN", "DBSIZE"],
        "Scarce keeps no keys; read a resource by its id, and all changes with EVENTS",
    ),
    (
        &["PSUBSCRIBE", "PUNSUBSCRIBE", "SSUBSCRIBE"],
        "there are no patterns of channels; find the names with STOCK.LIST PREFIX and the like, and SUBSCRIBE to each, or read all changes with EVENTS",
    ),
    (&["PUBLISH", "SPUBLISH"], "nothing can be published; a channel shows each change of its resource"),
    (&["XREAD", "XRANGE", "MONITOR"], "read changes with EVENTS, or SUBSCRIBE to channels"),
    (
        &["SAVE", "BGSAVE", "BGREWRITEAOF"],
        "make a snapshot with SNAPSHOT; every answer is durable without it",
    ),
];

/// The text of the error.
pub(super) fn text(name: &str) -> String {
    let upper = name.to_ascii_uppercase();
    let shown = printable(name);
    if let Some((_, hint)) = REDIS.iter().find(|(names, _)| names.contains(&upper.as_str())) {
        return format!("unknown command '{shown}': {hint}");
    }
    let names = COMMANDS.iter().map(|spec| spec.name).chain(CONTROLS.iter().map(|control| control.name));
    match nearest(&upper, names) {
        Some(near) => format!("unknown command '{shown}'; did you mean {near}? COMMAND LIST names all"),
        None => format!("unknown command '{shown}'; COMMAND LIST names all"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_is_answered_with_the_nearest_name() {
        assert!(text("ACOUNT.DEBIT").contains("did you mean ACCOUNT.DEBIT?"), "{}", text("ACOUNT.DEBIT"));
        assert!(text("stock.tkae").contains("did you mean STOCK.TAKE?"), "{}", text("stock.tkae"));
        assert!(!text("XYZZY").contains("did you mean"), "{}", text("XYZZY"));
    }

    #[test]
    fn commands_of_redis_are_told_where_to_look() {
        assert!(text("get").contains("ACCOUNT.GET"));
        assert!(text("EVAL").contains("docs/coming-from-redis-lua.md"));
    }

    #[test]
    fn every_name_in_the_hints_exists_here_and_none_of_redis_does() {
        let exists = |word: &str| {
            COMMANDS.iter().any(|spec| spec.name == word)
                || CONTROLS.iter().any(|control| control.name == word)
        };
        for (names, hint) in REDIS {
            assert!(names.iter().all(|name| !exists(name)), "{names:?}");
            let words = hint.split(|c: char| !(c.is_ascii_uppercase() || c == '.'));
            for word in words.filter(|word| word.contains('.') && word.len() > 4) {
                assert!(exists(word), "{word}");
            }
        }
    }
}
