//! Findings of the rules in a change, grouped for the checks of a gate: [`RuleResults`].

use std::collections::{BTreeMap, BTreeSet};

use assay_change::Change;
use assay_findings::coverage::HunkOutcome;
use assay_findings::grade::Obligation;
use assay_findings::vote::Vote;
use assay_rules::Rulebook;

use crate::item::Severity;
use crate::quote::shown;

/// The rule that has a separate check in every list.
const CONFLICT_MARKER_RULE: &str = "change/conflict-marker";

/// The rule about changed behaviour without tests.
pub(crate) const UNTESTED_RULE: &str = "change/untested";

/// Findings of the rules in a change, computed once for all checks.
#[derive(Debug, Default)]
pub(crate) struct RuleResults {
    /// The results of the files, by path.
    pub(crate) files: BTreeMap<String, FileRuleResults>,
    /// The findings that belong to no file.
    pub(crate) whole: Vec<RuleFinding>,
}

/// Findings of the rules in one file.
#[derive(Debug, Default)]
pub(crate) struct FileRuleResults {
    pub(crate) found: Vec<RuleFinding>,
    /// The reason why the file was not read completely; `None` if it was.
    pub(crate) unread: Option<String>,
    /// The rule that excludes the file from review; `None` if there is none.
    pub(crate) left_out: Option<String>,
}

/// A finding of a rule.
#[derive(Debug)]
pub(crate) struct RuleFinding {
    pub(crate) severity: Severity,
    pub(crate) rule: String,
    pub(crate) line: Option<u32>,
    /// The text of the defect and its fix.
    pub(crate) said: String,
}

impl RuleResults {
    /// Runs the rules on a change.
    pub(crate) fn of(change: &Change, rules: &Rulebook) -> RuleResults {
        let reviewed = rules.review(change);
        let mut ruled = RuleResults::default();
        let mut looks = reviewed.looks.into_iter();
        for file in &change.files {
            let of_file = ruled.files.entry(file.path().to_owned()).or_default();
            for look in looks.by_ref().take(file.hunks.len().max(1)) {
                match look {
                    HunkOutcome::Failed(why) | HunkOutcome::Unread(why) => {
                        of_file.unread = Some(why)
                    }
                    HunkOutcome::LeftOut(rule) => of_file.left_out = Some(rule),
                    HunkOutcome::Reviewed | HunkOutcome::TextOnly | HunkOutcome::NotConcerned => {}
                }
            }
        }
        let suppressions = reviewed.suppressions.iter();
        let suppressions: BTreeSet<(&str, &str, u32)> =
            suppressions.map(|one| (one.rule.as_str(), one.file.as_str(), one.line)).collect();
        // A comment with a reason suppresses a finding.
        let asked = |vote: &Vote| {
            let (Some(rule), Some(file), Some(lines)) = (&vote.rule, &vote.file, vote.lines) else {
                return false;
            };
            let at = |line: u32| (rule.as_str(), file.as_str(), line);
            suppressions.range(at(lines.start())..=at(lines.end())).next().is_some()
        };
        for vote in reviewed.report.votes.iter().filter(|vote| !asked(vote)) {
            let rule = vote.rule.clone().unwrap_or_default();
            if rule == CONFLICT_MARKER_RULE {
                continue;
            }
            let found = RuleFinding::new(vote, rule);
            match &vote.file {
                Some(file) => ruled.file(file.as_str()).found.push(found),
                None => ruled.whole.push(found),
            }
        }
        ruled
    }

    fn file(&mut self, path: &str) -> &mut FileRuleResults {
        self.files.entry(path.to_owned()).or_default()
    }
}

impl RuleFinding {
    fn new(vote: &Vote, rule: String) -> RuleFinding {
        let severity = match vote.grade.obligation() {
            Obligation::Must => Severity::Must,
            Obligation::Should => Severity::Should,
            // Size, depth and copies make the next change harder, even if they break nothing today.
            Obligation::May if rule.starts_with("shape/") => Severity::Should,
            Obligation::May => Severity::May,
        };
        let mut said = format!("{} ({rule})", shown(&vote.title));
        if let Some(fix) = &vote.suggested_fix {
            said += &format!(": {}", shown(fix).trim_end_matches('.'));
        }
        RuleFinding { severity, rule, line: vote.line(), said }
    }
}
