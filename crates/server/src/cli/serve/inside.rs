//! The Redis engine within another subcommand, behind a port of this machine that only this process can
//! use: whoever speaks the protocol needs no server beside it.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use scarce_engine::random::{self, hex};
use scarce_engine::stop::Stop;
use scarce_engine_redis::{self as redis, RedisEngine};

use super::{Doors, state_of};
use crate::cli::{Exit, Failed};
use crate::client::Client;
use crate::gateway::Access;
use crate::gateway::resp::{Reactor, bind};
use crate::settings::{EngineChoice, Settings};

/// How many random bytes the password has.
const PASSWORD_BYTES: usize = 16;

/// The port, which is served until this is dropped.
pub(in crate::cli) struct Inside {
    address: SocketAddr,
    password: String,
    stop: Stop,
    serving: Option<JoinHandle<std::io::Result<()>>>,
}

impl Inside {
    /// Connects to the Redis of the settings and serves it.
    ///
    /// # Errors
    /// When it cannot be reached, or must not be used.
    pub(in crate::cli) fn open(settings: &Settings) -> Result<Self, Failed> {
        let engine = RedisEngine::open(redis::Settings {
            state: state_of(EngineChoice::Redis, settings),
            ..settings.redis().map_err(|reason| Failed::text(Exit::Failed, reason))?
        })?;
        let password = password()?;
        let doors = Doors {
            resp: bind(SocketAddr::from(([127, 0, 0, 1], 0)))?,
            http: None,
            access: Access { password: Some(password.clone()) },
            started_at: Instant::now(),
        };
        let address = doors.resp.local_addr()?;
        let port = Reactor::new(doors.resp.try_clone()?, doors.shared(Arc::new(engine), None))?;
        let stop = Stop::default();
        stop.add(port.waker());
        let stopped = stop.clone();
        let serving =
            std::thread::Builder::new().name("port".to_owned()).spawn(move || port.run(&stopped))?;
        Ok(Self { address, password, stop, serving: Some(serving) })
    }

    /// A connection.
    ///
    /// # Errors
    /// When nobody serves any more.
    pub(in crate::cli) fn connect(&self) -> Result<Client, Failed> {
        Ok(Client::connect(&self.address.to_string(), Some(&self.password))?)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(serving) = self.serving.take() {
            // Whoever asked has been answered, or knows that it was not.
            let _ = serving.join();
        }
    }
}

/// Other users of this machine can reach the port too.
fn password() -> Result<String, Failed> {
    Ok(hex(&random::bytes::<PASSWORD_BYTES>()?))
}
