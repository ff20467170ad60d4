//! Endings of a validation loop, also called fixing loop ([`Ending`]), and the limits that cause them
//! ([`Limits`]). `LoopState::next_step` in `step.rs` decides when a loop ends.

use assay_findings::title_similarity;
use serde::{Deserialize, Serialize};

use crate::issue::Issue;

/// The limits after which a loop ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Maximum number of rounds in an epoch.
    pub rounds: u32,
    /// The number of rounds of an epoch with the same issue after which the loop ends.
    pub recurring: usize,
    /// The similarity from which two issues count as the same, from 0 to 1.
    pub similarity: f64,
    /// The number of consecutive errors after which the loop ends.
    pub errors_in_a_row: u32,
    /// The number of errors in an epoch after which the loop ends.
    pub errors: u32,
    /// The number of consecutive rounds without progress after which the loop ends.
    pub stalled: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            rounds: 50,
            recurring: 3,
            similarity: title_similarity::THRESHOLD,
            errors_in_a_row: 3,
            errors: 10,
            stalled: 3,
        }
    }
}

/// The ending of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum Ending {
    /// All criteria and checks passed.
    Approved,
    /// The limit of rounds was reached.
    TooManyRounds {
        /// The number of rounds that ran.
        rounds: u32,
    },
    /// The same issues came back too often.
    Recurring {
        /// The issues, each with the number of rounds that had it.
        issues: Vec<(Issue, usize)>,
    },
    /// Too many rounds failed with an error, or the output could not be written.
    Errors {
        /// The number of errors.
        errors: u32,
        /// The message of the last error.
        last: String,
    },
    /// No issue was resolved for several rounds.
    NoProgress {
        /// The number of rounds without progress.
        rounds: u32,
    },
    /// The budget is used up.
    Budget {
        /// The name of the budget that is used up.
        what: String,
    },
    /// The tree changed while the fixer worked, and not by the fixer.
    TreeMoved,
    /// A person has to sign off the tree.
    AwaitsSignOff,
    /// The open issues need a person's decision, each by itself.
    AwaitsDecision,
    /// An issue needs a fix, no safe fix applies, and there is no fixer.
    NoFixer {
        /// The reason for the missing fixer.
        why: MissingFixer,
    },
}

/// The reason why a loop has no fixer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingFixer {
    /// No fixer is configured.
    NotConfigured,
    /// The configuration allows only safe fixes.
    SafeOnly,
    /// The configuration asks for a model, and no model is configured or enabled.
    NoModel,
    /// A fixer is configured only on the branch under review, where it does not count: a change
    /// must not choose its own fixer.
    OnlyOnBranch,
}

impl MissingFixer {
    fn reason(self) -> &'static str {
        match self {
            MissingFixer::NotConfigured => "no fixer is configured",
            MissingFixer::SafeOnly => "no fixer is configured except safe fixes (`qa.fixer: safe`)",
            MissingFixer::NoModel => {
                "no fixer is available: `qa.fixer` is `model`, and no model is configured or \
                 enabled"
            }
            MissingFixer::OnlyOnBranch => {
                "no fixer is used: `config/agent-framework.yaml` configures a fixer only on the \
                 branch under review, which is ignored there"
            }
        }
    }

    fn action(self) -> &'static str {
        match self {
            MissingFixer::NotConfigured | MissingFixer::SafeOnly => {
                "Fix the open issues yourself and run `assay qa` again. For automatic fixes, \
                 configure a fixer on the main branch: `qa.fixer.run` in \
                 `config/agent-framework.yaml` names a command that reads the issues from \
                 standard input."
            }
            MissingFixer::NoModel => {
                "Fix the open issues yourself and run `assay qa` again. For automatic fixes, \
                 configure a model under `models.use` in `config/agent-framework.yaml`, or a \
                 command under `qa.fixer.run`."
            }
            MissingFixer::OnlyOnBranch => {
                "Commit `qa.fixer` in `config/agent-framework.yaml` to the main branch, rebase this \
                 branch onto it, and run `assay qa --resume`; or fix the open issues yourself and run \
                 `assay qa` again."
            }
        }
    }
}

impl Ending {
    /// Returns the name of this ending, for programs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Ending::Approved => "approved",
            Ending::TooManyRounds { .. } => "too_many_rounds",
            Ending::Recurring { .. } => "recurring",
            Ending::Errors { .. } => "errors",
            Ending::NoProgress { .. } => "no_progress",
            Ending::Budget { .. } => "budget",
            Ending::TreeMoved => "tree_moved",
            Ending::AwaitsSignOff => "awaits_sign_off",
            Ending::AwaitsDecision => "awaits_decision",
            Ending::NoFixer { .. } => "no_fixer",
        }
    }

    /// Returns the reason of this ending, as a sentence for a person.
    pub fn reason(&self) -> String {
        match self {
            Ending::Approved => "all acceptance criteria are met".to_owned(),
            Ending::TooManyRounds { rounds: 1 } => "the limit of 1 round is reached".to_owned(),
            Ending::TooManyRounds { rounds } => {
                format!("the limit of {rounds} rounds is reached")
            }
            Ending::Recurring { issues } => {
                let count = issues.iter().map(|(_, count)| *count).max().unwrap_or(0);
                format!("{} recurred in {count} rounds", named(issues))
            }
            Ending::Errors { errors: 1, last } => {
                format!("the round failed: {last}")
            }
            Ending::Errors { errors, last } => {
                format!("{errors} rounds failed, the last one with: {last}")
            }
            Ending::NoProgress { rounds } => format!("no progress in {rounds} rounds"),
            Ending::Budget { what } => format!("the budget is used up: {what}"),
            Ending::TreeMoved => {
                "the files changed while the fixer ran, so the fix was not applied".to_owned()
            }
            Ending::AwaitsSignOff => "a person must sign off this tree".to_owned(),
            Ending::AwaitsDecision => {
                "a person must decide the issues that no check and no fix can resolve".to_owned()
            }
            Ending::NoFixer { why } => format!("{}, and no safe fix applies", why.reason()),
        }
    }

    /// Returns the actions that this ending suggests to a person, in addition to the general ones.
    pub fn actions(&self) -> Vec<String> {
        let action = match self {
            Ending::Approved | Ending::Recurring { .. } => return Vec::new(),
            Ending::TooManyRounds { .. } => {
                "Split the spec into smaller ones, or allow more rounds with `qa.max_iterations`."
            }
            Ending::Errors { .. } => {
                "Resolve the error: the reason above and `qa_report.md` name it."
            }
            Ending::NoProgress { .. } => {
                "Look at the fixes that were tried: they change nothing, or do not resolve the \
                 issues."
            }
            Ending::Budget { .. } => {
                "Raise the limit in `qa.budget`, or fix the remaining issues by hand."
            }
            Ending::TreeMoved => {
                "Finish your changes, then resume the loop: the fixer starts from the changed \
                 files."
            }
            Ending::AwaitsSignOff => {
                "Go through `MANUAL_TEST_PLAN.md` and the change, and sign off the tree with \
                 `assay qa --spec NAME --sign-off YOU`."
            }
            Ending::NoFixer { why } => why.action(),
            Ending::AwaitsDecision => {
                "Decide each open issue by name, or change the tree: \
                 `assay qa --spec NAME --sign-off YOU --for ISSUE --because REASON`."
            }
        };
        vec![action.to_owned()]
    }
}

fn named(issues: &[(Issue, usize)]) -> String {
    match issues {
        [(issue, _)] => format!("`{}`", issue.title),
        [(issue, _), rest @ ..] => format!("`{}` and {} more", issue.title, rest.len()),
        [] => "nothing".to_owned(),
    }
}
