//! What can happen in a loop: [`Event`].

use assay_change::Patch;
use assay_checks::check::CheckOutcome;
use serde::{Deserialize, Serialize};

use crate::bar::Bar;
use crate::criterion::CriterionLine;
use crate::ending::Ending;
use crate::issue::Issue;
use crate::kept::KeptRun;
use crate::plan::TestsPassed;
use crate::surroundings::Surroundings;
use crate::tree_hash::TreeHash;

/// Something that happened, as it is written down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// Counting begins: with the first run, or anew after a person took over.
    EpochBegun {
        /// Why.
        why: Begun,
        /// The commit on top of which the implementation was made.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
    },
    /// A round is held against a bar that is higher, in some part, than those before.
    BarRaised {
        /// The bar of the round.
        #[serde(flatten)]
        bar: Bar,
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
        /// What came of it.
        outcome: Box<CheckOutcome>,
    },
    /// The tests of the first tree that the loop judges were kept.
    TestsKept {
        /// The tree of them, as git keeps it.
        tree: String,
    },
    /// What lies around the tree of a round is not as the rounds before had it.
    SurroundingsRecorded {
        /// The surroundings of the round.
        surroundings: Box<Surroundings>,
    },
    /// The checks were run with kept tests in place.
    KeptChecked {
        /// What they said, for each version of the tests.
        runs: Vec<KeptRun>,
    },
    /// A round was looked at to its end.
    Reviewed {
        /// What was seen.
        #[serde(flatten)]
        seen: Seen,
    },
    /// A round broke down.
    Failed {
        /// Why.
        why: String,
    },
    /// The fixer begins.
    FixBegun {
        /// The tree that it starts from.
        tree: TreeHash,
        /// The digest of what it is told.
        request: String,
    },
    /// The fixer is done, and what it did is kept, and about to be put in.
    FixMade {
        /// What it did.
        patch: Patch,
        /// What it says about that, which counts for nothing.
        said: String,
    },
    /// What the fixer did is in the tree.
    Fixed {
        /// The tree after it.
        tree: TreeHash,
    },
    /// A person wrote down what is wrong, and it was taken.
    FeedbackTaken {
        /// What it said, item by item.
        items: Vec<TakenItem>,
        /// The digest of the file.
        digest: String,
        /// Where the file is kept from now on.
        archived: String,
    },
    /// A person vouches for a tree.
    SignedOff {
        /// Who.
        by: String,
        /// The tree.
        tree: TreeHash,
    },
    /// A person decided an issue of a tree.
    Decided {
        /// The decision.
        #[serde(flatten)]
        decision: Decision,
    },
    /// It is decided how the loop ends, and its papers are about to be written.
    EndBegun {
        /// How.
        ending: Ending,
        /// The digests of the papers that it leaves behind, as far as it does.
        #[serde(default)]
        papers: Left,
        /// The tree at that time; `None` in journals that did not record it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<TreeHash>,
    },
    /// The loop ended.
    Ended,
}

/// What was seen of a tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Seen {
    /// What keeps it from being approved; nothing where it is.
    pub issues: Vec<Issue>,
    /// Which groups of tests passed.
    pub tests_passed: TestsPassed,
    /// What the review found besides, which blocks nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Issue>,
    /// Whether each criterion is met.
    #[serde(default)]
    pub criteria: Vec<CriterionLine>,
    /// Whether the project has no tests at all, so that inspection stands in.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_test_project: bool,
    /// Whether a person has to vouch for it besides.
    #[serde(default)]
    pub needs_sign_off: bool,
}

/// Something that a person wants, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenItem {
    /// What they want.
    pub issue: Issue,
    /// What became of it.
    pub disposition: Disposition,
}

/// What became of something that a person wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disposition {
    /// The fixer was told.
    HandedToTheFixer,
    /// They had ticked it off themselves.
    TickedOff,
}

/// The digests of the papers that a loop leaves behind for a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// What has to be fixed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// Why a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<String>,
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
    /// The tree was changed while the loop waited for a person.
    TreeChanged,
    /// What happened before did so on another machine, and is only known from there.
    Elsewhere,
}

/// A person's decision about one issue of one tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The person's name.
    pub by: String,
    /// The tree that the decision is about.
    pub tree: TreeHash,
    /// The issue's id, see [`Issue::id`].
    pub issue: String,
    /// The issue's title when the decision was made.
    pub title: String,
    /// The reason.
    pub because: String,
}
