//! Criteria about the text of a page for readers: [`PageClaim`], read from `The change log mentions X`.

use super::claim::plain_criterion;
use crate::markdown::compared;

/// Pages by the words that name them, with how the names of their files begin, in small letters.
const PAGES: [(&[&str], &[&str]); 4] = [
    (&["change log", "changelog", "change-log"], &["changelog", "changes", "history", "news"]),
    (&["release notes"], &["changelog", "changes", "history", "news", "release"]),
    (&["readme", "read-me"], &["readme"]),
    (&["documentation", "docs", "manual"], &["docs/", "doc/", "readme", "manual"]),
];

/// Verbs that say that words stand on a page.
const MENTIONS: [&str; 10] = [
    "mentions", "mention", "names", "lists", "says", "contains", "has an entry for",
    "has an entry about", "records", "shows",
];

/// Verbs that say that a page tells enough of something, which words on the page do not show.
const DESCRIBES: [&str; 4] = ["describes", "documents", "explains", "covers"];

/// Words that say nothing beside names in back-ticks.
const NOISE: [&str; 19] = [
    "the", "a", "an", "and", "both", "new", "option", "options", "flag", "flags", "function",
    "functions", "command", "commands", "variable", "variables", "setting", "settings", "endpoint",
];

/// Endings of the names of pages.
pub(crate) const PAGE_ENDINGS: [&str; 5] = [".md", ".markdown", ".rst", ".txt", ".adoc"];

/// A claim about the text of a page.
pub(crate) struct PageClaim {
    /// How the names of the page's files begin.
    pub(crate) starts: &'static [&'static str],
    pub(crate) wanted: Vec<String>,
    /// Whether the words alone show what the criterion says.
    pub(crate) is_mention: bool,
    /// Whether the absence of the words shows that the criterion is not met: other words may say the
    /// same where no name is given.
    pub(crate) is_literal: bool,
}

impl PageClaim {
    /// Reads a criterion; `None` where a word of it is not understood.
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

/// Returns the names in back-ticks of an object that holds nothing else.
fn named(object: &str) -> Option<Vec<String>> {
    let between = object.split('`').step_by(2).flat_map(|part| part.split([' ', ',']));
    let is_noise = |word: &str| word.is_empty() || NOISE.contains(&word);
    let names: Vec<String> = object.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let is_said = names.iter().all(|it| it.contains(char::is_alphanumeric));
    let is_whole =
        object.matches('`').count().is_multiple_of(2) && between.into_iter().all(is_noise);
    (is_whole && is_said).then_some(names)
}

/// Returns the words of an object without names, and whether no others can say the same: one word
/// alone stands for itself.
fn words(object: &str) -> Option<(Vec<String>, bool)> {
    let object =
        ["the ", "a ", "an "].iter().find_map(|it| object.strip_prefix(it)).unwrap_or(object);
    let is_plain = !object.split(' ').any(|word| ["not", "no", "or", "without"].contains(&word));
    let is_said = object.contains(char::is_alphanumeric) && !object.contains(';');
    (is_plain && is_said).then(|| (vec![object.to_owned()], !object.contains(' ')))
}
