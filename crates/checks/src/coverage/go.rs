//! A profile of `go test -coverprofile`.

use std::collections::HashMap;

use super::{Coverage, FileHits, into_coverage};

/// Parses the blocks of a profile. A block that several packages test occurs several times; Go
/// counts the statements in it once.
pub(super) fn read(text: &str) -> Option<Coverage> {
    let mut blocks: HashMap<(&str, &str), (u64, bool)> = HashMap::new();
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with("mode: ") {
            continue;
        }
        let (place, numbers) = line.split_once(' ')?;
        let (statements, count) = numbers.split_once(' ')?;
        let (name, range) = place.rsplit_once(':')?;
        let count: u64 = count.parse().ok()?;
        let block = blocks.entry((name, range)).or_insert((statements.parse().ok()?, false));
        block.1 |= count > 0;
    }
    let mut reading = FileHits::new();
    for ((name, range), (statements, is_hit)) in blocks {
        let (first, last) = lines(range)?;
        let hits = reading.entry(name.to_owned()).or_default();
        hits.add(first, last, is_hit);
        hits.counts(if is_hit { statements } else { 0 }, statements);
    }
    Some(into_coverage(reading, Vec::new()))
}

/// Parses `3.26,5.2`: the line and column of the start and of the end. A block that ends before the
/// first character of a line does not include that line.
fn lines(range: &str) -> Option<(u32, u32)> {
    let (from, to) = range.split_once(',')?;
    let first: u32 = from.split_once('.')?.0.parse().ok()?;
    let (last, column) = to.split_once('.')?;
    let last: u32 = last.parse().ok()?;
    let is_outside = column == "1" && last > first;
    Some((first, if is_outside { last - 1 } else { last }))
}
