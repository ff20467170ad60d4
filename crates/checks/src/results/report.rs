//! The lines of JSON that our own reporters write, inside of `unittest` and `node --test`.
//!
//! A run has a line at its beginning, one for each test that begins, one for each test that ended,
//! and one with their number at its end. If the last line is missing, the run was aborted.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::results_builder::{ResultsBuilder, failed};
use super::{TestOutcome, TestReport};

/// The message of a test that ended the process of the run.
const NOT_ENDED: &str = "the test started and did not finish: the code under test ended the whole \
                         run";

#[derive(Default, Deserialize)]
#[serde(default)]
struct Line {
    /// `begin` or `end`.
    run: Option<String>,
    /// The number of tests that ended; only at the end of a run.
    count: Option<usize>,
    /// The name of a test that begins.
    begun: Option<String>,
    /// The name of a test that ended.
    test: Option<String>,
    /// The file that ran and has no test.
    ran: Option<String>,
    file: Option<String>,
    outcome: String,
    message: String,
    seconds: Option<f64>,
    /// The file and the line that raised a skip.
    skipped_in: Option<String>,
    line: Option<u32>,
    /// The test that pytest skips.
    skip: Option<String>,
}

pub(super) fn read(text: &str) -> Option<TestReport> {
    let mut reading = ReportParser::default();
    for line in text.lines() {
        match serde_json::from_str::<Line>(line) {
            Ok(line) => reading.take(&line),
            Err(_) => reading.builder.add_contradiction("a line of the report cannot be parsed"),
        }
    }
    reading.finish()
}

#[derive(Default)]
struct ReportParser {
    builder: ResultsBuilder,
    runs: usize,
    is_open: bool,
    ended: usize,
    begun: BTreeMap<String, usize>,
}

impl ReportParser {
    fn take(&mut self, line: &Line) {
        match line.run.as_deref() {
            Some("begin") => {
                self.builder.mark_recognized();
                self.runs += 1;
                (self.is_open, self.ended) = (true, 0);
            }
            Some(_) => {
                self.is_open = false;
                if line.count != Some(self.ended) {
                    self.builder.add_contradiction(
                        "the report does not contain as many tests as were counted",
                    );
                }
            }
            None => {}
        }
        if let Some(name) = &line.begun {
            *self.begun.entry(name.clone()).or_default() += 1;
        }
        if let Some(file) = &line.ran {
            self.builder.add_file(file);
        }
        if let Some(name) = &line.test {
            self.test(name, line);
        }
    }

    fn test(&mut self, name: &str, line: &Line) {
        self.ended += 1;
        if let Some(open) = self.begun.get_mut(name) {
            *open = open.saturating_sub(1);
        }
        let outcome = match line.outcome.as_str() {
            "passed" => TestOutcome::Passed,
            "skipped" => TestOutcome::Skipped,
            _ => failed(&line.message),
        };
        self.builder.add_test(name, line.file.as_deref(), outcome, line.seconds);
        if let (Some(file), Some(test)) = (&line.skipped_in, self.builder.last()) {
            test.skipped_in = Some(place(file, line.line));
        }
    }

    fn finish(mut self) -> Option<TestReport> {
        for (name, _) in self.begun.iter().filter(|(_, open)| **open > 0) {
            self.builder.add_test(name, None, failed(NOT_ENDED), None);
        }
        if self.is_open {
            self.builder.mark_truncated();
        }
        if self.runs > 1 {
            // The second run in a process may be started by the code under test.
            self.builder.add_contradiction("one process reports two runs");
        }
        self.builder.finish()
    }
}

/// A skip in pytest: the id of the test, if there is one, and the file and line that raised the
/// skip.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RaisedSkip {
    pub(crate) test: Option<String>,
    pub(crate) place: String,
}

/// Parses the locations that raised the skips of pytest.
pub(crate) fn raised_skips(bytes: &[u8]) -> Vec<RaisedSkip> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
    let skips = lines.filter(|line| line.run.is_none() && line.test.is_none());
    let raised = skips.filter_map(|line| {
        Some(RaisedSkip { place: place(line.file.as_deref()?, line.line), test: line.skip })
    });
    raised.collect()
}

fn place(file: &str, line: Option<u32>) -> String {
    line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
}
