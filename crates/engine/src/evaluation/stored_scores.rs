//! Scores of the last evaluations, as state of the repository (`.assay/eval/`): [`store_scores`]
//! writes those of a set, [`read_scores`] reads those of all sets.
//!
//! Only the figures that the dashboard shows are stored. A file that assay did not write on this
//! machine is refused.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use assay_change::state::write_atomically;
use assay_eval::report::{EvalReport, ReviewerScore};
use assay_eval::statistics::Estimate;
use assay_findings::write::pretty;
use assay_rules::redact;
use assay_store::task::Moment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::environment::Environment;

/// The kind of state of scores.
const STATE_KIND: &str = "eval";

/// The version of the format.
const VERSION: u32 = 1;

/// The scores of the last evaluation on a set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredScores {
    version: u32,
    /// The name of the set.
    pub set: String,
    /// The time of the evaluation.
    pub at: String,
    /// The reviewers, in the order of the evaluation.
    pub reviewers: Vec<StoredReviewerScore>,
}

/// The scores of one reviewer on a set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoredReviewerScore {
    /// The name of the reviewer.
    pub name: String,
    /// The number of cases.
    pub cases: usize,
    /// The number of comments.
    pub comments: usize,
    /// The share of comments that are right, from 0 to 1; null if it is undefined.
    pub precision: Option<f64>,
    /// The share of labels that are named, from 0 to 1; null if it is undefined.
    pub recall: Option<f64>,
    /// The Brier score of the stated confidence: 0 is perfect, 0.25 is a coin toss; null if no
    /// comment states a confidence.
    pub brier: Option<f64>,
    /// The stated confidence against the share of comments that are right, by confidence.
    pub calibration: Vec<CalibrationPoint>,
}

/// A group of comments with similar confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalibrationPoint {
    /// The mean stated confidence, from 0 to 1.
    pub stated: f64,
    /// The share of comments that are right, from 0 to 1.
    pub right: f64,
    /// The number of comments.
    pub comments: usize,
}

impl From<&ReviewerScore> for StoredReviewerScore {
    fn from(reviewer: &ReviewerScore) -> StoredReviewerScore {
        let summary = &reviewer.summary;
        let value = |estimate: &Option<Estimate>| estimate.map(|estimate| estimate.value);
        let calibration = summary.calibration.as_ref();
        let curve = calibration.iter().flat_map(|calibration| &calibration.curve);
        StoredReviewerScore {
            name: reviewer.name.clone(),
            cases: summary.cases,
            comments: summary.counts.comments,
            precision: value(&summary.precision),
            recall: value(&summary.recall),
            brier: calibration.map(|calibration| calibration.brier),
            calibration: curve
                .map(|bin| CalibrationPoint {
                    stated: bin.stated,
                    right: bin.right,
                    comments: bin.comments,
                })
                .collect(),
        }
    }
}

/// Stores the scores of a report, in place of earlier ones on the same set.
pub fn store_scores(
    environment: &Environment,
    root: &Path,
    report: &EvalReport,
) -> anyhow::Result<()> {
    let kind = environment.state_of(root).open(STATE_KIND)?;
    kind.create()?;
    let scores = StoredScores {
        version: VERSION,
        set: report.set.clone(),
        at: Moment::now(environment.clock()).to_string(),
        reviewers: report.reviewers.iter().map(StoredReviewerScore::from).collect(),
    };
    let text = redact(&pretty(&scores)).into_owned();
    let unit = unit_of(&report.set);
    kind.seal_bytes(&unit, text.as_bytes())?;
    let path = kind.path().join(&unit);
    write_atomically(&path, text.as_bytes())
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// Reads the scores of all sets, by the names of the sets. Fails if a file has no authority.
pub fn read_scores(environment: &Environment, root: &Path) -> anyhow::Result<Vec<StoredScores>> {
    let kind = environment.state_of(root).open(STATE_KIND)?;
    let mut all = Vec::new();
    for name in kind.names()?.iter().filter(|name| name.ends_with(".json")) {
        let Some(path) = kind.check(name)? else { continue };
        let shown = path.display();
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read `{shown}`"))?;
        let scores: StoredScores = serde_json::from_str(&text)
            .with_context(|| format!("`{shown}` has no scores; run `assay eval` again"))?;
        if scores.version != VERSION {
            bail!("`{shown}` has the unsupported format version {}", scores.version);
        }
        all.push(scores);
    }
    Ok(all)
}

/// Returns the file name of the scores of a set.
fn unit_of(set: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let plain: String = set.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    format!("{plain}.json")
}

#[cfg(test)]
mod tests {
    use assay_base::clock::Clock;
    use assay_eval::matching::{MatchRule, WordRule};
    use assay_eval::report::evaluate;
    use assay_eval::summary::SummaryOptions;
    use assay_testkit::Repository;

    use super::*;

    fn report(set: &str) -> EvalReport {
        let rule = MatchRule { within: None, words: WordRule::Ignored };
        let figures = SummaryOptions { beta: 1.0, draws: 1, seed: 1 };
        let reviewer =
            assay_eval::report::ReviewerResults { name: "rules".to_owned(), ..Default::default() };
        let mut report = evaluate(set, &[], &[reviewer], rule, figures);
        report.reviewers[0].summary.calibration =
            assay_eval::statistics::calibration(&[(0.75, true), (0.75, false), (1.0, true)]);
        report
    }

    #[test]
    fn scores_of_the_last_evaluation_of_each_set_are_read_and_forged_ones_are_refused() {
        let repository = Repository::new();
        let home = repository.state_home().display().to_string();
        let environment =
            Environment::new([("XDG_STATE_HOME".to_owned(), home)], &Clock::system(), Vec::new);
        let root = repository.path();
        assert_eq!(read_scores(&environment, root).unwrap(), []);
        for set in ["shop", "../shop", "shop"] {
            store_scores(&environment, root, &report(set)).unwrap();
        }
        let scores = read_scores(&environment, root).unwrap();
        let sets: Vec<&str> = scores.iter().map(|scores| scores.set.as_str()).collect();
        assert_eq!(sets, ["../shop", "shop"]);
        let points: Vec<(f64, f64, usize)> = scores[1].reviewers[0]
            .calibration
            .iter()
            .map(|point| (point.stated, point.right, point.comments))
            .collect();
        assert_eq!(points, [(0.75, 0.5, 2), (1.0, 1.0, 1)]);
        repository.write(".assay/eval/forged.json", "{}");
        let refused = read_scores(&environment, root).unwrap_err().to_string();
        assert!(refused.contains("forged.json` is not used"), "{refused}");
    }
}
