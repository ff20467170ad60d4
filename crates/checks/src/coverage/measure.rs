//! Coverage of a change: [`CoverageMeasurement`], and its [`Gap`]s to a minimum.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Coverage, CoverageCount, FileCoverage, LineRanges, PathIndex};

/// The coverage in total and of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoverageMeasurement {
    /// The coverage of all that the tool measures, in the tool's unit.
    pub total: CoverageCount,
    /// The coverage of the lines that the change adds, as far as they can be covered.
    pub changed: CoverageCount,
    /// The coverage of each file that the change touches, by path.
    pub files: BTreeMap<String, FileMeasure>,
    /// The files that the change touches and the report lacks, although it has other files with the
    /// same extension.
    pub unmeasured: Vec<String>,
}

/// The coverage of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileMeasure {
    /// The coverage of the whole file, in the tool's unit.
    pub count: CoverageCount,
    /// The coverage of the lines that the change adds.
    pub changed: CoverageCount,
    /// The lines that no test reaches.
    pub missing: LineRanges,
    /// The lines that the change adds and no test reaches.
    pub missing_changed: LineRanges,
}

/// A part whose coverage is below a minimum.
#[derive(Debug, Clone, PartialEq)]
pub enum Gap<'a> {
    /// All that is measured.
    Total {
        /// The coverage.
        count: CoverageCount,
        /// The minimum, in percent.
        minimum: f64,
    },
    /// The lines that the change adds.
    Changed {
        /// The coverage.
        count: CoverageCount,
        /// The minimum, in percent.
        minimum: f64,
    },
    /// A file that the change touches.
    File {
        /// The path of the file.
        path: &'a str,
        /// The coverage.
        count: CoverageCount,
        /// The lines that no test reaches.
        missing: &'a LineRanges,
        /// The minimum, in percent.
        minimum: f64,
    },
}

impl fmt::Display for Gap<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gap::Total { count, minimum } => {
                write!(f, "coverage is {count}, below the minimum of {minimum}%")
            }
            Gap::Changed { count, minimum } => {
                write!(f, "coverage of changed lines is {count}, below the minimum of {minimum}%")
            }
            Gap::File { path, count, missing, minimum } => {
                write!(f, "coverage of `{path}` is {count}, below the minimum of {minimum}%")?;
                match missing.is_empty() {
                    true => Ok(()),
                    false => write!(f, "; no test reaches lines {missing}"),
                }
            }
        }
    }
}

impl CoverageMeasurement {
    /// Returns the parts below a minimum: the total, the changed lines, then each changed file.
    pub fn gaps(&self, minimum: f64) -> Vec<Gap<'_>> {
        let mut gaps = Vec::new();
        if !self.total.reaches(minimum) {
            gaps.push(Gap::Total { count: self.total, minimum });
        }
        if !self.changed.reaches(minimum) {
            gaps.push(Gap::Changed { count: self.changed, minimum });
        }
        let short = self.files.iter().filter(|(_, file)| !file.count.reaches(minimum));
        gaps.extend(short.map(|(path, FileMeasure { count, missing, .. })| Gap::File {
            path,
            count: *count,
            missing,
            minimum,
        }));
        gaps
    }
}

impl Coverage {
    /// Computes the coverage of a change. `changed` has the lines that each file gained, by path.
    pub fn measure(
        &self,
        paths: &PathIndex,
        changed: &BTreeMap<String, LineRanges>,
    ) -> CoverageMeasurement {
        let mut measured =
            CoverageMeasurement { total: self.total(), ..CoverageMeasurement::default() };
        let mut endings = BTreeSet::new();
        for (name, file) in &self.files {
            endings.extend(ending(name));
            let Some(path) = paths.find(name, &self.sources) else { continue };
            if let Some(lines) = changed.get(path) {
                let entry = measured.files.entry(path.to_owned()).or_default();
                entry.add(&FileMeasure::of(file, lines));
            }
        }
        measured.changed = measured.files.values().map(|file| file.changed).sum();
        let is_measured = |path: &&String| {
            measured.files.contains_key(*path)
                || ending(path).is_none_or(|it| !endings.contains(it))
        };
        measured.unmeasured = changed.keys().filter(|path| !is_measured(path)).cloned().collect();
        measured
    }
}

fn ending(name: &str) -> Option<&str> {
    let file = name.rsplit('/').next().unwrap_or(name);
    file.rsplit_once('.').map(|(_, ending)| ending)
}

impl FileMeasure {
    fn of(file: &FileCoverage, lines: &LineRanges) -> FileMeasure {
        let covered = file.covered.within(lines).count();
        let missing_changed = file.missed.within(lines);
        let total = covered.saturating_add(missing_changed.count());
        FileMeasure {
            count: file.count(),
            changed: CoverageCount { covered, total },
            missing: file.missed.clone(),
            missing_changed,
        }
    }

    /// Adds the coverage of a file that a report names twice.
    fn add(&mut self, other: &FileMeasure) {
        self.count = [self.count, other.count].into_iter().sum();
        self.changed = [self.changed, other.changed].into_iter().sum();
        self.missing = self.missing.with(&other.missing);
        self.missing_changed = self.missing_changed.with(&other.missing_changed);
    }
}
