//! Python files next to tests that decide which tests run, and what the tests import.

use std::collections::{BTreeMap, BTreeSet};

use crate::discovery::is_test_name;

/// Returns the `__init__.py` files of packages that contain only tests, and the modules next to
/// tests that have the name of a module of the root or of `src`: runners look for modules in the
/// folder of a test first.
pub fn files_of_test_packages(paths: &BTreeSet<String>) -> Vec<String> {
    let mut folders: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in paths.iter().filter(|path| path.ends_with(".py")) {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        folders.entry(folder).or_default().push(name);
    }
    let mut found = Vec::new();
    for (folder, names) in folders.iter().filter(|(folder, _)| !folder.is_empty()) {
        let is_test = |name: &&&str| is_test_name(folder, name);
        if !names.iter().any(|name| is_test(&name)) {
            continue;
        }
        let others = names.iter().filter(|name| !is_test(name) && **name != "__init__.py");
        let (shadowing, other): (Vec<&&str>, Vec<&&str>) =
            others.partition(|name| takes_the_place_of_another(paths, folder, name));
        let is_alone = other.iter().all(|name| **name == "conftest.py");
        let package = names.iter().filter(|name| is_alone && **name == "__init__.py");
        found.extend(package.chain(shadowing).map(|name| format!("{folder}/{name}")));
    }
    found
}

/// Returns true if a module of the root or of `src` has the same name.
fn takes_the_place_of_another(paths: &BTreeSet<String>, folder: &str, name: &str) -> bool {
    let stem = name.trim_end_matches(".py");
    ["", "src/"].iter().any(|root| {
        let names = [format!("{root}{name}"), format!("{root}{stem}/__init__.py")];
        let is_same = |path: &String| *path == format!("{folder}/{name}");
        names.iter().any(|path| paths.contains(path) && !is_same(path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_packages_are_distinguished_from_packages_that_contain_tests() {
        let of = |paths: &[&str]| {
            files_of_test_packages(&paths.iter().map(|path| (*path).to_owned()).collect())
        };
        assert_eq!(of(&["calc.py", "unit/__init__.py", "unit/test_calc.py"]), ["unit/__init__.py"]);
        assert_eq!(of(&["calc.py", "unit/calc.py", "unit/test_calc.py"]), ["unit/calc.py"]);
        assert_eq!(
            of(&["src/calc/__init__.py", "unit/calc.py", "unit/test_a.py"]),
            ["unit/calc.py"]
        );
        assert_eq!(of(&["pkg/__init__.py", "pkg/calc.py", "pkg/test_calc.py"]), [""; 0]);
        assert_eq!(of(&["__init__.py", "test_calc.py"]), [""; 0]);
    }
}
