//! Arguments made of several words: cuts, limits, subjects, prices.

mod cut;
mod limits;
mod orders;
mod references;
mod window;

pub use cut::{Cut, Method, PACKETS_MAX};
pub use limits::{
    DIMENSIONS_MAX, Dimension, LIMITS_MAX, Limit, LimitChange, LimitChanges, LimitShape, Limits, Subject,
};
pub use orders::{BookPlace, OrderPricing, Side, StpMode, Tif};
pub use references::{OptionalResource, Reason, Resource};
pub use window::{CalendarUnit, OFFSET_MINUTES_MAX, Window};

use super::argument::Invalid;
use super::table::Command;
use crate::types::{Natural, Positive};
use cut::check_cut;

/// Encodes a struct of one list as the list.
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

use list_wire;

/// Checks that need several arguments, and defaults that depend on other arguments.
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
