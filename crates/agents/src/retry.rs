//! Retries with back-off for a queue that cannot be reached: [`retry_with_backoff`].

use std::time::Duration;

use assay_base::backoff::Backoff;
use assay_base::shutdown::Shutdown;

/// Delays between attempts to reach a queue.
pub(crate) const QUEUE_BACKOFF: Backoff =
    Backoff::new(Duration::from_secs(1), Duration::from_secs(30));

/// Calls `attempt` until it succeeds or fails permanently, with a delay of 1 to 30 seconds between
/// attempts. Returns `Ok(None)` if shutdown is requested. Calls `on_retry` with the error and the
/// delay before each delay; `is_transient` returns true for transient errors.
pub fn retry_with_backoff<T, E>(
    shutdown: &Shutdown,
    is_transient: impl Fn(&E) -> bool,
    mut on_retry: impl FnMut(&E, Duration),
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<Option<T>, E> {
    let mut retries = 0;
    loop {
        match attempt() {
            Ok(done) => return Ok(Some(done)),
            Err(error) if is_transient(&error) => {
                let delay = QUEUE_BACKOFF.delay(retries);
                on_retry(&error, delay);
                if shutdown.wait(delay) {
                    return Ok(None);
                }
                retries += 1;
            }
            Err(error) => return Err(error),
        }
    }
}
