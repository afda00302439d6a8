//! How long a request is waited for: as long as something moves, and not by the length of the whole.

use std::fmt::{Display, Formatter};
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};

/// What the system may hold of what was sent, at most about.
const HELD_BYTES_MAX: u64 = 5 << 20;

/// A connection that takes fewer bytes in a second counts as one on which nothing moves.
const BYTES_PER_SECOND: u64 = 32 << 10;

/// A request on its way.
pub(super) struct RequestProgress {
    /// How long nothing may move.
    still: Duration,
    state: Mutex<State>,
}

struct State {
    sent_bytes: u64,
    moved_at: Instant,
}

/// Nothing has moved for too long.
#[derive(Debug)]
pub(super) struct Still {
    waited: Duration,
    sent_bytes: u64,
    bytes: u64,
}

impl std::error::Error for Still {}

impl Display for Still {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let (waited, sent, all) = (self.waited.as_secs(), self.sent_bytes, self.bytes);
        write!(formatter, "no answer in {waited} s, after {sent} of {all} bytes of the request were taken")
    }
}

impl RequestProgress {
    pub(super) fn begin(still: Duration) -> Self {
        Self { still, state: Mutex::new(State { sent_bytes: 0, moved_at: Instant::now() }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that the connection took so many bytes.
    pub(super) fn note(&self, bytes: usize) {
        let mut state = self.state();
        state.sent_bytes += bytes as u64;
        state.moved_at = Instant::now();
    }

    /// How long nothing may move now: what was sent may still be on its way out of this machine.
    fn patience(&self) -> Duration {
        let held = self.state().sent_bytes.min(HELD_BYTES_MAX);
        self.still + Duration::from_secs(held / BYTES_PER_SECOND)
    }

    fn deadline(&self) -> Instant {
        let moved_at = self.state().moved_at;
        moved_at + self.patience()
    }

    /// Waits for the answer to a request with so many bytes, as long as something moves.
    pub(super) async fn wait<Answer>(
        &self,
        bytes: u64,
        request: impl Future<Output = Answer>,
    ) -> Result<Answer, Still> {
        let mut request = std::pin::pin!(request);
        loop {
            let answered = timeout_at(self.deadline(), request.as_mut()).await;
            match answered {
                Ok(answer) => return Ok(answer),
                Err(_) if self.deadline() > Instant::now() => {}
                Err(_) => {
                    let (waited, sent_bytes) = (self.patience(), self.state().sent_bytes);
                    return Err(Still { waited, sent_bytes, bytes });
                }
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]
mod tests {
    use std::sync::Arc;

    use super::*;

    const STILL: Duration = Duration::from_millis(400);

    fn run<Answer>(future: impl Future<Output = Answer>) -> Answer {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
    }

    #[test]
    fn a_request_that_goes_on_is_waited_for_however_long_it_takes() {
        let progress = Arc::new(RequestProgress::begin(STILL));
        let slow = async {
            for _ in 0..30 {
                tokio::time::sleep(STILL / 10).await;
                progress.note(1);
            }
        };
        run(progress.wait(30, slow)).unwrap();
    }

    #[test]
    fn a_request_that_stands_still_is_given_up_and_says_how_much_was_taken() {
        let progress = RequestProgress::begin(STILL);
        progress.note(7);
        let still = run(progress.wait(30, std::future::pending::<()>())).unwrap_err();
        assert!(still.to_string().contains("after 7 of 30 bytes"), "{still}");
    }

    #[test]
    fn what_is_still_on_its_way_out_of_the_machine_takes_longer() {
        let progress = RequestProgress::begin(STILL);
        progress.note(4 << 20);
        assert_eq!(progress.patience(), STILL + Duration::from_secs(128));
        progress.note(100 << 20);
        assert_eq!(progress.patience(), STILL + Duration::from_secs(160));
    }
}
