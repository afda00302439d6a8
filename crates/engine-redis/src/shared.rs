//! Settings that all servers of a deployment must have alike. Each call carries those of its server, so with different ones
//! a receipt would leave by the shortest retention, and an id be forgotten for want of room that others have. Who starts
//! first writes them into the deployment's hash.

use std::collections::BTreeMap;

use scarce_engine::engine::Failure;

use super::RedisError;
use super::connection::Link;
use super::settings::RedisSettings;

/// Writes the settings that are not there yet, and answers those that differ: names and values by turns. Nothing is written
/// where some differ, unless they are changed on purpose.
const AGREE: &str = "local key, changes, differing = KEYS[1], ARGV[1] == '1', {} \
    for at = 2, #ARGV, 2 do \
        local found = redis.call('HGET', key, ARGV[at]) \
        if found and found ~= ARGV[at + 1] then \
            differing[#differing + 1] = ARGV[at] \
            differing[#differing + 1] = found \
        end \
    end \
    if #differing == 0 or changes then redis.call('HSET', key, unpack(ARGV, 2)) end \
    return differing";

/// The settings of a server that others must have, too: the names of their fields, and their values.
#[derive(Clone, Debug)]
pub(super) struct SharedSettings(Vec<(&'static str, String)>);

impl SharedSettings {
    /// None of a server that only reads.
    pub(super) fn of(settings: &RedisSettings) -> Self {
        let state = &settings.state;
        let all = [
            ("receipt_retention_ms", state.receipt_retention_ms.to_string()),
            ("operations_max", state.operations_max.to_string()),
            ("ulid_times", u8::from(state.ulid_times).to_string()),
        ];
        Self(all.into_iter().filter(|_| settings.sweeps).collect())
    }

    /// Takes part with these; gives what was changed.
    ///
    /// # Errors
    /// When the deployment has other ones, and they are not to be changed.
    pub(super) async fn agree(
        &self,
        link: &Link,
        key: &str,
        changes: bool,
    ) -> Result<Vec<String>, RedisError> {
        if self.0.is_empty() {
            return Ok(Vec::new());
        }
        let mut agree = redis::cmd("EVAL");
        agree.arg(AGREE).arg(1).arg(key).arg(u8::from(changes)).arg(&self.0);
        let differing: Vec<(String, String)> = link.send(&agree).await.map_err(Failure::from)?;
        let mut changed = Vec::new();
        for (name, found) in differing {
            let wanted = self.value(&name).unwrap_or_default().to_owned();
            if !changes {
                return Err(RedisError::Differs { key: key.to_owned(), name, found, wanted });
            }
            changed.push(format!(
                "the deployment's {name} was {found} and is {wanted} from now on; other servers that run refuse everything until they are restarted with that, too"
            ));
        }
        Ok(changed)
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(its, _)| *its == name).map(|(_, value)| value.as_str())
    }

    /// In what the deployment has changed since this server started, if in anything.
    pub(super) fn difference(&self, fields: &BTreeMap<String, String>) -> Option<String> {
        self.0.iter().find_map(|(name, value)| {
            let found = fields.get(*name).filter(|found| *found != value)?;
            Some(format!(
                "another server was started with --accept-settings and {name} {found}, and this one has {value}; restart this one with {found}"
            ))
        })
    }

    /// Whether some are gone.
    pub(super) fn is_short(&self, fields: &BTreeMap<String, String>) -> bool {
        self.0.iter().any(|(name, _)| !fields.contains_key(*name))
    }

    /// Its fields.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.0.iter().cloned()
    }
}
