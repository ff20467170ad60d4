//! The trace file of lcov.

use super::{Coverage, FileHits, into_coverage};

/// Parses the records. A record without an end makes the whole report invalid.
pub(super) fn read(text: &str) -> Option<Coverage> {
    let mut reading = FileHits::new();
    let mut name: Option<&str> = None;
    let (mut lines, mut found, mut hit) = (0_usize, None, None);
    for line in text.lines().map(str::trim) {
        if let Some(file) = line.strip_prefix("SF:") {
            (name, lines, found, hit) = (Some(file), 0, None, None);
            reading.entry(file.to_owned()).or_default();
        } else if let Some(data) = line.strip_prefix("DA:") {
            let mut parts = data.split(',');
            let line: u32 = parts.next()?.trim().parse().ok()?;
            let count: f64 = parts.next()?.trim().parse().ok()?;
            reading.get_mut(name?)?.add(line, line, count > 0.0);
            lines += 1;
        } else if let Some(count) = line.strip_prefix("LF:") {
            found = count.trim().parse::<u64>().ok();
        } else if let Some(count) = line.strip_prefix("LH:") {
            hit = count.trim().parse::<u64>().ok();
        } else if line == "end_of_record" {
            // Some tools leave out the lines and write only the counts.
            if let (0, Some(found), Some(hit)) = (lines, found, hit) {
                reading.get_mut(name?)?.counts(hit.min(found), found);
            }
            name = None;
        }
    }
    name.is_none().then(|| into_coverage(reading, Vec::new()))
}
