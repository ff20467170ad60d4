//! The score of a case, and the counts of many cases: [`CaseScore`], [`Counts`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::comment::{Comment, deduplicate};
use crate::matching::{MatchRule, WordRule, distance, match_case};
use crate::set::Case;

/// The distances, in lines, for which the accuracy of locations is reported.
pub const ANCHOR_DISTANCES: [u32; 4] = [0, 1, 3, 10];

/// The result of one reviewer on one case, before scoring.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CaseResult {
    /// The comments that the author of the change sees.
    pub comments: Vec<Comment>,
    /// True if the reviewer prevents a merge of the change.
    pub blocks: bool,
    /// The cost of the review.
    #[serde(default)]
    pub effort: Effort,
    /// True if the change was not read completely, according to the reviewer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_incomplete: bool,
}

/// The cost of a review. A field is zero if the tool does not report it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Effort {
    /// The number of model calls.
    pub calls: u64,
    /// The bytes of text that were exchanged with models.
    pub bytes: u64,
    /// The tokens that were exchanged with models.
    pub tokens: u64,
    /// The cost in US dollars.
    pub dollars: f64,
    /// The time in seconds.
    pub seconds: f64,
}

impl std::ops::Add for Effort {
    type Output = Effort;

    fn add(self, other: Effort) -> Effort {
        Effort {
            calls: self.calls + other.calls,
            bytes: self.bytes + other.bytes,
            tokens: self.tokens + other.tokens,
            dollars: self.dollars + other.dollars,
            seconds: self.seconds + other.seconds,
        }
    }
}

/// The counts from which precision and recall are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// The number of labels that a comment names.
    pub hits: usize,
    /// The number of labels.
    pub labels: usize,
    /// The number of comments.
    pub comments: usize,
}

impl std::ops::Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            hits: self.hits + other.hits,
            labels: self.labels + other.labels,
            comments: self.comments + other.comments,
        }
    }
}

impl Counts {
    /// Returns the ratio of comments that name a label. Returns `None` without comments.
    pub fn precision(&self) -> Option<f64> {
        share(self.hits, self.comments)
    }

    /// Returns the ratio of labels that a comment names. Returns `None` without labels.
    pub fn recall(&self) -> Option<f64> {
        share(self.hits, self.labels)
    }

    /// Returns the weighted harmonic mean of precision and recall, with recall weighted `beta`
    /// times as much. Returns `None` if there is neither a comment nor a label.
    pub fn f(&self, beta: f64) -> Option<f64> {
        let squared = beta * beta;
        let weight = squared * self.labels as f64 + self.comments as f64;
        (weight > 0.0).then(|| (1.0 + squared) * self.hits as f64 / weight)
    }
}

/// Returns the ratio of a part to a whole, or `None` if the whole is zero.
pub fn share(part: usize, whole: usize) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// The score of one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseScore {
    /// The id of the case.
    pub case: String,
    /// The language of the case; `None` if it is not known.
    pub language: Option<String>,
    /// Hits, labels and comments.
    pub counts: Counts,
    /// The indexes of the labels that a comment names.
    pub named: Vec<usize>,
    /// True if the case has no known defect.
    pub is_clean: bool,
    /// True if the change was not read completely, according to the reviewer.
    pub is_incomplete: bool,
    /// True if the reviewer prevented a merge of the change.
    pub blocked: bool,
    /// True if a blocking comment names a label.
    pub blocked_by_hit: bool,
    /// The number of comments on a label that another comment names better.
    pub duplicates: usize,
    /// The number of comments that match a comment which maintainers rejected, and no label.
    pub rejected_hits: usize,
    /// The numbers of labels that are named if a comment may be this many lines away, for each of
    /// [`ANCHOR_DISTANCES`].
    pub hits_within: [usize; 4],
    /// Hits and labels by the label's severity.
    pub by_severity: BTreeMap<String, (usize, usize)>,
    /// Hits and labels by the label's category.
    pub by_category: BTreeMap<String, (usize, usize)>,
    /// The number of comments that name a label with a line by their words, and how many of them
    /// are at most this many lines away from the label, for each of [`ANCHOR_DISTANCES`].
    pub anchors: (usize, [usize; 4]),
    /// For each named label, its severity and the severity of the comment that names it.
    pub severities: Vec<(String, String)>,
    /// The confidence of each comment that states one, and true if the comment names a label.
    pub confidences: Vec<(f64, bool)>,
    /// The cost of the review.
    pub effort: Effort,
}

/// Scores a reviewer's result on one case.
///
/// A repeated comment counts once.
pub fn score_case(case: &Case, result: &CaseResult, rule: &MatchRule) -> CaseScore {
    let comments = &deduplicate(&result.comments);
    let found = match_case(&case.id, comments, &case.labels, rule);
    let is_hit = |at: usize| found.matches.iter().any(|it| it.comment == at);
    let is_named = |label: usize| found.matches.iter().any(|it| it.label == label);
    let group = |word: fn(&crate::set::Label) -> Option<&String>| {
        let mut groups: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for (at, label) in case.labels.iter().enumerate() {
            let name = word(label).cloned().unwrap_or_else(|| "unstated".to_owned());
            let entry = groups.entry(name).or_default();
            entry.0 += usize::from(is_named(at));
            entry.1 += 1;
        }
        groups
    };
    let others: Vec<Comment> =
        (0..comments.len()).filter(|at| !is_hit(*at)).map(|at| comments[at].clone()).collect();
    let rejected = match_case(&case.id, &others, &case.rejected, &rule.for_rejected());
    let severities = found.matches.iter().map(|it| {
        let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "unstated".to_owned());
        (word(&case.labels[it.label].severity), word(&comments[it.comment].severity))
    });
    let hits_within = ANCHOR_DISTANCES.map(|within| {
        let rule = MatchRule { within: Some(within), ..rule.clone() };
        match_case(&case.id, comments, &case.labels, &rule).matches.len()
    });
    let confidences =
        comments.iter().enumerate().filter_map(|(at, it)| Some((it.confidence?, is_hit(at))));
    CaseScore {
        case: case.id.clone(),
        language: case.language.clone(),
        counts: Counts {
            hits: found.matches.len(),
            labels: case.labels.len(),
            comments: comments.len(),
        },
        named: (0..case.labels.len()).filter(|label| is_named(*label)).collect(),
        is_clean: case.is_clean(),
        is_incomplete: result.is_incomplete,
        blocked: result.blocks,
        blocked_by_hit: found.matches.iter().any(|it| comments[it.comment].blocks),
        duplicates: found.duplicates.len(),
        rejected_hits: rejected.matches.len() + rejected.duplicates.len(),
        hits_within,
        by_severity: group(|label| label.severity.as_ref()),
        by_category: group(|label| label.category.as_ref()),
        anchors: anchors(case, comments, rule),
        severities: severities.collect(),
        confidences: confidences.collect(),
        effort: result.effort,
    }
}

impl MatchRule {
    /// Returns the rule for rejected comments. A judge has no recorded decisions on them, so words
    /// are compared instead.
    fn for_rejected(&self) -> MatchRule {
        match self.words {
            WordRule::Judged(_) => MatchRule { within: self.within, ..MatchRule::default() },
            WordRule::Ignored | WordRule::Lexical { .. } => self.clone(),
        }
    }
}

/// Returns the number of comments that name a label with a line by their words, and how many of
/// them are within each of the anchor distances.
fn anchors(case: &Case, comments: &[Comment], rule: &MatchRule) -> (usize, [usize; 4]) {
    let words = match &rule.words {
        WordRule::Ignored => MatchRule::default().words,
        words @ (WordRule::Lexical { .. } | WordRule::Judged(_)) => words.clone(),
    };
    let by_words = MatchRule { within: None, words };
    let found = match_case(&case.id, comments, &case.labels, &by_words);
    let mut near = [0; 4];
    let mut placed = 0;
    for it in &found.matches {
        let (comment, label) = (&comments[it.comment], &case.labels[it.label]);
        if label.line.is_none() {
            continue;
        }
        placed += 1;
        let lines = distance(comment, label);
        for (count, within) in near.iter_mut().zip(ANCHOR_DISTANCES) {
            *count += usize::from(lines.is_some_and(|lines| lines <= within));
        }
    }
    (placed, near)
}
