//! The connection to the engine: a running server, or the Redis engine within this process.

use super::args::Options;
use crate::args::Target;
use crate::{Exit, Failed, config};
use scarce_client::Client;
use scarce_server::serve::Inside;

/// The destination of commands.
pub(super) enum Way<'a> {
    /// A server.
    Server(&'a Target),
    /// The engine within this process.
    Inside(Inside),
}

impl<'a> Way<'a> {
    /// The destination according to the options.
    ///
    /// # Errors
    /// When the Redis cannot be reached, or has options although another engine is used.
    pub(super) fn of(options: &'a Options) -> Result<Self, Failed> {
        let flags = &options.redis.0;
        if options.engine.is_some() {
            return Ok(Self::Inside(Inside::open(&config::load(flags)?.settings)?));
        }
        match flags.given.first() {
            Some(given) => {
                let text = format!("{} is for --engine redis; give that too", given.origin.name());
                Err(Failed::text(Exit::Usage, text))
            }
            None => Ok(Self::Server(&options.target)),
        }
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// When nothing answers.
    pub(super) fn connect(&self) -> Result<Client, Failed> {
        match self {
            Self::Server(target) => target.connect(),
            Self::Inside(inside) => {
                Ok(Client::connect(&inside.address().to_string(), Some(inside.password()))?)
            }
        }
    }
}
