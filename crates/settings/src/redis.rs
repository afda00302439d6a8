//! The options with which the Redis engine is opened.

use std::path::Path;
use std::time::Duration;

use scarce_engine_redis::RedisSettings;
use scarce_engine_redis::address::{Login, Tls};

use super::{Password, ServerSettings};

impl ServerSettings {
    /// The engine's options; files are read. Settings that outcomes depend on keep their defaults.
    ///
    /// # Errors
    /// When a file cannot be read, or a certificate is given without its key.
    pub fn redis(&self) -> Result<RedisSettings, String> {
        let reveal = |password: &Option<Password>| password.as_ref().map(|its| its.reveal().to_owned());
        let usual = RedisSettings::default();
        Ok(RedisSettings {
            url: self.redis_url.to_string(),
            login: Login {
                user: self.redis_user.clone(),
                password: reveal(&self.redis_password),
                sentinel_password: reveal(&self.redis_sentinel_password),
            },
            tls: self.redis_tls()?,
            scripts: self.redis_scripts,
            prefix: self.redis_prefix.clone(),
            partitions: self.partitions,
            durability: self.redis_durability,
            replicas: self.redis_replicas,
            response_timeout: Duration::from_millis(self.redis_timeout_ms.into()),
            clock_skew_max: Duration::from_millis(self.redis_clock_skew_ms),
            log_retention: Duration::from_millis(self.redis_log_retention_ms.max(self.log_retention_ms)),
            slow: self.slow(),
            outflow_lag_max: self.outflow_lag_max.unwrap_or(usual.outflow_lag_max),
            ..usual
        })
    }

    /// Where the state is mirrored into, if it is; files are read.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn mirror_redis(&self) -> Result<Option<RedisSettings>, String> {
        let Some(url) = &self.mirror else { return Ok(None) };
        let password = self.mirror_password.as_ref().map(|its| its.reveal().to_owned());
        Ok(Some(RedisSettings {
            url: url.to_string(),
            login: Login { user: self.mirror_user.clone(), password, sentinel_password: None },
            tls: Tls { authorities: self.mirror_tls_ca.as_deref().map(read).transpose()?, client: None },
            prefix: self.mirror_prefix.clone(),
            response_timeout: Duration::from_millis(self.mirror_timeout_ms.into()),
            ..RedisSettings::default()
        }))
    }

    fn redis_tls(&self) -> Result<Tls, String> {
        let authorities = self.redis_tls_ca.as_deref().map(read).transpose()?;
        let client = match (&self.redis_tls_cert, &self.redis_tls_key) {
            (Some(certificate), Some(key)) => Some((read(certificate)?, read(key)?)),
            (None, None) => None,
            _ => return Err("redis_tls_cert and redis_tls_key go together; give both or none".to_owned()),
        };
        Ok(Tls { authorities, client })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}
