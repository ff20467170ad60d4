//! Digests of the part of a subject that an item covers: a result on one content says nothing about
//! another.

use crate::digest::{Digest, Digester};
use crate::item::{Item, Scope};
use crate::phase::Phase;
use crate::subject::Subject;

impl Subject<'_> {
    /// Takes the digest of everything that a phase looks at.
    pub fn whole(&self, phase: Phase) -> Digest {
        let text = self.plan.map(|(plan, _)| plan.text.as_str()).unwrap_or_default();
        self.digest(phase, text)
    }

    /// Takes the digest by which one attempt is told from the next: blanks in a plan make no other.
    pub fn attempt(&self, phase: Phase) -> Digest {
        let text = self.plan.map(|(plan, _)| plan.text.as_str()).unwrap_or_default();
        self.digest(phase, &text.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    fn digest(&self, phase: Phase, plan: &str) -> Digest {
        let digester = Digester::default().part(phase.name()).part(plan);
        match self.change {
            Some(change) if !phase.is_of_a_plan() => {
                digester.part(change.content_digest()).finish()
            }
            _ => digester.finish(),
        }
    }

    /// Takes the digest of the part of a plan that an item is about, where it is about one.
    pub fn part(&self, phase: Phase, item: &Item) -> Option<Digest> {
        let (plan, _) = self.plan.filter(|_| phase.is_of_a_plan())?;
        let mut digester = Digester::default().part(item.scope.to_string());
        let mut is_there = false;
        match &item.scope {
            Scope::All | Scope::Other(_) | Scope::File { .. } => {}
            Scope::Milestone(id) => {
                for milestone in plan.milestones.iter().filter(|milestone| milestone.id == *id) {
                    is_there = true;
                    digester = digester.part(&milestone.text);
                }
            }
            Scope::Decision(id) => {
                for decision in plan.decisions.iter().filter(|decision| decision.id == *id) {
                    is_there = true;
                    digester = digester.part(&decision.decision).part(&decision.reason);
                }
            }
        }
        is_there.then(|| digester.finish())
    }
}
