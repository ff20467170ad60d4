//! A plan, parsed from Markdown or JSON: [`read`] returns a [`Plan`].
//!
//! The text of a plan is data: nothing that it names is run. An ambiguous text is parsed such that
//! more has to be shown.

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

/// A plan: milestones, decisions, assumptions and diffs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The title; `None` if the plan has none.
    pub title: Option<String>,
    /// The whole text of the plan.
    pub text: String,
    /// The milestones, in order.
    pub milestones: Vec<Milestone>,
    /// The criteria of the plan as a whole, outside of all milestones.
    pub criteria: Vec<Criterion>,
    /// The decisions, in order.
    pub decisions: Vec<Decision>,
    /// The assumptions, in order.
    pub assumptions: Vec<Assumption>,
    /// The diffs outside of all milestones.
    pub loose_diffs: Vec<PlannedDiff>,
    /// The links, with their targets.
    pub links: Vec<Link>,
    /// The headings, in order.
    pub headings: Vec<Heading>,
    /// The code blocks, including diffs.
    pub fences: Vec<Fence>,
    /// The parts that were not understood.
    pub unread: Vec<UnreadLine>,
    /// True if the plan is Markdown, so that its line numbers are known. In JSON, all lines are 0.
    pub is_markdown: bool,
}

/// The reason why a plan cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The file is not valid UTF-8.
    #[error("the plan `{name}` is not valid UTF-8 at byte {at}")]
    NotText {
        /// The file name of the plan.
        name: String,
        /// The number of valid bytes before the first invalid one.
        at: usize,
    },
    /// The plan is truncated or invalid JSON.
    #[error("the plan `{name}` is not valid JSON at line {line}, column {column}: {why}")]
    NotJson {
        /// The file name of the plan.
        name: String,
        /// The line of the error, from 1.
        line: usize,
        /// The column of the error, from 1.
        column: usize,
        /// The message of the parser.
        why: String,
    },
    /// The plan is JSON, but not an object.
    #[error("invalid plan `{name}`: expected a JSON object, found {found}")]
    NotAnObject {
        /// The file name of the plan.
        name: String,
        /// The kind of the JSON value.
        found: &'static str,
    },
    /// Two keys of one object have the same meaning.
    #[error(
        "the plan `{name}` has the keys `{first}` and `{second}` in one object, which have the \
         same meaning; keep one of them"
    )]
    SameKey {
        /// The file name of the plan.
        name: String,
        /// The first key.
        first: String,
        /// The second key.
        second: String,
    },
    /// Lists or quotes are nested so deep that no person wrote the plan.
    #[error("line {line} of the plan `{name}` is nested deeper than {max} lists or quotes", max = assay_base::markdown::MAX_NESTING)]
    TooDeep {
        /// The file name of the plan.
        name: String,
        /// The line, from 1.
        line: usize,
    },
}

/// Parses a plan: as JSON if the name ends in `.json`, as Markdown if it ends in `.md` or
/// `.markdown`, and otherwise as JSON if the text begins with a brace.
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
    /// Returns the milestones with an id; there may be several.
    pub fn named<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Milestone> {
        self.milestones.iter().filter(move |milestone| milestone.id == id)
    }

    /// Returns all diffs: those of the milestones in order, then the others.
    pub fn diffs(&self) -> impl Iterator<Item = &PlannedDiff> {
        let in_order = self.milestones.iter().flat_map(|milestone| &milestone.diffs);
        in_order.chain(&self.loose_diffs)
    }

    /// Returns the files that the plan states to be new, or that a diff creates.
    pub fn new_files(&self) -> HashSet<String> {
        let mut new: HashSet<String> =
            self.milestones.iter().flat_map(|milestone| milestone.new_files.clone()).collect();
        let loose = self.loose_diffs.iter().flat_map(|diff| diff.read().files);
        new.extend(loose.filter(FilePatch::is_new).map(|file| file.path().to_owned()));
        new
    }
}

impl Milestone {
    /// Returns the files that the milestone names itself, without those that only its diffs touch.
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

/// A milestone of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Milestone {
    /// The id, such as `M1`.
    pub id: String,
    /// The title.
    pub title: String,
    /// The part of the plan's text.
    pub text: String,
    /// The first line of the text, from 1; 0 in JSON.
    pub line: u32,
    /// The acceptance criteria.
    pub criteria: Vec<Criterion>,
    /// The files that the milestone names, followed by those that only its diffs touch.
    pub files: Vec<String>,
    /// The number of files, at the end of `files`, that only a diff touches.
    pub only_diffed: usize,
    /// The files that are new according to the plan.
    pub new_files: Vec<String>,
    /// The files that exist before the milestone according to the plan.
    pub old_files: Vec<String>,
    /// The ids of the milestones that this one depends on.
    pub needs: Vec<String>,
    /// The tests that the milestone names.
    pub tests: Vec<String>,
    /// The diffs of the milestone.
    pub diffs: Vec<PlannedDiff>,
}

/// An acceptance criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// The text of the criterion.
    pub text: String,
    /// The line, from 1; 0 in JSON.
    pub line: u32,
}

/// A decision in the log of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The id, such as `DL-001`.
    pub id: String,
    /// The text of the decision.
    pub decision: String,
    /// The reason; empty if the plan states none.
    pub reason: String,
    /// The line, from 1; 0 in JSON.
    pub line: u32,
}

/// An assumption of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumption {
    /// The text of the assumption.
    pub text: String,
    /// The statement of how the assumption was validated, or will be; `None` if there is none.
    pub evidence: Option<String>,
    /// The line, from 1; 0 in JSON.
    pub line: u32,
}

/// A diff in a plan: the content of one fence, or of one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedDiff {
    /// The diff, as it is written.
    pub text: String,
    /// The line of the plan on which the diff begins, from 1; 0 in JSON.
    pub line: u32,
}

/// A link in a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The target, as it is written.
    pub target: String,
    /// The line, from 1.
    pub line: u32,
}

/// A heading of a plan in Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// The level, from 1 to 6.
    pub level: u8,
    /// The text, without marks.
    pub text: String,
    /// The line, from 1.
    pub line: u32,
}

/// A part of a plan that was not understood, so that no gate on the plan passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreadLine {
    /// The text, without marks; in JSON the path of the key.
    pub text: String,
    /// The line, from 1; 0 in JSON.
    pub line: u32,
    /// The kind of the part.
    pub kind: UnreadKind,
}

/// The kind of a part that was not understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnreadKind {
    /// The part looks like a milestone, phase or step.
    Milestone,
    /// The part looks like an acceptance criterion.
    Criterion,
    /// The part is an unknown JSON key with a list below it.
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
            UnreadKind::Milestone => {
                " looks like a milestone, phase or step and was not read as one"
            }
            UnreadKind::Criterion => " looks like an acceptance criterion and was not read as one",
            UnreadKind::Key => {
                " is an unknown key with a list, so its requirements are unknown; rename it to a \
                 known key, or remove it from the plan"
            }
        })
    }
}

/// A code block in Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    /// The first line of the block, from 1.
    pub first: u32,
    /// The last line of the block, from 1.
    pub last: u32,
    /// True if the block has a closing mark.
    pub is_closed: bool,
}

impl Fence {
    /// Returns true if a line is in a closed block. The blocks must be sorted.
    pub(crate) fn any_closed(fences: &[Fence], line: u32) -> bool {
        let before = fences.partition_point(|fence| fence.first <= line);
        let last = fences.get(..before).and_then(<[_]>::last);
        last.is_some_and(|fence| fence.is_closed && line <= fence.last)
    }
}
