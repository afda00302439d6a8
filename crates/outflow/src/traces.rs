//! Which trace an operation of the last minutes is part of (W3C Trace Context), for what flows out because of it. In memory
//! only: after a restart, and in another process, the operation's id is what links the two.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

/// How many operations a generation has. Two are kept, so the last so many are always known.
const GENERATION_MAX: usize = 16_384;

/// The header of a trace context, also of messages.
pub const TRACEPARENT: &str = "traceparent";

/// A valid `traceparent` of version 00 or later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParent(Box<str>);

impl TraceParent {
    /// Checks a header's text (W3C Trace Context, section 3.2.2).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = text.split('-');
        let [version, trace, span, flags] = [(); 4].map(|()| fields.next());
        let version = version.filter(|field| is_hex(field, 2) && *field != "ff")?;
        let is_over = version == "00" && fields.next().is_some();
        let is_valid = is_set(trace?, 32) && is_set(span?, 16) && is_hex(flags?, 2) && !is_over;
        // A later version may have more fields, which are not kept.
        is_valid.then(|| Self(text[..LENGTH].into()))
    }

    /// The whole header.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of the trace: 32 hexadecimal digits.
    #[must_use]
    pub fn trace_id(&self) -> &str {
        &self.0[3..35]
    }

    /// The id of the caller's span: 16 hexadecimal digits.
    #[must_use]
    pub fn span_id(&self) -> &str {
        &self.0[36..52]
    }

    /// Whether the caller records its trace.
    #[must_use]
    pub fn is_sampled(&self) -> bool {
        u8::from_str_radix(&self.0[53..], 16).is_ok_and(|flags| flags & 1 == 1)
    }
}

/// The length of the four fields.
const LENGTH: usize = 55;

/// Whether a field is hexadecimal and not zero.
fn is_set(field: &str, digits: usize) -> bool {
    is_hex(field, digits) && field.bytes().any(|byte| byte != b'0')
}

fn is_hex(field: &str, digits: usize) -> bool {
    field.len() == digits && field.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Operations by namespace and id.
type Generation = BTreeMap<(Box<str>, Box<str>), TraceParent>;

/// The traces of the last operations.
#[derive(Debug, Default)]
pub struct Traces {
    /// Whether any operation ever had one: most servers are never told.
    has_any: AtomicBool,
    generations: Mutex<[Generation; 2]>,
}

impl Traces {
    /// Those of this process: what notes them and what asks for them are far from each other.
    #[must_use]
    pub fn of_process() -> &'static Self {
        static TRACES: LazyLock<Traces> = LazyLock::new(Traces::default);
        &TRACES
    }

    /// Whether nothing was ever noted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.has_any.load(Ordering::Acquire)
    }

    /// Notes which trace an operation is part of, before it is sent to the engine.
    pub fn note(&self, namespace: &str, operation: &str, trace: TraceParent) {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if generations[0].len() >= GENERATION_MAX {
            let full = std::mem::take(&mut generations[0]);
            generations[1] = full;
        }
        generations[0].insert((namespace.into(), operation.into()), trace);
        self.has_any.store(true, Ordering::Release);
    }

    /// The trace of an operation, if it is still known.
    #[must_use]
    pub fn of(&self, namespace: &str, operation: &str) -> Option<TraceParent> {
        if self.is_empty() {
            return None;
        }
        let key = (namespace.into(), operation.into());
        let generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        generations.iter().find_map(|generation| generation.get(&key)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_trace_has_an_id_a_span_and_flags() {
        let parent = TraceParent::parse(PARENT).expect("valid");
        assert_eq!(parent.trace_id(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!((parent.span_id(), parent.is_sampled()), ("00f067aa0ba902b7", true));
        let later = TraceParent::parse(&(PARENT.replacen("00", "01", 1) + "-more")).expect("valid");
        assert_eq!(later.as_str(), PARENT.replacen("00", "01", 1));
        let wrong = [
            PARENT.replacen("00", "ff", 1),
            format!("{PARENT}-more"),
            PARENT.replace("4bf92f3577b34da6a3ce929d0e0e4736", &"0".repeat(32)),
            PARENT.replace("00f067aa0ba902b7", &"0".repeat(16)),
            PARENT.to_uppercase(),
            PARENT.replace('-', "–"),
            "00-4bf92f3577b34da6a3ce929d0e0e4736".to_owned(),
            String::new(),
        ];
        for wrong in wrong {
            assert_eq!(TraceParent::parse(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_last_operations_are_known_and_memory_is_bounded() {
        let (traces, parent) = (Traces::default(), TraceParent::parse(PARENT).expect("valid"));
        assert_eq!(traces.of("", "op-0"), None);
        for at in 0..3 * GENERATION_MAX {
            traces.note("", &format!("op-{at}"), parent.clone());
        }
        let last = format!("op-{}", 3 * GENERATION_MAX - 1);
        assert_eq!(traces.of("", &last), Some(parent));
        assert_eq!(traces.of("shop", &last), None, "another namespace");
        assert_eq!(traces.of("", "op-0"), None);
        let generations = traces.generations.lock().expect("not poisoned");
        assert!(generations.iter().map(BTreeMap::len).sum::<usize>() <= 2 * GENERATION_MAX);
    }
}
