//! Several reviewers on one set: [`EvalReport`], which is printed, kept, and compared with another.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::matching::MatchRule;
use crate::score::{CaseResult, CaseScore, score_case};
use crate::set::Case;
use crate::statistics::{PairedDifference, paired};
use crate::summary::{SetSummary, SummaryOptions, sum};

/// The version of the JSON form of a report.
pub const VERSION: u32 = 1;

/// The scores of some reviewers on one set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvalReport {
    /// The version of this form.
    pub version: u32,
    /// The name of the set.
    pub set: String,
    /// When a comment names a label.
    pub rule: MatchRule,
    /// The reviewers, in the order in which they were given.
    pub reviewers: Vec<ReviewerScore>,
}

/// One reviewer's scores on a set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewerScore {
    /// The reviewer's name.
    pub name: String,
    /// The figures over all cases.
    pub summary: SetSummary,
    /// The cases, in the order of the set.
    pub cases: Vec<CaseScore>,
    /// Cases of which the reviewer gave no usable output, each with the reason. Their labels count as
    /// missed.
    pub missing: BTreeMap<String, String>,
}

/// One reviewer's results on a set, by the id of the case; a reason where there is no result.
#[derive(Debug, Clone, Default)]
pub struct ReviewerResults {
    /// The reviewer's name.
    pub name: String,
    /// The results.
    pub results: BTreeMap<String, Result<CaseResult, String>>,
}

/// Scores reviewers on a set. A reviewer's score does not depend on the other reviewers.
pub fn evaluate(
    set: &str,
    cases: &[Case],
    reviewers: &[ReviewerResults],
    rule: MatchRule,
    options: SummaryOptions,
) -> EvalReport {
    let score = |reviewer: &ReviewerResults| {
        let mut missing = BTreeMap::new();
        let scores: Vec<CaseScore> = cases
            .iter()
            .map(|case| {
                let result = match reviewer.results.get(&case.id) {
                    Some(Ok(result)) => result.clone(),
                    Some(Err(reason)) => no_result(&mut missing, case, reason),
                    None => no_result(&mut missing, case, "there is no output"),
                };
                score_case(case, &result, &rule)
            })
            .collect();
        let summary = SetSummary::of(&scores, options);
        ReviewerScore { name: reviewer.name.clone(), summary, cases: scores, missing }
    };
    let reviewers = reviewers.iter().map(score).collect();
    EvalReport { version: VERSION, set: set.to_owned(), rule, reviewers }
}

fn no_result(missing: &mut BTreeMap<String, String>, case: &Case, reason: &str) -> CaseResult {
    missing.insert(case.id.clone(), reason.to_owned());
    CaseResult::default()
}

/// The differences between two reviewers on the cases that both were measured on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The first reviewer's name.
    pub first: String,
    /// The second reviewer's name.
    pub second: String,
    /// The number of cases that both have.
    pub cases: usize,
    /// The differences, first less second, by the name of the figure.
    pub differences: BTreeMap<String, PairedDifference>,
    /// Labels that only the first names, by case; and those that only the second names.
    pub only: (BTreeMap<String, usize>, BTreeMap<String, usize>),
}

/// A figure over cases, for a bootstrap.
type Figure = fn(&[&CaseScore]) -> Option<f64>;

const COMPARED: [(&str, Figure); 5] = [
    ("f1", |cases| sum(cases.iter().copied()).f(1.0)),
    ("precision", |cases| sum(cases.iter().copied()).precision()),
    ("recall", |cases| sum(cases.iter().copied()).recall()),
    ("comments", |cases| crate::score::share(sum(cases.iter().copied()).comments, cases.len())),
    ("blocked_clean", |cases| {
        let clean = || cases.iter().filter(|case| case.is_clean);
        crate::score::share(clean().filter(|case| case.blocked).count(), clean().count())
    }),
];

/// Compares two reviewers, case by case.
pub fn compare(
    first: &ReviewerScore,
    second: &ReviewerScore,
    options: SummaryOptions,
) -> Comparison {
    let others: BTreeMap<&str, &CaseScore> =
        second.cases.iter().map(|case| (case.case.as_str(), case)).collect();
    let pairs: Vec<(CaseScore, CaseScore)> = first
        .cases
        .iter()
        .filter_map(|case| Some((case.clone(), (*others.get(case.case.as_str())?).clone())))
        .collect();
    let differences = COMPARED.iter().filter_map(|(name, figure)| {
        let difference = paired(&pairs, options.draws, options.seed, figure)?;
        Some(((*name).to_owned(), difference))
    });
    let mut only = (BTreeMap::new(), BTreeMap::new());
    for (a, b) in &pairs {
        let (more, less) = (a.counts.hits, b.counts.hits);
        if more > less {
            only.0.insert(a.case.clone(), more - less);
        } else if less > more {
            only.1.insert(a.case.clone(), less - more);
        }
    }
    Comparison {
        first: first.name.clone(),
        second: second.name.clone(),
        cases: pairs.len(),
        differences: differences.collect(),
        only,
    }
}
