//! What was seen, made into issues: findings of a review, and criteria of a spec.

use assay_findings::finding::Finding;
use assay_findings::synthesis::Synthesis;
use assay_findings::verdict::State;
use assay_gates::plan::{Criterion as PlanCriterion, Milestone, Plan};
use assay_gates::reconcile::{Answer, CriterionJudge, CriterionResult, reconcile};

use crate::issue::{Issue, IssueKind, IssueSeverity};
use crate::spec::Spec;

/// What a review says of a tree.
#[derive(Debug)]
pub enum ReviewSays {
    /// It found this.
    Issues(Vec<Issue>),
    /// Somebody who had to look did not, for these reasons.
    Incomplete(Vec<String>),
}

/// Makes issues of what a review found. A change that is ready has none, whatever else was found.
pub fn of_review(synthesis: &Synthesis) -> ReviewSays {
    match synthesis.verdict.state {
        State::Ready | State::ReadyWithFixes => ReviewSays::Issues(Vec::new()),
        State::NotReady => {
            let findings = synthesis.findings.iter();
            ReviewSays::Issues(findings.map(of_finding).collect())
        }
        State::Incomplete => {
            let because = synthesis.verdict.because.iter();
            ReviewSays::Incomplete(because.map(|reason| reason.text.clone()).collect())
        }
    }
}

fn of_finding(finding: &Finding) -> Issue {
    Issue {
        title: finding.title.clone(),
        kind: kind_of(&finding.category),
        severity: severity_of(finding.grade.impact().level()),
        file: finding.file.as_ref().map(ToString::to_string),
        line: finding.line,
        description: Some(finding.description.clone()).filter(|text| !text.is_empty()),
        fix: finding.suggested_fix.clone(),
        key: None,
    }
}

fn kind_of(category: &str) -> IssueKind {
    match category {
        "security" | "supply-chain" | "secrets" => IssueKind::Security,
        "performance" => IssueKind::Performance,
        "error-handling" | "error_handling" | "reliability" => IssueKind::ErrorHandling,
        "testing" | "test" | "tests" => IssueKind::UnitTest,
        _ => IssueKind::CodeQuality,
    }
}

fn severity_of(impact: u8) -> IssueSeverity {
    match impact {
        0 => IssueSeverity::Critical,
        1 => IssueSeverity::High,
        2 | 3 => IssueSeverity::Medium,
        _ => IssueSeverity::Low,
    }
}

/// Looks whether the criteria of a spec are met, each with what shows it: by code where that can
/// tell, else by a judge whose quotes are looked up.
pub fn criteria(
    spec: &Spec,
    tree: &(dyn assay_findings::ground::Tree + Sync),
    judge: Option<&dyn CriterionJudge>,
) -> Vec<CriterionResult> {
    let criterion = |criterion: &crate::spec::Criterion| PlanCriterion {
        text: criterion.text.clone(),
        line: criterion.line.unwrap_or(0),
    };
    let milestone = Milestone {
        id: spec.name.clone(),
        title: spec.name.clone(),
        criteria: spec.criteria.iter().map(criterion).collect(),
        ..Milestone::default()
    };
    let plan = Plan { milestones: vec![milestone], ..Plan::default() };
    // What a spec says about itself is no evidence.
    let at = spec.folder.join("spec.md").display().to_string();
    let reconciled = reconcile(&plan, &at, tree, judge);
    reconciled.milestones.into_iter().flat_map(|milestone| milestone.criteria).collect()
}

/// Makes an issue of a criterion that is not met, or of which nobody can tell.
pub fn of_criterion(number: usize, result: &CriterionResult) -> Option<Issue> {
    let (title, why) = match &result.answer {
        Answer::Met { .. } => return None,
        Answer::NotMet { why } => (format!("Not met: {}", result.text), why),
        Answer::CannotTell { why } => (format!("Nobody can tell: {}", result.text), why),
    };
    Some(Issue {
        title,
        kind: IssueKind::AcceptanceCriteria,
        severity: IssueSeverity::High,
        file: None,
        line: None,
        description: Some(why.clone()),
        fix: None,
        key: Some(format!("criterion:{number}")),
    })
}
