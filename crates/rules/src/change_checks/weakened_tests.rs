//! Tests that lose assertions.
//!
//! A test is reported only if nothing replaces the lost assertions: an assertion that is rewritten,
//! made a link of a chain, moved to a helper function or made a case of a parametrised test is no
//! loss.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::LazyLock;

use assay_findings::grounding::Symbol;
use assay_findings::vote::LineRange;
use regex::Regex;

use super::file_facts::test_names;
use super::{ChangedFile, CheckMatch, FileCheck};
use crate::executable_lines::looks_like_comment;
use crate::language;
use crate::rule_text::RuleText;

pub(super) const CHECK: FileCheck = FileCheck {
    rule_text: RuleText {
        id: "test/weakened",
        grade: "MEDIUM",
        category: "testing",
        title: "Test checks less than before",
        message: "A test that lost an assertion passes where it would have failed.",
        advice: "Mend the code until the old assertion holds, or replace it by one as strict.",
    },
    find,
};

static ASSERTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:assert\w*!?|expect|require\.\w+|should|must_\w+|t\.(?:Error|Fatal)f?|verify)\b",
    )
    .expect("the pattern is valid")
});

/// The calls whose names promise a check.
static CHECKING_CALL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b\w*(?:assert|check|ensure|expect|matches|should|validate|verify)\w*!?\s*\(")
        .expect("the pattern is valid")
});

fn find(view: &ChangedFile<'_>) -> Vec<CheckMatch> {
    let is_test = language::is_test(view.file.path());
    let both =
        view.after_syntax.zip(view.after).filter(|_| is_test && view.file.old_path.is_some());
    let Some((syntax, after)) = both else { return Vec::new() };
    let Some(before) = view.before() else { return Vec::new() };
    let Some(old_syntax) = view.before_syntax() else { return Vec::new() };
    let before = TestCode::of(old_syntax.outline(), before);
    let after = TestCode::of(syntax.outline(), after);
    let seen = after.outline.iter().filter_map(|symbol| {
        let old = before.outline.iter().find(|old| old.name == symbol.name)?;
        let lost = lost_assertions(&before, old, &after, symbol);
        let line = view.first_changed(symbol.lines).unwrap_or(symbol.lines.start());
        (lost > 0 && before.is_test(old)).then(|| CheckMatch {
            file: view.file.new_path.clone(),
            lines: LineRange::at(line),
            note: note(&symbol.name, before.assertions(old), lost),
            subject: symbol.name.clone(),
        })
    });
    seen.collect()
}

fn note(name: &str, had: usize, lost: usize) -> String {
    format!("`{name}` had {had} assertions and has {}.", had.saturating_sub(lost))
}

/// Returns the number of assertions that a test lost without a replacement.
fn lost_assertions(
    before: &TestCode<'_>,
    old: &Symbol,
    after: &TestCode<'_>,
    new: &Symbol,
) -> usize {
    let added = without(after.lines(new), before.lines(old));
    if added.iter().any(|line| after.may_check(line)) {
        return 0;
    }
    let lost = without(before.lines(old), after.lines(new));
    let lost: Vec<&str> = lost.into_iter().filter(|line| ASSERTION.is_match(line)).collect();
    // An assertion that another function has now was moved.
    let elsewhere: HashSet<&str> =
        without(after.lines_outside(new), before.lines_outside(old)).into_iter().collect();
    lost.iter().filter(|line| !elsewhere.contains(**line)).count()
}

/// Returns the lines of the first text that are not in the second, each as often as it is missing.
fn without<'t>(
    lines: impl Iterator<Item = &'t str>,
    others: impl Iterator<Item = &'t str>,
) -> Vec<&'t str> {
    let mut left: HashMap<&str, usize> = HashMap::new();
    others.for_each(|line| *left.entry(line).or_default() += 1);
    let is_missing = |line: &&'t str| match left.get_mut(*line) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    lines.filter(is_missing).collect()
}

/// The functions of a test file and its lines.
struct TestCode<'t> {
    outline: Vec<Symbol>,
    names: BTreeSet<String>,
    /// The trimmed lines; comments are empty.
    lines: Vec<&'t str>,
}

impl<'t> TestCode<'t> {
    fn of(outline: Vec<Symbol>, text: &'t str) -> TestCode<'t> {
        let code = |line: &'t str| if looks_like_comment(line) { "" } else { line };
        let lines = text.lines().map(|line| code(line.trim())).collect();
        TestCode { outline, names: test_names(text), lines }
    }

    fn all_lines(&self) -> impl Iterator<Item = &'t str> {
        self.lines.iter().copied()
    }

    /// Returns the lines of a function.
    fn lines(&self, symbol: &Symbol) -> impl Iterator<Item = &'t str> {
        let (start, end) = (symbol.lines.start() as usize, symbol.lines.end() as usize);
        self.all_lines().skip(start - 1).take(end + 1 - start)
    }

    /// Returns the lines of the file outside of a function.
    fn lines_outside(&self, symbol: &Symbol) -> impl Iterator<Item = &'t str> {
        let (start, end) = (symbol.lines.start() as usize, symbol.lines.end() as usize);
        self.all_lines().take(start - 1).chain(self.all_lines().skip(end))
    }

    fn assertions(&self, symbol: &Symbol) -> usize {
        self.lines(symbol).filter(|line| ASSERTION.is_match(line)).count()
    }

    /// Returns true if a line may check a result: an assertion, a link of a chain of matchers, a
    /// call that promises a check, or a call of a function of the file with an assertion.
    fn may_check(&self, line: &str) -> bool {
        let calls = |symbol: &Symbol| {
            let name = symbol.name.rsplit('.').next().unwrap_or_default();
            line.contains(&format!("{name}(")) && self.assertions(symbol) > 0
        };
        line.starts_with('.')
            || ASSERTION.is_match(line)
            || CHECKING_CALL.is_match(line)
            || self.outline.iter().any(calls)
    }

    fn is_test(&self, symbol: &Symbol) -> bool {
        symbol.name.rsplit('.').next().is_some_and(|name| self.names.contains(name))
    }
}
