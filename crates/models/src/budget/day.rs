//! What a day may cost, kept in a file that several processes share: [`Day`].

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Amount, Caps, Obstacle, over};

/// A day's caps, and the file where what was spent is kept.
///
/// What is set aside is written down as spent, and taken back when it is not used: a process that
/// dies leaves it written, so the file never says too little.
#[derive(Debug)]
pub struct Day {
    caps: Caps,
    folder: PathBuf,
    file: PathBuf,
}

/// The file's content.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Page {
    version: u32,
    spent: Amount,
}

const VERSION: u32 = 1;

impl Day {
    /// Keeps a day's spending in a folder; the date is written `2026-11-15`.
    pub fn new(folder: &Path, date: &str, caps: Caps) -> Day {
        let file = folder.join(format!("spend-{date}.json"));
        Day { caps, folder: folder.to_owned(), file }
    }

    pub(super) fn caps(&self) -> Caps {
        self.caps
    }

    /// Sets an amount aside, unless it does not fit. `ours` is what this process has set aside.
    pub(super) fn reserve(&self, name: &str, most: Amount, ours: Amount) -> Result<(), Obstacle> {
        let reserved = self.change(|spent| {
            let Some(cap) = self.caps.exceeded(spent.plus(most)) else {
                return Ok(spent.plus(most));
            };
            // What other processes have set aside may be dead men's: only ours is waited for.
            if self.caps.exceeded(spent.minus(ours).plus(most)).is_none() {
                return Err(Obstacle::Others);
            }
            Err(Obstacle::Failure(over(format!(
                "`{name}`: the budget of {cap} for a day does not reach for another call; raise it, or wait until \
                 tomorrow"
            ))))
        });
        match reserved {
            Ok(reserved) => reserved,
            Err(error) => Err(Obstacle::Failure(over(format!(
                "`{name}`: what was spent today cannot be kept in `{}` ({error}); check it, or \
                 delete it",
                self.file.display()
            )))),
        }
    }

    /// Takes back what was not used.
    pub(super) fn settle(&self, most: Amount, used: Amount) {
        // What cannot be taken back stays spent.
        let _ = self.change(|spent| Ok::<_, Obstacle>(spent.minus(most).plus(used)));
    }

    /// Changes what the file says, while nobody else does.
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
        // It is unlocked when it is closed.
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
        let page: Page = serde_json::from_slice(&text)?;
        match page.version {
            VERSION => Ok(page.spent),
            other => Err(io::Error::other(format!("it is of version {other}"))),
        }
    }

    fn write(&self, spent: Amount) -> io::Result<()> {
        let page = serde_json::to_vec(&Page { version: VERSION, spent })?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&page)?;
        file.persist(&self.file)?;
        Ok(())
    }
}
