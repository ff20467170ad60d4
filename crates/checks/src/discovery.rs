//! Finds the tests of a project: [`discover`] returns [`Framework`]s, in all its packages.
//!
//! Manifests, configuration and test files are read, and nothing is run. Each language is one file
//! of this module and one line in [`discover`].

mod c;
mod dotnet;
mod file_index;
mod folder;
mod go;
mod javascript;
mod jvm;
mod node_reporter;
mod php;
mod python;
mod readable;
mod ruby;
mod rust;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::file_index::FileIndex;
pub use self::folder::ProjectFolder;
pub(crate) use self::readable::{readable_command, with_pytest_option, without_reporting};
use crate::command::CommandLine;
use crate::results::ResultFormat;

/// The files of a project.
///
/// An implementation lists no folders and follows no link out of the project.
pub trait ProjectFiles {
    /// Returns the paths of all files, from the root, with `/` as the separator.
    fn paths(&self) -> Vec<String>;

    /// Returns the text of a file; `None` if it cannot be read.
    fn read(&self, path: &str) -> Option<String>;
}

/// The purpose of tests.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TestKind {
    /// Tests of single parts.
    Unit,
    /// Tests of several parts together.
    Integration,
    /// Tests of the whole, as its users see it.
    E2e,
    /// All tests, run by one command.
    All,
}

/// The location and the format of test results.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResultSource {
    /// In the output of the command, in any known format.
    Guess,
    /// There are none: the command runs no tests.
    Nothing,
    /// In the output of the command.
    Printed(ResultFormat),
    /// In files that the command writes.
    Files {
        /// The format of the files.
        form: ResultFormat,
        /// A glob of the files. If it begins with the placeholder of the folder of reports, it
        /// starts there, else in the folder of the command.
        glob: String,
    },
}

/// The reports of our reporters, one file for each process, and the report of pytest.
const UNITTEST_REPORTS: &str = "{reports}/unittest-*.jsonl";
const NODE_REPORTS: &str = "{reports}/node-*.jsonl";
const PYTEST_REPORT: &str = "{reports}/pytest.xml";

impl ResultSource {
    /// Returns the location of the report of our reporter inside of `unittest`.
    pub(crate) fn of_unittest() -> ResultSource {
        ResultSource::Files { form: ResultFormat::Report, glob: UNITTEST_REPORTS.to_owned() }
    }

    /// Returns the location of the report of our reporter inside of `node --test`.
    pub(crate) fn of_node() -> ResultSource {
        ResultSource::Files { form: ResultFormat::Report, glob: NODE_REPORTS.to_owned() }
    }

    /// Returns the location of the report that pytest writes.
    pub(crate) fn of_pytest() -> ResultSource {
        ResultSource::Files { form: ResultFormat::Junit, glob: PYTEST_REPORT.to_owned() }
    }

    fn is_at(&self, globs: &[&str]) -> bool {
        matches!(self, ResultSource::Files { glob, .. } if globs.contains(&glob.as_str()))
    }

    /// Returns true if our reporter for Python writes the results, or adds to them.
    pub(crate) fn is_of_python(&self) -> bool {
        self.is_at(&[UNITTEST_REPORTS, PYTEST_REPORT])
    }

    /// Returns true if our reporter for `node --test` writes the results.
    pub(crate) fn is_of_node(&self) -> bool {
        self.is_at(&[NODE_REPORTS])
    }
}

/// A command that measures coverage.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CoverageRun {
    /// The command.
    pub command: CommandLine,
    /// The reports that the command writes: a glob, as in [`ResultSource::Files`].
    pub glob: String,
}

/// A test framework of a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Framework {
    /// The name, such as `cargo_test`.
    pub name: String,
    /// The purpose of the tests.
    pub kind: TestKind,
    /// The folder of the package, from the root; empty for the root.
    pub folder: String,
    /// The command as people type it.
    pub command: CommandLine,
    /// The same command, with options for a readable report.
    pub run: CommandLine,
    /// The location and the format of the results.
    pub reading: ResultSource,
    /// The command that measures coverage; `None` if there is no common one.
    pub coverage: Option<CoverageRun>,
    /// True if the project configures the framework; false if only the kind of project suggests it.
    pub is_set_up: bool,
    /// True if there are files that look like tests of the framework.
    pub has_tests: bool,
    /// True if there are integration tests, by the paths of the test files.
    pub has_integration: bool,
}

impl Framework {
    /// Returns true if the framework has tests or is configured; the kind of project alone is not
    /// enough.
    pub fn is_live(&self) -> bool {
        self.is_set_up || self.has_tests
    }
}

/// The command that builds a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The folder of the package, from the root; empty for the root.
    pub folder: String,
    /// The command.
    pub command: CommandLine,
}

/// The tests and builds that were found in a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovery {
    /// The test frameworks, those of outer packages first.
    pub frameworks: Vec<Framework>,
    /// The builds, those of outer packages first.
    pub builds: Vec<Build>,
    /// The package manager of the root; `None` if there is no lock file.
    pub package_manager: Option<String>,
    /// The files that look like tests.
    pub test_files: Vec<String>,
}

impl Discovery {
    /// Returns true if the project has no test files and no configured test runner.
    pub fn is_without_tests(&self) -> bool {
        self.test_files.is_empty() && !self.frameworks.iter().any(|framework| framework.is_set_up)
    }
}

/// Lock files in order of precedence, with the package managers that write them.
const LOCK_FILES: [(&str, &str); 13] = [
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
    ("bun.lockb", "bun"),
    ("bun.lock", "bun"),
    ("uv.lock", "uv"),
    ("poetry.lock", "poetry"),
    ("Pipfile.lock", "pipenv"),
    ("Cargo.lock", "cargo"),
    ("go.sum", "go"),
    ("Gemfile.lock", "bundler"),
    ("composer.lock", "composer"),
];

/// Returns true if a path is that of a lock file, which the first build of a project writes.
pub fn is_lock_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    LOCK_FILES.iter().any(|(file, _)| *file == name)
}

/// Finds the test frameworks and the builds of a project.
pub fn discover(files: &dyn ProjectFiles) -> Discovery {
    let index = FileIndex::new(files);
    let mut found = Discovery { test_files: index.test_files(), ..Discovery::default() };
    for detect in [
        rust::detect,
        go::detect,
        python::detect,
        javascript::detect,
        jvm::detect,
        ruby::detect,
        php::detect,
        dotnet::detect,
        c::detect,
    ] {
        detect(&index, &mut found);
    }
    let depth = |folder: &str| if folder.is_empty() { 0 } else { 1 + folder.matches('/').count() };
    found.frameworks.sort_by_key(|framework| depth(&framework.folder));
    found.builds.sort_by_key(|build| depth(&build.folder));
    found.package_manager = package_manager(&index, "").map(str::to_owned);
    found
}

/// Returns true if a file looks like a test, by its folder and its name.
pub(crate) fn is_test_name(folder: &str, name: &str) -> bool {
    file_index::test_language(folder, name).is_some()
}

/// Returns the package manager of a folder, by its lock file.
fn package_manager(index: &FileIndex<'_>, folder: &str) -> Option<&'static str> {
    let found = LOCK_FILES.iter().find(|(file, _)| index.has(folder, file));
    found.map(|(_, manager)| *manager)
}
