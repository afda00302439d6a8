//! What was compared, and what differs.

use std::fmt;

use scarce_projection::Repaired;
use serde_json::{Value, json};

/// Which sides are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckKind {
    /// The log with itself: numbered without gaps, and each event's figures are those that the events before come to.
    Log,
    /// The engine with the state that the log gives, by the digest of each resource.
    Engine,
    /// The state with what must hold in any state.
    Invariants,
    /// The tables with the rows that the log gives.
    Tables,
    /// The tables with the sums that they must come to.
    Sums,
    /// The topic of events with the log.
    Topic,
    /// The mirror in Redis with the state that the log gives.
    Mirror,
    /// The claims of packets with their credits.
    Settlement,
}

impl CheckKind {
    /// Its name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Log => "log",
            Self::Engine => "engine",
            Self::Invariants => "invariants",
            Self::Tables => "tables",
            Self::Sums => "sums",
            Self::Topic => "topic",
            Self::Mirror => "mirror",
            Self::Settlement => "settlement",
        }
    }
}

/// Where in the log an event is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventPlace {
    /// In the log of which partition.
    pub partition: u32,
    /// Its sequence.
    pub sequence: u64,
    /// Its name, where the log still has it.
    pub event: Option<&'static str>,
}

impl fmt::Display for EventPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in partition {}", self.sequence, self.partition)?;
        self.event.map_or(Ok(()), |event| write!(f, ", {event}"))
    }
}

/// Two values that should be the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// By which check.
    pub check: CheckKind,
    /// Of which partition.
    pub partition: Option<u32>,
    /// Of which resource.
    pub resource: Option<String>,
    /// Which value of it.
    pub field: String,
    /// The value that the log gives, or that must be; `None` where there should be none.
    pub expected: Option<String>,
    /// The value that is there; `None` where it is missing.
    pub found: Option<String>,
    /// The first event after which the two sides part; `None` where no event is known.
    pub first_event: Option<EventPlace>,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckState {
    /// Both sides are the same.
    Equal,
    /// They differ.
    Different,
    /// It was not made, or not to its end; the note says why.
    Skipped,
}

impl CheckState {
    /// Its name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Different => "different",
            Self::Skipped => "skipped",
        }
    }
}

/// One check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// Which.
    pub kind: CheckKind,
    /// How it ended.
    pub state: CheckState,
    /// How much was compared: events, resources, rows or claims.
    pub compared: u64,
    /// How many differences there are, listed or not.
    pub differences: u64,
    /// What one should know of it.
    pub notes: Vec<String>,
}

/// Between which sequences a partition was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The partition.
    pub partition: u32,
    /// The sequence of the state that the fold began with; 0 for the beginning of the log.
    pub begins_after: u64,
    /// The last event that was folded.
    pub log: u64,
    /// The last event in the tables, where there are tables.
    pub tables: Option<u64>,
    /// The last event in the topic, where there is one.
    pub topic: Option<u64>,
}

/// What became of rows that were to be put right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairReport {
    /// Whether they are right now; otherwise nothing was changed.
    pub is_done: bool,
    /// How many rows were, or would be, put right.
    pub rows: Repaired,
    /// Why that must not be done.
    pub refused: Option<String>,
}

/// What was compared, and what differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Of which deployment.
    pub deployment_id: String,
    /// Between which sequences.
    pub reaches: Vec<Reach>,
    /// The checks, in the order in which they were made.
    pub checks: Vec<Check>,
    /// The first differences of each check.
    pub findings: Vec<Finding>,
    /// What became of rows of the tables that were to be put right; `None` if none were to be.
    pub repair: Option<RepairReport>,
}

impl Report {
    /// How many differences there are, listed or not.
    #[must_use]
    pub fn differences(&self) -> u64 {
        self.checks.iter().map(|check| check.differences).sum()
    }

    /// The report as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let reach = |its: &Reach| {
            json!({
                "partition": its.partition, "begins_after": its.begins_after, "log_sequence": its.log,
                "tables_sequence": its.tables, "topic_sequence": its.topic,
            })
        };
        let check = |its: &Check| {
            json!({
                "check": its.kind.word(), "state": its.state.word(), "compared": its.compared,
                "differences": its.differences, "notes": its.notes,
            })
        };
        let mut report = json!({
            "deployment_id": self.deployment_id,
            "differences": self.differences(),
            "partitions": self.reaches.iter().map(reach).collect::<Vec<_>>(),
            "checks": self.checks.iter().map(check).collect::<Vec<_>>(),
            "findings": self.findings.iter().map(Finding::json).collect::<Vec<_>>(),
        });
        if let Some(RepairReport { is_done, rows, refused }) = &self.repair {
            report["repair"] = json!({
                "done": is_done, "added": rows.added, "changed": rows.changed, "removed": rows.removed,
                "left": rows.left, "refused": refused,
            });
        }
        report
    }

    /// The report as a page.
    #[must_use]
    pub fn html(&self) -> String {
        crate::html::page(self)
    }
}

impl Finding {
    /// The finding as JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let first = self.first_event.as_ref();
        json!({
            "check": self.check.word(), "partition": self.partition, "resource": self.resource, "field": self.field,
            "expected": self.expected, "found": self.found,
            "first_event": first.map(|its| json!({
                "partition": its.partition, "sequence": its.sequence, "event": its.event,
            })),
        })
    }
}
