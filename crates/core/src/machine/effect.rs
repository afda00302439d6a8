//! Whether a command would have an effect, for engines that are short of memory.

use super::{Context, Machine, decide};
use crate::command::{Body, Envelope};
use crate::store::Reversible;
use crate::types::TimeMs;

impl Machine {
    /// Whether an envelope would be applied at `clock` and change a resource. Nothing is changed by asking. A command
    /// that is refused, or finds nothing to do, leaves only its operation id behind: an engine that is short of
    /// memory must not remember such ids without end.
    pub fn has_effect(&mut self, envelope: &Envelope, clock: TimeMs) -> bool {
        let before = self.now;
        self.stamp(clock);
        self.state.begin();
        self.end_due_unlogged(envelope.commands());
        let is_applied = match &envelope.body {
            Body::Single(command) => {
                let (operation, prepared) = (envelope.common.operation.as_ref(), envelope.prepared.first());
                let context = Context { now: self.now, operation, prepared };
                decide::decide(&self.state, command, &context, &mut self.events).is_ok()
            }
            Body::Atomic(commands) => self.lines(commands, None, &envelope.prepared).is_ok(),
        };
        self.state.rollback();
        let has_events = !self.events.is_empty();
        self.events.clear();
        self.now = before;
        is_applied && has_events
    }
}

#[cfg(test)]
mod tests {
    use crate::machine::bench::{Bench, snapshot};

    fn bench() -> Bench {
        let mut bench = Bench::new();
        for line in [
            "ACCOUNT.OPEN a EUR",
            "ACCOUNT.CREDIT a 100",
            "ACCOUNT.HOLD a h 5",
            "ACCOUNT.HOLD a late 5 TTL 10",
            "STOCK.CREATE s 10",
            "STOCK.RESERVE s r 1 u 1000",
            "MARKET.CREATE m",
            "ORDER.PLACE m o x SELL LIMIT 5 5",
        ] {
            assert!(bench.run(&[line]).starts_with("APPLIED"), "{line}");
        }
        bench
    }

    #[test]
    fn what_finds_nothing_to_end_has_no_effect_and_asking_changes_nothing() {
        let mut bench = bench();
        let before = snapshot(&bench.machine);
        bench.clock += 10;
        for (lines, expected) in [
            (&["ACCOUNT.VOID a h ID 1"][..], true),
            (&["ACCOUNT.CAPTURE a h ID 1"], true),
            (&["STOCK.RELEASE s r ID 1"], true),
            (&["STOCK.CONFIRM s r ID 1"], true),
            (&["ORDER.CANCEL m o x ID 1"], true),
            (&["ORDER.CANCELALL m x ID 1"], true),
            (&["STOCK.RELEASE s r", "ACCOUNT.VOID a h ID 1"], true),
            (&["ACCOUNT.VOID a late ID 1"], false),
            (&["ACCOUNT.VOID a none ID 1"], false),
            (&["ACCOUNT.CAPTURE a h AMOUNT 6 ID 1"], false),
            (&["STOCK.RELEASE s none ID 1"], false),
            (&["STOCK.CONFIRM s none ID 1"], false),
            (&["ORDER.CANCEL m o other ID 1"], false),
            (&["ORDER.CANCELALL m nobody ID 1"], false),
            (&["ACCOUNT.VOID a h", "ACCOUNT.VOID a h ID 1"], false),
        ] {
            let envelope = Bench::envelope(lines).expect("an envelope");
            assert_eq!(bench.machine.has_effect(&envelope, bench.clock), expected, "{lines:?}");
            assert!(snapshot(&bench.machine) == before, "{lines:?}");
        }
        bench.check("ACCOUNT.VOID a h ID 1", "APPLIED 5 100");
    }
}
