//! Tables of settlement that know less than was paid: they were lost, or are of an older backup.

use scarce_core::types::signed;
use scarce_outflow::Trouble;
use scarce_sql::{Cell, Lent};
use sqlx::Error;

use super::settlement::SettlementConsumer;

impl SettlementConsumer {
    /// Has what may have been credited looked up before it is: the claims that will be read up to a sequence, and those in the
    /// table that were not settled when it was as it is now.
    pub(super) async fn note_forgotten(&self, sequence: u64) -> Result<(), Trouble> {
        let store = self.delivery.store();
        let failed = |error| Trouble::new(store.failed(&error).to_string());
        let lending = store.in_time(store.lend_to_write()).await;
        let mut lent = lending.map_err(|error| Trouble::new(error.to_string()))?;
        let is_new = self.doubt(&mut lent, sequence).await.map_err(failed)?;
        lent.done();
        if is_new {
            tracing::warn!(
                partition = self.key.partition,
                sequence,
                "the tables of settlement know less than was paid: claims up to this sequence are looked up before they are paid"
            );
        }
        Ok(())
    }

    async fn doubt(&self, lent: &mut Lent, sequence: u64) -> Result<bool, Error> {
        lent.begin().await?;
        let sql = "UPDATE delivery_cursors SET forgotten_through = ? WHERE consumer = ? AND partition_id = ? \
                   AND COALESCE(forgotten_through, 0) < ?";
        let [consumer, partition] = self.key.cells();
        let through = Cell::from(signed(sequence));
        let values = [through.clone(), consumer, partition.clone(), through.clone()];
        let is_new = lent.execute(sql, &values).await? > 0;
        let sql = "UPDATE delivery_settlements SET first_tried_at_ms = claimed_at_ms WHERE partition_id = ? \
                   AND sequence <= ? AND state <> 'settled' AND first_tried_at_ms IS NULL";
        lent.execute(sql, &[partition, through]).await?;
        lent.commit().await?;
        Ok(is_new)
    }
}
