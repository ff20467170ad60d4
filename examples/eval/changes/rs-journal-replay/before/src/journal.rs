//! Reading of journal records.

use std::io::{self, BufRead};

/// One change of the queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Record {
    Put { id: u64, payload: String },
    Done { id: u64 },
}

/// Reads the records of a journal, one per line.
pub struct Reader<R> {
    input: R,
}

impl<R: BufRead> Reader<R> {
    pub fn new(input: R) -> Self {
        Reader { input }
    }

    /// Returns the next record, None at the end of the journal. A record that cannot
    /// be parsed is an error of the kind `InvalidData`.
    pub fn next_record(&mut self) -> io::Result<Option<Record>> {
        let mut line = String::new();
        if self.input.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        parse(line.trim_end_matches('\n'))
            .map(Some)
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, line))
    }
}

fn parse(line: &str) -> Option<Record> {
    let (verb, rest) = line.split_once(' ')?;
    match verb {
        "put" => {
            let (id, payload) = rest.split_once(' ')?;
            let id = id.parse().ok()?;
            Some(Record::Put { id, payload: payload.to_string() })
        }
        "done" => rest.parse().ok().map(|id| Record::Done { id }),
        _ => None,
    }
}
