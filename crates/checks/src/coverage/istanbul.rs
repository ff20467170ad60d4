//! Istanbul's JSON, as jest, nyc, c8 and vitest write it: in full, and as a summary.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Coverage, FileHits, into_coverage};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    path: Option<String>,
    statement_map: BTreeMap<String, Place>,
    s: BTreeMap<String, f64>,
}

#[derive(Deserialize)]
struct Place {
    start: Position,
}

#[derive(Deserialize)]
struct Position {
    line: Option<u32>,
}

/// Parses the statements. As in Istanbul, a line is covered if a statement that starts on it is.
pub(super) fn read(text: &str) -> Option<Coverage> {
    let files: BTreeMap<String, File> = serde_json::from_str(text).ok()?;
    let mut reading = FileHits::new();
    for (name, file) in files {
        let hits = reading.entry(file.path.unwrap_or(name)).or_default();
        for (id, place) in &file.statement_map {
            let count = file.s.get(id).copied().unwrap_or(0.0);
            if let Some(line) = place.start.line {
                hits.add(line, line, count > 0.0);
            }
        }
    }
    Some(into_coverage(reading, Vec::new()))
}

#[derive(Deserialize)]
struct Summary {
    lines: Counted,
}

#[derive(Deserialize)]
struct Counted {
    total: u64,
    covered: u64,
}

/// Parses a summary, which counts lines and does not name them.
pub(super) fn read_summary(text: &str) -> Option<Coverage> {
    let mut files: BTreeMap<String, Summary> = serde_json::from_str(text).ok()?;
    let total = files.remove("total")?;
    let mut reading = FileHits::new();
    if files.is_empty() && total.lines.total > 0 {
        // The summary has only the total, of files that it does not name.
        files.insert(String::new(), total);
    }
    for (name, Summary { lines }) in files {
        reading.entry(name).or_default().counts(lines.covered.min(lines.total), lines.total);
    }
    Some(into_coverage(reading, Vec::new()))
}
