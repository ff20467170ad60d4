//! The plan against what was written, milestone by milestone: [`reconcile`].
//!
//! Code answers only what it can: that something is there, is told of, or is gone. Whatever a
//! criterion says beyond that is for a [`CriterionJudge`], whose answer counts only with a quote
//! that stands in the tree. Nothing that a plan names is run.

mod judge;
mod lookup;
mod search;
mod text;

use assay_change::unified::{FilePatch, UnifiedDiff};
use assay_findings::ground::Tree;
use serde::Serialize;

use crate::claim::Reading;
use crate::facts::squeezed_lines::{holds_added, squeezed};
use crate::facts::tree_index::TreeIndex;
use crate::plan::{Criterion, Milestone, Plan};
pub use judge::{CriterionJudge, Judgement, Question};
use lookup::Lookup;
use search::Search;
pub use text::text;

/// The result of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reconciliation {
    /// Milestone by milestone, in the order of the plan.
    pub milestones: Vec<MilestoneResult>,
    /// Parts of the plan that were not understood, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// Requirements that the plan had in an earlier round and has no more, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
}

/// The id of the milestone that stands for the plan as a whole.
pub const WHOLE_PLAN: &str = "plan";

/// The result of a milestone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MilestoneResult {
    /// Its name.
    pub id: String,
    /// The subject.
    pub title: String,
    /// How much of it was reached.
    pub status: Status,
    /// The work that is left.
    pub action: Action,
    /// The result of each of its criteria.
    pub criteria: Vec<CriterionResult>,
    /// The result of the files that its diffs were to change. What was written may rightly differ.
    pub diffs: Vec<DiffResult>,
}

/// How much of a milestone was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// All of it.
    Satisfied,
    /// Some of it.
    Partly,
    /// Nothing that could be shown.
    NotSatisfied,
}

/// The work that is left about a milestone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Action {
    /// Nothing.
    #[serde(rename = "skip")]
    Skip,
    /// The criteria that were not met.
    #[serde(rename = "do the rest")]
    DoTheRest,
    /// Everything.
    #[serde(rename = "do all")]
    DoAll,
}

/// The result of a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CriterionResult {
    /// The text.
    pub text: String,
    /// Where it stands in the plan.
    pub line: u32,
    /// Whether it is met.
    pub answer: Answer,
    /// The places of the things that the criterion names.
    pub evidence: Vec<Evidence>,
}

/// Whether a criterion is met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Answer {
    /// The criterion is met.
    Met {
        /// Where that can be seen; nowhere if it is that something is gone.
        at: Option<Place>,
        /// The words there.
        seen: String,
    },
    /// The criterion is not met.
    NotMet {
        /// The words for the thing that was looked for.
        why: String,
    },
    /// Nobody could tell.
    CannotTell {
        /// The obstacle.
        why: String,
    },
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file, from the root.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// Something that was found of what a criterion names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// Where.
    #[serde(flatten)]
    pub at: Place,
    /// The words.
    pub what: String,
}

/// The result of a file that a diff of the plan was to change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiffResult {
    /// The file.
    pub file: String,
    /// Where the diff stands in the plan, where that has lines for people.
    pub line: Option<u32>,
    /// How many places it changes; a file that is only renamed or deleted counts as one.
    pub hunks: usize,
    /// At how many of them all that it adds is in the file.
    pub there: usize,
    /// Which of them is the first that is not, from 1.
    pub missing: Option<usize>,
}

impl Status {
    /// Returns the status of a milestone by how many of its criteria are met.
    pub fn of(met: usize, all: usize) -> Status {
        match met {
            0 => Status::NotSatisfied,
            met if met == all => Status::Satisfied,
            _ => Status::Partly,
        }
    }

    /// Returns its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Satisfied => "SATISFIED",
            Status::Partly => "PARTLY",
            Status::NotSatisfied => "NOT_SATISFIED",
        }
    }

    /// Says what is left to do.
    pub fn action(self) -> Action {
        match self {
            Status::Satisfied => Action::Skip,
            Status::Partly => Action::DoTheRest,
            Status::NotSatisfied => Action::DoAll,
        }
    }
}

impl Action {
    /// Returns its words.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Skip => "skip",
            Action::DoTheRest => "do the rest",
            Action::DoAll => "do all",
        }
    }
}

impl Answer {
    /// Returns true if the criterion is met.
    pub fn is_met(&self) -> bool {
        matches!(self, Answer::Met { .. })
    }
}

impl MilestoneResult {
    /// Counts the criteria that are met.
    pub fn met(&self) -> usize {
        self.criteria.iter().filter(|criterion| criterion.answer.is_met()).count()
    }
}

impl Reconciliation {
    /// Returns true if everything was reached that the plan says. A plan without milestones, with one
    /// that says nothing of when it is reached, or with one that was not read, was not.
    pub fn passes(&self) -> bool {
        let is_satisfied = |milestone: &MilestoneResult| milestone.status == Status::Satisfied;
        !self.milestones.is_empty()
            && self.unread.is_empty()
            && self.removed.is_empty()
            && self.milestones.iter().all(is_satisfied)
    }

    /// Returns true if something was seen that is not as the plan says, rather than not seen at all.
    pub fn has_failed(&self) -> bool {
        let is_failed = |milestone: &MilestoneResult| {
            milestone.criteria.is_empty()
                || milestone.criteria.iter().any(|c| matches!(c.answer, Answer::NotMet { .. }))
        };
        self.milestones.is_empty()
            || !self.removed.is_empty()
            || self.milestones.iter().any(is_failed)
    }
}

/// Compares a plan, and where it lies from the root, with a tree. What code cannot tell a judge is
/// asked, where there is one.
pub fn reconcile(
    plan: &Plan,
    at: &str,
    tree: &(dyn Tree + Sync),
    judge: Option<&dyn CriterionJudge>,
) -> Reconciliation {
    let whole = whole_plan(plan);
    let milestones: Vec<&Milestone> = plan.milestones.iter().chain(&whole).collect();
    let readings: Vec<Vec<Reading>> = milestones
        .iter()
        .map(|milestone| milestone.criteria.iter().map(|c| Reading::of(&c.text)).collect())
        .collect();
    let index = TreeIndex::of(tree);
    let search = Search::over(tree, &index, at, readings.iter().flatten());
    let lookup = Lookup::new(tree, &index, &search);
    let results = milestones.iter().zip(&readings).map(|(milestone, readings)| {
        let criteria: Vec<CriterionResult> = milestone
            .criteria
            .iter()
            .zip(readings)
            .map(|(criterion, reading)| {
                let mut result = by_code(criterion, reading, &lookup);
                judge::ask(judge, milestone, criterion, (tree, at), &mut result);
                result
            })
            .collect();
        let met = criteria.iter().filter(|criterion| criterion.answer.is_met()).count();
        let status = Status::of(met, criteria.len());
        MilestoneResult {
            id: milestone.id.clone(),
            title: milestone.title.clone(),
            status,
            action: status.action(),
            criteria,
            diffs: diffs(milestone, tree),
        }
    });
    let unread = plan.unread.iter().map(ToString::to_string).collect();
    Reconciliation { milestones: results.collect(), unread, removed: Vec::new() }
}

/// Returns a milestone that stands for the plan as a whole, if the plan has criteria of its own.
fn whole_plan(plan: &Plan) -> Option<Milestone> {
    let milestone = || Milestone {
        id: WHOLE_PLAN.to_owned(),
        title: plan.title.clone().unwrap_or_default(),
        text: plan.text.clone(),
        line: 1,
        criteria: plan.criteria.clone(),
        ..Milestone::default()
    };
    (!plan.criteria.is_empty()).then(milestone)
}

fn by_code(criterion: &Criterion, reading: &Reading, lookup: &Lookup<'_>) -> CriterionResult {
    let (answer, evidence) = lookup.answer(reading);
    CriterionResult { text: criterion.text.clone(), line: criterion.line, answer, evidence }
}

/// Says what became of the diffs of a milestone.
fn diffs(milestone: &Milestone, tree: &(dyn Tree + Sync)) -> Vec<DiffResult> {
    let mut results = Vec::new();
    for planned in &milestone.diffs {
        let UnifiedDiff { files, .. } = planned.read();
        let line = |file: &FilePatch<'_>| (planned.line > 0).then_some(file.line);
        results.extend(files.iter().map(|file| diff(file, line(file), tree)));
    }
    results
}

fn diff(file: &FilePatch<'_>, line: Option<u32>, tree: &(dyn Tree + Sync)) -> DiffResult {
    let result = |hunks: usize, there: usize, missing: Option<usize>| DiffResult {
        file: file.path().to_owned(),
        line,
        hunks,
        there,
        missing,
    };
    // A file that cannot be read holds nothing that was planned.
    let text = file.new.as_ref().and_then(|new| tree.read(new).ok().flatten());
    let (Some(text), false) = (text, file.hunks.is_empty()) else {
        let is_there = match (&file.new, &file.old) {
            (Some(new), _) => file.hunks.is_empty() && tree.exists(new).unwrap_or(false),
            (None, Some(old)) => tree.exists(old).is_ok_and(|exists| !exists),
            (None, None) => false,
        };
        let hunks = if file.new.is_none() { 1 } else { file.hunks.len().max(1) };
        let there = if is_there { hunks } else { 0 };
        return result(hunks, there, (!is_there).then_some(1));
    };
    let lines = squeezed(&text);
    let missing = file.hunks.iter().zip(1..).filter(|(hunk, _)| !holds_added(&lines, hunk));
    let missing: Vec<usize> = missing.map(|(_, nth)| nth).collect();
    result(file.hunks.len(), file.hunks.len() - missing.len(), missing.first().copied())
}
