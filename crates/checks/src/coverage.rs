//! Coverage reports: [`read`] parses one as [`Coverage`], [`Coverage::measure`] compares it with a
//! change.
//!
//! The format is recognised by the content. A truncated report is rejected: half of the files would
//! look like all of them. Coverage is counted as the tool itself counts it, so that a minimum has
//! the same meaning for assay and for the tool.

mod cobertura;
mod count;
mod go;
mod istanbul;
mod jacoco;
mod lcov;
mod lines;
mod llvm;
mod measure;
mod path_index;
mod python;

use std::collections::BTreeMap;

pub use self::count::CoverageCount;
pub use self::lines::{LineRanges, LineRangesError};
pub use self::measure::{CoverageMeasurement, FileMeasure, Gap};
pub use self::path_index::PathIndex;
use crate::xml;

/// The format of a coverage report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CoverageFormat {
    /// The trace file of lcov.
    Lcov,
    /// The XML of Cobertura.
    Cobertura,
    /// The XML of JaCoCo.
    Jacoco,
    /// The JSON of coverage.py.
    CoveragePy,
    /// Istanbul's `coverage-final.json`.
    Istanbul,
    /// Istanbul's `coverage-summary.json`, which names no lines.
    IstanbulSummary,
    /// A profile of `go test -coverprofile`.
    GoProfile,
    /// The JSON of `llvm-cov export`.
    Llvm,
}

/// The reason that a text is not a coverage report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CoverageError {
    /// The format is unknown.
    #[error("unknown format of the coverage report")]
    UnknownForm,
    /// The format is known, and the report is invalid or truncated.
    #[error("the {0} report is invalid or truncated")]
    Broken(&'static str),
    /// The report names no file.
    #[error("the {0} report measures nothing")]
    Empty(&'static str),
}

/// The lines of each file that the tests reach.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Coverage {
    /// The files, by their names in the report.
    files: BTreeMap<String, FileCoverage>,
    /// Folders that names in the report may start from.
    sources: Vec<String>,
}

/// The lines of a file that the tests reach.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct FileCoverage {
    covered: LineRanges,
    missed: LineRanges,
    /// The count of the tool; `None` if the tool counts lines.
    counted: Option<CoverageCount>,
}

impl FileCoverage {
    fn count(&self) -> CoverageCount {
        self.counted.unwrap_or_else(|| CoverageCount {
            covered: self.covered.count(),
            total: self.covered.count().saturating_add(self.missed.count()),
        })
    }
}

/// The lines of a file while a report is parsed.
#[derive(Debug, Default)]
pub(crate) struct LineHits {
    hit: Vec<(u32, u32)>,
    all: Vec<(u32, u32)>,
    counted: Option<CoverageCount>,
}

impl LineHits {
    /// Adds a range of lines.
    fn add(&mut self, first: u32, last: u32, is_hit: bool) {
        self.all.push((first, last));
        if is_hit {
            self.hit.push((first, last));
        }
    }

    /// Adds to the count of the tool.
    fn counts(&mut self, covered: u64, total: u64) {
        let count = self.counted.get_or_insert_default();
        count.covered = count.covered.saturating_add(covered);
        count.total = count.total.saturating_add(total);
    }

    fn settle(self) -> FileCoverage {
        let covered = LineRanges::new(self.hit);
        let missed = LineRanges::new(self.all).without(&covered);
        FileCoverage { covered, missed, counted: self.counted }
    }
}

/// All files while a report is parsed, by name.
type FileHits = BTreeMap<String, LineHits>;

fn into_coverage(reading: FileHits, sources: Vec<String>) -> Coverage {
    let files = reading.into_iter().map(|(name, hits)| (name, hits.settle())).collect();
    Coverage { files, sources }
}

impl CoverageFormat {
    /// Returns the format of a report, by its content.
    pub fn detect(text: &str) -> Option<CoverageFormat> {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        if text.starts_with('<') {
            return match xml::root(text)?.as_str() {
                "coverage" => Some(CoverageFormat::Cobertura),
                "report" => Some(CoverageFormat::Jacoco),
                _ => None,
            };
        }
        if text.starts_with('{') {
            return json_format(text);
        }
        if text.starts_with("mode: ") {
            return Some(CoverageFormat::GoProfile);
        }
        ["TN:", "SF:"].iter().any(|mark| text.starts_with(mark)).then_some(CoverageFormat::Lcov)
    }

    fn name(self) -> &'static str {
        match self {
            CoverageFormat::Lcov => "lcov",
            CoverageFormat::Cobertura => "Cobertura",
            CoverageFormat::Jacoco => "JaCoCo",
            CoverageFormat::CoveragePy => "coverage.py",
            CoverageFormat::Istanbul | CoverageFormat::IstanbulSummary => "Istanbul",
            CoverageFormat::GoProfile => "Go",
            CoverageFormat::Llvm => "LLVM",
        }
    }

    fn reader(self) -> fn(&str) -> Option<Coverage> {
        match self {
            CoverageFormat::Lcov => lcov::read,
            CoverageFormat::Cobertura => cobertura::read,
            CoverageFormat::Jacoco => jacoco::read,
            CoverageFormat::CoveragePy => python::read,
            CoverageFormat::Istanbul => istanbul::read,
            CoverageFormat::IstanbulSummary => istanbul::read_summary,
            CoverageFormat::GoProfile => go::read,
            CoverageFormat::Llvm => llvm::read,
        }
    }
}

/// Distinguishes the JSON formats by keys that only one of them has, at any position: tools write
/// keys in any order.
fn json_format(text: &str) -> Option<CoverageFormat> {
    let has = |key: &str| text.contains(key);
    if has("\"llvm.coverage.json.export\"") {
        return Some(CoverageFormat::Llvm);
    }
    if has("\"executed_lines\"") || (has("\"num_statements\"") && has("\"totals\"")) {
        return Some(CoverageFormat::CoveragePy);
    }
    if has("\"statementMap\"") {
        return Some(CoverageFormat::Istanbul);
    }
    (has("\"total\"") && has("\"pct\"")).then_some(CoverageFormat::IstanbulSummary)
}

/// Parses a coverage report of any format.
pub fn read(bytes: &[u8]) -> Result<Coverage, CoverageError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let form = CoverageFormat::detect(text).ok_or(CoverageError::UnknownForm)?;
    let coverage = form.reader()(text).ok_or(CoverageError::Broken(form.name()))?;
    match coverage.files.is_empty() {
        true => Err(CoverageError::Empty(form.name())),
        false => Ok(coverage),
    }
}

impl Coverage {
    /// Returns the coverage of all that is measured.
    pub fn total(&self) -> CoverageCount {
        self.files.values().map(FileCoverage::count).sum()
    }

    /// Adds another report, such as that of another package. A line is covered if it is covered in
    /// one of the reports. Counts in other units cannot be compared, so they are added up.
    pub fn add(&mut self, other: Coverage) {
        for (name, file) in other.files {
            let before = self.files.entry(name).or_default();
            let covered = before.covered.with(&file.covered);
            before.missed = before.missed.with(&file.missed).without(&covered);
            before.covered = covered;
            before.counted = match (before.counted, file.counted) {
                (Some(one), Some(two)) => Some([one, two].into_iter().sum()),
                (one, two) => one.or(two),
            };
        }
        self.sources.extend(other.sources);
    }
}
