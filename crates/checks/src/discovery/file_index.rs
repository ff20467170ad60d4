//! An index of the files of a project, by folder and by language: [`FileIndex`].

use std::collections::{BTreeMap, BTreeSet};

use super::ProjectFiles;
use crate::output_folders::is_output_folder;

/// Folders of test data: sources in them are not tests of the project.
const TEST_DATA: [&str; 5] = ["fixtures", "__fixtures__", "testdata", "test-data", "test_data"];

/// The maximum number of Rust files that are searched for tests, since any of them may contain
/// some.
const MAX_RUST_FILES: usize = 2_000;

/// Returns true if a folder with that name holds installed packages, build output or test data.
pub(super) fn is_excluded_folder(name: &str) -> bool {
    is_output_folder(name) || TEST_DATA.contains(&name)
}

/// An index of the files of a project.
pub(super) struct FileIndex<'a> {
    files: &'a dyn ProjectFiles,
    by_folder: BTreeMap<String, BTreeSet<String>>,
    /// Sorted, so that the files below a folder are contiguous.
    tests: BTreeMap<Language, Vec<String>>,
}

/// A language whose test files are recognised by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Language {
    Rust,
    Go,
    Python,
    JavaScript,
    Jvm,
    Ruby,
    Php,
    DotNet,
    C,
}

impl<'a> FileIndex<'a> {
    pub(super) fn new(files: &'a dyn ProjectFiles) -> FileIndex<'a> {
        let mut index = FileIndex { files, by_folder: BTreeMap::new(), tests: BTreeMap::new() };
        let mut rust = Vec::new();
        for path in files.paths() {
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
            if folder.split('/').any(is_excluded_folder) {
                continue;
            }
            if let Some(language) = test_language(folder, name) {
                index.tests.entry(language).or_default().push(path.clone());
            } else if name.ends_with(".rs") {
                rust.push(path.clone());
            }
            index.by_folder.entry(folder.to_owned()).or_default().insert(name.to_owned());
        }
        // Rust tests are often in the same file as the code under test.
        let with_tests = rust.into_iter().take(MAX_RUST_FILES).filter(|path| {
            let text = files.read(path).unwrap_or_default();
            ["#[test]", "::test]", "::test(", "#[rstest", "proptest!"]
                .iter()
                .any(|mark| text.contains(mark))
        });
        index.tests.entry(Language::Rust).or_default().extend(with_tests);
        index.tests.values_mut().for_each(|paths| paths.sort_unstable());
        index
    }

    /// Returns the folders that contain a file with a name.
    pub(super) fn folders_with(&self, name: &str) -> impl Iterator<Item = &str> {
        let has = move |names: &BTreeSet<String>| names.contains(name);
        self.by_folder
            .iter()
            .filter(move |(_, names)| has(names))
            .map(|(folder, _)| folder.as_str())
    }

    /// Returns the folders that contain a file whose name matches.
    pub(super) fn folders_where(&self, fits: impl Fn(&str) -> bool) -> Vec<&str> {
        let some = |names: &BTreeSet<String>| names.iter().any(|name| fits(name));
        let found = self.by_folder.iter().filter(|(_, names)| some(names));
        found.map(|(folder, _)| folder.as_str()).collect()
    }

    /// Returns true if the file exists.
    pub(super) fn has(&self, folder: &str, name: &str) -> bool {
        self.by_folder.get(folder).is_some_and(|names| names.contains(name))
    }

    /// Returns the names of the files in a folder.
    pub(super) fn names(&self, folder: &str) -> impl Iterator<Item = &str> {
        self.by_folder.get(folder).into_iter().flatten().map(String::as_str)
    }

    /// Returns the text of a file; empty if it does not exist or cannot be read.
    pub(super) fn text(&self, folder: &str, name: &str) -> String {
        if !self.has(folder, name) {
            return String::new();
        }
        self.files.read(&join(folder, name)).unwrap_or_default()
    }

    /// Returns the text of the file at a path; empty if it cannot be read.
    pub(super) fn text_of(&self, path: &str) -> String {
        self.files.read(path).unwrap_or_default()
    }

    /// Returns the paths of all files that look like tests.
    pub(super) fn test_files(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.tests.values().flatten().cloned().collect();
        paths.sort();
        paths
    }

    /// Returns the test files of a language below a folder.
    pub(super) fn tests(&self, language: Language, folder: &str) -> impl Iterator<Item = &str> {
        let all = self.tests.get(&language).map_or(&[][..], Vec::as_slice);
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let start = all.partition_point(|path| path.as_str() < prefix.as_str());
        let below = all[start..].iter().map(String::as_str);
        below.take_while(move |path| path.starts_with(&prefix))
    }

    /// Returns true if there are tests of a language below a folder.
    pub(super) fn has_tests(&self, language: Language, folder: &str) -> bool {
        self.tests(language, folder).next().is_some()
    }

    /// Returns true if any of the tests of a language below a folder is an integration test, by its
    /// path.
    pub(super) fn has_integration(&self, language: Language, folder: &str) -> bool {
        let tells = |path: &str| path.to_ascii_lowercase().contains("integration");
        self.tests(language, folder).any(tells)
    }
}

/// Returns the folders that are not inside of another one of them.
pub(super) fn outermost<'a>(folders: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut kept: Vec<&str> = Vec::new();
    let mut folders: Vec<&str> = folders.into_iter().collect();
    // In this order, the paths below a folder directly follow the folder.
    folders.sort_by(|one, two| one.split('/').cmp(two.split('/')));
    if folders.contains(&"") {
        return vec![""];
    }
    for folder in folders {
        if kept.last().is_none_or(|last| !is_below(folder, last)) {
            kept.push(folder);
        }
    }
    kept
}

/// Returns the innermost of some folders that contains a path or is the path itself.
pub(super) fn around<'a>(path: &str, folders: &BTreeSet<&'a str>) -> Option<&'a str> {
    let mut at = path;
    loop {
        if let Some(found) = folders.get(at) {
            return Some(found);
        }
        at = match at.rsplit_once('/') {
            Some((above, _)) => above,
            None if at.is_empty() => return None,
            None => "",
        };
    }
}

/// Returns true if a path is the folder, or below it.
fn is_below(path: &str, folder: &str) -> bool {
    let rest = path.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the path of a file in a folder.
pub(super) fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Returns the language of a test file, by its name and its folder.
pub(super) fn test_language(folder: &str, name: &str) -> Option<Language> {
    let (stem, ending) = name.rsplit_once('.')?;
    let among = |names: &[&str]| folder.split('/').any(|part| names.contains(&part));
    match ending {
        "rs" => (folder.rsplit('/').next() == Some("tests") || among(&["tests"]))
            .then_some(Language::Rust),
        "go" => stem.ends_with("_test").then_some(Language::Go),
        "py" => (stem.starts_with("test_") || stem.ends_with("_test") || stem == "tests")
            .then_some(Language::Python),
        "js" | "jsx" | "ts" | "tsx" | "mjs" | "cjs" | "mts" | "cts" | "vue" | "svelte" => {
            let told = [".test", ".spec", ".cy", ".e2e"].iter().any(|mark| stem.ends_with(mark));
            (told || among(&["__tests__"])).then_some(Language::JavaScript)
        }
        "java" | "kt" | "scala" | "groovy" => {
            let told = ["Test", "Tests", "IT", "Spec"].iter().any(|mark| stem.ends_with(mark));
            (told || stem.starts_with("Test")).then_some(Language::Jvm)
        }
        "rb" => {
            let told = stem.ends_with("_spec") || stem.ends_with("_test");
            (told || stem.starts_with("test_")).then_some(Language::Ruby)
        }
        "php" => {
            let in_tests = among(&["tests", "test"]) && stem.starts_with(char::is_uppercase);
            (stem.ends_with("Test") || (in_tests && stem != "Pest" && stem != "TestCase"))
                .then_some(Language::Php)
        }
        "cs" | "fs" | "vb" => {
            (stem.ends_with("Tests") || stem.ends_with("Test")).then_some(Language::DotNet)
        }
        "c" | "cc" | "cpp" | "cxx" => {
            let told = ["_test", "_tests", "_unittest"].iter().any(|mark| stem.ends_with(mark));
            (told || stem.starts_with("test_") || among(&["test", "tests"])).then_some(Language::C)
        }
        _ => None,
    }
}
