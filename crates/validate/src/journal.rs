//! The truth about a loop: [`Journal`], one line for each thing that happened, only ever added to.
//!
//! A line is on the disk before anybody acts on it, so a process that dies at any point leaves what
//! had happened and nothing that had not. Each line carries a digest of all before it: one that was
//! edited, taken out or put in between is noticed, and nothing that follows from it counts.
//!
//! Anybody can write a journal and bring it along with a change. So this machine keeps a seal apart
//! from it, of what it wrote itself: what another one wrote is history, and approves nothing here.

use std::path::{Path, PathBuf};

use assay_store::disk::{self, DiskError, Lock, Sure};
use serde::{Deserialize, Serialize};

use crate::event::{Begun, Event};
use crate::file_names;

/// A journal that is open for writing. There is one writer at a time.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    entries: Vec<Entry>,
    chain: Chain,
    /// All that is in the file.
    bytes: Vec<u8>,
    seal: PathBuf,
    is_own: bool,
    _lock: Lock,
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When it happened, in UTC.
    pub at: String,
    /// The event.
    pub event: Event,
    /// The digest of this line and all before it.
    chain: String,
}

/// The reason why a journal cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A line is not as it was written.
    #[error(
        "line {line} of `{path}` is not as it was written, so what the loop did is not known; \
         put it back as it was, or move it away to begin anew"
    )]
    Edited {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The journal is not what this run wrote so far.
    #[error(
        "`{path}` was changed by somebody else while the loop ran, so what it did does not count; \
         put it back as it was, or move it away to begin anew"
    )]
    Meddled {
        /// The journal.
        path: PathBuf,
    },
    /// The file cannot be used.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// The digest so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Chain(String);

impl Chain {
    /// Goes on with a line.
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
    /// Opens the journal of a spec's folder, and waits for whoever writes it to be done. What this
    /// machine wrote is known by a seal, in a file elsewhere.
    pub fn open(folder: &Path, seal: &Path) -> Result<Journal, JournalError> {
        disk::make_folder(folder)?;
        seal.parent().map_or(Ok(()), disk::make_folder)?;
        let lock = disk::lock(&seal.with_extension("lock"))?;
        let path = folder.join(file_names::JOURNAL);
        let mut bytes = disk::read(&path)?.unwrap_or_default();
        let whole = whole_lines(&bytes);
        let (entries, chain) = read(&path, &bytes[..whole])?;
        if whole < bytes.len() {
            // The writer died before the line was whole, so no step followed from it.
            bytes.truncate(whole);
            disk::write(&path, &bytes, Sure::OnDisk)?;
        }
        let is_own = is_sealed(seal, &entries, &chain)?;
        let seal = seal.to_owned();
        Ok(Journal { path, entries, chain, bytes, seal, is_own, _lock: lock })
    }

    /// Returns true if this machine wrote the whole journal, or what it did not write is told apart.
    pub fn is_own(&self) -> bool {
        self.is_own
    }

    /// Reads the journal of a spec's folder as far as it is whole, whoever writes it, and says
    /// whether all of it was written on this machine.
    pub fn read_sealed(folder: &Path, seal: &Path) -> Result<(Vec<Entry>, bool), JournalError> {
        let path = folder.join(file_names::JOURNAL);
        let bytes = disk::read(&path)?.unwrap_or_default();
        let (entries, chain) = read(&path, &bytes[..whole_lines(&bytes)])?;
        let is_own = is_sealed(seal, &entries, &chain)?;
        Ok((entries, is_own))
    }

    /// Reads what happened, whoever wrote it down.
    pub fn read(folder: &Path) -> Result<Vec<Entry>, JournalError> {
        let path = folder.join(file_names::JOURNAL);
        let bytes = disk::read(&path)?.unwrap_or_default();
        Ok(read(&path, &bytes[..whole_lines(&bytes)])?.0)
    }

    /// Returns the events so far.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Writes down what happened. Once this returns it is on the disk.
    pub fn add(&mut self, at: &str, event: Event) -> Result<&Entry, JournalError> {
        if disk::read(&self.path)?.unwrap_or_default() != self.bytes {
            // The process that changed it may have put a seal beside it, so no seal counts any more.
            disk::write(&self.seal, b"", Sure::OnDisk)?;
            return Err(JournalError::Meddled { path: self.path.clone() });
        }
        let chain = self.chain.after(at, &event);
        let entry = Entry { at: at.to_owned(), event, chain: chain.0.clone() };
        let mut line = serde_json::to_vec(&entry).expect("an entry is JSON");
        line.push(b'\n');
        // Events of another machine count for nothing once an epoch begins that says so.
        let is_own = self.is_own || is_told_apart(&entry.event);
        if is_own {
            // A process that dies before the line is written leaves the one before it as the last.
            let before = if self.is_own { self.chain.0.as_str() } else { "" };
            let seal = format!("{before}\n{}\n", chain.0);
            disk::write(&self.seal, seal.as_bytes(), Sure::OnDisk)?;
        }
        disk::append(&self.path, &line)?;
        self.is_own = is_own;
        self.bytes.extend(&line);
        self.chain = chain;
        self.entries.push(entry);
        Ok(self.entries.last().expect("one was just added"))
    }
}

fn is_told_apart(event: &Event) -> bool {
    matches!(event, Event::EpochBegun { why: Begun::Elsewhere, .. })
}

/// Returns true if a journal that ends so was written on this machine.
fn is_sealed(seal: &Path, entries: &[Entry], chain: &Chain) -> Result<bool, JournalError> {
    let sealed = disk::read(seal)?.unwrap_or_default();
    let knows = String::from_utf8_lossy(&sealed).lines().any(|line| line == chain.0);
    Ok(entries.is_empty() || knows)
}

/// Counts the bytes of the lines that have an end.
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
