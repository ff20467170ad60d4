//! A second look at findings: [`Opinion`]s on them, and what each makes of its finding.
//!
//! An opinion is a vote on a finding, never an order. It changes nothing where a rule or an analyser
//! vouches for the finding. A refutation counts only with a quote that stands in the tree, and never hides
//! what may be critical; doubt takes one anchor of confidence away; and the consequence says whether a
//! maintainer would stop the change for the finding.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::ground::Ground;
use crate::path::RepoPath;
use crate::vote::Anchor;

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

/// The action that a maintainer would take on a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Consequence {
    /// Stop the change until the finding is mended.
    Block,
    /// Mend it later.
    Later,
    /// Leave it.
    Ignore,
}

impl Consequence {
    /// Returns the consequence that a word names.
    pub fn from_word(word: &str) -> Option<Consequence> {
        match word.trim().to_ascii_lowercase().as_str() {
            "block" => Some(Consequence::Block),
            "later" => Some(Consequence::Later),
            "ignore" => Some(Consequence::Ignore),
            _ => None,
        }
    }

    /// Returns the consequence in a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Consequence::Block => "block",
            Consequence::Later => "later",
            Consequence::Ignore => "ignore",
        }
    }
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
    /// The code that the second look quotes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quote: Option<String>,
    /// The action that a maintainer would take on the finding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consequence: Option<Consequence>,
    /// The confidence before the second look, where the look lowered the confidence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowered_from: Option<Anchor>,
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
