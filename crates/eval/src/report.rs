//! Scores of several reviewers on one set: [`EvalReport`], which is printed, stored, and compared
//! with another report.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::matching::MatchRule;
use crate::score::{CaseResult, CaseScore, score_case, share};
use crate::set::Case;
use crate::statistics::{PairedDifference, paired};
use crate::summary::{SetSummary, SummaryOptions, sum};

/// The version of the JSON format of a report.
pub const VERSION: u32 = 1;

/// The scores of some reviewers on one set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvalReport {
    /// The version of the JSON format.
    pub version: u32,
    /// The name of the set.
    pub set: String,
    /// The rule by which a comment names a label.
    pub rule: MatchRule,
    /// The reviewers, in the order in which they were given.
    pub reviewers: Vec<ReviewerScore>,
}

/// The scores of one reviewer on a set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReviewerScore {
    /// The reviewer's name.
    pub name: String,
    /// The figures over all cases.
    pub summary: SetSummary,
    /// The cases, in the order of the set.
    pub cases: Vec<CaseScore>,
    /// Cases without a usable output of the reviewer, by id, each with the reason. Their labels
    /// count as missed.
    pub missing: BTreeMap<String, String>,
    /// The ids of cases that were not read completely, according to the reviewer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<String>,
    /// The variation over repeats; `None` for a single run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stability: Option<Stability>,
    /// The origin of the results; empty if they were produced in this run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub origin: Vec<String>,
}

/// The variation between the runs of one reviewer over the same set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stability {
    /// F of each run; `None` if it is undefined.
    pub f: Vec<Option<f64>>,
    /// The number of comments per change in each run.
    pub comments: Vec<Option<f64>>,
    /// The ratio of changes that are blocked in all runs or in none, from 0 to 1.
    pub same_verdict: Option<f64>,
    /// The ratio of labels named in all runs to labels named in any run, from 0 to 1.
    pub same_labels: Option<f64>,
}

/// The results of one reviewer on a set, by the id of the case. A case without a result has the
/// reason instead.
#[derive(Debug, Clone, Default)]
pub struct ReviewerResults {
    /// The reviewer's name.
    pub name: String,
    /// The results.
    pub results: BTreeMap<String, Result<CaseResult, String>>,
    /// The results of further runs over the same set.
    pub repeats: Vec<BTreeMap<String, Result<CaseResult, String>>>,
    /// The origin of the results; empty if they were produced in this run.
    pub origin: Vec<String>,
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
        let (scores, missing) = score_run(cases, &reviewer.results, &rule);
        let repeats = reviewer.repeats.iter().map(|results| score_run(cases, results, &rule).0);
        let runs: Vec<Vec<CaseScore>> = std::iter::once(scores.clone()).chain(repeats).collect();
        let incomplete = scores.iter().filter(|score| score.is_incomplete);
        ReviewerScore {
            name: reviewer.name.clone(),
            summary: SetSummary::of(&scores, options),
            missing,
            incomplete: incomplete.map(|score| score.case.clone()).collect(),
            stability: (runs.len() > 1).then(|| Stability::of(&runs, options.beta)),
            cases: scores,
            origin: reviewer.origin.clone(),
        }
    };
    let reviewers = reviewers.iter().map(score).collect();
    EvalReport { version: VERSION, set: set.to_owned(), rule, reviewers }
}

/// Scores one run. Returns the scores, and the cases without a result with their reasons.
fn score_run(
    cases: &[Case],
    results: &BTreeMap<String, Result<CaseResult, String>>,
    rule: &MatchRule,
) -> (Vec<CaseScore>, BTreeMap<String, String>) {
    let mut missing = BTreeMap::new();
    let score = |case: &Case| {
        let result = match results.get(&case.id) {
            Some(Ok(result)) => result.clone(),
            Some(Err(reason)) => no_result(&mut missing, case, reason),
            None => no_result(&mut missing, case, "there is no output"),
        };
        score_case(case, &result, rule)
    };
    let scores = cases.iter().map(score).collect();
    (scores, missing)
}

impl Stability {
    /// Returns the variation of runs over the same cases in the same order.
    fn of(runs: &[Vec<CaseScore>], beta: f64) -> Stability {
        let cases = runs.first().map_or(0, Vec::len);
        let of_case = |at: usize| runs.iter().map(move |run| &run[at]);
        let is_same = |at: &usize| {
            let blocked = of_case(*at).filter(|score| score.blocked).count();
            blocked == 0 || blocked == runs.len()
        };
        let (mut some, mut all) = (0, 0);
        for at in 0..cases {
            let labels = of_case(at).map(|score| score.counts.labels).max().unwrap_or(0);
            for label in 0..labels {
                let named = of_case(at).filter(|score| score.named.contains(&label)).count();
                some += usize::from(named > 0);
                all += usize::from(named == runs.len());
            }
        }
        Stability {
            f: runs.iter().map(|run| sum(run.iter()).f(beta)).collect(),
            comments: runs.iter().map(|run| share(sum(run.iter()).comments, cases)).collect(),
            same_verdict: share((0..cases).filter(is_same).count(), cases),
            same_labels: share(all, some),
        }
    }
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
    /// The differences, first minus second, by the name of the figure.
    pub differences: BTreeMap<String, PairedDifference>,
    /// The numbers of labels that only the first reviewer names, by case, and of those that only
    /// the second one names.
    pub only: (BTreeMap<String, usize>, BTreeMap<String, usize>),
}

/// A figure over cases, for a bootstrap.
type Figure = fn(&[&CaseScore]) -> Option<f64>;

const COMPARED: [(&str, Figure); 5] = [
    ("f1", |cases| sum(cases.iter().copied()).f(1.0)),
    ("precision", |cases| sum(cases.iter().copied()).precision()),
    ("recall", |cases| sum(cases.iter().copied()).recall()),
    ("comments", |cases| share(sum(cases.iter().copied()).comments, cases.len())),
    ("blocked_clean", |cases| {
        let clean = || cases.iter().filter(|case| case.is_clean);
        share(clean().filter(|case| case.blocked).count(), clean().count())
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
        let more = |a: &CaseScore, b: &CaseScore| {
            a.named.iter().filter(|label| !b.named.contains(label)).count()
        };
        let (first, second) = (more(a, b), more(b, a));
        if first > 0 {
            only.0.insert(a.case.clone(), first);
        }
        if second > 0 {
            only.1.insert(a.case.clone(), second);
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
