//! The highest requirements that a gate has seen in its plan: [`PlanRequirements`].
//!
//! A gate on written work compares the work with its plan, and the plan is a file that the work can
//! edit. So a gate records all that the plan ever required: milestones, criteria, files, tests and
//! hunks. A requirement that is gone or reworded is an item that fails until the plan has it again
//! or a person accepts that by name.

use std::collections::{BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use crate::digest::Digester;
use crate::facts::path_patterns;
use crate::item::{Item, Scope};
use crate::plan::{Milestone, Plan};
use crate::quote::quoted;
use crate::result::CheckResult;

/// The key of the built-in check that searches the plan for a requirement.
pub(crate) const REQUIREMENT: &str = "plan/requirement";

/// The kind of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequirementKind {
    /// A milestone, by its id.
    Milestone,
    /// An acceptance criterion, by its text.
    Criterion,
    /// A file that a milestone names, by its path.
    File,
    /// A test that a milestone names, by its text.
    Test,
    /// A hunk of a diff, by its file, its first added line and a digest of the lines that it adds.
    Hunk,
}

/// A requirement of a plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Requirement {
    /// The kind of the requirement.
    pub kind: RequirementKind,
    /// The id of the milestone with the requirement; empty for the plan as a whole.
    pub milestone: String,
    /// The text, with one blank between words.
    pub text: String,
}

/// All requirements of a plan in any round of a gate.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PlanRequirements(BTreeSet<Requirement>);

impl Requirement {
    fn new(kind: RequirementKind, milestone: &str, text: &str) -> Requirement {
        let words: Vec<&str> = text.split_whitespace().collect();
        let text = words.join(" ").trim_end_matches(['.', ';', ',']).to_owned();
        Requirement { kind, milestone: milestone.to_owned(), text }
    }

    /// Returns the text of the check for the requirement, which is unique.
    pub(crate) fn check(&self) -> String {
        format!("Check that the plan still asks for {}", self.in_words())
    }

    /// Returns the scope of an item about the requirement.
    pub(crate) fn scope(&self) -> Scope {
        match self.milestone.is_empty() {
            true => Scope::All,
            false => Scope::Milestone(self.milestone.clone()),
        }
    }

    fn in_words(&self) -> String {
        let text = quoted(&self.text);
        let what = match self.kind {
            RequirementKind::Milestone => return format!("milestone {text}"),
            RequirementKind::Criterion => format!("the criterion {text}"),
            RequirementKind::File => format!("the file {text}"),
            RequirementKind::Test => format!("the test {text}"),
            RequirementKind::Hunk => format!("the hunk {text}"),
        };
        match self.milestone.is_empty() {
            true => what,
            false => format!("{what} of milestone {}", quoted(&self.milestone)),
        }
    }

    /// Formats the finding that the plan no longer has the requirement.
    pub(crate) fn removal(&self) -> String {
        let what = self.in_words();
        format!(
            "the plan no longer asks for {what}, and an earlier round required it; restore it, or \
             ask a person to accept the removal with `assay gate decompose`, `verify` and \
             `accept` for the phase reconcile"
        )
    }

    fn finding(&self) -> String {
        format!(
            "The plan no longer asks for {}, and an earlier round of this gate required it. \
             Restore it in the plan; if the change is intended, a person accepts this item by \
             name with `assay gate accept`.",
            self.in_words()
        )
    }
}

impl PlanRequirements {
    /// Returns all requirements of a plan.
    pub fn of(plan: &Plan) -> PlanRequirements {
        let mut requirements = PlanRequirements::default();
        for milestone in &plan.milestones {
            requirements.add_milestone(milestone);
        }
        let whole = plan.criteria.iter().map(|criterion| criterion.text.as_str());
        let whole = whole.map(|text| Requirement::new(RequirementKind::Criterion, "", text));
        requirements.0.extend(whole);
        requirements
    }

    fn add_milestone(&mut self, milestone: &Milestone) {
        let id = milestone.id.as_str();
        let mut add = |kind, text: &str| {
            if !text.trim().is_empty() {
                self.0.insert(Requirement::new(kind, id, text));
            }
        };
        add(RequirementKind::Milestone, id);
        for criterion in &milestone.criteria {
            add(RequirementKind::Criterion, &criterion.text);
        }
        for file in &milestone.files {
            add(RequirementKind::File, path_patterns::plain(file));
        }
        for test in &milestone.tests {
            add(RequirementKind::Test, test);
        }
        for file in milestone.diffs.iter().flat_map(|diff| diff.read().files) {
            for hunk in &file.hunks {
                let lines: Vec<&str> = hunk.added().map(|line| line.text.trim()).collect();
                let Some(first) = lines.iter().find(|line| !line.is_empty()) else { continue };
                let digest = Digester::default().part(lines.join("\n")).finish().short();
                add(RequirementKind::Hunk, &format!("{}: {first} ({digest})", file.path()));
            }
        }
    }

    /// Adds the requirements of another set.
    pub fn raise(&mut self, other: &PlanRequirements) {
        self.0.extend(other.0.iter().cloned());
    }

    /// Returns the requirements of this set that a plan does not have. A milestone that is gone is
    /// returned without its parts. A part may move to another milestone.
    pub fn missing(&self, plan: &Plan) -> Vec<&Requirement> {
        let now = PlanRequirements::of(plan);
        let there: HashSet<(RequirementKind, &str)> =
            now.0.iter().map(|one| (one.kind, one.text.as_str())).collect();
        let ids: HashSet<&str> = plan.milestones.iter().map(|one| one.id.as_str()).collect();
        let is_missing = |one: &&Requirement| {
            let is_asked = there.contains(&(one.kind, one.text.as_str()));
            let is_part = one.kind != RequirementKind::Milestone && !one.milestone.is_empty();
            !is_asked && (!is_part || ids.contains(one.milestone.as_str()))
        };
        self.0.iter().filter(is_missing).collect()
    }

    /// Checks that a plan has the requirement that an item is about.
    pub(crate) fn look(&self, plan: &Plan, item: &Item) -> CheckResult {
        let missing = self.missing(plan).into_iter().find(|one| one.check() == item.check);
        missing.map_or(CheckResult::Pass, |missing| CheckResult::Fail(missing.finding()))
    }

    /// Returns true if two sets share so many criteria that one plan was made from the other: at
    /// least half of those of the smaller one.
    pub fn is_kin(&self, other: &PlanRequirements) -> bool {
        let (ours, theirs) = (self.criteria(), other.criteria());
        let shared = ours.intersection(&theirs).count();
        shared > 0 && shared * 2 >= ours.len().min(theirs.len())
    }

    fn criteria(&self) -> HashSet<&str> {
        let criteria = self.0.iter().filter(|one| one.kind == RequirementKind::Criterion);
        criteria.map(|one| one.text.as_str()).collect()
    }

    /// Returns true if there is no requirement.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
