//! Restoring the queue at start.

use std::io::{self, BufRead};

use crate::journal::{Reader, Record};

/// An open job of the queue.
#[derive(Debug, PartialEq, Eq)]
pub struct Job {
    pub id: u64,
    pub payload: String,
}

/// Replays the journal and returns the open jobs.
pub fn replay<R: BufRead>(input: R) -> io::Result<Vec<Job>> {
    let mut reader = Reader::new(input);
    let mut jobs: Vec<Job> = Vec::new();
    while let Some(record) = reader.next_record()? {
        match record {
            Record::Put { id, payload } => jobs.push(Job { id, payload }),
            Record::Done { id } => jobs.retain(|job| job.id != id),
        }
    }
    Ok(jobs)
}
