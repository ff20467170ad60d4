//! A second look at findings: [`Opinion`]s on them, and what each makes of its finding.
//!
//! A second look may lower the confidence of a finding and never raises it. An opinion is a vote on
//! a finding, never an order. It changes nothing where a rule or an analyser vouches for the
//! finding. A refutation counts only with a quote that stands in the tree, and never hides what may
//! be critical; doubt takes one anchor of confidence away; and the consequence says whether a
//! maintainer would stop the change for the finding.

use serde::{Deserialize, Serialize};

use crate::finding::{Consequence, Finding, Validated, Validation};
use crate::ground::Ground;
use crate::path::RepoPath;

/// What somebody who looked at one finding afresh says of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opinion {
    /// The finding's fingerprint.
    pub fingerprint: String,
    /// The file it stands in.
    pub file: Option<RepoPath>,
    /// What it comes to.
    pub answer: Answer,
    /// Why.
    pub why: String,
    /// The code that proves it.
    pub quote: Option<String>,
    /// The file that this code stands in, where it is another than the finding's.
    pub quoted_file: Option<RepoPath>,
    /// The action that a maintainer would take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consequence: Option<Consequence>,
}

/// What a second look comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Answer {
    /// The finding is real.
    Confirm,
    /// It is not.
    Refute,
    /// Nobody can tell.
    Unsure,
    /// There was no second look, though there should have been.
    Missing,
}

/// Applies the first opinion on a finding to the finding, if there is one.
pub(crate) fn validate(finding: &mut Finding, opinions: &[Opinion], ground: &Ground<'_>) {
    let Some(opinion) = opinions.iter().find(|opinion| opinion.is_on(finding)) else { return };
    let state = match opinion.answer {
        Answer::Confirm => Validated::Confirmed,
        Answer::Unsure => Validated::Unsure,
        Answer::Missing => Validated::Unvalidated,
        Answer::Refute if !opinion.is_proven(ground) => Validated::Unsure,
        Answer::Refute if finding.grade.impact().level() == 0 || finding.vouched_for => {
            Validated::Disputed
        }
        Answer::Refute => Validated::Refuted,
    };
    let is_doubted = opinion.answer == Answer::Unsure && !finding.vouched_for;
    let lowered_from = is_doubted.then_some(finding.confidence);
    if is_doubted {
        finding.confidence = finding.confidence.one_less();
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

    /// Says whether what it quotes stands in the tree.
    fn is_proven(&self, ground: &Ground<'_>) -> bool {
        let file = self.quoted_file.as_ref().or(self.file.as_ref());
        self.quote.as_ref().zip(file).is_some_and(|(quote, file)| ground.holds(file, quote))
    }
}

/// The most findings of no great weight that get a second look: as many as a review shows by default.
const OTHERS: usize = 5;

/// Picks the findings that get a second look before they leave the machine: each that is P0 or P1,
/// and a few that models alone found and that are not minor, by grade, confidence and place.
pub fn to_validate(findings: &[Finding]) -> Vec<&Finding> {
    let (grave, others): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.grade.impact().level() <= 2);
    let pays = |finding: &&Finding| finding.grade.impact().level() <= 3 && !finding.vouched_for;
    let mut others: Vec<&Finding> = others.into_iter().filter(pays).collect();
    others.sort_by(|a, b| a.by_weight(b));
    grave.into_iter().chain(others.into_iter().take(OTHERS)).collect()
}
