//! Parses criteria about the text of a page: [`PageClaim`], such as `The change log mentions X`.

use super::claim::plain_criterion;
use crate::markdown::compared;

/// Kinds of pages: the words that name them, and the beginnings of their file names, in lower case.
const PAGES: [(&[&str], &[&str]); 4] = [
    (&["change log", "changelog", "change-log"], &["changelog", "changes", "history", "news"]),
    (&["release notes"], &["changelog", "changes", "history", "news", "release"]),
    (&["readme", "read-me"], &["readme"]),
    (&["documentation", "docs", "manual"], &["docs/", "doc/", "readme", "manual"]),
];

/// Verbs that claim that words are on a page.
const MENTIONS: [&str; 10] = [
    "mentions", "mention", "names", "lists", "says", "contains", "has an entry for",
    "has an entry about", "records", "shows",
];

/// Verbs that claim that a page describes something sufficiently, which words on the page do not
/// prove.
const DESCRIBES: [&str; 4] = ["describes", "documents", "explains", "covers"];

/// Words without meaning next to names in back-ticks.
const NOISE: [&str; 19] = [
    "the", "a", "an", "and", "both", "new", "option", "options", "flag", "flags", "function",
    "functions", "command", "commands", "variable", "variables", "setting", "settings", "endpoint",
];

/// Endings of the file names of pages.
pub(crate) const PAGE_ENDINGS: [&str; 5] = [".md", ".markdown", ".rst", ".txt", ".adoc"];

/// A claim about the text of a page.
pub(crate) struct PageClaim {
    /// The beginnings of the page's file names, or its folders.
    pub(crate) starts: &'static [&'static str],
    pub(crate) wanted: Vec<String>,
    /// True if the words alone prove the criterion.
    pub(crate) is_mention: bool,
    /// True if the absence of the words disproves the criterion. Without a name in back-ticks,
    /// other words may mean the same.
    pub(crate) is_literal: bool,
}

impl PageClaim {
    /// Parses a criterion; returns `None` if a word of it is not understood.
    pub(crate) fn read(criterion: &str) -> Option<PageClaim> {
        let text = compared(&plain_criterion(criterion));
        let said = text.strip_prefix("the ").unwrap_or(&text);
        let (said, starts) = PAGES.iter().find_map(|(names, starts)| {
            let rest = names.iter().find_map(|name| said.strip_prefix(name))?;
            // `CHANGELOG.md` is the change log.
            let rest = PAGE_ENDINGS.iter().find_map(|it| rest.strip_prefix(it)).unwrap_or(rest);
            Some((rest.trim_start(), *starts))
        })?;
        let behind = |verbs: &[&str]| -> Option<String> {
            let object =
                verbs.iter().find_map(|verb| said.strip_prefix(verb)?.strip_prefix(' '))?;
            Some(object.trim().trim_end_matches('.').to_owned())
        };
        let (object, is_mention) = match behind(&MENTIONS) {
            Some(object) => (object, true),
            None => (behind(&DESCRIBES)?, false),
        };
        let (wanted, is_literal) = match object.contains('`') {
            true => (named(&object)?, true),
            false => words(&object)?,
        };
        Some(PageClaim { starts, wanted, is_mention, is_literal })
    }
}

/// Returns the names in back-ticks of an object without other content; `None` if there is any.
fn named(object: &str) -> Option<Vec<String>> {
    let between = object.split('`').step_by(2).flat_map(|part| part.split([' ', ',']));
    let is_noise = |word: &str| word.is_empty() || NOISE.contains(&word);
    let names: Vec<String> = object.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let is_said = names.iter().all(|it| it.contains(char::is_alphanumeric));
    let is_whole =
        object.matches('`').count().is_multiple_of(2) && between.into_iter().all(is_noise);
    (is_whole && is_said).then_some(names)
}

/// Returns the words of an object without names, and true if no other words can mean the same: a
/// single word is literal.
fn words(object: &str) -> Option<(Vec<String>, bool)> {
    let object =
        ["the ", "a ", "an "].iter().find_map(|it| object.strip_prefix(it)).unwrap_or(object);
    let is_plain = !object.split(' ').any(|word| ["not", "no", "or", "without"].contains(&word));
    let is_said = object.contains(char::is_alphanumeric) && !object.contains(';');
    (is_plain && is_said).then(|| (vec![object.to_owned()], !object.contains(' ')))
}
