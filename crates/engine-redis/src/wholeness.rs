//! Whether a partition still has what was written to it. `meta` says of which deployment the partition is, and how many
//! rows each of its keys has (`scripts/sizes.lua`). Every call checks the keys that it touches; here is what looks at
//! the others, and what is done about a partition that has lost some: it serves nothing until they are back.

mod glance;

use std::sync::Arc;

use scarce_core::state::StateSettings;
use scarce_engine::engine::Failure;

use super::RedisError;
use super::call::{self, EncodedRequest, Heading, Owed};
use super::caller::Caller;
use super::connection::{Damage, Link, Refused};
use super::deployment::{Deployment, DeploymentGuard};
use super::failure::failure_of;
use super::keys::{self, Keys};
use super::nodes::{Node, Nodes, Traffic};
use super::program::Rights;
use super::settings::RedisSettings;
use super::status::PartitionStatus;
pub(super) use glance::Glance;

/// How many keys one command looks at, in search of what is left of a deployment.
const KEYS_PER_SCAN: usize = 1_000;

/// Looks whether one partition is whole.
#[derive(Debug)]
pub(super) struct Verifier {
    pub(super) keys: Keys,
    pub(super) settings: StateSettings,
    pub(super) deployment: Arc<str>,
    pub(super) guard: Arc<DeploymentGuard>,
    pub(super) caller: Caller,
    pub(super) glance: Glance,
    pub(super) link: Link,
    pub(super) status: Arc<PartitionStatus>,
}

impl Verifier {
    /// Checks all keys, and notes what comes of it.
    ///
    /// # Errors
    /// When some have lost rows, or the server cannot say.
    pub(super) async fn verify(&self) -> Result<(), Failure> {
        let found = match self.guard.check() {
            Ok(()) => self.examine().await.map_err(|refused| {
                let failure = failure(self.keys.partition(), &refused);
                failure.map_or_else(|| (Failure::from(refused), false), |damage| (damage, true))
            }),
            Err(lost) => Err((lost, true)),
        };
        match found {
            Ok(()) => {
                self.status.note_damage(self.keys.partition(), None);
                Ok(())
            }
            Err((failure, is_damage)) => {
                if is_damage {
                    self.status.note_damage(self.keys.partition(), Some(failure.clone()));
                }
                Err(failure)
            }
        }
    }

    /// Looks first without writing. What is found is noted in Redis, so that all servers refuse; and so is that it is over.
    async fn examine(&self) -> Result<(), Refused> {
        if !self.caller.is_kept() && !self.status.is_damaged() && self.is_whole_at_a_glance().await? {
            return Ok(());
        }
        let looked = self.ask(Rights::Read).await;
        match looked {
            Ok(Owed::Nothing) => Ok(()),
            Ok(_) => self.ask(Rights::Shrink).await.map(drop),
            Err(refused) if refused.damage().is_some() && !self.status.is_damaged() => {
                match self.ask(Rights::Shrink).await {
                    Err(again) if again.damage().is_none() => Err(refused),
                    answer => answer.map(drop),
                }
            }
            Err(refused) => Err(refused),
        }
    }

    /// Whether nothing is missing. Where the library is built for each call, that takes longer than to look.
    async fn is_whole_at_a_glance(&self) -> Result<bool, Refused> {
        let seen = |node: &Node| self.status.seen.by(&node.state.run_id);
        match self.glance.look(&self.link, &self.keys, &self.deployment, seen).await {
            Ok(Some(((epoch, sequence), node))) => {
                self.status.seen.note(&node.state.run_id, epoch, sequence);
                Ok(true)
            }
            // What the server refuses, such as a key of another type, the library can explain.
            Ok(None) | Err(Refused::ByServer { .. }) => Ok(false),
            Err(refused) => Err(refused),
        }
    }

    async fn ask(&self, rights: Rights) -> Result<Owed, Refused> {
        let asked = call::check();
        let message = |node: &Node| {
            let heading = Heading { deployment: Some(&self.deployment), ..Heading::from(&self.settings) };
            call::message(&heading.for_run(&node.state.run_id, &self.status), &[&asked])
        };
        let (answer, node) = self.caller.call(&self.link, &self.keys, &message, rights).await?;
        let reply = call::read_reply(&answer, self.keys.partition())
            .map_err(|error| Refused::Failure(Failure::Unavailable { reason: error.to_string() }))?;
        self.status.seen.note(&node.state.run_id, reply.epoch, reply.sequence);
        Ok(reply.owed)
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
    caller.call(link, keys, &|_| call::message(&heading, &[asked]), rights).await.map(drop)
}

/// Begins every partition of a new deployment, so that from now on one without keys has lost them; or brings those of an
/// older format up to date.
///
/// # Errors
/// When a server refuses, or a partition is of another deployment.
pub(super) async fn begin_all(
    settings: &RedisSettings,
    nodes: &Arc<Nodes>,
    caller: &Caller,
    deployment: &Deployment,
) -> Result<(), RedisError> {
    let asked = call::begin(deployment.beginning());
    for number in 0..settings.partitions {
        let (keys, link) = way(settings, nodes, number);
        let asked = (deployment.id.as_str(), &asked, Rights::Write);
        if let Err(refused) = ask(caller, &link, &keys, &settings.state, asked).await {
            return Err(failure(number, &refused).unwrap_or_else(|| refused.into()).into());
        }
    }
    Ok(())
}

/// What is behind a prefix and belongs to no deployment: the first key of a partition that is found, of any number of
/// partitions. Positions of consumers and of topics count, for they would be of another log.
///
/// # Errors
/// When a server cannot be asked.
pub(super) async fn leftover(prefix: &str, nodes: &Arc<Nodes>) -> Result<Option<String>, RedisError> {
    let pattern = format!("{}{{p*}}:*", escaped(prefix));
    for endpoint in nodes.primaries().await? {
        let node = nodes.at(&endpoint, Traffic::Reads).await?;
        let mut cursor = 0_u64;
        loop {
            let mut scan = redis::cmd("SCAN");
            scan.arg(cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(KEYS_PER_SCAN);
            let (next, found): (u64, Vec<String>) = scan
                .query_async(&mut node.connection())
                .await
                .map_err(|error| failure_of(&error, &node.endpoint, &node.user))?;
            if let Some(key) = found.into_iter().find(|key| is_of_partition(key)) {
                return Ok(Some(key));
            }
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
    }
    Ok(None)
}

/// Whether a key has a name that the engine gives.
fn is_of_partition(key: &str) -> bool {
    let name = key.rsplit_once("}:").map_or("", |(_, name)| name);
    keys::NAMES.contains(&name) || ["consumers", "inputs"].contains(&name)
}

/// A text as a pattern that only it matches.
fn escaped(text: &str) -> String {
    let escape = |letter: char| if "*?[]^\\-".contains(letter) { vec!['\\', letter] } else { vec![letter] };
    text.chars().flat_map(escape).collect()
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
        if let Err(refused) = ask(caller, &link, &keys, &settings.state, asked).await {
            let damage = failure(number, &refused);
            found.push(damage.ok_or_else(|| Failure::from(refused))?.to_string());
        }
    }
    Ok(found)
}

fn way(settings: &RedisSettings, nodes: &Arc<Nodes>, number: u32) -> (Keys, Link) {
    let keys = Keys::new(&settings.prefix, number, settings.partitions);
    let link = Link::new(Arc::clone(nodes), keys.slot(), Traffic::Calls);
    (keys, link)
}

/// What a refusal means where a partition has lost something.
pub(super) fn failure(partition: u32, refused: &Refused) -> Option<Failure> {
    let reason = match refused.damage()? {
        Damage::Incomplete(detail) => format!(
            "partition {partition} is damaged and serves nothing, because keys were evicted, deleted or swapped: {detail}; restore Redis' data from a copy and it is served again, or start anew under another redis_prefix"
        ),
        Damage::Older(detail) => format!(
            "partition {partition} serves nothing, because Redis' data was replaced by older data while it ran: {detail}; put the newer data back, or restart Redis to go on from the older data: then what came after it is lost, and a new epoch begins"
        ),
    };
    Some(Failure::Unavailable { reason })
}
