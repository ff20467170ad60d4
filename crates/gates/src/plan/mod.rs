//! A plan, read from Markdown or JSON: [`read`] gives a [`Plan`].
//!
//! The text of a plan is data. Nothing that it names is run, and where it is unclear the reading is the
//! one under which more has to be shown.

mod evidence;
mod json;
mod json_keys;
mod markdown;
mod names;
pub mod patch;
mod paths;
mod reasons;

use std::collections::HashSet;
use std::fmt;

use assay_change::unified::FilePatch;

use crate::quote::quoted;

pub(crate) use markdown::fences;
pub(crate) use paths::{is_pattern, spans as code_spans};

/// A plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The title; `None` where the plan has none.
    pub title: Option<String>,
    /// Its whole text, as it was read.
    pub text: String,
    /// The milestones, in order.
    pub milestones: Vec<Milestone>,
    /// The criteria of the plan as a whole, which stand outside of all milestones.
    pub criteria: Vec<Criterion>,
    /// The decision.
    pub decisions: Vec<Decision>,
    /// The assumptions.
    pub assumptions: Vec<Assumption>,
    /// The diffs that stand under no milestone.
    pub loose_diffs: Vec<PlannedDiff>,
    /// Where it points to.
    pub links: Vec<Link>,
    /// Its headings, in order.
    pub headings: Vec<Heading>,
    /// Its blocks of code, diffs among them.
    pub fences: Vec<Fence>,
    /// The parts that were not understood.
    pub unread: Vec<UnreadLine>,
    /// Whether it is Markdown, so that lines of it can be told to people. Of values in JSON the
    /// line is not known, and is 0.
    pub is_markdown: bool,
}

/// The reason why a plan cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The file is no text.
    #[error("the plan `{name}` is not UTF-8 at byte {at}")]
    NotText {
        /// The name.
        name: String,
        /// How many bytes of it are text.
        at: usize,
    },
    /// The JSON ends too early, or is wrong somewhere.
    #[error("the plan `{name}` is not JSON at line {line}, column {column}: {why}")]
    NotJson {
        /// The name.
        name: String,
        /// Where, from 1.
        line: usize,
        /// Where in the line, from 1.
        column: usize,
        /// The fault there.
        why: String,
    },
    /// The JSON is no object.
    #[error("the plan `{name}` is {found} in JSON, and not an object")]
    NotAnObject {
        /// The name.
        name: String,
        /// The kind.
        found: &'static str,
    },
    /// Two keys of one object mean the same.
    #[error(
        "the plan `{name}` has the keys `{first}` and `{second}` in one object, which mean the same; \
         keep one of them"
    )]
    SameKey {
        /// The name of the plan.
        name: String,
        /// The key that stands first.
        first: String,
        /// The other one.
        second: String,
    },
    /// Its lists or quotes are in each other so often that nobody wrote it.
    #[error("line {line} of the plan `{name}` is nested deeper than {max} lists or quotes", max = assay_base::markdown::MAX_NESTED)]
    TooDeep {
        /// The name.
        name: String,
        /// Where, from 1.
        line: usize,
    },
}

/// Reads a plan: JSON where the name ends in `.json`, Markdown where it ends in `.md` or
/// `.markdown`, and otherwise JSON where it begins with a brace.
pub fn read(name: &str, bytes: &[u8]) -> Result<Plan, PlanError> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| PlanError::NotText { name: name.to_owned(), at: error.valid_up_to() })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let is_json = match ending.as_deref() {
        Some("json") => true,
        Some("md" | "markdown") => false,
        _ => text.trim_start().starts_with('{'),
    };
    let mut plan = if is_json { json::read(name, text)? } else { markdown::read(name, text)? };
    for milestone in &mut plan.milestones {
        milestone.add_diffed_files();
    }
    Ok(plan)
}

impl Plan {
    /// Returns the milestones of a name; more than one if they share it.
    pub fn named<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Milestone> {
        self.milestones.iter().filter(move |milestone| milestone.id == id)
    }

    /// Returns all diffs: those of the milestones in order, then the others.
    pub fn diffs(&self) -> impl Iterator<Item = &PlannedDiff> {
        let in_order = self.milestones.iter().flat_map(|milestone| &milestone.diffs);
        in_order.chain(&self.loose_diffs)
    }

    /// Returns the files that it says are new, or creates.
    pub fn new_files(&self) -> HashSet<String> {
        let mut new: HashSet<String> =
            self.milestones.iter().flat_map(|milestone| milestone.new_files.clone()).collect();
        let loose = self.loose_diffs.iter().flat_map(|diff| diff.read().files);
        new.extend(loose.filter(FilePatch::is_new).map(|file| file.path().to_owned()));
        new
    }
}

impl Milestone {
    /// Returns the files that it names itself, whatever its diffs touch besides.
    pub fn named_files(&self) -> &[String] {
        &self.files[..self.files.len().saturating_sub(self.only_diffed)]
    }

    /// Adds the files that the diffs touch.
    fn add_diffed_files(&mut self) {
        let mut known: HashSet<String> = self.files.iter().cloned().collect();
        for file in self.diffs.iter().flat_map(|diff| diff.read().files) {
            if file.is_new() {
                self.new_files.push(file.path().to_owned());
            }
            if known.insert(file.path().to_owned()) {
                self.only_diffed += 1;
                self.files.push(file.path().to_owned());
            }
        }
    }
}

/// Something to be reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Milestone {
    /// Its name, such as `M1`.
    pub id: String,
    /// The subject.
    pub title: String,
    /// Its part of the plan, as text.
    pub text: String,
    /// Where that begins, from 1.
    pub line: u32,
    /// When it counts as reached.
    pub criteria: Vec<Criterion>,
    /// The files that it says it touches.
    pub files: Vec<String>,
    /// How many of them, the last ones, it does not name and a diff of it touches.
    pub only_diffed: usize,
    /// Those of them that it says are new.
    pub new_files: Vec<String>,
    /// Those of them that are there before it, by what it says.
    pub old_files: Vec<String>,
    /// The milestones that come before it.
    pub needs: Vec<String>,
    /// The tests that it says it has.
    pub tests: Vec<String>,
    /// The diffs.
    pub diffs: Vec<PlannedDiff>,
}

/// When a milestone counts as reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// The text.
    pub text: String,
    /// Where it stands, from 1.
    pub line: u32,
}

/// Something that was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its name, such as `DL-001`.
    pub id: String,
    /// The decision.
    pub decision: String,
    /// The reason; empty where the plan states none.
    pub reason: String,
    /// Where it stands, from 1.
    pub line: u32,
}

/// Something that is taken for granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumption {
    /// The text.
    pub text: String,
    /// How it was validated, where it says so.
    pub evidence: Option<String>,
    /// Where it stands, from 1.
    pub line: u32,
}

/// A diff in a plan: what stands in one fence, or in one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedDiff {
    /// The diff, as it is written.
    pub text: String,
    /// Where its first line stands, from 1.
    pub line: u32,
}

/// Where a plan points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The target, as it is written.
    pub target: String,
    /// Where it stands, from 1.
    pub line: u32,
}

/// A heading of a plan in Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// How deep it is, from 1 to 6.
    pub level: u8,
    /// The text, without marks.
    pub text: String,
    /// Where it stands, from 1.
    pub line: u32,
}

/// A part of a plan that was not understood, so that no gate on the plan passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadLine {
    /// The text, without marks; in JSON the path of the key.
    pub text: String,
    /// The line, from 1; 0 in JSON.
    pub line: u32,
    /// The reason why it matters.
    pub kind: UnreadKind,
}

/// The reason why a part of a plan that was not understood matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadKind {
    /// The part looks like a milestone, phase or step.
    Milestone,
    /// The part looks like an acceptance criterion.
    Criterion,
    /// The part is a key of JSON that is not known, with a list below it.
    Key,
}

impl fmt::Display for UnreadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = quoted(&self.text);
        match self.line {
            0 => write!(f, "{text} of the plan")?,
            line => write!(f, "{text} (line {line} of the plan)")?,
        }
        f.write_str(match self.kind {
            UnreadKind::Milestone => " looks like a milestone, phase or step and was not read as one",
            UnreadKind::Criterion => " looks like an acceptance criterion and was not read as one",
            UnreadKind::Key => {
                " is a key that is not known and holds a list, so it is not known what it asks for; \
                 rename it to a key that is, or move it out of the plan"
            }
        })
    }
}

/// A block of code in Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    /// The first line of the block, from 1.
    pub first: u32,
    /// The last one.
    pub last: u32,
    /// Whether its end is marked, as that of every fence should be.
    pub is_closed: bool,
}

impl Fence {
    /// Returns true if a line is in one of some blocks that are in order, and closed.
    pub(crate) fn any_closed(fences: &[Fence], line: u32) -> bool {
        let before = fences.partition_point(|fence| fence.first <= line);
        let last = fences.get(..before).and_then(<[_]>::last);
        last.is_some_and(|fence| fence.is_closed && line <= fence.last)
    }
}
