//! Measuring of reviewers on a set: [`measure`] runs one reviewer on all cases, repeatedly if
//! requested, and [`Assessment`] compares a report with limits and an earlier report.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::bail;
use assay_eval::limits::{Breach, Limit, breaches, regressions};
use assay_eval::report::{EvalReport, ReviewerResults};

use super::case_output::CaseOutput;
use super::results_folder::{outputs_folder, recording_folder, write_outputs};
use super::reviewers::{EvalReviewer, EvalRun, recorded_names, review_set, with_baselines};
use crate::reporter::Reporter;
use crate::wording::count;

/// The reviewers of an evaluation.
pub struct Reviewers {
    /// All reviewers, baselines included.
    pub all: Vec<EvalReviewer>,
    /// The names of the reviewers that were added as a baseline, to which no limit applies.
    pub added: Vec<String>,
}

impl Reviewers {
    /// Returns the requested reviewers, or the default ones of the set, with the recordings in
    /// `replayed` and the baselines of all. Fails if a recording is not a folder.
    pub fn of(
        set: &Path,
        requested: &[EvalReviewer],
        replayed: &[PathBuf],
    ) -> anyhow::Result<Reviewers> {
        let mut requested =
            if requested.is_empty() { default_reviewers(set)? } else { requested.to_vec() };
        for folder in replayed {
            if !folder.is_dir() {
                bail!("`{}` is not a folder with a recording", folder.display());
            }
            requested.push(EvalReviewer::Replayed(folder.clone()));
        }
        let all = with_baselines(&requested, set)?;
        // A plain question that was added as a baseline is only compared with.
        let added = match requested.contains(&EvalReviewer::Recorded(None)) {
            true => vec!["recorded=question".to_owned()],
            false => {
                let added = all.iter().filter(|reviewer| !requested.contains(reviewer));
                added.map(ToString::to_string).collect()
            }
        };
        Ok(Reviewers { all, added })
    }
}

/// Returns the default reviewers: the rules, and the recordings of the set if there are any.
fn default_reviewers(set: &Path) -> anyhow::Result<Vec<EvalReviewer>> {
    let recorded = (!recorded_names(set)?.is_empty()).then_some(EvalReviewer::Recorded(None));
    Ok([EvalReviewer::Rules].into_iter().chain(recorded).collect())
}

/// The results of a measurement that are stored.
#[derive(Debug, Clone, Copy)]
pub struct ResultStorage<'a> {
    /// The folder of results; `None` if no result is stored.
    pub out: Option<&'a Path>,
    /// True if the reviews are recorded as well, so that they can be replayed.
    pub record: bool,
}

/// Runs one reviewer on all cases `repeat` times, and stores the outputs.
pub fn measure(
    run: &EvalRun<'_>,
    reviewer: &EvalReviewer,
    repeat: usize,
    keep: ResultStorage<'_>,
    reporter: &dyn Reporter,
) -> anyhow::Result<ReviewerResults> {
    let name = reviewer.to_string();
    let (mut runs, mut origin) = (Vec::new(), Vec::new());
    for number in 1..=repeat {
        let counted = count(run.cases.len(), "case");
        match repeat {
            1 => reporter.note(&format!("{name}: {counted}")),
            all => reporter.note(&format!("{name}: {counted}, run {number} of {all}")),
        }
        let recorded = keep.out.filter(|_| keep.record && number == 1);
        let record = recorded.map(|out| recording_folder(out, &name));
        let EvalRun { environment, set, cases, root, caps, record: _ } = *run;
        let one_run = EvalRun { environment, set, cases, root, caps, record };
        let outputs = review_set(&one_run, reviewer)?;
        if let Some(out) = keep.out {
            write_outputs(&outputs_folder(out, &name, number), &outputs)?;
        }
        origin = origin_notes(&outputs);
        let results: BTreeMap<_, _> =
            outputs.into_iter().map(|(id, output)| (id, output.result)).collect();
        runs.push(results);
    }
    let mut runs = runs.into_iter();
    let results = runs.next().unwrap_or_default();
    Ok(ReviewerResults { name, results, repeats: runs.collect(), origin })
}

/// Returns notes on the origin of replayed outputs.
fn origin_notes(outputs: &BTreeMap<String, CaseOutput>) -> Vec<String> {
    let all: usize = outputs.values().map(|output| output.replayed.all).sum();
    let earlier: usize = outputs.values().map(|output| output.replayed.of_earlier_wording).sum();
    let replayed = format!("{} replayed from a recording", count(all, "answer"));
    let reworded = format!("{earlier} of them given to an earlier wording of the question");
    let both = [(all, replayed), (earlier, reworded)];
    both.into_iter().filter(|(count, _)| *count > 0).map(|(_, text)| text).collect()
}

/// The limits that a report must meet.
#[derive(Debug, Clone, Copy)]
pub struct ReportLimits<'a> {
    /// The minimum values of figures.
    pub min: &'a [Limit],
    /// The maximum values of figures.
    pub max: &'a [Limit],
    /// The report that no figure may be worse than; `None` if there is none.
    pub earlier: Option<&'a EvalReport>,
    /// The largest difference to the earlier report that is not a breach.
    pub tolerance: f64,
}

/// The comparison of a report with limits.
#[derive(Debug)]
pub struct Assessment {
    /// The limits that are not met.
    pub breaches: Vec<Breach>,
    /// The number of outputs that are missing or cannot be read.
    pub missing: usize,
}

impl Assessment {
    /// Compares a report with limits. No limit applies to the reviewers in `free`.
    pub fn of(report: &EvalReport, limits: ReportLimits<'_>, free: &[String]) -> Assessment {
        let held = report.reviewers.iter().filter(|reviewer| !free.contains(&reviewer.name));
        let mut breached: Vec<Breach> =
            held.flat_map(|reviewer| breaches(reviewer, limits.min, limits.max)).collect();
        if let Some(earlier) = limits.earlier {
            let worse = regressions(report, earlier, limits.tolerance);
            breached.extend(worse.into_iter().filter(|breach| !free.contains(&breach.reviewer)));
        }
        let missing = report.reviewers.iter().map(|reviewer| reviewer.missing.len()).sum();
        Assessment { breaches: breached, missing }
    }
}

#[cfg(test)]
mod tests {
    use assay_eval::matching::{MatchRule, WordRule};
    use assay_eval::report::evaluate;
    use assay_eval::set::{Case, Label};
    use assay_eval::summary::SummaryOptions;

    use super::super::case_output::ReplayedAnswers;
    use super::*;

    /// Returns the report of a reviewer without comments on a change with a defect.
    fn report(name: &str) -> EvalReport {
        let label = Label { comment: "it breaks".to_owned(), ..Label::default() };
        let case = Case { id: "a".to_owned(), labels: vec![label], ..Case::default() };
        let results = BTreeMap::from([("a".to_owned(), Ok(Default::default()))]);
        let name = name.to_owned();
        let reviewer = ReviewerResults { name, results, ..ReviewerResults::default() };
        let rule = MatchRule { within: None, words: WordRule::Ignored };
        let figures = SummaryOptions { beta: 1.0, draws: 1, seed: 1 };
        evaluate("set", &[case], &[reviewer], rule, figures)
    }

    #[test]
    fn limits_apply_to_requested_reviewers_and_not_to_baselines() {
        let min = ["recall=0.5".parse().unwrap()];
        let limits = ReportLimits { min: &min, max: &[], earlier: None, tolerance: 0.0 };
        let breached =
            |free: &[String]| Assessment::of(&report("question"), limits, free).breaches.len();
        assert_eq!((breached(&[]), breached(&["question".to_owned()])), (1, 0));
    }

    #[test]
    fn the_origin_names_replayed_answers_and_those_of_an_earlier_wording() {
        let output = |all, of_earlier_wording| CaseOutput {
            result: Err(String::new()),
            stored: None,
            replayed: ReplayedAnswers { all, of_earlier_wording },
        };
        let origin = |some: Vec<CaseOutput>| {
            let ids = some.into_iter().enumerate().map(|(at, it)| (at.to_string(), it));
            origin_notes(&ids.collect())
        };
        assert_eq!(origin(vec![output(0, 0)]), Vec::<String>::new());
        assert_eq!(
            origin(vec![output(2, 0), output(1, 1)]),
            [
                "3 answers replayed from a recording",
                "1 of them given to an earlier wording of the question"
            ]
        );
    }
}
