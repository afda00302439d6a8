//! Writes a settlement for each claimed packet.

use std::collections::{BTreeMap, BTreeSet};

use scarce_core::event::{Event, PacketsClaimed, PacketsEvent, Position};
use scarce_core::types::signed;
use scarce_outflow::{Batch, Consumer, Image, Trouble};
use scarce_sql::{Cell, Column, ColumnKind, Doing, Lent, Text};
use sqlx::Error;

use super::cursor::{self, Key};
use super::meeting::meet;
use super::{BatchFailure, Rows, position, take};
use crate::Delivery;
use crate::queue::marks;
use crate::settlement::ids::IdScheme;
use crate::store::now_ms;

/// Its name.
const CONSUMER: &str = "settlement";

/// How many campaigns' assets are cached.
const ASSETS_MAX: usize = 10_000;

/// How many campaigns are looked up at a time.
const CAMPAIGNS_MAX: usize = 500;

/// Consumes the log of one partition for settlement.
#[derive(Debug)]
pub struct SettlementConsumer {
    pub(super) delivery: Delivery,
    pub(super) key: Key,
    pub(super) settlements: Settlements,
}

impl Delivery {
    /// The consumer that writes the settlements of the packets claimed in a partition's log.
    #[must_use]
    pub fn settlement_consumer(&self, partition: u32) -> SettlementConsumer {
        let key = Key { consumer: CONSUMER, partition };
        SettlementConsumer { delivery: self.clone(), key, settlements: Settlements::default() }
    }
}

impl Consumer for SettlementConsumer {
    async fn position(&mut self) -> Result<Option<Position>, Trouble> {
        position(&self.delivery, self.key).await
    }

    fn keeps_position(&self) -> bool {
        true
    }

    fn is_rewritten(&self) -> bool {
        true
    }

    async fn forgot_up_to(&mut self, sequence: u64) -> Result<(), Trouble> {
        self.note_forgotten(sequence).await
    }

    async fn consume(&mut self, batch: &Batch) -> Result<(), Trouble> {
        let taking: Doing<'_, _, _> = Box::pin(take(&self.delivery, self.key, &mut self.settlements, batch));
        if taking.await? {
            self.delivery.settlements_written().notify_one();
        }
        Ok(())
    }

    fn takes_image(&self) -> bool {
        true
    }

    async fn begin_with(&mut self, image: Box<dyn Image>) -> Result<(), Trouble> {
        let beginning: Doing<'_, _, _> = Box::pin(self.open(image));
        beginning.await
    }
}

pub(super) const COLUMNS: [Column; 16] = [
    Column::text("campaign"),
    Column::integer("packet"),
    Column::text("user_id"),
    Column::integer("amount"),
    Column::text("asset"),
    Column::integer("partition_id"),
    Column::integer("epoch"),
    Column::integer("sequence"),
    Column::integer("claimed_at_ms"),
    Column::integer("operation_round"),
    Column::integer("operation_scheme"),
    Column::integer("first_tried_at_ms"),
    Column::text("state"),
    Column::integer("attempts"),
    Column::integer("next_at_ms"),
    Column::integer("created_at_ms"),
];

/// Settlements to write, and the assets of known campaigns.
#[derive(Debug, Default)]
pub(super) struct Settlements {
    pub(super) assets: BTreeMap<String, Text>,
}

/// Keeps the assets of campaigns. One that a lost history had created may be created again with another asset.
pub(super) async fn keep_campaigns(lent: &mut Lent, campaigns: &[(&str, &str)]) -> Result<(), Error> {
    for campaigns in campaigns.chunks(CAMPAIGNS_MAX) {
        let names: Vec<Cell> = campaigns.iter().map(|(campaign, _)| Cell::from(*campaign)).collect();
        let sql = format!("DELETE FROM delivery_campaigns WHERE campaign IN ({})", marks(names.len()));
        lent.execute(&sql, &names).await?;
        let cells: Vec<Cell> =
            campaigns.iter().flat_map(|(campaign, asset)| [Cell::from(*campaign), (*asset).into()]).collect();
        let columns = [Column::text("campaign"), Column::text("asset")];
        lent.insert_missing("delivery_campaigns", &columns, &cells).await?;
    }
    Ok(())
}

/// A claim with its position in the log.
pub(super) struct Claim<'a> {
    pub(super) epoch: u64,
    pub(super) sequence: u64,
    pub(super) at: u64,
    /// Whether an earlier consumer may have had it credited.
    pub(super) may_be_credited: bool,
    pub(super) event: &'a PacketsClaimed,
}

impl Rows for Settlements {
    async fn write(&mut self, lent: &mut Lent, batch: &Batch, after: u64) -> Result<bool, BatchFailure> {
        let key = Key { consumer: CONSUMER, partition: batch.partition };
        let forgotten_through = cursor::forgotten_through(lent, key).await?;
        let (mut created, mut claims) = (Vec::new(), Vec::new());
        for (sequence, head, event) in batch.events().filter(|(sequence, ..)| *sequence > after) {
            match event {
                Event::Packets(PacketsEvent::PacketsCreated(its)) => {
                    created.push((its.campaign.as_str(), its.asset.as_str()));
                    self.hold(its.campaign.as_str(), its.asset.as_str().into());
                }
                Event::Packets(PacketsEvent::PacketsClaimed(event)) => {
                    let (epoch, at) = (head.epoch, head.at);
                    let may_be_credited = sequence <= forgotten_through;
                    claims.push(Claim { epoch, sequence, at, may_be_credited, event });
                }
                Event::Packets(
                    PacketsEvent::PacketsFilled(_)
                    | PacketsEvent::PacketsExhausted(_)
                    | PacketsEvent::PacketsClosed(_)
                    // What has left memory is in the log before this.
                    | PacketsEvent::PacketsForgotten(_),
                )
                | Event::Account(_)
                | Event::Stock(_)
                | Event::Coupon(_)
                | Event::Market(_)
                | Event::Clock(_)
                | Event::Operation(_) => {}
            }
        }
        keep_campaigns(lent, &created).await?;
        self.look_up(lent, &claims).await?;
        let has_changed = meet(lent, &mut claims, &self.assets).await?;
        let (now, mut cells) = (now_ms(), Vec::with_capacity(claims.len() * COLUMNS.len()));
        for claim in &claims {
            cells.extend(self.row(batch.partition, claim, now));
        }
        Ok(lent.insert_missing("delivery_settlements", &COLUMNS, &cells).await? > 0 || has_changed)
    }
}

impl Settlements {
    pub(super) fn hold(&mut self, campaign: &str, asset: Text) {
        if self.assets.len() >= ASSETS_MAX {
            self.assets.clear();
        }
        self.assets.insert(campaign.to_owned(), asset);
    }

    /// Reads the assets of campaigns that are not cached. One that was created before the consumer began is
    /// missing; the worker asks the engine then.
    async fn look_up(&mut self, lent: &mut Lent, claims: &[Claim<'_>]) -> Result<(), Error> {
        let campaigns: BTreeSet<&str> = claims.iter().map(|claim| claim.event.campaign.as_str()).collect();
        let missing: Vec<Cell> = campaigns
            .into_iter()
            .filter(|campaign| !self.assets.contains_key(*campaign))
            .map(Cell::from)
            .collect();
        for campaigns in missing.chunks(CAMPAIGNS_MAX) {
            let sql = format!(
                "SELECT campaign, asset FROM delivery_campaigns WHERE campaign IN ({})",
                marks(campaigns.len())
            );
            for row in lent.fetch(&sql, campaigns, &[ColumnKind::Text; 2]).await? {
                if let [Cell::Text(campaign), Cell::Text(asset)] = row.as_slice() {
                    self.hold(campaign, asset.clone());
                }
            }
        }
        Ok(())
    }

    pub(super) fn row(&self, partition: u32, claim: &Claim<'_>, now: i64) -> [Cell; COLUMNS.len()] {
        let PacketsClaimed { campaign, user, packet, amount, .. } = claim.event;
        [
            campaign.as_str().into(),
            signed(*packet).into(),
            user.as_str().into(),
            signed(*amount).into(),
            self.assets.get(campaign.as_str()).map_or(Cell::Null, |asset| Cell::Text(asset.clone())),
            i64::from(partition).into(),
            signed(claim.epoch).into(),
            signed(claim.sequence).into(),
            signed(claim.at).into(),
            1.into(),
            IdScheme::CURRENT.into(),
            // What may have been tried since the claim is looked up before anything is sent.
            if claim.may_be_credited { signed(claim.at).into() } else { Cell::Null },
            Cell::Word("pending"),
            0.into(),
            now.into(),
            now.into(),
        ]
    }
}
