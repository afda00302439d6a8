//! The way to whoever decides: a running server, or the Redis engine within this process.

use super::args::Options;
use crate::args::Target;
use crate::{Exit, Failed, config};
use scarce_client::Client;
use scarce_server::serve::Inside;

/// Who decides.
pub(super) enum Way<'a> {
    /// A server.
    Server(&'a Target),
    /// The engine, here.
    Inside(Inside),
}

impl<'a> Way<'a> {
    /// What the options say.
    ///
    /// # Errors
    /// When the Redis cannot be reached, or is spoken of although none was asked for.
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

    /// A connection.
    ///
    /// # Errors
    /// When nobody answers.
    pub(super) fn connect(&self) -> Result<Client, Failed> {
        match self {
            Self::Server(target) => target.connect(),
            Self::Inside(inside) => {
                Ok(Client::connect(&inside.address().to_string(), Some(inside.password()))?)
            }
        }
    }
}
