//! Facts of one file for the checks of the change: [`FileFacts`].

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use regex::Regex;

use super::ChangedFile;
use crate::executable_lines;
use crate::foreign_code::is_marked_generated;
use crate::language::{self, Language};
use crate::syntax::LineSet;

/// The declarations of tests in all languages: the first group that matched is the name.
static DECLARED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?mx)
        ^\s*(?:async\s+)?def\s+(test_\w+)                                  # Python, Ruby
        | ^func\s+(Test\w+)\(                                              # Go
        | \#\[(?:\w+::)?test(?:\([^)]*\))?\]\s*(?:\#\[[^\]]*\]\s*)*(?:pub\s+)?(?:async\s+)?fn\s+(\w+) # Rust
        | @(?:Test|ParameterizedTest)\b[^;{}]*?\b(?:void|fun)\s+(\w+)\s*\( # Java, Kotlin
        | \[(?:Fact|Theory|Test|TestMethod|TestCase)\b[^;{}]*?\b(?:void|Task)\s+(\w+)\s*\( # C#
        | ^\s*func\s+(test\w+)\s*\(                                        # Swift
        | ^\s*[xf]?(?:it|test|specify)(?:\.\w+)*\s*\(?\s*['"`]([^'"`\n]+)['"`] # JavaScript, Ruby
        | ^\s*(?:public\s+)?function\s+(test\w+)\s*\(                      # PHP
        "#,
    )
    .expect("the pattern is valid")
});

/// The kind of a file, for counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// Code that is not a test.
    Code,
    /// A test.
    Test,
    /// Any other file.
    Other,
}

/// The facts of one file.
pub(crate) struct FileFacts {
    pub(super) kind: FileKind,
    /// The number of added executable lines; 0 if the file is not code.
    pub(super) added_code: usize,
    /// True if the change touches a test among the code, as in Rust.
    pub(super) touches_tests: bool,
    /// True if the file declared tests before the change, even tests that a macro names.
    pub(super) had_tests: bool,
    /// The names of the tests before the change.
    pub(super) tests_before: BTreeSet<String>,
    /// The names of the tests after the change.
    pub(super) tests_after: BTreeSet<String>,
    /// True if the head of the file marks it as generated, before and after the change.
    pub(super) was_generated: bool,
    /// True if the head of the file marks it as generated after the change.
    pub(super) is_generated: bool,
    /// The added lines of code with content: their numbers, and hashes of their texts.
    pub(super) added_lines: Vec<(u32, u64)>,
}

impl FileFacts {
    /// Collects the facts of a file.
    pub(crate) fn of(view: &ChangedFile<'_>) -> FileFacts {
        let path = view.file.path();
        let kind = match (language::is_code(path), language::is_test(path)) {
            (true, true) => FileKind::Test,
            (true, false) => FileKind::Code,
            (false, _) => FileKind::Other,
        };
        let touched = LineSet::new(view.file.added());
        let has_tests = kind == FileKind::Test || is_rust(path);
        let names = |text: Option<&str>| match text {
            // Tests in Rust are among the code, and are marked.
            Some(text) if kind != FileKind::Test && !text.contains("test]") => BTreeSet::new(),
            Some(text) if has_tests => test_names(text),
            _ => BTreeSet::new(),
        };
        let is_code = kind == FileKind::Code;
        let after = view.after.filter(|_| is_code);
        FileFacts {
            kind,
            added_code: after.map_or(0, |text| {
                let comments = view.tree_facts.map(|tree_facts| tree_facts.comments.as_slice());
                executable_lines::count(text, comments, &touched)
            }),
            touches_tests: is_code && is_rust(path) && touches_tests(view, &touched),
            had_tests: has_tests && view.before().is_some_and(declares_tests),
            tests_before: names(view.before().filter(|_| has_tests)),
            tests_after: names(view.after),
            was_generated: was_generated(view),
            is_generated: view.after.is_some_and(is_marked_generated),
            added_lines: after.map(|text| lines_with_content(text, &touched)).unwrap_or_default(),
        }
    }
}

fn is_rust(path: &str) -> bool {
    language::by_name(path) == Some(Language::Rust)
}

/// Returns true if the change touches a module of tests.
fn touches_tests(view: &ChangedFile<'_>, touched: &LineSet) -> bool {
    let Some(tree_facts) = view.tree_facts else { return false };
    let is_test = |name: &str| name.split('.').any(|part| part == "tests" || part == "test");
    tree_facts.symbols.iter().any(|symbol| is_test(&symbol.name) && touched.overlaps(symbol.lines))
}

/// Returns true if a file is marked as generated before and after the change; a file that lost its
/// mark was taken over on purpose.
fn was_generated(view: &ChangedFile<'_>) -> bool {
    view.after.is_some_and(is_marked_generated) && view.before().is_some_and(is_marked_generated)
}

/// Returns the names of the tests that a text declares.
pub(super) fn test_names(text: &str) -> BTreeSet<String> {
    // Most files declare none, and this check is cheaper than the pattern.
    if !["test", "Test", "it", "specify"].iter().any(|word| text.contains(word)) {
        return BTreeSet::new();
    }
    DECLARED
        .captures_iter(text)
        .filter_map(|groups| groups.iter().skip(1).flatten().next().map(|m| m.as_str().to_owned()))
        .collect()
}

/// Returns true if a text declares tests, even tests whose names a macro inserts.
fn declares_tests(text: &str) -> bool {
    static IN_MACRO: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"#\[(?:\w+::)?test\]\s*(?:\#\[[^\]]*\]\s*)*(?:async\s+)?fn\s+\$\w+")
            .expect("the pattern is valid")
    });
    !test_names(text).is_empty() || IN_MACRO.is_match(text)
}

/// Returns the touched lines with content: their numbers, and hashes of their texts.
pub(super) fn lines_with_content(text: &str, touched: &LineSet) -> Vec<(u32, u64)> {
    let lines: Vec<&str> = text.lines().collect();
    let numbers = touched.numbers().take_while(|number| *number as usize <= lines.len());
    numbers
        .filter_map(|number| {
            let line = lines[number as usize - 1];
            // Closing brackets and blanks are not content.
            let says_something = line.chars().filter(|c| c.is_alphanumeric()).count() > 2;
            let mut hasher = DefaultHasher::new();
            line.split_whitespace().for_each(|word| word.hash(&mut hasher));
            says_something.then(|| (number, hasher.finish()))
        })
        .collect()
}
