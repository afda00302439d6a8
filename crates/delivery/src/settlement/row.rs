//! What the tables of settlements say alike of a packet.

use super::ids::IdScheme;
use super::{AccountTemplate, Route};
use crate::page::Taken;

/// The first columns of a row.
pub(super) struct PacketRow {
    pub(super) id: i64,
    pub(super) campaign: String,
    pub(super) packet: u64,
    pub(super) user: String,
    pub(super) amount: u64,
    pub(super) asset: Option<String>,
    pub(super) claimed_at_ms: u64,
    pub(super) route: Option<Route>,
    pub(super) template: Option<AccountTemplate>,
    pub(super) round: u64,
    pub(super) scheme: IdScheme,
}

impl PacketRow {
    pub(super) fn read(row: &mut Taken) -> Self {
        Self {
            id: row.integer(),
            campaign: row.text(),
            packet: row.natural(),
            user: row.text(),
            amount: row.natural(),
            asset: row.optional_text(),
            claimed_at_ms: row.natural(),
            route: row.optional_text().and_then(|word| Route::from_word(&word)),
            template: row.optional_text().and_then(|text| AccountTemplate::parse(&text).ok()),
            round: row.natural(),
            scheme: IdScheme::of(row.optional()),
        }
    }

    /// The account, if it was tried in the engine.
    pub(super) fn account(&self) -> Option<String> {
        let (template, asset) = (self.template.as_ref()?, self.asset.as_deref()?);
        Some(template.account(&self.user, asset, &self.campaign))
    }

    /// The id under which it is settled.
    pub(super) fn operation_id(&self) -> String {
        self.scheme.operation_id(&self.campaign, self.packet, self.round)
    }
}
