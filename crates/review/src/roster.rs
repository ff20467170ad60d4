//! Which reviewers read a change, and why: [`roster`].

use assay_change::Change;

use crate::depth::{Depth, depth};
use crate::reviewer::{Estimate, Interest, Reviewer};

/// Who reads a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roster {
    /// How closely it has to be read.
    pub depth: Depth,
    /// Why so closely.
    pub because: String,
    /// The reviewers.
    pub entries: Vec<Entry>,
}

/// One reviewer of a roster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Whether it reads the change, and why.
    pub interest: Interest,
    /// What that would take, where it was asked for and costs anything.
    pub estimate: Option<Estimate>,
}

/// Whether a roster says what reading would take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// It does.
    Shown,
    /// It does not.
    NotAsked,
}

/// Decides who reads a change.
pub fn roster(change: &Change, reviewers: &[Box<dyn Reviewer>], cost: Cost) -> Roster {
    let (depth, because) = depth(change);
    let entry = |by: &dyn Reviewer| {
        let interest = by.interest(change);
        let is_wanted = cost == Cost::Shown && matches!(interest, Interest::Reads(_));
        let estimate = is_wanted.then(|| by.estimate(change)).flatten();
        Entry { name: by.name().to_owned(), interest, estimate }
    };
    Roster { depth, because, entries: reviewers.iter().map(|by| entry(&**by)).collect() }
}
