//! What of a subject an item covers, as digests: what was seen on one content says nothing about
//! another.

use assay_findings::path::RepoPath;

use crate::beside::By;
use crate::digest::{Digest, Digester};
use crate::item::{Item, Scope};
use crate::phase::Phase;
use crate::subject::Subject;

impl Subject<'_> {
    /// Takes the digest of everything that a phase looks at.
    pub fn whole(&self, phase: Phase) -> Digest {
        let mut digester = Digester::default().part(phase.name());
        if let Some((plan, _)) = self.plan {
            digester = digester.part(&plan.text);
        }
        match self.change {
            Some(change) if !phase.is_of_a_plan() => digester.part(change.digest()).finish(),
            _ => digester.finish(),
        }
    }

    /// Takes the digest of what an item of a phase covers, given that of everything. What looks at a
    /// part of a plan covers that part alone; a command may look at anything.
    pub fn covered(&self, phase: Phase, item: &Item, by: Option<&By>, whole: &Digest) -> Digest {
        let is_narrow = phase.is_of_a_plan() && !matches!(by, Some(By::Command(_)));
        let part = if is_narrow { self.part(&item.scope) } else { None };
        part.unwrap_or_else(|| whole.clone())
    }

    /// Takes the digest of a part of a plan, where there is such a part.
    fn part(&self, scope: &Scope) -> Option<Digest> {
        let (plan, _) = self.plan?;
        let digester = Digester::default().part(scope.to_string());
        match scope {
            Scope::All | Scope::Other(_) => None,
            Scope::Milestone(id) => {
                let milestone = plan.milestones.iter().find(|milestone| milestone.id == *id)?;
                Some(digester.part(&milestone.text).finish())
            }
            Scope::Decision(id) => {
                let decision = plan.decisions.iter().find(|decision| decision.id == *id)?;
                Some(digester.part(&decision.decision).part(&decision.reason).finish())
            }
            Scope::File { path, .. } => {
                let now = RepoPath::exact(path).ok().and_then(|path| self.tree.read(&path));
                let mut digester = digester.part(now.unwrap_or_default());
                for diff in plan.diffs().filter(|diff| diff.text.contains(path.as_str())) {
                    digester = digester.part(&diff.text);
                }
                Some(digester.finish())
            }
        }
    }
}
