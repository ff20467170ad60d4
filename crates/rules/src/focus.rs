//! Tests that run alone.

use std::sync::LazyLock;

use assay_change::diff::FileDiff;
use regex::Regex;

use crate::{Hit, Language, is_comment, language};

static FOCUSED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:^|[\s;({])(?:(?:describe|context|suite|it|test|specify)\.only|fdescribe|fcontext|fit)\s*(?:\(|\.each\b)")
        .expect("the pattern is valid")
});

pub(crate) fn look(file: &FileDiff) -> Vec<Hit> {
    if language(file.path()) != Language::JavaScript {
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
