//! Puts together what belongs to one resource, and finds what contradicts itself.

use std::collections::BTreeMap;

use scarce_books::Numbers;

use crate::map::{Counts, Map, Next};
use crate::resources::{Account, Campaign, Coupon, Item, Place, Resources, sum};
use crate::rules::{Meaning, OwnLimit, Reading, Rule};
use crate::snapshot::{Row, Snapshot};

/// Who has taken how much, by the rule of the resource and its name.
type Taken = BTreeMap<(usize, String), Vec<TakenRow>>;

struct TakenRow {
    place: Place,
    user: String,
    number: u64,
    /// The asset, for packets.
    asset: Option<String>,
}

impl Resources {
    /// What a snapshot comes to.
    #[must_use]
    pub fn gather(map: &Map, mut snapshot: Snapshot) -> Self {
        let problems = std::mem::take(&mut snapshot.problems);
        let mut gathering = Gathering { map, made: Self { problems, ..Self::default() } };
        let rows = std::mem::take(&mut snapshot.rows);
        let (taken, own): (Vec<Row>, Vec<Row>) =
            rows.into_iter().partition(|row| matches!(map.rules[row.rule].meaning, Meaning::Taken { .. }));
        let mut taken = gathering.taken(taken);
        let mut lists: BTreeMap<(usize, String), Vec<Row>> = BTreeMap::new();
        for row in own {
            match map.rules[row.rule].meaning {
                Meaning::Packets { .. } => lists.entry((row.rule, row.id.clone())).or_default().push(row),
                _ => gathering.single(row, &mut taken),
            }
        }
        for ((rule, id), rows) in lists {
            let takers = taken.remove(&(rule, id.clone())).unwrap_or_default();
            gathering.campaign(rule, id, &rows, takers);
        }
        for ((rule, id), takers) in taken {
            gathering.without_own_key(rule, id, takers);
        }
        gathering.made.problems.sort();
        gathering.made
    }
}

struct Gathering<'a> {
    map: &'a Map,
    made: Resources,
}

impl Gathering<'_> {
    fn rule(&self, row: &Row) -> (&Rule, Place) {
        let rule = &self.map.rules[row.rule];
        (rule, Place { line: rule.line, key: row.key.clone() })
    }

    fn wrong(&mut self, place: &Place, reason: impl Into<String>) {
        self.made.problems.push(place.problem(reason));
    }

    fn taken(&mut self, rows: Vec<Row>) -> Taken {
        let mut taken = Taken::new();
        for row in rows {
            let (rule, place) = self.rule(&row);
            let Meaning::Taken { of } = rule.meaning else { continue };
            let decimals = match self.map.rules[of].meaning {
                Meaning::Packets { decimals, .. } => decimals,
                _ => 0,
            };
            let Row { id, user: Some(user), number, asset, .. } = row else { continue };
            match positive(&number, decimals) {
                Ok(0) => {}
                Ok(number) => {
                    taken.entry((of, id)).or_default().push(TakenRow { place, user, number, asset });
                }
                Err(reason) => self.wrong(&place, reason),
            }
        }
        taken
    }

    /// Users by name, unless their order says something; each once.
    fn users(&mut self, rows: Vec<TakenRow>, once: bool) -> Vec<(String, u64)> {
        let mut users: Vec<(String, u64)> = Vec::new();
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        for TakenRow { place, user, number, .. } in rows {
            match places.get(&user) {
                Some(_) if once => {
                    self.wrong(&place, format!("has {user} twice; a user takes one packet of a campaign"));
                }
                Some(at) => users[*at].1 = users[*at].1.saturating_add(number),
                None => {
                    places.insert(user.clone(), users.len());
                    users.push((user, number));
                }
            }
        }
        users
    }

    fn sorted(&mut self, mut rows: Vec<TakenRow>, once: bool) -> Vec<(String, u64)> {
        let has_order = rows.iter().all(|row| {
            let mut rules = self.map.rules.iter();
            let rule = rules.find(|rule| rule.line == row.place.line);
            rule.is_some_and(|rule| matches!(rule.reading, Reading::List | Reading::Zset))
        });
        if !has_order {
            rows.sort_by(|one, other| one.user.cmp(&other.user));
        }
        self.users(rows, once)
    }

    /// An account, an item or a coupon.
    fn single(&mut self, row: Row, taken: &mut Taken) {
        let (rule, place) = self.rule(&row);
        let meaning = rule.meaning.clone();
        let takers = taken.remove(&(row.rule, row.id.clone())).unwrap_or_default();
        let made = match meaning {
            Meaning::Accounts { decimals } => self.account(row, place.clone(), decimals),
            Meaning::Stock { counts, per_owner_max } => {
                self.item(row, place.clone(), counts, per_owner_max, takers)
            }
            Meaning::Coupons { counts, max, limit } => {
                self.coupon(row, place.clone(), (counts, max), limit, takers)
            }
            Meaning::Packets { .. } | Meaning::Taken { .. } => Ok(()),
        };
        if let Err(reason) = made {
            self.wrong(&place, reason);
        }
    }

    fn account(&mut self, row: Row, place: Place, decimals: u8) -> Result<(), String> {
        let balance = amount(&row.number, decimals)?;
        let overdraft = row.overdraft.map_or(Ok(0), |text| positive(&text, decimals))?;
        if balance.unsigned_abs() > overdraft && balance < 0 {
            return Err(format!(
                "has {}, which is below zero; give its rule an overdraft that allows it",
                row.number
            ));
        }
        let asset = row.asset.unwrap_or_default();
        let account = Account { place, asset, balance, overdraft };
        once(&mut self.made.accounts, row.id, account, |its| &its.place)
    }

    fn item(
        &mut self,
        row: Row,
        place: Place,
        counts: Counts,
        per_owner_max: Option<u64>,
        takers: Vec<TakenRow>,
    ) -> Result<(), String> {
        let (number, taken) = (positive(&row.number, 0)?, self.sorted(takers, false));
        let sold = sum(&taken);
        let left = match counts {
            Counts::Total => number
                .checked_sub(sold)
                .ok_or_else(|| format!("has {number} in all, but {sold} were taken"))?,
            _ => number,
        };
        check_most(&taken, per_owner_max, "per_owner_max")?;
        once(&mut self.made.items, row.id, Item { place, left, per_owner_max, taken }, |its| &its.place)
    }

    fn coupon(
        &mut self,
        row: Row,
        place: Place,
        (counts, max): (Counts, Option<u64>),
        limit: Option<OwnLimit>,
        takers: Vec<TakenRow>,
    ) -> Result<(), String> {
        let (number, taken) = (positive(&row.number, 0)?, self.sorted(takers, false));
        let used = sum(&taken);
        let max = match (counts, max) {
            (Counts::Used, _) if number != used => {
                return Err(format!("counts {number} claims, but the keys of users have {used}"));
            }
            (Counts::Used, max) => max.unwrap_or_default(),
            (Counts::Left, _) => number.saturating_add(used),
            (Counts::Total, _) => number,
        };
        if used > max {
            return Err(format!("has {max} in all, but {used} were claimed"));
        }
        check_most(&taken, limit.as_ref().map(|limit| limit.max), "per_user")?;
        once(&mut self.made.coupons, row.id, Coupon { place, max, limit, taken }, |its| &its.place)
    }

    fn campaign(&mut self, rule: usize, id: String, rows: &[Row], takers: Vec<TakenRow>) {
        let Meaning::Packets { decimals, next } = self.map.rules[rule].meaning else { return };
        let Some(first) = rows.first() else { return };
        let (_, place) = self.rule(first);
        let mut left = Vec::with_capacity(rows.len());
        for row in rows {
            match positive(&row.number, decimals) {
                Ok(0) => self.wrong(&place, "has a packet with nothing in it"),
                Ok(amount) => left.push(amount),
                Err(reason) => self.wrong(&place, reason),
            }
        }
        if next == Next::Last {
            left.reverse();
        }
        let asset = first.asset.clone().unwrap_or_default();
        self.add_campaign(id, Campaign { place, asset, left, taken: Vec::new() }, takers);
    }

    fn add_campaign(&mut self, id: String, campaign: Campaign, takers: Vec<TakenRow>) {
        let taken = self.sorted(takers, true);
        let place = campaign.place.clone();
        let campaign = Campaign { taken, ..campaign };
        if let Err(reason) = once(&mut self.made.campaigns, id, campaign, |its| &its.place) {
            self.wrong(&place, reason);
        }
    }

    /// Redis removes a list with its last element; all other resources need the key that says how many there are.
    fn without_own_key(&mut self, rule: usize, id: String, takers: Vec<TakenRow>) {
        let Some(first) = takers.first() else { return };
        let (place, asset) = (first.place.clone(), first.asset.clone());
        match &self.map.rules[rule].meaning {
            Meaning::Packets { .. } => {
                let asset = asset.unwrap_or_default();
                self.add_campaign(id, Campaign { place, asset, left: Vec::new(), taken: Vec::new() }, takers);
            }
            _ => {
                let pattern = &self.map.rules[rule].key;
                self.wrong(
                    &place,
                    format!("is of '{id}', for which no key as {pattern} says how much there is"),
                );
            }
        }
    }
}

/// Adds a resource that no other key has made.
fn once<T>(
    made: &mut BTreeMap<String, T>,
    id: String,
    value: T,
    place: impl Fn(&T) -> &Place,
) -> Result<(), String> {
    if let Some(other) = made.get(&id) {
        return Err(format!("makes '{id}', which {} makes too", crate::error::shown(&place(other).key)));
    }
    made.insert(id, value);
    Ok(())
}

fn check_most(taken: &[(String, u64)], most: Option<u64>, name: &str) -> Result<(), String> {
    let Some(most) = most else { return Ok(()) };
    match taken.iter().find(|(_, count)| *count > most) {
        Some((user, count)) => Err(format!("was taken {count} times by {user}, and {name} is {most}")),
        None => Ok(()),
    }
}

/// An amount in minor units.
fn amount(text: &str, decimals: u8) -> Result<i64, String> {
    let none = Vec::new;
    let numbers =
        Numbers { scale: decimals, decimal: '.', thousands: None, credit_marks: none(), debit_marks: none() };
    numbers.read(text).map_err(|why| format!("has no number: {why}"))
}

fn positive(text: &str, decimals: u8) -> Result<u64, String> {
    let amount = amount(text, decimals)?;
    u64::try_from(amount).map_err(|_| format!("has {}, which is below zero", crate::error::shown(text)))
}
