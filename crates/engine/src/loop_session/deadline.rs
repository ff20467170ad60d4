//! The deadline of a run: [`LoopDeadline`].

use std::time::Duration;

use assay_base::clock::Deadline;
use assay_checks::run::CheckLimits;
use assay_validate::run::StepError;

/// The deadline of a run, with its length in seconds; without a deadline, it never passes.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoopDeadline(Option<(Deadline, u64)>);

impl LoopDeadline {
    pub(super) fn after(seconds: Option<u64>) -> LoopDeadline {
        let until = |seconds| Deadline::after(Duration::from_secs(seconds));
        LoopDeadline(seconds.map(|seconds| (until(seconds), seconds)))
    }

    /// Fails if the deadline has passed.
    pub(super) fn check(self) -> Result<(), StepError> {
        match self.0 {
            Some((end, seconds)) if end.has_passed() => {
                Err(StepError::Budget(format!("the time limit of {seconds} s is reached")))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// Returns the limits of checks that may each take `time`, and end with the run.
    pub(super) fn limits(self, time: Duration) -> CheckLimits {
        let deadline = self.0.map(|(end, _)| end);
        CheckLimits { time, deadline, ..CheckLimits::default() }
    }

    /// Limits a time to the time that is left, but not below one second.
    pub(super) fn within(self, time: Duration) -> Duration {
        let left = self.0.map(|(end, _)| end.left());
        left.map_or(time, |left| time.min(left.max(Duration::from_secs(1))))
    }
}
