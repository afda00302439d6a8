//! `scarce webhooks` and `scarce settlements`: deliveries to outside systems and credits to accounts, with
//! their status. They work on the database that the server delivers from.

mod settlements;
mod webhooks;

pub use settlements::Settlements;
pub use webhooks::Webhooks;

use std::io::Write;

use clap::Args;
use scarce_delivery::{Delivery, DeliveryError};
use serde_json::Value;
use tokio::runtime::Runtime;

use super::args::Target;
use super::config::load;
use super::files::print_rows;
use super::{Ended, Exit, Failed, sinks};
use crate::setting_flags::DeliveryFlags;
use scarce_client::Info;

pub(super) use settlements::run as run_settlements;
pub(super) use webhooks::run as run_webhooks;

/// Which server, and which database it delivers from.
#[derive(Debug, Args)]
pub struct DeliverySource {
    #[command(flatten)]
    /// Which database.
    pub database: DeliveryFlags,
    /// Which server.
    #[command(flatten)]
    pub target: Target,
}

/// A page of a list.
#[derive(Debug, Args)]
pub struct Paging {
    /// How many rows at most.
    #[arg(long, default_value_t = 100, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub limit: u16,
    /// Where the list goes on, as the page before said.
    #[arg(long, value_name = "CURSOR")]
    pub after: Option<String>,
    /// Print JSON, an object on each line.
    #[arg(long)]
    pub json: bool,
}

impl DeliverySource {
    /// Runs an operation on the database that the server delivers from.
    fn with<T>(&self, work: impl AsyncFnOnce(&Delivery) -> Result<T, DeliveryError>) -> Result<T, Failed> {
        let server = Info::ask(&mut self.target.connect()?)?;
        Runtime::new()?
            .block_on(async { Ok(work(&sinks::delivery(&self.database.0, &server).await?).await?) })
    }

    /// The same on one whose tables the server may still be making.
    fn with_new<T>(
        &self,
        work: impl AsyncFnOnce(&Delivery) -> Result<T, DeliveryError>,
    ) -> Result<T, Failed> {
        let mut client = self.target.connect()?;
        let server = Info::ask(&mut client)?;
        Runtime::new()?.block_on(async {
            let delivery = sinks::new_delivery(&self.database.0, &server, &mut client).await?;
            Ok(work(&delivery).await?)
        })
    }

    /// Whether there is a key that encrypts secrets in the database.
    fn has_key(&self) -> Result<bool, Failed> {
        Ok(load(&self.database.0)?.settings.secrets_key.is_some())
    }
}

impl Paging {
    /// Prints a page, and says whether there is more.
    fn print(&self, rows: &[Value], columns: &[&str], next: Option<&str>) -> Ended {
        print_rows(rows, columns, self.json)?;
        if let Some(next) = next {
            writeln!(std::io::stderr(), "there is more; go on with --after {next}")?;
        }
        Ok(Exit::Done)
    }
}

/// Says that it is done, or that there was nothing to act on.
fn done(is_done: bool, said: &str, missing: &str) -> Ended {
    if !is_done {
        return Err(Failed::text(Exit::Failed, missing));
    }
    writeln!(std::io::stderr(), "{said}")?;
    Ok(Exit::Done)
}

impl From<DeliveryError> for Failed {
    fn from(error: DeliveryError) -> Self {
        Self::new(Exit::Failed, &error)
    }
}
