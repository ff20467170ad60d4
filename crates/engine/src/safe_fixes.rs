//! Safe fixes: applies them to a change, and reverts them if they make the review worse.

use std::path::Path;

use anyhow::Context;
use assay_change::{Change, Scope, Selection};
use assay_findings::finding::Finding;
use assay_findings::gate::ReviewMode;
use assay_findings::synthesis::Synthesis;
use assay_findings::vote::AutofixClass;
use assay_review::fix::FixPlan;
use assay_review::fixer::FixerResult;
use assay_review::runs::{self, StoredFix};

use crate::environment::Environment;
use crate::models::{CachePolicy, ModelOptions, ModelSession, Panel, ReviewOptions};
use crate::review_session::{CompletedReview, ReviewSession};
use crate::wording::count;

/// Applies the safe fixes of a review that was just made.
fn apply_safe(change: &Change, synthesis: &Synthesis) -> anyhow::Result<FixPlan> {
    let fixes = runs::fixes_of(change, synthesis);
    let is_safe = |fix: &StoredFix| fix.class == AutofixClass::SafeAuto;
    let plan = FixPlan::new(&change.root, fixes.into_iter().filter(is_safe).collect());
    plan.apply(&change.root).context("cannot apply the safe fixes")?;
    Ok(plan)
}

/// Returns true if a finding blocks that was not there before the fixes.
pub(crate) fn adds_blocking_finding(before: &Synthesis, after: &Synthesis) -> bool {
    let was_there = |finding: &Finding| {
        before.findings.iter().any(|old| old.fingerprint == finding.fingerprint)
    };
    after.findings.iter().any(|finding| finding.grade.blocks() && !was_there(finding))
}

/// The outcome of applying the safe fixes of a review.
pub enum AutofixOutcome {
    /// The fixes stay.
    Applied {
        /// The fixes that were applied.
        fixes: Vec<StoredFix>,
        /// The session of the change with the fixes.
        session: Box<ReviewSession>,
        /// The review of the change with the fixes.
        review: Box<CompletedReview>,
    },
    /// The fixes made the review worse, and were reverted.
    MadeWorse,
    /// The review of the fixes was interrupted, and the fixes were reverted.
    Interrupted,
}

/// Applies the safe fixes of a review, and reviews the change again with `review_again`, which gets
/// the model session of the first review, since a run has one budget. Reverts the fixes if they
/// make the review worse.
pub fn autofix(
    prepared: &ReviewSession,
    reviewed: &CompletedReview,
    review_again: impl FnOnce(Option<ModelSession>) -> anyhow::Result<(ReviewSession, CompletedReview)>,
) -> anyhow::Result<AutofixOutcome> {
    let plan = apply_safe(&prepared.change, &reviewed.synthesis)?;
    keep_or_revert(plan, prepared, reviewed, review_again)
}

/// Reviews a change again after fixes, and reverts them if they make the review worse.
fn keep_or_revert(
    plan: FixPlan,
    prepared: &ReviewSession,
    reviewed: &CompletedReview,
    review_again: impl FnOnce(Option<ModelSession>) -> anyhow::Result<(ReviewSession, CompletedReview)>,
) -> anyhow::Result<AutofixOutcome> {
    let (session, review) = review_again(prepared.panel.as_ref().and_then(Panel::model_session))?;
    let is_worse = adds_blocking_finding(&reviewed.synthesis, &review.synthesis);
    if review.is_interrupted() || is_worse {
        plan.undo(&prepared.change.root);
        return Ok(match review.is_interrupted() {
            true => AutofixOutcome::Interrupted,
            false => AutofixOutcome::MadeWorse,
        });
    }
    let fixes = plan.files.into_iter().flat_map(|file| file.fixes).collect();
    Ok(AutofixOutcome::Applied { fixes, session: Box::new(session), review: Box::new(review) })
}

/// Applies the safe fixes of the change in a folder, unless they make the review worse. Returns a
/// line for each fix.
pub(crate) fn safe_fixes(
    environment: &Environment,
    folder: &Path,
    base: &str,
) -> anyhow::Result<Vec<String>> {
    let scope = Scope::Against(base.to_owned());
    let models = ModelOptions::without_models();
    let review = || {
        let options = ReviewOptions {
            models: &models,
            cache_policy: CachePolicy::Off,
            model_session: None,
            also: None,
        };
        let selection = Selection::default();
        let prepared = ReviewSession::open(environment, folder, &scope, &selection, options)?;
        let reviewed = prepared.review_without_progress(ReviewMode::Autofix);
        anyhow::Ok((prepared, reviewed))
    };
    let (prepared, reviewed) = review()?;
    let plan = apply_safe(&prepared.change, &reviewed.synthesis)?;
    if plan.files.is_empty() {
        return Ok(Vec::new());
    }
    Ok(match keep_or_revert(plan, &prepared, &reviewed, |_| review())? {
        AutofixOutcome::Applied { fixes, .. } => {
            fixes.iter().map(|fix| format!("safe fix in {}: {}", fix.file, fix.title)).collect()
        }
        AutofixOutcome::MadeWorse | AutofixOutcome::Interrupted => Vec::new(),
    })
}

/// Returns a line for each edit of a model, and for each edit that was refused.
pub(crate) fn describe_edits(mended: FixerResult) -> Vec<String> {
    let FixerResult { summary, applied, refused } = mended;
    let edits = format!("{} by a model: {summary}", count(applied, "edit"));
    let refused = refused.into_iter().map(|why| format!("an edit was refused: {why}"));
    std::iter::once(edits).chain(refused).collect()
}

#[cfg(test)]
mod tests {
    use assay_findings::report::Report;
    use assay_findings::synthesis::{SynthesisInputs, synthesize};
    use assay_testkit::Repository;
    use serde_json::json;

    use super::*;

    /// Synthesizes one finding for each severity, with its title.
    fn synthesis(findings: &[(&str, &str)]) -> Synthesis {
        let findings: Vec<_> = findings
            .iter()
            .map(|(severity, title)| {
                json!({"title": title, "severity": severity, "file": "a.rs", "line": 1,
                    "confidence": 95, "evidence": [format!("`{title}`")]})
            })
            .collect();
        let report = json!([{"reviewer": "one", "findings": findings,
            "residual_risks": [], "testing_gaps": []}]);
        let reports = Report::list_from_text(&report.to_string(), None);
        synthesize(&reports, &SynthesisInputs::default())
    }

    #[test]
    fn a_new_finding_counts_as_a_regression_only_if_it_blocks() {
        let before = synthesis(&[("CRITICAL", "the key is logged")]);
        assert!(!adds_blocking_finding(&before, &before));
        assert!(!adds_blocking_finding(&before, &synthesis(&[])));
        let worse =
            synthesis(&[("CRITICAL", "the key is logged"), ("CRITICAL", "no lock is taken")]);
        assert!(adds_blocking_finding(&before, &worse));
        let minor = synthesis(&[("CRITICAL", "the key is logged"), ("LOW", "a name is misspelt")]);
        assert!(!adds_blocking_finding(&before, &minor));
    }

    #[test]
    fn safe_fixes_are_applied_to_the_work_tree() {
        let repository = Repository::new();
        repository.write("shop.py", "def total(prices):\n    return sum(prices)\n");
        repository.commit("before");
        let code = "def total(prices):\n    breakpoint()\n    return sum(prices, 0)\n";
        repository.write("shop.py", code);
        let fixed = safe_fixes(&Environment::default(), repository.path(), "HEAD").unwrap();
        assert_eq!(fixed.len(), 1, "{fixed:?}");
        let text = std::fs::read_to_string(repository.path().join("shop.py")).unwrap();
        assert_eq!(text, code.replace("    breakpoint()\n", ""));
        let again = safe_fixes(&Environment::default(), repository.path(), "HEAD").unwrap();
        assert!(again.is_empty(), "{again:?}");
    }
}
