//! Files that change what a test runner or a compiler loads, although no source names them:
//! [`changes_loading`], [`shadowed_module`].
//!
//! Git may ignore such a file, so that no change shows it and no approval covers it.

use std::collections::BTreeSet;

use crate::kept::{KeptPart, is_test_file, part_of};

/// File extensions of sources.
const SOURCES: [&str; 27] = [
    "py", "pyi", "pyx", "so", "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "rs", "go",
    "java", "kt", "rb", "php", "c", "h", "cc", "cpp", "hpp", "cs", "swift", "sh", "bash",
];

/// Returns true if a file changes what a runner or a compiler loads by its mere presence:
/// configuration of a runner or a build tool, and modules that an interpreter loads at its start.
pub fn changes_loading(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    // The entry points of a package load something only by their content: see
    // `names_pytest_plugin`.
    if name == "entry_points.txt" {
        return false;
    }
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let configures = match part_of(path, &BTreeSet::new()) {
        // A folder of tests may contain any file; there, only the name counts.
        Some(KeptPart::Whole) => {
            !is_test_file(path) || part_of(name, &BTreeSet::new()) == Some(KeptPart::Whole)
        }
        Some(KeptPart::RustTests) | None => false,
        Some(_) => true,
    };
    let is_test = crate::kept::is_test_file(name);
    (configures && !is_test) || matches!(ending, "pth" | "egg-link")
}

/// Returns true if a file is a source of a language that tests are written in.
pub fn is_source(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, ending)| SOURCES.contains(&ending))
}

/// Returns true if the entry points of an installed package name a plugin of pytest.
pub fn names_pytest_plugin(path: &str, text: &str) -> bool {
    path.ends_with("/entry_points.txt") && text.contains("[pytest11]")
}

/// Returns the Python module that a file shadows, if it exists in the tree: an extension comes
/// before a source, and a package before a module with the same name.
pub fn shadowed_module<'a>(
    path: &str,
    exists: &dyn Fn(&str) -> Option<&'a str>,
) -> Option<&'a str> {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let in_folder = |folder: &str, name: &str| match folder {
        "" => exists(name),
        folder => exists(&format!("{folder}/{name}")),
    };
    let stem = name.split('.').next().unwrap_or(name);
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending {
        "so" => in_folder(folder, &format!("{stem}.py")),
        "py" | "pyc" if stem == "__init__" => {
            let (around, package) = folder.rsplit_once('/').unwrap_or(("", folder));
            (!package.is_empty()).then(|| in_folder(around, &format!("{package}.py"))).flatten()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_change_module_loading_are_recognized_by_name() {
        for path in [
            "conftest.py", "tests/conftest.py", "sitecustomize.py", "a/b.pth",
            ".cargo/config.toml", ".cargo/config", "sub/build.rs", "pytest.ini", "setup.cfg",
            "vitest.config.ts", "Makefile",
        ] {
            assert!(changes_loading(path), "{path}");
        }
        for path in [
            "notes.txt", "tests/out/log.txt", "tests/test_more.py", "src/_version.py", "src/lib.rs",
        ] {
            assert!(!changes_loading(path), "{path}");
        }
    }

    #[test]
    fn a_package_and_an_extension_shadow_a_module_of_the_same_name() {
        let tree = ["calc.py", "app/money.py", "app/__init__.py"];
        let exists = |path: &str| tree.iter().find(|it| **it == path).copied();
        let found = |path: &str| shadowed_module(path, &exists);
        assert_eq!(found("calc/__init__.py"), Some("calc.py"));
        assert_eq!(found("app/money/__init__.pyc"), Some("app/money.py"));
        assert_eq!(found("app/money.cpython-311-x86_64-linux-gnu.so"), Some("app/money.py"));
        assert_eq!(found("app/fast.so"), None);
        assert_eq!(found("other/__init__.py"), None);
        assert_eq!(found("__init__.py"), None);
    }
}
