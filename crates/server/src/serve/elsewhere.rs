//! A server on files that their deployment has left: it tells every caller where the deployment is now.

use std::net::SocketAddr;

use scarce_engine_embedded::EmbeddedError;
use scarce_engine_embedded::relocation::MarkError;
use scarce_settings::ServerSettings;

use super::loading::Loading;
use super::ports::Ports;
use super::{ServeError, SettingsShown, check_exposed};
use crate::keys::KeyStore;

/// The ports, which tell callers until this is dropped.
pub struct Elsewhere {
    resp_address: SocketAddr,
    http_address: Option<SocketAddr>,
    _ports: Ports,
    _told: Loading,
}

impl ServeError {
    /// Where the deployment is, if that is why no server starts.
    #[must_use]
    pub fn moved_to(&self) -> Option<&str> {
        match self {
            Self::Embedded(EmbeddedError::Relocation(MarkError::Moved { address, .. })) => Some(address),
            _ => None,
        }
    }
}

impl Elsewhere {
    /// Opens the ports of the settings.
    ///
    /// # Errors
    /// When a port cannot be opened.
    pub fn start(settings: &ServerSettings, address: &str) -> Result<Self, ServeError> {
        let has_keys = settings.exposed().is_some() && !KeyStore::of(settings)?.load()?.is_empty();
        check_exposed(settings, has_keys)?;
        let ports = Ports::open(settings, SettingsShown::default())?;
        let (resp_address, http_address) = ports.addresses()?;
        let told = ports.elsewhere(address.to_owned())?;
        Ok(Self { resp_address, http_address, _ports: ports, _told: told })
    }

    /// The address of the RESP port.
    #[must_use]
    pub const fn resp_address(&self) -> SocketAddr {
        self.resp_address
    }

    /// The address of the HTTP port, if there is one.
    #[must_use]
    pub const fn http_address(&self) -> Option<SocketAddr> {
        self.http_address
    }
}
