//! Safe fixes: which of them are applied to a change, and which are taken back.

use std::path::Path;

use anyhow::Context;
use assay_change::{Change, Scope, Selection};
use assay_findings::finding::Finding;
use assay_findings::gate::Mode;
use assay_findings::synthesis::Synthesis;
use assay_findings::vote::AutofixClass;
use assay_review::fix::Plan;
use assay_review::fixer::Mended;
use assay_review::runs::{self, StoredFix};

use crate::environment::Environment;
use crate::models::{Asked, Keeping, ModelRequest};
use crate::review_session::Prepared;
use crate::wording::count;

/// Applies the safe fixes of a review that was just made.
pub fn apply_safe(change: &Change, synthesis: &Synthesis) -> anyhow::Result<Plan> {
    let fixes = runs::fixes_of(change, synthesis);
    let is_safe = |fix: &StoredFix| fix.class == AutofixClass::SafeAuto;
    let plan = Plan::new(&change.root, fixes.into_iter().filter(is_safe).collect());
    plan.carry_out(&change.root).context("the safe fixes could not be applied")?;
    Ok(plan)
}

/// Returns true if a finding blocks after fixes that was not there before them.
pub fn breaks_something(before: &Synthesis, after: &Synthesis) -> bool {
    let was_there = |finding: &Finding| {
        before.findings.iter().any(|old| old.fingerprint == finding.fingerprint)
    };
    after.findings.iter().any(|finding| finding.grade.blocks() && !was_there(finding))
}

/// Applies the safe fixes of the change in a folder, unless they make something worse. Returns a line
/// for each fix.
pub fn safe_fixes(
    environment: &Environment,
    folder: &Path,
    base: &str,
) -> anyhow::Result<Vec<String>> {
    let scope = Scope::Against(base.to_owned());
    let models = ModelRequest::none();
    let open = || {
        let asked = Asked { models: &models, keeping: Keeping::Nothing, line: None, also: None };
        Prepared::open(environment, folder, &scope, &Selection::default(), asked)
    };
    let prepared = open()?;
    let before = prepared.review_unseen(Mode::Autofix);
    let plan = apply_safe(&prepared.change, &before.synthesis)?;
    if plan.files.is_empty() {
        return Ok(Vec::new());
    }
    let after = open()?.review_unseen(Mode::Autofix);
    if breaks_something(&before.synthesis, &after.synthesis) {
        plan.undo(&prepared.change.root);
        return Ok(Vec::new());
    }
    let fixes = plan.files.iter().flat_map(|file| &file.fixes);
    Ok(fixes.map(|fix| format!("safe fix in {}: {}", fix.file, fix.title)).collect())
}

/// Returns a line for each edit of a model, and for each that was refused.
pub fn told(mended: Mended) -> Vec<String> {
    let Mended { summary, applied, refused } = mended;
    let edits = format!("{} by a model: {summary}", count(applied, "edit"));
    let refused = refused.into_iter().map(|why| format!("an edit was refused: {why}"));
    std::iter::once(edits).chain(refused).collect()
}
