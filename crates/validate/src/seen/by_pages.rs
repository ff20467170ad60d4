//! Criteria about the text of a page for readers: `The change log mentions X`.

use assay_findings::ground::{Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_gates::reconcile::Answer;

use crate::markdown::compared;
use crate::spec::claim::plain_criterion;

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
const ENDINGS: [&str; 5] = [".md", ".markdown", ".rst", ".txt", ".adoc"];

/// A claim about the text of a page.
struct PageClaim {
    /// How the names of the page's files begin.
    starts: &'static [&'static str],
    wanted: Vec<String>,
    /// Whether the words alone show what the criterion says.
    is_mention: bool,
    /// Whether the absence of the words shows that the criterion is not met: other words may say the
    /// same where no name is given.
    is_literal: bool,
}

/// Answers for a criterion about the text of a page; `None` where a word of the criterion is not
/// understood.
pub(super) fn answer(criterion: &str, tree: &dyn Tree) -> Option<Answer> {
    let claim = PageClaim::read(criterion)?;
    match claim.look(tree) {
        Ok(answer) => Some(answer),
        Err(error) => Some(Answer::CannotTell { why: error.to_string() }),
    }
}

/// Returns true if a criterion is about the text of a page, and every word of it is understood.
pub(super) fn reads(criterion: &str) -> bool {
    PageClaim::read(criterion).is_some()
}

/// Returns true if a file is a page in Markdown, by its name.
pub(super) fn is_markdown(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.ends_with(".md") || path.ends_with(".markdown")
}

impl PageClaim {
    fn read(criterion: &str) -> Option<PageClaim> {
        let text = compared(&plain_criterion(criterion));
        let said = text.strip_prefix("the ").unwrap_or(&text);
        let (said, starts) = PAGES.iter().find_map(|(names, starts)| {
            let rest = names.iter().find_map(|name| said.strip_prefix(name))?;
            // `CHANGELOG.md` is the change log.
            let rest = ENDINGS.iter().find_map(|it| rest.strip_prefix(it)).unwrap_or(rest);
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

    fn look(&self, tree: &dyn Tree) -> Result<Answer, TreeError> {
        let mut pages = tree.paths()?;
        pages.retain(|path| is_page(path, self.starts));
        let mut missing: Vec<&String> = self.wanted.iter().collect();
        let mut first = None;
        for page in &pages {
            let Some(text) = tree.read(page)? else { continue };
            for (line, number) in text.lines().zip(1u32..) {
                let line = compared(line);
                let before = missing.len();
                missing.retain(|it| !has_words(&line, it));
                if missing.len() < before && first.is_none() {
                    first = Some((page, number));
                }
            }
        }
        let cannot_tell = |why: String| Answer::CannotTell { why };
        Ok(match (pages.is_empty(), missing.first(), first) {
            (true, ..) => Answer::NotMet { why: "there is no such page in the tree".to_owned() },
            (_, Some(it), _) if self.is_literal => {
                Answer::NotMet { why: format!("no such page mentions `{it}`") }
            }
            (_, Some(it), _) => cannot_tell(format!(
                "no such page has the words `{it}`, and others may say the same"
            )),
            (_, None, Some((page, line))) if self.is_mention => {
                Answer::Met { at: None, seen: format!("{page}:{line} mentions it") }
            }
            (_, None, Some((page, line))) => {
                cannot_tell(format!("{page}:{line} has the words; a reader has to judge the rest"))
            }
            (_, None, None) => cannot_tell("nothing is named".to_owned()),
        })
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

/// Returns true if words stand on a line, and not as a part of others.
fn has_words(line: &str, words: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(words).any(|(at, found)| {
        let (before, behind) = (&line[..at], &line[at + found.len()..]);
        !before.ends_with(is_letter) && !behind.starts_with(is_letter)
    })
}

fn is_page(path: &RepoPath, starts: &[&str]) -> bool {
    let path = path.as_str().to_lowercase();
    let name = path.rsplit('/').next().unwrap_or(&path);
    let is_text = ENDINGS.iter().any(|ending| name.ends_with(ending)) || !name.contains('.');
    is_text
        && starts.iter().any(|start| match start.ends_with('/') {
            true => path.starts_with(start),
            false => name.starts_with(start),
        })
}
