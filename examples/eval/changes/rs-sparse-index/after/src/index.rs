//! The sparse index of the message log.

use crate::entry::Entry;

/// An entry that does not follow the last one.
#[derive(Debug, PartialEq, Eq)]
pub struct OutOfOrder {
    pub last_offset: u64,
    pub offset: u64,
}

/// Entries in ascending order of their offsets.
#[derive(Debug, Default)]
pub struct Index {
    entries: Vec<Entry>,
}

impl Index {
    /// Appends the entry of a new block.
    pub fn push(&mut self, entry: Entry) -> Result<(), OutOfOrder> {
        match self.entries.last() {
            Some(last) if last.first_offset >= entry.first_offset => Err(OutOfOrder {
                last_offset: last.first_offset,
                offset: entry.first_offset,
            }),
            _ => {
                self.entries.push(entry);
                Ok(())
            }
        }
    }

    /// Returns the position at which a reader of `offset` starts, None for an empty index.
    pub fn start_of(&self, offset: u64) -> Option<u64> {
        let above = self
            .entries
            .partition_point(|entry| entry.first_offset <= offset);
        let entry = self.entries.get(above.saturating_sub(1))?;
        Some(entry.position)
    }

    /// Drops the entries of the blocks that end at or before `offset`; the block that
    /// holds `offset` stays.
    pub fn truncate_before(&mut self, offset: u64) -> usize {
        let above = self
            .entries
            .partition_point(|entry| entry.first_offset <= offset);
        self.entries.drain(..above.saturating_sub(1)).count()
    }
}
