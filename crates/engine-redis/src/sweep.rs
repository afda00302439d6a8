//! Ending what is overdue on resources that no command touches, finishing what a crash has interrupted, and
//! trimming the log.
//! Each process looks; the first one makes the call, which ends each record once.

use std::sync::Arc;
use std::time::Duration;

use scarce_core::facts;
use scarce_core::state::StateSettings;
use scarce_core::types::{Id, TimeMs};
use scarce_engine::engine::{Answers, Failure, Request};
use scarce_engine::metrics::Levels;
use tokio::sync::mpsc::WeakSender;
use tokio::sync::oneshot;

use super::call::EXPIRE_MAX;
use super::clock::{self, ClockBound};
use super::connection::Link;
use super::consumers;
use super::image;
use super::keys::Keys;
use super::lane::Mail;
use super::locked::{LockedIds, Moved};
use super::status::PartitionStatus;
use super::trim::Trimmer;
use super::wholeness::Verifier;

/// How often each partition is looked at.
pub(super) const SWEEP_INTERVAL: Duration = Duration::from_millis(500);

/// How many calls one sweep makes until everything is looked at again. Each is a batch of its own, so that those of callers come
/// in between.
const SWEEP_CALLS: usize = 64;

/// Whether a call ended as many records as it may, so that more may be overdue.
fn is_full(answers: &Answers) -> bool {
    let full = facts![EXPIRE_MAX as u64];
    answers.iter().all(|answer| answer.as_ref().is_ok_and(|receipt| receipt.outcome.facts == full))
}

/// What sweeps one partition.
pub(super) struct Sweeper {
    pub(super) keys: Keys,
    pub(super) link: Link,
    pub(super) settings: StateSettings,
    pub(super) status: Arc<PartitionStatus>,
    pub(super) verifier: Arc<Verifier>,
    pub(super) inbox: WeakSender<Mail>,
    pub(super) trimmer: Trimmer,
    pub(super) clock: ClockBound,
    pub(super) locked: LockedIds,
    /// How many pieces of packets were to be laid ready at the last look.
    pub(super) pieces_before: u64,
}

impl Sweeper {
    /// Sweeps until the engine stops.
    pub(super) async fn run(mut self) {
        let mut turns = tokio::time::interval(SWEEP_INTERVAL);
        turns.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            turns.tick().await;
            // Not held while the server is asked, or the engine could not end meanwhile.
            let Some(waiting) = self.inbox.upgrade().map(|inbox| inbox.max_capacity() - inbox.capacity())
            else {
                return;
            };
            // Without callers nothing else would find out, neither of keys that are gone nor of memory.
            if !self.status.is_damaged()
                && let Err(failure) = self.verifier.verify().await
            {
                self.status.note_call(Some(failure));
            }
            // Where the server does not answer, the next turn looks again.
            let (levels, now) = match self.look(waiting).await {
                Ok(looked) => looked,
                Err(failure) => {
                    self.status.note_call(Some(failure));
                    continue;
                }
            };
            if self.status.is_full() && self.has_memory().await {
                self.status.note_full(false);
            }
            self.status.metrics.set_levels(levels);
            // Where it fails, the log stays as long as it is until a later turn.
            let _ = self.make_room(levels.sequence, now).await;
            let is_unfinished = image::is_unfinished(&self.link, &self.keys).await.unwrap_or(false);
            let is_left = self.find_unprepared().await.unwrap_or(false);
            // A call after a failure is a retry, so that the partition becomes ready again without callers.
            let was_refused = self.status.check_ready().is_err();
            if levels.deadline_lag_ms == 0 && !is_unfinished && !is_left && !was_refused {
                continue;
            }
            match self.end_overdue().await {
                None => return,
                Some(is_more_overdue) if is_more_overdue => turns.reset_immediately(),
                Some(_) => {}
            }
        }
    }

    /// Ends what is overdue. Whether there may be more; nothing where the engine ends.
    async fn end_overdue(&self) -> Option<bool> {
        for _ in 0..SWEEP_CALLS {
            let inbox = self.inbox.upgrade()?;
            let (sender, answers) = oneshot::channel();
            let reply = Box::new(move |answers| drop(sender.send(answers)));
            inbox
                .send(Mail::new(vec![Request::Expire(EXPIRE_MAX)], (&self.settings, None), reply))
                .await
                .ok()?;
            // Not held while it is waited for, or the engine could not end meanwhile.
            drop(inbox);
            if !answers.await.is_ok_and(|answers| is_full(&answers)) {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Lets the lane go on with a campaign whose packets no process has laid ready since the last look.
    async fn find_unprepared(&mut self) -> Result<bool, Failure> {
        let key = self.keys.of("listed");
        let pieces: u64 = self.link.send(redis::cmd("HLEN").arg(&key)).await?;
        let before = std::mem::replace(&mut self.pieces_before, pieces);
        if pieces == 0 || pieces != before {
            return Ok(false);
        }
        let mut cursor = 0_u64;
        loop {
            let (next, words): (u64, Vec<String>) =
                self.link.send(redis::cmd("HSCAN").arg(&key).arg(cursor)).await?;
            let campaign = words.first().and_then(|field| field.split(' ').next());
            if let Some(campaign) = campaign.and_then(|word| Id::parse(word.as_bytes(), "campaign").ok()) {
                self.status.note_unprepared(Some(campaign));
                return Ok(true);
            }
            if next == 0 {
                return Ok(false);
            }
            cursor = next;
        }
    }

    /// Looks how far the log is consumed, and trims it.
    async fn make_room(&mut self, sequence: u64, now: TimeMs) -> Result<(), Failure> {
        let known = consumers::list(&self.link, &self.keys).await?;
        let floor = known.iter().map(|its| its.confirmed.sequence).min().unwrap_or(sequence);
        self.status.note_lag(sequence.saturating_sub(floor));
        self.trimmer.turn(&self.link, &self.keys, &self.status.metrics.log_reach, (floor, now)).await
    }

    /// Whether the server uses less memory than it may; also if it does not say.
    async fn has_memory(&self) -> bool {
        let Ok(info) = self.link.send::<String>(redis::cmd("INFO").arg("memory")).await else { return false };
        let figure = |name: &str| -> Option<u64> {
            info.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.trim().parse().ok())
        };
        match (figure("used_memory"), figure("maxmemory")) {
            (Some(used), Some(max)) => max == 0 || used < max,
            _ => true,
        }
    }

    /// What there is of everything, and the server's time.
    async fn look(&mut self, inbox: usize) -> Result<(Levels, TimeMs), Failure> {
        let (keys, link) = (&self.keys, &self.link);
        let first: Vec<String> = link.send(redis::cmd("ZRANGE").arg(keys.of("due")).arg(0).arg(0)).await?;
        let deadlines: u64 = link.send(redis::cmd("ZCARD").arg(keys.of("due"))).await?;
        let operations: u64 = link.send(redis::cmd("HLEN").arg(keys.of("operations"))).await?;
        let mut meta = redis::cmd("HMGET");
        meta.arg(keys.of("meta")).arg("sequence").arg("now").arg("moved");
        let (sequence, stamp, moved): (Option<u64>, Option<u64>, Option<String>) = link.send(&meta).await?;
        let now = clock::server_time(link).await?;
        let settled = (now.max(stamp.unwrap_or(0)), Moved::read(moved.as_deref()));
        self.locked.count_again(link, keys, &self.settings, settled).await?;
        let clock_ahead_ms = self.clock.excess_ms(now);
        if clock_ahead_ms > 0 {
            // The next call will say the same; without one, nobody would learn of it.
            let reason = format!("the server's clock is {clock_ahead_ms} ms further ahead than is believed");
            self.status.note_failure(Failure::Unavailable { reason });
        }
        let deadline = first.first().and_then(|member| member.split(' ').next()?.parse::<u64>().ok());
        let levels = Levels {
            operations,
            operations_locked: self.locked.count,
            deadlines,
            deadline_lag_ms: deadline.map_or(0, |deadline| now.saturating_sub(deadline)),
            sequence: sequence.unwrap_or(0),
            inbox: inbox as u64,
            outflow_lag: self.status.lag(),
            clock_ahead_ms,
            clock_behind_ms: stamp.unwrap_or(0).saturating_sub(now),
            clock_doubted_ms: 0,
        };
        Ok((levels, now))
    }
}
