//! Criteria that say what a page for readers mentions: `The change log mentions X`.

use assay_findings::ground::{Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_gates::reconcile::Answer;

use crate::markdown::compared;

/// Pages by the words that name them, with how the names of their files begin, in small letters.
const PAGES: [(&[&str], &[&str]); 4] = [
    (&["change log", "changelog", "change-log"], &["changelog", "changes", "history", "news"]),
    (&["release notes"], &["changelog", "changes", "history", "news", "release"]),
    (&["readme", "read-me"], &["readme"]),
    (&["documentation", "docs", "manual"], &["docs/", "doc/", "readme", "manual"]),
];

/// Words between a page and what the page says.
const SAYS: [&str; 14] = [
    "mentions", "mention", "names", "lists", "says", "describes", "documents", "explains",
    "contains", "has an entry for", "has an entry about", "records", "shows", "covers",
];

/// Endings of the names of pages.
const ENDINGS: [&str; 5] = [".md", ".markdown", ".rst", ".txt", ".adoc"];

/// Answers for a criterion that says what a page mentions; `None` where it says something else.
pub(super) fn answer(criterion: &str, tree: &dyn Tree) -> Option<Answer> {
    let (starts, wanted) = claim(criterion)?;
    match look(starts, &wanted, tree) {
        Ok(answer) => Some(answer),
        Err(error) => Some(Answer::CannotTell { why: error.to_string() }),
    }
}

/// Reads which page has to say what: all that stands in back-ticks, or else all words.
fn claim(criterion: &str) -> Option<(&'static [&'static str], Vec<String>)> {
    let text = compared(criterion);
    let said = text.strip_prefix("the ").unwrap_or(&text);
    let (said, starts) = PAGES.iter().find_map(|(names, starts)| {
        let rest = names.iter().find_map(|name| said.strip_prefix(name))?;
        Some((rest.trim_start(), *starts))
    })?;
    let object = SAYS.iter().find_map(|verb| said.strip_prefix(verb)?.strip_prefix(' '))?;
    let object = object.trim().trim_end_matches('.');
    let object =
        ["the ", "a ", "an "].iter().find_map(|it| object.strip_prefix(it)).unwrap_or(object);
    let is_plain = !object.contains(" not ") && !object.contains(';') && !object.starts_with("no ");
    let named: Vec<String> = object.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    let wanted = if named.is_empty() { vec![object.to_owned()] } else { named };
    let is_said = wanted.iter().all(|it| it.contains(char::is_alphanumeric));
    (is_plain && is_said).then_some((starts, wanted))
}

fn look(starts: &[&str], wanted: &[String], tree: &dyn Tree) -> Result<Answer, TreeError> {
    let mut pages = tree.paths()?;
    pages.retain(|path| is_page(path, starts));
    let mut missing: Vec<&String> = wanted.iter().collect();
    let mut first = None;
    for page in &pages {
        let Some(text) = tree.read(page)? else { continue };
        for (line, number) in text.lines().zip(1u32..) {
            let line = compared(line);
            let before = missing.len();
            missing.retain(|it| !line.contains(it.as_str()));
            if missing.len() < before && first.is_none() {
                first = Some((page, number));
            }
        }
    }
    Ok(match (pages.is_empty(), missing.first(), first) {
        (true, ..) => Answer::NotMet { why: "there is no such page in the tree".to_owned() },
        (_, Some(it), _) => Answer::NotMet { why: format!("no such page mentions `{it}`") },
        (_, None, Some((page, line))) => {
            Answer::Met { at: None, seen: format!("{page}:{line} mentions it") }
        }
        (_, None, None) => Answer::CannotTell { why: "nothing is named".to_owned() },
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
