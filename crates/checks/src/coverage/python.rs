//! The JSON of coverage.py.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Coverage, FileHits, into_coverage};

#[derive(Deserialize)]
struct Document {
    files: BTreeMap<String, File>,
}

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    executed_lines: Vec<u32>,
    #[serde(default)]
    missing_lines: Vec<u32>,
    summary: Summary,
}

#[derive(Deserialize)]
struct Summary {
    covered_lines: u64,
    num_statements: u64,
    #[serde(default)]
    covered_branches: u64,
    #[serde(default)]
    num_branches: u64,
}

/// Parses the lines of files. The count has statements, and branches if they were measured.
pub(super) fn read(text: &str) -> Option<Coverage> {
    let document: Document = serde_json::from_str(text).ok()?;
    let mut reading = FileHits::new();
    for (name, file) in document.files {
        let hits = reading.entry(name).or_default();
        file.executed_lines.iter().for_each(|line| hits.add(*line, *line, true));
        file.missing_lines.iter().for_each(|line| hits.add(*line, *line, false));
        let Summary { covered_lines, num_statements, covered_branches, num_branches } =
            file.summary;
        let covered = covered_lines.saturating_add(covered_branches);
        hits.counts(covered, num_statements.saturating_add(num_branches));
    }
    Some(into_coverage(reading, Vec::new()))
}
