//! The packets of a campaign that its first entry does not have. They follow in entries of their own, which belong to no
//! operation: other entries may come between them, because nobody gets a packet before the last one is there.

use super::step::Step;
use super::{Machine, packets};
use crate::types::Id;

impl Machine {
    /// Prepares what packets are missing, of all campaigns.
    pub(super) fn prepare_missing(&mut self, log: &mut Vec<u8>) {
        for campaign in self.state.campaigns.unprepared() {
            self.prepare_packets(&campaign, log);
        }
    }

    /// Prepares the packets of a campaign that are missing.
    pub(super) fn prepare_packets(&mut self, campaign: &Id, log: &mut Vec<u8>) {
        loop {
            self.events.clear();
            let step = packets::go_on(&self.state, campaign, &mut self.events);
            if self.events.is_empty() {
                return;
            }
            self.evolve_from(0, None);
            self.log_events(None, false, None, log);
            if matches!(step, Step::Done(_)) {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::event::Entry;
    use crate::machine::bench::Bench;
    use crate::machine::{Machine, MachineAnswer};
    use crate::state::StateSettings;

    /// A campaign in four entries, then what came after it.
    fn bench(plan: &str) -> Bench {
        let settings =
            StateSettings { packets_per_step_max: 3, receipt_retention_ms: 16, ..StateSettings::default() };
        let mut bench = Bench::with(settings);
        bench.run(&[&format!("PACKET.CREATE c EUR {plan} ID made")]);
        bench.run(&["ACCOUNT.OPEN a EUR ID opened"]);
        bench.run(&["PACKET.CLOSE c"]);
        assert_eq!(bench.entries().len(), 6);
        bench
    }

    /// The entries in another order, numbered anew.
    fn reordered(entries: &[Entry], order: &[usize]) -> Vec<Entry> {
        let mut next = 1;
        let place = |at: &usize| {
            let mut entry = entries[*at].clone();
            entry.head.sequence_first = next;
            next = entry.sequence_last() + 1;
            entry
        };
        order.iter().map(place).collect()
    }

    fn due(machine: &Machine) -> Vec<String> {
        machine.state().deadlines.due(u64::MAX).map(|due| format!("{due:?}")).collect()
    }

    fn status(machine: &Machine) -> String {
        let envelope = Bench::envelope(&["PACKET.GET c"]).expect("a command");
        match machine.query("", &envelope.commands()[0], 1) {
            MachineAnswer::Receipt(receipt) => receipt.outcome.to_string(),
            MachineAnswer::Replay(_) => panic!("a read is no duplicate"),
        }
    }

    #[test]
    fn other_entries_may_come_between_the_packets_of_a_campaign() {
        for plan in ["PLAN 1000 11 DOUBLE_MEAN", "AMOUNTS 12 1 2 3 4 5 6 7 8 9 10 11 12"] {
            let bench = bench(plan);
            let entries = bench.entries();
            let between = reordered(&entries, &[0, 4, 1, 5, 2, 3]);
            let folded = bench.fold(&between);
            assert_eq!(folded.state().digest(None), bench.digest(), "{plan}");
            assert_eq!(due(&folded), due(&bench.machine), "{plan}");
            // Whatever is there of it, the rest is prepared as it would have been.
            for kept in 1..=between.len() {
                let mut machine = bench.fold(&between[..kept]);
                assert_eq!(
                    status(&machine).contains(" not_started "),
                    kept < 4,
                    "{plan}: {}",
                    status(&machine)
                );
                let mut log = Vec::new();
                machine.finish(&mut log);
                let rest = Entry::read_all(&log).expect("entries");
                let missing = between[kept..]
                    .iter()
                    .filter(|its| its.head.operation.is_none() && its.events != entries[5].events);
                let wanted: Vec<_> = missing.map(|entry| entry.events.clone()).collect();
                assert_eq!(
                    rest.into_iter().map(|entry| entry.events).collect::<Vec<_>>(),
                    wanted,
                    "{plan} after {kept}"
                );
            }
        }
    }

    #[test]
    fn packets_do_not_leave_before_all_are_there() {
        let bench = bench("PLAN 1000 11 DOUBLE_MEAN");
        let closed = reordered(&bench.entries(), &[0, 5]);
        let machine = bench.fold(&closed);
        assert_eq!((due(&machine).len(), due(&bench.machine).len()), (0, 1));
    }
}
