//! A look at a partition without the library, for servers on which the library is built for each call.

use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::call::SeenEvent;
use crate::connection::{Link, Refused, read_answer};
use crate::keys::{Keys, NAMES};
use crate::nodes::Node;
use crate::program::{Program, Rights, ScriptKind};
use crate::records::{FORMAT_VERSION, META_FIELDS, RECORDS};

const TEXT: &str = include_str!("../scripts/glance.lua");

/// The script.
#[derive(Clone, Debug)]
pub(crate) struct Glance {
    program: Program,
}

impl Glance {
    pub(crate) fn new() -> Self {
        let name = format!("scarce_glance_{:016x}", xxh3_64(TEXT.as_bytes()));
        let script = format!("{TEXT}return glance(KEYS, ARGV)\n");
        // Servers with Functions keep the library, and look with that.
        Self { program: Program::new(name, None, String::new(), script) }
    }

    /// Epoch and sequence of a partition that has everything, and who says so. Nothing where the library must look.
    ///
    /// # Errors
    /// As [`Link::send`].
    pub(super) async fn look(
        &self,
        link: &Link,
        keys: &Keys,
        deployment: &str,
        seen: impl Fn(&Node) -> Option<SeenEvent> + Sync,
    ) -> Result<Option<((u64, u64), Arc<Node>)>, Refused> {
        let make = |node: &Node| {
            let (epoch, sequence) = seen(node).map_or((0, 0), |seen| (seen.epoch, seen.sequence));
            let mut command = self.program.command(ScriptKind::Evalsha, Rights::Read, keys.all());
            command.arg(deployment).arg(FORMAT_VERSION).arg(epoch).arg(sequence);
            command.arg(META_FIELDS.len()).arg(&META_FIELDS[..]);
            for name in NAMES {
                command.arg(counting(name));
            }
            command
        };
        let asked = self.program.call(ScriptKind::Evalsha, link, &make).await?;
        let (found, node): (Option<(u64, u64)>, _) = read_answer(asked)?;
        Ok(found.map(|position| (position, node)))
    }
}

/// The command that counts the rows of a key, as `sizes.lua` does.
fn counting(name: &str) -> &'static str {
    match name {
        "meta" | "log" => "",
        "operations_by" => "LLEN",
        "histories" => "HLEN",
        _ if RECORDS.iter().any(|record| record.name == name) => "HLEN",
        _ => "ZCARD",
    }
}
