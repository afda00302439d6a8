//! Keys of callers: what each may do, how they are kept, and whether one that is shown is right.
//!
//! Must not know: a port, a file, or a clock; the time is handed in.
//!
//! Where to begin: [`Ring`], all keys of a deployment; [`Rights`], what one may do.

#![forbid(unsafe_code)]

mod key;
mod need;
mod rights;
mod ring;
mod scope;
mod secret;

pub use key::{Asked, Key, KeyError, NAMESPACE_FRONT, Standing};
pub use need::{Kind, Need};
pub use rights::{Lack, Rights};
pub use ring::{Denial, FORMAT_VERSION, Ring};
pub use scope::{Part, Pattern, Scope, ScopeError};
pub use secret::{KeyId, Secret, Shown};
