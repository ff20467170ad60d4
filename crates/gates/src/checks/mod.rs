//! The checklists that are built in, phase by phase: [`of`].
//!
//! A check names what it looks at in a subject and says, by code alone, whether it holds there. A
//! new one is one entry in its phase's file.

mod code;
mod comments;
mod impl_code;
mod impl_docs;
mod impl_plan;
mod known;
mod links;
pub(crate) mod markdown;
mod markers;
mod opaque;
mod plan_code;
mod plan_docs;
mod plan_structure;
mod reconcile;
mod say;
mod source;
mod whitespace;
pub(crate) mod written;

use std::collections::HashSet;

use crate::item::{Scope, Severity};
use crate::phase::Phase;
use crate::plan::Milestone;
use crate::quote::shown;
use crate::result::CheckResult;
use crate::subject::Subject;

/// Something that is checked by code.
#[derive(Debug)]
pub struct Check {
    /// Its name for good, `plan-structure/criteria`: what is stored refers to it.
    pub key: &'static str,
    /// How much depends on it.
    pub severity: Severity,
    /// The targets in a subject; none where there is nothing of the kind.
    pub targets: fn(&Subject<'_>) -> Vec<Target>,
    /// Looks.
    pub look: fn(&Subject<'_>, &Scope) -> CheckResult,
    /// The fix where it does not hold.
    pub fix: Fix,
}

/// One thing that a check looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Where.
    pub scope: Scope,
    /// The check, in words.
    pub check: String,
}

impl Target {
    /// Names all there is.
    fn whole(check: &str) -> Target {
        Target { scope: Scope::All, check: check.to_owned() }
    }

    /// Names a file.
    fn file(path: &str, check: &str) -> Target {
        Target { scope: Scope::file(path), check: format!("{check} {}", shown(path)) }
    }

    /// Names milestones, those that share an id once.
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
    /// In a sentence, in which `{name}` stands for what the scope names.
    pub what: &'static str,
    /// The parts that the fix has to include.
    pub include: &'static [&'static str],
}

impl Fix {
    /// Returns instructions of one sentence, with no parts to include.
    const fn of(what: &'static str) -> Fix {
        Fix { what, include: &[] }
    }

    /// Says what is to be done about what a scope names.
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

/// Returns what a reader has to judge of a subject in a phase, in words; `None` where code sees all that the
/// phase asks.
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

/// Returns a check by its name.
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
