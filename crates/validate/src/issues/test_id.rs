//! Parses names of tests as runners and people write them: [`TestId`].

/// The name of a test, from the outermost module or suite to the test itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TestId {
    segments: Vec<String>,
    /// True if the name contains the file of the test.
    has_path: bool,
}

/// Endings of test files, which are omitted from the names of modules.
const ENDINGS: [&str; 17] = [
    ".py", ".rs", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".rb",
    ".php", ".java", ".kt", ".cs", ".exs",
];

impl TestId {
    /// Parses a name that a runner reports, such as `tests.test_calc > test_sub`, `test_sub
    /// (tests.test_calc.T.test_sub)` or `tests::test_sub`. The cases of a parametrised test have
    /// the name of the test.
    pub(super) fn of_result(name: &str) -> TestId {
        let name = without_case(name.trim());
        let with_class = name.strip_suffix(')').and_then(|it| it.split_once(" ("));
        if let Some((test, class)) = with_class
            && !test.contains(' ')
            && !class.contains(' ')
            && class.contains('.')
        {
            let mut id = TestId::of_criterion(class);
            if id.segments.last().is_none_or(|last| last != test) {
                id.segments.push(test.to_owned());
            }
            return id;
        }
        TestId::of_criterion(name)
    }

    /// Parses a name as people write it, such as `tests/x.py::T::test_a`, `T.test_a` or
    /// `test_sub()`.
    pub(super) fn of_criterion(name: &str) -> TestId {
        let name = name.trim();
        let name = name.strip_suffix("()").unwrap_or(name);
        let mut id = TestId { segments: Vec::new(), has_path: false };
        for part in name.split(" > ") {
            let part = part.trim();
            if part.contains(char::is_whitespace) {
                id.segments.push(part.to_owned());
                continue;
            }
            for piece in part.split("::") {
                let bare = ENDINGS.iter().find_map(|ending| piece.strip_suffix(ending));
                id.has_path |= bare.is_some() || piece.contains('/');
                let plain = bare.unwrap_or(piece);
                let words = plain.split(['.', '/']).filter(|word| !word.is_empty());
                id.segments.extend(words.map(str::to_owned));
            }
        }
        id
    }

    /// Returns true if the name contains the file of the test.
    pub(super) fn has_path(&self) -> bool {
        self.has_path
    }

    /// Returns true if another name is a suffix of this one: whole segments, or the same words with
    /// blanks between them. `adds` is no suffix of `never adds`.
    pub(super) fn ends_with(&self, other: &TestId) -> bool {
        if other.segments.is_empty() {
            return false;
        }
        let joined = other.segments.join(" ");
        let has_blank = other.segments.iter().any(|it| it.contains(' '));
        let mut ends = (0..self.segments.len()).map(|from| &self.segments[from..]);
        ends.any(|end| end == other.segments || (has_blank && end.join(" ") == joined))
    }

    /// Returns true if this test is in a module, class or suite with the given name.
    pub(super) fn is_within(&self, suite: &TestId) -> bool {
        let around = self.segments.split_last().map_or(&[][..], |(_, around)| around);
        let length = suite.segments.len();
        length > 0 && around.windows(length).any(|window| window == suite.segments)
    }

    /// Returns true if a name looks like that of a class or file of tests.
    pub(super) fn looks_like_suite(&self) -> bool {
        let last = self.segments.last().map(|it| it.to_lowercase()).unwrap_or_default();
        last.contains("test") || last.contains("spec")
    }
}

/// Removes the parameters of a case, as in `test_a[1-2]`.
fn without_case(name: &str) -> &str {
    let case = name.strip_suffix(']').and_then(|it| it.split_once('['));
    case.map_or(name, |(test, _)| test).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_spellings_of_a_test_name_match_that_test_and_no_other() {
        for (result, names) in [
            (
                "test_sub (tests.test_calc.T.test_sub)",
                "test_sub|test_sub()|T.test_sub|tests.test_calc.T.test_sub|\
                 tests/test_calc.py::T::test_sub|T::test_sub",
            ),
            ("test_sub (tests.test_calc.T)", "test_sub|T.test_sub|tests/test_calc.py::T::test_sub"),
            ("tests.test_calc > test_sub[2-3]", "test_sub|tests/test_calc.py::test_sub"),
            ("tests.test_calc.T > test_sub", "T::test_sub|tests/test_calc.py::T::test_sub"),
            ("tests::test_sub", "test_sub|tests::test_sub"),
            ("calc > x", "x|calc > x|calc x"),
            ("calc > takes two numbers", "takes two numbers|calc takes two numbers"),
        ] {
            for name in names.split('|') {
                let (test, name) = (TestId::of_result(result), TestId::of_criterion(name));
                assert!(test.ends_with(&name), "{result}: {name:?}");
            }
        }
        for (result, name) in [
            ("never adds", "adds"),
            ("test_sub", "sub"),
            ("calc > never adds", "calc adds"),
            ("tests.test_other > test_sub", "tests/test_calc.py::test_sub"),
            ("U.test_sub", "T.test_sub"),
        ] {
            let (test, name) = (TestId::of_result(result), TestId::of_criterion(name));
            assert!(!test.ends_with(&name), "{result}: {name:?}");
        }
    }

    #[test]
    fn a_class_a_file_or_a_suite_contains_its_tests() {
        let is_within = |test: &str, suite: &str| {
            TestId::of_result(test).is_within(&TestId::of_criterion(suite))
        };
        assert!(is_within("test_sub (tests.test_calc.T.test_sub)", "T"));
        assert!(is_within("tests.test_calc > test_sub", "tests/test_calc.py"));
        assert!(is_within("calc > x", "calc"));
        assert!(!is_within("calc > x", "x"));
        assert!(!is_within("calculator > x", "calc"));
    }
}
