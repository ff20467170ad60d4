//! Findings as the dashboard shows them.

use assay_base::clock::Deadline;
use assay_findings::grade::{Grade, SEVEN_LEVELS};
use assay_findings::template::TemplateText;
use assay_findings::trace::TraceStep;
use assay_store::ledger::decision::Decision;
use assay_store::ledger::page::{FindingPage, FindingPageRequest};
use assay_store::ledger::query::{FindingEntry, FindingFilter, History, IdMatch, RunOutcome};
use assay_store::ledger::{FindingState, Ledger};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::shared_ledger::LedgerAnswer;
use super::{Dashboard, DashboardError, SINCE_PATTERN, parse_limit, parse_value};
use crate::finding_ledger::HistoryStart;

/// The maximum number of runs in the history of a finding; the newest are shown.
const MAX_LOOKS: usize = 100;

/// A finding in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingView {
    /// The id that the newest run gave the finding.
    pub id: String,
    /// The state: open, gone or dismissed.
    pub state: String,
    /// The severity, as the review wrote it.
    pub severity: String,
    /// The severity as a number, from 0 (worst) to 6.
    pub impact: u8,
    /// The file; null for the change as a whole.
    pub file: Option<String>,
    /// The line when the finding was last seen; null if it has no line.
    pub line: Option<u32>,
    /// The title that the reviewer gave the finding.
    pub title: String,
    /// The title that all findings of this kind share; null if no template matches.
    pub template_title: Option<String>,
    /// The category.
    pub category: String,
    /// The rule that found the defect; null if no rule did.
    pub rule: Option<String>,
    /// The reviewers that ever voted for the finding.
    pub reviewers: Vec<String>,
    /// The time of the first run that saw the finding.
    pub first_seen: String,
    /// The time of the last run that saw the finding.
    pub last_seen: String,
    /// The time of the last run that checked the finding.
    pub last_look: String,
}

impl FindingView {
    /// Returns the title for a heading: that of the template, else that of the reviewer.
    pub fn heading(&self) -> &str {
        self.template_title.as_deref().unwrap_or(&self.title)
    }

    /// Returns the file and the line of the finding, or `the change`.
    pub fn place(&self) -> String {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            (Some(file), None) => file.clone(),
            (None, _) => "the change".to_owned(),
        }
    }
}

impl From<FindingEntry> for FindingView {
    fn from(entry: FindingEntry) -> FindingView {
        FindingView {
            id: entry.id,
            state: entry.state.as_str().to_owned(),
            severity: entry.severity,
            impact: entry.impact,
            file: entry.file,
            line: entry.line,
            title: entry.title,
            template_title: entry.template_title,
            category: entry.category,
            rule: entry.rule,
            reviewers: entry.reviewers,
            first_seen: entry.first_seen.to_string(),
            last_seen: entry.last_seen.to_string(),
            last_look: entry.last_look.to_string(),
        }
    }
}

/// The selection of findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FindingListQuery {
    /// Only findings in this state: open, gone, dismissed or all. Default: open.
    #[schemars(extend("enum" = ["open", "gone", "dismissed", "all"]))]
    pub state: Option<String>,
    /// Only findings of this severity or worse, such as `HIGH`.
    #[schemars(extend("enum" = SEVEN_LEVELS))]
    pub severity: Option<String>,
    /// Only findings of this category.
    #[schemars(length(min = 1))]
    pub category: Option<String>,
    /// Only findings of this file.
    #[schemars(length(min = 1))]
    pub file: Option<String>,
    /// Only findings that this reviewer voted for.
    #[schemars(length(min = 1))]
    pub reviewer: Option<String>,
    /// Only findings first seen since a day (`2026-12-31`), or within a time (`7d`, `2w`, `12h`).
    #[schemars(regex(pattern = SINCE_PATTERN))]
    pub since: Option<String>,
    /// The `next` of the previous page.
    #[schemars(regex(pattern = r"^[0-6]\.[0-9]{1,13}\.[0-9]{1,15}$"))]
    pub after: Option<String>,
    /// The maximum number of findings, from 1 to 200. Default: 50.
    #[schemars(with = "Option<u32>", range(min = 1, max = 200))]
    pub limit: Option<String>,
}

/// A page of findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingListView {
    /// The findings, the worst first, then the oldest.
    pub findings: Vec<FindingView>,
    /// The value of `after` for the next page; null on the last page.
    pub next: Option<String>,
}

impl FindingListView {
    fn new(page: Option<FindingPage>) -> FindingListView {
        let Some(page) = page else { return FindingListView { findings: Vec::new(), next: None } };
        let findings = page.entries.into_iter().map(FindingView::from).collect();
        FindingListView { findings, next: page.next.map(|next| next.to_string()) }
    }
}

/// A finding with its history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingDetailView {
    /// The finding.
    #[serde(flatten)]
    pub finding: FindingView,
    /// The texts that all findings of this kind share; null if no template matches.
    pub template: Option<TemplateText>,
    /// The defect and its effect.
    pub description: String,
    /// The suggested fix, in words; null if there is none.
    pub suggested_fix: Option<String>,
    /// The evidence of the votes: quotes of the code.
    pub evidence: Vec<String>,
    /// The way of a value through the code, from its source to its sink; empty if the finding is not
    /// about a value.
    pub trace: Vec<TraceStep>,
    /// The outcome in the newest runs, the newest first.
    pub looks: Vec<LookView>,
    /// The dismissals, the newest first.
    pub decisions: Vec<DecisionView>,
}

/// The outcome of a finding in one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LookView {
    /// The id of the run.
    pub run: String,
    /// The time of the run.
    pub at: String,
    /// The reviewed change, in words.
    pub change: String,
    /// The outcome: raised, left_alone, held_back, pre_existing or absent.
    pub outcome: String,
    /// The reason, if the finding was dismissed by the baseline or a comment; null otherwise.
    pub why: Option<String>,
    /// The reviewers that voted for the finding in the run, with their confidence in per cent.
    pub votes: Vec<VoteView>,
}

/// The vote of a reviewer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VoteView {
    /// The name of the reviewer.
    pub reviewer: String,
    /// The severity, as the reviewer wrote it.
    pub severity: String,
    /// The confidence in per cent; null if the reviewer gave none.
    pub confidence: Option<u8>,
}

/// A dismissal of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DecisionView {
    /// The user who dismissed the finding.
    pub by: String,
    /// The reason.
    pub reason: String,
    /// The time of the dismissal.
    pub at: String,
    /// The last day of the dismissal; null for no end.
    pub until: Option<String>,
    /// The time at which the dismissal was revoked or replaced; null while it is in force.
    pub ended: Option<String>,
}

impl From<RunOutcome> for LookView {
    fn from(look: RunOutcome) -> LookView {
        let votes = look.votes.into_iter().map(|vote| VoteView {
            reviewer: vote.reviewer,
            severity: vote.severity,
            confidence: vote.confidence,
        });
        LookView {
            run: look.run,
            at: look.at.to_string(),
            change: look.change,
            outcome: look.outcome.as_str().to_owned(),
            why: look.why,
            votes: votes.collect(),
        }
    }
}

impl From<Decision> for DecisionView {
    fn from(decision: Decision) -> DecisionView {
        DecisionView {
            by: decision.by,
            reason: decision.reason,
            at: decision.at.to_string(),
            until: decision.until,
            ended: decision.ended.map(|ended| ended.to_string()),
        }
    }
}

impl From<History> for FindingDetailView {
    fn from(history: History) -> FindingDetailView {
        let text = |key: &str| history.finding.get(key).and_then(Value::as_str).map(str::to_owned);
        let evidence = history.finding.get("evidence").and_then(Value::as_array);
        let evidence = evidence.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
        let (description, suggested_fix) = (text("description"), text("suggested_fix"));
        let looks = history.looks.into_iter().rev().take(MAX_LOOKS);
        let template = history.finding.get("template").cloned();
        let trace = history.finding.get("trace").cloned();
        FindingDetailView {
            template: template.and_then(|template| serde_json::from_value(template).ok()),
            description: description.unwrap_or_default(),
            suggested_fix,
            evidence: evidence.collect(),
            trace: trace.and_then(|trace| serde_json::from_value(trace).ok()).unwrap_or_default(),
            looks: looks.map(LookView::from).collect(),
            decisions: history.decisions.into_iter().rev().map(DecisionView::from).collect(),
            finding: history.entry.into(),
        }
    }
}

impl Dashboard {
    /// Returns the findings that a query selects.
    pub fn findings(&self, query: &FindingListQuery) -> Result<FindingListView, DashboardError> {
        let request = self.page_request(query)?;
        let page = self.read_ledger(|ledger, day| ledger.finding_page(&request, day))?;
        Ok(FindingListView::new(page))
    }

    /// Returns the findings that a query selects; `None` if the ledger is not checked by the
    /// deadline.
    pub fn findings_by(
        &self,
        query: &FindingListQuery,
        until: Deadline,
    ) -> Result<Option<FindingListView>, DashboardError> {
        let request = self.page_request(query)?;
        let read = |ledger: &Ledger, day: &str| ledger.finding_page(&request, day);
        Ok(match self.read_ledger_by(until, read)? {
            LedgerAnswer::Value(page) => Some(FindingListView::new(page)),
            LedgerAnswer::NotReady => None,
        })
    }

    fn page_request(&self, query: &FindingListQuery) -> Result<FindingPageRequest, DashboardError> {
        let since: Option<HistoryStart> = parse_value("since", query.since.as_deref())?;
        let now = self.environment.clock().now();
        let from = since.map(|since| since.moment(now)).transpose();
        let from =
            from.map_err(|error| DashboardError::Invalid(format!("invalid `since`: {error}")))?;
        let named = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        Ok(FindingPageRequest {
            filter: FindingFilter {
                state: parse_state(query.state.as_deref())?,
                impact: parse_severity(query.severity.as_deref())?,
                category: named(&query.category),
                reviewer: named(&query.reviewer),
                from,
                until: None,
            },
            file: named(&query.file),
            after: parse_value("after", query.after.as_deref())?,
            limit: parse_limit(query.limit.as_deref())?,
        })
    }

    /// Returns a finding with its history, by its id or the beginning of the id.
    pub fn finding(&self, id: &str) -> Result<FindingDetailView, DashboardError> {
        let unknown = || DashboardError::Unknown(format!("unknown finding {id:?}"));
        let found = self.read_ledger(|ledger, day| match ledger.find_by_id(id)? {
            IdMatch::One(key) => ledger.history(key, day).map(Some),
            IdMatch::None | IdMatch::Ambiguous(_) => Ok(None),
        })?;
        found.flatten().map(FindingDetailView::from).ok_or_else(unknown)
    }
}

/// Parses a state of findings; `None` for all states.
fn parse_state(text: Option<&str>) -> Result<Option<FindingState>, DashboardError> {
    match text.unwrap_or("open") {
        "open" | "" => Ok(Some(FindingState::Open)),
        "gone" => Ok(Some(FindingState::Gone)),
        "dismissed" => Ok(Some(FindingState::Dismissed)),
        "all" => Ok(None),
        other => Err(DashboardError::Invalid(format!(
            "invalid `state` {other:?}: expected open, gone, dismissed or all"
        ))),
    }
}

/// Parses a severity as the number of its impact, from 0 (worst) to 6.
fn parse_severity(text: Option<&str>) -> Result<Option<u8>, DashboardError> {
    let Some(word) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    match Grade::is_word(word) {
        true => Ok(Some(Grade::from_word(word).impact().level())),
        false => Err(DashboardError::Invalid(format!(
            "invalid `severity` {word:?}: expected a word such as {}",
            SEVEN_LEVELS.join(", ")
        ))),
    }
}
