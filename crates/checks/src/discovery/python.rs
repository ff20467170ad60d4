//! Python: pytest, or `unittest` if the tests are written for it alone.

use std::collections::BTreeSet;

use super::file_index::{FileIndex, Language, around, join, outermost};
use super::{Build, CoverageRun, Discovery, Framework, ResultSource, TestKind};
use crate::command::{CommandLine, REPORTS};

/// Files that make a folder a Python project.
const MANIFESTS: [&str; 7] =
    ["pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", "Pipfile", "manage.py"];

/// The maximum number of test files that are read to find the framework that they are written for.
const MAX_TEST_FILES: usize = 50;

pub(super) fn detect(index: &FileIndex<'_>, found: &mut Discovery) {
    let is_manifest = |name: &str| MANIFESTS.contains(&name) || is_requirements(name);
    let mut folders = index.folders_where(is_manifest);
    folders.retain(|folder| !folder.split('/').any(|part| part == "tests" || part == "test"));
    let packages: BTreeSet<&str> = outermost(folders).into_iter().collect();
    for folder in &packages {
        if let Some(framework) = framework(index, folder) {
            found.frameworks.push(framework);
        }
        let command = CommandLine::words(["python3", "-m", "compileall", "-q", "."]);
        found.builds.push(Build { folder: (*folder).to_owned(), command });
    }
    // Tests outside of all projects are run from the root.
    let is_astray = |path| around(path, &packages).is_none();
    if index.tests(Language::Python, "").any(is_astray) {
        found.frameworks.extend(framework(index, ""));
    }
}

fn is_requirements(name: &str) -> bool {
    name.starts_with("requirements") && name.ends_with(".txt")
}

fn framework(index: &FileIndex<'_>, folder: &str) -> Option<Framework> {
    let tests: Vec<&str> = index.tests(Language::Python, folder).collect();
    let is_set_up = is_set_up(index, folder);
    if is_set_up || (!tests.is_empty() && !is_unittest(index, &tests)) {
        return Some(pytest(index, folder, is_set_up));
    }
    (!tests.is_empty()).then(|| unittest(index, folder, &tests))
}

/// Returns true if the project configures or requires pytest.
fn is_set_up(index: &FileIndex<'_>, folder: &str) -> bool {
    let says = |name: &str, mark: &str| {
        index.text(folder, name).lines().any(|line| line.trim_start().starts_with(mark))
    };
    let needs = |name: &str| index.text(folder, name).contains("pytest");
    index.has(folder, "pytest.ini")
        || index.has(folder, "conftest.py")
        || index.has(&join(folder, "tests"), "conftest.py")
        || says("pyproject.toml", "[tool.pytest")
        || says("setup.cfg", "[tool:pytest]")
        || says("tox.ini", "[pytest]")
        || ["pyproject.toml", "setup.py", "setup.cfg", "tox.ini", "Pipfile"].into_iter().any(needs)
        || index.names(folder).filter(|name| is_requirements(name)).any(needs)
}

/// Returns true if tests are written for `unittest` alone.
fn is_unittest(index: &FileIndex<'_>, tests: &[&str]) -> bool {
    let mut is_any = false;
    for path in tests.iter().take(MAX_TEST_FILES) {
        let text = index.text_of(path);
        if text.contains("pytest") || text.lines().any(|line| line.starts_with("def test")) {
            return false;
        }
        is_any |= text.contains("TestCase");
    }
    is_any
}

fn pytest(index: &FileIndex<'_>, folder: &str, is_set_up: bool) -> Framework {
    // The package manager knows the location of the dependencies.
    let by: &[&str] = match super::package_manager(index, folder) {
        Some("uv") => &["uv", "run"],
        Some("poetry") => &["poetry", "run"],
        Some("pipenv") => &["pipenv", "run"],
        _ => &[],
    };
    let command = CommandLine::words(by.iter().copied()).with(["pytest"]);
    let (results, report) = (format!("{REPORTS}/pytest.xml"), format!("{REPORTS}/coverage.json"));
    let measure = ["--cov".to_owned(), format!("--cov-report=json:{report}")];
    Framework {
        name: "pytest".to_owned(),
        kind: TestKind::All,
        folder: folder.to_owned(),
        run: command.clone().with([format!("--junitxml={results}")]),
        reading: ResultSource::of_pytest(),
        coverage: Some(CoverageRun { command: command.clone().with(measure), glob: report }),
        command,
        is_set_up,
        has_tests: index.has_tests(Language::Python, folder),
        has_integration: index.has_integration(Language::Python, folder),
    }
}

fn unittest(index: &FileIndex<'_>, folder: &str, tests: &[&str]) -> Framework {
    let mut command = CommandLine::words(["python3", "-m", "unittest", "discover"]);
    if let Some(start) = only_folder(index, folder, tests) {
        command = command.with(["-s", start]);
    }
    if tests.iter().all(|path| path.ends_with("_test.py")) {
        command = command.with(["-p", "*_test.py"]);
    }
    Framework {
        name: "unittest".to_owned(),
        kind: TestKind::All,
        folder: folder.to_owned(),
        run: command.clone().with(["-v"]),
        reading: ResultSource::of_unittest(),
        coverage: None,
        command,
        is_set_up: false,
        has_tests: index.has_tests(Language::Python, folder),
        has_integration: index.has_integration(Language::Python, folder),
    }
}

/// Returns the folder that contains all tests, if it is not a package: only then the command must
/// name the folder.
fn only_folder<'a>(index: &FileIndex<'_>, folder: &str, tests: &[&'a str]) -> Option<&'a str> {
    let folder_of = |path: &&'a str| path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let first = folder_of(tests.first()?);
    let is_only = tests.iter().all(|path| folder_of(path) == first);
    if !is_only || first == folder || index.has(first, "__init__.py") {
        return None;
    }
    let inside = first.strip_prefix(folder)?;
    Some(inside.strip_prefix('/').unwrap_or(inside))
}
