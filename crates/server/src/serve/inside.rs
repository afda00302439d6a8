//! The Redis engine within another process, behind a local port that only that process can use: a program
//! that speaks the protocol needs no separate server.

use std::net::SocketAddr;

use scarce_engine::random::{self, hex};
use scarce_settings::{EngineChoice, ServerSettings};

use super::ports::Ports;
use super::{Options, ServeError, Started, redis, remembered, state_settings};

/// How many random bytes the password has.
const PASSWORD_BYTES: usize = 16;

/// The port, which is open until this is dropped.
pub struct Inside {
    address: SocketAddr,
    password: String,
    started: Option<Started>,
}

impl Inside {
    /// Connects to the Redis of the settings and serves it.
    ///
    /// # Errors
    /// When it cannot be reached or must not be used.
    pub fn open(settings: &ServerSettings) -> Result<Self, ServeError> {
        let settings = ServerSettings { engine: EngineChoice::Redis, ..settings.clone() };
        // Other users of this machine can reach the port too.
        let password = hex(&random::bytes::<PASSWORD_BYTES>()?);
        let ports = Ports::local(password.clone())?;
        let (address, _) = ports.addresses()?;
        let state = state_settings(&settings, &Options::default())?;
        // What runs for a moment, in whatever folder, remembers no deployment.
        let known = remembered::named(&settings);
        let started = redis::start(&settings, &Options::default(), known, &ports, state, || Ok(()))?;
        Ok(Self { address, password, started: Some(started) })
    }

    /// The address of the port.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// The password for it.
    #[must_use]
    pub fn password(&self) -> &str {
        &self.password
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if let Some(started) = self.started.take() {
            started.stop.request();
            // Callers have their answers by now, or know that none came.
            let _ = (started.join)();
        }
    }
}
