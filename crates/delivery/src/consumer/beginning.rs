//! Beginning settlement with the claims of a state, where the log before it is gone.

use std::collections::BTreeMap;
use std::future::Future;

use scarce_core::event::{PacketsClaimed, Position};
use scarce_core::machine::{Moment, StateRow};
use scarce_core::packets::Forgotten;
use scarce_core::types::Id;
use scarce_outflow::{Failure, Image, Trouble};
use scarce_sql::{DatabaseError, Lent};
use tokio::sync::mpsc;

use super::BatchFailure;
use super::cursor::{self, Key};
use super::known::Known;
use super::meeting::meet;
use super::settlement::{COLUMNS, Claim, SettlementConsumer, keep_campaigns};
use crate::epochs;
use crate::store::now_ms;

/// How many claims are written at a time.
const CLAIMS_MAX: usize = 1_000;

/// How many pieces wait for the database.
const PIECES_MAX: usize = 4;

/// A claim of a state, with its time and the asset of its campaign.
type Kept = (PacketsClaimed, u64, String);

impl SettlementConsumer {
    /// Writes a settlement for each claim that the state has and the table does not, and the position behind the state,
    /// in one transaction. Whether one of them was credited before is not known here: each is looked up first.
    pub(super) async fn open(&mut self, image: Box<dyn Image>) -> Result<(), Trouble> {
        let store = self.delivery.store().clone();
        let opened = match store.in_time(store.lend_to_write()).await {
            Ok(mut lent) => {
                let written = self.write_claims(&mut lent, image).await;
                if written.is_ok() {
                    lent.done();
                }
                written
            }
            Err(error) => Err(BatchFailure::Unusable(error)),
        };
        let what = match opened {
            Ok(()) => {
                self.delivery.settlements_written().notify_one();
                return Ok(());
            }
            Err(BatchFailure::Database(error)) => store.failed(&error).to_string(),
            Err(BatchFailure::Unusable(error)) => error.to_string(),
            Err(BatchFailure::Unread(failure)) => failure.to_string(),
            Err(BatchFailure::Gap(_) | BatchFailure::Overtaken) => {
                "another process has begun; this one goes on from there".to_owned()
            }
        };
        let (database, partition) = (store.address(), self.key.partition);
        Err(Trouble::new(format!("{database}: the claims of partition {partition}: {what}")))
    }

    async fn write_claims(&mut self, lent: &mut Lent, mut image: Box<dyn Image>) -> Result<(), BatchFailure> {
        let Moment { position, at, .. } = image.moment();
        self.in_time(async { Ok(lent.begin().await?) }).await?;
        let known = self.in_time(Known::read(lent, self.key, at)).await?;
        let found = self.in_time(async { Ok(cursor::read(lent, self.key, position).await?) }).await?;
        if found != position {
            if found.sequence > 0 {
                return Err(BatchFailure::Overtaken);
            }
            let moving = async { Ok(cursor::advance(lent, self.key, found, position).await?) };
            if !self.in_time(moving).await? {
                return Err(BatchFailure::Overtaken);
            }
        }
        let Key { consumer, partition } = self.key;
        self.in_time(async { Ok(epochs::begin(lent, consumer, partition, position).await?) }).await?;
        let (sender, mut pieces) = mpsc::channel::<Vec<Kept>>(PIECES_MAX);
        let reading = tokio::task::spawn_blocking(move || send_claims(&mut *image, &known, &sender));
        while let Some(piece) = pieces.recv().await {
            self.write_piece(lent, position, &piece).await?;
        }
        let read = reading.await.map_err(|error| sqlx::Error::Io(std::io::Error::other(error)))?;
        read.map_err(BatchFailure::Unread)?;
        self.in_time(async { Ok(lent.commit().await?) }).await
    }

    async fn write_piece(
        &mut self,
        lent: &mut Lent,
        position: Position,
        piece: &[Kept],
    ) -> Result<(), BatchFailure> {
        let Position { epoch, sequence } = position;
        let mut campaigns = BTreeMap::new();
        for (event, _, asset) in piece {
            campaigns.insert(event.campaign.as_str(), asset.as_str());
            self.settlements.hold(event.campaign.as_str(), asset.as_str().into());
        }
        let mut claims: Vec<Claim<'_>> = piece
            .iter()
            .map(|(event, at, _)| Claim { epoch, sequence, at: *at, may_be_credited: true, event })
            .collect();
        self.in_time(async {
            keep_campaigns(lent, &Vec::from_iter(campaigns)).await?;
            meet(lent, &mut claims, &self.settlements.assets).await?;
            let (now, mut cells) = (now_ms(), Vec::with_capacity(claims.len() * COLUMNS.len()));
            for claim in &claims {
                cells.extend(self.settlements.row(self.key.partition, claim, now));
            }
            lent.insert_missing("delivery_settlements", &COLUMNS, &cells).await?;
            Ok(())
        })
        .await
    }

    /// Each step has the time of a batch: all of them together may take as long as there are claims.
    async fn in_time<T>(
        &self,
        step: impl Future<Output = Result<T, BatchFailure>>,
    ) -> Result<T, BatchFailure> {
        let step = async { Ok::<_, DatabaseError>(step.await) };
        self.delivery.store().in_time(step).await.unwrap_or_else(|late| Err(BatchFailure::Unusable(late)))
    }
}

/// Names a campaign whose claims have left memory before this settlement could read them: nobody is credited here for
/// those.
fn tell_left(campaign: &Id, left: &Forgotten) {
    if left.amount > 0 {
        tracing::warn!(
            campaign = campaign.as_str(),
            through_packet = left.through_packet,
            amount = left.amount,
            "packets were claimed whose retention is over, and the log before is gone: if this settlement has not settled \
             them, find their claims in the history and credit them"
        );
    }
}

/// Hands over the claims of a state that the table may lack, piece by piece, until nobody wants them any more.
fn send_claims(
    image: &mut dyn Image,
    known: &Known,
    sender: &mpsc::Sender<Vec<Kept>>,
) -> Result<(), Failure> {
    let (mut piece, mut is_wanted) = (Vec::new(), true);
    image.rows(&mut |row| match row {
        StateRow::Campaign { id, left, .. } => tell_left(id, left),
        StateRow::PacketClaim { id, campaign, user, claim, amount }
            if !known.leaves_out(id.as_str(), claim.packet, claim.at) =>
        {
            let (asset, packet) = (campaign.asset.to_string(), claim.packet);
            let (campaign, user) = (id.clone(), user.clone());
            piece.push((PacketsClaimed { campaign, user, packet, amount, left_count: 0 }, claim.at, asset));
            if piece.len() == CLAIMS_MAX {
                let full = std::mem::take(&mut piece);
                is_wanted = is_wanted && sender.blocking_send(full).is_ok();
            }
        }
        _ => {}
    })?;
    // Nobody wants them if writing failed, which says why.
    let _ = sender.blocking_send(piece);
    Ok(())
}
