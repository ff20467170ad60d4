//! The append-only journal of a loop, with one line for each event: [`Journal`].
//!
//! A line is on the disk before the loop acts on it. So a process that dies at any point leaves all
//! events that happened and no others. Each line has a digest of all lines before it: a line that
//! was edited, removed or inserted is noticed, and the journal is refused.
//!
//! A journal can be forged and added to a change. So this machine stores a seal of the journal that
//! it wrote, in another place. Events that another machine wrote are history, and approve nothing
//! here.

use std::path::{Path, PathBuf};

use assay_store::durable_fs::{self, DiskError, Durability, Lock};
use serde::{Deserialize, Serialize};

use crate::event::{EpochReason, Event};
use crate::file_names;

/// A journal that is open for writing. A lock allows one writer at a time.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    entries: Vec<Entry>,
    chain: Chain,
    /// The content of the file.
    bytes: Vec<u8>,
    seal: PathBuf,
    is_own: bool,
    _lock: Lock,
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The time of the event, in UTC.
    pub at: String,
    /// The recorded event.
    pub event: Event,
    /// The digest of this line and all lines before it.
    chain: String,
}

/// The reason why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A line does not match its digest.
    #[error(
        "line {line} of `{path}` was changed since it was written, so the state of the loop is \
         unknown; restore the file, or move it away to start over"
    )]
    Edited {
        /// The path of the journal.
        path: PathBuf,
        /// The number of the line, from 1.
        line: usize,
    },
    /// Another process changed the journal during this run.
    #[error(
        "another process changed `{path}` while the loop ran, so this run does not count; restore \
         the file, or move it away to start over"
    )]
    Meddled {
        /// The path of the journal.
        path: PathBuf,
    },
    /// The file cannot be read or written.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The digest of all lines so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Chain(String);

impl Chain {
    /// Returns the digest after one more line.
    fn after(&self, at: &str, event: &Event) -> Chain {
        let event = serde_json::to_string(event).expect("an event is JSON");
        let mut digest = blake3::Hasher::new();
        for part in [self.0.as_str(), at, &event] {
            digest.update(&(part.len() as u64).to_le_bytes());
            digest.update(part.as_bytes());
        }
        Chain(digest.finalize().to_hex()[..32].to_owned())
    }
}

impl Journal {
    /// Opens the journal in the folder of a spec, and waits until no other process has it open for
    /// writing. `seal` is a file elsewhere, which identifies the lines that this machine wrote.
    pub fn open(folder: &Path, seal: &Path) -> Result<Journal, JournalError> {
        make_folders(folder, seal)?;
        Journal::open_locked(folder, seal, durable_fs::lock(&lock_path(seal))?)
    }

    /// Opens the journal as [`Journal::open`] does. Returns `None` if another process has it open for
    /// writing.
    pub fn try_open(folder: &Path, seal: &Path) -> Result<Option<Journal>, JournalError> {
        make_folders(folder, seal)?;
        let lock = durable_fs::try_lock(&lock_path(seal))?;
        lock.map(|lock| Journal::open_locked(folder, seal, lock)).transpose()
    }

    fn open_locked(folder: &Path, seal: &Path, lock: Lock) -> Result<Journal, JournalError> {
        let path = folder.join(file_names::JOURNAL);
        let mut bytes = durable_fs::read(&path)?.unwrap_or_default();
        let whole = whole_lines(&bytes);
        let (entries, chain) = read(&path, &bytes[..whole])?;
        if whole < bytes.len() {
            // The writer died before the line was complete, so no step followed from it.
            bytes.truncate(whole);
            durable_fs::write(&path, &bytes, Durability::Fsync)?;
        }
        let is_own = is_sealed(seal, &entries, &chain)?;
        let seal = seal.to_owned();
        Ok(Journal { path, entries, chain, bytes, seal, is_own, _lock: lock })
    }

    /// Returns true if this machine wrote the whole journal, or if an epoch marks the end of the
    /// events of another machine.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// Reads the complete lines of the journal in the folder of a spec, without its lock. Returns
    /// true with them if this machine wrote all of them.
    pub fn read_sealed(folder: &Path, seal: &Path) -> Result<(Vec<Entry>, bool), JournalError> {
        let path = folder.join(file_names::JOURNAL);
        let bytes = durable_fs::read(&path)?.unwrap_or_default();
        let (entries, chain) = read(&path, &bytes[..whole_lines(&bytes)])?;
        let is_own = is_sealed(seal, &entries, &chain)?;
        Ok((entries, is_own))
    }

    /// Reads the events of the journal in the folder of a spec, regardless of the machine that
    /// wrote them.
    pub fn read(folder: &Path) -> Result<Vec<Entry>, JournalError> {
        let path = folder.join(file_names::JOURNAL);
        let bytes = durable_fs::read(&path)?.unwrap_or_default();
        Ok(read(&path, &bytes[..whole_lines(&bytes)])?.0)
    }

    /// Returns the entries so far.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Appends an event. The line is on the disk when this function returns.
    pub fn add(&mut self, at: &str, event: Event) -> Result<&Entry, JournalError> {
        if durable_fs::read(&self.path)?.unwrap_or_default() != self.bytes {
            // The process that changed the journal may have changed the seal too, so no seal counts
            // any more.
            durable_fs::write(&self.seal, b"", Durability::Fsync)?;
            return Err(JournalError::Meddled { path: self.path.clone() });
        }
        let chain = self.chain.after(at, &event);
        let entry = Entry { at: at.to_owned(), event, chain: chain.0.clone() };
        let mut line = serde_json::to_vec(&entry).expect("an entry is JSON");
        line.push(b'\n');
        // An epoch of this kind marks the events before it as those of another machine, and from
        // then on they count for nothing.
        let is_own = self.is_own || separates_machines(&entry.event);
        if is_own {
            // The seal has the digest before this line too: a process that dies before the line is
            // written leaves the earlier line as the last one.
            let before = if self.is_own { self.chain.0.as_str() } else { "" };
            let seal = format!("{before}\n{}\n", chain.0);
            durable_fs::write(&self.seal, seal.as_bytes(), Durability::Fsync)?;
        }
        durable_fs::append(&self.path, &line)?;
        self.is_own = is_own;
        self.bytes.extend(&line);
        self.chain = chain;
        self.entries.push(entry);
        Ok(self.entries.last().expect("one was just added"))
    }
}

fn make_folders(folder: &Path, seal: &Path) -> Result<(), JournalError> {
    durable_fs::make_folder(folder)?;
    seal.parent().map_or(Ok(()), durable_fs::make_folder)?;
    Ok(())
}

fn lock_path(seal: &Path) -> PathBuf {
    seal.with_extension("lock")
}

fn separates_machines(event: &Event) -> bool {
    matches!(event, Event::EpochBegun { why: EpochReason::Elsewhere, .. })
}

/// Returns true if this machine wrote the journal that ends with this digest.
fn is_sealed(seal: &Path, entries: &[Entry], chain: &Chain) -> Result<bool, JournalError> {
    let sealed = durable_fs::read(seal)?.unwrap_or_default();
    let knows = String::from_utf8_lossy(&sealed).lines().any(|line| line == chain.0);
    Ok(entries.is_empty() || knows)
}

/// Returns the number of bytes up to the end of the last complete line.
fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

fn read(path: &Path, bytes: &[u8]) -> Result<(Vec<Entry>, Chain), JournalError> {
    let mut chain = Chain::default();
    let mut entries = Vec::new();
    for (number, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
        let edited = || JournalError::Edited { path: path.to_owned(), line: number + 1 };
        let entry: Entry = serde_json::from_slice(line).map_err(|_| edited())?;
        chain = chain.after(&entry.at, &entry.event);
        if entry.chain != chain.0 {
            return Err(edited());
        }
        entries.push(entry);
    }
    Ok((entries, chain))
}
