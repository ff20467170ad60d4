//! The content of the dashboard and the HTTP API of `assay serve`: [`Dashboard`].
//!
//! The views are plain values with JSON schemas, so that pages and the API show the same:
//! [`task_views`] has queues, agents and tasks, [`run_views`] runs, [`finding_views`] findings,
//! [`loop_list`] validation loops, [`gate_views`] quality gates, [`calibration`] scores of evaluations, and `statistics_cache` the statistics
//! of the ledger. [`actions`] changes tasks and findings and records each change in an
//! [`audit_log`].
//!
//! A server calls this from many requests: the ledger is opened once and read page by page
//! (`shared_ledger`), statistics are computed once for each change of the ledger, and concurrent
//! requests share slow reads (`shared_read`). [`Dashboard::view`] waits only until a deadline: a part
//! that is not there by then is missing; statistics are never old. This module knows no HTTP.

pub mod actions;
pub mod audit_log;
pub mod calibration;
pub mod finding_views;
pub mod gate_views;
pub mod loop_list;
pub mod run_views;
mod shared_ledger;
mod shared_read;
mod statistics_cache;
pub mod task_views;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use assay_base::clock::Deadline;
use assay_review::ledger::{LedgerStamp, LedgerUseError};
use assay_store::ledger::{Ledger, LedgerError};
use assay_store::queue::{Queue, QueueError};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::audit_log::AuditLog;
use self::shared_ledger::{LedgerAnswer, SharedLedger};
use self::shared_read::SharedRead;
use self::statistics_cache::{StatisticsCache, StatisticsKey};
use self::task_views::WorkOverview;
use crate::dates::today;
use crate::environment::Environment;
use crate::finding_statistics::{
    FindingGrouping, LedgerStatistics, MissingCodeOwners, StatisticsRequest,
};

pub use self::statistics_cache::DashboardStatistics;

/// The default number of entries on a page.
pub const DEFAULT_LIMIT: usize = 50;

/// The maximum number of entries on a page.
pub const MAX_LIMIT: usize = 200;

/// The pattern of a day such as `2026-12-31`, or a time such as `7d`, in descriptions of queries.
const SINCE_PATTERN: &str = r"^([0-9]{1,4}[hdw]|[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8])))$";

/// The maximum age of the work on a page, if the queue cannot be read by the deadline of the page.
/// The mark of the page is that of the older work, so that the page follows.
const MAX_WORK_AGE: Duration = Duration::from_secs(10);

/// The reason that a request to the dashboard has no result.
#[derive(Debug)]
pub enum DashboardError {
    /// The request names an unknown task, run, finding, agent, loop or gate.
    Unknown(String),
    /// A value of the request is invalid.
    Invalid(String),
    /// The state of the object, or of the repository, does not allow the request.
    Conflict(String),
    /// The queue, the ledger or a file cannot be used now.
    Failed(anyhow::Error),
}

impl fmt::Display for DashboardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            DashboardError::Unknown(text)
            | DashboardError::Invalid(text)
            | DashboardError::Conflict(text) => text.clone(),
            DashboardError::Failed(error) => format!("{error:#}"),
        };
        f.write_str(&assay_rules::redact(&text))
    }
}

impl std::error::Error for DashboardError {}

impl From<anyhow::Error> for DashboardError {
    fn from(error: anyhow::Error) -> DashboardError {
        match error.is::<MissingCodeOwners>() {
            true => DashboardError::Conflict(error.to_string()),
            false => DashboardError::Failed(error),
        }
    }
}

impl From<LedgerError> for DashboardError {
    fn from(error: LedgerError) -> DashboardError {
        DashboardError::Failed(error.into())
    }
}

impl From<LedgerUseError> for DashboardError {
    fn from(error: LedgerUseError) -> DashboardError {
        DashboardError::Failed(error.into())
    }
}

impl From<QueueError> for DashboardError {
    fn from(error: QueueError) -> DashboardError {
        match error {
            QueueError::Unknown(_) => DashboardError::Unknown(error.to_string()),
            QueueError::WrongStatus { .. } => DashboardError::Conflict(error.to_string()),
            error => DashboardError::Failed(error.into()),
        }
    }
}

/// The state of the repository and its queue, for pages and API requests.
pub struct Dashboard {
    root: PathBuf,
    environment: Environment,
    queue: Arc<dyn Queue>,
    ledger: Arc<SharedLedger>,
    statistics: Arc<StatisticsCache>,
    statistics_read: SharedRead<Arc<DashboardStatistics>>,
    work_read: SharedRead<Arc<WorkOverview>>,
    /// The state of the ledger that was prepared last.
    prepared: Mutex<Option<StatisticsKey>>,
    audit: AuditLog,
    /// The name of the user of the server, for the record of decisions.
    user: String,
}

/// The selection of statistics.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StatisticsQuery {
    /// The grouping: category, file, folder, severity, reviewer, rule or author-team. Default: the
    /// overview.
    #[schemars(extend("enum" = FindingGrouping::ALL.map(FindingGrouping::as_str)))]
    pub by: Option<String>,
    /// Only findings first reported, and reviews, since a day (`2026-12-31`) or within a time
    /// (`7d`, `2w`, `12h`). Default: the whole ledger.
    #[schemars(regex(pattern = SINCE_PATTERN))]
    pub since: Option<String>,
}

/// A mark of the state of the queue and the ledger, which changes with that state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StateMark(pub String);

impl StateMark {
    /// Creates the mark of a state. `is_ready` says if the ledger is checked, and if its statistics
    /// are computed.
    fn new(work: Option<&WorkOverview>, stamp: &LedgerStamp, is_ready: (bool, bool)) -> StateMark {
        let queues = work.map(|work| &work.queues);
        let agents = work.iter().flat_map(|work| &work.agents);
        let agents: Vec<_> = agents
            .map(|agent| (&agent.id, &agent.state, &agent.task, agent.alive, agent.paused))
            .collect();
        let text = format!("{queues:?} {agents:?} {stamp:?} {is_ready:?}");
        StateMark(assay_base::hash::short_hash(text.as_bytes(), 16))
    }
}

/// The state as a page shows it. A part is `None` if it was not read by the deadline.
#[derive(Debug)]
pub struct DashboardView {
    /// The mark of the state.
    pub mark: StateMark,
    /// The queues, the agents and the first tasks.
    pub work: Option<Arc<WorkOverview>>,
    /// The statistics of the ledger, or the error of the ledger.
    pub statistics: Result<Option<Arc<DashboardStatistics>>, DashboardError>,
}

impl Dashboard {
    /// Creates the dashboard of the work tree at `root`. Fails if there is no place for the audit
    /// log.
    pub fn new(
        environment: &Environment,
        root: &Path,
        queue: Arc<dyn Queue>,
        user: String,
    ) -> anyhow::Result<Dashboard> {
        let state = environment.state_of(root);
        let audit = AuditLog::new(state.home_folder("serve")?.join("audit.jsonl"));
        let ledger = Arc::new(SharedLedger::new(state));
        let statistics = Arc::new(StatisticsCache::new(environment, root, Arc::clone(&ledger)));
        let (computed, counted) = (Arc::clone(&statistics), Arc::clone(&queue));
        Ok(Dashboard {
            root: root.to_owned(),
            environment: environment.clone(),
            queue,
            ledger,
            statistics,
            statistics_read: SharedRead::new(move || computed.current()),
            work_read: SharedRead::new(move || Ok(Arc::new(WorkOverview::read(&*counted)?))),
            prepared: Mutex::default(),
            audit,
            user,
        })
    }

    /// Returns the name of the repository's folder.
    pub fn name(&self) -> String {
        let name = self.root.canonicalize().ok();
        let name = name.as_deref().unwrap_or(&self.root).file_name();
        name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        self.environment.clock().now()
    }

    /// Returns the name of the user of the server, under which decisions are recorded.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Returns the statistics of the whole ledger, computed after its last change.
    pub fn statistics(&self) -> Result<Arc<DashboardStatistics>, DashboardError> {
        Ok(self.statistics.current()?)
    }

    /// Computes the statistics that a query selects.
    pub fn statistics_of(
        &self,
        query: &StatisticsQuery,
    ) -> Result<LedgerStatistics, DashboardError> {
        let since = parse_value("since", query.since.as_deref())?;
        let request = StatisticsRequest { since, by: parse_grouping(query.by.as_deref())? };
        let since = request.since_moment(&self.environment);
        since.map_err(|error| DashboardError::Invalid(format!("invalid `since`: {error}")))?;
        Ok(self.statistics.compute(&request)?)
    }

    /// Returns a mark that differs after each change of the queue, the agents or the ledger, and
    /// once the ledger is checked or its statistics are computed.
    pub fn mark(&self) -> Result<StateMark, DashboardError> {
        let stamp = self.ledger.stamp();
        let work = self.work_read.get(None)?;
        let is_ready = (self.ledger.is_ready(), self.statistics.cached().is_some());
        Ok(StateMark::new(work.as_deref(), &stamp, is_ready))
    }

    /// Returns the state as a page shows it. Parts that are not read by the deadline are missing;
    /// the mark differs once they are there.
    pub fn view(&self, until: Deadline) -> Result<DashboardView, DashboardError> {
        // The stamp is read first: a change in between causes one refresh too many, and none too few.
        let stamp = self.ledger.stamp();
        let work = self.work_read.get_or_recent(until, MAX_WORK_AGE)?;
        let ledger = self.ledger.wait(until);
        // The check may change the stamp of the log.
        let stamp = if matches!(ledger, Ok(true)) { self.ledger.stamp() } else { stamp };
        let statistics = match &ledger {
            // The error of the ledger is that of its statistics.
            Err(error) => Err(DashboardError::Failed(anyhow::anyhow!(error.to_string()))),
            Ok(_) => self.statistics_by(until),
        };
        let is_ready = (ledger.unwrap_or(false), matches!(statistics, Ok(Some(_))));
        let mark = StateMark::new(work.as_deref(), &stamp, is_ready);
        Ok(DashboardView { mark, work, statistics })
    }

    /// Checks the ledger and computes its statistics in the background, if they have changed since
    /// the last call.
    pub fn prepare(&self) {
        let key = self.statistics.key();
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if prepared.as_ref() == Some(&key) {
            return;
        }
        self.ledger.prepare();
        self.statistics_read.begin();
        *prepared = Some(key);
    }

    fn statistics_by(
        &self,
        until: Deadline,
    ) -> Result<Option<Arc<DashboardStatistics>>, DashboardError> {
        match self.statistics.cached() {
            Some(statistics) => Ok(Some(statistics)),
            None => Ok(self.statistics_read.get(Some(until))?),
        }
    }

    /// Reads the ledger; `None` if there is no ledger.
    fn read_ledger<T>(
        &self,
        read: impl FnOnce(&Ledger, &str) -> Result<T, LedgerError>,
    ) -> Result<Option<T>, DashboardError> {
        let day = self.day()?;
        self.ledger.read(|ledger| read(ledger, &day))
    }

    /// Reads the ledger, unless its check does not end by the deadline.
    fn read_ledger_by<T>(
        &self,
        until: Deadline,
        read: impl FnOnce(&Ledger, &str) -> Result<T, LedgerError>,
    ) -> Result<LedgerAnswer<T>, DashboardError> {
        let day = self.day()?;
        self.ledger.read_by(Some(until), |ledger| read(ledger, &day))
    }

    fn day(&self) -> anyhow::Result<String> {
        let day = today(self.environment.clock()).map(String::from);
        day.context("cannot determine the current date")
    }
}

fn parse_grouping(text: Option<&str>) -> Result<Option<FindingGrouping>, DashboardError> {
    let Some(word) = text.filter(|text| !text.is_empty()) else { return Ok(None) };
    let known = FindingGrouping::ALL.into_iter().find(|by| by.as_str() == word);
    known.map(Some).ok_or_else(|| {
        let words = FindingGrouping::ALL.map(FindingGrouping::as_str).join(", ");
        DashboardError::Invalid(format!("invalid `by` {word:?}: expected one of {words}"))
    })
}

/// Parses the number of entries on a page, from 1 to [`MAX_LIMIT`].
fn parse_limit(text: Option<&str>) -> Result<usize, DashboardError> {
    let Some(text) = text else { return Ok(DEFAULT_LIMIT) };
    match text.parse() {
        Ok(limit @ 1..=MAX_LIMIT) => Ok(limit),
        Ok(_) | Err(_) => Err(DashboardError::Invalid(format!(
            "invalid `limit` {text:?}: expected a number from 1 to {MAX_LIMIT}"
        ))),
    }
}

/// Parses an optional value of a request. The error names the parameter.
fn parse_value<T>(name: &str, text: Option<&str>) -> Result<Option<T>, DashboardError>
where
    T: std::str::FromStr,
    T::Err: fmt::Display,
{
    let text = text.filter(|text| !text.is_empty());
    let parsed = text.map(str::parse).transpose();
    parsed.map_err(|error| DashboardError::Invalid(format!("invalid `{name}`: {error}")))
}

/// Redacts a text of a task, a loop or a gate.
fn redacted(text: &str) -> String {
    assay_rules::redact(text).into_owned()
}

#[cfg(test)]
mod tests;
