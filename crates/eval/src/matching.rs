//! Matching of comments and labels: [`MatchRule`], [`match_case`].

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use assay_findings::claim_similarity::ComparedTexts;
use serde::{Deserialize, Serialize};

use crate::assignment::greatest_weight;
use crate::comment::{Comment, is_same_file};
use crate::set::Label;

/// The default similarity of words from which two texts name the same defect, from 0 to 1.
pub const DEFAULT_SIMILARITY: f64 = 0.24;

/// The factor of nearness and similarity in the weight of a match, small enough to decide only
/// between matchings that are otherwise equal.
const TIE_BREAK: f64 = 1e-4;

/// The rule by which a comment can name a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatchRule {
    /// The maximum number of lines between the comment and the label; `None` if locations do not
    /// matter. A label without a location is matched by its words alone.
    pub within: Option<u32>,
    /// The comparison of the words.
    pub words: WordRule,
}

/// A comparison of the words of a comment and a label.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WordRule {
    /// Words do not matter if the label has a location.
    Ignored,
    /// The cosine similarity of the weighted words reaches a minimum.
    Lexical {
        /// The minimum, from 0 to 1.
        at_least: f64,
    },
    /// Recorded decisions of a judge.
    Judged(Verdicts),
}

/// The recorded decisions of a judge on pairs of a comment and a label. A pair without a decision
/// is no match.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Verdict>", into = "Vec<Verdict>")]
pub struct Verdicts(BTreeMap<[String; 3], Verdict>);

/// A decision of a judge: true if a comment names a label of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// The id of the case.
    pub case: String,
    /// The text of the comment, or its first line alone.
    pub comment: String,
    /// The text of the label.
    pub label: String,
    /// True if the comment names the label.
    #[serde(default = "is_named", skip_serializing_if = "Clone::clone")]
    pub names: bool,
    /// The name of the judge; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<String>,
}

fn is_named() -> bool {
    true
}

impl Verdicts {
    /// Parses verdicts, one JSON object per line; blank lines are skipped. Fails with the number of
    /// a line that is not a verdict, or that contradicts another one.
    pub fn parse(text: &str) -> Result<Verdicts, String> {
        let mut verdicts = Verdicts::default();
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        for (at, line) in lines {
            let fault = |why: String| format!("line {}: {why}", at + 1);
            let verdict: Verdict =
                serde_json::from_str(line).map_err(|error| fault(error.to_string()))?;
            verdicts.add(verdict).map_err(fault)?;
        }
        Ok(verdicts)
    }

    /// Adds a verdict. Fails if there is an opposite verdict on the same pair.
    pub fn add(&mut self, verdict: Verdict) -> Result<(), String> {
        let key = key(&verdict.case, &verdict.comment, &verdict.label);
        match self.0.get(&key) {
            Some(before) if before.names != verdict.names => {
                Err(format!("contradicts another verdict on `{}`", verdict.case))
            }
            Some(_) => Ok(()),
            None => {
                self.0.insert(key, verdict);
                Ok(())
            }
        }
    }

    /// Returns the decision on a pair, or `None` if there is none. A decision on the first line of
    /// a comment applies to the whole comment.
    pub fn decision(&self, case: &str, comment: &str, label: &str) -> Option<bool> {
        let first = comment.trim().lines().next().unwrap_or("");
        let verdict = |comment: &str| self.0.get(&key(case, comment, label));
        verdict(comment).or_else(|| verdict(first)).map(|verdict| verdict.names)
    }

    /// Returns the number of verdicts, and the names of the judges.
    fn judges(&self) -> (usize, BTreeSet<&str>) {
        (self.0.len(), self.0.values().filter_map(|verdict| verdict.judge.as_deref()).collect())
    }
}

impl TryFrom<Vec<Verdict>> for Verdicts {
    type Error = String;

    fn try_from(list: Vec<Verdict>) -> Result<Verdicts, String> {
        let mut verdicts = Verdicts::default();
        list.into_iter().try_for_each(|verdict| verdicts.add(verdict))?;
        Ok(verdicts)
    }
}

impl From<Verdicts> for Vec<Verdict> {
    fn from(verdicts: Verdicts) -> Vec<Verdict> {
        verdicts.0.into_values().collect()
    }
}

/// Returns the key of a pair, with white space collapsed.
fn key(case: &str, comment: &str, label: &str) -> [String; 3] {
    let plain = assay_base::text::single_spaced;
    [case.to_owned(), plain(comment), plain(label)]
}

impl fmt::Display for MatchRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.within {
            Some(lines) => format!("a place at most {lines} lines away"),
            None => "any place".to_owned(),
        };
        match &self.words {
            WordRule::Ignored => write!(f, "{place}"),
            WordRule::Lexical { at_least } => {
                write!(f, "{place} and similar words (at least {at_least})")
            }
            WordRule::Judged(verdicts) => match verdicts.judges() {
                (count, judges) if judges.is_empty() => write!(f, "{count} recorded verdicts"),
                (count, judges) => {
                    let judges: Vec<&str> = judges.into_iter().collect();
                    write!(f, "{count} verdicts of a judge ({})", judges.join(", "))
                }
            },
        }
    }
}

impl Default for MatchRule {
    fn default() -> Self {
        MatchRule { within: Some(3), words: WordRule::Lexical { at_least: DEFAULT_SIMILARITY } }
    }
}

/// A comment that names a label.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Match {
    /// The index of the comment in its case.
    pub comment: usize,
    /// The index of the label in its case.
    pub label: usize,
    /// The similarity of their words, from 0 to 1.
    pub similarity: f64,
}

/// The matches between the comments and the labels of a case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CaseMatches {
    /// The matched labels, each with the comment that names the label best.
    pub matches: Vec<Match>,
    /// The indexes of comments that name a label which another comment names better.
    pub duplicates: Vec<usize>,
}

/// Matches the comments of a case one-to-one with its labels, so that the sum of the similarities
/// is greatest.
///
/// The weights of words are computed from the comments and labels of this case alone, so that a
/// score depends neither on other cases nor on other reviewers.
pub fn match_case(
    case: &str,
    comments: &[Comment],
    labels: &[Label],
    rule: &MatchRule,
) -> CaseMatches {
    let said = comments.iter().map(|comment| comment.text.as_str());
    let texts = ComparedTexts::of(said.chain(labels.iter().map(|label| label.comment.as_str())));
    let similarity = |comment: usize, label: usize| texts.cosine(comment, comments.len() + label);
    let weight = |comment: usize, label: usize| {
        rule.weight(case, &comments[comment], &labels[label], similarity(comment, label))
    };
    let weights: Vec<Vec<f64>> = (0..comments.len())
        .map(|comment| (0..labels.len()).map(|label| weight(comment, label)).collect())
        .collect();
    let matched = greatest_weight(&weights);
    let matches = matched.iter().enumerate().filter_map(|(comment, label)| {
        let label = (*label)?;
        Some(Match { comment, label, similarity: similarity(comment, label) })
    });
    let names_one = |comment: &usize| weights[*comment].iter().any(|weight| *weight > 0.0);
    let duplicates = (0..comments.len()).filter(|at| matched[*at].is_none()).filter(names_one);
    CaseMatches { matches: matches.collect(), duplicates: duplicates.collect() }
}

impl MatchRule {
    /// Returns the weight of a match between a comment and a label; zero if the rule forbids the
    /// match.
    fn weight(&self, case: &str, comment: &Comment, label: &Label, similarity: f64) -> f64 {
        let nearness = match (self.within, label.path.is_some()) {
            (Some(within), true) => match distance(comment, label) {
                Some(lines) if lines <= within => 1.0 / (1.0 + f64::from(lines)),
                Some(_) | None => return 0.0,
            },
            (Some(_) | None, _) => 0.0,
        };
        // Nearness decides between matchings that are otherwise equal, and never costs a match.
        let tie_break = (nearness + similarity) * TIE_BREAK;
        match &self.words {
            WordRule::Ignored if nearness > 0.0 => 1.0 + tie_break,
            WordRule::Ignored => 0.0,
            WordRule::Lexical { at_least } if similarity >= *at_least => similarity + tie_break,
            WordRule::Lexical { .. } => 0.0,
            WordRule::Judged(verdicts) => {
                match verdicts.decision(case, &comment.text, &label.comment) {
                    Some(true) => 1.0 + tie_break,
                    Some(false) | None => 0.0,
                }
            }
        }
    }
}

/// Returns the number of lines between a comment and a label in the same file; zero if their ranges
/// overlap. Returns `None` for different files, or if the comment names no line. A label without a
/// line covers the whole file.
pub fn distance(comment: &Comment, label: &Label) -> Option<u32> {
    let (path, known) = (comment.path.as_deref()?, label.path.as_deref()?);
    if !is_same_file(path, known) {
        return None;
    }
    let Some(start) = label.line else { return Some(0) };
    let end = label.end_line.unwrap_or(start);
    let (first, last) = comment.lines?;
    Some(match (first > end, last < start) {
        (true, _) => first - end,
        (_, true) => start - last,
        (false, false) => 0,
    })
}
