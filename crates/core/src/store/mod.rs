//! The containers that state is kept in. Each can note what it changes and take it back, which is
//! how a refused atomic batch leaves no trace.

mod chunks;
mod index;
mod ordered;
mod table;

pub use chunks::Chunks;
pub use index::Index;
pub use ordered::Ordered;
pub use table::{Slot, Table};

/// What can take back what it changed since a mark.
pub trait Reversible {
    /// Starts to note changes.
    fn begin(&mut self);

    /// Keeps what was changed and notes no more.
    fn commit(&mut self);

    /// Takes back what was changed since [`Reversible::begin`], last change first.
    fn rollback(&mut self);
}

/// Passes the three calls on to the named fields.
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
