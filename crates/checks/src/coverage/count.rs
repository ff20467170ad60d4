//! Covered parts of a total: [`CoverageCount`].

use std::fmt;
use std::iter::Sum;

use serde::{Deserialize, Serialize};

/// The number of covered units, such as lines, and their total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageCount {
    /// The number of covered units.
    pub covered: u64,
    /// The number of all units.
    pub total: u64,
}

impl CoverageCount {
    /// Returns the share in percent; `None` if the total is zero.
    pub fn percent(self) -> Option<f64> {
        (self.total > 0).then(|| 100.0 * self.covered as f64 / self.total as f64)
    }

    /// Returns true if the share is at least `minimum` percent, or the total is zero.
    pub fn reaches(self, minimum: f64) -> bool {
        self.percent().is_none_or(|percent| percent >= minimum)
    }
}

impl Sum for CoverageCount {
    fn sum<I: Iterator<Item = CoverageCount>>(counts: I) -> CoverageCount {
        counts.fold(CoverageCount::default(), |sum, count| CoverageCount {
            covered: sum.covered.saturating_add(count.covered),
            total: sum.total.saturating_add(count.total),
        })
    }
}

impl fmt::Display for CoverageCount {
    /// Formats the share with one decimal, rounded down, so that a share below a minimum never
    /// looks like the minimum.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.percent() {
            Some(percent) => write!(f, "{:.1}%", (percent * 10.0).floor() / 10.0),
            None => f.write_str("nothing to cover"),
        }
    }
}
