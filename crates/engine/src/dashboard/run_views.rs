//! Runs as the dashboard shows them.

use std::collections::HashMap;

use assay_findings::finding::Finding;
use assay_findings::synthesis::Synthesis;
use assay_findings::template::TemplateText;
use assay_findings::trace::TraceStep;
use assay_review::run_context::{
    ContextLine, ContextLineKind, FindingContext, FixLines, RunContext,
};
use assay_review::runs::{self, RunError};
use assay_store::ledger::page::{RunEntry, RunFindingEntry};
use assay_store::ledger::record::RunCost;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding_views::FindingView;
use super::{Dashboard, DashboardError, parse_limit, parse_value};

/// The maximum number of findings of a run.
const MAX_FINDINGS: usize = 500;

/// A stored review.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunView {
    /// The id of the run.
    pub id: String,
    /// The time of the run.
    pub at: String,
    /// The reviewed change, in words.
    pub change: String,
    /// The branch or pull request; null if it is not known.
    pub branch: Option<String>,
    /// The head commit; null if it is not known.
    pub head: Option<String>,
    /// The verdict, in words.
    pub verdict: String,
    /// True if all required reviewers finished.
    pub complete: bool,
    /// The number of findings that the review reported.
    pub findings: u64,
    /// The cost of models.
    pub cost: RunCostView,
}

/// The cost of a run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct RunCostView {
    /// The number of model calls.
    pub calls: u64,
    /// The number of answers from the cache.
    pub kept_answers: u64,
    /// The number of input and output tokens.
    pub tokens: u64,
    /// The cost in US dollars; null if prices are unknown.
    pub usd: Option<f64>,
    /// True if the cost is an upper bound.
    pub at_most: bool,
}

impl From<RunCost> for RunCostView {
    fn from(cost: RunCost) -> RunCostView {
        let RunCost { calls, kept_answers, tokens, usd, at_most } = cost;
        RunCostView { calls, kept_answers, tokens, usd, at_most }
    }
}

impl From<RunEntry> for RunView {
    fn from(run: RunEntry) -> RunView {
        RunView {
            id: run.id,
            at: run.at.to_string(),
            change: run.change,
            branch: run.branch,
            head: run.head,
            verdict: run.verdict,
            complete: run.is_complete,
            findings: run.raised,
            cost: run.cost.into(),
        }
    }
}

/// The selection of runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunListQuery {
    /// The `next` of the previous page.
    #[schemars(regex(pattern = r"^[0-9]{1,13}\."))]
    pub after: Option<String>,
    /// The maximum number of runs, from 1 to 200. Default: 50.
    #[schemars(with = "Option<u32>", range(min = 1, max = 200))]
    pub limit: Option<String>,
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunListView {
    /// The runs, the newest first.
    pub runs: Vec<RunView>,
    /// The value of `after` for the next page; null on the last page.
    pub next: Option<String>,
}

/// A finding of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunFindingView {
    /// The finding, with its state now.
    #[serde(flatten)]
    pub finding: FindingView,
    /// The outcome in the run: raised, left_alone, held_back or pre_existing.
    pub outcome: String,
    /// The texts that all findings of this kind share; null if no template matches.
    pub template: Option<TemplateText>,
    /// The defect and its effect; null if the files of the run are gone.
    pub description: Option<String>,
    /// The suggested fix, in words; null if there is none.
    pub suggested_fix: Option<String>,
    /// The evidence of the votes: quotes of the code.
    pub evidence: Vec<String>,
    /// The way of a value through the code, from its source to its sink; empty if the finding is not
    /// about a value.
    pub trace: Vec<TraceStep>,
    /// The code around the finding, as the run saw it; empty if the run kept none.
    pub code: Vec<CodeLineView>,
    /// The exact fix as lines; null if there is none.
    pub fix: Option<FixView>,
}

/// A line of code around a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CodeLineView {
    /// The part of the line in the change: same, added, removed, or skipped for lines that are not
    /// kept.
    pub kind: String,
    /// The number of the line: before the change for a removed line, else after the change. For
    /// skipped lines, how many there are.
    pub number: u32,
    /// The text.
    pub text: String,
}

/// The lines that a fix replaces, with the lines around them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FixView {
    /// The number of the first line that is replaced.
    pub first: u32,
    /// The lines before it.
    pub before: Vec<String>,
    /// The lines that are replaced.
    pub removed: Vec<String>,
    /// The new lines; empty if the fix deletes lines.
    pub added: Vec<String>,
    /// The lines after the replaced ones.
    pub after: Vec<String>,
}

impl From<&ContextLine> for CodeLineView {
    fn from(line: &ContextLine) -> CodeLineView {
        let kind = match line.kind {
            ContextLineKind::Same => "same",
            ContextLineKind::Added => "added",
            ContextLineKind::Removed => "removed",
            ContextLineKind::Skipped => "skipped",
        };
        CodeLineView { kind: kind.to_owned(), number: line.number, text: line.text.clone() }
    }
}

impl From<&FixLines> for FixView {
    fn from(fix: &FixLines) -> FixView {
        let FixLines { first, before, removed, added, after } = fix.clone();
        FixView { first, before, removed, added, after }
    }
}

impl RunFindingView {
    /// Creates a view of a finding, with its texts and its code in the run if they are known.
    fn new(found: RunFindingEntry, kept: Option<&KeptFinding<'_>>) -> RunFindingView {
        let texts = kept.map(|kept| kept.finding);
        let context = kept.and_then(|kept| kept.context);
        let code = context.iter().flat_map(|context| &context.lines).map(CodeLineView::from);
        RunFindingView {
            outcome: found.outcome.as_str().to_owned(),
            finding: found.entry.into(),
            template: texts.and_then(|finding| finding.template.clone()),
            description: texts.map(|finding| finding.description.clone()),
            suggested_fix: texts.and_then(|finding| finding.suggested_fix.clone()),
            evidence: texts.map(|finding| finding.evidence.clone()).unwrap_or_default(),
            trace: texts.map(|finding| finding.trace.clone()).unwrap_or_default(),
            code: code.collect(),
            fix: context.and_then(|context| context.fix.as_ref()).map(FixView::from),
        }
    }
}

/// A finding in the files of a run, with its code if the run kept it.
struct KeptFinding<'r> {
    finding: &'r Finding,
    context: Option<&'r FindingContext>,
}

/// The files of a run.
struct KeptRun {
    synthesis: Synthesis,
    context: Option<RunContext>,
}

impl KeptRun {
    /// Returns all findings by their fingerprints.
    fn by_fingerprint(&self) -> HashMap<&str, KeptFinding<'_>> {
        let Synthesis { findings, pre_existing, held_back, dismissed, .. } = &self.synthesis;
        let all = findings.iter().chain(pre_existing).chain(held_back).chain(dismissed);
        let kept = all.map(|finding| {
            let context = self.context.as_ref().and_then(|run| run.of_finding(&finding.id));
            (finding.fingerprint.as_str(), KeptFinding { finding, context })
        });
        kept.collect()
    }
}

/// A run with its findings.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RunDetailView {
    /// The run.
    #[serde(flatten)]
    pub run: RunView,
    /// The findings that were present in the run, the worst first.
    pub present: Vec<RunFindingView>,
    /// True if the run has more findings than are listed.
    pub has_more: bool,
}

impl Dashboard {
    /// Returns the runs that a query selects.
    pub fn runs(&self, query: &RunListQuery) -> Result<RunListView, DashboardError> {
        let limit = parse_limit(query.limit.as_deref())?;
        let after = parse_value("after", query.after.as_deref())?;
        let page = self.read_ledger(|ledger, _| ledger.run_page(after.as_ref(), limit))?;
        let Some(page) = page else { return Ok(RunListView { runs: Vec::new(), next: None }) };
        let runs = page.entries.into_iter().map(RunView::from).collect();
        Ok(RunListView { runs, next: page.next.map(|next| next.to_string()) })
    }

    /// Returns a run with its findings.
    pub fn run(&self, id: &str) -> Result<RunDetailView, DashboardError> {
        let found = self.read_ledger(|ledger, day| {
            let Some(run) = ledger.run(id)? else { return Ok(None) };
            Ok(Some((run, ledger.run_findings(id, day, MAX_FINDINGS + 1)?)))
        })?;
        let (run, mut findings) = found.flatten().ok_or_else(|| {
            DashboardError::Unknown(format!("unknown run {id:?}: the ledger has no such run"))
        })?;
        let has_more = findings.len() > MAX_FINDINGS;
        findings.truncate(MAX_FINDINGS);
        let kept = self.kept_run(id)?;
        let texts = kept.as_ref().map(KeptRun::by_fingerprint).unwrap_or_default();
        let present = findings.into_iter().map(|found| {
            let kept = texts.get(found.entry.fingerprint.as_str());
            RunFindingView::new(found, kept)
        });
        Ok(RunDetailView { run: run.into(), present: present.collect(), has_more })
    }

    /// Returns the files of a run; `None` if they are gone, since only the newest runs are kept.
    /// Fails if the files are not those that assay wrote.
    fn kept_run(&self, id: &str) -> Result<Option<KeptRun>, DashboardError> {
        let failed = |error: RunError| DashboardError::Failed(error.into());
        match runs::find(&self.environment.state_of(&self.root), Some(id)) {
            Ok(folder) => Ok(Some(KeptRun {
                synthesis: runs::synthesis(&folder).map_err(failed)?,
                context: runs::context(&folder).map_err(failed)?,
            })),
            Err(RunError::Unknown { .. } | RunError::NoneYet) => Ok(None),
            Err(error) => Err(failed(error)),
        }
    }
}
