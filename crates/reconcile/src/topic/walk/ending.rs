//! What is known at the end of a way: what is missing, what is of another history, and how far the copy is behind.

use scarce_outflow::Meaning;

use super::Walk;
use crate::ReconcileError;
use crate::findings::Findings;
use crate::source::LogSource;
use crate::topic::gaps::Gap;
use crate::topic::messages::missing;

/// How many missing events are looked up at a time.
const LOOKED_UP_MAX: u64 = 10_000;

impl Walk<'_> {
    /// Ends: what is left of gaps and of other histories is wrong.
    pub(in crate::topic) fn end(
        mut self,
        log: &mut dyn LogSource,
        stands_still: bool,
    ) -> Result<(), ReconcileError> {
        std::mem::take(&mut self.others).end(self.findings);
        let (gaps, uncounted) = std::mem::take(&mut self.gaps).end();
        self.findings.add_unlisted(uncounted);
        for gap in gaps {
            self.name_missing(log, gap)?;
        }
        self.tell(stands_still);
        Ok(())
    }

    /// Lists the first events of a gap, with their values where the log still has them.
    fn name_missing(&mut self, log: &mut dyn LogSource, gap: Gap) -> Result<(), ReconcileError> {
        let room = self.findings.room().min(LOOKED_UP_MAX);
        let last = gap.last.min((gap.first - 1).saturating_add(room));
        self.findings.add_unlisted(gap.last - last);
        let mut next = gap.first;
        let told = |next: &mut u64, through: u64, findings: &mut Findings| {
            for sequence in *next..=through {
                findings.add(missing(self.partition, gap, sequence, None));
            }
            *next = (*next).max(through + 1);
        };
        told(&mut next, last.min(self.log_first.saturating_sub(1)), self.findings);
        if next <= last {
            let (copy, findings, partition) = (&mut *self.copy, &mut *self.findings, self.partition);
            log.read(partition, next, &mut |entries| {
                let all = entries.iter().flat_map(|entry| copy.expected(partition, entry));
                for message in all {
                    let Meaning::Event(at) = message.meaning else { continue };
                    if (next..=last).contains(&at.sequence) {
                        findings.add(missing(partition, gap, at.sequence, Some(&message)));
                        next = at.sequence + 1;
                    }
                }
                Ok(next <= last)
            })?;
        }
        Ok(())
    }

    fn tell(&mut self, stands_still: bool) {
        let (partition, lag) = (self.partition, self.lag());
        let text = format!("the topic is {lag} events behind the log of partition {partition}");
        match lag {
            0 => {}
            _ if stands_still => {
                self.findings.skip(format!("{text}, and nothing writes it; it was compared as far as it is"));
            }
            _ => self.findings.note(format!("{text}; it was compared as far as it is")),
        }
        if self.reached.is_none() && self.bounds.0 > 0 {
            self.findings.note(format!("partition {partition} of the topic holds no event any more"));
        } else if self.bounds.0 > 0 {
            self.findings.note(format!(
                "partition {partition} of the topic begins at offset {}: what was before was removed from it",
                self.bounds.0
            ));
        }
        for (count, what) in [
            (self.doubles, "messages are repeated events, and equal or listed"),
            (self.removed, "events were removed from within the topic, where offsets have no message"),
            (
                self.uncompared,
                "messages are from before the beginning of the log, and were compared with nothing",
            ),
        ] {
            if count > 0 {
                self.findings.note(format!("partition {partition}: {count} {what}"));
            }
        }
    }
}
