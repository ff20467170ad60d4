//! A match of a rule: [`RuleMatch`], and its conversion into a vote.
//!
//! The finding of a rule is recognised by the code that the rule matched, not by its line. Blanks
//! and the trailing comma that a formatter adds are left out of the comparison.

use std::ops::Range;

use assay_base::text::first_chars;
use assay_findings::grade::Grade;
use assay_findings::path::RepoPath;
use assay_findings::tier::EvidenceTier;
use assay_findings::trace::TraceStep;
use assay_findings::vote::{AutofixClass, Confidence, LineRange, Owner, Replacement, Vote};

use crate::credentials::is_clean;
use crate::rule::RuleInfo;

/// The maximum length of quoted code.
const MAX_QUOTE: usize = 300;

/// A place where a rule fires.
#[derive(Debug)]
pub(crate) struct RuleMatch {
    pub(crate) lines: LineRange,
    pub(crate) column: Option<u32>,
    /// The bytes of the code, for structural rules.
    pub(crate) span: Option<Range<usize>>,
    /// A text that precedes the rule's message.
    pub(crate) note: Option<String>,
    /// The code that the rule matched.
    pub(crate) code: Option<String>,
    /// The number of equal pieces of code before this one in the file.
    pub(crate) before: usize,
    /// True if the code must not be repeated.
    pub(crate) is_secret: bool,
    /// True if the replacement may be applied without a review.
    pub(crate) is_safe: bool,
    pub(crate) replacement: Option<Replacement>,
    /// The way of a value to this place, for rules that follow data.
    pub(crate) trace: Vec<TraceStep>,
    /// The strength of the evidence; `None` if the pattern is certain by itself.
    pub(crate) tier: Option<EvidenceTier>,
    /// The grade, if it differs from that of the rule.
    pub(crate) grade: Option<Grade>,
}

/// Returns the confidence of a finding by its evidence; `None` for the confidence of all rules.
fn confidence(tier: EvidenceTier) -> Option<Confidence> {
    match tier {
        EvidenceTier::Flow => None,
        EvidenceTier::Parameter => Some(Confidence::HIGH),
        EvidenceTier::Lead => Some(Confidence::LOW),
    }
}

impl RuleMatch {
    /// Creates a hit on a line, without a rewrite.
    pub(crate) fn on_line(line: u32, code: &str) -> Option<RuleMatch> {
        Some(RuleMatch {
            lines: LineRange::at(line)?,
            column: None,
            span: None,
            note: None,
            code: Some(code.trim().to_owned()),
            before: 0,
            is_secret: false,
            is_safe: false,
            replacement: None,
            trace: Vec::new(),
            tier: None,
            grade: None,
        })
    }

    /// Returns the hit with a text that precedes the rule's message.
    pub(crate) fn with_note(self, note: String) -> RuleMatch {
        RuleMatch { note: Some(note), ..self }
    }

    /// Creates the vote of a rule that fires here.
    pub(crate) fn vote(self, about: &RuleInfo, path: &RepoPath) -> Vote {
        let grade = self.grade.clone().unwrap_or_else(|| about.grade.clone());
        let mut vote = Vote::new(about.title.clone(), grade);
        vote.tier = self.tier;
        vote.confidence = self.tier.and_then(confidence);
        vote.description = match &self.note {
            Some(note) => format!("{note} {}", about.message),
            None => about.message.clone(),
        };
        vote.rule = Some(about.id.clone());
        vote.file = Some(path.clone());
        vote.lines = Some(self.lines);
        vote.column = self.column;
        vote.category = Some(about.category.clone());
        vote.suggested_fix = about.advice.clone();
        vote.subject = self.code.as_deref().map(|code| self.subject(code));
        vote.evidence = self.quote().into_iter().collect();
        (vote.autofix_class, vote.owner) = match (&self.replacement, self.is_safe) {
            (Some(_), true) => (Some(AutofixClass::SafeAuto), Some(Owner::ReviewFixer)),
            (Some(_), false) => (Some(AutofixClass::GatedAuto), Some(Owner::DownstreamResolver)),
            (None, _) => (Some(AutofixClass::Manual), Some(Owner::DownstreamResolver)),
        };
        vote.replacement = self.replacement;
        vote.trace = self.trace;
        vote
    }

    /// Returns the identity of the code: the code without blanks, or its hash if it is secret.
    fn subject(&self, code: &str) -> String {
        let squeezed: String = code.split_whitespace().collect();
        // Formatters add a comma after the last of several lines.
        let squeezed = squeezed.replace(",)", ")").replace(",]", "]").replace(",}", "}");
        if self.is_secret || !is_clean(&squeezed) {
            return blake3::hash(squeezed.as_bytes()).to_hex().to_string();
        }
        // Each copy is a separate defect.
        if self.before == 0 { squeezed } else { format!("{squeezed} {}", self.before) }
    }

    /// Returns the first line of the code as a quote, unless it contains a secret.
    fn quote(&self) -> Option<String> {
        let line = self.code.as_deref()?.lines().next()?.trim();
        let quotable = !self.is_secret && !line.is_empty() && !line.contains('`') && is_clean(line);
        quotable.then(|| format!("`{}`", first_chars(line, MAX_QUOTE)))
    }
}
