//! Writes a partition of a mirror: each time everything, or nothing where its mark is another one than was read.

use redis::{Cmd, Pipeline, RedisError, RedisResult, Value, cmd};
use scarce_engine::Failure;
use scarce_engine_redis::address::Endpoint;
use scarce_engine_redis::failure::{failure_of, is_broken, word_of};
use scarce_engine_redis::keys::Keys;
use scarce_engine_redis::nodes::{Node, Traffic};

use crate::error::MirrorError;
use crate::mirror::{META, Mark, Mirror};
use crate::rows::Item;
use crate::tracker::Changes;

/// How many rows one command takes.
const ROWS_PER_COMMAND: usize = 256;

/// A connection that watches the mark of a partition.
pub(crate) struct Session {
    node: Node,
    keys: Keys,
    /// The mark as it was when it was watched. A change since then is noticed with the next write.
    pub(crate) mark: Mark,
}

impl Session {
    /// Connects, and begins to watch.
    pub(crate) async fn open(mirror: &Mirror, partition: u32) -> Result<Self, MirrorError> {
        let keys = mirror.keys(partition);
        // It follows a server that moved, and leaves one that is gone.
        mirror.nodes.of_slot(keys.slot(), Traffic::Reads).await?;
        let node = mirror.nodes.own(keys.slot(), std::time::Duration::ZERO).await?;
        let mut session = Self { node, keys, mark: Mark::default() };
        session.watch(mirror).await?;
        Ok(session)
    }

    /// Reads the mark anew.
    pub(crate) async fn watch(&mut self, mirror: &Mirror) -> Result<(), MirrorError> {
        let mut pipe = redis::pipe();
        pipe.cmd("UNWATCH");
        self.add_watch(&mut pipe);
        let answers = self.send(mirror, &mut pipe).await?;
        self.mark = self.mark_of(mirror, answers.into_iter().next_back())?;
        Ok(())
    }

    fn add_watch(&self, pipe: &mut Pipeline) {
        let meta = self.keys.of("meta");
        pipe.cmd("WATCH").arg(&meta);
        pipe.cmd("HMGET").arg(&meta).arg(&META);
    }

    /// Writes changes and the new mark together. The outcome is unknown where the server does not answer.
    pub(crate) async fn write(
        &mut self,
        mirror: &Mirror,
        changes: &Changes,
        mark: &Mark,
    ) -> Result<(), MirrorError> {
        let before = self.mark.clone();
        let mut pipe = redis::pipe();
        pipe.cmd("MULTI");
        add_changes(&mut pipe, &self.keys, changes);
        let Mark { mirror_of, writer, position, at, written_at } = mark;
        let set = pipe.cmd("HSET").arg(self.keys.of("meta"));
        set.arg("mirror").arg(mirror_of).arg("writer").arg(writer);
        set.arg("epoch").arg(position.epoch).arg("sequence").arg(position.sequence);
        set.arg("at").arg(at).arg("now").arg(at).arg("written_at").arg(written_at);
        pipe.cmd("EXEC");
        self.add_watch(&mut pipe);
        let mut answers = self.send(mirror, &mut pipe).await?;
        let found = self.mark_of(mirror, answers.pop())?;
        // That of WATCH.
        answers.pop();
        let executed = answers.pop();
        let refused = answers.into_iter().find_map(Result::err);
        self.mark = found.clone();
        match executed {
            Some(Ok(Value::Nil)) => Err(moved(self.keys.partition(), &before, &found)),
            Some(Ok(_)) => Ok(()),
            // The command that was refused says why; all of them were given up.
            Some(Err(error)) => Err(self.failed(mirror, &refused.unwrap_or(error))),
            None => Err(Failure::Unknown { reason: "Redis gave no answer to EXEC".to_owned() }.into()),
        }
    }

    fn mark_of(&self, mirror: &Mirror, answer: Option<RedisResult<Value>>) -> Result<Mark, MirrorError> {
        let key = || self.keys.of("meta");
        match answer {
            Some(Ok(value)) => {
                let fields: Vec<Option<String>> =
                    redis::from_redis_value(value).map_err(|_| MirrorError::Damaged { key: key() })?;
                Ok(Mark::read(&fields))
            }
            Some(Err(error)) if word_of(&error) == "WRONGTYPE" => Err(MirrorError::Foreign { key: key() }),
            Some(Err(error)) => Err(self.failed(mirror, &error)),
            None => Err(MirrorError::Damaged { key: key() }),
        }
    }

    /// Sends commands; each has an answer of its own.
    async fn send(
        &self,
        mirror: &Mirror,
        pipe: &mut Pipeline,
    ) -> Result<Vec<RedisResult<Value>>, MirrorError> {
        let mut connection = self.node.connection();
        let sent = pipe.ignore_errors().query_async(&mut connection).await;
        sent.map_err(|error| self.failed(mirror, &error))
    }

    /// What an error means; who serves the slot is learned from it.
    fn failed(&self, mirror: &Mirror, error: &RedisError) -> MirrorError {
        let (at, slot) = (&self.node.endpoint, self.keys.slot());
        match word_of(error) {
            "MOVED" => {
                let to = error.redirect_node().and_then(|(to, _)| Endpoint::announced(to, at));
                if let Some(to) = to {
                    mirror.nodes.note_moved(slot, to);
                }
            }
            "READONLY" => mirror.nodes.note_demoted(slot, &self.node),
            _ => {}
        }
        if error.is_timeout() {
            return Failure::Unknown { reason: format!("Redis at {at} did not answer in time") }.into();
        }
        if is_broken(error) {
            return Failure::Unknown { reason: format!("Redis at {at}: {error}") }.into();
        }
        failure_of(error, at, &self.node.user).into()
    }
}

/// Who moved a mark.
fn moved(partition: u32, before: &Mark, found: &Mark) -> MirrorError {
    if found.writer != before.writer && !found.writer.is_empty() {
        return MirrorError::Contested { partition, writer: found.writer.clone() };
    }
    MirrorError::Moved { partition }
}

/// Adds commands that write changes; those of one key together.
fn add_changes(pipe: &mut Pipeline, keys: &Keys, changes: &Changes) {
    let by_key = |items: &[Item]| {
        let mut items: Vec<Item> = items.to_vec();
        items.sort_unstable();
        items
    };
    let (absent, present) = (by_key(&changes.absent), by_key(&changes.present));
    for items in absent.chunk_by(|one, other| one.key() == other.key()) {
        for items in items.chunks(ROWS_PER_COMMAND) {
            let mut command = match items.first() {
                Some(Item::Row(key, ..)) => cmd("HDEL").arg(keys.of(key)).take(),
                Some(Item::Member(key, _)) => cmd("ZREM").arg(keys.of(key)).take(),
                None => continue,
            };
            for item in items {
                command.arg(item.place());
            }
            pipe.add_command(command);
        }
    }
    for command in commands_of(keys, &present) {
        pipe.add_command(command);
    }
}

/// The commands that write rows and members which are in the order of their keys.
pub(crate) fn commands_of(keys: &Keys, present: &[Item]) -> Vec<Cmd> {
    let mut commands = Vec::new();
    for items in present.chunk_by(|one, other| one.key() == other.key()) {
        for items in items.chunks(ROWS_PER_COMMAND) {
            let mut command = match items.first() {
                Some(Item::Row(key, ..)) => cmd("HSET").arg(keys.of(key)).take(),
                Some(Item::Member(key, _)) => cmd("ZADD").arg(keys.of(key)).take(),
                None => continue,
            };
            for item in items {
                match item {
                    Item::Row(_, place, text) => command.arg(place).arg(text),
                    Item::Member(_, member) => command.arg(0).arg(member),
                };
            }
            commands.push(command);
        }
    }
    commands
}
