//! A builder of results: [`ResultsBuilder`].

use assay_base::text::first_bytes;

use super::{TestOutcome, TestReport, TestResult, Totals};

/// The maximum number of bytes of the message of a failure.
pub(super) const MAX_MESSAGE_BYTES: usize = 4_000;

/// The maximum number of results, and of bytes of a name.
const MAX_RESULTS: usize = 20_000;
const MAX_NAME_BYTES: usize = 1_000;

/// The separator between a suite and its test. A blank is no separator, since titles contain
/// blanks.
pub(super) const SUITE_SEPARATOR: &str = " > ";

/// A builder of results, used by the parsers.
#[derive(Debug, Default)]
pub(super) struct ResultsBuilder {
    listed: Totals,
    claimed: Totals,
    results: Vec<TestResult>,
    is_cut: bool,
    doubt: Option<String>,
    empty_files: Vec<String>,
    /// True if any part of the input is in the format.
    seen: bool,
}

impl ResultsBuilder {
    /// Records that the input is in the format.
    pub(super) fn mark_recognized(&mut self) {
        self.seen = true;
    }

    /// Records that the input is truncated.
    pub(super) fn mark_truncated(&mut self) {
        self.is_cut = true;
    }

    /// Records a contradiction in the results. The first one counts.
    pub(super) fn add_contradiction(&mut self, why: &str) {
        self.doubt.get_or_insert_with(|| why.to_owned());
    }

    /// Adds a file that ran and has no test.
    pub(super) fn add_file(&mut self, file: &str) {
        if self.empty_files.len() < MAX_RESULTS {
            self.empty_files.push(first_bytes(file, MAX_NAME_BYTES).to_owned());
        }
    }

    /// Returns the number of tests that were added.
    pub(super) fn test_count(&self) -> usize {
        self.listed.passed + self.listed.failed + self.listed.skipped
    }

    /// Adds a test.
    pub(super) fn add_test(
        &mut self,
        name: &str,
        file: Option<&str>,
        outcome: TestOutcome,
        seconds: Option<f64>,
    ) {
        self.seen = true;
        count(&mut self.listed, &outcome);
        let name = first_bytes(name, MAX_NAME_BYTES).to_owned();
        let file = file.map(|file| first_bytes(file, MAX_NAME_BYTES).to_owned());
        self.results.push(TestResult {
            name,
            file,
            outcome,
            duration_ms: millis(seconds),
            skipped_in: None,
        });
        if self.results.len() >= 2 * MAX_RESULTS {
            bound(&mut self.results);
        }
    }

    /// Adds to the counts of the runner itself.
    pub(super) fn add_totals(&mut self, totals: Totals) {
        self.seen = true;
        let Totals { passed, failed, skipped } = &mut self.claimed;
        *passed = passed.saturating_add(totals.passed);
        *failed = failed.saturating_add(totals.failed);
        *skipped = skipped.saturating_add(totals.skipped);
    }

    /// Returns the last result that was added.
    pub(super) fn last(&mut self) -> Option<&mut TestResult> {
        self.results.last_mut()
    }

    /// Returns all results that were retained.
    pub(super) fn results(&mut self) -> &mut [TestResult] {
        &mut self.results
    }

    /// Builds the results; `None` if no part of the input is in the format. The larger of two
    /// counts is used: a summary may count tests that are not named, and a failure counts even if
    /// the summary leaves it out.
    pub(super) fn finish(mut self) -> Option<TestReport> {
        if !self.seen {
            return None;
        }
        bound(&mut self.results);
        let totals = Totals {
            passed: self.listed.passed.max(self.claimed.passed),
            failed: self.listed.failed.max(self.claimed.failed),
            skipped: self.listed.skipped.max(self.claimed.skipped),
        };
        let ResultsBuilder { results, is_cut, doubt, empty_files, .. } = self;
        Some(TestReport { totals, results, is_cut, doubt, empty_files, unreported: Vec::new() })
    }
}

fn count(totals: &mut Totals, outcome: &TestOutcome) {
    match outcome {
        TestOutcome::Passed => totals.passed += 1,
        TestOutcome::Failed { .. } => totals.failed += 1,
        TestOutcome::Skipped => totals.skipped += 1,
    }
}

/// Removes results beyond the maximum, failures last.
pub(super) fn bound(results: &mut Vec<TestResult>) {
    if results.len() <= MAX_RESULTS {
        return;
    }
    let failed = |test: &TestResult| matches!(test.outcome, TestOutcome::Failed { .. });
    let failures = results.iter().filter(|test| failed(test)).count().min(MAX_RESULTS);
    let (mut failures, mut others) = (failures, MAX_RESULTS - failures);
    results.retain(|test| {
        let left = if failed(test) { &mut failures } else { &mut others };
        let stays = *left > 0;
        *left = left.saturating_sub(1);
        stays
    });
}

/// Returns the name of a test within its suite: a class, a package or a program.
pub(super) fn in_suite(suite: &str, name: &str) -> String {
    format!("{suite}{SUITE_SEPARATOR}{name}")
}

/// Creates a failure with a message.
pub(super) fn failed(message: &str) -> TestOutcome {
    TestOutcome::Failed { message: first_bytes(message.trim(), MAX_MESSAGE_BYTES).to_owned() }
}

/// Appends a line to the message of a failure, up to the maximum length.
pub(super) fn say(message: &mut String, line: &str) {
    let room = MAX_MESSAGE_BYTES.saturating_sub(message.len());
    if room > 1 && !(message.is_empty() && line.trim().is_empty()) {
        if !message.is_empty() {
            message.push('\n');
        }
        message.push_str(first_bytes(line, room - 1));
    }
}

fn millis(seconds: Option<f64>) -> Option<u64> {
    let millis = seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0)? * 1_000.0;
    // The conversion of a float saturates.
    Some(millis.round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_very_many_tests_are_counted_and_every_failure_is_kept() {
        let mut builder = ResultsBuilder::default();
        for number in 0..50_000 {
            let fails = number % 10_000 == 9_999;
            let outcome = if fails { failed("no") } else { TestOutcome::Passed };
            builder.add_test(&number.to_string(), None, outcome, None);
        }
        let tests = builder.finish().unwrap();
        assert_eq!((tests.totals.passed, tests.totals.failed), (49_995, 5));
        assert_eq!((tests.results.len(), tests.failed().count()), (MAX_RESULTS, 5));
    }
}
