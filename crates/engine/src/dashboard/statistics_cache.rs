//! Statistics of the ledger, computed once for each change of the ledger: [`StatisticsCache`].

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use assay_review::ledger::{LedgerReader, LedgerStamp};
use assay_store::ledger::facts::LedgerFacts;

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
    inner: Mutex<Inner>,
}

struct Inner {
    /// A connection of its own, so that lists need not wait for statistics.
    reader: LedgerReader,
    computed: Option<Computed>,
}

struct Computed {
    /// The state of the ledger, and the day, by which temporary dismissals end.
    key: (LedgerStamp, Option<String>),
    facts: Arc<LedgerFacts>,
    statistics: Arc<DashboardStatistics>,
}

impl StatisticsCache {
    pub(super) fn new(environment: &Environment, root: &Path) -> StatisticsCache {
        let reader = LedgerReader::new(environment.state_of(root));
        let inner = Mutex::new(Inner { reader, computed: None });
        StatisticsCache { root: root.to_owned(), environment: environment.clone(), inner }
    }

    /// Returns the statistics of the whole ledger. Concurrent callers wait for one computation.
    pub(super) fn current(&self) -> anyhow::Result<Arc<DashboardStatistics>> {
        Ok(self.refresh(&mut self.lock())?.1)
    }

    /// Computes the statistics of a request.
    pub(super) fn compute(&self, request: &StatisticsRequest) -> anyhow::Result<LedgerStatistics> {
        let facts = match request.since {
            None => self.refresh(&mut self.lock())?.0,
            Some(_) => match self.lock().reader.ledger()? {
                Some(ledger) => Arc::new(read_facts(&self.environment, request, ledger)?),
                None => Arc::default(),
            },
        };
        compute_from(&self.environment, &self.root, request, &facts)
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic leaves the last complete statistics, which are valid for their key.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn refresh(
        &self,
        inner: &mut Inner,
    ) -> anyhow::Result<(Arc<LedgerFacts>, Arc<DashboardStatistics>)> {
        let key = (inner.reader.stamp(), today(self.environment.clock()).map(String::from));
        if let Some(computed) = inner.computed.as_ref().filter(|computed| computed.key == key) {
            return Ok((Arc::clone(&computed.facts), Arc::clone(&computed.statistics)));
        }
        let request = StatisticsRequest::default();
        let facts = match inner.reader.ledger()? {
            Some(ledger) => read_facts(&self.environment, &request, ledger)?,
            None => LedgerFacts::default(),
        };
        let statistics = Arc::new(self.statistics(&facts)?);
        let facts = Arc::new(facts);
        let result = (Arc::clone(&facts), Arc::clone(&statistics));
        inner.computed = Some(Computed { key, facts, statistics });
        Ok(result)
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
