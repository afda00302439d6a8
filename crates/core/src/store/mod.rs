//! The containers of the state. Each can record its changes and roll them back, so that a refused atomic
//! batch leaves no trace.

mod chains;
mod chunks;
mod index;
mod names;
mod ordered;
mod placed;
mod slices;
mod table;
pub(crate) mod visits;

pub use chunks::Chunks;
pub use index::Index;
pub use ordered::Ordered;
pub(crate) use placed::{Goes, Placed};
pub(crate) use slices::{Frozen, Slice, Sliced, put_frozen};
pub use table::{Lookup, Slot, Table};

/// Can roll back its changes since a mark.
pub trait Reversible {
    /// Starts to record changes.
    fn begin(&mut self);

    /// Keeps the changes and stops recording.
    fn commit(&mut self);

    /// Rolls back the changes since [`Reversible::begin`], last change first.
    fn rollback(&mut self);
}

/// Forwards the three calls to the named fields.
#[macro_export]
macro_rules! reversible_fields {
    ($name:ident { $($field:ident),* $(,)? }) => {
        impl $crate::store::Reversible for $name {
            fn begin(&mut self) {
                $($crate::store::Reversible::begin(&mut self.$field);)*
            }

            fn commit(&mut self) {
                $($crate::store::Reversible::commit(&mut self.$field);)*
            }

            fn rollback(&mut self) {
                $($crate::store::Reversible::rollback(&mut self.$field);)*
            }
        }
    };
}
