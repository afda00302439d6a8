//! Rows of red packets. None of them shows packets that are still to be drawn.

use scarce_core::command::shapes::Method;
use scarce_core::words;

use crate::table::{Text, row, word_fields};

word_fields!(Method, CampaignStatus);

words! {
    /// Whether packets can be claimed.
    CampaignStatus {
        /// They are still being added.
        0 Filling = "filling",
        /// They can, within the campaign's times.
        1 Open = "open",
        /// The last one was claimed.
        2 Exhausted = "exhausted",
        /// The campaign was ended.
        3 Closed = "closed",
    }
}

row! {
    /// The state of a campaign; with seed and plan once it is closed.
    CampaignRow in "packet_campaigns", key 1 {
        campaign_id: Text,
        partition_id: i64,
        asset: Text,
        packets: i64,
        total: i64,
        laid: i64,
        claimed: i64,
        claimed_amount: i64,
        status: CampaignStatus,
        starts_at_ms: Option<i64>,
        ends_at_ms: Option<i64>,
        commitment: Option<Text>,
        seed: Option<Text>,
        method: Option<Method>,
        amount_min: Option<i64>,
        amount_max: Option<i64>,
        operation_id: Option<Text>,
        created_at_ms: i64,
        updated_at_ms: i64,
        exhausted_at_ms: Option<i64>,
        closed_at_ms: Option<i64>,
    }
}

row! {
    /// A claimed packet.
    PacketClaimRow in "packet_claims", key 2 {
        campaign_id: Text,
        packet: i64,
        partition_id: i64,
        sequence: i64,
        user_id: Text,
        amount: i64,
        operation_id: Option<Text>,
        at_ms: i64,
    }
}
