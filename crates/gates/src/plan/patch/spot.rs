//! Where something stands in a plan: [`Spot`].

use std::fmt;

use crate::plan::PlannedDiff;

/// A line of a plan; of a diff in it, where the lines of the plan mean nothing to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Spot {
    /// A line of the plan, from 1.
    Plan(u32),
    /// A line of the diff, from 1.
    Diff(u32),
}

impl Spot {
    /// Returns the line of a diff that so many others stand before.
    pub(super) fn of(diff: &PlannedDiff, before: usize) -> Spot {
        let before = u32::try_from(before).unwrap_or(u32::MAX);
        match diff.line {
            0 => Spot::Diff(before.saturating_add(1)),
            first => Spot::Plan(first.saturating_add(before)),
        }
    }

    /// Returns the line of the plan, where it is one.
    pub fn in_plan(self) -> Option<u32> {
        match self {
            Spot::Plan(line) => Some(line),
            Spot::Diff(_) => None,
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spot::Plan(line) => write!(f, "line {line} of the plan"),
            Spot::Diff(line) => write!(f, "line {line} of its diff"),
        }
    }
}
