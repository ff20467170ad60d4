//! One claim of one reviewer: [`Vote`], as it was made; nothing downstream edits it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::grade::Grade;
use crate::path::RepoPath;

/// How sure a reviewer is, on five anchors.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "u8", into = "u8")]
#[schemars(extend("enum" = [0, 25, 50, 75, 100]))]
pub struct Anchor(u8);

impl Anchor {
    /// Does not stand up to light scrutiny.
    pub const NONE: Anchor = Anchor(0);
    /// Might be real; could not be verified.
    pub const LOW: Anchor = Anchor(25);
    /// Verified, but minor or narrow.
    pub const MODERATE: Anchor = Anchor(50);
    /// Double-checked; hits in normal use.
    pub const HIGH: Anchor = Anchor(75);
    /// Verifiable from the code alone.
    pub const CERTAIN: Anchor = Anchor(100);

    /// Takes a percentage down to the anchor below it.
    pub fn at_or_below(percent: f64) -> Anchor {
        match percent {
            p if p >= 100.0 => Anchor::CERTAIN,
            p if p >= 75.0 => Anchor::HIGH,
            p if p >= 50.0 => Anchor::MODERATE,
            p if p >= 25.0 => Anchor::LOW,
            _ => Anchor::NONE,
        }
    }

    /// Gives the next anchor up from 50 or 75; agreement lifts nothing weaker than that.
    pub fn lifted(self) -> Anchor {
        match self {
            Anchor::MODERATE => Anchor::HIGH,
            Anchor::HIGH => Anchor::CERTAIN,
            other => other,
        }
    }

    /// Returns the next anchor down.
    pub fn one_less(self) -> Anchor {
        match self {
            Anchor::CERTAIN => Anchor::HIGH,
            Anchor::HIGH => Anchor::MODERATE,
            Anchor::MODERATE => Anchor::LOW,
            _ => Anchor::NONE,
        }
    }

    /// Returns true if a finding of a grade is reported at this confidence. A finding that may be
    /// critical is reported at half the certainty.
    pub(crate) fn is_enough_for(self, grade: &Grade) -> bool {
        let critical = grade.impact().level() == 0 || grade.is_unmapped();
        self >= if critical { Anchor::MODERATE } else { Anchor::HIGH }
    }

    /// Gives the anchor as a percentage.
    pub fn percent(self) -> u8 {
        self.0
    }
}

impl TryFrom<u8> for Anchor {
    type Error = String;

    fn try_from(percent: u8) -> Result<Self, String> {
        match percent {
            0 | 25 | 50 | 75 | 100 => Ok(Anchor(percent)),
            _ => Err(format!("confidence `{percent}` is not one of 0, 25, 50, 75, 100")),
        }
    }
}

impl From<Anchor> for u8 {
    fn from(anchor: Anchor) -> u8 {
        anchor.0
    }
}

/// What should happen to a finding, as a reviewer sees it. Ordered by how much of a person it takes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum AutofixClass {
    /// For information; there is nothing to fix.
    Advisory,
    /// Local and deterministic: may be applied.
    SafeAuto,
    /// A concrete fix that changes behaviour: needs approval.
    GatedAuto,
    /// Needs a design decision.
    Manual,
}

impl AutofixClass {
    /// Gives the class its word.
    pub fn as_str(self) -> &'static str {
        match self {
            AutofixClass::SafeAuto => "safe_auto",
            AutofixClass::GatedAuto => "gated_auto",
            AutofixClass::Manual => "manual",
            AutofixClass::Advisory => "advisory",
        }
    }

    /// Reads a class by its word.
    pub fn from_word(word: &str) -> Option<AutofixClass> {
        [Self::SafeAuto, Self::GatedAuto, Self::Manual, Self::Advisory]
            .into_iter()
            .find(|class| class.as_str() == word)
    }
}

/// Who acts next on a finding. Ordered by who takes it when votes differ: a person first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Owner {
    /// A person has to decide.
    Human,
    /// Whoever rolls it out.
    Release,
    /// A later fix task.
    DownstreamResolver,
    /// The fixer of this review.
    ReviewFixer,
}

impl Owner {
    /// Gives the owner's word.
    pub fn as_str(self) -> &'static str {
        match self {
            Owner::ReviewFixer => "review-fixer",
            Owner::DownstreamResolver => "downstream-resolver",
            Owner::Human => "human",
            Owner::Release => "release",
        }
    }

    /// Reads an owner by its word.
    pub fn from_word(word: &str) -> Option<Owner> {
        [Self::ReviewFixer, Self::DownstreamResolver, Self::Human, Self::Release]
            .into_iter()
            .find(|owner| owner.as_str() == word)
    }
}

/// Lines of a file, both ends included, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "(u32, u32)", into = "(u32, u32)")]
pub struct Lines {
    start: u32,
    end: u32,
}

impl Lines {
    /// Takes one line; there is no line 0.
    pub fn at(line: u32) -> Option<Lines> {
        Lines::range(line, line)
    }

    /// Takes a range, whichever end comes first.
    pub fn range(a: u32, b: u32) -> Option<Lines> {
        let (start, end) = (a.min(b), a.max(b));
        (start > 0).then_some(Lines { start, end })
    }

    /// Gives the first line.
    pub fn start(self) -> u32 {
        self.start
    }

    /// Gives the last line.
    pub fn end(self) -> u32 {
        self.end
    }

    /// Gives the same number of lines from another start.
    pub fn moved_to(self, start: u32) -> Lines {
        let start = start.max(1);
        Lines { start, end: start.saturating_add(self.end - self.start) }
    }
}

impl TryFrom<(u32, u32)> for Lines {
    type Error = String;

    fn try_from((start, end): (u32, u32)) -> Result<Self, String> {
        Lines::range(start, end).ok_or_else(|| format!("lines {start} to {end} are no range"))
    }
}

impl From<Lines> for (u32, u32) {
    fn from(lines: Lines) -> (u32, u32) {
        (lines.start, lines.end)
    }
}

/// A fix that can be applied as it stands: these lines become this text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "StoredReplacement")]
pub struct Replacement {
    start_line: u32,
    end_line: u32,
    text: String,
}

impl Replacement {
    /// Puts a text, with its line ends, in the place of lines; an empty one deletes them.
    pub fn new(lines: Lines, text: impl Into<String>) -> Replacement {
        Replacement { start_line: lines.start(), end_line: lines.end(), text: text.into() }
    }

    /// Gives the first line to go.
    pub fn start_line(&self) -> u32 {
        self.start_line
    }

    /// Gives the last line to go.
    pub fn end_line(&self) -> u32 {
        self.end_line
    }

    /// Gives what comes in their place.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// A replacement as it lies in a file, where its lines may be any numbers.
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
        match Lines::range(start_line, end_line) {
            Some(lines) if start_line <= end_line => Ok(Replacement::new(lines, text)),
            _ => Err(format!("lines {start_line} to {end_line} are no range")),
        }
    }
}

/// One claim in a report, as its reviewer made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// What it is, in a few words.
    pub title: String,
    /// What is wrong and what breaks.
    pub description: String,
    /// Where.
    pub file: Option<RepoPath>,
    /// On which lines of it.
    pub lines: Option<Lines>,
    /// Where on its first line it starts, in bytes from 1.
    pub column: Option<u32>,
    /// The code it is about, without blanks, or a hash of it where it must not be repeated: what
    /// a rule's finding is told again by, however the file is formatted.
    pub subject: Option<String>,
    /// How bad.
    pub grade: Grade,
    /// Of which kind, such as `security`.
    pub category: Option<String>,
    /// How to fix it, in words or code.
    pub suggested_fix: Option<String>,
    /// The fix itself, where it is exact.
    pub replacement: Option<Replacement>,
    /// How sure; `None` where the reviewer's form has no word for it.
    pub confidence: Option<Anchor>,
    /// What it is based on, mostly quotes.
    pub evidence: Vec<String>,
    /// Whether the vote comes from a compact persona report, whose form has no evidence.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_compact: bool,
    /// Whether the JSON of the report was repaired by guessing, so that place and quote may differ
    /// from what the reviewer wrote.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_repaired: bool,
    /// What should happen to it.
    pub autofix_class: Option<AutofixClass>,
    /// Who acts next.
    pub owner: Option<Owner>,
    /// Whether a fix counts only once it was verified.
    pub requires_verification: bool,
    /// Whether the reviewer says that it was there before the change.
    pub pre_existing: bool,
    /// The rule that fired, for votes of rules and commands.
    pub rule: Option<String>,
    /// Whether that rule fires on the tree before the change as well.
    pub fires_on_base: bool,
    /// The recorded decision that it runs against.
    pub settled_conflict: Option<String>,
    /// What was wrong with the vote's form.
    pub faults: Vec<String>,
}

impl Vote {
    /// Makes a vote with a title, a grade and nothing else.
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
    /// words.
    pub(crate) fn counts(&self) -> bool {
        let is_sure = |confidence: Anchor| confidence.is_enough_for(&self.grade);
        !self.pre_existing && self.confidence.is_none_or(is_sure)
    }

    /// Gives the first line, where there is one.
    pub fn line(&self) -> Option<u32> {
        self.lines.map(Lines::start)
    }
}
