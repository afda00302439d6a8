//! Red packets: their claims.

use super::History;
use super::page::{List, Page, Paging};
use super::record::record;
use crate::ProjectionError;
use crate::table::{Cell, Column};

record! {
    /// A claimed packet.
    PacketClaim of "packet_claims" {
        /// The campaign.
        campaign_id: String,
        /// The packet's number, from 1.
        packet: i64,
        /// The user.
        user_id: String,
        /// Its amount.
        amount: i64,
        /// The operation.
        operation_id: Option<String>,
        /// The partition.
        partition_id: i64,
        /// The event's sequence in the partition.
        sequence: i64,
        /// When.
        at_ms: i64,
    }
}

impl History {
    /// The claims of a campaign's packets.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
    pub async fn campaign_claims(
        &self,
        campaign_id: &str,
        paging: &Paging,
    ) -> Result<Page<PacketClaim>, ProjectionError> {
        List::new("packets", const { &[Column::integer("packet")] })
            .only("campaign_id = ?", [Cell::from(campaign_id)])
            .read(&self.projection, paging)
            .await
    }

    /// A user's packets, by campaign.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not from this list.
    pub async fn user_packets(
        &self,
        user_id: &str,
        paging: &Paging,
    ) -> Result<Page<PacketClaim>, ProjectionError> {
        List::new("campaigns", const { &[Column::text("campaign_id")] })
            .only("user_id = ?", [Cell::from(user_id)])
            .read(&self.projection, paging)
            .await
    }
}
