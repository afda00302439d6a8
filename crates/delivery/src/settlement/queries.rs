//! Reading settlements, and retrying them by hand.

use scarce_core::types::signed;
use scarce_sql::{Cell, Column, Lent};
use sqlx::Error;

use super::row::PacketRow;
use super::{Route, replaced};
use crate::page::{Conditions, Page, Taken};
use crate::store::now_ms;
use crate::{Delivery, DeliveryError};

/// The state of a claimed packet's settlement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettlementState {
    /// It waits to be settled.
    Pending,
    /// It is settled.
    Settled,
    /// It is not retried unless an operator replays or resolves it.
    Dead,
}

impl SettlementState {
    /// The word in the table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Settled => "settled",
            Self::Dead => "dead",
        }
    }

    pub(super) fn from_word(word: &str) -> Self {
        match word {
            "pending" => Self::Pending,
            "settled" => Self::Settled,
            _ => Self::Dead,
        }
    }
}

/// The settlement of a claimed packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    /// Its number.
    pub id: i64,
    /// The campaign.
    pub campaign: String,
    /// The packet.
    pub packet: u64,
    /// Who claimed it.
    pub user: String,
    /// Its amount.
    pub amount: u64,
    /// Its asset, if that is known.
    pub asset: Option<String>,
    /// When it was claimed, in Unix milliseconds.
    pub claimed_at_ms: u64,
    /// The route by which it is settled; `None` before the first attempt.
    pub route: Option<Route>,
    /// The account, if it was tried in the engine.
    pub account: Option<String>,
    /// The id under which it is settled.
    pub operation_id: String,
    /// Its state.
    pub state: SettlementState,
    /// The number of attempts.
    pub attempts: u64,
    /// While it is pending: the time of the next attempt, in Unix milliseconds.
    pub next_at_ms: u64,
    /// Since when its outcome is unknown, in Unix milliseconds; `None` if no attempt is unresolved.
    pub first_tried_at_ms: Option<u64>,
    /// The status of the last response, if it is settled outside.
    pub last_status: Option<u16>,
    /// The error of the last attempt.
    pub last_error: Option<String>,
    /// When it was settled, in Unix milliseconds.
    pub done_at_ms: Option<u64>,
    /// Since when its claim is looked for in the log, after events were lost, in Unix milliseconds; `None` if the log has
    /// it.
    pub lost_at_ms: Option<u64>,
    /// When a person noted it as settled, in Unix milliseconds.
    pub resolved_at_ms: Option<u64>,
}

/// A filter for settlements.
#[derive(Clone, Copy, Debug, Default)]
pub struct SettlementFilter<'a> {
    /// Those of this campaign.
    pub campaign: Option<&'a str>,
    /// Those of this user.
    pub user: Option<&'a str>,
    /// Those in this state.
    pub state: Option<SettlementState>,
    /// Only those whose claim the log does not have: events were lost, and the packet was not claimed again since.
    pub is_lost: bool,
}

/// The columns of a settlement, in the order in which it is read.
pub(crate) const SETTLEMENT_COLUMNS: [Column; 20] = [
    Column::integer("settlement_id"),
    Column::text("campaign"),
    Column::integer("packet"),
    Column::text("user_id"),
    Column::integer("amount"),
    Column::text("asset"),
    Column::integer("claimed_at_ms"),
    Column::text("route"),
    Column::text("account_template"),
    Column::integer("operation_round"),
    Column::integer("operation_scheme"),
    Column::text("state"),
    Column::integer("attempts"),
    Column::integer("next_at_ms"),
    Column::integer("first_tried_at_ms"),
    Column::integer("last_status"),
    Column::text("last_error"),
    Column::integer("done_at_ms"),
    Column::integer("lost_at_ms"),
    Column::integer("resolved_at_ms"),
];

impl Settlement {
    pub(crate) fn read(mut row: Taken) -> Self {
        let packet = PacketRow::read(&mut row);
        Self {
            account: packet.account(),
            operation_id: packet.operation_id(),
            id: packet.id,
            campaign: packet.campaign,
            packet: packet.packet,
            user: packet.user,
            amount: packet.amount,
            asset: packet.asset,
            claimed_at_ms: packet.claimed_at_ms,
            route: packet.route,
            state: SettlementState::from_word(&row.text()),
            attempts: row.natural(),
            next_at_ms: row.natural(),
            first_tried_at_ms: row.time(),
            last_status: row.optional().and_then(|status| u16::try_from(status).ok()),
            last_error: row.optional_text(),
            done_at_ms: row.time(),
            lost_at_ms: row.time(),
            resolved_at_ms: row.time(),
        }
    }
}

/// Retries dead letters. What is known of earlier attempts stays, so that one with an unknown outcome is
/// looked up again first. What a person has noted as settled may have been paid in a way that cannot be looked up, and
/// for a claim that the log does not have nothing is owed.
const REPLAY: &str = "UPDATE delivery_settlements SET state = 'pending', attempts = 0, next_at_ms = ?, lease_owner = NULL \
                      WHERE state = 'dead' AND resolved_at_ms IS NULL AND lost_at_ms IS NULL AND campaign = ?";

impl Delivery {
    /// A page of settlements, in the order in which they were written; dead letters are those in the state
    /// [`SettlementState::Dead`]. `after` is the previous page's [`Page::next`].
    ///
    /// # Errors
    /// When the cursor is not from a page, or the database does not answer.
    pub async fn settlements(
        &self,
        filter: SettlementFilter<'_>,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page<Settlement>, DeliveryError> {
        let mut conditions = Conditions::default();
        conditions.and_if("campaign = ?", filter.campaign);
        conditions.and_if("user_id = ?", filter.user);
        conditions.and_literally(filter.is_lost.then(|| "lost_at_ms IS NOT NULL".to_owned()));
        conditions.and_literally(filter.state.map(|state| format!("state = '{}'", state.word())));
        let source = ("delivery_settlements", "settlement_id", &SETTLEMENT_COLUMNS[..]);
        self.page(source, conditions, (after, limit), Settlement::read).await
    }

    /// The settlement of a packet, if it was claimed.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn settlement(&self, campaign: &str, packet: u64) -> Result<Option<Settlement>, DeliveryError> {
        let mut conditions = Conditions::default();
        conditions.and("campaign = ?", campaign);
        conditions.and("packet = ?", signed(packet));
        let source = ("delivery_settlements", "settlement_id", &SETTLEMENT_COLUMNS[..]);
        let page = self.page(source, conditions, (None, 1), Settlement::read).await?;
        Ok(page.items.into_iter().next())
    }

    /// Retries a dead letter. Returns whether there was one. One with an unknown outcome is not sent blindly:
    /// it is looked up again, and becomes a dead letter again if its outcome cannot be known.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn replay_settlement(&self, campaign: &str, packet: u64) -> Result<bool, DeliveryError> {
        let values = [now_ms().into(), campaign.into(), signed(packet).into()];
        let count = self.store().execute(&format!("{REPLAY} AND packet = ?"), &values).await?;
        self.settlements_written().notify_one();
        Ok(count > 0)
    }

    /// Retries all dead letters of a campaign, as [`Delivery::replay_settlement`] does; returns how many.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn replay_campaign(&self, campaign: &str) -> Result<u64, DeliveryError> {
        let count = self.store().execute(REPLAY, &[now_ms().into(), campaign.into()]).await?;
        self.settlements_written().notify_one();
        Ok(count)
    }

    /// Records whether a dead letter was settled, as a person has found out. If it was not, it is retried
    /// under a new id; one whose claim the log does not have is removed instead. Returns whether there was such a dead
    /// letter.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn resolve_settlement(
        &self,
        campaign: &str,
        packet: u64,
        was_settled: bool,
    ) -> Result<bool, DeliveryError> {
        let mut lent = self.store().lend_to_write().await?;
        let resolved = resolve(&mut lent, (campaign, packet), was_settled).await;
        let is_resolved = resolved.map_err(|error| self.store().failed(&error))?;
        lent.done();
        self.settlements_written().notify_one();
        Ok(is_resolved)
    }
}

async fn resolve(lent: &mut Lent, packet: (&str, u64), was_settled: bool) -> Result<bool, Error> {
    const SETTLED: &str = "UPDATE delivery_settlements SET state = 'settled', done_at_ms = ?, resolved_at_ms = ?, \
                           last_error = NULL, lease_owner = NULL";
    const ANEW: &str = "UPDATE delivery_settlements SET state = 'pending', next_at_ms = ?, attempts = 0, \
                        first_tried_at_ms = NULL, resolved_at_ms = NULL, operation_round = operation_round + 1, \
                        lease_owner = NULL, credit_partition_id = NULL, credit_epoch = NULL, credit_sequence = NULL";
    const REMOVED: &str = "DELETE FROM delivery_settlements";
    let now = Cell::from(now_ms());
    let steps = if was_settled {
        vec![(SETTLED, "", vec![now.clone(), now])]
    } else {
        vec![(REMOVED, " AND lost_at_ms IS NOT NULL", vec![]), (ANEW, "", vec![now])]
    };
    lent.begin().await?;
    let mut count = 0;
    for (change, more, mut values) in steps {
        values.extend([packet.0.into(), signed(packet.1).into()]);
        let sql = format!("{change} WHERE state = 'dead' AND campaign = ? AND packet = ?{more}");
        count += lent.execute(&sql, &values).await?;
    }
    if count > 0 {
        replaced::decide(lent, packet, was_settled).await?;
    }
    lent.commit().await?;
    Ok(count > 0)
}
