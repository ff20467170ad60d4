//! A second look at findings: [`Opinion`]s on them, and what each makes of its finding.
//!
//! An opinion is a vote on a finding, never an order. It can only make a finding less sure, and
//! only where it quotes code that stands in the tree, nothing critical is at stake, and no rule or
//! analyser vouches for the finding.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
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

/// What became of a finding at its second look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Validation {
    /// Where it stands.
    pub state: Validated,
    /// Why.
    pub why: String,
}

/// Where a finding stands after its second look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Validated {
    /// Somebody else sees it too.
    Confirmed,
    /// Code that stands in the tree speaks against it: it is held back.
    Refuted,
    /// Code that stands in the tree speaks against it, and it stays where it is all the same.
    Disputed,
    /// Nobody could tell, or nothing was shown.
    Unsure,
    /// The second look did not come about.
    Unvalidated,
}

impl Validated {
    /// Gives the state in a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Validated::Confirmed => "confirmed",
            Validated::Refuted => "refuted",
            Validated::Disputed => "disputed",
            Validated::Unsure => "unsure",
            Validated::Unvalidated => "unvalidated",
        }
    }
}

/// Says what the first opinion on a finding makes of it, if there is one.
pub(crate) fn validate(
    finding: &Finding,
    opinions: &[Opinion],
    ground: &Ground<'_>,
) -> Option<Validation> {
    let opinion = opinions.iter().find(|opinion| opinion.is_on(finding))?;
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
    Some(Validation { state, why: opinion.why.clone() })
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

/// The most findings of no great weight that get a second look.
const OTHERS: usize = 8;

/// Picks the findings that get a second look before they leave the machine: each that is P0 or P1,
/// and a few others, by grade, confidence and place.
pub fn to_validate(findings: &[Finding]) -> Vec<&Finding> {
    let (grave, mut others): (Vec<&Finding>, Vec<&Finding>) =
        findings.iter().partition(|finding| finding.grade.impact().level() <= 2);
    others.sort_by(|a, b| a.by_weight(b));
    grave.into_iter().chain(others.into_iter().take(OTHERS)).collect()
}
