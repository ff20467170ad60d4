//! Lines of JSON of libtest and nextest.

use std::borrow::Cow;

use serde::Deserialize;

use super::sheet::{Sheet, WITHIN, failed};
use super::{Outcome, Tests};

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
pub(super) fn read(text: &str) -> Option<Tests> {
    let mut sheet = Sheet::default();
    let mut open = 0_usize;
    for line in text.lines().filter(|line| line.starts_with('{')) {
        let Ok(line) = serde_json::from_str::<Line<'_>>(line) else { continue };
        match (&*line.r#type, &*line.event) {
            ("suite", "started") => {
                sheet.seen();
                open += 1;
            }
            ("suite", _) => open = open.saturating_sub(1),
            ("test", "ok") => take(&mut sheet, &line, Outcome::Passed),
            ("test", "ignored") => take(&mut sheet, &line, Outcome::Skipped),
            ("test", "failed" | "timeout") => {
                let said = line.stdout.as_deref().or(line.message.as_deref());
                take(&mut sheet, &line, failed(said.unwrap_or_default()));
            }
            _ => {}
        }
    }
    if open > 0 {
        sheet.cut();
    }
    sheet.finish()
}

fn take(sheet: &mut Sheet, line: &Line<'_>, outcome: Outcome) {
    if let Some(name) = &line.name {
        // The name of nextest: the binary, a dollar sign, the test.
        sheet.take(&name.replacen('$', WITHIN, 1), None, outcome, line.exec_time);
    }
}
