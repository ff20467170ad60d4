//! An observer of a loop that ignores all events: [`NullObserver`].

use assay_checks::check::CheckOutcome;
use assay_validate::environment::LoopObserver;
use assay_validate::event::ReviewResult;

/// An observer that ignores all events.
pub struct NullObserver;

impl LoopObserver for NullObserver {
    fn on_round(&self, _: u32) {}
    fn on_check_started(&self, _: &str) {}
    fn on_check_finished(&self, _: &CheckOutcome) {}
    fn on_review_started(&self) {}
    fn on_review_finished(&self, _: &ReviewResult) {}
    fn on_fix_started(&self, _: usize) {}
    fn on_fix_finished(&self, _: &str) {}
    fn on_fix_applied(&self, _: &[String], _: &[String]) {}
}
