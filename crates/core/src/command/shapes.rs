//! Arguments made of several words: cuts, limits, subjects, prices.

use compact_str::CompactString;

use super::Routed;
use super::argument::{Argument, Invalid, Words};
use super::table::Command;
use crate::codec::{Input, Malformed, Wire};
use crate::event::Shown;
use crate::outcome::Value;
use crate::types::{Id, Natural, Positive, Text};
use crate::{facts, record_wire, shown_word, word_argument, words};

shown_word!(Side, Tif, StpMode, Method);

words! {
    /// Which side of a market.
    Side {
        /// Wants the base and pays the quote.
        1 Buy = "BUY",
        /// Gives the base for the quote.
        2 Sell = "SELL",
    }
}
word_argument!(Side, "BUY|SELL");

impl Side {
    /// The side that it trades with.
    #[must_use]
    pub const fn opposite(self) -> Self {
        match self {
            Self::Buy => Self::Sell,
            Self::Sell => Self::Buy,
        }
    }
}

words! {
    /// How long an order stands.
    Tif {
        /// Until it is filled or cancelled.
        1 Gtc = "GTC",
        /// What cannot be filled at once is cancelled.
        2 Ioc = "IOC",
        /// Filled whole at once, or refused.
        3 Fok = "FOK",
        /// Rests; refused where it would trade at once.
        4 Post = "POST",
    }
}
word_argument!(Tif, "GTC|IOC|FOK|POST");

words! {
    /// What happens where an owner's order would trade with another of the same owner.
    StpMode {
        /// They trade.
        0 None = "NONE",
        /// The rest of the arriving order is cancelled.
        1 CancelTaker = "CANCEL_TAKER",
        /// The resting order is cancelled.
        2 CancelMaker = "CANCEL_MAKER",
        /// Both are cancelled.
        3 CancelBoth = "CANCEL_BOTH",
        /// The smaller is cancelled and the larger reduced by it.
        4 Decrement = "DECREMENT",
    }
}
word_argument!(StpMode, "NONE|CANCEL_TAKER|CANCEL_MAKER|CANCEL_BOTH|DECREMENT");

words! {
    /// How a total is cut into packets.
    Method {
        /// As equal as integers allow.
        1 Even = "EVEN",
        /// Each between the minimum and twice the mean of what remains.
        2 DoubleMean = "DOUBLE_MEAN",
        /// Distinct random cut points on the line from nought to the total.
        3 LineCut = "LINE_CUT",
    }
}
word_argument!(Method, "EVEN|DOUBLE_MEAN|LINE_CUT");

/// At what price an order may trade.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderPricing {
    /// At this price or a better one.
    Limit(Positive),
    /// At any price.
    Market,
}

impl Argument for OrderPricing {
    const SYNTAX: Option<&'static str> = Some("LIMIT price|MARKET");

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        if words.skip("LIMIT") {
            Positive::take(words, "price").map(Self::Limit)
        } else if words.skip("MARKET") {
            Ok(Self::Market)
        } else {
            Err(Invalid::new(argument, "must be LIMIT price or MARKET"))
        }
    }
}

impl Wire for OrderPricing {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::Limit(price) => Some(*price).put(out),
            Self::Market => None::<Positive>.put(out),
        }
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        Ok(Option::<Positive>::get(input)?.map_or(Self::Market, Self::Limit))
    }
}

/// The most packets that one campaign is cut into.
pub const PACKETS_MAX: u64 = 1_000_000;

/// Where a campaign's packets come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Cut by chance from a total.
    Plan {
        /// What all packets sum to.
        total: Positive,
        /// How many packets.
        count: Positive,
        /// How they are cut.
        method: Method,
    },
    /// Given one by one, claimed in this order.
    Amounts(Vec<Positive>),
}

impl Argument for Cut {
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

/// A stretch of time in which a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// For ever.
    None,
    /// Calendar units at an offset from UTC in minutes.
    Calendar(CalendarUnit, i64),
    /// Equal stretches of milliseconds since the Unix epoch.
    Fixed(Positive),
}

words! {
    /// A unit of the calendar; weeks begin on Monday.
    CalendarUnit {
        /// From full hour to full hour.
        1 Hour = "HOUR",
        /// From midnight to midnight.
        2 Day = "DAY",
        /// From Monday to Monday.
        3 Week = "WEEK",
        /// From the first to the first.
        4 Month = "MONTH",
    }
}

/// The furthest from UTC that a place may be, in minutes.
pub const OFFSET_MINUTES_MAX: i64 = 18 * 60;

impl Window {
    fn take(words: &mut Words<'_>) -> Result<Self, Invalid> {
        let word = words.take("window")?;
        let window = if word.eq_ignore_ascii_case(b"NONE") {
            Self::None
        } else if let Some(unit) = CalendarUnit::from_word(word) {
            Self::Calendar(unit, 0)
        } else {
            let duration_ms = Positive::parse(word, "window").map_err(|_| {
                Invalid::new("window", "must be none, hour, day, week, month or milliseconds")
            })?;
            Self::Fixed(duration_ms)
        };
        if !words.skip("OFFSET") {
            return Ok(window);
        }
        let minutes = crate::types::Delta::take(words, "offset")?.get();
        match window {
            Self::Calendar(unit, _) if minutes.abs() <= OFFSET_MINUTES_MAX => {
                Ok(Self::Calendar(unit, minutes))
            }
            Self::Calendar(..) => Err(Invalid::new("offset", "must be -1080 to 1080 minutes")),
            _ => Err(Invalid::new("offset", "goes with hour, day, week and month only")),
        }
    }
}

impl Wire for Window {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            Self::None => out.push(0),
            Self::Calendar(unit, offset_minutes) => {
                out.push(1);
                unit.put(out);
                offset_minutes.put(out);
            }
            Self::Fixed(duration_ms) => {
                out.push(2);
                duration_ms.put(out);
            }
        }
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        match input.byte()? {
            0 => Ok(Self::None),
            1 => Ok(Self::Calendar(Wire::get(input)?, Wire::get(input)?)),
            2 => Ok(Self::Fixed(Wire::get(input)?)),
            _ => Err(Malformed),
        }
    }
}

/// The most limits that one coupon has.
pub const LIMITS_MAX: usize = 16;

/// The most dimensions that a limit counts by or a subject names.
pub const DIMENSIONS_MAX: usize = 8;

/// The name of a subject's dimension, such as `user` or `device`: 1 to 32 bytes of `a-z 0-9 _ -`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dimension(CompactString);

impl Dimension {
    fn parse(text: &[u8], argument: &'static str) -> Result<Self, Invalid> {
        let lower = text.to_ascii_lowercase();
        let legal = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-".contains(byte);
        let reserved = [&b"id"[..], b"deadline"].contains(&lower.as_slice());
        if lower.is_empty() || lower.len() > 32 || !lower.iter().all(legal) || lower == b"-" || reserved {
            return Err(Invalid::new(
                argument,
                "must name dimensions of a-z 0-9 _ -, other than id and deadline",
            ));
        }
        Ok(Self(CompactString::from_utf8_lossy(&lower)))
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Wire for Dimension {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
    }

    fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
        CompactString::get(input).map(Self)
    }
}

/// What a limit counts by and in which stretches of time. Sorted dimensions, so that their order
/// says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitShape {
    /// The dimensions that tell subjects apart; none counts everybody together.
    pub per: Vec<Dimension>,
    /// When the count starts anew.
    pub window: Window,
}
record_wire!(LimitShape { per, window });

impl LimitShape {
    fn take(words: &mut Words<'_>) -> Result<Self, Invalid> {
        if !words.skip("PER") {
            return Err(Invalid::new("limit", "needs PER dimensions or PER -"));
        }
        let dimensions = words.take("per")?;
        let mut per = Vec::new();
        if dimensions != b"-" {
            for name in dimensions.split(|byte| matches!(byte, b',' | b'+')) {
                per.push(Dimension::parse(name, "per")?);
            }
        }
        per.sort();
        if per.len() > DIMENSIONS_MAX || per.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Invalid::new("per", "names a dimension twice, or more than 8"));
        }
        if !words.skip("WINDOW") {
            return Err(Invalid::new("limit", "needs WINDOW none|hour|day|week|month|ms"));
        }
        Ok(Self { per, window: Window::take(words)? })
    }
}

/// A quantity limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Its name, which is what it is known by when it is changed.
    pub name: Id,
    /// How many are allowed.
    pub max: Natural,
    /// What it counts.
    pub shape: LimitShape,
}
record_wire!(Limit { name, max, shape });

/// As name, max, dimensions, window, offset in minutes.
impl Shown for Limit {
    fn shown(&self) -> Value {
        let per: Vec<Value> = self.shape.per.iter().map(|dimension| dimension.as_str().into()).collect();
        let (window, offset_minutes) = match self.shape.window {
            Window::None => (Value::from("NONE"), None),
            Window::Calendar(unit, offset_minutes) => (Value::from(unit.word()), Some(offset_minutes)),
            Window::Fixed(duration_ms) => (Value::from(duration_ms.get()), None),
        };
        Value::List(facts![&self.name, self.max.get(), per, window, offset_minutes].into_vec())
    }
}

/// The limits of a new coupon, in the order in which they are checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits(pub Vec<Limit>);

impl Argument for Limits {
    const SYNTAX: Option<&'static str> =
        Some("name max PER dims|- WINDOW none|hour|day|week|month|ms [OFFSET minutes] [LIMIT ...]");

    fn take(words: &mut Words<'_>, _argument: &'static str) -> Result<Self, Invalid> {
        let name = Id::take(words, "limit")?;
        let max = Natural::take(words, "max")?;
        Ok(Self(vec![Limit { name, max, shape: LimitShape::take(words)? }]))
    }

    fn join(mut self, later: Self, argument: &'static str) -> Result<Self, Invalid> {
        self.0.extend(later.0);
        check_names(self.0.iter().map(|limit| &limit.name), argument)?;
        Ok(self)
    }
}

/// A new maximum for a limit, or a limit to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitChange {
    /// Which limit.
    pub name: Id,
    /// How many are allowed from now on.
    pub max: Natural,
    /// What a new limit counts; for an existing one absent, or as it is.
    pub shape: Option<LimitShape>,
}
record_wire!(LimitChange { name, max, shape });

/// The changes to a coupon's limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitChanges(pub Vec<LimitChange>);

impl Argument for LimitChanges {
    const SYNTAX: Option<&'static str> =
        Some("name max [PER dims|- WINDOW none|hour|day|week|month|ms [OFFSET minutes]] [LIMIT ...]");

    fn take(words: &mut Words<'_>, _argument: &'static str) -> Result<Self, Invalid> {
        let name = Id::take(words, "limit")?;
        let max = Natural::take(words, "max")?;
        let shaped = words.peek().is_some_and(|word| word.eq_ignore_ascii_case(b"PER"));
        let shape = if shaped { Some(LimitShape::take(words)?) } else { None };
        Ok(Self(vec![LimitChange { name, max, shape }]))
    }

    fn join(mut self, later: Self, argument: &'static str) -> Result<Self, Invalid> {
        self.0.extend(later.0);
        check_names(self.0.iter().map(|limit| &limit.name), argument)?;
        Ok(self)
    }
}

fn check_names<'a>(names: impl Iterator<Item = &'a Id>, argument: &'static str) -> Result<(), Invalid> {
    let mut names: Vec<_> = names.collect();
    if names.len() > LIMITS_MAX {
        return Err(Invalid::new(argument, "are more than 16"));
    }
    names.sort();
    if names.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(Invalid::new(argument, "name one limit twice"));
    }
    Ok(())
}

macro_rules! list_wire {
    ($($name:ident),*) => {$(
        impl Wire for $name {
            fn put(&self, out: &mut Vec<u8>) {
                self.0.put(out);
            }

            fn get(input: &mut Input<'_>) -> Result<Self, Malformed> {
                Wire::get(input).map(Self)
            }
        }
    )*};
}

list_wire!(Limits, LimitChanges);

/// Who claims: a user, and what else limits may count by. Sorted by dimension, so that the order in
/// which they were named says nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject(Vec<(Dimension, Id)>);

list_wire!(Subject);

impl Subject {
    /// The value of a dimension, where the subject names it.
    #[must_use]
    pub fn get(&self, dimension: &Dimension) -> Option<&Id> {
        self.0.iter().find(|(name, _)| name == dimension).map(|(_, value)| value)
    }

    /// The user.
    #[must_use]
    pub fn user(&self) -> Option<&Id> {
        self.0.iter().find(|(name, _)| name.as_str() == "user").map(|(_, value)| value)
    }
}

/// As dimension, value, dimension, value ...
impl Shown for Subject {
    fn shown(&self) -> Value {
        let pairs = self.0.iter().flat_map(|(name, value)| [Value::from(name.as_str()), Value::from(value)]);
        Value::List(pairs.collect())
    }
}

impl Argument for Subject {
    const SYNTAX: Option<&'static str> = Some("USER id [dim value ...]");

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        if !words.peek().is_some_and(|word| word.eq_ignore_ascii_case(b"USER")) {
            return Err(Invalid::new(argument, "must begin with USER id"));
        }
        let mut pairs = Vec::new();
        while let Some(word) = words.peek() {
            if word.eq_ignore_ascii_case(b"ID") || word.eq_ignore_ascii_case(b"DEADLINE") {
                break;
            }
            let dimension = Dimension::parse(words.take("dimension")?, "dimension")?;
            pairs.push((dimension, Id::take(words, "value")?));
        }
        pairs.sort();
        if pairs.len() > DIMENSIONS_MAX || pairs.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(Invalid::new(argument, "names a dimension twice, or more than 8"));
        }
        Ok(Self(pairs))
    }
}

/// Why stock was adjusted, written as `REASON text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason(pub Text);

impl Argument for Reason {
    const SYNTAX: Option<&'static str> = Some("REASON text");

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        if words.skip("REASON") {
            Text::take(words, argument).map(Self)
        } else {
            Err(Invalid::new(argument, "must be given as REASON text"))
        }
    }
}
list_wire!(Reason);

/// Any resource, to name its partition, written as `ON resource`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource(pub Id);

impl Argument for Resource {
    const SYNTAX: Option<&'static str> = Some("ON resource");

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        if words.skip("ON") {
            Id::take(words, argument).map(Self)
        } else {
            Err(Invalid::new(argument, "must be given as ON resource"))
        }
    }
}
list_wire!(Resource);

impl Routed for Resource {
    fn visit(&self, visit: &mut dyn FnMut(&Id)) {
        visit(&self.0);
    }
}

/// A resource that may be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionalResource(pub Option<Id>);

impl Argument for OptionalResource {
    const SYNTAX: Option<&'static str> = Some("[resource]");

    fn take(words: &mut Words<'_>, argument: &'static str) -> Result<Self, Invalid> {
        words.next().map(|word| Id::parse(word, argument)).transpose().map(Self)
    }
}
list_wire!(OptionalResource);

impl Routed for OptionalResource {
    fn visit(&self, visit: &mut dyn FnMut(&Id)) {
        self.0.visit(visit);
    }
}

/// Checks what no single argument shows, and fills in defaults that depend on other arguments.
pub(super) fn check_shape(command: &mut Command) -> Result<(), Invalid> {
    match command {
        Command::StockCreate(create) => check_times(create.starts_at, create.ends_at),
        Command::StockAdjust(adjust) if adjust.delta.get() == 0 => {
            Err(Invalid::new("delta", "must not be 0"))
        }
        Command::PacketCreate(create) => {
            check_times(create.starts_at, create.ends_at)?;
            if matches!(create.cut, Cut::Plan { .. }) {
                create.min.get_or_insert(Positive::ONE);
            }
            check_cut(&create.cut, create.min, create.max)
        }
        Command::CouponCreate(create) => {
            check_times(create.starts_at, create.ends_at)?;
            check_given(create.limits.0.is_empty())
        }
        Command::CouponUpdate(update) => check_given(update.limits.0.is_empty()),
        Command::MarketCreate(create) if create.min_quantity > create.max_quantity => {
            Err(Invalid::new("min_quantity", "is above max_quantity"))
        }
        Command::OrderPlace(place) => {
            let tif = *place.tif.get_or_insert(match place.pricing {
                OrderPricing::Limit(_) => Tif::Gtc,
                OrderPricing::Market => Tif::Ioc,
            });
            let resting = matches!(tif, Tif::Gtc | Tif::Post);
            if resting && place.pricing == OrderPricing::Market {
                return Err(Invalid::new("tif", "must be IOC or FOK for a market order"));
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn check_given(missing: bool) -> Result<(), Invalid> {
    if missing { Err(Invalid::new("limits", "are missing: give LIMIT at least once")) } else { Ok(()) }
}

fn check_times(starts_at: Option<Natural>, ends_at: Option<Natural>) -> Result<(), Invalid> {
    match (starts_at.map(Natural::get), ends_at.map(Natural::get)) {
        (Some(start), Some(end)) if end <= start => Err(Invalid::new("ends_at", "must be after starts_at")),
        _ => Ok(()),
    }
}

/// The sum of amounts, or `None` beyond the range of integers.
fn sum_of(amounts: &[Positive]) -> Option<u64> {
    amounts
        .iter()
        .try_fold(0_u64, |sum, amount| sum.checked_add(amount.get()))
        .filter(|sum| *sum <= crate::types::INTEGER_MAX)
}

fn check_cut(cut: &Cut, min: Option<Positive>, max: Option<Positive>) -> Result<(), Invalid> {
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
