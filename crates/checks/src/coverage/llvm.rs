//! The JSON of `llvm-cov export`, also written by `cargo llvm-cov --json`.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{Coverage, FileHits, LineHits, into_coverage};

#[derive(Deserialize)]
struct Document {
    data: Vec<Export>,
}

#[derive(Deserialize)]
struct Export {
    files: Vec<File>,
}

#[derive(Deserialize)]
struct File {
    filename: String,
    #[serde(default)]
    segments: Vec<Segment>,
    summary: Option<Summary>,
}

#[derive(Deserialize)]
struct Summary {
    lines: Lines,
}

#[derive(Deserialize)]
struct Lines {
    count: u64,
    covered: u64,
}

/// The start of a region with one execution count: line, column, count, whether the count is known,
/// whether a region begins here, and whether that region is a gap between others.
#[derive(Deserialize)]
struct Segment(u32, IgnoredAny, f64, bool, bool, #[serde(default)] bool);

impl Segment {
    fn line(&self) -> u32 {
        self.0
    }

    fn is_start(&self) -> bool {
        let Segment(.., is_known, is_entry, is_gap) = self;
        *is_known && *is_entry && !is_gap
    }
}

pub(super) fn read(text: &str) -> Option<Coverage> {
    let document: Document = serde_json::from_str(text).ok()?;
    let mut reading = FileHits::new();
    for file in document.data.into_iter().flat_map(|export| export.files) {
        let hits = reading.entry(file.filename).or_default();
        add(hits, &file.segments);
        if let Some(Summary { lines }) = file.summary {
            hits.counts(lines.covered.min(lines.count), lines.count);
        }
    }
    Some(into_coverage(reading, Vec::new()))
}

/// Adds the lines of segments in the same way as LLVM's own report: the count of a line is the
/// highest of the region that continues into the line and the regions that begin on it.
fn add(hits: &mut LineHits, segments: &[Segment]) {
    let mut before: Option<&Segment> = None;
    let mut rest = segments;
    while let Some(first) = rest.first() {
        let line = first.line();
        let here = rest.iter().take_while(|segment| segment.line() == line).count().max(1);
        let (on_line, behind) = rest.split_at(here);
        let reaching = before.filter(|segment| segment.3);
        let starts = || on_line.iter().filter(|segment| segment.is_start());
        let is_skipped = !first.3 && first.4;
        let is_mapped = !is_skipped && (reaching.is_some() || starts().next().is_some())
            || on_line.iter().any(|segment| segment.3 && segment.4);
        if is_mapped {
            let most = starts().map(|segment| segment.2).fold(0.0, f64::max);
            hits.add(line, line, before.map_or(0.0, |segment| segment.2).max(most) > 0.0);
        }
        before = on_line.last();
        // The lines up to the next segment have the same count.
        if let (Some(last), Some(next)) = (before.filter(|segment| segment.3), behind.first())
            && let Some(between) = next.line().checked_sub(1).filter(|end| *end > line)
        {
            hits.add(line + 1, between, last.2 > 0.0);
        }
        rest = behind;
    }
}
