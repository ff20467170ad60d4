//! Digests of the part of a subject that an item covers: a result on one content does not apply to
//! another.

use crate::digest::{Digest, Digester};
use crate::item::{Item, Scope};
use crate::phase::Phase;
use crate::subject::Subject;

impl Subject<'_> {
    /// Returns the digest of everything that a phase verifies.
    pub fn whole(&self, phase: Phase) -> Digest {
        let text = self.plan.map(|(plan, _)| plan.text.as_str()).unwrap_or_default();
        self.digest(phase, text)
    }

    /// Returns the digest that distinguishes attempts. White space in a plan does not change it.
    pub fn attempt(&self, phase: Phase) -> Digest {
        let text = self.plan.map(|(plan, _)| plan.text.as_str()).unwrap_or_default();
        self.digest(phase, &assay_base::text::single_spaced(text))
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

    /// Returns the digest of the milestone or decision of a plan that an item is about; `None` for
    /// other items.
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
