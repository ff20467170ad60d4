//! The claim of a reviewer: [`Vote`], as the reviewer made it; no later stage edits it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grade::Grade;
use crate::path::RepoPath;
use crate::tier::EvidenceTier;
use crate::trace::TraceStep;

/// The confidence of a reviewer, on five anchors.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "u8", into = "u8")]
#[schemars(extend("enum" = [0, 25, 50, 75, 100]))]
#[schemars(rename = "Anchor")]
pub struct Confidence(u8);

impl Confidence {
    /// The claim does not hold up to light scrutiny.
    pub const NONE: Confidence = Confidence(0);
    /// The claim may be real; it could not be verified.
    pub const LOW: Confidence = Confidence(25);
    /// The claim is verified, but minor or narrow.
    pub const MODERATE: Confidence = Confidence(50);
    /// The claim is double-checked; the defect occurs in normal use.
    pub const HIGH: Confidence = Confidence(75);
    /// The claim is verifiable from the code alone.
    pub const CERTAIN: Confidence = Confidence(100);

    /// Rounds a percentage down to an anchor.
    pub fn at_or_below(percent: f64) -> Confidence {
        match percent {
            p if p >= 100.0 => Confidence::CERTAIN,
            p if p >= 75.0 => Confidence::HIGH,
            p if p >= 50.0 => Confidence::MODERATE,
            p if p >= 25.0 => Confidence::LOW,
            _ => Confidence::NONE,
        }
    }

    /// Returns the next anchor up from 50 or 75; agreement raises no lower anchor.
    pub fn next_higher(self) -> Confidence {
        match self {
            Confidence::MODERATE => Confidence::HIGH,
            Confidence::HIGH => Confidence::CERTAIN,
            other => other,
        }
    }

    /// Returns the next anchor down.
    pub fn next_lower(self) -> Confidence {
        match self {
            Confidence::CERTAIN => Confidence::HIGH,
            Confidence::HIGH => Confidence::MODERATE,
            Confidence::MODERATE => Confidence::LOW,
            _ => Confidence::NONE,
        }
    }

    /// Returns true if a finding of a grade is reported at this confidence: from 50 on if the
    /// finding may be critical, else from 75 on.
    pub(crate) fn is_enough_for(self, grade: &Grade) -> bool {
        let critical = grade.impact().level() == 0 || grade.is_unmapped();
        self >= if critical { Confidence::MODERATE } else { Confidence::HIGH }
    }

    /// Returns the anchor as a percentage.
    pub fn percent(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for Confidence {
    type Error = String;

    fn try_from(percent: u8) -> Result<Self, String> {
        match percent {
            0 | 25 | 50 | 75 | 100 => Ok(Confidence(percent)),
            _ => Err(format!("invalid confidence `{percent}`: expected 0, 25, 50, 75 or 100")),
        }
    }
}

impl From<Confidence> for u8 {
    fn from(anchor: Confidence) -> u8 {
        anchor.0
    }
}

/// The way in which a finding should be fixed, in the reviewer's view. Ordered by the amount of
/// work for a person.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AutofixClass {
    /// The finding is for information; there is nothing to fix.
    Advisory,
    /// The fix is local and deterministic, and may be applied.
    SafeAuto,
    /// The fix is concrete and changes behaviour, and needs approval.
    GatedAuto,
    /// The fix needs a design decision.
    Manual,
}

impl AutofixClass {
    /// Returns the class as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            AutofixClass::SafeAuto => "safe_auto",
            AutofixClass::GatedAuto => "gated_auto",
            AutofixClass::Manual => "manual",
            AutofixClass::Advisory => "advisory",
        }
    }

    /// Parses a word; `None` if it names no class.
    pub fn from_word(word: &str) -> Option<AutofixClass> {
        [Self::SafeAuto, Self::GatedAuto, Self::Manual, Self::Advisory]
            .into_iter()
            .find(|class| class.as_str() == word)
    }
}

/// The role that acts next on a finding. If votes differ, the first of this order acts: a person
/// first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// A person, who must decide.
    Human,
    /// The person or program that releases the change.
    Release,
    /// A later fix task.
    DownstreamResolver,
    /// The fixer of this review.
    ReviewFixer,
}

impl Owner {
    /// Returns the owner as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            Owner::ReviewFixer => "review-fixer",
            Owner::DownstreamResolver => "downstream-resolver",
            Owner::Human => "human",
            Owner::Release => "release",
        }
    }

    /// Parses a word; `None` if it names no owner.
    pub fn from_word(word: &str) -> Option<Owner> {
        [Self::ReviewFixer, Self::DownstreamResolver, Self::Human, Self::Release]
            .into_iter()
            .find(|owner| owner.as_str() == word)
    }
}

/// A range of lines of a file, both ends included, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "(u32, u32)", into = "(u32, u32)")]
pub struct LineRange {
    start: u32,
    end: u32,
}

impl LineRange {
    /// The first line of a file.
    pub const FIRST: LineRange = LineRange { start: 1, end: 1 };

    /// Creates a range of one line; `None` for line 0.
    pub fn at(line: u32) -> Option<LineRange> {
        LineRange::range(line, line)
    }

    /// Creates a range from its two ends, in any order; `None` if one is 0.
    pub fn range(a: u32, b: u32) -> Option<LineRange> {
        let (start, end) = (a.min(b), a.max(b));
        (start > 0).then_some(LineRange { start, end })
    }

    /// Returns the first line.
    pub fn start(self) -> u32 {
        self.start
    }

    /// Returns the last line.
    pub fn end(self) -> u32 {
        self.end
    }

    /// Returns the same number of lines from another start.
    pub fn moved_to(self, start: u32) -> LineRange {
        let start = start.max(1);
        LineRange { start, end: start.saturating_add(self.end - self.start) }
    }
}

impl TryFrom<(u32, u32)> for LineRange {
    type Error = String;

    fn try_from((start, end): (u32, u32)) -> Result<Self, String> {
        LineRange::range(start, end)
            .ok_or_else(|| format!("invalid lines {start} to {end}: expected a range"))
    }
}

impl From<LineRange> for (u32, u32) {
    fn from(lines: LineRange) -> (u32, u32) {
        (lines.start, lines.end)
    }
}

/// A fix that can be applied as it is: the lines, and the text that replaces them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "StoredReplacement")]
pub struct Replacement {
    start_line: u32,
    end_line: u32,
    text: String,
}

impl Replacement {
    /// Creates a replacement of lines by a text with its line ends; an empty text deletes the
    /// lines.
    pub fn new(lines: LineRange, text: impl Into<String>) -> Replacement {
        Replacement { start_line: lines.start(), end_line: lines.end(), text: text.into() }
    }

    /// Returns the first line that is replaced.
    pub fn start_line(&self) -> u32 {
        self.start_line
    }

    /// Returns the last line that is replaced.
    pub fn end_line(&self) -> u32 {
        self.end_line
    }

    /// Returns the new text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A replacement as stored in a file, where its lines may be any numbers.
#[derive(Deserialize, JsonSchema)]
struct StoredReplacement {
    start_line: u32,
    end_line: u32,
    text: String,
}

impl TryFrom<StoredReplacement> for Replacement {
    type Error = String;

    fn try_from(stored: StoredReplacement) -> Result<Self, String> {
        let StoredReplacement { start_line, end_line, text } = stored;
        match LineRange::range(start_line, end_line) {
            Some(lines) if start_line <= end_line => Ok(Replacement::new(lines, text)),
            _ => Err(format!("invalid lines {start_line} to {end_line}: expected a range")),
        }
    }
}

/// A claim in a report, as its reviewer made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// The defect, in a few words.
    pub title: String,
    /// The defect and its effect.
    pub description: String,
    /// The file of the defect; `None` if the reviewer names none.
    pub file: Option<RepoPath>,
    /// The lines of the defect; `None` if the reviewer names none.
    pub lines: Option<LineRange>,
    /// The column on the first line where the defect starts, in bytes from 1.
    pub column: Option<u32>,
    /// The code of the defect, without whitespace, or a hash of the code if it must not be
    /// repeated. A rule's finding is recognised by it, however the file is formatted.
    pub subject: Option<String>,
    /// The severity.
    pub grade: Grade,
    /// The kind of defect, such as `security`.
    pub category: Option<String>,
    /// The suggested fix, in words or code.
    pub suggested_fix: Option<String>,
    /// The text that fixes the defect, if the fix is exact.
    pub replacement: Option<Replacement>,
    /// The confidence; `None` if the form of the report has no field for it.
    pub confidence: Option<Confidence>,
    /// The evidence, mostly quotes.
    pub evidence: Vec<String>,
    /// The way of a value from its source to the defect, for rules that follow data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<TraceStep>,
    /// The strength of a rule's evidence; `None` if the pattern is certain by itself, and for other
    /// reviewers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<EvidenceTier>,
    /// True if the vote is from a compact persona report, whose form has no evidence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_compact: bool,
    /// True if the JSON of the report was repaired by guessing, so that place and quote may differ
    /// from the reviewer's text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_repaired: bool,
    /// The way in which the finding should be fixed.
    pub autofix_class: Option<AutofixClass>,
    /// The role that acts next.
    pub owner: Option<Owner>,
    /// True if a fix counts only after it is verified.
    pub requires_verification: bool,
    /// True if the reviewer states that the defect is older than the change.
    pub pre_existing: bool,
    /// The rule that fired, for votes of rules and commands.
    pub rule: Option<String>,
    /// True if that rule also fires on the tree before the change.
    pub fires_on_base: bool,
    /// The recorded decision that the claim contradicts.
    pub settled_conflict: Option<String>,
    /// The faults in the form of the vote.
    pub faults: Vec<String>,
}

impl Vote {
    /// Creates a vote with a title and a grade; the description is the title.
    pub fn new(title: impl Into<String>, grade: Grade) -> Vote {
        let title = title.into();
        Vote {
            description: title.clone(),
            title,
            file: None,
            lines: None,
            column: None,
            subject: None,
            grade,
            category: None,
            suggested_fix: None,
            replacement: None,
            confidence: None,
            evidence: Vec::new(),
            trace: Vec::new(),
            tier: None,
            is_compact: false,
            is_repaired: false,
            autofix_class: None,
            owner: None,
            requires_verification: false,
            pre_existing: false,
            rule: None,
            fires_on_base: false,
            settled_conflict: None,
            faults: Vec::new(),
        }
    }

    /// Returns true if the vote is about this change and sure enough to be reported, by its own
    /// statement.
    pub(crate) fn counts(&self) -> bool {
        let is_sure = |confidence: Confidence| confidence.is_enough_for(&self.grade);
        !self.pre_existing && self.confidence.is_none_or(is_sure)
    }

    /// Returns the first line; `None` without lines.
    pub fn line(&self) -> Option<u32> {
        self.lines.map(LineRange::start)
    }
}
