//! Go: `go test`, in each module.

use super::file_index::{FileIndex, Language};
use super::{Build, CoverageRun, Discovery, Framework, ResultSource, TestKind};
use crate::command::{CommandLine, REPORTS};
use crate::results::ResultFormat;

pub(super) fn detect(index: &FileIndex<'_>, found: &mut Discovery) {
    for folder in index.folders_with("go.mod") {
        let report = format!("{REPORTS}/go.cover");
        let coverage = CoverageRun {
            command: CommandLine::words(["go", "test"])
                .with([format!("-coverprofile={report}").as_str(), "./..."]),
            glob: report,
        };
        found.frameworks.push(Framework {
            name: "go_test".to_owned(),
            kind: TestKind::All,
            folder: folder.to_owned(),
            command: CommandLine::words(["go", "test", "./..."]),
            run: CommandLine::words(["go", "test", "-json", "./..."]),
            reading: ResultSource::Printed(ResultFormat::GoJson),
            coverage: Some(coverage),
            is_set_up: false,
            has_tests: index.has_tests(Language::Go, folder),
            has_integration: index.has_integration(Language::Go, folder),
        });
        let command = CommandLine::words(["go", "build", "./..."]);
        found.builds.push(Build { folder: folder.to_owned(), command });
    }
}
