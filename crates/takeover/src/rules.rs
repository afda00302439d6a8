//! Rules: each reads the keys of one pattern and says what they mean.

use toml::Spanned;

use crate::error::TakeoverError;
use crate::map::{
    AccountsText, Counts, CouponsText, MapText, Next, PacketsText, Shape, StockText, TakenText, line,
};
use crate::pattern::Pattern;

/// Decimals of an amount at most.
const DECIMALS_MAX: u8 = 18;

/// How the keys of one pattern are read.
#[derive(Debug)]
pub(crate) struct Rule {
    /// Its line in the map.
    pub(crate) line: usize,
    pub(crate) key: Pattern,
    pub(crate) reading: Reading,
    pub(crate) templates: Templates,
    pub(crate) meaning: Meaning,
}

/// How a key is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A value for the key.
    String,
    /// A value for each field.
    Fields,
    /// One record of these fields.
    Record(Vec<String>),
    List,
    Set,
    Zset,
}

/// Which texts are made of what was read.
#[derive(Debug)]
pub(crate) struct Templates {
    /// The resource.
    pub(crate) id: Pattern,
    /// Who has taken something of it.
    pub(crate) user: Option<Pattern>,
    /// The amount or quantity.
    pub(crate) number: Pattern,
    pub(crate) asset: Option<Pattern>,
    pub(crate) overdraft: Option<Pattern>,
}

/// What the keys of a rule mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Accounts {
        decimals: u8,
    },
    Stock {
        counts: Counts,
        per_owner_max: Option<u64>,
    },
    Packets {
        decimals: u8,
        next: Next,
    },
    Coupons {
        counts: Counts,
        max: Option<u64>,
        limit: Option<OwnLimit>,
    },
    /// Who has taken something of the resources of the rule at this place.
    Taken {
        of: usize,
    },
}

/// How often one user may claim a coupon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OwnLimit {
    pub(crate) max: u64,
    pub(crate) window: String,
    pub(crate) offset_minutes: Option<i32>,
}

/// The rules of a map.
pub(crate) fn compile(map: &MapText, text: &str) -> Result<Vec<Rule>, TakeoverError> {
    let mut compiler = Compiler { text, rules: Vec::new() };
    map.accounts.iter().try_for_each(|rule| compiler.accounts(rule))?;
    map.stock.iter().try_for_each(|rule| compiler.stock(rule))?;
    map.packets.iter().try_for_each(|rule| compiler.packets(rule))?;
    map.coupons.iter().try_for_each(|rule| compiler.coupons(rule))?;
    Ok(compiler.rules)
}

struct Compiler<'a> {
    text: &'a str,
    rules: Vec<Rule>,
}

/// The templates of a rule before they are read.
#[derive(Clone, Copy, Default)]
struct Texts<'a> {
    id: &'a str,
    user: Option<&'a str>,
    number: Option<&'a str>,
    asset: Option<&'a str>,
    overdraft: Option<&'a str>,
}

impl Compiler<'_> {
    fn accounts(&mut self, rule: &AccountsText) -> Result<(), TakeoverError> {
        let texts = Texts {
            id: &rule.account,
            number: rule.amount.as_deref(),
            asset: Some(&rule.asset),
            overdraft: rule.overdraft.as_deref(),
            ..Texts::default()
        };
        self.add(&rule.key, rule.shape, texts, Meaning::Accounts { decimals: rule.decimals })
    }

    fn stock(&mut self, rule: &StockText) -> Result<(), TakeoverError> {
        if rule.counts == Counts::Used {
            return Err(self.wrong(&rule.key, "counts must be left or total for stock"));
        }
        let texts = Texts { id: &rule.sku, number: rule.quantity.as_deref(), ..Texts::default() };
        let meaning = Meaning::Stock { counts: rule.counts, per_owner_max: rule.per_owner_max };
        self.add(&rule.key, rule.shape, texts, meaning)?;
        self.taken(&rule.sku, &rule.taken, None)
    }

    fn packets(&mut self, rule: &PacketsText) -> Result<(), TakeoverError> {
        if rule.shape != Shape::List {
            return Err(self.wrong(&rule.key, "packets are a list of amounts; their type must be list"));
        }
        let texts = Texts {
            id: &rule.campaign,
            number: rule.amount.as_deref(),
            asset: Some(&rule.asset),
            ..Texts::default()
        };
        let meaning = Meaning::Packets { decimals: rule.decimals, next: rule.next };
        self.add(&rule.key, rule.shape, texts, meaning)?;
        // A list whose last element is taken is no more; the asset is then in the rule alone.
        self.taken(&rule.campaign, &rule.taken, Some(&rule.asset))
    }

    fn coupons(&mut self, rule: &CouponsText) -> Result<(), TakeoverError> {
        if rule.counts == Counts::Used && rule.max.is_none() {
            return Err(self.wrong(
                &rule.key,
                "max is missing: a key that counts what was used does not say how many there are",
            ));
        }
        if rule.counts != Counts::Used && rule.max.is_some() {
            return Err(self.wrong(
                &rule.key,
                "max is for counts = \"used\"; otherwise the key says how many there are",
            ));
        }
        if rule.per_user.is_none() && (rule.window.is_some() || rule.offset_minutes.is_some()) {
            return Err(self.wrong(&rule.key, "window and offset_minutes are for per_user, which is missing"));
        }
        let window = rule.window.clone().unwrap_or_else(|| "none".to_owned());
        let offset_minutes = rule.offset_minutes;
        let limit = rule.per_user.map(|max| OwnLimit { max, window, offset_minutes });
        let texts = Texts { id: &rule.coupon, number: rule.quantity.as_deref(), ..Texts::default() };
        let meaning = Meaning::Coupons { counts: rule.counts, max: rule.max, limit };
        self.add(&rule.key, rule.shape, texts, meaning)?;
        self.taken(&rule.coupon, &rule.taken, None)
    }

    fn taken(&mut self, id: &str, rules: &[TakenText], asset: Option<&str>) -> Result<(), TakeoverError> {
        let of = self.rules.len() - 1;
        for rule in rules {
            let is_packets = asset.is_some();
            if is_packets && rule.amount.is_none() && matches!(rule.shape, Shape::Set | Shape::Zset) {
                let what = "amount is missing: it says how much the packet had that a user took";
                return Err(self.wrong(&rule.key, what));
            }
            let user = rule.user.as_deref().unwrap_or(match rule.shape {
                Shape::Hash => "{field}",
                Shape::Set | Shape::Zset => "{member}",
                Shape::List => "{value}",
                Shape::String => "{user}",
            });
            let number = rule.amount.as_deref().unwrap_or(match rule.shape {
                Shape::String | Shape::Hash => "{value}",
                Shape::List | Shape::Set | Shape::Zset => "1",
            });
            let id = rule.of.as_deref().unwrap_or(id);
            let texts = Texts { id, user: Some(user), number: Some(number), asset, overdraft: None };
            self.add(&rule.key, rule.shape, texts, Meaning::Taken { of })?;
        }
        Ok(())
    }

    fn add(
        &mut self,
        key: &Spanned<String>,
        shape: Shape,
        texts: Texts<'_>,
        meaning: Meaning,
    ) -> Result<(), TakeoverError> {
        if let Meaning::Accounts { decimals } | Meaning::Packets { decimals, .. } = meaning
            && decimals > DECIMALS_MAX
        {
            return Err(self.wrong(key, &format!("decimals must be at most {DECIMALS_MAX}")));
        }
        let parse =
            |text: &str| Pattern::parse(text).map_err(|what| self.wrong(key, &format!("'{text}' {what}")));
        let pattern = parse(key.get_ref())?;
        let templates = Templates {
            id: parse(texts.id)?,
            user: texts.user.map(parse).transpose()?,
            number: parse(texts.number.unwrap_or("{value}"))?,
            asset: texts.asset.map(parse).transpose()?,
            overdraft: texts.overdraft.map(parse).transpose()?,
        };
        let names = templates.names();
        let fields = names.iter().filter_map(|name| name.strip_prefix("hash."));
        let fields: Vec<String> = fields.map(str::to_owned).collect();
        let reading = match shape {
            Shape::String => Reading::String,
            Shape::Hash if fields.is_empty() => Reading::Fields,
            Shape::Hash => Reading::Record(fields),
            Shape::List => Reading::List,
            Shape::Set => Reading::Set,
            Shape::Zset => Reading::Zset,
        };
        if let Some(name) =
            names.iter().find(|name| !reading.has(name) && !pattern.names().any(|its| its == **name))
        {
            let what = format!(
                "'{{{name}}}' is neither a place of the key nor something that a {} has",
                reading.word()
            );
            return Err(self.wrong(key, &what));
        }
        let line = line(self.text, key.span().start);
        self.rules.push(Rule { line, key: pattern, reading, templates, meaning });
        Ok(())
    }

    fn wrong(&self, key: &Spanned<String>, what: &str) -> TakeoverError {
        let what = format!("{}: {what}", key.get_ref());
        TakeoverError::Map { line: Some(line(self.text, key.span().start)), what }
    }
}

impl Templates {
    fn all(&self) -> impl Iterator<Item = &Pattern> {
        let optional = [&self.user, &self.asset, &self.overdraft].into_iter().flatten();
        [&self.id, &self.number].into_iter().chain(optional)
    }

    fn names(&self) -> Vec<String> {
        self.all().flat_map(Pattern::names).map(str::to_owned).collect()
    }
}

impl Reading {
    /// Whether a place has a value in a key that is read so; `value.x` is a field of its JSON.
    fn has(&self, name: &str) -> bool {
        let outer = name.split_once('.').map_or(name, |(outer, _)| outer);
        match self {
            Self::String => outer == "value",
            Self::Fields => outer == "value" || name == "field",
            Self::Record(_) => outer == "hash",
            Self::List => outer == "value" || name == "index",
            Self::Set => outer == "member",
            Self::Zset => outer == "member" || name == "score",
        }
    }

    /// What Redis calls it.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Fields | Self::Record(_) => "hash",
            Self::List => "list",
            Self::Set => "set",
            Self::Zset => "sorted set",
        }
    }
}
