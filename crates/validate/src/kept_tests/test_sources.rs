//! Finds the text of tests by their names: [`TestSources`].
//!
//! A test that is gone may have been renamed. It proves the same if its text is the same. The text
//! begins at the line with the name and ends where the indentation ends.

use assay_base::text::single_spaced;
use std::collections::BTreeSet;

/// The texts of test files, in their kept and their current version.
#[derive(Debug, Default)]
pub(crate) struct TestSources {
    pub(crate) kept: Vec<String>,
    pub(crate) now: Vec<String>,
}

impl TestSources {
    /// Returns true if a kept test has the same text as one of the new tests.
    pub(crate) fn is_renamed(&self, name: &str, new: &BTreeSet<&str>) -> bool {
        let Some(kept) = body(&self.kept, name) else { return false };
        new.iter().filter_map(|other| body(&self.now, other)).any(|other| other == kept)
    }

    /// Returns true if each kept Python file exists in the current version, with differences in
    /// import statements only. Returns false if the kept files define no test.
    pub(crate) fn are_all_kept(&self) -> bool {
        let functions = self.kept.iter().flat_map(|text| text.lines()).filter_map(|line| {
            let rest = line.trim_start().trim_start_matches("async ").strip_prefix("def ")?;
            let name = rest.split('(').next()?.trim();
            name.starts_with("test").then_some(name)
        });
        let names: BTreeSet<&str> = functions.collect();
        // Values and helpers that tests use affect the tests, too.
        let now: BTreeSet<String> = self.now.iter().map(|text| without_imports(text)).collect();
        let is_kept = |text: &String| now.contains(&without_imports(text));
        !names.is_empty() && self.kept.iter().all(is_kept)
    }

    /// Returns the text of a kept test; `None` if no kept file defines the test.
    pub(crate) fn kept_test(&self, name: &str) -> Option<String> {
        body(&self.kept, name)
    }
}

/// Returns the text of a Python file without import statements, on one line.
fn without_imports(text: &str) -> String {
    let mut rest = Vec::new();
    let mut is_open = false;
    for line in text.lines() {
        let words = line.trim_start();
        let begins = words.starts_with("import ") || words.starts_with("from ");
        if !is_open && !begins {
            rest.push(line);
            continue;
        }
        let opens = if is_open { true } else { line.contains('(') };
        is_open = (opens && !line.contains(')')) || line.trim_end().ends_with('\\');
    }
    single_spaced(&rest.join("\n"))
}

/// Returns the text of a test, on one line and without the name; `None` if no file defines the
/// test.
fn body(files: &[String], name: &str) -> Option<String> {
    if name.is_empty() {
        return None;
    }
    files.iter().find_map(|text| {
        let lines: Vec<&str> = text.lines().collect();
        let at = lines.iter().position(|line| defines(line, name))?;
        let indent = |line: &str| line.len() - line.trim_start().len();
        let begun = indent(lines[at]);
        let inside = lines[at + 1..].iter().take_while(|line| {
            let rest = line.trim_start();
            rest.is_empty() || indent(line) > begun || rest.starts_with(['}', ')', ']'])
        });
        let first = lines[at].replacen(name, "", 1);
        let whole: Vec<&str> = std::iter::once(first.as_str()).chain(inside.copied()).collect();
        Some(single_spaced(&whole.join("\n")))
    })
}

/// Returns true if a line defines a function with the name, or contains the name in quotes.
fn defines(line: &str, name: &str) -> bool {
    let quoted = ["'", "\"", "`"].iter().any(|mark| line.contains(&format!("{mark}{name}{mark}")));
    let called = |word: &str| {
        let after = line.split_once(word).map(|(_, rest)| rest.trim_start());
        let rest = after.and_then(|rest| rest.strip_prefix(name));
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    quoted || ["def ", "fn ", "func ", "function "].into_iter().any(called)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(kept: &str, now: &str, name: &str, new: &str) -> bool {
        let sources = TestSources { kept: vec![kept.to_owned()], now: vec![now.to_owned()] };
        sources.is_renamed(name, &BTreeSet::from([new]))
    }

    #[test]
    fn test_files_that_differ_only_in_imports_are_recognized_as_kept() {
        let kept = "from calc import add\n\n\ndef test_a():\n    assert add(1, 2) == 3\n";
        let are_kept = |now: &str| {
            TestSources { kept: vec![kept.to_owned()], now: vec![now.to_owned()] }.are_all_kept()
        };
        assert!(are_kept(&kept.replace("from calc", "from sums")));
        assert!(!are_kept(&kept.replace("from calc", "from sums").replace("== 3", "== 4")));
        assert!(!are_kept("from sums import add\n"));
        let cases = "from calc import (\n    add,\n)\n\nCASES = [(1, 2, 3)]\n\n\ndef test_a():\n    for a, b, c in CASES:\n        assert add(a, b) == c\n";
        let of_cases = |now: &str| {
            TestSources { kept: vec![cases.to_owned()], now: vec![now.to_owned()] }.are_all_kept()
        };
        assert!(of_cases(&cases.replace("from calc", "from sums")));
        assert!(!of_cases(&cases.replace("from calc", "from sums").replace("2, 3", "2, 4")));
    }

    #[test]
    fn a_renamed_test_with_the_same_text_is_recognized() {
        let python = "def test_a():\n    x = 1\n\n    assert x\n\ndef test_b():\n    assert 2\n";
        assert!(renamed(python, &python.replace("test_a", "test_c"), "test_a", "test_c"));
        assert!(!renamed(python, python, "test_a", "test_b"));
        let weaker = python.replace("test_a", "test_c").replace("assert x", "assert True");
        assert!(!renamed(python, &weaker, "test_a", "test_c"));
        let go = "func TestA(t *testing.T) {\n\tif 1 != 1 {\n\t\tt.Fatal()\n\t}\n}\n";
        assert!(renamed(go, &go.replace("TestA", "TestB"), "TestA", "TestB"));
        let script = "test('adds', () => {\n  assert.equal(1, 1);\n});\n";
        assert!(renamed(script, &script.replace("adds", "sums up"), "adds", "sums up"));
    }
}
