//! Prints the Lua library of the Redis engine, to be read or to be debugged.
//!
//!     cargo run --release -p scarce-engine-redis --example redis_library > /tmp/scarce.lua
//!
//! `functions` prints it as `FUNCTION LOAD` takes it; `test` prints the build for tests, whose clock and
//! messages come from the call; `keys` prints the keys of the first partition of one.

use std::io::Write;

use scarce_engine_redis::keys::Keys;
use scarce_engine_redis::library::{ClockSource, Library};

fn main() -> std::io::Result<()> {
    let asked = std::env::args().nth(1);
    let text = match asked.as_deref() {
        Some("functions") => Library::new(ClockSource::Server).functions(),
        Some("test") => Library::new(ClockSource::Call).script(),
        Some("keys") => Keys::new("scarce:", 0, 1).all().join(" "),
        _ => Library::new(ClockSource::Server).script(),
    };
    std::io::stdout().lock().write_all(text.as_bytes())
}
