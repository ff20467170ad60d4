//! Any bytes that call themselves a plan give one that holds together, and every check looks at it.
#![no_main]

use assay_findings::grounding::{Symbol, Tree};
use assay_findings::path::RepoPath;
use assay_gates::checks;
use assay_gates::phase::Phase;
use assay_gates::plan;
use assay_gates::subject::Subject;

/// A tree without files.
struct Bare;

impl Tree for Bare {
    fn read(&self, _: &RepoPath) -> Option<String> {
        None
    }

    fn exists(&self, _: &RepoPath) -> bool {
        false
    }

    fn symbol_at(&self, _: &RepoPath, _: u32) -> Option<Symbol> {
        None
    }

    fn paths(&self) -> Vec<RepoPath> {
        Vec::new()
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for name in ["plan.md", "plan.json"] {
        let Ok(plan) = plan::read(name, bytes) else { continue };
        let lines = plan.text.lines().count();
        assert!(plan.milestones.iter().all(|milestone| milestone.line as usize <= lines));
        let subject = Subject::new(Some((&plan, name)), None, &Bare);
        for phase in [Phase::PlanStructure, Phase::PlanCode, Phase::PlanDocs] {
            for check in checks::of(phase) {
                for target in (check.targets)(&subject) {
                    (check.run)(&subject, &target.scope);
                }
            }
        }
    }
});
