//! Reports that agents submit for their tasks: [`ReportStore`].

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::task::TaskId;

/// The maximum number of reports for a task.
const MAX_REPORTS: u32 = 100;

/// The reason why a report could not be stored or read.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The task has the maximum number of reports.
    #[error("task `{0}` has {MAX_REPORTS} reports, which is the limit")]
    TooMany(TaskId),
    /// A file or folder cannot be read or written.
    #[error("cannot access `{path}`")]
    File {
        /// The path of the file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file is not valid JSON.
    #[error("`{path}` is damaged: {message}; delete it")]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// The error of the parser.
        message: String,
    },
}

/// The number of a report, with the report or the reason why it cannot be read.
pub type NumberedReport = (u32, Result<Value, ReportError>);

/// The reports of all tasks, stored as JSON files in the order of their submission:
/// `{task}/001.json`.
///
/// Callers decide on the content of a report. A stored report is never changed.
#[derive(Debug, Clone)]
pub struct ReportStore {
    folder: PathBuf,
}

impl ReportStore {
    /// Returns the reports in a folder, which is created with the first report.
    pub fn new(folder: impl Into<PathBuf>) -> ReportStore {
        ReportStore { folder: folder.into() }
    }

    /// Stores a report and returns its number, counted from 1.
    pub fn add(&self, task: &TaskId, report: &Value) -> Result<u32, ReportError> {
        let folder = self.folder.join(task.as_str());
        let fail = |source| ReportError::File { path: folder.clone(), source };
        fs::create_dir_all(&folder).map_err(fail)?;
        let first = numbers(&folder).map_err(fail)?.last().map_or(1, |last| last + 1);
        for number in first..=MAX_REPORTS {
            match write(&folder, number, report) {
                Ok(()) => return Ok(number),
                // Another process has just taken the number.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(fail(error)),
            }
        }
        Err(ReportError::TooMany(task.clone()))
    }

    /// Returns the reports of a task with their numbers, the oldest first. A report that cannot be
    /// read is an error at its position and hides no other report.
    pub fn for_task(&self, task: &TaskId) -> Result<Vec<NumberedReport>, ReportError> {
        let folder = self.folder.join(task.as_str());
        let fail = |source| ReportError::File { path: folder.clone(), source };
        let numbers = match numbers(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            numbers => numbers.map_err(fail)?,
        };
        let read = |number| {
            let path = report_path(&folder, number);
            let bytes = fs::read(&path)
                .map_err(|source| ReportError::File { path: path.clone(), source })?;
            serde_json::from_slice(&bytes)
                .map_err(|error| ReportError::Damaged { path, message: error.to_string() })
        };
        Ok(numbers.into_iter().map(|number| (number, read(number))).collect())
    }
}

fn report_path(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("{number:03}.json"))
}

/// Returns the numbers of the reports in a folder, in ascending order.
fn numbers(folder: &Path) -> io::Result<Vec<u32>> {
    let entries = fs::read_dir(folder)?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut numbers: Vec<u32> =
        names.filter_map(|name| name.strip_suffix(".json")?.parse().ok()).collect();
    numbers.sort_unstable();
    Ok(numbers)
}

/// Writes a report as a whole. Fails if the number is taken.
fn write(folder: &Path, number: u32, report: &Value) -> io::Result<()> {
    let mut draft = tempfile::Builder::new().suffix(".tmp").tempfile_in(folder)?;
    writeln!(draft, "{report:#}")?;
    draft.as_file().sync_all()?;
    draft.persist_noclobber(report_path(folder, number)).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reports_are_read_in_order_and_by_task() {
        let folder = tempfile::tempdir().unwrap();
        let reports = ReportStore::new(folder.path().join("reports"));
        let (one, other): (TaskId, TaskId) = ("one".parse().unwrap(), "other".parse().unwrap());
        assert!(reports.for_task(&one).unwrap().is_empty());
        assert_eq!(reports.add(&one, &json!({ "n": 1 })).unwrap(), 1);
        assert_eq!(reports.add(&one, &json!({ "n": 2 })).unwrap(), 2);
        assert_eq!(reports.add(&other, &json!({ "n": 3 })).unwrap(), 1);
        assert_eq!(read(&reports, &one), [(1, json!({ "n": 1 })), (2, json!({ "n": 2 }))]);
    }

    fn read(reports: &ReportStore, task: &TaskId) -> Vec<(u32, Value)> {
        let all = reports.for_task(task).unwrap();
        all.into_iter().filter_map(|(number, report)| Some((number, report.ok()?))).collect()
    }

    #[test]
    fn a_damaged_report_hides_no_other_and_the_numbers_do_not_change() {
        let folder = tempfile::tempdir().unwrap();
        let reports = ReportStore::new(folder.path());
        let task: TaskId = "one".parse().unwrap();
        for number in 1..=4 {
            reports.add(&task, &json!({ "n": number })).unwrap();
        }
        fs::remove_file(folder.path().join("one/001.json")).unwrap();
        fs::write(folder.path().join("one/003.json"), "{").unwrap();
        assert_eq!(read(&reports, &task), [(2, json!({ "n": 2 })), (4, json!({ "n": 4 }))]);
        let damaged = reports.for_task(&task).unwrap().remove(1);
        assert!(matches!(damaged, (3, Err(ReportError::Damaged { .. }))), "{damaged:?}");
    }

    #[test]
    fn reports_of_a_task_beyond_the_maximum_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let reports = ReportStore::new(folder.path());
        let task: TaskId = "one".parse().unwrap();
        for _ in 0..MAX_REPORTS {
            reports.add(&task, &Value::Null).unwrap();
        }
        assert!(matches!(reports.add(&task, &Value::Null), Err(ReportError::TooMany(_))));
    }
}
