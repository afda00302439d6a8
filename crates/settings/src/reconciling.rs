//! What a reconciliation in the server does about what it finds.

use super::table::Spec;
use super::value::{Kind, Setting};

/// What a reconciliation does about rows of the tables that differ. An engine is never changed by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepairLevel {
    /// It reports them.
    Alarm,
    /// It also says how many rows would be put right, and whether they may be.
    Propose,
    /// It puts them right.
    Repair,
}

impl Setting for RepairLevel {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        "alarm, propose or repair".to_owned()
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        match text {
            "alarm" => Some(Self::Alarm),
            "propose" => Some(Self::Propose),
            "repair" => Some(Self::Repair),
            _ => None,
        }
    }
}
