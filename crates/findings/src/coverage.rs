//! The part of a change that reviewers read: a [`HunkOutcome`] for each hunk and reviewer, and the
//! [`ReviewCoverage`] that results from them.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::{Report, ReviewerKind};

/// The result of one reviewer on one hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum HunkOutcome {
    /// The reviewer read the hunk for its meaning.
    Reviewed,
    /// The reviewer only matched patterns against the text.
    TextOnly,
    /// The reviewer left the hunk out, by this rule.
    LeftOut(String),
    /// The reviewer left the hunk out by this rule, though a reviewer could have read it.
    Unread(String),
    /// The reviewer should have read the hunk and could not, for this reason.
    Failed(String),
    /// The hunk does not concern the reviewer.
    NotConcerned,
}

/// The results of one reviewer on every hunk of a change, in the order of the change.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ReviewerCoverage {
    /// The name of the reviewer.
    pub reviewer: String,
    /// The kind of reviewer.
    pub kind: ReviewerKind,
    /// True if the change cannot be ready when this reviewer fails.
    pub required: bool,
    /// The results, one for each hunk.
    pub hunks: Vec<HunkOutcome>,
}

/// The number of hunks of a change by their result. The parts add up to the change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Coverage")]
pub struct ReviewCoverage {
    /// The hunks that a reviewer read, by the names of the reviewers.
    #[serde(default)]
    pub reviewed: BTreeMap<String, usize>,
    /// The hunks that were only matched against patterns on text.
    pub text_only: usize,
    /// The hunks that no reviewer read, by the rule that left them out.
    pub left_out: BTreeMap<String, usize>,
    /// The hunks that a required reviewer could not read, by the reason.
    #[serde(default)]
    pub failed: BTreeMap<String, usize>,
    /// The number of the hunks in `left_out` that a reviewer could have read.
    #[serde(default)]
    pub unread: usize,
    /// The number of the hunks in `reviewed` that a model read.
    #[serde(default)]
    pub by_model: usize,
    /// The number of rules that the user or the configuration left out, in all files or in some.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rules_not_applied: usize,
    /// The part of the change that must be read for the change to be ready.
    #[serde(default, skip_serializing_if = "CoverageRequirement::is_none")]
    pub require: CoverageRequirement,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The part of a change that must be read for the change to be ready.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Requirement")]
pub enum CoverageRequirement {
    /// Patterns on text are enough.
    #[default]
    None,
    /// Each hunk that is not left out is read by rules that know its language, or by another
    /// reviewer.
    Structural,
    /// Each hunk that is not left out is read by a model.
    Model,
}

impl CoverageRequirement {
    /// Returns the requirement as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            CoverageRequirement::None => "none",
            CoverageRequirement::Structural => "structural",
            CoverageRequirement::Model => "model",
        }
    }

    fn is_none(&self) -> bool {
        *self == CoverageRequirement::None
    }
}

/// The result of all reviewers on one hunk.
enum HunkFate {
    Failed(String),
    Reviewed { by: String, model: bool },
    TextOnly,
    LeftOut { rule: String, unread: bool },
}

impl ReviewCoverage {
    /// Adds up the results of all reviewers on a change of `hunks` hunks.
    pub fn of(
        hunks: usize,
        reviewers: &[ReviewerCoverage],
        require: CoverageRequirement,
    ) -> ReviewCoverage {
        let mut coverage = ReviewCoverage { require, ..ReviewCoverage::default() };
        for hunk in 0..hunks {
            match hunk_fate(hunk, reviewers) {
                HunkFate::Failed(why) => *coverage.failed.entry(why).or_default() += 1,
                HunkFate::Reviewed { by, model } => {
                    *coverage.reviewed.entry(by).or_default() += 1;
                    coverage.by_model += usize::from(model);
                }
                HunkFate::TextOnly => coverage.text_only += 1,
                HunkFate::LeftOut { rule, unread } => {
                    *coverage.left_out.entry(rule).or_default() += 1;
                    coverage.unread += usize::from(unread);
                }
            }
        }
        coverage
    }

    /// Adds the rules that the reviewers of some reports left out.
    pub fn with_reports(mut self, reports: &[Report]) -> ReviewCoverage {
        self.rules_not_applied = reports.iter().map(|report| report.rules_not_applied).sum();
        self
    }

    /// Returns the number of hunks.
    pub fn hunks(&self) -> usize {
        let others = self.left_out.values().chain(self.failed.values());
        self.text_only + others.chain(self.reviewed.values()).sum::<usize>()
    }

    /// Returns true if no reviewer looked at any hunk, not even for patterns on text.
    pub fn is_empty(&self) -> bool {
        self.text_only == 0 && self.reviewed.is_empty()
    }

    /// Returns true if the change has no content that a reviewer could read: all hunks were left
    /// out for their kind, and none for its size or because a reviewer is missing.
    pub fn is_without_content(&self) -> bool {
        self.is_empty() && self.failed.is_empty() && self.unread == 0
    }

    /// Returns the limits of a verdict on this coverage: rules that were left out, and hunks that no
    /// model read.
    pub fn caveat(&self) -> Option<String> {
        match (self.readers_caveat(), self.rules_caveat()) {
            (Some(readers), Some(rules)) => Some(format!("{readers}; {rules}")),
            (readers, rules) => readers.or(rules),
        }
    }

    fn rules_caveat(&self) -> Option<String> {
        match self.rules_not_applied {
            0 => None,
            1 => Some("1 rule not applied".to_owned()),
            rules => Some(format!("{rules} rules not applied")),
        }
    }

    /// Returns the limits of a verdict if no model read the change, or not all of it.
    fn readers_caveat(&self) -> Option<String> {
        if self.by_model > 0 {
            let read = self.text_only + self.reviewed.values().sum::<usize>();
            return match read - self.by_model {
                0 => None,
                1 => Some("1 hunk read by no model".to_owned()),
                hunks => Some(format!("{hunks} hunks read by no model")),
            };
        }
        if self.is_empty() {
            return None;
        }
        let by_rules_alone = self.reviewed.keys().all(|by| by == "rules");
        let readers = if by_rules_alone { "rules only" } else { "no model" };
        Some(match self.text_only {
            0 => readers.to_owned(),
            1 => format!("{readers}; 1 hunk text only"),
            hunks => format!("{readers}; {hunks} hunks text only"),
        })
    }

    /// Returns the number of hunks that were read less than is required.
    pub(crate) fn short_of_requirement(&self) -> usize {
        match self.require {
            CoverageRequirement::None => 0,
            CoverageRequirement::Structural => self.text_only + self.unread,
            CoverageRequirement::Model => self.unread_by_models(),
        }
    }

    /// Returns the number of hunks that a model could have read and did not read.
    pub(crate) fn unread_by_models(&self) -> usize {
        let read = self.reviewed.values().sum::<usize>();
        (self.text_only + self.unread + read).saturating_sub(self.by_model)
    }
}

/// Returns the result of a hunk: failed if a required reviewer failed on it, else reviewed if any
/// reviewer read it, else text only if patterns were matched against it, else left out.
fn hunk_fate(hunk: usize, reviewers: &[ReviewerCoverage]) -> HunkFate {
    let looks = || reviewers.iter().filter_map(|by| Some((by, by.hunks.get(hunk)?)));
    let failed = looks().find_map(|(by, look)| match look {
        HunkOutcome::Failed(why) if by.required => Some(why.clone()),
        _ => None,
    });
    if let Some(why) = failed {
        return HunkFate::Failed(why);
    }
    let readers: Vec<&ReviewerCoverage> =
        looks().filter(|(_, look)| **look == HunkOutcome::Reviewed).map(|(by, _)| by).collect();
    if !readers.is_empty() {
        let model = readers.iter().any(|by| by.kind == ReviewerKind::Persona);
        return HunkFate::Reviewed { by: summarize_readers(&readers), model };
    }
    if looks().any(|(_, look)| *look == HunkOutcome::TextOnly) {
        return HunkFate::TextOnly;
    }
    let reason = looks().find_map(|(_, look)| match look {
        HunkOutcome::LeftOut(rule) => Some((rule.clone(), false)),
        HunkOutcome::Unread(rule) | HunkOutcome::Failed(rule) => Some((rule.clone(), true)),
        HunkOutcome::Reviewed | HunkOutcome::TextOnly | HunkOutcome::NotConcerned => None,
    });
    let (rule, unread) = reason.unwrap_or_else(|| ("no reviewer for this file".to_owned(), true));
    HunkFate::LeftOut { rule, unread }
}

/// Returns the names of readers; several personas are counted instead of named.
fn summarize_readers(readers: &[&ReviewerCoverage]) -> String {
    let (personas, others): (Vec<&ReviewerCoverage>, Vec<&ReviewerCoverage>) =
        readers.iter().partition(|by| by.kind == ReviewerKind::Persona);
    let mut names: Vec<String> = others.iter().map(|by| by.reviewer.clone()).collect();
    match &personas[..] {
        [] => {}
        [only] => names.push(only.reviewer.clone()),
        several => names.push(format!("{} personas", several.len())),
    }
    names.join(" and ")
}

impl fmt::Display for ReviewCoverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hunks = self.hunks();
        write!(f, "{hunks} {}", if hunks == 1 { "hunk" } else { "hunks" })?;
        let reviewed = self.reviewed.iter().map(|(by, n)| format!("{n} by {by}"));
        let text_only = (self.text_only > 0).then(|| format!("{} text only", self.text_only));
        let left_out = self.left_out.iter().map(|(rule, n)| format!("{n} left out ({rule})"));
        let failed = self.failed.iter().map(|(why, n)| format!("{n} failed ({why})"));
        let parts: Vec<String> = reviewed.chain(text_only).chain(left_out).chain(failed).collect();
        if !parts.is_empty() {
            write!(f, ": {}", parts.join(", "))?;
        }
        self.rules_caveat().map_or(Ok(()), |rules| write!(f, "; {rules}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Reviewer;
    use expect_test::{Expect, expect};

    /// Checks the coverage of a table. Each line is a reviewer: its name, `!` if it is required,
    /// and a letter for each hunk.
    fn check(reviewers: &str, expected: Expect) {
        let looks: Vec<ReviewerCoverage> = reviewers
            .lines()
            .map(|line| {
                let (name, letters) = line.trim().split_once(' ').unwrap();
                let hunks = letters.chars().map(|letter| match letter {
                    'r' => HunkOutcome::Reviewed,
                    't' => HunkOutcome::TextOnly,
                    'o' => HunkOutcome::LeftOut("lock file".into()),
                    'f' => HunkOutcome::Failed("crashed".into()),
                    _ => HunkOutcome::NotConcerned,
                });
                ReviewerCoverage {
                    reviewer: name.trim_end_matches('!').into(),
                    kind: ReviewerKind::Rules,
                    required: name.ends_with('!'),
                    hunks: hunks.collect(),
                }
            })
            .collect();
        let hunks = looks.iter().map(|by| by.hunks.len()).max().unwrap_or(0);
        let coverage = ReviewCoverage::of(hunks, &looks, CoverageRequirement::None);
        assert_eq!(coverage.hunks(), hunks, "the parts add up to the change");
        expected.assert_eq(&coverage.to_string());
    }

    #[test]
    fn the_coverage_line_counts_hunks_by_outcome() {
        check(
            "rules! rrrrrrrrrtto",
            expect!["12 hunks: 9 by rules, 2 text only, 1 left out (lock file)"],
        );
    }

    #[test]
    fn a_hunk_counts_as_failed_if_a_required_reviewer_failed_on_it() {
        check("rules! rr\nruff! .f", expect!["2 hunks: 1 by rules, 1 failed (crashed)"]);
    }

    #[test]
    fn the_failure_of_an_optional_reviewer_does_not_change_the_coverage() {
        check("rules! rt\nruff ff", expect!["2 hunks: 1 by rules, 1 text only"]);
    }

    #[test]
    fn the_coverage_line_names_the_reviewers_of_a_hunk() {
        check(
            "rules! rto\nruff rr.",
            expect!["3 hunks: 1 by ruff, 1 by rules and ruff, 1 left out (lock file)"],
        );
    }

    #[test]
    fn a_verdict_and_the_coverage_name_the_rules_that_were_left_out() {
        let mut report = Report::new(Reviewer::new("rules", ReviewerKind::Rules));
        report.rules_not_applied = 3;
        let coverage = ReviewCoverage { text_only: 1, ..ReviewCoverage::default() };
        let coverage = coverage.with_reports(&[report]);
        expect!["1 hunk: 1 text only; 3 rules not applied"].assert_eq(&coverage.to_string());
        expect!["rules only; 1 hunk text only; 3 rules not applied"]
            .assert_eq(&coverage.caveat().unwrap_or_default());
    }

    #[test]
    fn an_unread_hunk_falls_short_of_the_requirement_and_a_left_out_one_does_not() {
        let looks = ReviewerCoverage {
            reviewer: "rules".into(),
            kind: ReviewerKind::Rules,
            required: true,
            hunks: vec![
                HunkOutcome::Reviewed,
                HunkOutcome::LeftOut("lock file".into()),
                HunkOutcome::Unread("larger than 1 KiB".into()),
            ],
        };
        let coverage = ReviewCoverage::of(3, &[looks], CoverageRequirement::Structural);
        assert_eq!(coverage.short_of_requirement(), 1);
    }

    #[test]
    fn a_hunk_without_a_responsible_reviewer_is_left_out() {
        check("ruff .", expect!["1 hunk: 1 left out (no reviewer for this file)"]);
    }
}
