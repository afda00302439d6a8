//! Work that a port's thread must not do itself, because all its connections would wait: cutting many packets, reading
//! the log. A few threads beside it do one piece after the other.

use std::io;

use crossbeam_channel::{Receiver, Sender, bounded};

/// A piece of work. It delivers its own answer.
pub(super) type Job = Box<dyn FnOnce() + Send>;

/// How many pieces may wait. A connection has at most one.
const WAITING_MAX: usize = 1_024;

/// Threads that work beside a port. They end when it is dropped.
pub struct Aside {
    jobs: Sender<Job>,
    queue: &'static str,
}

impl Aside {
    /// Starts `threads` threads for the queue of this name.
    ///
    /// # Errors
    /// When the system has no thread.
    pub fn start(queue: &'static str, threads: usize) -> io::Result<Self> {
        let (jobs, waiting) = bounded::<Job>(WAITING_MAX);
        for _ in 0..threads {
            let waiting: Receiver<Job> = waiting.clone();
            let work = move || waiting.iter().for_each(|job| job());
            std::thread::Builder::new().name(queue.to_owned()).spawn(work)?;
        }
        Ok(Self { jobs, queue })
    }

    /// Hands work over.
    ///
    /// # Errors
    /// The name of the queue if it is full; then nothing is done.
    pub(super) fn hand_over(&self, job: Job) -> Result<(), &'static str> {
        self.jobs.try_send(job).map_err(|_| self.queue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_pieces_wait_than_there_is_room_for_and_all_that_were_taken_are_done() {
        let aside = Aside::start("cuts", 1).expect("a thread");
        let (begun, has_begun) = bounded(0);
        let (release, released) = bounded::<()>(0);
        let held = move || {
            begun.send(()).expect("a test");
            let _ = released.recv();
        };
        aside.hand_over(Box::new(held)).expect("room");
        has_begun.recv().expect("it has begun");
        let (done, all_done) = crossbeam_channel::unbounded();
        let hand_over = || {
            let done = done.clone();
            aside.hand_over(Box::new(move || {
                let _ = done.send(());
            }))
        };
        (0..WAITING_MAX).for_each(|_| hand_over().expect("room"));
        assert_eq!(hand_over(), Err("cuts"));
        drop(release);
        (0..WAITING_MAX).for_each(|_| all_done.recv().expect("it is done"));
    }
}
