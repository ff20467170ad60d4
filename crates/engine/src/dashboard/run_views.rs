//! Runs as the dashboard shows them.

use std::collections::HashMap;

use assay_findings::finding::Finding;
use assay_findings::synthesis::Synthesis;
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
    /// The defect and its effect; null if the files of the run are gone.
    pub description: Option<String>,
    /// The suggested fix, in words; null if there is none.
    pub suggested_fix: Option<String>,
    /// The evidence of the votes: quotes of the code.
    pub evidence: Vec<String>,
}

impl RunFindingView {
    /// Creates a view of a finding, with its texts in the run if they are known.
    fn new(found: RunFindingEntry, texts: Option<&Finding>) -> RunFindingView {
        RunFindingView {
            outcome: found.outcome.as_str().to_owned(),
            finding: found.entry.into(),
            description: texts.map(|finding| finding.description.clone()),
            suggested_fix: texts.and_then(|finding| finding.suggested_fix.clone()),
            evidence: texts.map(|finding| finding.evidence.clone()).unwrap_or_default(),
        }
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
        let synthesis = self.synthesis(id)?;
        let texts = synthesis.as_ref().map(texts_by_fingerprint).unwrap_or_default();
        let present = findings.into_iter().map(|found| {
            let texts = texts.get(found.entry.fingerprint.as_str()).copied();
            RunFindingView::new(found, texts)
        });
        Ok(RunDetailView { run: run.into(), present: present.collect(), has_more })
    }

    /// Returns the result of a run; `None` if its files are gone, since only the newest runs are
    /// kept. Fails if the files are not those that assay wrote.
    fn synthesis(&self, id: &str) -> Result<Option<Synthesis>, DashboardError> {
        match runs::find(&self.environment.state_of(&self.root), Some(id)) {
            Ok(folder) => Ok(Some(runs::synthesis(&folder).map_err(anyhow::Error::from)?)),
            Err(RunError::Unknown { .. } | RunError::NoneYet) => Ok(None),
            Err(error) => Err(DashboardError::Failed(error.into())),
        }
    }
}

/// Returns all findings of a result by their fingerprints.
fn texts_by_fingerprint(synthesis: &Synthesis) -> HashMap<&str, &Finding> {
    let Synthesis { findings, pre_existing, held_back, dismissed, .. } = synthesis;
    let all = findings.iter().chain(pre_existing).chain(held_back).chain(dismissed);
    all.map(|finding| (finding.fingerprint.as_str(), finding)).collect()
}
