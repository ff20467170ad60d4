//! A second look at findings: [`Opinion`]s, and their effect on the findings.
//!
//! A second look may lower the confidence of a finding and never raises it. An opinion is a vote on
//! a finding, never an order. It lowers nothing if a rule or an analyser vouches for the finding. A
//! refutation counts only with a quote that is in the tree, and never hides a finding that may be
//! critical. Doubt lowers the confidence by one anchor. The consequence states whether a maintainer
//! would stop the change for the finding.

use serde::{Deserialize, Serialize};

use crate::finding::{Consequence, Finding, Validation, ValidationState};
use crate::grounding::Grounder;
use crate::path::RepoPath;

/// The opinion of a model or an agent that looked at one finding afresh.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opinion {
    /// The finding's fingerprint.
    pub fingerprint: String,
    /// The file of the finding.
    pub file: Option<RepoPath>,
    /// The answer of the second look.
    pub answer: SecondLookAnswer,
    /// The reason of the answer.
    pub why: String,
    /// The code that proves the answer.
    pub quote: Option<String>,
    /// The file of the quoted code; `None` if it is the file of the finding.
    pub quoted_file: Option<RepoPath>,
    /// The action that a maintainer would take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consequence: Option<Consequence>,
}

/// The answer of a second look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SecondLookAnswer {
    /// The finding is real.
    Confirm,
    /// The finding is not real.
    Refute,
    /// The second look could not decide.
    Unsure,
    /// The second look did not take place, though it was due.
    Missing,
}

/// Applies the first opinion on a finding to the finding, if there is one.
pub(crate) fn apply_opinions(finding: &mut Finding, opinions: &[Opinion], ground: &Grounder<'_>) {
    let Some(opinion) = opinions.iter().find(|opinion| opinion.is_on(finding)) else { return };
    let state = match opinion.answer {
        SecondLookAnswer::Confirm => ValidationState::Confirmed,
        SecondLookAnswer::Unsure => ValidationState::Unsure,
        SecondLookAnswer::Missing => ValidationState::Unvalidated,
        SecondLookAnswer::Refute if !opinion.is_proven(ground) => ValidationState::Unsure,
        SecondLookAnswer::Refute if finding.grade.impact().level() == 0 || finding.vouched_for => {
            ValidationState::Disputed
        }
        SecondLookAnswer::Refute => ValidationState::Refuted,
    };
    let is_doubted = opinion.answer == SecondLookAnswer::Unsure && !finding.vouched_for;
    let lowered_from = is_doubted.then_some(finding.confidence);
    if is_doubted {
        finding.confidence = finding.confidence.next_lower();
    }
    finding.validation = Some(Validation {
        state,
        why: opinion.why.clone(),
        quote: opinion.quote.clone(),
        consequence: opinion.consequence,
        lowered_from: lowered_from.filter(|before| *before != finding.confidence),
    });
}

impl Opinion {
    fn is_on(&self, finding: &Finding) -> bool {
        self.fingerprint == finding.fingerprint
            && (self.file == finding.file || self.file.as_ref() == finding.named_file())
    }

    /// Returns true if the quote of the opinion is in the tree.
    fn is_proven(&self, ground: &Grounder<'_>) -> bool {
        let file = self.quoted_file.as_ref().or(self.file.as_ref());
        self.quote
            .as_ref()
            .zip(file)
            .is_some_and(|(quote, file)| ground.contains_quote(file, quote))
    }
}

/// The maximum number of less severe findings that get a second look: as many as a review shows by
/// default.
const MAX_OTHERS: usize = 5;

/// Returns the findings that get a second look before they leave the machine: all that are MAJOR or
/// P1 or worse, and a few that models alone found and that are not minor, by grade, confidence and
/// place.
pub fn select_for_second_look(findings: &[Finding]) -> Vec<&Finding> {
    let (grave, others): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.grade.impact().level() <= 2);
    let pays = |finding: &&Finding| finding.grade.impact().level() <= 3 && !finding.vouched_for;
    let mut others: Vec<&Finding> = others.into_iter().filter(pays).collect();
    others.sort_by(|a, b| a.cmp_by_weight(b));
    grave.into_iter().chain(others.into_iter().take(MAX_OTHERS)).collect()
}
