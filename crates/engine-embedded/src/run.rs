//! An owner's thread.

use std::sync::Arc;
use std::time::Duration;

use scarce_engine::stop::{Stop, Waker};

use crate::EmbeddedError;
use crate::owner::Owner;

/// What an owner serves from its own thread beside its inbox: sockets.
pub trait Port: Send {
    /// Waits for up to `timeout` (for ever without one), serves what came, and sends the answers whose
    /// batch is durable.
    ///
    /// # Errors
    /// When the port as a whole cannot go on.
    fn turn(&mut self, owner: &mut Owner, timeout: Option<Duration>) -> std::io::Result<()>;

    /// Sends at once the answers that [`Port::turn`] could not send, and whose batch is durable by now.
    fn send(&mut self, owner: &mut Owner);

    /// Sends what is left to send, where that can be done at once, and takes nothing more.
    fn close(&mut self, owner: &mut Owner);

    /// What wakes it.
    fn waker(&self) -> Waker;
}

/// No sockets: the owner waits for its inbox.
pub struct SilentPort {
    signal: (crossbeam_channel::Sender<()>, crossbeam_channel::Receiver<()>),
}

impl Default for SilentPort {
    fn default() -> Self {
        Self { signal: crossbeam_channel::bounded(1) }
    }
}

impl Port for SilentPort {
    fn turn(&mut self, _owner: &mut Owner, timeout: Option<Duration>) -> std::io::Result<()> {
        let receiver = &self.signal.1;
        // Both ends are held here, so only a signal or the time ends the wait.
        let _ = match timeout {
            Some(timeout) => receiver.recv_timeout(timeout).is_ok(),
            None => receiver.recv().is_ok(),
        };
        Ok(())
    }

    fn send(&mut self, _owner: &mut Owner) {}

    fn close(&mut self, _owner: &mut Owner) {}

    fn waker(&self) -> Waker {
        let sender = self.signal.0.clone();
        Arc::new(move || {
            // A signal that waits already serves for both.
            let _ = sender.try_send(());
        })
    }
}

/// Asks all owners to end when one does, by a failure or a panic too: a deployment of which a part
/// answers nothing is to be started anew, not to be found out by its callers.
struct EndsAll<'a>(&'a Stop);

impl Drop for EndsAll<'_> {
    fn drop(&mut self) {
        self.0.request();
    }
}

/// Makes a batch durable on this thread and sends its answers. What became durable after the batch `sent`, and could not be
/// sent in this turn, does not wait for another sync.
fn commit_here(owner: &mut Owner, port: &mut dyn Port, sent: u64) {
    if owner.durable() > sent {
        port.send(owner);
        owner.answer_inbox();
    }
    owner.commit_here();
    port.send(owner);
}

/// Serves a partition until the end is asked for or the disk fails. A profiler finds it by its name.
#[inline(never)]
pub(crate) fn run(mut owner: Owner, mut port: Box<dyn Port>, stop: &Stop) -> Result<(), EmbeddedError> {
    let _ends_all = EndsAll(stop);
    let partition = owner.partition();
    let failed = |source| EmbeddedError::Port { partition, source };
    while !stop.is_requested() && owner.failure().is_none() {
        let timeout = if owner.is_busy() { Some(Duration::ZERO) } else { owner.patience() };
        let sendable = owner.durable();
        port.turn(&mut owner, timeout).map_err(failed)?;
        owner.serve_inbox();
        owner.sweep();
        owner.give_slice();
        owner.tend_old();
        if owner.is_alone() {
            commit_here(&mut owner, &mut *port, sendable);
        } else {
            owner.seal();
        }
        owner.answer_inbox();
    }
    if owner.failure().is_none() {
        owner.finish();
    }
    // After a failure callers hear of it before anything else.
    port.close(&mut owner);
    owner.answer_inbox();
    owner.close();
    match owner.failure() {
        None => Ok(()),
        Some(reason) => Err(EmbeddedError::Thread { name: format!("committer-{partition}"), what: reason }),
    }
}
