//! The events of a loop, as its journal records them: [`Event`].

use assay_change::Patch;
use assay_checks::check::CheckOutcome;
use serde::{Deserialize, Serialize};

use crate::criterion::CriterionLine;
use crate::ending::Ending;
use crate::issue::Issue;
use crate::kept_tests::KeptTestRun;
use crate::plan::TestsPassed;
use crate::requirements::Requirements;
use crate::surroundings::Surroundings;
use crate::tree_hash::TreeHash;

/// An event of a loop, as one line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Event {
    /// An epoch begins, and counters start at zero: at the first run, or after a person took over.
    EpochBegun {
        /// The reason for the new epoch.
        why: EpochReason,
        /// The commit that the implementation is based on; `None` if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        base: Option<String>,
    },
    /// A round has requirements that are higher, in some part, than in all rounds before.
    #[serde(rename = "bar_raised")]
    RequirementsRaised {
        /// The requirements of the round.
        #[serde(flatten)]
        requirements: Requirements,
    },
    /// A round begins with a review of the tree.
    ReviewBegun {
        /// The number of the round, counted over all epochs.
        round: u32,
        /// The tree under review.
        tree: TreeHash,
    },
    /// A required check ran, or could not run.
    Checked {
        /// The outcome of the check.
        outcome: Box<CheckOutcome>,
    },
    /// The tests of the first tree that the loop judges were stored.
    TestsKept {
        /// The git tree object of the stored tests.
        tree: String,
    },
    /// The surroundings of the tree differ from those of earlier rounds.
    SurroundingsRecorded {
        /// The surroundings of the round.
        surroundings: Box<Surroundings>,
    },
    /// The checks ran with kept tests in place.
    KeptChecked {
        /// The results, one for each version of the tests.
        runs: Vec<KeptTestRun>,
    },
    /// The review of a round is complete.
    Reviewed {
        /// The result of the review.
        #[serde(flatten)]
        review: ReviewResult,
    },
    /// A round failed with an error.
    Failed {
        /// The error message.
        why: String,
    },
    /// The fixer starts.
    FixBegun {
        /// The tree that the fixer starts from.
        tree: TreeHash,
        /// The digest of the request to the fixer.
        request: String,
    },
    /// The fixer has finished; its patch is stored and about to be applied.
    FixMade {
        /// The changes of the fixer.
        patch: Patch,
        /// The fixer's own summary, which has no influence on the loop.
        #[serde(rename = "said")]
        summary: String,
    },
    /// The patch of the fixer was applied.
    Fixed {
        /// The tree with the patch.
        tree: TreeHash,
    },
    /// Feedback of a person was read and accepted.
    FeedbackTaken {
        /// The items of the feedback.
        items: Vec<FeedbackItem>,
        /// The digest of the feedback file.
        digest: String,
        /// The path that the feedback file is archived at.
        archived: String,
    },
    /// A person signed off a tree.
    SignedOff {
        /// The person's name.
        by: String,
        /// The tree that was signed off.
        tree: TreeHash,
    },
    /// A person decided an issue of a tree.
    Decided {
        /// The decision of the person.
        #[serde(flatten)]
        decision: IssueDecision,
    },
    /// The ending is decided, and the documents of the loop are about to be written.
    EndBegun {
        /// The ending of the loop.
        ending: Ending,
        /// The digests of the documents that the loop writes for a person.
        #[serde(default)]
        #[serde(rename = "papers")]
        artifacts: ArtifactDigests,
        /// The tree when the ending was decided; `None` in journals that did not record it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tree: Option<TreeHash>,
    },
    /// The loop ended, and its documents are written.
    Ended,
}

/// The result of the review of a tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReviewResult {
    /// The issues that block approval; empty if the tree passes.
    pub issues: Vec<Issue>,
    /// The results of the groups of tests.
    pub tests_passed: TestsPassed,
    /// Further findings of the review, which block nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<Issue>,
    /// The criteria, each with the answer of the review.
    #[serde(default)]
    pub criteria: Vec<CriterionLine>,
    /// True if the project has no tests at all, so that inspection replaces them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_test_project: bool,
    /// True if a person has to sign off the tree, even without issues.
    #[serde(default)]
    pub needs_sign_off: bool,
}

/// An item of a person's feedback, and its handling.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeedbackItem {
    /// The issue that the person reports.
    pub issue: Issue,
    /// The handling of the item.
    pub disposition: FeedbackDisposition,
}

/// The handling of a feedback item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedbackDisposition {
    /// The item was sent to the fixer.
    HandedToTheFixer,
    /// The person had ticked the item off.
    TickedOff,
}

/// The digests of the documents that a loop writes for a person.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArtifactDigests {
    /// The digest of the fix request; `None` if there is no request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<String>,
    /// The digest of the escalation; `None` if there is no escalation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<String>,
}

/// The reason for a new epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EpochReason {
    /// The first run of the loop.
    First,
    /// A person deleted the fix request.
    RequestDeleted,
    /// A user resumed the loop explicitly.
    Resumed,
    /// A person wrote feedback.
    Feedback,
    /// The approved tree has changed since.
    Changed,
    /// The tree was changed while the loop waited for a person.
    TreeChanged,
    /// The events before are from another machine, and are known only from there.
    Elsewhere,
}

/// A person's decision about one issue of one tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IssueDecision {
    /// The person's name.
    pub by: String,
    /// The tree that the decision is about.
    pub tree: TreeHash,
    /// The issue's id, see [`Issue::id`].
    pub issue: String,
    /// The issue's title when the decision was made.
    pub title: String,
    /// The reason that the person gave.
    pub because: String,
}
