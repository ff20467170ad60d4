//! Spending of a day, stored in a file that several processes share: [`DailyBudget`].

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Amount, Caps, ReserveError, budget_failure};

/// The caps of a day, and the file with the amount spent.
///
/// A reservation is written as spent, and the unused part is subtracted when it is settled. A
/// process that dies leaves its reservations written, so the file never holds too little.
#[derive(Debug)]
pub struct DailyBudget {
    caps: Caps,
    folder: PathBuf,
    file: PathBuf,
}

/// The content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct SpendingRecord {
    version: u32,
    spent: Amount,
}

const VERSION: u32 = 1;

impl DailyBudget {
    /// Creates the record of a day in a folder; the format of the date is `2026-11-15`.
    pub fn new(folder: &Path, date: &str, caps: Caps) -> DailyBudget {
        let file = folder.join(format!("spend-{date}.json"));
        DailyBudget { caps, folder: folder.to_owned(), file }
    }

    pub(super) fn caps(&self) -> Caps {
        self.caps
    }

    /// Reserves an amount, unless it exceeds a cap. `ours` is the amount that this process has
    /// reserved.
    pub(super) fn reserve(
        &self,
        name: &str,
        most: Amount,
        ours: Amount,
    ) -> Result<(), ReserveError> {
        let reserved = self.change(|spent| {
            let Some(cap) = self.caps.exceeded_cap(spent.plus(most)) else {
                return Ok(spent.plus(most));
            };
            // The reservations of other processes may belong to dead ones: only our own are waited
            // for.
            if self.caps.exceeded_cap(spent.minus(ours).plus(most)).is_none() {
                return Err(ReserveError::Others);
            }
            Err(ReserveError::Failure(budget_failure(format!(
                "`{name}`: the budget of {cap} for a day does not cover another call; raise the \
                 budget, or wait until tomorrow"
            ))))
        });
        match reserved {
            Ok(reserved) => reserved,
            Err(error) => Err(ReserveError::Failure(budget_failure(format!(
                "`{name}`: cannot update the daily spending in `{}`: {error}; repair or delete the \
                 file",
                self.file.display()
            )))),
        }
    }

    /// Subtracts the unused part of a reservation.
    pub(super) fn settle(&self, most: Amount, used: Amount) {
        // If the file cannot be written, the reservation stays spent.
        let _ = self.change(|spent| Ok::<_, ReserveError>(spent.minus(most).plus(used)));
    }

    /// Changes the stored amount under a file lock.
    fn change<E>(
        &self,
        change: impl FnOnce(Amount) -> Result<Amount, E>,
    ) -> io::Result<Result<(), E>> {
        std::fs::create_dir_all(&self.folder)?;
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.folder.join("spend.lock"))?;
        // The lock is released when the file is closed.
        lock.lock()?;
        match change(self.read()?) {
            Ok(spent) => self.write(spent).map(Ok),
            Err(refused) => Ok(Err(refused)),
        }
    }

    pub(super) fn read(&self) -> io::Result<Amount> {
        let text = match std::fs::read(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Amount::default()),
            Err(error) => return Err(error),
        };
        let page: SpendingRecord = serde_json::from_slice(&text)?;
        match page.version {
            VERSION => Ok(page.spent),
            other => Err(io::Error::other(format!("unsupported version {other}"))),
        }
    }

    fn write(&self, spent: Amount) -> io::Result<()> {
        let page = serde_json::to_vec(&SpendingRecord { version: VERSION, spent })?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&page)?;
        file.persist(&self.file)?;
        Ok(())
    }
}
