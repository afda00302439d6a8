//! Whether a mirror shows what the log gives.

use std::collections::{BTreeMap, BTreeSet};

use redis::cmd;
use scarce_core::event::Position;
use scarce_engine::Failure;

use crate::error::MirrorError;
use crate::mirror::{META, Mark, Mirror};
use crate::rows::{Item, RowName};
use crate::session::Session;
use crate::tracker::{Changes, Tracker};
use crate::whole;

/// How many rows are read once more at the same moment as the position.
const ROWS_AT_ONCE: usize = 500;

/// Brings a tracker to a sequence by the log.
pub type Advance<'a> = &'a mut dyn FnMut(&mut Tracker, u64) -> Result<(), MirrorError>;

/// A row or a member that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The name of the key, without what is before it.
    pub key: &'static str,
    /// The field of the hash, or the member of the ordered set.
    pub place: String,
    /// What must be there; nothing where nothing must.
    pub expected: Option<String>,
    /// What is there.
    pub found: Option<String>,
}

impl Difference {
    /// The resource that it is of.
    #[must_use]
    pub fn resource(&self) -> &str {
        let mut words = self.place.split(' ');
        let at = match self.key {
            "names" | "due_by" | "counts_by" => 1,
            "due" | "ended" => 2,
            _ => 0,
        };
        words.nth(at).unwrap_or(&self.place)
    }
}

/// What a comparison came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compared {
    /// The position up to which the mirror was compared.
    pub position: Position,
    /// How many rows and members.
    pub rows: u64,
    /// What differs.
    pub differences: Vec<Difference>,
}

/// A comparison of one partition.
pub struct Verification<'m> {
    mirror: &'m Mirror,
    partition: u32,
    compared: Compared,
    changes: Changes,
    /// The records that changed since the comparison began, whose rows may be there or not.
    changed: BTreeSet<RowName>,
    /// Where the mirror was when rows were read once more: a difference holds for one position.
    positions: BTreeSet<Position>,
}

impl<'m> Verification<'m> {
    /// Compares every row. `tracker` has a state from which `advance` leads to where the mirror is; `go_on` learns how many rows
    /// were compared, and answers whether to go on.
    ///
    /// Rows are read while they may change: those that differ are read once more together with the position, and compared with the
    /// state there.
    ///
    /// # Errors
    /// When Redis does not answer, has no mirror of this deployment, or the log does not lead to where it is.
    pub async fn run(
        mirror: &'m Mirror,
        tracker: &mut Tracker,
        advance: Advance<'_>,
        go_on: &mut dyn FnMut(u64) -> bool,
    ) -> Result<Self, MirrorError> {
        let partition = tracker.partition();
        let keys = mirror.keys(partition);
        let begun = mirror.marks().await?.into_iter().nth(partition as usize).unwrap_or_default();
        lead(tracker, begun.position, advance)?;
        tracker.settle();
        let found = whole::compare(&mirror.link(&keys), &keys, tracker, go_on).await?;
        let compared = Compared { position: begun.position, rows: found.compared, differences: Vec::new() };
        let (changed, positions) = (BTreeSet::new(), BTreeSet::new());
        let mut its = Self { mirror, partition, compared, changes: Changes::default(), changed, positions };
        for names in found.names.chunks(ROWS_AT_ONCE) {
            let wanted: Vec<Item> = names.iter().flat_map(|name| tracker.items(name)).collect();
            its.look_again(tracker, &wanted, (names, advance)).await?;
        }
        for extra in found.extra.chunks(ROWS_AT_ONCE) {
            its.look_again(tracker, extra, (&[], advance)).await?;
        }
        Ok(its)
    }

    /// What it came to.
    #[must_use]
    pub fn compared(&self) -> &Compared {
        &self.compared
    }

    /// Reads rows at one moment with the position, and compares them with the state there.
    async fn look_again(
        &mut self,
        tracker: &mut Tracker,
        wanted: &[Item],
        (names, advance): (&[RowName], Advance<'_>),
    ) -> Result<(), MirrorError> {
        let (mark, found) = self.read(wanted).await?;
        lead(tracker, mark.position, advance)?;
        self.changed.extend(tracker.changed_names());
        self.positions.insert(mark.position);
        // Of what was wanted: as it must be now; and of what is there: what came since.
        let names = names.iter().chain(&self.changed);
        let must: BTreeMap<_, _> =
            names.flat_map(|name| tracker.items(name)).map(|item| (at(&item), item)).collect();
        for (place, found) in found {
            let expected = must.get(&place);
            if expected == found.as_ref() {
                continue;
            }
            let text = |item: &Item| match item {
                Item::Row(_, _, text) => text.clone(),
                Item::Member(..) => "a member".to_owned(),
            };
            let (key, name) = place;
            self.compared.differences.push(Difference {
                key,
                place: name,
                expected: expected.map(text),
                found: found.as_ref().map(text),
            });
            match (expected, found) {
                (Some(expected), _) => self.changes.present.push(expected.clone()),
                (None, Some(found)) => self.changes.absent.push(found),
                (None, None) => {}
            }
        }
        self.compared.position = mark.position;
        Ok(())
    }

    #[allow(clippy::type_complexity, reason = "it is taken apart where it is used")]
    async fn read(
        &self,
        wanted: &[Item],
    ) -> Result<(Mark, Vec<((&'static str, String), Option<Item>)>), MirrorError> {
        let keys = self.mirror.keys(self.partition);
        let node = self.mirror.nodes.of_slot(keys.slot(), scarce_engine_redis::nodes::Traffic::Reads).await?;
        let mut pipe = redis::pipe();
        pipe.atomic().add_command(cmd("HMGET").arg(keys.of("meta")).arg(&META).take());
        for item in wanted {
            let word = if matches!(item, Item::Row(..)) { "HGET" } else { "ZSCORE" };
            pipe.add_command(cmd(word).arg(keys.of(item.key())).arg(item.place()).take());
        }
        let answers: Vec<redis::Value> = pipe
            .query_async(&mut node.connection())
            .await
            .map_err(|error| scarce_engine_redis::failure::failure_of(&error, &node.endpoint, &node.user))?;
        let mut answers = answers.into_iter();
        let damaged = || MirrorError::Damaged { key: keys.of("meta") };
        let fields: Vec<Option<String>> =
            redis::from_redis_value(answers.next().ok_or_else(damaged)?).map_err(|_| damaged())?;
        let mut found = Vec::with_capacity(wanted.len());
        for (item, answer) in wanted.iter().zip(answers) {
            let text: Option<String> = redis::from_redis_value(answer).map_err(|_| damaged())?;
            let item_found = text.map(|text| match item {
                Item::Row(key, place, _) => Item::Row(key, place.clone(), text),
                Item::Member(key, member) => Item::Member(key, member.clone()),
            });
            found.push((at(item), item_found));
        }
        Ok((Mark::read(&fields), found))
    }

    /// Puts right what differs, unless the mirror was written meanwhile.
    ///
    /// # Errors
    /// When Redis does not answer, or the mirror was written meanwhile.
    pub async fn repair(&self) -> Result<usize, MirrorError> {
        if self.changes.is_empty() {
            return Ok(0);
        }
        let mut session = Session::open(self.mirror, self.partition).await?;
        if self.positions.len() > 1 || !self.positions.contains(&session.mark.position) {
            return Err(MirrorError::Unsettled);
        }
        let mark = session.mark.clone();
        session.write(self.mirror, &self.changes, &mark).await?;
        Ok(self.changes.len())
    }
}

fn at(item: &Item) -> (&'static str, String) {
    (item.key(), item.place().to_owned())
}

/// Brings a tracker to where a mirror is.
fn lead(tracker: &mut Tracker, to: Position, advance: Advance<'_>) -> Result<(), MirrorError> {
    let partition = tracker.partition();
    if tracker.position().sequence < to.sequence {
        advance(tracker, to.sequence)?;
    }
    if tracker.position().sequence != to.sequence {
        return Err(MirrorError::Log { partition, sequence: to.sequence });
    }
    Ok(())
}

impl Mirror {
    /// The digest of what the keys of a partition hold, and the position; nothing while they change.
    ///
    /// # Errors
    /// When Redis does not answer, or the keys hold what nobody writes.
    pub async fn digest(
        &self,
        partition: u32,
        settings: &scarce_core::state::StateSettings,
    ) -> Result<Option<(Position, u128)>, MirrorError> {
        let keys = self.keys(partition);
        let read = scarce_engine_redis::read_still(&self.link(&keys), &keys, settings).await;
        let found = read.map_err(|failure: Failure| MirrorError::from(failure))?;
        Ok(found.map(|(state, position)| (position, state.digest(None))))
    }
}
