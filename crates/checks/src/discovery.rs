//! Which tests a project has: [`discover`] finds [`Framework`]s, in all its packages.
//!
//! Manifests, configuration and test files are looked at, nothing is run. A language is a file here
//! and a line in [`discover`].

mod c;
mod dotnet;
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
mod survey;

use serde::{Deserialize, Serialize};

pub use self::folder::Folder;
pub(crate) use self::readable::{readable_command, with_pytest_option, without_reporting};
use self::survey::Survey;
use crate::command::CommandLine;
use crate::results::Form;

/// The files of a project.
///
/// An implementation lists no folders and follows no link out of the project.
pub trait Files {
    /// Returns the paths of all files, from the root, with `/` between their parts.
    fn paths(&self) -> Vec<String>;

    /// Returns a file's text.
    fn read(&self, path: &str) -> Option<String>;
}

/// The purpose of tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestKind {
    /// Parts on their own.
    Unit,
    /// Parts together.
    Integration,
    /// The whole, as its users see it.
    E2e,
    /// One command runs them all.
    All,
}

/// Where what became of the tests can be read.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reading {
    /// In what the command prints, in whatever form that may be.
    Guess,
    /// Nowhere: it runs no tests.
    Nothing,
    /// In what the command prints.
    Printed(Form),
    /// In files that the command writes.
    Files {
        /// The form of their content.
        form: Form,
        /// Which they are: a glob, from the folder of reports where it begins with that, or else
        /// from where the command is run.
        glob: String,
    },
}

/// The reports of our reporters, one file for each process, and the report of pytest.
const UNITTEST_REPORTS: &str = "{reports}/unittest-*.jsonl";
const NODE_REPORTS: &str = "{reports}/node-*.jsonl";
const PYTEST_REPORT: &str = "{reports}/pytest.xml";

impl Reading {
    /// The report of our reporter inside of `unittest`.
    pub(crate) fn of_unittest() -> Reading {
        Reading::Files { form: Form::Report, glob: UNITTEST_REPORTS.to_owned() }
    }

    /// The report of our reporter inside of `node --test`.
    pub(crate) fn of_node() -> Reading {
        Reading::Files { form: Form::Report, glob: NODE_REPORTS.to_owned() }
    }

    /// The report that pytest writes.
    pub(crate) fn of_pytest() -> Reading {
        Reading::Files { form: Form::Junit, glob: PYTEST_REPORT.to_owned() }
    }

    fn is_at(&self, globs: &[&str]) -> bool {
        matches!(self, Reading::Files { glob, .. } if globs.contains(&glob.as_str()))
    }

    /// Returns true if our reporter for Python writes the results, or says more about them.
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
    /// The reports that it writes: a glob, as in [`Reading::Files`].
    pub glob: String,
}

/// A way in which a package is tested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Framework {
    /// The name, such as `cargo_test`.
    pub name: String,
    /// The purpose of its tests.
    pub kind: TestKind,
    /// The package's folder, from the root; empty for the root.
    pub folder: String,
    /// The command as people type it.
    pub command: CommandLine,
    /// The same command, so that its results can be read.
    pub run: CommandLine,
    /// Where its results are.
    pub reading: Reading,
    /// How its coverage is measured, where there is a common way.
    pub coverage: Option<CoverageRun>,
    /// Whether somebody set it up; else the kind of project alone speaks for it.
    pub is_set_up: bool,
    /// Whether there are files that look like its tests.
    pub has_tests: bool,
    /// Whether some of its tests are of parts together, by where they lie.
    pub has_integration: bool,
}

impl Framework {
    /// Returns true if there is something to run: a kind of project alone has no tests yet.
    pub fn is_live(&self) -> bool {
        self.is_set_up || self.has_tests
    }
}

/// How a package is built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// The package's folder, from the root; empty for the root.
    pub folder: String,
    /// The command.
    pub command: CommandLine,
}

/// The tests and builds that were found in a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovery {
    /// The ways in which it is tested, those of outer packages first.
    pub frameworks: Vec<Framework>,
    /// The ways in which it is built, those of outer packages first.
    pub builds: Vec<Build>,
    /// The tool that keeps its dependencies, at its root.
    pub package_manager: Option<String>,
    /// The files that look like tests.
    pub test_files: Vec<String>,
}

impl Discovery {
    /// Returns true if there is nothing to run: no tests, and no test runner that is set up.
    pub fn is_without_tests(&self) -> bool {
        self.test_files.is_empty() && !self.frameworks.iter().any(|framework| framework.is_set_up)
    }
}

/// Lock files by how much they say, with what wrote them.
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

/// Finds how a project is tested and built.
pub fn discover(files: &dyn Files) -> Discovery {
    let survey = Survey::new(files);
    let mut found = Discovery { test_files: survey.test_files(), ..Discovery::default() };
    for look in [
        rust::look,
        go::look,
        python::look,
        javascript::look,
        jvm::look,
        ruby::look,
        php::look,
        dotnet::look,
        c::look,
    ] {
        look(&survey, &mut found);
    }
    let depth = |folder: &str| if folder.is_empty() { 0 } else { 1 + folder.matches('/').count() };
    found.frameworks.sort_by_key(|framework| depth(&framework.folder));
    found.builds.sort_by_key(|build| depth(&build.folder));
    found.package_manager = package_manager(&survey, "").map(str::to_owned);
    found
}

/// Returns true if a file looks like one of tests, by its folder and its name.
pub(crate) fn is_test_name(folder: &str, name: &str) -> bool {
    survey::test_language(folder, name).is_some()
}

/// Returns the tool that keeps a folder's dependencies.
fn package_manager(survey: &Survey<'_>, folder: &str) -> Option<&'static str> {
    let found = LOCK_FILES.iter().find(|(file, _)| survey.has(folder, file));
    found.map(|(_, manager)| *manager)
}
