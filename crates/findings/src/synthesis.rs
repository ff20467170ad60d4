//! The result of all reports: [`synthesize`] runs ground → merge → gate → verdict.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coverage::ReviewCoverage;
use crate::finding::{Finding, FindingRoute};
use crate::gate::{self, ReviewMode};
use crate::grade::{Grade, Scheme};
use crate::grounding::{ChangedLines, Grounder, Tree, TreeError};
use crate::identity::{
    Day, Dismissal, EarlierFindings, MissingFindings, ResolvedFinding, Suppression,
};
use crate::incomplete::IncompleteReason;
use crate::merge::{self, MergeRecord};
use crate::read::RejectedText;
use crate::report::{Report, Reviewer, ReviewerKind};
use crate::second_look::{self, Opinion};
use crate::shown_limit::ShownLimit;
use crate::template::TemplateSet;
use crate::usage::ReviewUsage;
use crate::verdict::{self, NoContentPolicy, Verdict, VerdictInputs};
use crate::vote::{AutofixClass, Owner, Vote};
use crate::worth::ModelReaders;

/// The version of the JSON form of a synthesis.
pub const VERSION: u32 = 1;

/// The inputs of a synthesis besides the reports.
#[derive(Default)]
pub struct SynthesisInputs<'a> {
    /// The tree after the change; `None` if there is no tree.
    pub tree: Option<&'a dyn Tree>,
    /// The errors of reading the trees before the synthesis.
    pub tree_errors: Vec<TreeError>,
    /// The lines that the change touched; `None` if they are not known.
    pub changed: Option<&'a ChangedLines>,
    /// The mode of the review.
    pub mode: ReviewMode,
    /// The grade from which findings block; `None` for the default.
    pub fail_on: Option<Grade>,
    /// The findings of earlier rounds; `None` in the first round.
    pub memory: Option<EarlierFindings<'a>>,
    /// The dismissals of findings.
    pub dismissals: &'a [Dismissal],
    /// The comments in the code that suppress findings.
    pub suppressions: &'a [Suppression],
    /// The part of the change that reviewers read; `None` if it is not known.
    pub coverage: Option<ReviewCoverage>,
    /// The result for a change without reviewable content.
    pub without_content: NoContentPolicy,
    /// The number of findings that are shown; the others are folded.
    pub shown: ShownLimit,
    /// The templates of findings; `None` to use none.
    pub templates: Option<&'a TemplateSet>,
    /// The opinions of second looks at findings.
    pub opinions: &'a [Opinion],
    /// The cost of the models; `None` if none was called.
    pub spent: Option<ReviewUsage>,
    /// The current day, for dismissals that expire; without it, no such dismissal is in force.
    pub today: Option<Day>,
}

impl SynthesisInputs<'_> {
    /// Returns the reason why a finding is not to be fixed; `None` unless a dismissal or a
    /// suppression covers it.
    fn why_dismissed(&self, finding: &Finding) -> Option<String> {
        let dismissal = self.dismissals.iter().find(|dismissal| {
            let holds = match &self.today {
                Some(today) => dismissal.is_in_force_on(today),
                None => dismissal.until.is_none(),
            };
            holds && dismissal.covers(finding)
        });
        let suppression = || self.suppressions.iter().find(|comment| comment.covers(finding));
        dismissal
            .map(|dismissal| format!("{} (accepted by {})", dismissal.reason, dismissal.by))
            .or_else(|| suppression().map(|comment| format!("{} (a comment)", comment.reason)))
    }
}

/// The result of a review: all reports, grounded, merged, gated and routed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Synthesis {
    /// The version of this JSON form.
    pub version: u32,
    /// The verdict whether the change is ready.
    pub verdict: Verdict,
    /// The open findings, the worst first.
    pub findings: Vec<Finding>,
    /// The findings that are older than the change; they do not affect the verdict.
    pub pre_existing: Vec<Finding>,
    /// The findings that are not sure enough.
    pub held_back: Vec<Finding>,
    /// The findings that were dismissed.
    #[serde(default)]
    pub dismissed: Vec<Finding>,
    /// The findings of the last round that are gone.
    #[serde(default)]
    pub resolved: Vec<ResolvedFinding>,
    /// The findings of the last round that this round could not look for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<ResolvedFinding>,
    /// Risks that no reviewer could confirm.
    pub residual_risks: Vec<String>,
    /// Tests that are missing.
    pub testing_gaps: Vec<String>,
    /// The ids of the findings, by destination.
    pub queues: FindingQueues,
    /// The votes that were merged into one finding, with the rule.
    pub merges: Vec<MergeRecord>,
    /// The numbers of reports, votes and findings.
    pub counts: SynthesisCounts,
    /// The part of the change that reviewers read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<ReviewCoverage>,
    /// The cost of the models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<ReviewUsage>,
    /// The summaries of the reports, by reviewer name.
    pub reports: Vec<ReportSummary>,
}

/// The ids of the findings, by destination.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Queues")]
pub struct FindingQueues {
    /// The fixer, at once.
    pub fixer: Vec<String>,
    /// Fix tasks.
    pub tasks: Vec<String>,
    /// The report only.
    pub report: Vec<String>,
}

/// The numbers of reports, votes and findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Counts")]
pub struct SynthesisCounts {
    /// The number of reports, usable or not.
    pub reports: usize,
    /// The number of usable reports.
    pub usable_reports: usize,
    /// The number of votes in the reports.
    pub votes: usize,
    /// The number of pieces of the reports that could not be read.
    pub rejected: usize,
    /// The number of open findings.
    pub findings: usize,
    /// The number of open findings that are folded.
    #[serde(default)]
    pub folded: usize,
    /// The number of open findings by severity, in the seven levels.
    pub by_severity: BTreeMap<String, usize>,
    /// The number of findings that are older than the change.
    pub pre_existing: usize,
    /// The number of findings that were dismissed.
    pub dismissed: usize,
    /// The number of advisory findings that became testing gaps and residual risks.
    pub demoted: usize,
    /// The number of findings that were held back as leads.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub leads: usize,
    /// The number of findings that were held back, by their confidence.
    pub held_back: BTreeMap<u8, usize>,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The summary of one reviewer's report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportSummary {
    /// The name of the reviewer.
    pub reviewer: String,
    /// The kind of the reviewer, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ReviewerKind>,
    /// The number of votes.
    pub votes: usize,
    /// The reason why the report has no content; null for a usable report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
    /// The reasons why the report may have left out a finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<IncompleteReason>,
    /// Notes on missing members of the report, and on repairs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The faults in the form of single votes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<VoteFaults>,
    /// The parts that could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<RejectedText>,
    /// Parts of the change that the reviewer did not read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<String>,
    /// The cost of the report; null if no model was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<ReviewUsage>,
}

/// The faults in the form of one vote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VoteFaults {
    /// The index of the vote, from 0.
    pub vote: usize,
    /// The faults, in words.
    pub faults: Vec<String>,
}

/// Grounds, merges, gates and routes all reports, and computes the verdict.
pub fn synthesize(reports: &[Report], inputs: &SynthesisInputs<'_>) -> Synthesis {
    let requirements = unmet_requirements(reports);
    let ground = Grounder::new(inputs.tree, inputs.changed);
    let votes = reports.iter().chain(&requirements).enumerate().flat_map(|(number, report)| {
        let ground = &ground;
        report
            .votes
            .iter()
            .enumerate()
            .map(move |(at, vote)| ground.check(vote, &report.reviewer, (number, at)))
    });
    let (mut findings, merges) =
        merge::merge(votes.collect(), &ModelReaders::of(reports), inputs.templates);
    for finding in &mut findings {
        second_look::apply_opinions(finding, inputs.opinions, &ground);
    }
    let all_complete = !reports.is_empty() && reports.iter().all(Report::is_whole);
    let past = match &inputs.memory {
        Some(memory) => memory.compare(&mut findings, all_complete),
        None => MissingFindings::default(),
    };
    let mut gated = gate::gate(findings, inputs.mode, |finding| inputs.why_dismissed(finding));
    let mut tree_errors = inputs.tree_errors.clone();
    tree_errors.extend(ground.errors());
    tree_errors.sort_unstable();
    tree_errors.dedup();
    let fail_on = inputs.fail_on.as_ref();
    let changed_lines = inputs.changed.map(ChangedLines::count);
    inputs.shown.fold(&mut gated.open, changed_lines, |f| verdict::would_block(fail_on, f));
    let verdict = verdict::decide(&VerdictInputs {
        open: &gated.open,
        held_back: &gated.held_back,
        dismissed: &gated.dismissed,
        reports,
        fail_on: inputs.fail_on.as_ref(),
        coverage: inputs.coverage.as_ref(),
        tree_errors: &tree_errors,
        without_content: inputs.without_content,
    });
    let collect = |lists: fn(&Report) -> &Vec<String>, more: &[String]| {
        let mut all: Vec<String> = reports.iter().flat_map(lists).chain(more).cloned().collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    Synthesis {
        version: VERSION,
        verdict,
        residual_risks: collect(|r| &r.remarks.residual_risks, &gated.residual_risks),
        testing_gaps: collect(|r| &r.remarks.testing_gaps, &gated.testing_gaps),
        queues: queues(&gated.open),
        merges,
        counts: counts(reports, &gated),
        coverage: inputs.coverage.clone(),
        spent: inputs.spent.clone(),
        reports: summaries(reports),
        findings: gated.open,
        pre_existing: gated.pre_existing,
        held_back: gated.held_back,
        dismissed: gated.dismissed,
        resolved: past.resolved,
        unseen: past.unseen,
    }
}

/// Returns a report with a vote for each explicit requirement that a reviewer found unmet.
fn unmet_requirements(reports: &[Report]) -> Option<Report> {
    let unmet: std::collections::BTreeSet<&String> =
        reports.iter().flat_map(|report| &report.remarks.unmet_requirements).collect();
    if unmet.is_empty() {
        return None;
    }
    let mut made = Report::new(Reviewer::new("requirements", ReviewerKind::Rules));
    made.votes = unmet
        .into_iter()
        .map(|requirement| {
            let grade = Grade::in_scheme(Scheme::P, "P1").expect("P1 is a word of its scheme");
            let mut vote = Vote::new(format!("Requirement not met: {requirement}"), grade);
            vote.rule = Some("requirement/unmet".to_owned());
            vote.category = Some("acceptance_criteria".to_owned());
            vote.autofix_class = Some(AutofixClass::Manual);
            vote.owner = Some(Owner::DownstreamResolver);
            vote
        })
        .collect();
    Some(made)
}

fn queues(open: &[Finding]) -> FindingQueues {
    let ids = |wanted: FindingRoute| {
        open.iter().filter(|f| f.route == Some(wanted)).map(|f| f.id.clone()).collect()
    };
    FindingQueues {
        fixer: ids(FindingRoute::Fixer),
        tasks: ids(FindingRoute::Tasks),
        report: ids(FindingRoute::Report),
    }
}

fn counts(reports: &[Report], gated: &gate::GatedFindings) -> SynthesisCounts {
    let mut counts = SynthesisCounts {
        reports: reports.len(),
        usable_reports: reports.iter().filter(|report| report.unusable.is_none()).count(),
        votes: reports.iter().map(|report| report.votes.len()).sum(),
        rejected: reports.iter().map(|report| report.rejected.len()).sum(),
        findings: gated.open.len(),
        folded: gated.open.iter().filter(|finding| !finding.shown).count(),
        pre_existing: gated.pre_existing.len(),
        dismissed: gated.dismissed.len(),
        demoted: gated.demoted,
        leads: gated.held_back.iter().filter(|finding| finding.is_lead()).count(),
        ..SynthesisCounts::default()
    };
    for finding in &gated.open {
        let level = finding.grade.word_in_scheme(Scheme::Qa7).to_owned();
        *counts.by_severity.entry(level).or_default() += 1;
    }
    for finding in &gated.held_back {
        *counts.held_back.entry(finding.confidence.percent()).or_default() += 1;
    }
    counts
}

fn summaries(reports: &[Report]) -> Vec<ReportSummary> {
    let mut summaries: Vec<ReportSummary> = reports
        .iter()
        .map(|report| ReportSummary {
            reviewer: report.reviewer.name.clone(),
            kind: Some(report.reviewer.kind),
            votes: report.votes.len(),
            unusable: report.unusable.clone(),
            incomplete: report.incomplete.clone(),
            notes: report.remarks.notes.clone(),
            faults: faults(report),
            rejected: report.rejected.clone(),
            not_covered: report.remarks.not_covered.clone(),
            spent: report.spent.clone(),
        })
        .collect();
    summaries.sort_by(|a, b| a.reviewer.cmp(&b.reviewer));
    summaries
}

fn faults(report: &Report) -> Vec<VoteFaults> {
    report
        .votes
        .iter()
        .enumerate()
        .filter(|(_, vote)| !vote.faults.is_empty())
        .map(|(number, vote)| VoteFaults { vote: number, faults: vote.faults.clone() })
        .collect()
}
