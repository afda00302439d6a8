//! `scarce demo`: a real server as a child process, a crowd over real sockets, a crash in the middle, and a
//! proof read from the log against what the crowd was told.
//!
//! Must not know: how a server is put together, or any of an engine's state. It starts this same executable with
//! `serve` and sees what any client sees; of `scarce-server` it uses the settings' table, so that its own flags mean
//! what the server's mean.
//!
//! Where to begin: `flash_sale/mod.rs` is one demonstration from start to end. Each brings its crowd (`crowd.rs`), its
//! fold of the log and its promises; the rest is shared: `stage.rs` runs the course, `rush.rs` the crowd's
//! connections, `record.rs` keeps what the crowd was told, `log.rs` what the log says, `promises.rs` judges what
//! holds for all of them.

#![forbid(unsafe_code)]

mod args;
mod ask;
mod backing;
mod chart;
mod coupons;
mod crowd;
mod exchange;
mod failure;
mod flash_sale;
mod gate;
mod http_line;
mod line;
mod log;
mod losses;
mod options;
mod progress;
mod promises;
mod proof;
mod pulse;
mod reconciled;
mod record;
mod red_packets;
mod rush;
mod server;
mod stage;
mod tour;
mod wallet;

pub use args::{Demo, Demonstration};
pub use failure::{DemoError, Verdict};

/// Runs a demonstration to its end, and prints its proof on stdout.
///
/// # Errors
/// When it ends before there is a proof.
pub fn run(options: &Demo) -> Result<Verdict, DemoError> {
    let demonstration = options.chosen()?;
    match &demonstration {
        Demonstration::FlashSale(options) => flash_sale::run(options),
        Demonstration::RedPackets(options) => red_packets::run(options),
        Demonstration::Wallet(options) => wallet::run(options),
        Demonstration::Coupons(options) => coupons::run(options),
        Demonstration::Exchange(options) => exchange::run(options),
    }
}
