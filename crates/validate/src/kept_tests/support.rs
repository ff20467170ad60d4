//! Finds the files outside of test folders that belong to tests: [`infer`].
//!
//! A branch that changes a helper of its tests, or data that tests compare with, changes the tests.
//! The names of such files do not reveal them, so they are found by the files that refer to them in
//! the kept version: only tests do. Only changed files are candidates, and only files that mention
//! a candidate are read.

use std::collections::{BTreeMap, BTreeSet};

use assay_checks::kept::{is_test_file, rust_parts};
use assay_rules::{Reference, references};

use super::resolve::{DEPENDENCY_FOLDERS, Files, folder_of, is_data_of, resolve};

/// Modules that only tests load, by name or by prefix.
const FRAMEWORKS: [&str; 26] = [
    "unittest", "pytest", "hypothesis", "nose", "mock", "node:test", "node:assert", "assert",
    "chai", "vitest", "jest", "@jest/", "@testing-library/", "mocha", "sinon", "expect", "should",
    "ava", "tape", "testing", "github.com/stretchr/testify", "org/junit", "org/testng", "minitest",
    "rspec", "power-assert",
];

/// Words in the names of files that support tests.
const SUPPORT_WORDS: [&str; 20] = [
    "test", "support", "helper", "fixture", "mock", "fake", "stub", "factory", "factories",
    "matcher", "assert", "check", "chk", "expect", "verify", "golden", "snapshot", "dummy", "spec",
    "harness",
];

/// Further prefixes in the names of scripts that check a tree, in addition to `SUPPORT_WORDS`.
const SCRIPT_WORDS: [&str; 6] = ["suite", "ci", "validate", "lint", "smoke", "acceptance"];

/// Endings of documents for people.
const DOCUMENTS: [&str; 7] = [".md", ".rst", ".adoc", ".txt.md", ".html", ".pdf", ".org"];

/// The beginnings of lines that define a test in a script whose runner needs no import.
const SCRIPT_TESTS: [&str; 4] = ["describe(", "it('", "it(\"", "test("];

/// Searches and reads the files of a version of the tree.
pub(crate) trait TextSource {
    /// The error of a failed read.
    type Error;

    /// Returns the paths of the files that contain any of the words.
    fn mentioning(&self, words: &[String]) -> Result<Vec<String>, Self::Error>;

    /// Returns the texts of the files, in the same order.
    fn read(&self, paths: &[String]) -> Result<Vec<String>, Self::Error>;
}

/// Changed files that belong to tests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Support {
    /// Files that certainly belong to tests.
    pub(crate) certain: BTreeSet<String>,
    /// Files that probably belong to tests, but may be under test themselves.
    pub(crate) probable: BTreeSet<String>,
}

/// A source that refers to other files. The tests in a Rust source are a separate `Source`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    path: String,
    is_test: bool,
}

/// The references between the files of a tree.
struct Graph<'a> {
    files: &'a Files,
    is_kept: &'a dyn Fn(&str) -> bool,
    /// The sources that import a file, keyed by the file.
    importers: BTreeMap<String, BTreeSet<Source>>,
    /// The string literals of a source, keyed by the source.
    texts: BTreeMap<Source, Vec<String>>,
    /// The sources that contain an assertion.
    asserting: BTreeSet<String>,
    /// The sources that were read.
    read: BTreeSet<String>,
    /// The files whose importers have been determined.
    known: BTreeSet<String>,
}

/// Returns the changed files that belong to tests in a version of the tree. `is_kept` returns true
/// if the whole file at a path is kept already.
pub(crate) fn infer<T: TextSource>(
    files: &Files,
    changed: &BTreeSet<String>,
    is_kept: &dyn Fn(&str) -> bool,
    texts: &T,
) -> Result<Support, T::Error> {
    let mut support = Support::default();
    let is_candidate = |path: &&String| {
        files.contains_key(*path)
            && !is_kept(path)
            && !DOCUMENTS.iter().any(|ending| path.ends_with(ending))
            && !is_manifest(path)
    };
    let candidates: Vec<String> = changed.iter().filter(is_candidate).cloned().collect();
    if candidates.is_empty() {
        return Ok(support);
    }
    let mut graph = Graph {
        files,
        is_kept,
        importers: BTreeMap::new(),
        texts: BTreeMap::new(),
        asserting: BTreeSet::new(),
        read: BTreeSet::new(),
        known: BTreeSet::new(),
    };
    graph.learn(&candidates, texts)?;
    let contents = texts.read(&candidates)?;
    candidates.iter().zip(&contents).for_each(|(path, text)| graph.note_assertions(path, text));
    for (path, text) in candidates.iter().zip(&contents) {
        let own = references(path, text);
        let is_only_tests = graph.is_only_for_tests(path, &mut BTreeSet::new());
        let is_rust = path.ends_with(".rs") || (own.is_none() && path.ends_with(".inc"));
        let is_certain = match &own {
            _ if is_rust => is_only_tests,
            _ if is_only_tests && in_dependencies(path) => true,
            Some(_) | None => false,
        };
        let is_probable = match &own {
            Some(_) if is_settings(path, text) => is_only_tests || graph.is_test_data(path),
            Some(own) => {
                loads_framework(own)
                    || has_tests(path, text)
                    || (is_only_tests && graph.looks_like_support(path))
            }
            // Data that only a test reads may also be the subject of the test.
            None => is_only_tests || graph.is_test_data(path),
        };
        if is_certain {
            support.certain.insert(path.clone());
        } else if is_probable && !is_rust {
            support.probable.insert(path.clone());
        }
    }
    Ok(support)
}

impl Graph<'_> {
    /// Determines the importers of the files, and transitively the importers of importers that are
    /// no tests.
    fn learn<T: TextSource>(&mut self, paths: &[String], texts: &T) -> Result<(), T::Error> {
        let mut next: Vec<String> = paths.to_vec();
        while !next.is_empty() {
            self.known.extend(next.iter().cloned());
            let mut words: Vec<String> = next.iter().flat_map(|path| words_for(path)).collect();
            words.sort();
            words.dedup();
            let mentioning = texts.mentioning(&words)?;
            let new: Vec<String> =
                mentioning.into_iter().filter(|path| self.read.insert(path.clone())).collect();
            for (path, text) in new.iter().zip(texts.read(&new)?) {
                self.add(path, &text);
            }
            let above = next.iter().flat_map(|path| self.importers.get(path).into_iter().flatten());
            let above = above.filter(|it| !it.is_test && !self.known.contains(&it.path));
            next = above.map(|it| it.path.clone()).collect::<BTreeSet<_>>().into_iter().collect();
        }
        Ok(())
    }

    fn add(&mut self, path: &str, text: &str) {
        self.note_assertions(path, text);
        let is_test = (self.is_kept)(path) || is_test_file(path);
        if path.ends_with(".rs") && !is_test {
            let parts = rust_parts(text);
            self.add_source(path, &parts.tests, true);
            self.add_source(path, &parts.rest, false);
            return;
        }
        let is_test =
            is_test || references(path, text).is_some_and(|own| has_tests_in(path, &own, text));
        self.add_source(path, text, is_test);
    }

    fn add_source(&mut self, path: &str, text: &str, is_test: bool) {
        let source = Source { path: path.to_owned(), is_test };
        let Some(found) = references(path, text) else {
            // In a file without a grammar, such as a Dockerfile, every word may name a file.
            let words = text.split(|c: char| c.is_whitespace() || "\"'=,()[]".contains(c));
            let words = words.filter(|word| word.contains(['/', '.'])).map(str::to_owned);
            self.texts.insert(source, words.collect());
            return;
        };
        let mut own = Vec::new();
        for reference in found {
            for target in resolve(&reference, path, self.files) {
                if target != path {
                    self.importers.entry(target).or_default().insert(source.clone());
                }
            }
            if let Reference::Text(text) = reference {
                own.push(text);
            }
        }
        self.texts.insert(source, own);
    }

    /// Returns true if all importers of a file are tests or helpers of tests.
    fn is_only_for_tests(&self, path: &str, asked: &mut BTreeSet<String>) -> bool {
        let Some(importers) = self.importers.get(path) else { return false };
        asked.insert(path.to_owned());
        importers.iter().all(|it| {
            let is_helper = |asked: &mut BTreeSet<String>| {
                self.looks_like_support(&it.path) && self.is_only_for_tests(&it.path, asked)
            };
            it.is_test || asked.contains(&it.path) || is_helper(asked)
        })
    }

    /// Returns true if a test names the file, and no other source does.
    fn is_test_data(&self, path: &str) -> bool {
        let names = |it: &(&Source, &Vec<String>)| {
            it.0.path != path && it.1.iter().any(|text| is_data_of(text, &it.0.path, path))
        };
        let mut naming = self.texts.iter().filter(names).peekable();
        naming.peek().is_some() && naming.all(|(source, _)| source.is_test)
    }

    /// Returns true if a module looks like support of tests: by its name; because no test imports
    /// it; because it belongs to a script that checks the tree; because it asserts and no test is
    /// named after it; or because each of its tests is named after another module.
    fn looks_like_support(&self, path: &str) -> bool {
        let stem = stem_of(path).to_ascii_lowercase();
        let tests = || self.importers.get(path).into_iter().flatten().filter(|it| it.is_test);
        let is_subject = tests().any(|it| stem_of(&it.path).to_ascii_lowercase().contains(&stem));
        // Only other modules import a module that no test imports.
        has_word(path, &SUPPORT_WORDS)
            || tests().next().is_none()
            || tests().all(|it| is_part_of_script(path, &it.path))
            || (!is_subject && self.asserting.contains(path))
            || self.has_other_subject(path)
    }

    fn note_assertions(&mut self, path: &str, text: &str) {
        let marks = ["assert ", "assert(", "AssertionError", "assert.", "t.Fatal", "t.Error"];
        if marks.iter().any(|mark| text.contains(mark)) {
            self.asserting.insert(path.to_owned());
        }
    }

    fn has_other_subject(&self, path: &str) -> bool {
        let stem = stem_of(path).to_ascii_lowercase();
        let tests = || self.importers.get(path).into_iter().flatten().filter(|it| it.is_test);
        let is_about_other = |test: &Source| {
            let name = stem_of(&test.path).to_ascii_lowercase();
            let others =
                self.importers.iter().filter(|(other, by)| *other != path && by.contains(test));
            let mut others = others.map(|(other, _)| stem_of(other).to_ascii_lowercase());
            !name.contains(&stem) && others.any(|other| other.len() > 1 && name.contains(&other))
        };
        tests().next().is_some() && tests().all(is_about_other)
    }
}

/// Returns true if a part of a path begins with one of the words.
fn has_word(path: &str, words: &[&str]) -> bool {
    let lower = path.to_ascii_lowercase();
    let mut parts = lower.split(|c: char| !c.is_ascii_alphabetic());
    parts.any(|part| words.iter().any(|word| part.starts_with(word)))
}

/// Returns true if a module is in the same folder as a script that checks the tree.
fn is_part_of_script(path: &str, script: &str) -> bool {
    let folder = folder_of(path);
    let checks = has_word(script, &SUPPORT_WORDS) || has_word(script, &SCRIPT_WORDS);
    !folder.is_empty() && folder == folder_of(script) && checks && !is_test_file(script)
}

/// Returns true if a shell script defines no function, and so only sets values.
fn is_settings(path: &str, text: &str) -> bool {
    let is_shell = assay_rules::language_name(path).is_some_and(|name| name == "bash");
    let defines = |line: &str| {
        let line = line.trim_start();
        line.starts_with("function ")
            || line.replace(' ', "").contains("(){")
            || line.trim_end().ends_with("()")
    };
    is_shell && !text.lines().any(defines)
}

/// Returns words of which a source must contain one to refer to the file.
fn words_for(path: &str) -> Vec<String> {
    let folder = folder_of(path).rsplit('/').next().unwrap_or_default();
    let stem = stem_of(path);
    let is_general = matches!(stem, "index" | "__init__" | "mod" | "main" | "lib");
    let mut words: Vec<&str> = Vec::new();
    if !is_general {
        words.push(stem);
    }
    // Go packages, dependencies and data are named by their folders.
    let is_code = assay_rules::language_name(path)
        .is_some_and(|name| !["json", "yaml", "bash"].contains(&name.as_str()));
    if is_general || !is_code || path.ends_with(".go") {
        words.push(folder);
    }
    if in_dependencies(path) {
        words.extend(path.split('/').skip_while(|part| !DEPENDENCY_FOLDERS.contains(part)).skip(1));
    }
    words.into_iter().filter(|word| word.len() > 1).map(str::to_owned).collect()
}

fn stem_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.trim_start_matches('.').split('.').next().unwrap_or(name)
}

fn in_dependencies(path: &str) -> bool {
    path.split('/').any(|folder| DEPENDENCY_FOLDERS.contains(&folder))
}

fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_lock = name.ends_with(".lock") || name.ends_with("-lock.json") || name.ends_with(".sum");
    is_lock || ["go.mod", "LICENSE", "VERSION", ".gitignore", ".gitattributes"].contains(&name)
}

/// Returns true if a source loads a module that only tests load.
fn loads_framework(references: &[Reference]) -> bool {
    references.iter().any(|reference| {
        let name = match reference {
            Reference::Module { level: 0, names } => names.first().cloned(),
            Reference::Package(name) => Some(name.clone()),
            Reference::Module { .. }
            | Reference::Submodule(_)
            | Reference::File(_)
            | Reference::Text(_) => None,
        };
        let is_one = |name: String| {
            FRAMEWORKS.iter().any(|it| name == *it || (it.contains('/') && name.starts_with(it)))
        };
        name.is_some_and(is_one)
    })
}

/// Returns true if a script defines tests for a runner whose functions need no import.
fn has_tests(path: &str, text: &str) -> bool {
    let is_script = matches!(
        assay_rules::language_name(path).as_deref(),
        Some("javascript" | "typescript" | "tsx")
    );
    let found = SCRIPT_TESTS
        .iter()
        .filter(|mark| text.lines().any(|line| line.trim_start().starts_with(**mark)));
    is_script && found.count() > 0
}

/// Returns true if a source outside of test folders is a test.
fn has_tests_in(path: &str, own: &[Reference], text: &str) -> bool {
    let defines = ["def test", "TestCase", "test(", "it(", "describe("];
    has_tests(path, text)
        || (loads_framework(own) && defines.iter().any(|mark| text.contains(mark)))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use assay_change::StoredFile;

    use super::*;

    /// A tree in memory.
    struct Tree<'a>(&'a [(&'a str, &'a str)]);

    impl TextSource for Tree<'_> {
        type Error = Infallible;

        fn mentioning(&self, words: &[String]) -> Result<Vec<String>, Infallible> {
            let mentions = |text: &str| words.iter().any(|word| text.contains(word));
            let found = self.0.iter().filter(|(_, text)| mentions(text));
            Ok(found.map(|(path, _)| (*path).to_owned()).collect())
        }

        fn read(&self, paths: &[String]) -> Result<Vec<String>, Infallible> {
            let text = |path: &String| self.0.iter().find(|(it, _)| it == path).unwrap().1;
            Ok(paths.iter().map(|path| text(path).to_owned()).collect())
        }
    }

    fn check(tree: &[(&str, &str)], changed: &[&str], expected: &str) {
        let file = || StoredFile { id: String::new(), is_executable: false };
        let files: Files = tree.iter().map(|(path, _)| ((*path).to_owned(), file())).collect();
        let changed = changed.iter().map(|path| (*path).to_owned()).collect();
        let Ok(support) = infer(&files, &changed, &is_test_file, &Tree(tree));
        let list = |set: BTreeSet<String>| set.into_iter().collect::<Vec<_>>().join(" ");
        assert_eq!(format!("{} | {}", list(support.certain), list(support.probable)), expected);
    }

    const TEST: (&str, &str) =
        ("tests/test_calc.py", "from calc import sub\nfrom support import same\n");

    const CALC: (&str, &str) = ("calc.py", "def sub(a, b):\n    return a - b\n");

    #[test]
    fn a_module_that_only_tests_import_is_support_and_the_subject_is_not() {
        let same = ("support.py", "def same(a, b):\n    if a != b:\n        raise ValueError\n");
        let all = [TEST, CALC, same];
        check(&all, &["support.py", "calc.py"], " | support.py");
        // The product imports the module as well.
        let app = ("app.py", "from support import same\n");
        check(&[TEST, CALC, same, app], &["support.py", "calc.py"], " | ");
        // Another helper of tests imports the module.
        let deep = ("deep.py", "assert True\n");
        let same = ("support.py", "import deep\n");
        check(&[TEST, CALC, same, deep], &["deep.py"], " | deep.py");
    }

    #[test]
    fn a_module_beside_the_one_that_a_test_is_named_after_is_support() {
        let test = ("tests/test_calc.py", "import calc\nimport compare\n");
        let compare = ("compare.py", "def same(a, b):\n    if a != b:\n        raise ValueError\n");
        check(&[test, CALC, compare], &["compare.py", "calc.py"], " | compare.py");
    }

    #[test]
    fn a_module_that_the_subject_imports_is_code() {
        let test = ("tests/test_calc.py", "from calc import sub\nfrom shapes import same\n");
        let calc = ("calc.py", "from shapes import same\nassert same\n");
        let shapes = ("shapes.py", "def same(a, b):\n    assert a == b\n");
        check(&[test, calc, shapes], &["calc.py", "shapes.py"], " | ");
    }

    #[test]
    fn data_that_only_tests_name_is_kept() {
        let test = ("tests/test_calc.py", "open('data/expected.json')\n");
        let data = ("data/expected.json", "1");
        check(&[test, CALC, data], &["data/expected.json"], " | data/expected.json");
        let reads = ("calc.py", "open('data/expected.json')\n");
        check(&[test, reads, data], &["data/expected.json"], " | ");
        let lists = ("calc.py", "os.listdir('data')\n");
        check(&[test, lists, data], &["data/expected.json"], " | ");
        let docs = ("tests/test_docs.py", "open('docs/a.md')\n");
        check(&[docs, ("docs/a.md", "")], &["docs/a.md"], " | ");
    }

    /// Returns the files that probably belong to tests, with `script` kept.
    fn probable(script: &str, tree: &[(&str, &str)], changed: &str) -> String {
        let file = || StoredFile { id: String::new(), is_executable: false };
        let files: Files = tree.iter().map(|(path, _)| ((*path).to_owned(), file())).collect();
        let is_kept = |path: &str| path == script || is_test_file(path);
        let Ok(support) = infer(&files, &[changed.to_owned()].into(), &is_kept, &Tree(tree));
        support.probable.into_iter().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn settings_that_only_a_script_of_a_check_sources_are_kept() {
        let opts = ("etc/opts.sh", "WANT=1\n");
        for text in [
            ". ./etc/opts.sh\n",
            ". \"$(dirname \"$0\")/etc/opts.sh\"\n",
            "cd etc && . ./opts.sh && cd ..\n",
            "for f in etc/*; do . ./$f; done\n",
        ] {
            let tree = [("ci.sh", text), opts];
            assert_eq!(probable("ci.sh", &tree, "etc/opts.sh"), "etc/opts.sh", "{text}");
        }
        let tree = [("ci.sh", ". ./etc/opts\n"), ("etc/opts", "WANT=1\n")];
        assert_eq!(probable("ci.sh", &tree, "etc/opts"), "etc/opts");
        // The code reads the settings as well, or the file is code.
        let script = ("ci.sh", ". ./etc/opts.sh\n");
        let tree = [script, ("run.sh", ". ./etc/opts.sh\n"), opts];
        assert_eq!(probable("ci.sh", &tree, "etc/opts.sh"), "");
        let code = ("etc/opts.sh", "sub() {\n  echo $(($1 - $2))\n}\n");
        assert_eq!(probable("ci.sh", &[script, code], "etc/opts.sh"), "");
    }

    #[test]
    fn modules_beside_a_script_that_checks_are_kept() {
        let limits = ("tools/limits.py", "WANTED = 1\n");
        for (script, expected) in [
            ("tools/verify.py", "tools/limits.py"),
            ("tools/suite.py", "tools/limits.py"),
            ("tools/main.py", ""),
        ] {
            let tree = [(script, "from limits import WANTED\n"), limits];
            assert_eq!(probable(script, &tree, "tools/limits.py"), expected, "{script}");
        }
    }

    #[test]
    fn tests_with_other_names_and_dependencies_are_kept() {
        let suite = ("verify/all.py", "import unittest\nfrom calc import sub\n");
        check(&[suite, CALC], &["verify/all.py", "calc.py"], " | verify/all.py");
        let test = ("a.test.js", "const { check } = require('chk');\n");
        let chk = ("node_modules/chk/index.js", "exports.check = () => {};\n");
        check(&[test, chk], &["node_modules/chk/index.js"], "node_modules/chk/index.js | ");
    }

    #[test]
    fn files_that_only_tests_of_rust_include_are_kept() {
        let lib = (
            "src/lib.rs",
            "mod code;\n#[cfg(test)]\nmod checks;\n#[cfg(test)]\nmod more { include!(\"more.inc\"); }\n",
        );
        let all = [lib, ("src/code.rs", ""), ("src/checks.rs", ""), ("src/more.inc", "")];
        let changed = ["src/code.rs", "src/checks.rs", "src/more.inc", "src/lib.rs"];
        check(&all, &changed, "src/checks.rs src/more.inc | ");
    }
}
