//! Judges criteria about the text of a page, such as `The change log mentions X`.

use assay_findings::grounding::{Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_gates::reconcile::Answer;

use crate::markdown::compared;
use crate::spec::page_claim::{PAGE_ENDINGS, PageClaim};

/// Returns the answer to a criterion about the text of a page; `None` if a word of the criterion is
/// not understood.
pub(super) fn judge(criterion: &str, tree: &dyn Tree) -> Option<Answer> {
    let claim = PageClaim::read(criterion)?;
    match claim.judge_pages(tree) {
        Ok(answer) => Some(answer),
        Err(error) => Some(Answer::CannotTell { why: error.to_string() }),
    }
}

/// Returns true if the name of a file is that of a Markdown page.
pub(super) fn is_markdown(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    path.ends_with(".md") || path.ends_with(".markdown")
}

impl PageClaim {
    fn judge_pages(&self, tree: &dyn Tree) -> Result<Answer, TreeError> {
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
            (true, ..) => Answer::NotMet { why: "the tree has no such page".to_owned() },
            (_, Some(it), _) if self.is_literal => {
                Answer::NotMet { why: format!("no such page mentions `{it}`") }
            }
            (_, Some(it), _) => cannot_tell(format!(
                "no such page contains the words `{it}`, and other words may mean the same"
            )),
            (_, None, Some((page, line))) if self.is_mention => {
                Answer::Met { at: None, seen: format!("{page}:{line} mentions it") }
            }
            (_, None, Some((page, line))) => cannot_tell(format!(
                "{page}:{line} contains the words; a person or a model must judge the rest"
            )),
            (_, None, None) => cannot_tell("the criterion names no text to search for".to_owned()),
        })
    }
}

/// Returns true if a line contains the words as whole words.
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
    let is_text = PAGE_ENDINGS.iter().any(|ending| name.ends_with(ending)) || !name.contains('.');
    is_text
        && starts.iter().any(|start| match start.ends_with('/') {
            true => path.starts_with(start),
            false => name.starts_with(start),
        })
}
