//! PHP: PHPUnit and Pest.

use super::file_index::{FileIndex, Language, join, outermost};
use super::{CoverageRun, Discovery, Framework, ResultSource, TestKind};
use crate::command::{CommandLine, REPORTS};
use crate::results::ResultFormat;

pub(super) fn detect(index: &FileIndex<'_>, found: &mut Discovery) {
    let is_manifest =
        |name: &str| matches!(name, "composer.json" | "phpunit.xml" | "phpunit.xml.dist");
    for folder in outermost(index.folders_where(is_manifest)) {
        let needs = index.text(folder, "composer.json");
        let is_configured =
            index.has(folder, "phpunit.xml") || index.has(folder, "phpunit.xml.dist");
        let is_pest =
            needs.contains("pestphp/pest") || index.has(&join(folder, "tests"), "Pest.php");
        let is_set_up = is_pest || is_configured || needs.contains("phpunit/phpunit");
        if !is_set_up && !index.has_tests(Language::Php, folder) {
            continue;
        }
        let name = if is_pest { "pest" } else { "phpunit" };
        let command = CommandLine::words([format!("vendor/bin/{name}")]);
        let (results, report) = (format!("{REPORTS}/php.xml"), format!("{REPORTS}/cobertura.xml"));
        let measure = CoverageRun {
            command: command.clone().with(["--coverage-cobertura", &report]),
            glob: report,
        };
        found.frameworks.push(Framework {
            name: name.to_owned(),
            kind: TestKind::All,
            folder: folder.to_owned(),
            run: command.clone().with(["--log-junit", &results]),
            command,
            reading: ResultSource::Files { form: ResultFormat::Junit, glob: results },
            coverage: Some(measure),
            is_set_up,
            has_tests: index.has_tests(Language::Php, folder),
            has_integration: index.has_integration(Language::Php, folder),
        });
    }
}
