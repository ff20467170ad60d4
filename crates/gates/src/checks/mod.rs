//! The built-in checklists, by phase: [`of`].
//!
//! A check lists its targets in a subject and decides, by code alone, whether each one passes. A
//! new check is one entry in the file of its phase.

mod binary_files;
pub(crate) mod changed_file;
mod code;
mod comments;
mod file_set;
mod impl_code;
mod impl_docs;
mod impl_plan;
mod links;
pub(crate) mod markdown;
mod markers;
mod plan_code;
mod plan_docs;
mod plan_helpers;
mod plan_structure;
mod reconcile;
mod source;
mod whitespace;

use std::collections::HashSet;

use crate::item::{Scope, Severity};
use crate::phase::Phase;
use crate::plan::Milestone;
use crate::quote::shown;
use crate::result::CheckResult;
use crate::subject::Subject;

/// A built-in check.
#[derive(Debug)]
pub struct Check {
    /// The permanent key, such as `plan-structure/criteria`: stored state refers to it.
    pub key: &'static str,
    /// The severity of a failure.
    pub severity: Severity,
    /// Returns the targets in a subject; empty if there are none.
    pub targets: fn(&Subject<'_>) -> Vec<Target>,
    /// Checks a target.
    pub run: fn(&Subject<'_>, &Scope) -> CheckResult,
    /// The instructions for a failed check.
    pub fix: Fix,
}

/// A target of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The scope of the target.
    pub scope: Scope,
    /// The text of the check.
    pub check: String,
}

impl Target {
    /// Returns a target for the whole subject.
    fn whole(check: &str) -> Target {
        Target { scope: Scope::All, check: check.to_owned() }
    }

    /// Returns a target for a file.
    fn file(path: &str, check: &str) -> Target {
        Target { scope: Scope::file(path), check: format!("{check} {}", shown(path)) }
    }

    /// Returns a target for each milestone; milestones with the same id have one target.
    fn milestones<'m>(
        milestones: impl Iterator<Item = &'m Milestone>,
        check: impl Fn(&str) -> String,
    ) -> Vec<Target> {
        let mut seen = HashSet::new();
        let ids = milestones.map(|milestone| &milestone.id).filter(|id| seen.insert(*id));
        ids.map(|id| Target { scope: Scope::Milestone(id.clone()), check: check(id) }).collect()
    }
}

/// Instructions for a failed check.
#[derive(Debug, Clone, Copy)]
pub struct Fix {
    /// The instruction, as a sentence in which `{name}` is replaced by the name of the scope.
    pub what: &'static str,
    /// The parts that the fix has to include.
    pub include: &'static [&'static str],
}

impl Fix {
    /// Returns an instruction without parts to include.
    const fn of(what: &'static str) -> Fix {
        Fix { what, include: &[] }
    }

    /// Returns the instruction for a scope.
    pub fn told(&self, scope: &Scope) -> String {
        let name = match scope {
            Scope::All => "the plan",
            Scope::Milestone(id) | Scope::Decision(id) => id,
            Scope::File { path, .. } => path,
            Scope::Other(text) => text,
        };
        self.what.replace("{name}", &shown(name))
    }
}

/// Returns the question that a reader has to answer about a subject in a phase; `None` if code can
/// decide everything in the phase.
pub(crate) fn for_a_reader(phase: Phase, subject: &Subject<'_>) -> Option<&'static str> {
    match phase {
        Phase::ImplCode => impl_code::for_a_reader(subject),
        Phase::PlanStructure
        | Phase::PlanCode
        | Phase::PlanDocs
        | Phase::ImplDocs
        | Phase::Reconcile => None,
    }
}

/// Returns the check with a key; `None` if there is none.
pub fn named(key: &str) -> Option<&'static Check> {
    Phase::ALL.into_iter().flat_map(of).find(|check| check.key == key)
}

/// Returns the checks of a phase, in the order of the list.
pub fn of(phase: Phase) -> Vec<&'static Check> {
    match phase {
        Phase::PlanStructure => plan_structure::CHECKS.iter().collect(),
        Phase::PlanCode => plan_code::CHECKS.iter().collect(),
        Phase::PlanDocs => plan_docs::CHECKS.iter().collect(),
        Phase::ImplCode => impl_code::CHECKS.iter().collect(),
        Phase::ImplDocs => impl_docs::CHECKS.iter().collect(),
        Phase::Reconcile => reconcile::CHECKS.iter().collect(),
    }
}
