//! `/v1/settlements`: what became of claimed packets.

use axum::extract::State;
use axum::response::Response;
use scarce_api::Misshapen;
use scarce_api::arguments::given;
use scarce_core::types::INTEGER_MAX;
use scarce_delivery::{Settlement, SettlementFilter, SettlementState};
use serde_json::json;

use super::super::Context;
use super::super::exchange::Exchange;
use super::{Paging, Stop, answer, delivery, named, page, take_state};

/// `GET /v1/settlements`: a page of them, in the order of the claims.
pub(in super::super) async fn list(State(shared): Context, exchange: Exchange) -> Response {
    let listed = async {
        let mut fields = exchange.query_fields();
        let states = [SettlementState::Pending, SettlementState::Settled, SettlementState::Dead];
        let state = take_state(&mut fields, states, SettlementState::word)?;
        let (campaign, user) = (fields.take_text("campaign")?, fields.take_text("user")?);
        let Paging { after, limit } = Paging::take(&mut fields)?;
        fields.check_none()?;
        let filter = SettlementFilter { campaign, user, state, is_lost: false };
        let found = delivery(&shared)?.settlements(filter, after, limit).await?;
        Ok::<_, Stop>(page("settlements", &found, Settlement::to_json))
    };
    answer(listed.await, exchange.speech)
}

/// `POST /v1/settlements/{campaign}/replay`: has dead letters of a campaign tried again, or that of one packet.
pub(in super::super) async fn replay(State(shared): Context, exchange: Exchange) -> Response {
    let replayed = async {
        let campaign = named(&exchange, "campaign", &["packet"])?;
        let packet = exchange.body.as_ref().and_then(|body| given(body, "packet"));
        let wrong = || Misshapen::new("packet", "must be the number of a packet");
        let packet = packet
            .map(|packet| packet.as_u64().filter(|number| *number <= INTEGER_MAX).ok_or_else(wrong))
            .transpose()?;
        let delivery = delivery(&shared)?;
        let count = match packet {
            Some(packet) => u64::from(delivery.replay_settlement(campaign, packet).await?),
            None => delivery.replay_campaign(campaign).await?,
        };
        Ok::<_, Stop>(json!({ "replayed": count }))
    };
    answer(replayed.await, exchange.speech)
}
