//! The report files of a check: files that are new or changed since it started are its own.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use globset::{Glob, GlobBuilder, GlobMatcher};

use super::capture::Capture;
use crate::check::RequiredCheck;
use crate::command::REPORTS;
use crate::coverage::{self, Coverage};
use crate::discovery::ResultSource;
use crate::results::{self, RaisedSkip, ResultFormat, TestOutcome, TestReport, TestResult};

/// The maximum number of reports that are read, of bytes of a report, and of files that are visited
/// to find them.
const MAX_REPORTS: usize = 2_000;
const MAX_REPORT_BYTES: u64 = 64 << 20;
const MAX_FILES: usize = 500_000;

/// Folders with very many files and no reports.
const SKIPPED_FOLDERS: [&str; 2] = [".git", "node_modules"];

/// The reports of our reporter inside of pytest.
const SKIP_REPORTS: &str = "{reports}/pytest-*.jsonl";

/// The modification time and the size of a file.
type FileStamp = (Option<SystemTime>, u64);

/// The reports of a check, as they were before it.
pub(super) struct Reports {
    places: Vec<ReportGlob>,
}

/// A glob with its folder, and the files that it matched before the check.
struct ReportGlob {
    base: PathBuf,
    /// The matcher; `None` if the name is that of one file.
    glob: Option<GlobMatcher>,
    name: String,
    what: ReportKind,
    before: HashMap<PathBuf, FileStamp>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ReportKind {
    Results(ResultFormat),
    /// The locations that raised the skips of pytest.
    Skips,
    Coverage,
}

impl Reports {
    /// Records the reports that exist before a check runs.
    pub(super) fn snapshot(check: &RequiredCheck, folder: &Path, reports: &Path) -> Reports {
        let results = match &check.reading {
            ResultSource::Files { form, glob } => Some((glob.as_str(), ReportKind::Results(*form))),
            ResultSource::Guess | ResultSource::Nothing | ResultSource::Printed(_) => None,
        };
        let skips = check.reading.is_of_python().then_some((SKIP_REPORTS, ReportKind::Skips));
        let coverage = check.coverage.iter().map(|glob| (glob.as_str(), ReportKind::Coverage));
        let all = results.into_iter().chain(skips).chain(coverage);
        let places = all.filter_map(|(glob, what)| {
            let (base, name) = match glob.strip_prefix(REPORTS) {
                Some(rest) => (reports, rest.trim_start_matches('/')),
                None => (folder, glob),
            };
            let is_glob = name.contains(['*', '?', '[', '{']);
            let glob = match is_glob {
                true => Some(matcher(name)?),
                false => None,
            };
            let (base, name) = (base.to_owned(), name.to_owned());
            let mut place = ReportGlob { base, glob, name, what, before: HashMap::new() };
            place.before = place.files().into_iter().collect();
            Some(place)
        });
        Reports { places: places.collect() }
    }

    /// Reads the results of the tests, and returns true as well if the runner itself broke off.
    /// Output that is only missing because it was too long to be stored is a note.
    pub(super) fn tests(
        &self,
        check: &RequiredCheck,
        capture: &Capture,
        notes: &mut Vec<String>,
    ) -> (Option<TestReport>, bool) {
        let (text, is_cut) = capture.text();
        let tests = match &check.reading {
            ResultSource::Nothing => None,
            ResultSource::Guess => results::detect(&text).map(|(_, tests)| tests),
            ResultSource::Printed(form) => results::read(*form, &text),
            // If there is a report, text on stdout decides nothing: the code under test prints,
            // too.
            ResultSource::Files { form, .. } => {
                let mut tests = self.read_results(*form, notes);
                if let Some(tests) = &mut tests {
                    self.place_skips(tests);
                }
                let broke_off = tests.as_ref().is_some_and(|tests| tests.is_cut);
                return (tests, broke_off);
            }
        };
        let broke_off = !is_cut && tests.as_ref().is_some_and(|tests| tests.is_cut);
        if is_cut && tests.is_some() {
            notes.push("the output exceeds the size limit: not all results were read".to_owned());
        }
        (tests.map(|tests| TestReport { is_cut: tests.is_cut || is_cut, ..tests }), broke_off)
    }

    fn read_results(&self, form: ResultFormat, notes: &mut Vec<String>) -> Option<TestReport> {
        let mut all: Option<TestReport> = None;
        for (path, bytes) in self.new_reports(ReportKind::Results(form), notes) {
            match results::read(form, &bytes) {
                Some(tests) => {
                    if tests.is_cut {
                        notes.push(format!("the results in `{path}` are truncated"));
                    }
                    all.get_or_insert_default().add(tests);
                }
                None => notes.push(format!("cannot parse the results in `{path}`")),
            }
        }
        all
    }

    /// Adds the locations that raised the skips of pytest to the skipped tests.
    fn place_skips(&self, tests: &mut TestReport) {
        for (_, bytes) in self.new_reports(ReportKind::Skips, &mut Vec::new()) {
            for RaisedSkip { test, place } in results::raised_skips(&bytes) {
                let is_it = |known: &&mut TestResult| {
                    known.outcome == TestOutcome::Skipped
                        && known.skipped_in.is_none()
                        && test.as_deref().is_none_or(|id| is_named(&known.name, id))
                };
                if let Some(known) = tests.results.iter_mut().find(is_it) {
                    known.skipped_in = Some(place);
                }
            }
        }
    }

    /// Reads the coverage, of all reports together.
    pub(super) fn coverage(&self, notes: &mut Vec<String>) -> Option<Coverage> {
        let mut all: Option<Coverage> = None;
        for (path, bytes) in self.new_reports(ReportKind::Coverage, notes) {
            match (coverage::read(&bytes), &mut all) {
                (Ok(coverage), Some(all)) => all.add(coverage),
                (Ok(coverage), None) => all = Some(coverage),
                (Err(error), _) => notes.push(format!("`{path}`: {error}")),
            }
        }
        all
    }

    /// Returns the reports that the check itself wrote.
    fn new_reports(&self, what: ReportKind, notes: &mut Vec<String>) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        for place in self.places.iter().filter(|place| place.what == what) {
            let mut files: Vec<(PathBuf, FileStamp)> = place.files();
            files.retain(|(path, stamp)| place.before.get(path) != Some(stamp));
            files.sort();
            if files.len() > MAX_REPORTS {
                notes.push(format!("only {MAX_REPORTS} of {} reports were read", files.len()));
                files.truncate(MAX_REPORTS);
            }
            for (path, _) in files {
                let name = path.strip_prefix(&place.base).unwrap_or(&path).display().to_string();
                match read(&path) {
                    Some(bytes) => found.push((name, bytes)),
                    None => notes.push(format!("cannot read the report `{name}`")),
                }
            }
        }
        found
    }
}

impl ReportGlob {
    /// Returns the files that match, with their current time and size. Links are not followed.
    fn files(&self) -> Vec<(PathBuf, FileStamp)> {
        let Some(glob) = &self.glob else {
            let path = self.base.join(&self.name);
            return stamp(&path).map(|stamp| (path, stamp)).into_iter().collect();
        };
        let (mut found, mut seen) = (Vec::new(), 0);
        let mut waiting = vec![self.base.clone()];
        while let Some(folder) = waiting.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                seen += 1;
                let Ok(kind) = entry.file_type() else { continue };
                let path = entry.path();
                let is_left_out = SKIPPED_FOLDERS.iter().any(|name| entry.file_name() == *name);
                if kind.is_dir() && !is_left_out && seen < MAX_FILES {
                    waiting.push(path);
                } else if kind.is_file()
                    && path.strip_prefix(&self.base).is_ok_and(|below| glob.is_match(below))
                {
                    found.extend(stamp(&path).map(|stamp| (path, stamp)));
                }
            }
        }
        found
    }
}

/// Returns true if a test of a JUnit report, `tests.test_a.T > test_b`, is the one that pytest
/// calls `tests/test_a.py::T::test_b`.
fn is_named(name: &str, id: &str) -> bool {
    let (id, case) = match id.find('[') {
        Some(at) => id.split_at(at),
        None => (id, ""),
    };
    let (path, inside) = id.split_once("::").unwrap_or((id, ""));
    let (suites, test) = inside.rsplit_once("::").unwrap_or(("", inside));
    let module = path.strip_suffix(".py").unwrap_or(path).replace('/', ".");
    let class = match suites {
        "" => module,
        suites => format!("{module}.{}", suites.replace("::", ".")),
    };
    name == format!("{class} > {test}{case}")
}

fn matcher(glob: &str) -> Option<GlobMatcher> {
    let glob: Glob = GlobBuilder::new(glob).literal_separator(true).build().ok()?;
    Some(glob.compile_matcher())
}

fn stamp(path: &Path) -> Option<FileStamp> {
    let found = path.symlink_metadata().ok().filter(|found| found.is_file())?;
    Some((found.modified().ok(), found.len()))
}

/// Reads a report; `None` if it cannot be read or is too long.
fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(MAX_REPORT_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= MAX_REPORT_BYTES).then_some(bytes)
}
