//! An observer of a loop that ignores all events: [`Silent`].

use assay_checks::check::CheckOutcome;
use assay_validate::event::Seen;
use assay_validate::ground::Hears;

/// An observer that ignores all events.
pub struct Silent;

impl Hears for Silent {
    fn round(&self, _: u32) {}
    fn checking(&self, _: &str) {}
    fn checked(&self, _: &CheckOutcome) {}
    fn reviewing(&self) {}
    fn reviewed(&self, _: &Seen) {}
    fn fixing(&self, _: usize) {}
    fn said(&self, _: &str) {}
    fn fixed(&self, _: &[String], _: &[String]) {}
}
