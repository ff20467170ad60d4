//! Kept tests: the files that decide the result of a test run, and the version of such a file that
//! the implementation did not write: [`part_of`], [`kept_version`].
//!
//! A change that also changes its own tests is checked with the tests as they were before. Some
//! files are kept as a whole: test files, fixtures, the configuration of a test runner. Of others,
//! only a part decides about tests, and the rest is the implementation: scripts of `package.json`,
//! sections of `pyproject.toml`, `#[cfg(test)]` modules of a Rust source.

mod commands;
mod go_mod;
mod manifest;
mod rust_items;
mod rust_tests;
mod sections;
mod shadow;
mod test_packages;

use std::collections::BTreeSet;

pub use self::commands::{CommandScripts, loaded_files, named_files, needs_later_file, scripts_in};
pub use self::rust_items::{RustSource, parts as rust_parts};
pub use self::rust_tests::{RustTest, rust_tests, tested_packages, tests_of_root};
pub use self::test_packages::files_of_test_packages;

/// The part of a file that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptPart {
    /// The whole file.
    Whole,
    /// Scripts and runner settings of `package.json`.
    PackageJson,
    /// Sections of `pyproject.toml` that configure a test runner.
    PyprojectToml,
    /// Sections of `setup.cfg` or `tox.ini` that configure a test runner.
    Ini,
    /// Test targets and their switches, default features, and crates of the tree that only tests
    /// use, in `Cargo.toml`.
    CargoToml,
    /// Folders of the tree that replace modules in `go.mod`.
    GoMod,
    /// Test modules and test functions of a Rust source.
    RustTests,
    /// A module that shadows one of the standard library. Only its absence is kept: a project that
    /// has such a module may change it.
    Shadow,
}

/// Folders whose files belong to tests, by their full names.
const TEST_FOLDERS: [&str; 17] = [
    "test", "tests", "__tests__", "spec", "testing", "testdata", "test-data", "test_data",
    "fixtures", "__fixtures__", "__mocks__", "__snapshots__", "snapshots", "e2e", "cypress",
    "benches", ".storybook",
];

/// Files that configure a test runner or the programs that it starts, by their full names.
const SUPPORT_FILES: [&str; 39] = [
    "conftest.py", "pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "noxfile.py",
    "tox.toml", "hatch.toml", ".coveragerc", "manage.py", "sitecustomize.py", "usercustomize.py",
    ".npmrc", ".yarnrc", ".yarnrc.yml", "bunfig.toml", "deno.json", "deno.jsonc",
    "node.config.json", ".babelrc", ".taprc", ".mocharc", "mocha.opts", "build.rs", "nextest.toml",
    "rust-toolchain", "rust-toolchain.toml", "Makefile.toml", "magefile.go", ".rspec",
    ".rspec-local", "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml", "CTestTestfile.cmake",
    "test.sh", ".env.test", "tap.config.json", "pyvenv.cfg",
];

/// Prefixes of the names of files that configure a test runner.
const SUPPORT_STARTS: [&str; 17] = [
    "jest.config.", "jest.setup.", "jest-setup.", "setupTests.", "setup-tests.", "vitest.config.",
    "vitest.setup.", "vitest.workspace.", "vite.config.", ".mocharc.", "karma.conf.",
    "playwright.config.", "cypress.config.", "babel.config.", "ava.config.", ".babelrc.",
    "run_tests.",
];

/// Python modules that a test runner imports. A module of the tree with such a name shadows that of
/// the runner.
const RUNNER_MODULES: [&str; 12] = [
    "pytest", "_pytest", "py", "pluggy", "iniconfig", "packaging", "unittest", "doctest", "nose",
    "nose2", "coverage", "xdist",
];

/// Returns the part of a file that is kept, by the file's path from the root; `None` for a file
/// that does not affect tests. `named` are the files that the commands of the checks name.
pub fn part_of(path: &str, named: &BTreeSet<String>) -> Option<KeptPart> {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    match name {
        "package.json" => return Some(KeptPart::PackageJson),
        "pyproject.toml" => return Some(KeptPart::PyprojectToml),
        "setup.cfg" | "tox.ini" => return Some(KeptPart::Ini),
        "Cargo.toml" => return Some(KeptPart::CargoToml),
        "go.mod" => return Some(KeptPart::GoMod),
        _ => {}
    }
    if named.contains(path) || is_test_file(path) || is_support(folders, name) {
        return Some(KeptPart::Whole);
    }
    if shadow::shadows(path) {
        return Some(KeptPart::Shadow);
    }
    name.ends_with(".rs").then_some(KeptPart::RustTests)
}

/// Returns true if a file contains tests or belongs to some, by its path.
pub fn is_test_file(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_tests = folders.split('/').any(|folder| TEST_FOLDERS.contains(&folder));
    in_tests || crate::discovery::is_test_name(folders, name) || is_rust_test_name(name)
}

/// Returns true if a Rust source is a test module of its own.
fn is_rust_test_name(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(".rs") else { return false };
    matches!(stem, "test" | "tests") || stem.ends_with("_test") || stem.ends_with("_tests")
}

/// Command files that may also be modules of the product.
const MAY_BE_PRODUCT: [&str; 1] = ["tasks.py"];

/// Returns true if a file configures a test runner, by its path.
pub fn is_configuration(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_manifest = matches!(name, "package.json" | "pyproject.toml" | "setup.cfg" | "tox.ini");
    is_manifest || is_support(folders, name)
}

/// Returns true if all files of a folder belong to tests, by the folder's path.
pub fn is_test_folder(path: &str) -> bool {
    path.split('/').any(|folder| TEST_FOLDERS.contains(&folder))
}

fn is_support(folders: &str, name: &str) -> bool {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let shadows = |module: &str| RUNNER_MODULES.contains(&module);
    let is_command_file = commands::is_command_file(name) && !MAY_BE_PRODUCT.contains(&name);
    SUPPORT_FILES.contains(&name)
        || is_command_file
        || SUPPORT_STARTS.iter().any(|start| name.starts_with(start))
        || matches!(ending, "snap" | "pth" | "mk")
        || (ending == "py" && (shadows(stem) || folders.split('/').any(shadows)))
        || (folders.split('/').any(|folder| folder == ".cargo") && stem == "config")
        || is_package_metadata(folders, name)
}

/// Returns true if a file is metadata of a Python package or environment that runners read: entry
/// points add plugins, and pytest does not collect tests from a conda environment.
fn is_package_metadata(folders: &str, name: &str) -> bool {
    let folder = folders.rsplit('/').next().unwrap_or(folders);
    match name {
        "entry_points.txt" => folder.ends_with(".dist-info") || folder.ends_with(".egg-info"),
        "history" => folder == "conda-meta",
        _ => false,
    }
}

/// Returns the content of a file with the kept part from an earlier version and the rest from the
/// current one; `None` for no file. Each version is `None` if it has no such file.
pub fn kept_version(part: KeptPart, now: Option<&[u8]>, kept: Option<&[u8]>) -> Option<Vec<u8>> {
    let text = |bytes: Option<&[u8]>| match bytes {
        None => Some(String::new()),
        Some(bytes) => std::str::from_utf8(bytes).ok().map(str::to_owned),
    };
    let whole = || kept.map(<[u8]>::to_vec);
    if part == KeptPart::Shadow {
        return kept.and(now).map(<[u8]>::to_vec);
    }
    if part == KeptPart::Whole {
        return whole();
    }
    let (Some(now_bytes), Some(now_text), Some(kept_text)) = (now, text(now), text(kept)) else {
        // In a missing file, or one that is not text, no part can be separated from the rest.
        return whole();
    };
    let spliced = match part {
        KeptPart::Whole | KeptPart::Shadow => return whole(),
        KeptPart::PackageJson => manifest::package_json(&now_text, &kept_text),
        KeptPart::PyprojectToml => sections::pyproject(&now_text, &kept_text),
        KeptPart::Ini => sections::ini(&now_text, &kept_text),
        KeptPart::CargoToml => sections::cargo(&now_text, &kept_text),
        KeptPart::GoMod => go_mod::go_mod(&now_text, &kept_text),
        KeptPart::RustTests => rust_items::splice(&now_text, &kept_text),
    };
    match spliced {
        // The kept part did not change.
        None => Some(now_bytes.to_vec()),
        Some(text) => Some(text.into_bytes()),
    }
}

/// Returns true if a version of a file contains tests.
pub fn holds_tests(path: &str, part: KeptPart, content: &[u8]) -> bool {
    match part {
        KeptPart::Whole => is_test_file(path),
        KeptPart::RustTests => std::str::from_utf8(content).is_ok_and(rust_items::has_tests),
        KeptPart::PackageJson
        | KeptPart::PyprojectToml
        | KeptPart::Ini
        | KeptPart::CargoToml
        | KeptPart::GoMod
        | KeptPart::Shadow => false,
    }
}
