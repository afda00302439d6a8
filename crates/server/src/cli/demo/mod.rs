//! `scarce demo`: a real server as a child, a crowd over real sockets, a crash in the middle, and a
//! proof read from the log against what the crowd was told.

mod chart;
mod flash_sale;
mod gate;
mod line;
mod progress;
mod proof;
mod server;

use super::Ended;
use super::args::{Demo, Demonstration};

pub(super) fn run(options: &Demo) -> Ended {
    match &options.demonstration {
        Demonstration::FlashSale(options) => flash_sale::run(options),
    }
}
