//! The subject of a gate: [`Subject`].

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use assay_change::Change;
use assay_change::diff::FileDiff;
use assay_findings::grounding::{Tree, TreeError};
use assay_rules::Rulebook;

use crate::facts::decisions::DecisionLog;
use crate::facts::path_patterns::{NamedFiles, TouchedPaths};
use crate::facts::plan_diffs::PlanDiffs;
use crate::facts::rule_results::RuleResults;
use crate::facts::tree_index::TreeIndex;
use crate::plan::{Milestone, Plan};
use crate::reconcile::{CriterionJudge, Reconciliation, reconcile};

/// The built-in rules, which are used unless the caller provides others.
static BUILTIN: LazyLock<Rulebook> = LazyLock::new(Rulebook::builtin);

/// The plan, change and tree that a gate verifies.
pub struct Subject<'a> {
    /// The plan, and its path from the root; `None` if there is none.
    pub plan: Option<(&'a Plan, &'a str)>,
    /// The change; `None` before anything was written.
    pub change: Option<&'a Change>,
    /// The current files.
    pub tree: &'a (dyn Tree + Sync),
    rules: Option<&'a Rulebook>,
    judge: Option<&'a dyn SubjectJudge>,
    learned: SubjectFacts<'a>,
}

/// Creates the judge of the criteria of a subject's plan.
pub trait SubjectJudge: Sync {
    /// Returns a judge that is shown the files of `subject`.
    fn criterion_judge<'s>(&'s self, subject: &'s Subject<'_>) -> Box<dyn CriterionJudge + 's>;
}

/// Results that several checks need, computed on first use.
#[derive(Default)]
struct SubjectFacts<'a> {
    planned: OnceLock<PlanDiffs<'a>>,
    ruled: OnceLock<RuleResults>,
    files: OnceLock<HashMap<&'a str, &'a FileDiff>>,
    milestones: OnceLock<HashMap<&'a str, Vec<usize>>>,
    named: OnceLock<NamedFiles>,
    touched: OnceLock<TouchedPaths>,
    log: OnceLock<DecisionLog>,
    index: OnceLock<TreeIndex>,
    reconciled: OnceLock<Reconciliation>,
}

impl<'a> Subject<'a> {
    /// Creates a subject from a plan, a change and a tree.
    pub fn new(
        plan: Option<(&'a Plan, &'a str)>,
        change: Option<&'a Change>,
        tree: &'a (dyn Tree + Sync),
    ) -> Subject<'a> {
        Subject { plan, change, tree, rules: None, judge: None, learned: SubjectFacts::default() }
    }

    /// Uses the rules of a repository, too.
    pub fn with_rules(self, rules: &'a Rulebook) -> Subject<'a> {
        Subject { rules: Some(rules), ..self }
    }

    /// Uses a judge for the plan's criteria that code cannot decide.
    pub fn with_judge(self, judge: Option<&'a dyn SubjectJudge>) -> Subject<'a> {
        Subject { judge, ..self }
    }

    fn rules(&self) -> &'a Rulebook {
        self.rules.unwrap_or(&BUILTIN)
    }

    /// Returns the diffs of the plan, applied to the tree; `None` if there is no plan.
    pub(crate) fn planned(&self) -> Option<&PlanDiffs<'a>> {
        let (plan, _) = self.plan?;
        Some(self.learned.planned.get_or_init(|| PlanDiffs::of(plan, self.tree, self.rules())))
    }

    /// Returns the change of the file that is at a path after the change; `None` if there is none.
    pub(crate) fn file(&self, path: &str) -> Option<&'a FileDiff> {
        let index = || {
            let files = self.change.into_iter().flat_map(|change| &change.files);
            files.filter_map(|file| Some((file.new_path.as_deref()?, file))).collect()
        };
        self.learned.files.get_or_init(index).get(path).copied()
    }

    /// Returns the indices, from 0, of the milestones with an id; there may be several.
    pub(crate) fn places_of(&self, id: &str) -> &[usize] {
        let index = || {
            let milestones = self.plan.into_iter().flat_map(|(plan, _)| &plan.milestones);
            let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
            for (at, milestone) in milestones.enumerate() {
                places.entry(&milestone.id).or_default().push(at);
            }
            places
        };
        self.learned.milestones.get_or_init(index).get(id).map_or(&[], Vec::as_slice)
    }

    /// Returns all milestones of the plan.
    pub(crate) fn all_milestones(&self) -> impl Iterator<Item = &'a Milestone> + use<'a> {
        self.plan.into_iter().flat_map(|(plan, _)| &plan.milestones)
    }

    /// Returns the milestones with an id.
    pub(crate) fn milestones(&self, id: &str) -> Vec<&'a Milestone> {
        let Some((plan, _)) = self.plan else { return Vec::new() };
        self.places_of(id).iter().filter_map(|at| plan.milestones.get(*at)).collect()
    }

    /// Returns the files and tests that milestones name.
    pub(crate) fn named(&self) -> &NamedFiles {
        let milestones = || self.plan.into_iter().flat_map(|(plan, _)| &plan.milestones);
        let files =
            || milestones().flat_map(|milestone| milestone.files.iter().chain(&milestone.tests));
        self.learned.named.get_or_init(|| NamedFiles::of(files()))
    }

    /// Returns the paths of the change.
    pub(crate) fn touched(&self) -> &TouchedPaths {
        let touched = || self.change.map(TouchedPaths::of).unwrap_or_default();
        self.learned.touched.get_or_init(touched)
    }

    /// Returns the decision log of the plan; `None` if there is no plan.
    pub(crate) fn log(&self) -> Option<&DecisionLog> {
        let (plan, _) = self.plan?;
        Some(self.learned.log.get_or_init(|| DecisionLog::of(plan)))
    }

    /// Returns an index of the current files.
    pub(crate) fn index(&self) -> &TreeIndex {
        self.learned.index.get_or_init(|| TreeIndex::of(self.tree))
    }

    /// Returns a text for each part of the plan that was not understood.
    pub fn unread(&self) -> Vec<String> {
        let unread = self.plan.into_iter().flat_map(|(plan, _)| &plan.unread);
        unread.map(|line| line.to_string()).collect()
    }

    /// Returns the error of a file that could not be read; `None` if there was none.
    pub(crate) fn tree_error(&self) -> Option<TreeError> {
        let listing = self.learned.index.get().and_then(|index| index.error.clone());
        listing.or_else(|| self.change?.tree_errors().into_iter().next())
    }

    /// Returns the comparison of the plan with the tree, by code and, beyond that, by a judge;
    /// `None` if there is no plan.
    pub fn reconciled(&self) -> Option<&Reconciliation> {
        let (plan, at) = self.plan?;
        let judge = self.judge.map(|judge| judge.criterion_judge(self));
        let reconciled = || reconcile(plan, at, self.tree, judge.as_deref());
        Some(self.learned.reconciled.get_or_init(reconciled))
    }

    /// Returns the results of the rules on the change; `None` if there is no change.
    pub(crate) fn ruled(&self) -> Option<&RuleResults> {
        let change = self.change?;
        Some(self.learned.ruled.get_or_init(|| RuleResults::of(change, self.rules())))
    }
}
