//! Rows of red packets. What is still to be drawn is in none of them.

use scarce_core::command::shapes::Method;
use scarce_core::words;

use crate::table::{Text, row, word_fields};

word_fields!(Method, CampaignStatus);

words! {
    /// Whether packets can be had.
    CampaignStatus {
        /// They are being laid ready.
        0 Filling = "filling",
        /// Within its times, they can.
        1 Open = "open",
        /// The last one was claimed.
        2 Exhausted = "exhausted",
        /// The campaign was ended.
        3 Closed = "closed",
    }
}

row! {
    /// A campaign as it is; seed and plan once it is closed.
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
    /// A packet that became somebody's.
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
