//! Statistics of the ledger, computed once for each change of the ledger: [`StatisticsCache`].

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_review::ledger::LedgerStamp;
use assay_store::ledger::facts::LedgerFacts;

use super::shared_ledger::SharedLedger;
use crate::dates::today;
use crate::environment::Environment;
use crate::finding_statistics::{
    FindingGrouping, GroupStatistics, LedgerStatistics, StatisticsRequest, compute_from, read_facts,
};

/// The number of files and categories that are retained.
const MAX_GROUPS: usize = 60;

/// The statistics that the dashboard shows.
#[derive(Debug, Clone, PartialEq)]
pub struct DashboardStatistics {
    /// The overview of the whole ledger.
    pub overview: LedgerStatistics,
    /// The files with the most findings.
    pub files: Vec<GroupStatistics>,
    /// The largest categories.
    pub categories: Vec<GroupStatistics>,
}

/// The statistics of a ledger, and the state of the ledger for which they were computed.
pub(super) struct StatisticsCache {
    root: PathBuf,
    environment: Environment,
    ledger: Arc<SharedLedger>,
    /// Locked during a computation.
    computing: Mutex<()>,
    computed: Mutex<Option<Computed>>,
}

/// The state of the ledger, and the day, by which temporary dismissals end.
pub(super) type StatisticsKey = (LedgerStamp, Option<String>);

#[derive(Clone)]
struct Computed {
    key: StatisticsKey,
    facts: Arc<LedgerFacts>,
    statistics: Arc<DashboardStatistics>,
}

impl StatisticsCache {
    pub(super) fn new(
        environment: &Environment,
        root: &Path,
        ledger: Arc<SharedLedger>,
    ) -> StatisticsCache {
        StatisticsCache {
            root: root.to_owned(),
            environment: environment.clone(),
            ledger,
            computing: Mutex::default(),
            computed: Mutex::default(),
        }
    }

    /// Returns the statistics if they were computed after the last change of the ledger. Does not
    /// wait for a computation.
    pub(super) fn cached(&self) -> Option<Arc<DashboardStatistics>> {
        self.computed().map(|computed| computed.statistics)
    }

    /// Returns the statistics of the whole ledger. Concurrent callers wait for one computation.
    pub(super) fn current(&self) -> anyhow::Result<Arc<DashboardStatistics>> {
        Ok(self.refresh()?.statistics)
    }

    /// Computes the statistics of a request.
    pub(super) fn compute(&self, request: &StatisticsRequest) -> anyhow::Result<LedgerStatistics> {
        let facts = match request.since {
            None => self.refresh()?.facts,
            Some(_) => Arc::new(self.read_facts(request)?),
        };
        compute_from(&self.environment, &self.root, request, &facts)
    }

    fn read_facts(&self, request: &StatisticsRequest) -> anyhow::Result<LedgerFacts> {
        self.ledger.read_long(|ledger| match ledger {
            Some(ledger) => read_facts(&self.environment, request, ledger),
            None => Ok(LedgerFacts::default()),
        })
    }

    fn lock_computed(&self) -> MutexGuard<'_, Option<Computed>> {
        self.computed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the key of the ledger now.
    pub(super) fn key(&self) -> StatisticsKey {
        (self.ledger.stamp(), today(self.environment.clock()).map(String::from))
    }

    fn computed(&self) -> Option<Computed> {
        let key = self.key();
        self.lock_computed().clone().filter(|computed| computed.key == key)
    }

    fn refresh(&self) -> anyhow::Result<Computed> {
        let _computing = self.computing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(computed) = self.computed() {
            return Ok(computed);
        }
        // The check may change the stamp of the log, so it comes before the key.
        self.ledger.read_long(|_| Ok(()))?;
        let key = self.key();
        let facts = self.read_facts(&StatisticsRequest::default())?;
        let statistics = Arc::new(self.statistics(&facts)?);
        let computed = Computed { key, facts: Arc::new(facts), statistics };
        *self.lock_computed() = Some(computed.clone());
        Ok(computed)
    }

    fn statistics(&self, facts: &LedgerFacts) -> anyhow::Result<DashboardStatistics> {
        let by = |by| {
            let request = StatisticsRequest { by, ..StatisticsRequest::default() };
            compute_from(&self.environment, &self.root, &request, facts)
        };
        let top = |mut groups: Vec<GroupStatistics>| {
            groups.retain(|group| group.name.is_some());
            groups.truncate(MAX_GROUPS);
            groups
        };
        Ok(DashboardStatistics {
            overview: by(None)?,
            files: top(by(Some(FindingGrouping::File))?.groups),
            categories: top(by(Some(FindingGrouping::Category))?.groups),
        })
    }
}
