//! `FCALL`, `FCALL_RO`, `EVALSHA`, `EVALSHA_RO` and `SCRIPT …`: scripts of the operator's, as any Redis client calls them.

use scarce_access::Lack;
use scarce_core::types::Natural;
use scarce_engine::scripts::{
    Among, ScriptAnswer, ScriptCall, ScriptFailure, ScriptName, ScriptRequest, ScriptValue, ScriptVersion,
};

use super::permission;
use super::reply::{Protocol, Replies};

/// What is to be asked, and how its answer is written.
pub(super) struct Asked {
    pub(super) request: ScriptRequest,
    form: Form,
}

enum Form {
    /// What the script answered.
    Value,
    /// For each digest whether it is registered.
    Exists(Vec<String>),
    /// The digest of a text that must be registered.
    Loaded(Vec<u8>),
}

/// Reads a command; `None` if there is no such one.
///
/// # Errors
/// What is wrong, in words for people.
pub(super) fn read(name: &str, arguments: &[&[u8]]) -> Option<Result<Asked, String>> {
    Some(match (name, arguments) {
        ("FCALL" | "FCALL_RO" | "EVALSHA" | "EVALSHA_RO", [script, count, rest @ ..]) => {
            call(name, script, count, rest)
        }
        ("SCRIPT", [subcommand, digests @ ..])
            if subcommand.eq_ignore_ascii_case(b"EXISTS") && !digests.is_empty() =>
        {
            let digests = digests.iter().map(|digest| String::from_utf8_lossy(digest).to_ascii_lowercase());
            Ok(Asked { request: ScriptRequest::All, form: Form::Exists(digests.collect()) })
        }
        ("SCRIPT", [subcommand, text]) if subcommand.eq_ignore_ascii_case(b"LOAD") => {
            Ok(Asked { request: ScriptRequest::All, form: Form::Loaded(text.to_vec()) })
        }
        _ => return None,
    })
}

fn call(name: &str, script: &[u8], count: &[u8], rest: &[&[u8]]) -> Result<Asked, String> {
    let text = |bytes: &[u8], what: &str| {
        String::from_utf8(bytes.to_vec()).map_err(|_| format!("{what} of a script must be UTF-8"))
    };
    let script = text(script, "the name")?;
    let count = Natural::parse(count, "numkeys").map_err(|problem| problem.to_string())?.get();
    let count = usize::try_from(count).ok().filter(|count| *count <= rest.len());
    let (keys, arguments) =
        rest.split_at(count.ok_or("numkeys is greater than the number of words after it")?);
    let call = ScriptCall {
        script: if name.starts_with("EVALSHA") {
            ScriptName::Digest(script, Among::default())
        } else {
            ScriptName::Named(script)
        },
        keys: keys.iter().map(|key| text(key, "a key")).collect::<Result<_, _>>()?,
        arguments: arguments.iter().map(|argument| argument.to_vec()).collect(),
        must_only_read: name.ends_with("_RO"),
    };
    Ok(Asked { request: ScriptRequest::Run(call), form: Form::Value })
}

/// The answer to a caller whose key lacks a scope.
pub(super) fn refused(lack: &Lack, protocol: Protocol) -> Vec<u8> {
    let mut written = Vec::new();
    permission::refuse(&mut Replies::new(&mut written, protocol), lack);
    written
}

impl Asked {
    /// The same, where a digest means one of these scripts.
    pub(super) fn limited(mut self, to: Among) -> Self {
        if let ScriptRequest::Run(ScriptCall { script: ScriptName::Digest(_, among), .. }) = &mut self.request
        {
            *among = to;
        }
        self
    }

    /// Writes the answer to what was asked, the request of which is left out.
    pub(super) fn writer(
        self,
    ) -> (ScriptRequest, impl FnOnce(Result<ScriptAnswer, ScriptFailure>, Protocol) -> Vec<u8>) {
        let form = self.form;
        (self.request, move |answer, protocol| {
            let mut written = Vec::new();
            form.write(&mut Replies::new(&mut written, protocol), answer);
            written
        })
    }
}

impl Form {
    fn write(&self, replies: &mut Replies<'_>, answer: Result<ScriptAnswer, ScriptFailure>) {
        match (self, answer) {
            (_, Err(failure)) => failed(replies, &failure),
            (Self::Value, Ok(ScriptAnswer::Value(value))) => write(replies, &value),
            (Self::Exists(digests), Ok(ScriptAnswer::Versions(known))) => {
                replies.array(digests.len());
                digests.iter().for_each(|digest| replies.integer(has(&known, digest).into()));
            }
            (Self::Loaded(text), Ok(ScriptAnswer::Versions(known))) => {
                match known.iter().find(|its| its.body.as_bytes() == text) {
                    Some(its) => replies.bulk(its.digest.as_bytes()),
                    None => replies.error("NOPERM", NOT_REGISTERED),
                }
            }
            (_, Ok(_)) => replies.null(),
        }
    }
}

/// What is said of a text that a client brings along.
const NOT_REGISTERED: &str = "this script is not registered, and clients run registered ones only: register it with 'scarce scripts load', then call it by EVALSHA or FCALL";

fn has(known: &[ScriptVersion], digest: &str) -> bool {
    known.iter().any(|its| its.digest == digest)
}

fn write(replies: &mut Replies<'_>, value: &ScriptValue) {
    match value {
        ScriptValue::Nothing => replies.null(),
        ScriptValue::Integer(number) => replies.integer(*number),
        ScriptValue::Bytes(bytes) => replies.bulk(bytes),
        ScriptValue::Status(text) => replies.status(text),
        ScriptValue::Error(text) => replies.error("ERR", text),
        ScriptValue::List(values) => {
            replies.array(values.len());
            values.iter().for_each(|value| write(replies, value));
        }
    }
}

fn failed(replies: &mut Replies<'_>, failure: &ScriptFailure) {
    let text = failure.to_string();
    match failure {
        ScriptFailure::Missing(name) if name.len() == 40 => replies.error("NOSCRIPT", &text),
        ScriptFailure::Engine(failure) => replies.failure(failure),
        ScriptFailure::Unknown(_) => replies.error("UNKNOWN", &text),
        ScriptFailure::Forbidden(_) => replies.error("NOPERM", &text),
        ScriptFailure::Missing(_)
        | ScriptFailure::Invalid(_)
        | ScriptFailure::Full(_)
        | ScriptFailure::Failed(_) => {
            replies.error("ERR", &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_arguments_are_told_apart() {
        let words: [&[u8]; 5] = [b"f@2", b"2", b"a", b"b", b"c"];
        let asked = read("FCALL_RO", &words).expect("a command").expect("a call");
        let ScriptRequest::Run(call) = asked.request else { panic!("no call") };
        assert!(matches!(&call.script, ScriptName::Named(name) if name == "f@2"));
        assert_eq!(
            (call.keys.as_slice(), call.arguments.as_slice()),
            (&["a".to_owned(), "b".to_owned()][..], &[b"c".to_vec()][..])
        );
        assert!(call.must_only_read);
    }

    #[test]
    fn what_is_no_call_is_said() {
        assert!(read("FCALL", &[b"f"]).is_none());
        assert!(read("SCRIPT", &[b"FLUSH"]).is_none());
        for count in [&b"2"[..], b"-1", b"x"] {
            assert!(read("EVALSHA", &[b"f", count, b"a"]).is_some_and(|asked| asked.is_err()));
        }
    }
}
