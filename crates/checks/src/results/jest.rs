//! The JSON of jest and vitest.

use serde::Deserialize;

use super::sheet::{Sheet, WITHIN, failed};
use super::{Outcome, Tests, Totals};

/// The maximum number of lines that are tried as the start of the document: programs print before
/// it.
const MOST_TRIES: usize = 16;

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
    fn called(&self) -> String {
        let Some(title) = &self.title else {
            return self.full_name.clone().unwrap_or_default();
        };
        let suites = self.ancestor_titles.iter().flatten();
        let suites = suites.map(|suite| suite.trim()).filter(|suite| !suite.is_empty());
        suites.chain([title.trim()]).collect::<Vec<_>>().join(WITHIN)
    }
}

pub(super) fn read(text: &str) -> Option<Tests> {
    let document = find(text)?;
    let mut sheet = Sheet::default();
    let Document { num_total_tests: total, num_passed_tests: passed, .. } = document;
    let failures = document.num_failed_tests;
    let skipped = total.saturating_sub(passed).saturating_sub(failures);
    sheet.claim(Totals { passed, failed: failures, skipped });
    for file in &document.test_results {
        take(&mut sheet, file);
    }
    sheet.finish()
}

/// Finds the document, at the beginning of a line.
fn find(text: &str) -> Option<Document> {
    text.contains("\"numTotalTests\"").then_some(())?;
    let at_lines = text.match_indices('\n').map(|(at, _)| at + 1);
    let starts = std::iter::once(0).chain(at_lines).filter(|at| text[*at..].starts_with('{'));
    starts.take(MOST_TRIES).find_map(|at| {
        let mut documents = serde_json::Deserializer::from_str(&text[at..]).into_iter();
        documents.next()?.ok()
    })
}

fn take(sheet: &mut Sheet, file: &File) {
    let name = file.name.as_deref();
    for test in &file.assertion_results {
        let outcome = match test.status.as_str() {
            "passed" => Outcome::Passed,
            "failed" => failed(&test.failure_messages.as_deref().unwrap_or_default().join("\n")),
            _ => Outcome::Skipped,
        };
        let seconds = test.duration.map(|millis| millis / 1_000.0);
        sheet.take(&test.called(), name, outcome, seconds);
    }
    let is_failed = |test: &Assertion| test.status == "failed";
    if file.status == "failed" && !file.assertion_results.iter().any(is_failed) {
        // The file could not be run, or code around its tests failed.
        let said = file.message.as_deref().unwrap_or("the file could not be run");
        sheet.take(name.unwrap_or_default(), name, failed(said), None);
    }
}
