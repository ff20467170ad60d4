//! The ledger for many requests: [`SharedLedger`].
//!
//! After each change of its files, the seal of the ledger is checked, which reads the whole file.
//! The check runs in the background, so that a page can be shown before it ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::anyhow;
use assay_base::clock::{Deadline, Stopwatch};
use assay_change::state::State;
use assay_review::ledger::{LedgerReader, LedgerStamp};
use assay_store::ledger::{Ledger, LedgerError};

use super::DashboardError;
use super::shared_read::SharedRead;

/// The time for which an error of the check is shown without another check.
const MAX_ERROR_AGE: Duration = Duration::from_secs(5);

/// The result of a read of the ledger by a deadline.
pub(super) enum LedgerAnswer<T> {
    /// The value; `None` if there is no ledger.
    Value(Option<T>),
    /// The seal of the ledger is being checked.
    NotReady,
}

/// A ledger that is read by many requests while other processes write to it.
pub(super) struct SharedLedger {
    shared: Arc<CheckedLedger>,
    check: SharedRead<()>,
}

struct CheckedLedger {
    state: State,
    reader: Mutex<LedgerReader>,
    /// A connection for long reads, so that lists need not wait for them; `None` without a ledger.
    second: Mutex<Option<Ledger>>,
    failure: Mutex<Option<CheckFailure>>,
}

/// An error of the check, and the files for which it was found.
struct CheckFailure {
    stamp: LedgerStamp,
    since: Stopwatch,
    message: String,
}

impl SharedLedger {
    pub(super) fn new(state: State) -> SharedLedger {
        let reader = Mutex::new(LedgerReader::new(state.clone()));
        let (second, failure) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(CheckedLedger { state, reader, second, failure });
        let checked = Arc::clone(&shared);
        SharedLedger { shared, check: SharedRead::new(move || checked.check()) }
    }

    /// Returns the stamp of the ledger now.
    pub(super) fn stamp(&self) -> LedgerStamp {
        self.shared.reader().stamp()
    }

    /// Returns true if the seal was checked after the last change of the files.
    pub(super) fn is_ready(&self) -> bool {
        self.shared.reader().is_current()
    }

    /// Begins a check in the background, if one is needed.
    pub(super) fn prepare(&self) {
        if !self.is_ready() {
            self.check.begin();
        }
    }

    /// Waits for the check until the deadline. Returns true if the ledger can be read.
    pub(super) fn wait(&self, until: Deadline) -> Result<bool, DashboardError> {
        let answer = self.read_by(Some(until), |_| Ok(()))?;
        Ok(matches!(answer, LedgerAnswer::Value(_)))
    }

    /// Reads the ledger after its check; `None` if there is no ledger.
    pub(super) fn read<T>(
        &self,
        read: impl FnOnce(&Ledger) -> Result<T, LedgerError>,
    ) -> Result<Option<T>, DashboardError> {
        match self.read_by(None, read)? {
            LedgerAnswer::Value(value) => Ok(value),
            LedgerAnswer::NotReady => Err(anyhow!("the ledger was not checked").into()),
        }
    }

    /// Reads the ledger for a long time after its check, beside the reads of others.
    pub(super) fn read_long<T>(
        &self,
        read: impl FnOnce(Option<&Ledger>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        while !self.is_ready() {
            self.check.get(None)?;
        }
        let mut second = self.shared.second();
        // A ledger in a database may have been created after the check.
        if second.is_none() {
            *second = self.shared.reader().take_second();
        }
        read(second.as_ref())
    }

    /// Reads the ledger, unless its check does not end by the deadline.
    pub(super) fn read_by<T>(
        &self,
        until: Option<Deadline>,
        read: impl FnOnce(&Ledger) -> Result<T, LedgerError>,
    ) -> Result<LedgerAnswer<T>, DashboardError> {
        loop {
            let mut reader = self.shared.reader();
            if reader.is_current() {
                let value = reader.ledger()?.map(read).transpose()?;
                return Ok(LedgerAnswer::Value(value));
            }
            drop(reader);
            if until.is_some() {
                self.shared.recent_failure()?;
            }
            if self.check.get(until)?.is_none() {
                return Ok(LedgerAnswer::NotReady);
            }
        }
    }
}

impl CheckedLedger {
    fn reader(&self) -> MutexGuard<'_, LedgerReader> {
        // A panic leaves the reader as it was: it has no half-made changes.
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn second(&self) -> MutexGuard<'_, Option<Ledger>> {
        self.second.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failure(&self) -> MutexGuard<'_, Option<CheckFailure>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks the seal with a new reader, so that the old one is not locked for this time.
    fn check(&self) -> anyhow::Result<()> {
        if self.reader().is_current() {
            return Ok(());
        }
        let stamp = LedgerStamp::of_state(&self.state);
        let mut fresh = LedgerReader::new(self.state.clone());
        if let Err(error) = fresh.ledger() {
            let message = format!("{:#}", anyhow::Error::from(error));
            let since = Stopwatch::start();
            *self.failure() = Some(CheckFailure { stamp, since, message: message.clone() });
            return Err(anyhow!(message));
        }
        *self.failure() = None;
        // The second connection is set first: a ledger that is ready has both.
        *self.second() = fresh.take_second();
        *self.reader() = fresh;
        Ok(())
    }

    /// Fails if a check of the same files has failed recently.
    fn recent_failure(&self) -> anyhow::Result<()> {
        let stamp = LedgerStamp::of_state(&self.state);
        let failure = self.failure();
        let recent = failure
            .as_ref()
            .filter(|failure| failure.stamp == stamp && failure.since.elapsed() < MAX_ERROR_AGE);
        recent.map_or(Ok(()), |failure| Err(anyhow!(failure.message.clone())))
    }
}
