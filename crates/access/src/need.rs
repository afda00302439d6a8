//! What a request needs: a verb, on a kind of resource.

use scarce_core::command::rules::Verb;
use scarce_core::command::{CommandSpec, Effect};
use scarce_core::resource::ResourceKind;

/// What a scope can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Accounts, with their holds.
    Account,
    /// Stock items.
    Stock,
    /// Campaigns of red packets.
    Campaign,
    /// Coupons.
    Coupon,
    /// Markets, with their orders.
    Market,
    /// Scripts of the operator's.
    Script,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Account, Self::Stock, Self::Campaign, Self::Coupon, Self::Market, Self::Script];

    /// The word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Stock => "stock",
            Self::Campaign => "campaign",
            Self::Coupon => "coupon",
            Self::Market => "market",
            Self::Script => "script",
        }
    }

    pub(crate) const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl From<ResourceKind> for Kind {
    fn from(kind: ResourceKind) -> Self {
        match kind {
            ResourceKind::Account => Self::Account,
            ResourceKind::Stock => Self::Stock,
            ResourceKind::Campaign => Self::Campaign,
            ResourceKind::Coupon => Self::Coupon,
            ResourceKind::Market => Self::Market,
        }
    }
}

/// The bit of a verb that a key can have.
pub(crate) const fn bit(verb: Verb) -> u8 {
    match verb {
        Verb::Any => 0,
        verb => 1 << verb as u8,
    }
}

/// Of which kinds a scope must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kinds {
    Of(Kind),
    /// Of any: the resource only says where to look.
    Some,
    /// Of all: what is shown is of no single kind.
    All,
}

/// What a request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// One of these verbs.
    verbs: u8,
    /// The one that is named to a caller that lacks it: one that a key can have.
    verb: Verb,
    kinds: Kinds,
    /// Whether it is about all resources, whichever are named.
    is_of_all: bool,
    /// Whether nothing less than a scope of everything will do.
    is_everything: bool,
}

/// What shows the sum of a whole partition: the resource that it names only says of which.
const OF_PARTITIONS: [&str; 1] = ["ACCOUNT.WORLD"];

impl Need {
    /// To operate the server.
    pub const OPERATE: Self = Self::of_all(bit(Verb::Operate), Verb::Operate);

    /// To read all there is.
    pub const READ_ALL: Self = Self::of_all(bit(Verb::Read), Verb::Read);

    /// To settle the doubt of an operation that may be another caller's, about any resource.
    pub const RESOLVE_ALL: Self = Self::of_all(any_of(Effect::Write), Verb::Take);

    /// To do everything: who may say what others may do could otherwise give itself more than it has.
    pub const EVERYTHING: Self =
        Self { is_everything: true, ..Self::of_all(bit(Verb::Operate), Verb::Operate) };

    const fn of_all(verbs: u8, verb: Verb) -> Self {
        Self { verbs, verb, kinds: Kinds::All, is_of_all: true, is_everything: false }
    }

    /// What a command needs, by its row of the table.
    #[must_use]
    pub fn of(spec: &CommandSpec) -> Self {
        let verb = spec.verb();
        if verb == Verb::Any {
            // Several verbs will do; a caller that lacks all of them reads the one that fits best.
            let verb = if spec.effect == Effect::Read { Verb::Read } else { Verb::Take };
            return Self { verbs: any_of(spec.effect), ..Self::on_some(verb) };
        }
        let kinds = spec.resource.map_or(Kinds::All, |kind| Kinds::Of(kind.into()));
        Self { kinds, is_of_all: OF_PARTITIONS.contains(&spec.name), ..Self::on_some(verb) }
    }

    /// A verb on a kind.
    #[must_use]
    pub const fn on(verb: Verb, kind: Kind) -> Self {
        Self { kinds: Kinds::Of(kind), ..Self::on_some(verb) }
    }

    /// A verb on some kind of resource, whichever that is.
    #[must_use]
    pub const fn on_some(verb: Verb) -> Self {
        Self { verbs: bit(verb), verb, kinds: Kinds::Some, is_of_all: false, is_everything: false }
    }

    /// Whether a scope of these verbs and kinds meets it, for some resources at least.
    pub(crate) const fn is_met_by(self, verbs: u8, kinds: u8) -> bool {
        let are_kinds = match self.kinds {
            Kinds::Of(kind) => kinds & kind.bit() != 0,
            Kinds::Some => kinds & !Kind::Script.bit() != 0,
            Kinds::All => kinds == ALL_KINDS,
        };
        self.verbs & verbs != 0 && are_kinds
    }

    /// The verb, and the kind if it is of one.
    #[must_use]
    pub const fn parts(self) -> (Verb, Option<Kind>) {
        match self.kinds {
            Kinds::Of(kind) => (self.verb, Some(kind)),
            Kinds::Some | Kinds::All => (self.verb, None),
        }
    }

    /// Whether it is about all resources, whichever are named.
    pub(crate) const fn is_of_all(self) -> bool {
        self.is_of_all
    }

    /// Whether nothing less than a scope of everything will do.
    pub(crate) const fn is_everything(self) -> bool {
        self.is_everything
    }

    /// The verb in words.
    #[must_use]
    pub const fn verb(self) -> &'static str {
        if self.is_everything { "*" } else { self.verb.word() }
    }

    /// The kind in words.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self.kinds {
            Kinds::Of(kind) => kind.word(),
            Kinds::Some | Kinds::All => "*",
        }
    }
}

/// The bits of all kinds.
pub(crate) const ALL_KINDS: u8 = (1 << Kind::ALL.len()) - 1;

/// The bits of all verbs.
pub(crate) const ALL_VERBS: u8 = (1 << Verb::ALL.len()) - 1;

/// A caller that sends operations, or sees what they did, may ask about its own; only who sends them may settle a doubt.
const fn any_of(effect: Effect) -> u8 {
    let senders = ALL_VERBS & !bit(Verb::Operate) & !bit(Verb::Read);
    match effect {
        Effect::Write => senders,
        Effect::Read => senders | bit(Verb::Read),
    }
}
