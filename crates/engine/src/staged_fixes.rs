//! Safe fixes of staged changes: [`fix_staged`] reviews what is staged, and fixes the index and the
//! work tree together.

use std::path::Path;

use assay_change::{Selection, StagedFiles};
use assay_findings::gate::ReviewMode;
use assay_findings::synthesis::Synthesis;
use assay_findings::vote::AutofixClass;
use assay_review::runs::{self, StoredFix};
use assay_review::staged_fix::StagedFixPlan;

use crate::environment::Environment;
use crate::review_session::{ReviewSession, open_staged_change};
use crate::safe_fixes::adds_blocking_finding;

/// The use of the computed fixes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixAction {
    /// The fixes are written.
    Apply,
    /// The fixes are only computed.
    Check,
}

/// The safe fixes of the staged changes.
#[derive(Debug)]
pub struct StagedFixes {
    /// The effect of the fixes.
    pub plan: StagedFixPlan,
    /// The number of other fixes, which a person applies.
    pub others: usize,
    /// The result of the fixes.
    pub outcome: StagedFixOutcome,
}

/// The result of fixes of staged changes.
#[derive(Debug)]
pub enum StagedFixOutcome {
    /// The fixes were not written, or there are none.
    NotApplied,
    /// The fixes stay. The review by the rules of what is staged now.
    Applied(Box<Synthesis>),
    /// The fixes added a blocking finding, and were reverted.
    MadeWorse,
}

/// Computes the safe fixes of the staged changes, which are those of rules, and applies them unless
/// they make the review worse.
pub fn fix_staged(
    environment: &Environment,
    folder: &Path,
    action: FixAction,
) -> anyhow::Result<StagedFixes> {
    let (session, before) = review_staged(environment, folder)?;
    let (safe, others): (Vec<StoredFix>, Vec<StoredFix>) = runs::fixes_of(&session.change, &before)
        .into_iter()
        .partition(|fix| fix.class == AutofixClass::SafeAuto);
    let index = environment.variable("GIT_INDEX_FILE");
    let staged = StagedFiles::open(folder, index.as_deref().map(Path::new))?;
    let plan = StagedFixPlan::new(&session.change, staged, safe)?;
    let outcome = match action {
        FixAction::Apply if !plan.index.files.is_empty() => {
            apply(environment, folder, &session, &plan, &before)?
        }
        FixAction::Apply | FixAction::Check => StagedFixOutcome::NotApplied,
    };
    Ok(StagedFixes { plan, others: others.len(), outcome })
}

fn apply(
    environment: &Environment,
    folder: &Path,
    session: &ReviewSession,
    plan: &StagedFixPlan,
    before: &Synthesis,
) -> anyhow::Result<StagedFixOutcome> {
    let root = &session.change.root;
    plan.apply(root)?;
    let after = match review_staged(environment, folder) {
        Ok((_, after)) => after,
        Err(error) => {
            plan.undo(root)?;
            return Err(error.context("the safe fixes were reverted: cannot review them"));
        }
    };
    if adds_blocking_finding(before, &after) {
        plan.undo(root)?;
        return Ok(StagedFixOutcome::MadeWorse);
    }
    Ok(StagedFixOutcome::Applied(Box::new(after)))
}

fn review_staged(
    environment: &Environment,
    folder: &Path,
) -> anyhow::Result<(ReviewSession, Synthesis)> {
    let change = open_staged_change(environment, folder, &Selection::default())?;
    let session = ReviewSession::of_rules(environment, change)?;
    let reviewed = session.review_without_progress(ReviewMode::Autofix);
    Ok((session, reviewed.synthesis))
}
