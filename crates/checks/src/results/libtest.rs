//! Lines of JSON of libtest and nextest.

use std::borrow::Cow;

use serde::Deserialize;

use super::results_builder::{ResultsBuilder, SUITE_SEPARATOR, failed};
use super::{TestOutcome, TestReport};

#[derive(Deserialize)]
struct Line<'a> {
    r#type: Cow<'a, str>,
    event: Cow<'a, str>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    exec_time: Option<f64>,
    stdout: Option<String>,
    message: Option<String>,
}

/// Parses the events, one after the other. The counts of suites are ignored: nextest counts a test
/// twice that takes longer than the others of its suite.
pub(super) fn read(text: &str) -> Option<TestReport> {
    let mut builder = ResultsBuilder::default();
    let mut open = 0_usize;
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let Ok(line) = serde_json::from_str::<Line<'_>>(line) else { continue };
        match (&*line.r#type, &*line.event) {
            ("suite", "started") => {
                builder.mark_recognized();
                open += 1;
            }
            ("suite", _) => open = open.saturating_sub(1),
            ("test", "ok") => take(&mut builder, &line, TestOutcome::Passed),
            ("test", "ignored") => take(&mut builder, &line, TestOutcome::Skipped),
            ("test", "failed" | "timeout") => {
                let said = line.stdout.as_deref().or(line.message.as_deref());
                take(&mut builder, &line, failed(said.unwrap_or_default()));
            }
            _ => {}
        }
    }
    if open > 0 {
        builder.mark_truncated();
    }
    builder.finish()
}

fn take(builder: &mut ResultsBuilder, line: &Line<'_>, outcome: TestOutcome) {
    if let Some(name) = &line.name {
        // The name of nextest: the binary, a dollar sign, the test.
        builder.add_test(&name.replacen('$', SUITE_SEPARATOR, 1), None, outcome, line.exec_time);
    }
}
