//! The score of a set: [`SetSummary`], computed from the scores of its cases.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::score::{ANCHOR_DISTANCES, CaseScore, Counts, Effort, share};
use crate::statistics::{Calibration, Estimate, bootstrap, calibration};

/// The options of a summary.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SummaryOptions {
    /// The weight of recall relative to precision in F.
    pub beta: f64,
    /// The number of bootstrap draws.
    pub draws: usize,
    /// The seed of the bootstrap.
    pub seed: u64,
}

impl Default for SummaryOptions {
    fn default() -> Self {
        SummaryOptions { beta: 1.0, draws: crate::statistics::DEFAULT_DRAWS, seed: 1 }
    }
}

/// The score of one reviewer on a set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SetSummary {
    /// The number of cases.
    pub cases: usize,
    /// The sums over all cases.
    pub counts: Counts,
    /// The precision over all comments; `None` without comments.
    pub precision: Option<Estimate>,
    /// The recall over all labels; `None` without labels.
    pub recall: Option<Estimate>,
    /// F over all comments and labels; `None` without either.
    pub f: Option<Estimate>,
    /// The mean of F over the cases that have a label.
    pub macro_f: Option<Estimate>,
    /// The number of comments per change.
    pub comments_per_change: Option<Estimate>,
    /// The ratio of clean changes that were blocked.
    pub blocked_clean: Option<Estimate>,
    /// The number of blocked clean changes, and the number of clean changes.
    pub clean: (usize, usize),
    /// The number of changes with a defect in which a blocking comment names a label, and the
    /// number of changes with a defect.
    pub blocked_for_a_label: (usize, usize),
    /// The number of comments on a label that another comment names better.
    pub duplicates: usize,
    /// The number of comments that match a rejected comment.
    pub rejected_hits: usize,
    /// The numbers of named labels, by the severity of the label and then of the comment that names
    /// it.
    pub severities: BTreeMap<String, BTreeMap<String, usize>>,
    /// The numbers of hits and labels, by severity.
    pub by_severity: BTreeMap<String, (usize, usize)>,
    /// The numbers of hits and labels, by category.
    pub by_category: BTreeMap<String, (usize, usize)>,
    /// The numbers of hits, labels and comments, by language.
    pub by_language: BTreeMap<String, Counts>,
    /// The ratio of named labels with a line whose comment is at most this many lines away, by the
    /// number of lines.
    pub anchors: BTreeMap<u32, f64>,
    /// F if a comment may be this many lines away from a label, by the number of lines.
    pub f_within: BTreeMap<u32, f64>,
    /// The calibration of the stated confidence; `None` if no comment states a confidence.
    pub calibration: Option<Calibration>,
    /// The cost of all cases.
    pub effort: Effort,
}

impl SetSummary {
    /// Returns the summary of the scores of a set's cases.
    pub fn of(scores: &[CaseScore], options: SummaryOptions) -> SetSummary {
        let estimate = |figure: fn(&[&CaseScore], f64) -> Option<f64>| {
            bootstrap(scores, options.draws, options.seed, |drawn| figure(drawn, options.beta))
        };
        let buggy = || scores.iter().filter(|score| !score.is_clean);
        let clean = || scores.iter().filter(|score| score.is_clean);
        let confidences: Vec<(f64, bool)> =
            scores.iter().flat_map(|score| score.confidences.iter().copied()).collect();
        SetSummary {
            cases: scores.len(),
            counts: sum(scores.iter()),
            precision: estimate(|drawn, _| sum(drawn.iter().copied()).precision()),
            recall: estimate(|drawn, _| sum(drawn.iter().copied()).recall()),
            f: estimate(|drawn, beta| sum(drawn.iter().copied()).f(beta)),
            macro_f: estimate(macro_f),
            comments_per_change: estimate(|drawn, _| {
                share(sum(drawn.iter().copied()).comments, drawn.len())
            }),
            blocked_clean: estimate(|drawn, _| {
                let clean = || drawn.iter().filter(|score| score.is_clean);
                share(clean().filter(|score| score.blocked).count(), clean().count())
            }),
            clean: (clean().filter(|score| score.blocked).count(), clean().count()),
            blocked_for_a_label: (
                buggy().filter(|score| score.blocked_by_hit).count(),
                buggy().count(),
            ),
            duplicates: scores.iter().map(|score| score.duplicates).sum(),
            rejected_hits: scores.iter().map(|score| score.rejected_hits).sum(),
            severities: severities(scores),
            by_severity: grouped(scores, |score| &score.by_severity),
            by_category: grouped(scores, |score| &score.by_category),
            by_language: by_language(scores),
            anchors: anchors(scores),
            f_within: f_within(scores, options.beta),
            calibration: calibration(&confidences),
            effort: scores.iter().fold(Effort::default(), |all, score| all + score.effort),
        }
    }

    /// Returns a figure by its name in a limit: `f1`, `precision`, `recall`, `macro_f1`, `noise`
    /// (the ratio of comments that name no label), `comments`, `blocked_clean` or `duplicates`.
    /// Returns `None` for another name, or if the figure is undefined.
    pub fn figure(&self, name: &str) -> Option<f64> {
        let value = |estimate: Option<Estimate>| estimate.map(|it| it.value);
        match name {
            "f1" => value(self.f),
            "precision" => value(self.precision),
            "recall" => value(self.recall),
            "macro_f1" => value(self.macro_f),
            "noise" => value(self.precision).map(|precision| 1.0 - precision),
            "comments" => value(self.comments_per_change),
            "blocked_clean" => value(self.blocked_clean),
            "duplicates" => Some(self.duplicates as f64),
            _ => None,
        }
    }
}

/// Returns the sum of the counts of the cases.
pub fn sum<'a>(scores: impl Iterator<Item = &'a CaseScore>) -> Counts {
    scores.fold(Counts::default(), |all, score| all + score.counts)
}

fn macro_f(scores: &[&CaseScore], beta: f64) -> Option<f64> {
    let each: Vec<f64> = scores
        .iter()
        .filter(|score| score.counts.labels > 0)
        .filter_map(|score| score.counts.f(beta))
        .collect();
    (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
}

fn grouped(
    scores: &[CaseScore],
    groups: fn(&CaseScore) -> &BTreeMap<String, (usize, usize)>,
) -> BTreeMap<String, (usize, usize)> {
    let mut all: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (name, (hits, labels)) in scores.iter().flat_map(groups) {
        let entry = all.entry(name.clone()).or_default();
        entry.0 += hits;
        entry.1 += labels;
    }
    all
}

fn severities(scores: &[CaseScore]) -> BTreeMap<String, BTreeMap<String, usize>> {
    let mut all: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for (known, stated) in scores.iter().flat_map(|score| &score.severities) {
        *all.entry(known.clone()).or_default().entry(stated.clone()).or_default() += 1;
    }
    all
}

fn by_language(scores: &[CaseScore]) -> BTreeMap<String, Counts> {
    let mut all: BTreeMap<String, Counts> = BTreeMap::new();
    for score in scores {
        let name = score.language.clone().unwrap_or_else(|| "unstated".to_owned());
        let entry = all.entry(name).or_default();
        *entry = *entry + score.counts;
    }
    all
}

fn anchors(scores: &[CaseScore]) -> BTreeMap<u32, f64> {
    let placed: usize = scores.iter().map(|score| score.anchors.0).sum();
    let within = |at: usize| scores.iter().map(|score| score.anchors.1[at]).sum::<usize>();
    let shares = ANCHOR_DISTANCES.iter().enumerate();
    shares.filter_map(|(at, lines)| Some((*lines, share(within(at), placed)?))).collect()
}

fn f_within(scores: &[CaseScore], beta: f64) -> BTreeMap<u32, f64> {
    let all = sum(scores.iter());
    let hits = |at: usize| scores.iter().map(|score| score.hits_within[at]).sum();
    let figures = ANCHOR_DISTANCES.iter().enumerate();
    figures
        .filter_map(|(at, lines)| Some((*lines, Counts { hits: hits(at), ..all }.f(beta)?)))
        .collect()
}
