//! All reports together: [`synthesize`] runs ground → merge → gate → verdict.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::coverage::Coverage;
use crate::finding::{Finding, Route};
use crate::gate::{self, Mode};
use crate::grade::{Grade, Scheme};
use crate::ground::{ChangedLines, Ground, Tree, TreeError};
use crate::identity::{Day, Dismissal, Memory, Past, Resolved, Suppression};
use crate::incomplete::IncompleteReason;
use crate::merge::{self, Merge};
use crate::read::Rejected;
use crate::report::{Report, Reviewer, ReviewerKind};
use crate::shown::ShownLimit;
use crate::spent::Spent;
use crate::validation::{self, Opinion};
use crate::verdict::{self, Evidence, Verdict, WithoutContent};
use crate::vote::{AutofixClass, Owner, Vote};
use crate::worth::Readers;

/// The version of a synthesis as JSON.
pub const VERSION: u32 = 1;

/// What a synthesis takes into account besides the reports.
#[derive(Default)]
pub struct Circumstances<'a> {
    /// The tree after the change.
    pub tree: Option<&'a dyn Tree>,
    /// What of the trees could not be read before the synthesis.
    pub tree_errors: Vec<TreeError>,
    /// The lines that the change touched.
    pub changed: Option<&'a ChangedLines>,
    /// How the review is run.
    pub mode: Mode,
    /// The line from which findings block, where another than the usual one is wanted.
    pub fail_on: Option<Grade>,
    /// What was known before.
    pub memory: Option<Memory<'a>>,
    /// What was dismissed.
    pub dismissals: &'a [Dismissal],
    /// Which findings comments in the code ask to leave alone.
    pub suppressions: &'a [Suppression],
    /// How much of the change somebody looked at, where that is known.
    pub coverage: Option<Coverage>,
    /// What a change without reviewable content comes to.
    pub without_content: WithoutContent,
    /// How many findings are shown; the others are folded.
    pub shown: ShownLimit,
    /// What a second look at findings came to.
    pub opinions: &'a [Opinion],
    /// What the models of the review took, where any were asked.
    pub spent: Option<Spent>,
    /// Today, for dismissals that end; without it, none of those holds.
    pub today: Option<Day>,
}

impl Circumstances<'_> {
    /// Says why a finding is not to be dealt with, if somebody decided so.
    fn why_dismissed(&self, finding: &Finding) -> Option<String> {
        let dismissal = self.dismissals.iter().find(|dismissal| {
            let holds = match &self.today {
                Some(today) => dismissal.holds_on(today),
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

/// All reports merged, grounded, gated and routed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Synthesis {
    /// The version of this form.
    pub version: u32,
    /// Whether the change is ready.
    pub verdict: Verdict,
    /// What is open, the worst first.
    pub findings: Vec<Finding>,
    /// What was there before the change; outside the verdict.
    pub pre_existing: Vec<Finding>,
    /// What was not sure enough.
    pub held_back: Vec<Finding>,
    /// What somebody decided to leave.
    #[serde(default)]
    pub dismissed: Vec<Finding>,
    /// What was there the last time and is gone.
    #[serde(default)]
    pub resolved: Vec<Resolved>,
    /// What was there the last time and nobody could look for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Resolved>,
    /// Risks that nobody could confirm.
    pub residual_risks: Vec<String>,
    /// Tests that are missing.
    pub testing_gaps: Vec<String>,
    /// Who gets which finding.
    pub queues: Queues,
    /// Which votes were taken for one defect, and why.
    pub merges: Vec<Merge>,
    /// How much there was of everything.
    pub counts: Counts,
    /// How much of the change somebody looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// What the models of the review took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
    /// What each reviewer returned, by name.
    pub reports: Vec<ReportSummary>,
}

/// The findings' ids, by where they go.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Queues {
    /// To the fixer, now.
    pub fixer: Vec<String>,
    /// Into fix tasks.
    pub tasks: Vec<String>,
    /// Into the report only.
    pub report: Vec<String>,
}

/// How much there was of everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Reports, usable or not.
    pub reports: usize,
    /// Reports that could be used.
    pub usable_reports: usize,
    /// Votes in them.
    pub votes: usize,
    /// Pieces of them that could not be read.
    pub rejected: usize,
    /// Open findings.
    pub findings: usize,
    /// Open findings that are folded.
    #[serde(default)]
    pub folded: usize,
    /// Open findings by severity, in the seven levels.
    pub by_severity: BTreeMap<String, usize>,
    /// Findings that were there before.
    pub pre_existing: usize,
    /// Findings that were dismissed.
    pub dismissed: usize,
    /// Advisory findings that became gaps and risks.
    pub demoted: usize,
    /// Findings that were held back, by their confidence.
    pub held_back: BTreeMap<u8, usize>,
}

/// What one reviewer returned, in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReportSummary {
    /// Who.
    pub reviewer: String,
    /// Of what kind it is, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<ReviewerKind>,
    /// How many votes.
    pub votes: usize,
    /// Why it says nothing, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unusable: Option<String>,
    /// Why the report may have left out a finding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<IncompleteReason>,
    /// What was mended or missing in its form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What was wrong with single votes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<VoteFaults>,
    /// What of it could not be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<Rejected>,
    /// What it did not look at.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_covered: Vec<String>,
    /// What it cost, where a model was asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
}

/// What was wrong with one vote's form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct VoteFaults {
    /// Which vote, counted from 0.
    pub vote: usize,
    /// What was wrong.
    pub faults: Vec<String>,
}

/// Merges, grounds, gates and routes all reports, and decides.
pub fn synthesize(reports: &[Report], around: &Circumstances<'_>) -> Synthesis {
    let requirements = unmet_requirements(reports);
    let ground = Ground::new(around.tree, around.changed);
    let votes = reports.iter().chain(&requirements).enumerate().flat_map(|(number, report)| {
        let ground = &ground;
        report
            .votes
            .iter()
            .enumerate()
            .map(move |(at, vote)| ground.check(vote, &report.reviewer, (number, at)))
    });
    let (mut findings, merges) = merge::merge(votes.collect(), &Readers::of(reports));
    for finding in &mut findings {
        validation::validate(finding, around.opinions, &ground);
    }
    let everybody_looked = !reports.is_empty() && reports.iter().all(Report::is_whole);
    let past = match &around.memory {
        Some(memory) => memory.compare(&mut findings, everybody_looked),
        None => Past::default(),
    };
    let mut gated = gate::gate(findings, around.mode, |finding| around.why_dismissed(finding));
    let mut tree_errors = around.tree_errors.clone();
    tree_errors.extend(ground.errors());
    tree_errors.sort_unstable();
    tree_errors.dedup();
    let fail_on = around.fail_on.as_ref();
    let changed_lines = around.changed.map(ChangedLines::count);
    around.shown.fold(&mut gated.open, changed_lines, |f| verdict::would_block(fail_on, f));
    let verdict = verdict::decide(&Evidence {
        open: &gated.open,
        held_back: &gated.held_back,
        dismissed: &gated.dismissed,
        reports,
        fail_on: around.fail_on.as_ref(),
        coverage: around.coverage.as_ref(),
        tree_errors: &tree_errors,
        without_content: around.without_content,
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
        coverage: around.coverage.clone(),
        spent: around.spent.clone(),
        reports: summaries(reports),
        findings: gated.open,
        pre_existing: gated.pre_existing,
        held_back: gated.held_back,
        dismissed: gated.dismissed,
        resolved: past.resolved,
        unseen: past.unseen,
    }
}

/// Makes findings of the explicit requirements that reviewers found unmet.
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

fn queues(open: &[Finding]) -> Queues {
    let ids = |wanted: Route| {
        open.iter().filter(|f| f.route == Some(wanted)).map(|f| f.id.clone()).collect()
    };
    Queues { fixer: ids(Route::Fixer), tasks: ids(Route::Tasks), report: ids(Route::Report) }
}

fn counts(reports: &[Report], gated: &gate::Gated) -> Counts {
    let mut counts = Counts {
        reports: reports.len(),
        usable_reports: reports.iter().filter(|report| report.unusable.is_none()).count(),
        votes: reports.iter().map(|report| report.votes.len()).sum(),
        rejected: reports.iter().map(|report| report.rejected.len()).sum(),
        findings: gated.open.len(),
        folded: gated.open.iter().filter(|finding| !finding.shown).count(),
        pre_existing: gated.pre_existing.len(),
        dismissed: gated.dismissed.len(),
        demoted: gated.demoted,
        ..Counts::default()
    };
    for finding in &gated.open {
        let level = finding.grade.in_words_of(Scheme::Qa7).to_owned();
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
