//! How much of something is covered: [`Count`].

use std::fmt;
use std::iter::Sum;

use serde::{Deserialize, Serialize};

/// How much of something is covered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// How much is.
    pub covered: u64,
    /// How much there is.
    pub total: u64,
}

impl Count {
    /// Returns the share in percent; there is none of nothing.
    pub fn percent(self) -> Option<f64> {
        (self.total > 0).then(|| 100.0 * self.covered as f64 / self.total as f64)
    }

    /// Returns true if it is at least so many percent. Of nothing nothing is missing.
    pub fn reaches(self, minimum: f64) -> bool {
        self.percent().is_none_or(|percent| percent >= minimum)
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Count>>(counts: I) -> Count {
        counts.fold(Count::default(), |sum, count| Count {
            covered: sum.covered.saturating_add(count.covered),
            total: sum.total.saturating_add(count.total),
        })
    }
}

impl fmt::Display for Count {
    /// Writes the share with one digit, rounded down: what falls short never looks as if it did not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.percent() {
            Some(percent) => write!(f, "{:.1}%", (percent * 10.0).floor() / 10.0),
            None => f.write_str("nothing to cover"),
        }
    }
}
