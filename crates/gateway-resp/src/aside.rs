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
