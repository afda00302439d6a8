//! What a server's errors mean, and what to do about them.

use std::borrow::Cow;

use redis::{ErrorKind, RedisError};
use scarce_engine::engine::Failure;

use super::address::Endpoint;

/// Whether the outcome of the command is unknown.
#[must_use]
pub fn is_broken(error: &RedisError) -> bool {
    error.is_io_error()
        || error.is_timeout()
        || error.is_connection_dropped()
        || error.kind() == ErrorKind::Parse
}

/// What an error of the server means. All but a failure that was not undone leave everything as it was. What is still
/// to be undone will be before anything else is served.
#[must_use]
pub fn failure_of(error: &RedisError, from: &Endpoint, user: &str) -> Failure {
    if let Some(detail) = unmended(error) {
        return Failure::Unknown { reason: format!("{UNMENDED}: {detail}") };
    }
    let advice = advice(error, user);
    Failure::Unavailable { reason: format!("Redis at {from} refused: {error}{advice}") }
}

/// What is said of a partition that keeps a change in part, and cannot say so in Redis.
pub(super) const UNMENDED: &str = "the partition was changed in part, and nothing in Redis says how to take that back; \
    restore its keys from a copy, and give Redis' user all commands on them before you start again";

/// What a call could not take back and could not note.
pub(super) fn unmended(error: &RedisError) -> Option<&str> {
    let detail = error.detail().filter(|_| error.code() == Some("SCARCE"))?;
    detail.strip_prefix("UNMENDED ")
}

/// The word by which a server names an error; that of a command in the library, where one was refused.
#[must_use]
pub fn word_of(error: &RedisError) -> &str {
    match (error.code().unwrap_or(""), error.detail()) {
        ("SCARCE", Some(detail)) => detail.split_ascii_whitespace().next().unwrap_or(""),
        (code, _) => code,
    }
}

/// What to do, to follow the error itself. `user` is who logged in.
#[must_use]
pub fn advice(error: &RedisError, user: &str) -> Cow<'static, str> {
    match word_of(error) {
        "NOPERM" => rights_advice(error.detail().unwrap_or(""), user).into(),
        word => advice_by_word(error, word).into(),
    }
}

/// Which right a user lacks, by what the server says, and how to give it.
fn rights_advice(detail: &str, user: &str) -> String {
    let command = detail.split('\'').nth(1).filter(|command| !command.contains(' '));
    let right = match command {
        Some(command) => format!("+{command}"),
        None if detail.contains("keys") => "~<redis_prefix>*".to_owned(),
        None => RIGHTS.to_owned(),
    };
    format!("; give Redis' user '{user}' the right, by ACL SETUSER {user} {right}")
}

/// What the engine's user needs, apart from the keys behind its prefix.
pub const RIGHTS: &str = "+@read +@write +@scripting +info +config|get +time +wait +select";

/// The engine and a mirror log in by settings of their own.
const LOGIN_ADVICE: &str = "; give the user and the password in redis_user and redis_password_file, for a mirror in mirror_user and mirror_password_file";

fn advice_by_word(error: &RedisError, word: &str) -> &'static str {
    if error.kind() == ErrorKind::AuthenticationFailed {
        return LOGIN_ADVICE;
    }
    match word {
        "OOM" => "; its memory is full, raise maxmemory",
        "READONLY" => "; it is a replica, name the primary or its sentinels",
        "LOADING" => "; it is loading its data, wait",
        "BUSY" => "; another script is running, see who runs it with SCRIPT KILL or FUNCTION STATS",
        "NOAUTH" | "WRONGPASS" => LOGIN_ADVICE,
        "MISCONF" => "; it cannot write its data to disk, see its log",
        "NOREPLICAS" => "; too few replicas follow it (min-replicas-to-write)",
        "CLUSTERDOWN" => "; some slots have no primary, see redis-cli --cluster check",
        "TRYAGAIN" => {
            "; the slot is being moved, and that takes long: finish it with redis-cli --cluster fix"
        }
        "MOVED" | "ASK" => "; the nodes do not agree who serves the slot, see redis-cli --cluster check",
        "MASTERDOWN" => "; it has lost its primary",
        "DAMAGED" => {
            "; a change was refused halfway, and the partition serves nothing until it is taken back, which it does by itself once the cause is gone: give Redis' user all commands on its keys again"
        }
        "FORMAT" => "; stop this server, and start the newer release that wrote it",
        "CLOCK" => {
            "; set its clock by a time service, or that of this machine; if the server's is right, restart with --accept-clock"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(line: &str) -> RedisError {
        let value = redis::parse_redis_value(line.as_bytes()).expect("a reply");
        value.extract_error().expect_err("an error")
    }

    #[test]
    fn a_right_that_is_missing_is_named_with_the_line_that_gives_it() {
        for (line, right) in [
            (
                "-NOPERM this user has no permissions to run the 'config|get' command\r\n",
                "scarce +config|get",
            ),
            ("-NOPERM User scarce has no permissions to run the 'fcall' command\r\n", "scarce +fcall"),
            ("-SCARCE NOPERM no right to run 'xadd' on k: The user executing it can't\r\n", "scarce +xadd"),
            (
                "-NOPERM this user has no permissions to access one of the keys used\r\n",
                "scarce ~<redis_prefix>*",
            ),
            ("-NOPERM no\r\n", "scarce +@read +@write"),
        ] {
            let advice = advice(&said(line), "scarce");
            assert!(advice.contains(&format!("ACL SETUSER {right}")), "{line}: {advice}");
        }
    }

    #[test]
    fn only_what_nothing_takes_back_is_unknown() {
        let from = Endpoint::Tcp("host".to_owned(), 1);
        let unmended_change = said("-SCARCE UNMENDED no right\r\n");
        assert!(matches!(failure_of(&unmended_change, &from, "default"), Failure::Unknown { .. }));
        assert_eq!(unmended(&unmended_change), Some("no right"));
        for line in
            ["-SCARCE DAMAGED no right\r\n", "-OOM no memory\r\n", "-ERR UNMENDED by another script\r\n"]
        {
            assert!(
                matches!(failure_of(&said(line), &from, "default"), Failure::Unavailable { .. }),
                "{line}"
            );
            assert_eq!(unmended(&said(line)), None, "{line}");
        }
    }
}
