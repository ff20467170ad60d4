//! Tests that run alone.

use std::sync::LazyLock;

use assay_change::diff::FileDiff;
use regex::Regex;

use crate::{Hit, Language, is_comment, language};

static FOCUSED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s;({])(?:(?:test\.)?(?:describe|context|suite|it|test|specify)(?:\.(?:concurrent|parallel|serial))?\.only|fdescribe|fcontext|fit)\s*(?:\(|\.each\b)")
        .expect("the pattern is valid")
});

pub(crate) fn look(file: &FileDiff) -> Vec<Hit> {
    if language(file.path()) != Language::JavaScript || !is_test(file.path()) {
        return Vec::new();
    }
    file.added()
        .filter(|(_, line)| !is_comment(line) && FOCUSED.is_match(line))
        .map(|(line, text)| Hit {
            line,
            note: None,
            quote: Some(text.trim().to_owned()),
            deletable: false,
        })
        .collect()
}

/// Says whether a file holds tests, by the customs of the runners: `fit` means something else
/// elsewhere.
fn is_test(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let folders = ["test", "tests", "__tests__", "spec", "specs", "e2e", "cypress"];
    [".test.", ".spec.", "_test.", "_spec.", ".cy."].iter().any(|part| name.contains(part))
        || path.split('/').any(|part| folders.contains(&part))
}
