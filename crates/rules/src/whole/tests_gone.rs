//! Tests that are deleted or made weaker.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use assay_change::diff::FileDiff;
use assay_findings::ground::Symbol;
use regex::Regex;

use super::{Check, Sighting, Whole, first_added};
use crate::language;
use crate::syntax::Syntax;
use crate::wording::Wording;

pub(super) const FILE_DELETED: Check = Check {
    wording: Wording {
        id: "test/file-deleted",
        grade: "MEDIUM",
        category: "testing",
        title: "Test file deleted",
        message: "What it checked is no longer checked by anything in this change.",
        advice: "Keep the tests, or say why nothing of what they check is left.",
    },
    look: deleted_files,
};

pub(super) const TESTS_REMOVED: Check = Check {
    wording: Wording {
        id: "test/removed",
        grade: "MEDIUM",
        category: "testing",
        title: "Tests removed",
        message: "What they checked is no longer checked.",
        advice: "Keep the tests, or say why nothing of what they check is left.",
    },
    look: removed_tests,
};

pub(super) const WEAKENED: Check = Check {
    wording: Wording {
        id: "test/weakened",
        grade: "MEDIUM",
        category: "testing",
        title: "Test checks less than before",
        message: "A test that lost an assertion passes where it would have failed.",
        advice: "Mend the code until the old assertion holds, or replace it by one as strict.",
    },
    look: weakened_tests,
};

/// How tests are declared, in all languages at once: the name is the first group that is there.
static DECLARED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?mx)
        ^\s*(?:async\s+)?def\s+(test_\w+)                                  # Python, Ruby
        | ^func\s+(Test\w+)\(                                              # Go
        | \#\[(?:\w+::)?test(?:\([^)]*\))?\]\s*(?:\#\[[^\]]*\]\s*)*(?:pub\s+)?(?:async\s+)?fn\s+(\w+) # Rust
        | @(?:Test|ParameterizedTest)\b[^;{}]*?\bvoid\s+(\w+)\s*\(         # Java
        | ^\s*[xf]?(?:it|test|specify)(?:\.\w+)*\s*\(?\s*['"`]([^'"`\n]+)['"`] # JavaScript, Ruby
        | ^\s*(?:public\s+)?function\s+(test\w+)\s*\(                      # PHP
        "#,
    )
    .expect("the pattern is valid")
});

static ASSERTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:assert\w*!?|expect|require\.\w+|should|must_\w+|t\.(?:Error|Fatal)f?|verify)\b",
    )
    .expect("the pattern is valid")
});

fn test_names(text: &str) -> BTreeSet<String> {
    DECLARED
        .captures_iter(text)
        .filter_map(|groups| groups.iter().skip(1).flatten().next().map(|m| m.as_str().to_owned()))
        .collect()
}

/// Says whether code went as well, so that its tests had to go with it.
fn code_went(whole: &Whole<'_>) -> bool {
    whole.code().any(|file| file.new_path.is_none())
}

fn deleted_files(whole: &Whole<'_>) -> Vec<Sighting> {
    if code_went(whole) {
        return Vec::new();
    }
    let kept = names_after(whole);
    let deleted = whole.tests().filter(|file| file.new_path.is_none());
    deleted
        .filter_map(|file| {
            let gone: Vec<String> =
                test_names(&whole.before(file)?).difference(&kept).cloned().collect();
            let count = gone.len();
            (count > 0).then(|| Sighting {
                file: file.old_path.clone(),
                lines: None,
                note: format!("{} went with it.", tests(count)),
                subject: file.path().to_owned(),
            })
        })
        .collect()
}

/// Gives the names of all tests that the touched files have after the change: a test may move.
fn names_after(whole: &Whole<'_>) -> BTreeSet<String> {
    let files = whole.tests().chain(whole.code());
    files.filter_map(|file| whole.after(file)).flat_map(|text| test_names(&text)).collect()
}

fn removed_tests(whole: &Whole<'_>) -> Vec<Sighting> {
    if code_went(whole) {
        return Vec::new();
    }
    let kept = names_after(whole);
    let files = whole.tests().chain(whole.code());
    files.filter_map(|file| removed_from(whole, file, &kept)).collect()
}

fn removed_from(whole: &Whole<'_>, file: &FileDiff, kept: &BTreeSet<String>) -> Option<Sighting> {
    let (before, after) = (test_names(&whole.before(file)?), test_names(&whole.after(file)?));
    let gone: Vec<&String> = before.difference(kept).collect();
    let came = after.difference(&before).count();
    // As many new names as old ones is a rename.
    if gone.len() <= came {
        return None;
    }
    let named: Vec<String> = gone.iter().take(3).map(|name| format!("`{name}`")).collect();
    let more = gone.len().saturating_sub(named.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(Sighting {
        file: file.new_path.clone(),
        lines: None,
        note: format!("{} gone: {}{more}.", tests(gone.len()), named.join(", ")),
        subject: gone.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(","),
    })
}

fn tests(count: usize) -> String {
    if count == 1 { "1 test".to_owned() } else { format!("{count} tests") }
}

fn weakened_tests(whole: &Whole<'_>) -> Vec<Sighting> {
    whole.tests().flat_map(|file| weakened_in(whole, file).unwrap_or_default()).collect()
}

fn weakened_in(whole: &Whole<'_>, file: &FileDiff) -> Option<Vec<Sighting>> {
    let (before, after) = (whole.before(file)?, whole.after(file)?);
    let before = Assertions::of(file.old_path.as_deref()?, &before)?;
    let after = Assertions::of(file.path(), &after)?;
    let names = |symbol: &Symbol| symbol.name.clone();
    let mut seen = Vec::new();
    for symbol in &after.outline {
        let Some(old) = before.outline.iter().find(|old| names(old) == names(symbol)) else {
            continue;
        };
        let (had, has) = (before.within(old), after.within(symbol));
        // Something else in the test must have stayed: an emptied one is told as a removed one.
        if has < had && had > 0 && before.is_test(old) {
            seen.push(Sighting {
                file: file.new_path.clone(),
                lines: first_added(file, symbol.lines)
                    .or(Some(symbol.lines.start()))
                    .and_then(assay_findings::vote::Lines::at),
                note: format!("`{}` had {had} assertions and has {has}.", symbol.name),
                subject: symbol.name.clone(),
            });
        }
    }
    Some(seen)
}

/// A test file's functions and what they assert.
struct Assertions {
    outline: Vec<Symbol>,
    names: BTreeSet<String>,
    /// The line of each assertion.
    lines: Vec<u32>,
}

impl Assertions {
    fn of(path: &str, text: &str) -> Option<Assertions> {
        let syntax = Syntax::parse(language::of(path, text)?, text)?;
        let lines = text.lines().zip(1..).filter(|(line, _)| ASSERTION.is_match(line));
        Some(Assertions {
            outline: syntax.outline(),
            names: test_names(text),
            lines: lines.map(|(_, number)| number).collect(),
        })
    }

    fn within(&self, symbol: &Symbol) -> usize {
        let lines = symbol.lines;
        self.lines.iter().filter(|line| lines.start() <= **line && **line <= lines.end()).count()
    }

    fn is_test(&self, symbol: &Symbol) -> bool {
        symbol.name.rsplit('.').next().is_some_and(|name| self.names.contains(name))
    }
}
