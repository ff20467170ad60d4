//! The subject of a gate: [`Subject`].

use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use assay_change::Change;
use assay_change::diff::FileDiff;
use assay_findings::ground::{Tree, TreeError};
use assay_rules::Rulebook;

use crate::facts::decisions::Log;
use crate::facts::path_patterns::{NamedFiles, Touched};
use crate::facts::plan_diffs::Planned;
use crate::facts::rule_results::Ruled;
use crate::facts::tree_index::TreeIndex;
use crate::plan::{Milestone, Plan};
use crate::reconcile::{CriterionJudge, Reconciliation, reconcile};

/// The rules, where nobody brings others.
static BUILTIN: LazyLock<Rulebook> = LazyLock::new(Rulebook::builtin);

/// An artifact with what it is held against.
pub struct Subject<'a> {
    /// The plan, and where it lies from the root.
    pub plan: Option<(&'a Plan, &'a str)>,
    /// The change, once something was written.
    pub change: Option<&'a Change>,
    /// The files as they are now.
    pub tree: &'a (dyn Tree + Sync),
    rules: Option<&'a Rulebook>,
    judge: Option<&'a dyn SubjectJudge>,
    learned: Learned<'a>,
}

/// Makes the judge of the criteria of a subject's plan.
pub trait SubjectJudge: Sync {
    /// Returns a judge that is shown the files of `subject`.
    fn criterion_judge<'s>(&'s self, subject: &'s Subject<'_>) -> Box<dyn CriterionJudge + 's>;
}

/// Results that several checks need, computed when the first of them asks.
#[derive(Default)]
struct Learned<'a> {
    planned: OnceLock<Planned<'a>>,
    ruled: OnceLock<Ruled>,
    files: OnceLock<HashMap<&'a str, &'a FileDiff>>,
    milestones: OnceLock<HashMap<&'a str, Vec<usize>>>,
    named: OnceLock<NamedFiles>,
    touched: OnceLock<Touched>,
    log: OnceLock<Log>,
    index: OnceLock<TreeIndex>,
    reconciled: OnceLock<Reconciliation>,
}

impl<'a> Subject<'a> {
    /// Puts an artifact together with what it is held against.
    pub fn new(
        plan: Option<(&'a Plan, &'a str)>,
        change: Option<&'a Change>,
        tree: &'a (dyn Tree + Sync),
    ) -> Subject<'a> {
        Subject { plan, change, tree, rules: None, judge: None, learned: Learned::default() }
    }

    /// Has code looked at by a repository's own rules, too.
    pub fn with_rules(self, rules: &'a Rulebook) -> Subject<'a> {
        Subject { rules: Some(rules), ..self }
    }

    /// Has a judge decide the plan's criteria that code cannot.
    pub fn with_judge(self, judge: Option<&'a dyn SubjectJudge>) -> Subject<'a> {
        Subject { judge, ..self }
    }

    fn rules(&self) -> &'a Rulebook {
        self.rules.unwrap_or(&BUILTIN)
    }

    /// Returns what the diffs of the plan make of the tree.
    pub(crate) fn planned(&self) -> Option<&Planned<'a>> {
        let (plan, _) = self.plan?;
        Some(self.learned.planned.get_or_init(|| Planned::of(plan, self.tree, self.rules())))
    }

    /// Returns what the change does to the file that is at a path after it.
    pub(crate) fn file(&self, path: &str) -> Option<&'a FileDiff> {
        let index = || {
            let files = self.change.into_iter().flat_map(|change| &change.files);
            files.filter_map(|file| Some((file.new_path.as_deref()?, file))).collect()
        };
        self.learned.files.get_or_init(index).get(path).copied()
    }

    /// Returns where in the plan the milestones of a name stand, from 0; at more than one place if
    /// they share it.
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

    /// Returns the milestones of a name.
    pub(crate) fn milestones(&self, id: &str) -> Vec<&'a Milestone> {
        let Some((plan, _)) = self.plan else { return Vec::new() };
        self.places_of(id).iter().filter_map(|at| plan.milestones.get(*at)).collect()
    }

    /// Returns the files that milestones name, their tests among them.
    pub(crate) fn named(&self) -> &NamedFiles {
        let milestones = || self.plan.into_iter().flat_map(|(plan, _)| &plan.milestones);
        let files =
            || milestones().flat_map(|milestone| milestone.files.iter().chain(&milestone.tests));
        self.learned.named.get_or_init(|| NamedFiles::of(files()))
    }

    /// Returns the paths that the change is about.
    pub(crate) fn touched(&self) -> &Touched {
        let touched = || self.change.map(Touched::of).unwrap_or_default();
        self.learned.touched.get_or_init(touched)
    }

    /// Returns the log of the plan.
    pub(crate) fn log(&self) -> Option<&Log> {
        let (plan, _) = self.plan?;
        Some(self.learned.log.get_or_init(|| Log::of(plan)))
    }

    /// Lists the files as they are now.
    pub(crate) fn index(&self) -> &TreeIndex {
        self.learned.index.get_or_init(|| TreeIndex::of(self.tree))
    }

    /// Returns what of the plan looks like a part of it and was not read, in words.
    pub fn unread(&self) -> Vec<String> {
        let unread = self.plan.into_iter().flat_map(|(plan, _)| &plan.unread);
        unread.map(|line| line.to_string()).collect()
    }

    /// Returns why a file could not be read, where one could not.
    pub(crate) fn tree_error(&self) -> Option<TreeError> {
        let listing = self.learned.index.get().and_then(|index| index.error.clone());
        listing.or_else(|| self.change?.tree_errors().into_iter().next())
    }

    /// Returns what became of the plan: as far as code can tell, and beyond that as far as a judge can
    /// show.
    pub fn reconciled(&self) -> Option<&Reconciliation> {
        let (plan, at) = self.plan?;
        let judge = self.judge.map(|judge| judge.criterion_judge(self));
        let reconciled = || reconcile(plan, at, self.tree, judge.as_deref());
        Some(self.learned.reconciled.get_or_init(reconciled))
    }

    /// Returns what the rules make of the change.
    pub(crate) fn ruled(&self) -> Option<&Ruled> {
        let change = self.change?;
        Some(self.learned.ruled.get_or_init(|| Ruled::of(change, self.rules())))
    }
}
