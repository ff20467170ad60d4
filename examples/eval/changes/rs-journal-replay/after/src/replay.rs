//! Restoring the queue at start.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead};

use crate::journal::{Reader, Record};

/// An open job of the queue.
#[derive(Debug, PartialEq, Eq)]
pub struct Job {
    pub id: u64,
    pub payload: String,
}

/// The open jobs, in the order in which they were put.
#[derive(Debug, Default)]
struct Open {
    jobs: BTreeMap<u64, Job>,
    places: HashMap<u64, u64>,
    next_place: u64,
}

impl Open {
    fn apply(&mut self, record: Record) {
        match record {
            Record::Put { id, payload } => {
                self.places.insert(id, self.next_place);
                self.jobs.insert(self.next_place, Job { id, payload });
                self.next_place += 1;
            }
            Record::Done { id } => {
                if let Some(place) = self.places.remove(&id) {
                    self.jobs.remove(&place);
                }
            }
        }
    }
}

/// Replays the journal and returns the open jobs.
pub fn replay<R: BufRead>(input: R) -> io::Result<Vec<Job>> {
    let mut reader = Reader::new(input);
    let mut open = Open::default();
    while let Ok(Some(record)) = reader.next_record() {
        open.apply(record);
    }
    Ok(open.jobs.into_values().collect())
}
