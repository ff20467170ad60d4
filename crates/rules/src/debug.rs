//! What is left of a search for a bug.

use std::sync::LazyLock;

use assay_change::diff::FileDiff;
use regex::Regex;

use crate::{Hit, Language, is_comment, language};

/// Output that names itself as debugging, in any language.
const DEBUG_WORDS: &str = r"(?i:\b(?:debug|debugging|xxx|todo remove)\b)";

static PYTHON_BREAK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^\s*(?:if\b[^#"']*:\s*)?(?:import i?pdb\s*;\s*)?(?:breakpoint\(\)|i?pdb\.set_trace\(\))\s*(?:#.*)?$"#,
    )
});
static SCRIPT_BREAK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"^\s*(?:if\s*\([^"'`]*\)\s*)?debugger\s*;?\s*$"#));
static RUBY_BREAK: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^\s*(?:binding\.(?:pry|irb|break)|byebug)(?:\s+(?:if|unless)\b.*)?\s*$")
});
static PYTHON_PRINT: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r#"^\s*print\(\s*[rbf]?["'][^"']*{DEBUG_WORDS}.*\)\s*$"#)));
static SCRIPT_PRINT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r#"^\s*console\.(?:debug\(.*|log\(\s*["'`][^"'`]*{DEBUG_WORDS}.*)\)\s*;?\s*$"#
    ))
});
static RUST_PRINT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?:^|[\s=(,&:])dbg!\s*\("));
static RUST_STATEMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^\s*dbg!\([&\w.\s]*\);\s*$"));
static PHP_PRINT: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\s*(?:var_dump|dd|print_r)\(.*\)\s*;\s*$"));

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is valid")
}

pub(crate) fn look_for_breakpoints(file: &FileDiff) -> Vec<Hit> {
    let pattern: &Regex = match language(file.path()) {
        Language::Python => &PYTHON_BREAK,
        Language::JavaScript => &SCRIPT_BREAK,
        Language::Ruby => &RUBY_BREAK,
        Language::Rust | Language::Php | Language::Other => return Vec::new(),
    };
    // Such a line may stand inside a longer string, so deleting it is not always right.
    matching(file, pattern, |_| false)
}

pub(crate) fn look_for_prints(file: &FileDiff) -> Vec<Hit> {
    match language(file.path()) {
        Language::Python => matching(file, &PYTHON_PRINT, |_| false),
        Language::JavaScript => matching(file, &SCRIPT_PRINT, |_| false),
        // A `dbg!` of a plain path has no effect but its output.
        Language::Rust => matching(file, &RUST_PRINT, |line| RUST_STATEMENT.is_match(line)),
        Language::Php => matching(file, &PHP_PRINT, |_| false),
        Language::Ruby | Language::Other => Vec::new(),
    }
}

fn matching(file: &FileDiff, pattern: &Regex, deletable: impl Fn(&str) -> bool) -> Vec<Hit> {
    file.added()
        .filter(|(_, line)| !is_comment(line) && pattern.is_match(line))
        .map(|(line, text)| Hit {
            line,
            note: None,
            quote: Some(text.trim().to_owned()),
            deletable: deletable(text),
        })
        .collect()
}
