//! Lists of resources: what the model shows of each, in the order of the names.

use scarce_core::command::Command;
use scarce_core::command::lists::Page;
use scarce_core::facts;
use scarce_core::outcome::{Refusal, Value, Verdict};
use scarce_core::types::{Id, TimeMs};

use super::Model;

impl Model {
    /// A page of the list that a command asks for; each row has some of the figures that a query of the resource shows.
    pub(super) fn list(&self, command: &Command, now: TimeMs) -> Verdict {
        use Command as C;
        let page = command.page().ok_or_else(|| Refusal::invalid("command", "is no list"))?;
        match command {
            C::AccountList(_) => {
                rows(page, self.accounts.keys(), |id| self.show_account(id), &[0, 1, 2, 3, 4, 6])
            }
            C::StockList(_) => {
                rows(page, self.items.keys(), |id| self.show_stock(id, now), &[0, 1, 2, 3, 4, 9])
            }
            C::PacketList(_) => {
                rows(page, self.campaigns.keys(), |id| self.show_campaign(id, now), &[0, 1, 2, 3, 4, 5, 8])
            }
            C::CouponList(_) => rows(page, self.coupons.keys(), |id| self.show_coupon(id, now), &[0, 1, 2]),
            _ => rows(page, self.markets.keys(), |id| self.show_market(id), &[0, 1, 6, 7, 8, 9]),
        }
    }
}

fn rows<'a>(
    page: Page<'_>,
    ids: impl Iterator<Item = &'a Id>,
    show: impl Fn(&Id) -> Verdict,
    columns: &[usize],
) -> Verdict {
    let mut rows = Vec::new();
    for id in ids {
        let name = id.as_str();
        let is_wanted = page.prefix.is_none_or(|prefix| name.starts_with(prefix))
            && page.after.is_none_or(|after| name > after.as_str())
            && !name.starts_with("$world:");
        if is_wanted && (rows.len() as u64) < page.count.get() {
            let shown = show(id)?;
            rows.push(Value::List(columns.iter().map(|column| shown[*column].clone()).collect()));
        }
    }
    Ok(facts![rows])
}
