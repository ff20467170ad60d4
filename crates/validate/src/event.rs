//! What can happen in a loop: [`Event`].

use serde::{Deserialize, Serialize};

use crate::ending::Ending;
use crate::issue::Issue;
use crate::plan::TestsPassed;

/// The digest of a tree, without what the loop itself writes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TreeHash(pub String);

/// Something that happened, as it is written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// Counting begins: with the first run, or anew after a person took over.
    EpochBegun {
        /// Why.
        why: Begun,
    },
    /// A round begins: the tree is looked at.
    ReviewBegun {
        /// Which, counted over all epochs.
        round: u32,
        /// The tree.
        tree: TreeHash,
    },
    /// A required check was run, or could not be.
    Checked {
        /// What it is called.
        name: String,
        /// What came of it.
        outcome: serde_json::Value,
        /// Whether it passed.
        passed: bool,
    },
    /// A round was looked at to its end.
    Reviewed {
        /// What keeps it from being approved; nothing where it is.
        issues: Vec<Issue>,
        /// Which groups of tests passed.
        tests_passed: TestsPassed,
    },
    /// A round broke down.
    Failed {
        /// Why.
        why: String,
    },
    /// The fixer begins.
    FixBegun {
        /// The digest of what it is told.
        request: String,
    },
    /// The fixer is done, and what it did is in the tree.
    Fixed {
        /// The tree after it.
        tree: TreeHash,
        /// What was done, in the fixer's words, which count for nothing.
        said: String,
    },
    /// A person wrote down what is wrong, and it was taken.
    FeedbackTaken {
        /// What it said, item by item.
        items: Vec<Issue>,
        /// Where it is kept.
        archived: String,
    },
    /// A person vouches for a tree.
    SignedOff {
        /// Who.
        by: String,
        /// The tree.
        tree: TreeHash,
    },
    /// The loop ended.
    Ended {
        /// How.
        ending: Ending,
        /// The digest of the request that it left behind, where it left one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<String>,
    },
}

/// Why counting begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Begun {
    /// It is the first run.
    First,
    /// The request that was left behind was deleted.
    RequestDeleted,
    /// Somebody said so.
    Resumed,
    /// A person wrote down what is wrong.
    Feedback,
    /// What was approved has changed since.
    Changed,
}
