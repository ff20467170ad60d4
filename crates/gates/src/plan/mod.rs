//! A plan, read from Markdown or JSON: [`read`] gives a [`Plan`].
//!
//! What it says is data. Nothing that it names is run, and where it is unclear the reading is the
//! one under which more has to be shown.

mod evidence;
mod json;
mod markdown;
mod names;
pub mod patch;
mod paths;
mod reasons;

use std::collections::HashSet;
use std::fmt;

use patch::FilePatch;

use crate::quote::quoted;

pub(crate) use markdown::fences;
pub(crate) use paths::is_pattern;

/// A plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// What it is called, where it says so.
    pub title: Option<String>,
    /// Its whole text, as it was read.
    pub text: String,
    /// What is to be reached, in order.
    pub milestones: Vec<Milestone>,
    /// What was decided.
    pub decisions: Vec<Decision>,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
    /// The diffs that stand under no milestone.
    pub loose_diffs: Vec<PlannedDiff>,
    /// Where it points to.
    pub links: Vec<Link>,
    /// Its headings, in order.
    pub headings: Vec<Heading>,
    /// Its blocks of code, diffs among them.
    pub fences: Vec<Fence>,
    /// The lines that look like a milestone, phase or step and were not read as one.
    pub unread: Vec<UnreadLine>,
    /// Whether it is Markdown, so that lines of it can be told to people. Of values in JSON the
    /// line is not known, and is 0.
    pub is_markdown: bool,
}

/// Why a plan cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// It is no text.
    #[error("the plan `{name}` is not UTF-8 at byte {at}")]
    NotText {
        /// What it is called.
        name: String,
        /// How many bytes of it are text.
        at: usize,
    },
    /// It is JSON that ends too early, or is wrong somewhere.
    #[error("the plan `{name}` is not JSON at line {line}, column {column}: {why}")]
    NotJson {
        /// What it is called.
        name: String,
        /// Where, from 1.
        line: usize,
        /// Where in the line, from 1.
        column: usize,
        /// What is wrong there.
        why: String,
    },
    /// It is JSON of something else.
    #[error("the plan `{name}` is {found} in JSON, and not an object")]
    NotAnObject {
        /// What it is called.
        name: String,
        /// What it is.
        found: &'static str,
    },
    /// Its lists or quotes are in each other so often that nobody wrote it.
    #[error("line {line} of the plan `{name}` is nested deeper than {max} lists or quotes", max = markdown::MAX_NESTED)]
    TooDeep {
        /// What it is called.
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
    /// Gives the milestones of a name; more than one if they share it.
    pub fn named<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Milestone> {
        self.milestones.iter().filter(move |milestone| milestone.id == id)
    }

    /// Gives all diffs: those of the milestones in order, then the others.
    pub fn diffs(&self) -> impl Iterator<Item = &PlannedDiff> {
        let in_order = self.milestones.iter().flat_map(|milestone| &milestone.diffs);
        in_order.chain(&self.loose_diffs)
    }

    /// Gives the files that it says are new, or creates.
    pub fn new_files(&self) -> HashSet<String> {
        let mut new: HashSet<String> =
            self.milestones.iter().flat_map(|milestone| milestone.new_files.clone()).collect();
        let loose = self.loose_diffs.iter().flat_map(|diff| patch::read(diff).files);
        new.extend(loose.filter(FilePatch::is_new).map(|file| file.path().to_owned()));
        new
    }
}

impl Milestone {
    /// Gives the files that it names itself, whatever its diffs touch besides.
    pub fn named_files(&self) -> &[String] {
        &self.files[..self.files.len().saturating_sub(self.only_diffed)]
    }

    /// What its diffs touch are files of it too.
    fn add_diffed_files(&mut self) {
        let mut known: HashSet<String> = self.files.iter().cloned().collect();
        for file in self.diffs.iter().flat_map(|diff| patch::read(diff).files) {
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
    /// What it is about.
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
    /// What is to be changed.
    pub diffs: Vec<PlannedDiff>,
}

/// When a milestone counts as reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// What it says.
    pub text: String,
    /// Where it stands, from 1.
    pub line: u32,
}

/// Something that was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its name, such as `DL-001`.
    pub id: String,
    /// What was decided.
    pub decision: String,
    /// Why; empty where it does not say.
    pub reason: String,
    /// Where it stands, from 1.
    pub line: u32,
}

/// Something that is taken for granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumption {
    /// What it says.
    pub text: String,
    /// How it was validated, where it says so.
    pub evidence: Option<String>,
    /// Where it stands, from 1.
    pub line: u32,
}

/// A diff in a plan: what stands in one fence, or in one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedDiff {
    /// It, as it stands there.
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
    /// What it says, without marks.
    pub text: String,
    /// Where it stands, from 1.
    pub line: u32,
}

/// A line of a plan that looks like a milestone, phase or step and was not read as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadLine {
    /// What it says, without marks.
    pub text: String,
    /// Where it stands, from 1; 0 in JSON.
    pub line: u32,
}

impl fmt::Display for UnreadLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = quoted(&self.text);
        match self.line {
            0 => write!(f, "{text} of the plan")?,
            line => write!(f, "{text} (line {line} of the plan)")?,
        }
        f.write_str(" looks like a milestone, phase or step and was not read as one")
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
    /// Says whether a line is in one of some blocks that are in order, and closed.
    pub(crate) fn any_closed(fences: &[Fence], line: u32) -> bool {
        let before = fences.partition_point(|fence| fence.first <= line);
        let last = fences.get(..before).and_then(<[_]>::last);
        last.is_some_and(|fence| fence.is_closed && line <= fence.last)
    }
}
