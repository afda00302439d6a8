//! Claiming due settlements.

use scarce_core::event::Position;
use scarce_sql::{Cell, Column, DatabaseError};

use super::Route;
use super::ids::IdScheme;
use crate::Delivery;
use crate::page::Taken;
use crate::queue::{Due, SETTLEMENTS};
use crate::store::now_ms;

/// A claimed settlement.
#[derive(Clone, Debug)]
pub(super) struct ClaimedSettlement {
    pub(super) id: i64,
    pub(super) campaign: String,
    pub(super) packet: u64,
    pub(super) user: String,
    pub(super) amount: u64,
    pub(super) asset: Option<String>,
    /// The template of the first attempt, which names the account until the packet is settled.
    pub(super) template: String,
    /// The scheme of the operation id.
    pub(super) scheme: IdScheme,
    /// Which id of the packet is current.
    pub(super) round: u64,
    pub(super) operation_id: String,
    /// When the attempt with an unknown outcome began; now, if there is none.
    pub(super) first_tried_at_ms: i64,
    /// Whether no earlier attempt has an unknown outcome.
    pub(super) is_first: bool,
    /// When the packet was claimed.
    pub(super) claimed_at_ms: i64,
    /// The number of attempts, this one included.
    pub(super) attempts: u64,
    /// Where its credit is in the log of which partition, if the engine said that it was made.
    pub(super) credit: Option<(u32, Position)>,
}

const COLUMNS: [Column; 15] = [
    Column::integer("settlement_id"),
    Column::text("campaign"),
    Column::integer("packet"),
    Column::text("user_id"),
    Column::integer("amount"),
    Column::text("asset"),
    Column::text("account_template"),
    Column::integer("operation_round"),
    Column::integer("operation_scheme"),
    Column::integer("first_tried_at_ms"),
    Column::integer("claimed_at_ms"),
    Column::integer("attempts"),
    Column::integer("credit_partition_id"),
    Column::integer("credit_epoch"),
    Column::integer("credit_sequence"),
];

/// Which settlements a worker carries out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted<'w> {
    /// By which route.
    pub(super) route: Route,
    /// The template of accounts, for those that have none yet.
    pub(super) template: Option<&'w str>,
    /// Only those that were tried by this route before.
    pub(super) only_begun: bool,
}

impl Wanted<'_> {
    fn condition(&self) -> (&'static str, [Cell; 1]) {
        let condition = if self.only_begun {
            "route = ? AND lost_at_ms IS NULL"
        } else {
            "(route IS NULL OR route = ?) AND lost_at_ms IS NULL"
        };
        (condition, [Cell::Word(self.route.word())])
    }
}

/// Whether there are settlements that are due.
pub(super) async fn has_due(delivery: &Delivery, wanted: Wanted<'_>) -> Result<bool, DatabaseError> {
    let (condition, values) = wanted.condition();
    let store = delivery.store();
    store.in_time(SETTLEMENTS.has_due(store, (condition, &values))).await
}

/// Claims settlements that are due, and notes that they are being tried, by which route and with which template.
pub(super) async fn claim(
    delivery: &Delivery,
    owner: &str,
    wanted: Wanted<'_>,
    limit: usize,
) -> Result<Vec<ClaimedSettlement>, DatabaseError> {
    let (now, template) = (now_ms(), wanted.template);
    let mut more = ", route = ?, first_tried_at_ms = COALESCE(first_tried_at_ms, ?)".to_owned();
    let mut values = vec![Cell::Word(wanted.route.word()), now.into()];
    if let Some(template) = template {
        more += ", account_template = COALESCE(account_template, ?)";
        values.push(template.into());
    }
    let (condition, condition_values) = wanted.condition();
    let due =
        Due { condition: (condition, &condition_values), limit, columns: &COLUMNS, more: (&more, &values) };
    let owner = (owner, delivery.options().lease);
    let rows = SETTLEMENTS.claim_due(delivery.store(), owner, due).await?;
    Ok(rows.into_iter().map(|row| claimed(Taken::new(row), now, template)).collect())
}

fn claimed(mut row: Taken, now: i64, template: Option<&str>) -> ClaimedSettlement {
    let (id, campaign, packet, user) = (row.integer(), row.text(), row.natural(), row.text());
    let (amount, asset) = (row.natural(), row.optional_text());
    let template = row.optional_text().or(template.map(str::to_owned)).unwrap_or_default();
    let (round, scheme) = (row.natural(), IdScheme::of(row.optional()));
    let operation_id = scheme.operation_id(&campaign, packet, round);
    let first_tried_at_ms = row.optional();
    ClaimedSettlement {
        id,
        campaign,
        packet,
        user,
        amount,
        asset,
        template,
        scheme,
        round,
        operation_id,
        first_tried_at_ms: first_tried_at_ms.unwrap_or(now),
        is_first: first_tried_at_ms.is_none(),
        claimed_at_ms: row.integer(),
        attempts: row.natural() + 1,
        credit: credit(&mut row),
    }
}

fn credit(row: &mut Taken) -> Option<(u32, Position)> {
    let partition = u32::try_from(row.optional()?).ok()?;
    Some((partition, Position { epoch: row.natural(), sequence: row.natural() }))
}

impl ClaimedSettlement {
    /// From when on it may have been credited: its first try, or its claim if another database may have tried it.
    pub(super) fn may_be_since(&self) -> i64 {
        if self.is_first { self.claimed_at_ms } else { self.first_tried_at_ms }
    }

    /// Has the packet settled under an id of the current scheme.
    pub(super) fn adopt_current_scheme(&mut self) {
        self.scheme = IdScheme::Current;
        self.operation_id = self.scheme.operation_id(&self.campaign, self.packet, self.round);
    }
}
