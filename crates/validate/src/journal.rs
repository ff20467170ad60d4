//! The truth about a loop: [`Journal`], one line for each thing that happened, only ever added to.
//!
//! A line is on the disk before anybody acts on it, so a process that dies at any point leaves what
//! had happened and nothing that had not. Each line carries a digest of all before it: one that was
//! edited, taken out or put in between is noticed, and nothing that follows from it counts.

use std::path::{Path, PathBuf};

use assay_store::disk::{self, DiskError, Lock, Sure};
use serde::{Deserialize, Serialize};

use crate::event::Event;

/// Where the journal lies in a spec's folder.
pub const NAME: &str = "qa_journal.jsonl";

/// A journal that is open for writing. There is one writer at a time.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    entries: Vec<Entry>,
    chain: Chain,
    _lock: Lock,
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When it happened, in UTC.
    pub at: String,
    /// What.
    pub event: Event,
    /// The digest of this line and all before it.
    chain: String,
}

/// Why a journal cannot be used.
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
    /// Opens the journal of a spec's folder, and waits for whoever writes it to be done.
    pub fn open(folder: &Path) -> Result<Journal, JournalError> {
        disk::make_folder(folder)?;
        let lock = disk::lock(&folder.join(format!(".{NAME}.lock")))?;
        let path = folder.join(NAME);
        let bytes = disk::read(&path)?.unwrap_or_default();
        let whole = whole_lines(&bytes);
        let (entries, chain) = read(&path, &bytes[..whole])?;
        if whole < bytes.len() {
            // Whoever wrote it died before it was whole, so nobody acted on it.
            disk::write(&path, &bytes[..whole], Sure::OnDisk)?;
        }
        Ok(Journal { path, entries, chain, _lock: lock })
    }

    /// Reads the journal of a spec's folder as far as it is whole, whoever writes it.
    pub fn read(folder: &Path) -> Result<Vec<Entry>, JournalError> {
        let path = folder.join(NAME);
        let bytes = disk::read(&path)?.unwrap_or_default();
        Ok(read(&path, &bytes[..whole_lines(&bytes)])?.0)
    }

    /// Gives what happened so far.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Writes down what happened. Once this returns it is on the disk.
    pub fn add(&mut self, at: &str, event: Event) -> Result<&Entry, JournalError> {
        let chain = self.chain.after(at, &event);
        let entry = Entry { at: at.to_owned(), event, chain: chain.0.clone() };
        let mut line = serde_json::to_vec(&entry).expect("an entry is JSON");
        line.push(b'\n');
        disk::append(&self.path, &line)?;
        self.chain = chain;
        self.entries.push(entry);
        Ok(self.entries.last().expect("one was just added"))
    }
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
