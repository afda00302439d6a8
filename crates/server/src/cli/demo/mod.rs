//! `scarce demo`: a real server as a child, a crowd over real sockets, a crash in the middle, and a
//! proof read from the log against what the crowd was told.
//!
//! Each demonstration brings its crowd (`crowd.rs`), its fold of the log and its promises; the rest
//! is common: `stage.rs` runs the course, `rush.rs` the crowd's connections, `record.rs` keeps what
//! the crowd was told, `log.rs` what the log says, `promises.rs` judges what holds for all of them.

mod ask;
mod backing;
mod chart;
mod coupons;
mod crowd;
mod exchange;
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
mod record;
mod red_packets;
mod rush;
mod server;
mod stage;
mod wallet;

use super::Ended;
use super::args::{Demo, Demonstration};

pub use options::EngineOptions;

pub(super) fn run(options: &Demo) -> Ended {
    match &options.demonstration {
        Demonstration::FlashSale(options) => flash_sale::run(options),
        Demonstration::RedPackets(options) => red_packets::run(options),
        Demonstration::Wallet(options) => wallet::run(options),
        Demonstration::Coupons(options) => coupons::run(options),
        Demonstration::Exchange(options) => exchange::run(options),
    }
}
