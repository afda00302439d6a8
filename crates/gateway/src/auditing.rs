//! What the ports record in the audit log: administrative commands with what became of them, and callers that are turned away.

use std::net::IpAddr;

use scarce_access::{Denial, KeyId, Standing};
use scarce_audit::{AuditLog, Kind, Record, Who, is_administrative};
use scarce_core::command::{Command, CommandSpec};
use scarce_core::outcome::Receipt;
use scarce_core::types::OperationId;
use scarce_engine::Failure;

use super::access::Access;
use super::caller::Caller;
use super::keys::KeyChange;

/// What a caller was turned away from, and why.
#[derive(Clone, Copy, Debug)]
pub struct Denied<'a> {
    /// The command, the route, or `login`.
    pub what: &'a str,
    /// Why: a code of the audit log.
    pub outcome: &'static str,
    /// What else there is to say.
    pub detail: Option<&'a str>,
}

/// Administrative commands that were sent, and of which it is not known yet what becomes of them.
#[derive(Clone, Debug)]
pub struct Acts {
    log: AuditLog,
    records: Vec<Record>,
}

impl Access {
    /// The administrative ones among commands that are sent together; none if there are none, or nothing is recorded.
    pub fn acts<'a>(
        &self,
        caller: Option<&Caller>,
        address: IpAddr,
        commands: impl Iterator<Item = &'a Command>,
        operation: Option<&OperationId>,
    ) -> Option<Acts> {
        if !self.audit.is_on() {
            return None;
        }
        let acts = commands.filter(|command| is_administrative(command.spec()));
        let records: Vec<Record> = acts
            .map(|command| {
                let mut record = self.act(caller, address, command.spec().name, "");
                record = about(record, command);
                record.operation = operation.map(ToString::to_string);
                record
            })
            .collect();
        (!records.is_empty()).then(|| Acts { log: self.audit.clone(), records })
    }

    /// An act that is no command of the table; none if nothing is recorded.
    pub fn other_act(
        &self,
        caller: Option<&Caller>,
        address: IpAddr,
        what: &str,
        outcome: &str,
    ) -> Option<Noted> {
        let records = || vec![self.act(caller, address, what, outcome)];
        self.audit.is_on().then(|| Noted { log: self.audit.clone(), records: records() })
    }

    fn act(&self, caller: Option<&Caller>, address: IpAddr, what: &str, outcome: &str) -> Record {
        let who = caller.map_or(Who::Nobody(None), Caller::who);
        Record::new(Kind::Act, who, self.port, what, outcome).from(address)
    }

    /// Records that a caller was turned away.
    pub fn deny(&self, caller: Option<&Caller>, address: IpAddr, denied: Denied<'_>) {
        self.deny_as(|| caller.map_or(Who::Nobody(None), Caller::who), address, denied);
    }

    /// Records that a key was not admitted.
    pub(crate) fn deny_key(&self, id: KeyId, address: IpAddr, denial: Denial) {
        let outcome = match denial {
            Denial::Unknown => "UNKNOWN_KEY",
            Denial::Wrong => "WRONG_KEY",
            Denial::Over(Standing::Revoked) => "REVOKED_KEY",
            Denial::Over(Standing::Active | Standing::Expired) => "EXPIRED_KEY",
        };
        let denied = Denied { what: "login", outcome, detail: None };
        self.deny_as(|| Who::Nobody(Some(id.to_string())), address, denied);
    }

    fn deny_as(&self, who: impl FnOnce() -> Who, address: IpAddr, denied: Denied<'_>) {
        let Denied { what, outcome, detail } = denied;
        self.denials.note(self.port, outcome);
        self.audit.deny(Some(address), || {
            let record = Record::new(Kind::Denial, who(), self.port, what, outcome);
            match detail {
                Some(detail) => record.with_detail(detail),
                None => record,
            }
        });
    }

    /// Records that keys are others than before, also if another process changed them.
    pub(crate) fn note_changes(&self, changes: &[KeyChange]) {
        for KeyChange { id, name, what } in changes {
            let record = Record::new(Kind::Act, Who::Server, "server", what, "APPLIED");
            self.audit.note(record.about([id.to_string().as_str()]).with_detail(name));
        }
    }
}

fn about(record: Record, command: &Command) -> Record {
    let mut ids = Vec::new();
    command.route(&mut |id| ids.push(id.as_str().to_owned()));
    record.about(ids.iter().map(String::as_str))
}

impl Acts {
    /// Whether a command is one.
    #[inline]
    #[must_use]
    pub fn has(spec: &CommandSpec) -> bool {
        is_administrative(spec)
    }

    /// What is recorded of them, by what became of them.
    pub fn noted(&self, answer: &Result<Receipt, Failure>) -> Noted {
        match answer {
            Ok(receipt) => self.noted_receipt(receipt),
            Err(failure) => self.noted_code(failure.outcome().code.word()),
        }
    }

    /// The same, where there is a receipt.
    pub fn noted_receipt(&self, receipt: &Receipt) -> Noted {
        // Where something happened, the log of events has it.
        let is_logged = receipt.outcome.is_applied() && receipt.sequence_first > 0;
        self.each(|record| Record {
            outcome: receipt.outcome.code.word().to_owned(),
            partition: is_logged.then_some(receipt.partition),
            sequence: is_logged.then_some(receipt.sequence_first),
            ..record.clone()
        })
    }

    /// The same, where there is a code only.
    pub fn noted_code(&self, code: &str) -> Noted {
        self.each(|record| Record { outcome: code.to_owned(), ..record.clone() })
    }

    fn each(&self, record: impl Fn(&Record) -> Record) -> Noted {
        Noted { log: self.log.clone(), records: self.records.iter().map(record).collect() }
    }
}

/// Records of acts, of which it is known what became of them.
#[derive(Debug)]
#[must_use = "they are not recorded yet"]
pub struct Noted {
    log: AuditLog,
    records: Vec<Record>,
}

impl Noted {
    /// Records them, and does something once they are on the disk: with it the caller may be answered. It is done on
    /// another thread and must not block.
    pub fn then(self, then: impl FnOnce() + Send + 'static) {
        self.log.note_then(self.records, then);
    }

    /// Records them, without anything that waits for it.
    pub fn keep(self) {
        self.then(|| ());
    }

    /// Records them, and waits until they are on the disk.
    pub fn keep_and_wait(self) {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        self.then(move || {
            let _ = sender.send(());
        });
        // If the writer is gone, nothing is recorded any more.
        let _ = receiver.recv();
    }
}
