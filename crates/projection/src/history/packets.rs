//! Red packets: who got which.

use super::History;
use super::page::{List, Page, Paging};
use super::record::record;
use crate::ProjectionError;
use crate::table::{Cell, Column};

record! {
    /// A packet that became somebody's.
    PacketClaim of "packet_claims" {
        /// Of which campaign.
        campaign_id: String,
        /// Which one, from 1.
        packet: i64,
        /// Whose.
        user_id: String,
        /// What it held.
        amount: i64,
        /// By which operation.
        operation_id: Option<String>,
        /// Where it happened.
        partition_id: i64,
        /// The event's number there.
        sequence: i64,
        /// When.
        at_ms: i64,
    }
}

impl History {
    /// Who got the packets of a campaign.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not one of this list.
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

    /// What packets a user got, by campaign.
    ///
    /// # Errors
    /// When the database does not answer, or the cursor is not one of this list.
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
