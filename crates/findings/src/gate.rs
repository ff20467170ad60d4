//! The gate: [`gate`] decides which findings are reported or held back, and the route of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::{Finding, FindingRoute, ValidationState};
use crate::vote::{AutofixClass, Owner};

/// The mode of a review, which decides how findings may be handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "Mode")]
pub enum ReviewMode {
    /// A person decides on each finding.
    #[default]
    Interactive,
    /// No file is written.
    ReportOnly,
    /// Safe fixes are applied.
    Autofix,
    /// A program reads the result.
    Headless,
}

/// The findings, sorted by how they are handled.
#[derive(Debug, Default)]
pub(crate) struct GatedFindings {
    pub(crate) open: Vec<Finding>,
    pub(crate) pre_existing: Vec<Finding>,
    pub(crate) dismissed: Vec<Finding>,
    pub(crate) held_back: Vec<Finding>,
    pub(crate) testing_gaps: Vec<String>,
    pub(crate) residual_risks: Vec<String>,
    /// The number of advisory findings that became testing gaps and residual risks.
    pub(crate) demoted: usize,
}

/// Sorts findings by how they are handled. The order of the checks matters: an old finding is not
/// also held back, and an advisory finding is moved, not dropped for its confidence.
pub(crate) fn gate(
    findings: Vec<Finding>,
    mode: ReviewMode,
    why_dismissed: impl Fn(&Finding) -> Option<String>,
) -> GatedFindings {
    let mut gated = GatedFindings::default();
    for mut finding in findings {
        if finding.pre_existing {
            gated.pre_existing.push(finding);
        } else if let Some(why) = why_dismissed(&finding) {
            finding.dismissal = Some(why);
            gated.dismissed.push(finding);
        } else if is_advice(&finding) {
            gated.demote(&finding, mode);
        } else if !passes(&finding) {
            gated.held_back.push(finding);
        } else {
            finding.route = Some(route(&finding, mode));
            gated.open.push(finding);
        }
    }
    for list in
        [&mut gated.open, &mut gated.pre_existing, &mut gated.dismissed, &mut gated.held_back]
    {
        sort_by_weight(list);
    }
    gated
}

/// Sorts findings by way of their indices: a finding takes much memory, and is moved at most twice.
fn sort_by_weight(findings: &mut [Finding]) {
    let mut order: Vec<usize> = (0..findings.len()).collect();
    order.sort_by(|a, b| findings[*a].cmp_by_weight(&findings[*b]));
    for start in 0..order.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut order[at], at);
            if from == start {
                break;
            }
            findings.swap(at, from);
            at = from;
        }
    }
}

impl GatedFindings {
    fn demote(&mut self, finding: &Finding, mode: ReviewMode) {
        self.demoted += 1;
        if mode == ReviewMode::Headless {
            return;
        }
        let text = match finding.place() {
            Some(place) => format!("{place} -- {}", finding.title),
            None => finding.title.clone(),
        };
        let about_tests = finding.reviewers.iter().any(|name| name == "testing");
        if about_tests { self.testing_gaps.push(text) } else { self.residual_risks.push(text) }
    }
}

/// Returns true if a finding is advice of the testing and maintainability personas alone.
fn is_advice(finding: &Finding) -> bool {
    let personas = ["testing", "maintainability"];
    finding.autofix_class == AutofixClass::Advisory
        && finding.grade.impact().level() >= 3
        && finding.reviewers.iter().all(|name| personas.contains(&name.as_str()))
}

/// Returns true if a finding is sure enough to be reported. A conflict with a recorded decision is
/// reported at any confidence, and so is a finding that a rule is sure of, whatever models state.
fn passes(finding: &Finding) -> bool {
    let refuted = finding.validation.as_ref().is_some_and(|v| v.state == ValidationState::Refuted);
    let is_sure = finding.confidence.is_enough_for(&finding.grade) && !refuted;
    let is_shown = finding.vouched_for || finding.is_to_be_checked();
    is_sure || is_shown || finding.settled_conflict.is_some()
}

fn route(finding: &Finding, mode: ReviewMode) -> FindingRoute {
    use AutofixClass::{Advisory, GatedAuto, Manual, SafeAuto};
    // This crate cannot verify a fix, so a fix that must be verified is not applied unseen.
    let unverified = mode == ReviewMode::Autofix && finding.requires_verification;
    match (finding.autofix_class, finding.owner) {
        (Advisory, _) | (_, Owner::Release | Owner::Human) => FindingRoute::Report,
        (SafeAuto, Owner::ReviewFixer) if !unverified => FindingRoute::Fixer,
        (SafeAuto | GatedAuto | Manual, Owner::ReviewFixer | Owner::DownstreamResolver) => {
            FindingRoute::Tasks
        }
    }
}
