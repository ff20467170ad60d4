//! Tests in the files that ran that have no result: [`unreported`].
//!
//! Only definitions that are certainly tests count: functions and methods of a Python file that ran
//! as a whole, and calls of `test` and `it` with a plain title at the top of a file or in a suite
//! there. If a command, a setting or a file selects tests, none are returned.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::check::RequiredCheck;
use crate::command::Program;
use crate::results::{TestReport, UnreportedTest};

/// The maximum size of a file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// The maximum number of tests without a result that are returned.
const MAX_UNREPORTED: usize = 50;

/// Options of commands that select tests, or stop before the last.
const SELECTS: [&str; 24] = [
    "-k", "-m", "-x", "-f", "-t", "--deselect", "--ignore", "--ignore-glob", "--exitfirst",
    "--maxfail", "--failfast", "--lf", "--last-failed", "--ff", "--sw", "--stepwise", "--only",
    "--test-name-pattern", "--test-skip-pattern", "--test-only", "--testNamePattern", "--bail",
    "--test-shard", "--shard",
];

/// Words in files that make Python's runners skip tests, or generate others.
const PYTHON_SELECTS: [&str; 11] = [
    "load_tests", "__test__", "delattr", "setattr", "collect_ignore", "pytest_collection",
    "pytest_ignore_collect", "pytest_pycollect", "pytest_generate_tests", "python_functions",
    "python_classes",
];

/// Decorators after which a test is still a single test. Others may turn it into a fixture, or
/// several tests.
const PLAIN: [&str; 6] =
    ["@pytest.mark.", "@unittest.", "@mock.patch", "@patch", "@given", "@settings"];

/// Files next to and above the files that ran that configure pytest.
const PYTHON_SETTINGS: [&str; 6] =
    ["conftest.py", "pytest.ini", ".pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"];

/// A test that a file defines.
#[derive(Debug, PartialEq, Eq)]
struct DefinedTest {
    /// The class of a Python method; `None` for a function.
    class: Option<String>,
    name: String,
    line: u32,
}

/// Returns the tests in the files that ran that have no result.
pub(super) fn unreported(
    root: &Path,
    check: &RequiredCheck,
    tests: &TestReport,
) -> Vec<UnreportedTest> {
    let counted = tests.totals.ran().saturating_add(tests.totals.skipped);
    if is_selecting(root, check) || tests.is_cut || tests.results.len() < counted {
        return Vec::new();
    }
    let mut found = Vec::new();
    for file in files(root, check, tests) {
        let Some(text) = read(&root.join(&file)) else { continue };
        let missing = match file.rsplit('.').next() {
            Some("py") if !selects_in_python(root, &file, &text) => of_python(&text, tests, &file),
            Some("js" | "mjs" | "cjs" | "ts" | "mts" | "cts" | "jsx" | "tsx") => {
                of_javascript(&text, tests, &file)
            }
            _ => Vec::new(),
        };
        found.extend(missing.into_iter().map(|test| UnreportedTest {
            name: match test.class {
                Some(class) => format!("{class}.{}", test.name),
                None => test.name,
            },
            file: file.clone(),
            line: test.line,
        }));
        if found.len() >= MAX_UNREPORTED {
            break;
        }
    }
    found.truncate(MAX_UNREPORTED);
    found
}

/// Returns true if a command selects tests of a file by name.
fn is_selecting(root: &Path, check: &RequiredCheck) -> bool {
    let Program::Words(words) = &check.command.program else { return true };
    let variables = check.command.variables.iter();
    let options = variables.flat_map(|(_, value)| value.split_whitespace());
    let given: Vec<&str> = words.iter().map(String::as_str).chain(options).collect();
    let module = given.iter().position(|word| ["unittest", "pytest"].contains(word)).unwrap_or(0);
    let behind = |at: usize| at > module;
    let selects = given.iter().enumerate().any(|(at, word)| {
        let option = word.split('=').next().unwrap_or(word);
        word.contains("::") || (behind(at) && SELECTS.contains(&option))
    });
    // `python -m unittest tests.test_a.T` names a class of a module.
    let names_part = given.get(module) == Some(&"unittest")
        && given[module + 1..].iter().any(|word| {
            let is_option = word.starts_with('-') || *word == "discover";
            let path = root.join(&check.folder).join(word.replace('.', "/"));
            !is_option
                && word.contains('.')
                && !word.contains('*')
                && !path.with_extension("py").exists()
                && !path.is_dir()
                && !root.join(&check.folder).join(word).exists()
        });
    selects || names_part
}

/// Returns the files that ran, from the root.
fn files(root: &Path, check: &RequiredCheck, tests: &TestReport) -> BTreeSet<String> {
    let named = tests.results.iter().filter_map(|test| match &test.file {
        Some(file) => Some(file.clone()),
        None => file_of_suite(root, &check.folder, &test.name),
    });
    named.chain(tests.empty_files.iter().cloned()).collect()
}

/// Returns the file of `tests.test_a.T > test_b`, which pytest names by its module.
fn file_of_suite(root: &Path, folder: &str, name: &str) -> Option<String> {
    let (suite, _) = name.split_once(" > ")?;
    let parts: Vec<&str> = suite.split('.').collect();
    let is_plain = |part: &&str| part.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if !parts.iter().all(|part| is_plain(part) && !part.is_empty()) {
        return None;
    }
    (1..=parts.len()).rev().find_map(|count| {
        let path = format!("{}.py", parts[..count].join("/"));
        let path = if folder.is_empty() { path } else { format!("{folder}/{path}") };
        root.join(&path).is_file().then_some(path)
    })
}

fn read(path: &Path) -> Option<String> {
    let about = fs::symlink_metadata(path).ok()?;
    (about.is_file() && about.len() <= MAX_FILE_BYTES)
        .then(|| fs::read_to_string(path).ok())
        .flatten()
}

/// Returns true if a Python file, or a setting above it, skips tests or generates others.
fn selects_in_python(root: &Path, file: &str, text: &str) -> bool {
    let says = |text: &str| PYTHON_SELECTS.iter().any(|word| text.contains(word));
    if says(text) {
        return true;
    }
    let mut folders: Vec<PathBuf> = Vec::new();
    let mut at = Path::new(file).parent();
    while let Some(folder) = at {
        folders.push(root.join(folder));
        at = folder.parent();
    }
    let settings = folders.iter().flat_map(|folder| PYTHON_SETTINGS.map(|name| folder.join(name)));
    settings.filter_map(|path| Some((read(&path)?, path))).any(|(text, path)| {
        let options = [" -k", "-m ", "--deselect", "--ignore", "--maxfail"];
        let is_script = path.extension().is_some_and(|ending| ending == "py");
        let addopts = || text.lines().any(|line| options.iter().any(|word| line.contains(word)));
        says(&text) || (!is_script && text.contains("addopts") && addopts())
    })
}

fn of_python(text: &str, tests: &TestReport, file: &str) -> Vec<DefinedTest> {
    let names: Vec<&str> = tests.results.iter().map(|test| test.name.as_str()).collect();
    // The output does not name the tests of a class or a module that is skipped as a whole.
    let skips = |class: &str| {
        names.iter().any(|name| name.starts_with("setUp") && name.contains(class))
            || names.iter().any(|name| name.starts_with("setUpModule"))
    };
    // Of two tests with the same name, the later definition counts.
    let stem = file.rsplit('/').next().unwrap_or(file).trim_end_matches(".py");
    let marks = [format!("{stem}."), format!("{stem} > ")];
    // A test with the same name as its module is named once.
    let is_of_file =
        |name: &&&str| **name == stem || marks.iter().any(|mark| name.contains(mark.as_str()));
    let of_file: Vec<&str> = names.iter().filter(is_of_file).copied().collect();
    let by_unittest = of_file.iter().any(|name| name.ends_with(')'));
    let has = |test: &DefinedTest| {
        of_file.iter().any(|name| match &test.class {
            Some(class) if by_unittest => name.ends_with(&format!(".{class}.{})", test.name)),
            Some(class) => {
                let (suite, own) = suite_and_own(name);
                let is_class = |mark: &str| suite.ends_with(&format!("{mark}{class}"));
                (is_class(".") || is_class("::")) && is_case_of(own, &test.name)
            }
            None => is_case_of(suite_and_own(name).1, &test.name),
        })
    };
    let class_ran = |class: &str| {
        let marks = [format!(".{class}."), format!(".{class} > "), format!("::{class}::")];
        of_file.iter().any(|name| marks.iter().any(|mark| name.contains(mark.as_str())))
    };
    let defined = defined_in_python(text);
    let is_sure = |test: &DefinedTest| match &test.class {
        // If no test of a class ran, only the runner knows whether it is a test class.
        Some(class) => class_ran(class) && !skips(class),
        None => !by_unittest,
    };
    defined.into_iter().filter(|test| is_sure(test) && !has(test)).collect()
}

/// Returns the suite of a test and its name in the suite: `tests.test_a > test_b`,
/// `test_a.py::test_b`.
fn suite_and_own(name: &str) -> (&str, &str) {
    let before_case = &name[..name.find('[').unwrap_or(name.len())];
    let ends = [" > ", "::"].into_iter().filter_map(|mark| {
        let at = before_case.rfind(mark)?;
        Some((at, at + mark.len()))
    });
    match ends.max() {
        Some((end, start)) => (&name[..end], &name[start..]),
        None => ("", name),
    }
}

/// Returns true if a result belongs to a test name, alone or with parameters.
fn is_case_of(own: &str, name: &str) -> bool {
    own.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['))
}

/// Returns the functions and methods of a Python file that are named as tests.
fn defined_in_python(text: &str) -> Vec<DefinedTest> {
    let mut found: Vec<DefinedTest> = Vec::new();
    let mut class: Option<(String, Option<usize>)> = None;
    let mut quote: Option<&str> = None;
    let mut decorators: Vec<&str> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let is_inside = quote.is_some();
        quote = quote_after(quote, line);
        let words = line.trim_start();
        let indent = line.len() - words.len();
        if is_inside || words.is_empty() || words.starts_with(['#', ')', ']', '}']) {
            continue;
        }
        if indent == 0 {
            class = words.strip_prefix("class ").map(|rest| (identifier(rest).to_owned(), None));
        } else if let Some((_, body @ None)) = &mut class {
            *body = Some(indent);
        }
        if words.starts_with('@') {
            decorators.push(words);
            continue;
        }
        let is_plain = decorators.iter().all(|it| PLAIN.iter().any(|start| it.starts_with(start)));
        if words.starts_with("def ") || words.starts_with("async ") || words.starts_with("class ") {
            decorators.clear();
        }
        let function = words.strip_prefix("async ").unwrap_or(words).strip_prefix("def ");
        let Some(name) = function.map(identifier).filter(|name| name.starts_with("test")) else {
            continue;
        };
        let class = match &class {
            None if indent == 0 && is_plain => None,
            Some((class, Some(body))) if *body == indent && is_plain => Some(class.clone()),
            None | Some(_) => continue,
        };
        let test = DefinedTest { class, name: name.to_owned(), line: number };
        if !found.iter().any(|known| known.class == test.class && known.name == test.name) {
            found.push(test);
        }
    }
    found
}

/// Returns the quotes of the multi-line string that is open after a line; `None` if there is none.
fn quote_after<'a>(open: Option<&'a str>, line: &str) -> Option<&'a str> {
    let mut open = open;
    let mut rest = line;
    loop {
        match open {
            Some(mark) => match rest.find(mark) {
                Some(at) => (open, rest) = (None, &rest[at + 3..]),
                None => return open,
            },
            None => {
                let next =
                    ["\"\"\"", "'''"].into_iter().filter_map(|it| Some((rest.find(it)?, it)));
                match next.min() {
                    Some((at, mark)) => (open, rest) = (Some(mark), &rest[at + 3..]),
                    None => return None,
                }
            }
        }
    }
}

fn identifier(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

fn of_javascript(text: &str, tests: &TestReport, file: &str) -> Vec<DefinedTest> {
    let of_file: Vec<&str> = tests
        .results
        .iter()
        .filter(|test| test.file.as_deref() == Some(file))
        .map(|test| test.name.as_str())
        .collect();
    let is_focused = text.contains(".only(") || text.contains("only:");
    // The file could not be loaded, or was not run for its tests.
    if is_focused
        || !["node:test", "vitest", "jest", "it(", "test("].iter().any(|it| text.contains(it))
    {
        return Vec::new();
    }
    let has = |test: &DefinedTest| {
        of_file.iter().any(|name| {
            name.strip_suffix(test.name.as_str())
                .is_some_and(|before| before.is_empty() || before.ends_with(" > "))
        })
    };
    let is_loaded = !of_file.iter().any(|name| name.ends_with(file));
    let defined = if is_loaded { defined_in_javascript(text) } else { Vec::new() };
    defined.into_iter().filter(|test| !has(test)).collect()
}

/// Returns the tests with plain titles at the top of a file, or in suites there.
fn defined_in_javascript(text: &str) -> Vec<DefinedTest> {
    let mut found = Vec::new();
    // The lines that enclose the current one: their indents, and whether each opens a suite.
    let mut around: Vec<(usize, bool)> = Vec::new();
    let (mut in_comment, mut in_template) = (false, false);
    for (number, line) in (1..).zip(text.lines()) {
        let words = line.trim_start();
        let indent = line.len() - words.len();
        let (was_comment, was_template) = (in_comment, in_template);
        if in_comment || words.starts_with("/*") {
            in_comment = !line.contains("*/");
        }
        in_template ^= line.matches('`').count() % 2 == 1;
        let is_closing = words.starts_with(['}', ')', ']']);
        if was_comment || in_comment || was_template || words.is_empty() || words.starts_with("//")
        {
            continue;
        }
        while around.last().is_some_and(|(begun, _)| *begun >= indent) {
            around.pop();
        }
        if is_closing {
            continue;
        }
        let is_sure = around.iter().all(|(_, is_suite)| *is_suite);
        if let Some((name, _)) = title(words, &["test", "it"]).filter(|_| is_sure) {
            found.push(DefinedTest { class: None, name, line: number });
        }
        // The output does not name the tests of a skipped suite.
        let suite = title(words, &["describe", "suite"]);
        let runs = |rest: &str| !rest.contains("skip") && !rest.contains("todo");
        let is_suite = !words.contains(".skip(") && !words.contains(".todo(");
        around.push((indent, is_suite && suite.is_some_and(|(_, rest)| runs(rest))));
    }
    found
}

/// Returns the title of `test('adds', …` if it is plain text on one line, and the rest of the line.
fn title<'a>(words: &'a str, functions: &[&str]) -> Option<(String, &'a str)> {
    let called = functions.iter().find_map(|name| words.strip_prefix(name))?;
    let called = [".skip", ".todo"].iter().find_map(|it| called.strip_prefix(it)).unwrap_or(called);
    let inside = called.strip_prefix('(')?.trim_start();
    let mark = inside.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (title, rest) = inside[1..].split_once(mark)?;
    let is_plain = !title.contains(['\\', '%']) && rest.trim_start().starts_with(',');
    is_plain.then(|| (title.trim().to_owned(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_tests_are_top_level_functions_and_methods() {
        let text = "\"\"\"A text.\n\ndef test_in_a_text():\n    pass\n\"\"\"\n\n\ndef test_a():\n    def test_inside():\n        pass\n\n\n@pytest.fixture\ndef test_data():\n    pass\n\n\nclass T(Base):\n    x = '''\n    def test_quoted(self):\n    '''\n\n    @pytest.mark.slow\n    async def test_b(self):\n        pass\n\n    def helper(self):\n        pass\n\n\nif True:\n    def test_maybe():\n        pass\n";
        let found: Vec<String> = defined_in_python(text)
            .iter()
            .map(|it| format!("{}{}:{}", it.class.as_deref().unwrap_or(""), it.name, it.line))
            .collect();
        assert_eq!(found, ["test_a:8", "Ttest_b:24"]);
    }

    #[test]
    fn a_test_has_a_result_under_every_name_that_runners_give_it() {
        let result = |name: &str| crate::results::TestResult {
            name: name.to_owned(),
            file: None,
            outcome: crate::results::TestOutcome::Passed,
            duration_ms: None,
            skipped_in: None,
        };
        let text = "def test_pick():\n    pass\n\n\ndef test_b():\n    pass\n\n\nclass T:\n    def test_c(self):\n        pass\n";
        let missing = |names: &[&str]| {
            let results = names.iter().map(|name| result(name)).collect();
            let tests = TestReport { results, ..TestReport::default() };
            let missing = of_python(text, &tests, "test_pick.py");
            missing.into_iter().map(|it| it.name).collect::<Vec<String>>()
        };
        let by_report = ["test_pick", "test_pick > test_b", "test_pick.T > test_c[a::b]"];
        assert_eq!(missing(&by_report), [""; 0]);
        let by_text =
            ["test_pick.py::test_pick", "test_pick.py::test_b[1]", "test_pick.py::T::test_c"];
        assert_eq!(missing(&by_text), [""; 0]);
        assert_eq!(
            missing(&["test_pick > test_b", "test_pick.T > test_x"]),
            ["test_pick", "test_c"]
        );
    }

    #[test]
    fn javascript_tests_are_calls_at_the_top_level_or_in_a_suite() {
        let text = "test('a', () => {\n  test('inside', () => {});\n});\n// test('no', 1)\nif (x) {\n  test('maybe', () => {});\n}\ndescribe('s', () => {\n  it('b', () => {});\n  for (const n of many) {\n    it('c', () => {});\n  }\n  it.each([1])('d %s', () => {});\n  it.skip(\"e\", () => {});\n});\ndescribe.skip('u', () => {\n  it('v', () => {});\n});\nconst t = `\ntest('f', 1)\n`;\ntest(`g`, () => {});\n";
        let found: Vec<String> =
            defined_in_javascript(text).into_iter().map(|it| it.name).collect();
        assert_eq!(found, ["a", "b", "e"]);
    }
}
