//! Whether a partition still has what was written to it. `meta` says of which deployment the partition is, and how many
//! rows each of its keys has (`scripts/sizes.lua`). Every call checks the keys that it touches; here is what looks at
//! the others, and what is done about a partition that has lost some: it serves nothing until they are back.

use std::sync::Arc;

use scarce_core::state::StateSettings;
use scarce_engine::engine::Failure;

use super::RedisError;
use super::call::{self, EncodedRequest, Heading};
use super::caller::Caller;
use super::connection::{Link, Refused};
use super::keys::Keys;
use super::lane::PartitionStatus;
use super::nodes::{Nodes, Traffic};
use super::program::Rights;
use super::settings::RedisSettings;

/// Looks whether one partition is whole.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) keys: Keys,
    pub(super) settings: StateSettings,
    pub(super) deployment: Arc<str>,
    pub(super) caller: Caller,
    pub(super) link: Link,
    pub(super) status: Arc<PartitionStatus>,
}

impl Verifier {
    /// Checks all keys, and notes what comes of it.
    ///
    /// # Errors
    /// When some have lost rows, or the server cannot say.
    pub(super) async fn verify(&self) -> Result<(), Failure> {
        let (asked, rights) = (call::check(), Rights::Read);
        match ask(&self.caller, &self.link, &self.keys, &self.settings, (&self.deployment, &asked, rights))
            .await
        {
            Ok(()) => {
                self.status.note_damage(self.keys.partition(), None);
                Ok(())
            }
            Err(refused) => Err(self.status.failure_of(self.keys.partition(), refused)),
        }
    }

    /// Looks, without a call of the library, and verifies the partition where it seems to have lost something.
    ///
    /// # Errors
    /// As [`Self::verify`].
    pub(super) async fn look(&self) -> Result<(), Failure> {
        if self.seems_whole().await? { Ok(()) } else { self.verify().await }
    }

    /// Whether `meta` is of the deployment, and as many keys exist as it names. What is asked by two commands may be of
    /// two moments, so it proves nothing.
    async fn seems_whole(&self) -> Result<bool, Failure> {
        let mut fields = redis::cmd("HMGET");
        fields.arg(self.keys.of("meta")).arg("deployment").arg("sizes").arg("sequence");
        type Fields = (Option<String>, Option<String>, Option<u64>);
        let (deployment, sizes, sequence): Fields = self.link.send(&fields).await?;
        let named = sizes.unwrap_or_default().split(' ').count() / 2;
        let log = usize::from(sequence.unwrap_or(0) > 0);
        // And `meta` itself.
        let existing: usize = self.link.send(redis::cmd("EXISTS").arg(self.keys.all())).await?;
        Ok(deployment.as_deref() == Some(&*self.deployment) && existing > named + log)
    }
}

/// Makes a call that has nothing but one request about the partition as a whole.
async fn ask(
    caller: &Caller,
    link: &Link,
    keys: &Keys,
    settings: &StateSettings,
    (deployment, asked, rights): (&str, &EncodedRequest, Rights),
) -> Result<(), Refused> {
    let heading = Heading { deployment: Some(deployment), ..Heading::from(settings) };
    caller.call(link, keys, |_| call::message(&heading, &[asked]), rights).await.map(drop)
}

/// Begins every partition of a new deployment, so that from now on one without keys has lost them.
///
/// # Errors
/// When a server refuses, or a partition is of another deployment.
pub(super) async fn begin_all(
    settings: &RedisSettings,
    nodes: &Arc<Nodes>,
    caller: &Caller,
    deployment: &str,
) -> Result<(), RedisError> {
    let asked = call::begin();
    for number in 0..settings.partitions {
        let (keys, link) = way(settings, nodes, number);
        let asked = (deployment, &asked, Rights::Write);
        ask(caller, &link, &keys, &settings.state, asked)
            .await
            .map_err(|refused| failure(number, refused))?;
    }
    Ok(())
}

/// Checks that no partition is there, before a deployment is created.
///
/// # Errors
/// When one is, whose deployment was deleted or evicted.
pub(super) async fn check_unused(settings: &RedisSettings, nodes: &Arc<Nodes>) -> Result<(), RedisError> {
    for number in 0..settings.partitions {
        let (keys, link) = way(settings, nodes, number);
        let meta = keys.of("meta");
        let exists: bool = link.send(redis::cmd("EXISTS").arg(&meta)).await.map_err(Failure::from)?;
        if exists {
            return Err(RedisError::Orphaned { prefix: settings.prefix.clone(), key: meta });
        }
    }
    Ok(())
}

/// What each partition has lost, for the doctor.
///
/// # Errors
/// When a server cannot be asked.
pub(super) async fn damages(
    settings: &RedisSettings,
    nodes: &Arc<Nodes>,
    caller: &Caller,
    deployment: &str,
) -> Result<Vec<String>, Failure> {
    let (asked, mut found) = (call::check(), Vec::new());
    for number in 0..settings.partitions {
        let (keys, link) = way(settings, nodes, number);
        let asked = (deployment, &asked, Rights::Read);
        match ask(caller, &link, &keys, &settings.state, asked).await {
            Err(refused) if refused.incomplete().is_some() => {
                found.push(failure(number, refused).to_string());
            }
            answer => answer?,
        }
    }
    Ok(found)
}

fn way(settings: &RedisSettings, nodes: &Arc<Nodes>, number: u32) -> (Keys, Link) {
    let keys = Keys::new(&settings.prefix, number, settings.partitions);
    let link = Link::new(Arc::clone(nodes), keys.slot(), Traffic::Calls);
    (keys, link)
}

/// What a refusal means, of one partition.
pub(super) fn failure(partition: u32, refused: Refused) -> Failure {
    match refused.incomplete() {
        Some(detail) => Failure::Unavailable {
            reason: format!(
                "partition {partition} is damaged and serves nothing, because keys were evicted, deleted or swapped: {detail}; restore Redis' data from a copy and it is served again, or start anew under another redis_prefix"
            ),
        },
        None => refused.into(),
    }
}
