//! Settlements of a lost history whose packets the log gives to another user. The new claim is credited only if nothing
//! was paid in its place; otherwise a person decides.

use std::collections::BTreeMap;

use scarce_core::types::signed;
use scarce_sql::{Cell, Column, ColumnKind, DatabaseError, Lent};
use sqlx::Error;

use super::claims::ClaimedSettlement;
use super::ids::IdScheme;
use super::inside::{Addressed, Settler, addresses, never};
use super::lookup::Settled;
use super::row::PacketRow;
use super::{AccountTemplate, Route, SettlementState};
use crate::page::{Conditions, Page, Taken};
use crate::queue::{Ended, marks};
use crate::store::now_ms;
use crate::{Delivery, DeliveryError};

/// How many packets are looked up at a time.
const PACKETS_MAX: usize = 256;

/// Why a settlement that a person had decided about is a dead letter after a rollback.
pub(crate) const RESOLVED_BEFORE: &str = "an operator had noted this as settled before events of the engine were lost: look \
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
            template: packet.template,
            round: packet.round,
            scheme: packet.scheme,
            first_tried_at_ms: row.time(),
            state: SettlementState::from_word(&row.text()),
            done_at_ms: row.time(),
            was_resolved: row.time().is_some(),
            replaced_at_ms: row.natural(),
            decision: row.optional_text(),
            decided_at_ms: row.time(),
        }
    }

    /// It as it would be tried, to ask what came of it; an error if it cannot be asked.
    fn addressed(&self, successor: &Addressed) -> Result<Addressed, String> {
        if self.was_resolved {
            return Err("an operator had noted it as settled".to_owned());
        }
        let template = match (self.route, &self.template) {
            (Some(Route::Engine), Some(template)) => template.text().to_owned(),
            // It was never tried here. What an earlier database may have paid, it paid in the engine.
            (None, _) => successor.claimed.template.clone(),
            _ => return Err("a call to an outside system may have paid it".to_owned()),
        };
        let asset = self.asset.as_deref().unwrap_or(successor.asset.as_str());
        let claimed = ClaimedSettlement {
            id: self.id,
            campaign: self.campaign.clone(),
            packet: self.packet,
            user: self.user.clone(),
            amount: self.amount,
            asset: self.asset.clone(),
            template,
            scheme: self.scheme,
            round: self.round,
            operation_id: self.operation_id.clone(),
            first_tried_at_ms: signed(self.first_tried_at_ms.unwrap_or(self.claimed_at_ms)),
            is_first: false,
            claimed_at_ms: signed(self.claimed_at_ms),
            attempts: 0,
            credit: None,
        };
        let (account, asset) = addresses(&claimed, asset)?;
        Ok(Addressed { claimed, account, asset })
    }

    /// Whether it is of this packet.
    pub(super) fn is_of(&self, claimed: &ClaimedSettlement) -> bool {
        claimed.campaign == self.campaign && claimed.packet == self.packet
    }

    /// Why a person has to decide.
    pub(super) fn conflict(&self, successor: &ClaimedSettlement, why: &str) -> String {
        let Self { campaign, packet, user, amount, operation_id, .. } = self;
        format!(
            "packet {packet} of campaign '{campaign}' was settled for '{user}' with {amount} ('{operation_id}') in a \
             history that the engine lost: {why}. The log gives it to '{}' with {}; look whether '{user}' was paid, and \
             resolve this",
            successor.user, successor.amount
        )
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

    /// The replaced settlements of packets that nobody has decided about.
    pub(super) async fn undecided(
        &self,
        packets: &[&ClaimedSettlement],
    ) -> Result<Vec<Replaced>, DatabaseError> {
        let names: Vec<&str> = COLUMNS.iter().map(|column| column.name).collect();
        let kinds: Vec<ColumnKind> = COLUMNS.iter().map(|column| column.kind).collect();
        let mut found = Vec::new();
        for packets in packets.chunks(PACKETS_MAX) {
            let pairs = vec!["(campaign = ? AND packet = ?)"; packets.len()].join(" OR ");
            let sql = format!(
                "SELECT {} FROM delivery_replaced WHERE ({pairs}) AND decided_at_ms IS NULL",
                names.join(", ")
            );
            let values: Vec<Cell> = packets
                .iter()
                .flat_map(|its| [its.campaign.as_str().into(), signed(its.packet).into()])
                .collect();
            let rows = self.store().fetch(&sql, &values, &kinds).await?;
            found.extend(rows.into_iter().map(|row| Replaced::read(Taken::new(row))));
        }
        Ok(found)
    }

    async fn note_unpaid(&self, ids: &[i64]) -> Result<(), DatabaseError> {
        for ids in ids.chunks(PACKETS_MAX) {
            let sql = format!(
                "UPDATE delivery_replaced SET decision = 'not_paid', decided_at_ms = ? WHERE replaced_id IN ({})",
                marks(ids.len())
            );
            let mut values: Vec<Cell> = vec![now_ms().into()];
            values.extend(ids.iter().map(|id| Cell::from(*id)));
            self.store().execute(&sql, &values).await?;
        }
        Ok(())
    }
}

/// What is known of the settlements that a claim has replaced.
enum Verdict {
    /// None of them was paid.
    Unpaid,
    /// One was, or may have been, and why that is for a person.
    Conflict(String),
    /// This cannot be said at the moment.
    Unclear(String),
}

impl Settler {
    /// Ends packets that a lost history had settled for another user, unless nothing came of that.
    pub(super) async fn resolve_replaced(&self, all: Vec<Addressed>, ended: &mut Ended) -> Vec<Addressed> {
        let (asked, mut rest): (Vec<_>, Vec<_>) = all.into_iter().partition(|its| !its.claimed.is_first);
        if asked.is_empty() {
            return rest;
        }
        let packets: Vec<_> = asked.iter().map(|its| &its.claimed).collect();
        let judged = match self.delivery.undecided(&packets).await {
            Ok(undecided) => self.judge_replaced(&asked, undecided).await,
            Err(error) => Err(error),
        };
        let verdicts = match judged {
            Ok(verdicts) => verdicts,
            Err(error) => {
                let reason = error.to_string();
                let fail = |its: &Addressed| {
                    self.engine_failed(&its.claimed, reason.clone(), its.claimed.untouched())
                };
                ended.failed.extend(asked.iter().map(fail));
                return rest;
            }
        };
        for (at, its) in asked.into_iter().enumerate() {
            let claimed = &its.claimed;
            match verdicts.get(&at) {
                None | Some(Verdict::Unpaid) => rest.push(its),
                Some(Verdict::Conflict(reason)) => {
                    ended.failed.push(never(claimed, reason.clone(), claimed.untouched()));
                }
                Some(Verdict::Unclear(reason)) => {
                    ended.failed.push(self.engine_failed(claimed, reason.clone(), claimed.untouched()));
                }
            }
        }
        rest
    }

    /// Looks up what came of replaced settlements, by the claims that took their place; notes those that came to nothing
    /// before anything is sent for the claims.
    async fn judge_replaced(
        &self,
        asked: &[Addressed],
        undecided: Vec<Replaced>,
    ) -> Result<BTreeMap<usize, Verdict>, DatabaseError> {
        let (mut verdicts, mut unpaid) = (BTreeMap::new(), Vec::new());
        for replaced in undecided {
            let Some(at) = asked.iter().position(|its| replaced.is_of(&its.claimed)) else { continue };
            match self.judge_one(&replaced, &asked[at]).await {
                Verdict::Unpaid => {
                    unpaid.push(replaced.id);
                    verdicts.entry(at).or_insert(Verdict::Unpaid);
                }
                verdict => drop(verdicts.insert(at, verdict)),
            }
        }
        self.delivery.note_unpaid(&unpaid).await?;
        Ok(verdicts)
    }

    async fn judge_one(&self, replaced: &Replaced, successor: &Addressed) -> Verdict {
        let conflict = |why: &str| Verdict::Conflict(replaced.conflict(&successor.claimed, why));
        let its = match replaced.addressed(successor) {
            Ok(its) => its,
            Err(why) => return conflict(&why),
        };
        match self.find(its).await {
            Ok(Settled::Absent | Settled::Refused | Settled::Other { .. }) => Verdict::Unpaid,
            Ok(Settled::Applied) => conflict("the engine has that credit"),
            Ok(Settled::Unknown { reason }) => conflict(&reason),
            Err(reason) => Verdict::Unclear(reason),
        }
    }
}
