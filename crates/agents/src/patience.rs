//! Waiting for a queue that cannot be reached: [`patiently`].

use std::time::Duration;

use crate::stop::Stop;

/// How long a queue that cannot be reached is left alone at first.
pub(crate) const FIRST_WAIT: Duration = Duration::from_secs(1);

/// How long at the most.
pub(crate) const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Tries something until it works, is worth no other try, or nobody wants it any more, in which
/// case there is nothing to give. It is told what keeps it, and for how long.
pub fn patiently<T, E>(
    stop: &Stop,
    may_pass: impl Fn(&E) -> bool,
    mut told: impl FnMut(&E, Duration),
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<Option<T>, E> {
    let mut patience = FIRST_WAIT;
    loop {
        match attempt() {
            Ok(done) => return Ok(Some(done)),
            Err(error) if may_pass(&error) => {
                told(&error, patience);
                if stop.wait(patience) {
                    return Ok(None);
                }
                patience = (patience * 2).min(LONGEST_WAIT);
            }
            Err(error) => return Err(error),
        }
    }
}
