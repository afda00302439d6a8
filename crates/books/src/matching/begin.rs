//! What is known from before when a file is begun.

use std::collections::BTreeMap;

use super::{Before, Matcher};
use crate::BookError;
use crate::day::Day;
use crate::index::{Index, Key};
use crate::items::Item;
use crate::keys;
use crate::report::{Finding, Matter};
use crate::state::{Counted, Part};

impl Matcher<'_> {
    /// What was open and settled before is not asked for again.
    pub(super) fn go_on(&mut self, base: Part) -> Result<(), BookError> {
        let tolerance = self.map.tolerance_days();
        self.here_from = base.known_from.max(base.since.plus(-tolerance));
        let mut lines = Counted::default();
        for its in base.settled {
            self.passed.insert(its.movement, if its.by_amount { Before::Other } else { Before::Named });
            self.named.insert(its.operation);
            self.twins.add_line(its.line);
            lines.add(its.line);
            self.settle(its);
        }
        for its in base.open {
            if let Some(line) = its.line_key() {
                lines.add(line);
            }
            let is_pair = its.matter == Matter::Different;
            let before = if is_pair { Before::Named } else { Before::Other };
            self.passed.extend(its.movement_key().map(|key| (key, before)));
            if is_pair {
                self.note(its, true);
                continue;
            }
            if its.matter == Matter::Doubled {
                self.doubled_before.insert(keys::of_id(&its.id));
            }
            self.carry(&its)?;
        }
        self.pass_over(&mut lines, base.through, base.known_from);
        Ok(())
    }

    /// Puts what was open among what is to be matched.
    fn carry(&mut self, its: &Finding) -> Result<(), BookError> {
        let (side, amount) = match (its.there, its.here) {
            (Some(there), _) => (&mut self.statement.items, there),
            (None, here) => (&mut self.here, here.unwrap_or_default()),
        };
        let Finding { day, since, operation, reference, place, .. } = its;
        side.add(&Item { line: 0, day: *day, amount, operation, reference, place, since: Some(*since) })
    }

    /// Lines that an earlier file had are not compared again.
    fn pass_over(&mut self, lines: &mut Counted, through: Day, known_from: Day) {
        let items = &mut self.statement.items;
        for at in 0..items.len() {
            let its = items.get(at);
            let is_old = its.since.is_none() && its.day <= through;
            if is_old && (its.day < known_from || lines.take(keys::of_line(&its))) {
                items.close(at);
                self.settled_before += 1;
            }
        }
    }

    /// Lines and movements that were closed by hand are not compared again.
    pub(super) fn pass_closed(&mut self) {
        let mut lines = Counted::default();
        for its in &self.state.closed {
            self.passed.extend(its.movement().map(|key| (key, Before::Named)));
            its.line().into_iter().for_each(|line| lines.add(line));
        }
        let items = &mut self.statement.items;
        for at in items.open().collect::<Vec<_>>() {
            let its = items.get(at);
            if its.since.is_none() && lines.take(keys::of_line(&its)) {
                items.close(at);
                self.settled_before += 1;
            }
        }
    }

    /// An item that is counted in several lines is one, if the map says so.
    pub(super) fn begin_count(&mut self, base: Option<Part>) -> Result<(), BookError> {
        let open = base.into_iter().flat_map(|base| base.open);
        self.since = open.map(|its| (its.operation, its.since)).collect();
        if !self.map.matching.adds_lines {
            return Ok(());
        }
        let items = &mut self.statement.items;
        let mut first: BTreeMap<u64, usize> = BTreeMap::new();
        for at in 0..items.len() {
            let Item { operation, amount, line, .. } = items.get(at);
            let to = *first.entry(keys::of_id(operation)).or_insert(at);
            if to != at {
                let too_large = || BookError::format(line, "the sum of this item's lines is too large");
                items.add_to(to, amount).ok_or_else(too_large)?;
                items.close(at);
            }
        }
        Ok(())
    }

    pub(super) fn index(&mut self) {
        let items = &self.statement.items;
        let key = |at: usize| {
            let its = items.get(at);
            let at = u32::try_from(at).ok().filter(|_| !its.operation.is_empty())?;
            Some(Key { hash: keys::of_id(its.operation), amount: its.amount, day: its.day, at })
        };
        self.by_operation = Index::new(items.open().filter_map(key).collect());
    }
}
