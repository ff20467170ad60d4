//! How a loop ends, and after how much of what: [`Ending`], [`Limits`].

use assay_findings::alike;
use serde::{Deserialize, Serialize};

use crate::issue::Issue;

/// After how much of what a loop ends.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Rounds.
    pub rounds: u32,
    /// Rounds in which the same issue stands.
    pub recurring: usize,
    /// How alike two issues are that count as the same, up to 1.
    pub similarity: f64,
    /// Errors one after another.
    pub errors_in_a_row: u32,
    /// Errors in all.
    pub errors: u32,
    /// Rounds without progress.
    pub stalled: u32,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            rounds: 50,
            recurring: 3,
            similarity: alike::THRESHOLD,
            errors_in_a_row: 3,
            errors: 10,
            stalled: 3,
        }
    }
}

/// How a loop ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ending", rename_all = "snake_case")]
pub enum Ending {
    /// All holds.
    Approved,
    /// As many rounds were made as may be.
    TooManyRounds {
        /// How many.
        rounds: u32,
    },
    /// The same came back again and again.
    Recurring {
        /// What, with the number of rounds that it stood in.
        issues: Vec<(Issue, usize)>,
    },
    /// Too much broke down.
    Errors {
        /// How often.
        errors: u32,
        /// What happened last.
        last: String,
    },
    /// Nothing got any better.
    NoProgress {
        /// For how many rounds.
        rounds: u32,
    },
    /// As much was spent as may be.
    Budget {
        /// Of what.
        what: String,
    },
    /// Somebody else changed the tree while the fixer worked.
    TreeMoved,
    /// A person has to vouch for the tree.
    AwaitsSignOff,
    /// What is left is for a person to decide, issue by issue.
    AwaitsDecision,
    /// Something is left to fix, no safe fix applies, and there is no fixer.
    NoFixer {
        /// The reason why there is none.
        why: MissingFixer,
    },
}

/// Why a loop has no fixer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingFixer {
    /// No fixer is configured.
    NotConfigured,
    /// The configuration allows safe fixes alone.
    SafeOnly,
    /// The configuration wants a model, and no model is configured or asked.
    NoModel,
    /// Only the branch under review configures a fixer, and a change does not choose its own fixer.
    OnlyOnBranch,
}

impl MissingFixer {
    fn reason(self) -> &'static str {
        match self {
            MissingFixer::NotConfigured => "no fixer is configured",
            MissingFixer::SafeOnly => "no fixer is configured but safe fixes (`qa.fixer: safe`)",
            MissingFixer::NoModel => {
                "no fixer is available: `qa.fixer` is `model`, and no model is configured or asked"
            }
            MissingFixer::OnlyOnBranch => {
                "no fixer is used: `config/agent-framework.yaml` configures one only on the branch \
                 under review, where it does not count"
            }
        }
    }

    fn action(self) -> &'static str {
        match self {
            MissingFixer::NotConfigured | MissingFixer::SafeOnly => {
                "Fix the open issues yourself and run `assay qa` again. To have them fixed, configure \
                 a fixer on the main branch: `qa.fixer.run` in `config/agent-framework.yaml` names a \
                 command that reads the issues from standard input."
            }
            MissingFixer::NoModel => {
                "Fix the open issues yourself and run `assay qa` again. To have them fixed, configure \
                 a model under `models.use` in `config/agent-framework.yaml`, or a command under \
                 `qa.fixer.run`."
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
    /// Says why a person is asked, in a sentence.
    pub fn reason(&self) -> String {
        match self {
            Ending::Approved => "all acceptance criteria are met".to_owned(),
            Ending::TooManyRounds { rounds: 1 } => "1 round was made, and no more are".to_owned(),
            Ending::TooManyRounds { rounds } => {
                format!("{rounds} rounds were made, and no more are")
            }
            Ending::Recurring { issues } => {
                let count = issues.iter().map(|(_, count)| *count).max().unwrap_or(0);
                format!("{} came back in {count} rounds", named(issues))
            }
            Ending::Errors { errors: 1, last } => {
                format!("the round broke down because {last}")
            }
            Ending::Errors { errors, last } => {
                format!("{errors} rounds broke down, the last one because {last}")
            }
            Ending::NoProgress { rounds } => format!("nothing got better for {rounds} rounds"),
            Ending::Budget { what } => format!("the budget is used up: {what}"),
            Ending::TreeMoved => {
                "the files changed while they were being fixed, so the fix was not put in"
                    .to_owned()
            }
            Ending::AwaitsSignOff => "a person has to vouch for this very tree".to_owned(),
            Ending::AwaitsDecision => {
                "a person has to decide what no check and no fix can settle".to_owned()
            }
            Ending::NoFixer { why } => format!("{}, and no safe fix applies", why.reason()),
        }
    }

    /// Says what a person could do about it, beyond what always helps.
    pub fn actions(&self) -> Vec<String> {
        let action = match self {
            Ending::Approved | Ending::Recurring { .. } => return Vec::new(),
            Ending::TooManyRounds { .. } => {
                "Split the spec into smaller ones, or allow more rounds with `qa.max_iterations`."
            }
            Ending::Errors { .. } => {
                "See to what broke down: `qa_report.md` and the reason above say what it was."
            }
            Ending::NoProgress { .. } => {
                "Look at what the fixer tried: it changes nothing, or nothing that matters."
            }
            Ending::Budget { .. } => "Allow more with `qa.budget`, or fix the rest by hand.",
            Ending::TreeMoved => {
                "Finish what you were changing; what the fixer did then begins from there."
            }
            Ending::AwaitsSignOff => {
                "Go through `MANUAL_TEST_PLAN.md` and the change, and vouch for it with \
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
