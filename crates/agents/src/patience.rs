//! Retries with back-off for a queue that cannot be reached: [`patiently`].

use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_base::shutdown::Shutdown;

/// Delays between attempts to reach a queue.
pub(crate) const BACKOFF: Backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(30));

/// Calls `attempt` until it succeeds or fails permanently, with a delay of 1 to 30 seconds between
/// attempts. Returns `Ok(None)` if shutdown is requested. Calls `told` with the error and the delay
/// before each delay; `may_pass` returns true for transient errors.
pub fn patiently<T, E>(
    shutdown: &Shutdown,
    may_pass: impl Fn(&E) -> bool,
    mut told: impl FnMut(&E, Duration),
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<Option<T>, E> {
    let mut retries = 0;
    loop {
        match attempt() {
            Ok(done) => return Ok(Some(done)),
            Err(error) if may_pass(&error) => {
                let delay = BACKOFF.delay(retries);
                told(&error, delay);
                if shutdown.wait(delay) {
                    return Ok(None);
                }
                retries += 1;
            }
            Err(error) => return Err(error),
        }
    }
}
