//! C and C++: CTest and Meson, built outside of the tree; a Makefile with a target for tests.

use std::collections::BTreeSet;

use super::file_index::{FileIndex, Language, around, outermost};
use super::{Build, Discovery, Framework, ResultSource, TestKind};
use crate::command::{CommandLine, REPORTS};
use crate::results::ResultFormat;

/// Commands in a `CMakeLists.txt` that indicate tests.
const CMAKE_TEST_COMMANDS: [&str; 4] =
    ["enable_testing", "add_test", "gtest_discover_tests", "include(CTest)"];

pub(super) fn detect(index: &FileIndex<'_>, found: &mut Discovery) {
    for folder in outermost(index.folders_with("CMakeLists.txt")) {
        let build = format!("cmake -S . -B {REPORTS}/build && cmake --build {REPORTS}/build");
        found
            .builds
            .push(Build { folder: folder.to_owned(), command: CommandLine::script(&build) });
        let text = index.text(folder, "CMakeLists.txt");
        if CMAKE_TEST_COMMANDS.iter().any(|mark| text.contains(mark)) {
            let run = format!(
                "{build} && ctest --test-dir {REPORTS}/build --output-junit {REPORTS}/ctest.xml"
            );
            let command = CommandLine::words(["ctest"]);
            push(index, folder, "ctest", (command, run), "ctest.xml", found);
        }
    }
    let outer: BTreeSet<&str> = outermost(index.folders_with("meson.build")).into_iter().collect();
    let with_tests = index.folders_with("meson.build").filter(|folder| has_test(index, folder));
    let tested: BTreeSet<&str> = with_tests.filter_map(|folder| around(folder, &outer)).collect();
    for folder in outer {
        let build = format!("meson setup {REPORTS}/build && meson compile -C {REPORTS}/build");
        found
            .builds
            .push(Build { folder: folder.to_owned(), command: CommandLine::script(&build) });
        if tested.contains(folder) {
            let run = format!("meson setup {REPORTS}/build && meson test -C {REPORTS}/build");
            let command = CommandLine::words(["meson", "test"]);
            let results = "build/meson-logs/testlog.junit.xml";
            push(index, folder, "meson", (command, run), results, found);
        }
    }
    if found.frameworks.is_empty() {
        found.frameworks.extend(make_tests(index));
    }
    if found.builds.is_empty() {
        found.builds.extend(make_build(index));
    }
}

fn has_test(index: &FileIndex<'_>, folder: &str) -> bool {
    index.text(folder, "meson.build").lines().any(|line| line.trim_start().starts_with("test("))
}

fn push(
    index: &FileIndex<'_>,
    folder: &str,
    name: &str,
    (command, run): (CommandLine, String),
    results: &str,
    found: &mut Discovery,
) {
    found.frameworks.push(Framework {
        name: name.to_owned(),
        kind: TestKind::All,
        folder: folder.to_owned(),
        command,
        run: CommandLine::script(run),
        reading: ResultSource::Files {
            form: ResultFormat::Junit,
            glob: format!("{REPORTS}/{results}"),
        },
        coverage: None,
        is_set_up: true,
        has_tests: index.has_tests(Language::C, folder),
        has_integration: index.has_integration(Language::C, folder),
    });
}

/// Returns a command for the first of some targets that the Makefile at the root has.
fn make_target(index: &FileIndex<'_>, targets: &[&str]) -> Option<CommandLine> {
    // Make reads only the first of these files that exists.
    let file = ["GNUmakefile", "makefile", "Makefile"].into_iter().find(|it| index.has("", it))?;
    let text = index.text("", file);
    let has = |target: &str| {
        let rule = format!("{target}:");
        text.lines().any(|line| line.starts_with(&rule) && !line.starts_with(&format!("{rule}=")))
    };
    let target = targets.iter().find(|target| has(target))?;
    Some(CommandLine::words(["make", target]))
}

/// Returns the tests of a Makefile, for a project without other tests.
fn make_tests(index: &FileIndex<'_>) -> Option<Framework> {
    let command = make_target(index, &["test", "tests", "check"])?;
    Some(Framework {
        name: "make".to_owned(),
        kind: TestKind::All,
        folder: String::new(),
        run: command.clone(),
        command,
        reading: ResultSource::Guess,
        coverage: None,
        is_set_up: true,
        has_tests: index.has_tests(Language::C, ""),
        has_integration: false,
    })
}

/// Returns the build of a Makefile, for a project without another build.
fn make_build(index: &FileIndex<'_>) -> Option<Build> {
    let command = make_target(index, &["build", "all"])?;
    Some(Build { folder: String::new(), command })
}
