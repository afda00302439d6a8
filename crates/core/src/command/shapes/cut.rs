//! The source of a campaign's packets.

use crate::codec::{Input, Malformed, Wire};
use crate::command::argument::{Argument, ArgumentKind, Invalid, Words};
use crate::event::from_shown::list;
use crate::event::{FromShown, Shown};
use crate::facts;
use crate::outcome::Value;
use crate::types::Positive;
use crate::{shown_word, word_argument, words};

shown_word!(Method);

words! {
    /// How a total is cut into packets.
    Method {
        /// As equal as integers allow.
        1 Even = "EVEN",
        /// Each between the minimum and twice the mean of what remains.
        2 DoubleMean = "DOUBLE_MEAN",
        /// Distinct random cut points on the line from zero to the total.
        3 LineCut = "LINE_CUT",
    }
}
word_argument!(Method, "EVEN|DOUBLE_MEAN|LINE_CUT");

/// The maximum number of packets of a campaign.
pub const PACKETS_MAX: u64 = 1_000_000;

/// The source of a campaign's packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Cut at random from a total.
    Plan {
        /// The sum of all packets.
        total: Positive,
        /// The number of packets.
        count: Positive,
        /// How they are cut.
        method: Method,
    },
    /// Listed one by one, and claimed in this order.
    Amounts(Vec<Positive>),
}

impl Argument for Cut {
    const KIND: ArgumentKind = ArgumentKind::Cut;
    const SYNTAX: Option<&'static str> =
        Some("PLAN total count EVEN|DOUBLE_MEAN|LINE_CUT|AMOUNTS n amount [amount ...]");

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        if words.skip("PLAN") {
            let total = Positive::take(words, "total")?;
            let count = Positive::take(words, "count")?;
            return Ok(Self::Plan { total, count, method: Method::take(words, "method")? });
        }
        if !words.skip("AMOUNTS") {
            return Err(Invalid::new(argument, "must be PLAN total count method or AMOUNTS n amount ..."));
        }
        let count = usize::try_from(Positive::take(words, "n")?.get()).unwrap_or(usize::MAX);
        if count > words.len() {
            return Err(Invalid::new("amounts", "are fewer than n says"));
        }
        let amounts = (0..count).map(|_| Positive::take(words, "amount")).collect::<Result<_, _>>()?;
        Ok(Self::Amounts(amounts))
    }

    /// One unit for each packet.
    fn work(&self) -> u64 {
        match self {
            Self::Plan { count, .. } => count.get(),
            Self::Amounts(amounts) => amounts.len() as u64,
        }
    }
}

/// As PLAN, total, count, method; or AMOUNTS and the amounts.
impl Shown for Cut {
    fn shown(&self) -> Value {
        match self {
            Self::Plan { total, count, method } => {
                Value::List(facts!["PLAN", total.get(), count.get(), method.word()].into_vec())
            }
            Self::Amounts(amounts) => Value::List(
                [Value::from("AMOUNTS")].into_iter().chain(amounts.iter().map(Shown::shown)).collect(),
            ),
        }
    }
}

impl FromShown for Cut {
    fn from_shown(value: &Value) -> Result<Self, Malformed> {
        let positive =
            |value| u64::from_shown(value).and_then(|number| Positive::new(number).ok_or(Malformed));
        match list(value)? {
            [Value::Text(word), total, count, method] if word == "PLAN" => Ok(Self::Plan {
                total: positive(total)?,
                count: positive(count)?,
                method: Method::from_shown(method)?,
            }),
            [Value::Text(word), amounts @ ..] if word == "AMOUNTS" => {
                amounts.iter().map(positive).collect::<Result<_, _>>().map(Self::Amounts)
            }
            _ => Err(Malformed),
        }
    }
}

impl Wire for Cut {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Plan { total, count, method } => {
                out.push(1);
                total.put(out);
                count.put(out);
                method.put(out);
            }
            Self::Amounts(amounts) => {
                out.push(2);
                amounts.put(out);
            }
        }
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        match input.byte()? {
            1 => Ok(Self::Plan {
                total: Wire::get(input)?,
                count: Wire::get(input)?,
                method: Wire::get(input)?,
            }),
            2 => Ok(Self::Amounts(Wire::get(input)?)),
            _ => Err(Malformed),
        }
    }
}

/// The sum of amounts, or `None` beyond the range of integers.
fn sum_of(amounts: &[Positive]) -> Option<u64> {
    amounts
        .iter()
        .try_fold(0_u64, |sum, amount| sum.checked_add(amount.get()))
        .filter(|sum| *sum <= crate::types::INTEGER_MAX)
}

pub(super) fn check_cut(cut: &Cut, min: Option<Positive>, max: Option<Positive>) -> Result<(), Invalid> {
    let (total, count) = match cut {
        Cut::Amounts(_) if min.is_some() || max.is_some() => {
            return Err(Invalid::new("min", "and max go with PLAN only"));
        }
        Cut::Amounts(amounts) => {
            return match sum_of(amounts) {
                Some(_) => Ok(()),
                None => Err(Invalid::new("amounts", "sum to more than 9007199254740991")),
            };
        }
        Cut::Plan { total, count, .. } => (u128::from(total.get()), count.get()),
    };
    if count > PACKETS_MAX {
        return Err(Invalid::new("count", "must be 1000000 at most"));
    }
    let count = u128::from(count);
    let (min, max) = (u128::from(min.map_or(1, Positive::get)), max.map(|max| u128::from(max.get())));
    if min * count > total {
        return Err(Invalid::new("total", "is less than count packets of the minimum"));
    }
    if max.is_some_and(|max| max < min || max * count < total) {
        return Err(Invalid::new("max", "is too small for count packets to reach the total"));
    }
    Ok(())
}
