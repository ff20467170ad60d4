//! The JSON of jest and vitest.

use serde::Deserialize;

use super::results_builder::{ResultsBuilder, SUITE_SEPARATOR, failed};
use super::{TestOutcome, TestReport, Totals};

/// The maximum number of lines that are tried as the start of the document: programs print before
/// it.
const MAX_STARTS: usize = 16;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    num_total_tests: usize,
    #[serde(default)]
    num_passed_tests: usize,
    #[serde(default)]
    num_failed_tests: usize,
    #[serde(default)]
    test_results: Vec<File>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    name: Option<String>,
    #[serde(default)]
    status: String,
    message: Option<String>,
    #[serde(default)]
    assertion_results: Vec<Assertion>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Assertion {
    full_name: Option<String>,
    title: Option<String>,
    #[serde(default)]
    ancestor_titles: Option<Vec<String>>,
    #[serde(default)]
    status: String,
    duration: Option<f64>,
    #[serde(default)]
    failure_messages: Option<Vec<String>>,
}

impl Assertion {
    /// Returns the title of the test, after the titles of its suites.
    fn full_name(&self) -> String {
        let Some(title) = &self.title else {
            return self.full_name.clone().unwrap_or_default();
        };
        let suites = self.ancestor_titles.iter().flatten();
        let suites = suites.map(|suite| suite.trim()).filter(|suite| !suite.is_empty());
        suites.chain([title.trim()]).collect::<Vec<_>>().join(SUITE_SEPARATOR)
    }
}

pub(super) fn read(text: &str) -> Option<TestReport> {
    let document = find(text)?;
    let mut builder = ResultsBuilder::default();
    let Document { num_total_tests: total, num_passed_tests: passed, .. } = document;
    let failures = document.num_failed_tests;
    let skipped = total.saturating_sub(passed).saturating_sub(failures);
    builder.add_totals(Totals { passed, failed: failures, skipped });
    for file in &document.test_results {
        take(&mut builder, file);
    }
    builder.finish()
}

/// Finds the document, at the beginning of a line.
fn find(text: &str) -> Option<Document> {
    text.contains("\"numTotalTests\"").then_some(())?;
    let at_lines = text.match_indices('\n').map(|(at, _)| at + 1);
    let starts = std::iter::once(0).chain(at_lines).filter(|at| text[*at..].starts_with('{'));
    starts.take(MAX_STARTS).find_map(|at| {
        let mut documents = serde_json::Deserializer::from_str(&text[at..]).into_iter();
        documents.next()?.ok()
    })
}

fn take(builder: &mut ResultsBuilder, file: &File) {
    let name = file.name.as_deref();
    for test in &file.assertion_results {
        let outcome = match test.status.as_str() {
            "passed" => TestOutcome::Passed,
            "failed" => failed(&test.failure_messages.as_deref().unwrap_or_default().join("\n")),
            _ => TestOutcome::Skipped,
        };
        let seconds = test.duration.map(|millis| millis / 1_000.0);
        builder.add_test(&test.full_name(), name, outcome, seconds);
    }
    let is_failed = |test: &Assertion| test.status == "failed";
    if file.status == "failed" && !file.assertion_results.iter().any(is_failed) {
        // The file could not be run, or code around its tests failed.
        let said = file.message.as_deref().unwrap_or("the file could not be run");
        builder.add_test(name.unwrap_or_default(), name, failed(said), None);
    }
}
