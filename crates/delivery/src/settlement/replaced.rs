//! Settlements of a lost history whose packets the log gives to somebody else. The new claim is credited only if nothing
//! was paid in its place; otherwise a person decides.

use scarce_core::types::signed;
use scarce_sql::{Cell, Column, Lent};
use sqlx::Error;

use super::ids::IdScheme;
use super::{AccountTemplate, Route, SettlementState};
use crate::page::{Conditions, Page, Taken};
use crate::store::now_ms;
use crate::{Delivery, DeliveryError};

/// Why a settlement that a person had decided about is a dead letter after a rollback.
pub(crate) const RESOLVED_BEFORE: &str = "somebody had noted this as settled before events of the engine were lost: look \
                                          whether what was paid is still there, and resolve this again";

/// Why a call to an outside system whose outcome is not known is a dead letter after a rollback.
pub(crate) const CLAIMED_AGAIN: &str = "events of the engine were lost while this was tried, and the log has the claim: a \
                                        replay calls again under the same id, which pays once if the receiver keeps ids";

/// A settlement that another claim has replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Its number.
    pub id: i64,
    /// The campaign.
    pub campaign: String,
    /// The packet.
    pub packet: u64,
    /// Who had claimed it in the lost history.
    pub user: String,
    /// The amount that was claimed.
    pub amount: u64,
    /// Its asset, if that is known.
    pub asset: Option<String>,
    /// When it was claimed, in Unix milliseconds.
    pub claimed_at_ms: u64,
    /// The route by which it was settled; `None` if it was not tried.
    pub route: Option<Route>,
    /// The account, if it was tried in the engine.
    pub account: Option<String>,
    /// The id under which it was settled.
    pub operation_id: String,
    /// Its state then.
    pub state: SettlementState,
    /// When it was settled, in Unix milliseconds.
    pub done_at_ms: Option<u64>,
    /// When the other claim replaced it, in Unix milliseconds.
    pub replaced_at_ms: u64,
    /// What was decided: `not_paid` if it was found that nothing was paid, so that the other claim is credited; `settled`
    /// or `not_settled` as a person resolved the other claim; `None` while that is open.
    pub decision: Option<String>,
    /// When that was decided, in Unix milliseconds.
    pub decided_at_ms: Option<u64>,
    template: Option<AccountTemplate>,
    round: u64,
    scheme: IdScheme,
    first_tried_at_ms: Option<u64>,
    was_resolved: bool,
}

/// The columns that the two tables share.
const SHARED: &str = "campaign, packet, user_id, amount, asset, partition_id, epoch, sequence, claimed_at_ms, route, \
                      account_template, operation_round, operation_scheme, first_tried_at_ms, state, last_error, \
                      done_at_ms, resolved_at_ms";

const COLUMNS: [Column; 18] = [
    Column::integer("replaced_id"),
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
    Column::integer("first_tried_at_ms"),
    Column::text("state"),
    Column::integer("done_at_ms"),
    Column::integer("resolved_at_ms"),
    Column::integer("replaced_at_ms"),
    Column::text("decision"),
    Column::integer("decided_at_ms"),
];

/// Takes a row out of the table of settlements, and keeps it among the replaced ones unless nobody can have paid it.
pub(crate) async fn replace(lent: &mut Lent, id: i64, is_unpaid: bool) -> Result<(), Error> {
    if !is_unpaid {
        let sql = format!(
            "INSERT INTO delivery_replaced ({SHARED}, replaced_at_ms) SELECT {SHARED}, ? \
             FROM delivery_settlements WHERE settlement_id = ?"
        );
        lent.execute(&sql, &[now_ms().into(), id.into()]).await?;
    }
    lent.execute("DELETE FROM delivery_settlements WHERE settlement_id = ?", &[id.into()]).await.map(drop)
}

/// Notes what a person decided about the claim of a packet.
pub(super) async fn decide(
    lent: &mut Lent,
    (campaign, packet): (&str, u64),
    was_settled: bool,
) -> Result<(), Error> {
    let sql = "UPDATE delivery_replaced SET decision = ?, decided_at_ms = ? \
               WHERE campaign = ? AND packet = ? AND decided_at_ms IS NULL";
    let word = if was_settled { "settled" } else { "not_settled" };
    let values = [Cell::Word(word), now_ms().into(), campaign.into(), signed(packet).into()];
    lent.execute(sql, &values).await.map(drop)
}

impl Replaced {
    fn read(mut row: Taken) -> Self {
        let (id, campaign, packet, user) = (row.integer(), row.text(), row.natural(), row.text());
        let (amount, asset, claimed_at_ms) = (row.natural(), row.optional_text(), row.natural());
        let route = row.optional_text().and_then(|word| Route::from_word(&word));
        let template = row.optional_text().and_then(|text| AccountTemplate::parse(&text).ok());
        let (round, scheme) = (row.natural(), IdScheme::of(row.optional()));
        let asset_text = asset.as_deref();
        let account =
            template.as_ref().zip(asset_text).map(|(its, asset)| its.account(&user, asset, &campaign));
        Self {
            id,
            operation_id: scheme.operation_id(&campaign, packet, round),
            campaign,
            packet,
            user,
            amount,
            asset,
            claimed_at_ms,
            route,
            account,
            template,
            round,
            scheme,
            first_tried_at_ms: row.time(),
            state: SettlementState::from_word(&row.text()),
            done_at_ms: row.time(),
            was_resolved: row.time().is_some(),
            replaced_at_ms: row.natural(),
            decision: row.optional_text(),
            decided_at_ms: row.time(),
        }
    }
}

impl Delivery {
    /// A page of settlements that were replaced, in the order in which that happened. `after` is the previous page's
    /// [`Page::next`].
    ///
    /// # Errors
    /// When the cursor is not from a page, or the database does not answer.
    pub async fn replaced(&self, after: Option<&str>, limit: usize) -> Result<Page<Replaced>, DeliveryError> {
        let source = ("delivery_replaced", "replaced_id", &COLUMNS[..]);
        self.page(source, Conditions::default(), (after, limit), Replaced::read).await
    }
}
