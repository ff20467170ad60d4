//! Compares a plan with the written code, milestone by milestone: [`reconcile`].
//!
//! Code only decides that something exists, is mentioned, or is gone. Any other claim of a
//! criterion is for a [`CriterionJudge`], whose answer counts only with a quote from the tree.
//! Nothing that a plan names is run.

mod judge;
mod lookup;
mod search;
mod text;

use assay_change::unified::{FilePatch, UnifiedDiff};
use assay_findings::grounding::Tree;
use serde::Serialize;

use crate::claim::ParsedCriterion;
use crate::facts::squeezed_lines::{holds_added, squeezed};
use crate::facts::tree_index::TreeIndex;
use crate::plan::{Criterion, Milestone, Plan};
pub use judge::{CriterionJudge, Judgement, Question};
use lookup::Lookup;
use search::Search;
pub use text::text;

/// The result of comparing a plan with a tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Reconciliation {
    /// The results of the milestones, in the order of the plan.
    pub milestones: Vec<MilestoneResult>,
    /// Parts of the plan that were not understood, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// Requirements that the plan had in an earlier round and has no more, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
}

/// The id of the milestone that represents the plan as a whole.
pub const WHOLE_PLAN: &str = "plan";

/// The result of a milestone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MilestoneResult {
    /// The id of the milestone.
    pub id: String,
    /// The title of the milestone.
    pub title: String,
    /// The share of the criteria that are met.
    pub status: Status,
    /// The work that is left.
    pub action: Action,
    /// The results of the criteria.
    pub criteria: Vec<CriterionResult>,
    /// The results of the files that the diffs were to change. The written code may differ for good
    /// reasons.
    pub diffs: Vec<DiffResult>,
}

/// The share of a milestone's criteria that are met.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    /// All criteria are met.
    Satisfied,
    /// Some criteria are met.
    Partly,
    /// No criterion is met.
    NotSatisfied,
}

/// The work that is left for a milestone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Action {
    /// No work is left.
    #[serde(rename = "skip")]
    Skip,
    /// The unmet criteria are left.
    #[serde(rename = "do the rest")]
    DoTheRest,
    /// All work is left.
    #[serde(rename = "do all")]
    DoAll,
}

/// The result of a criterion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CriterionResult {
    /// The text of the criterion.
    pub text: String,
    /// The line in the plan, from 1; 0 in JSON.
    pub line: u32,
    /// The answer to the criterion.
    pub answer: Answer,
    /// The places of the things that the criterion names.
    pub evidence: Vec<Evidence>,
}

/// The answer to the question if a criterion is met.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "status", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Answer {
    /// The criterion is met.
    Met {
        /// The place of the evidence; `None` if something was to be gone.
        at: Option<Place>,
        /// The text of the evidence.
        seen: String,
    },
    /// The criterion is not met.
    NotMet {
        /// The thing that was not found.
        why: String,
    },
    /// Neither code nor a judge could decide.
    CannotTell {
        /// The reason why there is no decision.
        why: String,
    },
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The path of the file, from the root.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

/// A thing that a criterion names and that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    /// The place of the thing.
    #[serde(flatten)]
    pub at: Place,
    /// The description of the thing.
    pub what: String,
}

/// The result of a file that a diff of the plan was to change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DiffResult {
    /// The path of the file.
    pub file: String,
    /// The line of the diff in the plan; `None` in JSON.
    pub line: Option<u32>,
    /// The number of hunks; a file that is only renamed or deleted counts as one.
    pub hunks: usize,
    /// The number of hunks whose added lines are all in the file.
    pub there: usize,
    /// The number of the first other hunk, from 1; `None` if there is none.
    pub missing: Option<usize>,
}

impl Status {
    /// Returns the status of a milestone by the number of its criteria that are met.
    pub fn of(met: usize, all: usize) -> Status {
        match met {
            0 => Status::NotSatisfied,
            met if met == all => Status::Satisfied,
            _ => Status::Partly,
        }
    }

    /// Returns the word for the status.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Satisfied => "SATISFIED",
            Status::Partly => "PARTLY",
            Status::NotSatisfied => "NOT_SATISFIED",
        }
    }

    /// Returns the work that is left.
    pub fn action(self) -> Action {
        match self {
            Status::Satisfied => Action::Skip,
            Status::Partly => Action::DoTheRest,
            Status::NotSatisfied => Action::DoAll,
        }
    }
}

impl Action {
    /// Returns the words for the work.
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
    /// Returns the number of criteria that are met.
    pub fn met(&self) -> usize {
        self.criteria.iter().filter(|criterion| criterion.answer.is_met()).count()
    }
}

impl Reconciliation {
    /// Returns true if all milestones are satisfied. A plan without milestones does not pass, and
    /// neither does one with a milestone without criteria, with parts that were not understood, or
    /// with removed requirements.
    pub fn passes(&self) -> bool {
        let is_satisfied = |milestone: &MilestoneResult| milestone.status == Status::Satisfied;
        !self.milestones.is_empty()
            && self.unread.is_empty()
            && self.removed.is_empty()
            && self.milestones.iter().all(is_satisfied)
    }

    /// Returns true if a criterion is not met, or a requirement is missing, rather than undecided.
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

/// Compares the plan at the path `at`, from the root, with a tree. Criteria that code cannot decide
/// are passed to the judge, if there is one.
pub fn reconcile(
    plan: &Plan,
    at: &str,
    tree: &(dyn Tree + Sync),
    judge: Option<&dyn CriterionJudge>,
) -> Reconciliation {
    let whole = whole_plan(plan);
    let milestones: Vec<&Milestone> = plan.milestones.iter().chain(&whole).collect();
    let readings: Vec<Vec<ParsedCriterion>> = milestones
        .iter()
        .map(|milestone| milestone.criteria.iter().map(|c| ParsedCriterion::of(&c.text)).collect())
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

/// Returns a milestone that represents the plan as a whole; `None` if the plan has no criteria of
/// its own.
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

fn by_code(
    criterion: &Criterion,
    reading: &ParsedCriterion,
    lookup: &Lookup<'_>,
) -> CriterionResult {
    let (answer, evidence) = lookup.answer(reading);
    CriterionResult { text: criterion.text.clone(), line: criterion.line, answer, evidence }
}

/// Returns the results of the diffs of a milestone.
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
    // A file that cannot be read contains no planned line.
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
