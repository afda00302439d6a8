//! Claiming settlements that are due.

use scarce_sql::{Cell, Kind};
use sqlx::Error;

use super::{Route, operation_id};
use crate::page::Taken;
use crate::queue::SETTLEMENTS;
use crate::store::{Lent, millis, now_ms};
use crate::{Delivery, DeliveryError};

/// A settlement that was claimed.
#[derive(Clone, Debug)]
pub(super) struct Claimed {
    pub(super) id: i64,
    pub(super) campaign: String,
    pub(super) packet: u64,
    pub(super) user: String,
    pub(super) amount: u64,
    pub(super) asset: Option<String>,
    /// The template of the first try, by which the account is made as long as it is not settled.
    pub(super) template: String,
    pub(super) operation_id: String,
    /// When the try began whose outcome is not known; now, where there is none.
    pub(super) first_tried_at_ms: i64,
    /// Whether no earlier try is open.
    pub(super) is_first: bool,
    /// When the packet was claimed.
    pub(super) claimed_at_ms: i64,
    /// How often it was tried, this time included.
    pub(super) attempts: u64,
}

const KINDS: [Kind; 11] = [
    Kind::Integer,
    Kind::Text,
    Kind::Integer,
    Kind::Text,
    Kind::Integer,
    Kind::Text,
    Kind::Text,
    Kind::Integer,
    Kind::Integer,
    Kind::Integer,
    Kind::Integer,
];

/// Claims settlements that are due, and notes that they are being tried, by which way and with which template.
pub(super) async fn claim(
    delivery: &Delivery,
    owner: &str,
    (route, template): (Route, Option<&str>),
    limit: usize,
) -> Result<Vec<Claimed>, DeliveryError> {
    let mut lent = delivery.lend().await?;
    let sql = "SELECT settlement_id FROM delivery_settlements \
               WHERE state = 'pending' AND next_at_ms <= ? AND (route IS NULL OR route = ?) LIMIT 1";
    let values = [now_ms().into(), Cell::Word(route.word())];
    let due = lent.fetch(sql, &values, &KINDS[..1]).await.map_err(|error| delivery.failed(&error))?;
    lent.done();
    if due.is_empty() {
        return Ok(Vec::new());
    }
    let mut lent = delivery.lend_to_write().await?;
    let now = now_ms();
    let until = now.saturating_add(millis(delivery.options().lease));
    let rows = lock(&mut lent, (owner, until), (route, template), (now, limit)).await;
    let rows = rows.map_err(|error| delivery.failed(&error))?;
    lent.done();
    Ok(rows.into_iter().map(|row| claimed(Taken::new(row), now, template)).collect())
}

async fn lock(
    lent: &mut Lent,
    owner: (&str, i64),
    (route, template): (Route, Option<&str>),
    (now, limit): (i64, usize),
) -> Result<Vec<Vec<Cell>>, Error> {
    lent.begin().await?;
    let sql = format!(
        "SELECT settlement_id, campaign, packet, user_id, amount, asset, account_template, operation_round, \
         first_tried_at_ms, claimed_at_ms, attempts FROM delivery_settlements \
         WHERE state = 'pending' AND next_at_ms <= ? AND (route IS NULL OR route = ?) \
         ORDER BY next_at_ms LIMIT {limit} {}",
        lent.dialect().skip_locked()
    );
    let rows = lent.fetch(&sql, &[now.into(), Cell::Word(route.word())], &KINDS).await?;
    let ids: Vec<i64> = rows.iter().filter_map(|row| row.first()?.integer()).collect();
    let mut more = ", route = ?, first_tried_at_ms = COALESCE(first_tried_at_ms, ?)".to_owned();
    let mut values = vec![Cell::Word(route.word()), now.into()];
    if let Some(template) = template {
        more += ", account_template = COALESCE(account_template, ?)";
        values.push(template.into());
    }
    SETTLEMENTS.claim(lent, &ids, owner, (&more, &values)).await?;
    lent.commit().await?;
    Ok(rows)
}

fn claimed(mut row: Taken, now: i64, template: Option<&str>) -> Claimed {
    let (id, campaign, packet, user) = (row.integer(), row.text(), row.natural(), row.text());
    let (amount, asset) = (row.natural(), row.optional_text());
    let template = row.optional_text().or(template.map(str::to_owned)).unwrap_or_default();
    let operation_id = operation_id(&campaign, packet, row.natural());
    let first_tried_at_ms = row.optional();
    Claimed {
        id,
        campaign,
        packet,
        user,
        amount,
        asset,
        template,
        operation_id,
        first_tried_at_ms: first_tried_at_ms.unwrap_or(now),
        is_first: first_tried_at_ms.is_none(),
        claimed_at_ms: row.integer(),
        attempts: row.natural() + 1,
    }
}
