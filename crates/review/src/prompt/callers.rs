//! Callers of the code that a change touches: a few for each name, found by syntax tree.

use std::collections::BTreeSet;

use assay_change::Change;
use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;

use super::excerpt::Excerpt;
use crate::sanitize::{names, unsafe_name_reason};

/// The maximum number of callers of one name, and in total.
const MAX_PER_NAME: usize = 3;
const MAX_CALLERS: usize = 24;

/// The maximum number of files that are searched, and of their bytes, so that the cost depends
/// mostly on the change.
const MAX_SEARCHED_FILES: usize = 1_500;
const MAX_SEARCHED_BYTES: usize = 24 << 20;

/// The number of lines before and after a call that are shown.
const CONTEXT_LINES: usize = 2;

/// The minimum length of a name: shorter ones are ambiguous.
const MIN_NAME: usize = 4;

/// A caller of code that the change touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// The name of the called code.
    pub(crate) name: String,
    pub(crate) path: RepoPath,
    /// The lines around the call, each with its number.
    pub(crate) text: String,
}

/// Finds callers in files that the change does not touch. Files that git does not track are not
/// read: they are ignored, or were left in the work tree, and must not be sent to a provider.
pub(crate) fn find(change: &Change, excerpts: &[Excerpt], tree: &dyn Tree) -> Vec<Caller> {
    let names = touched_names(excerpts);
    if names.is_empty() {
        return Vec::new();
    }
    let changed: BTreeSet<&str> = change.files.iter().map(|file| file.path()).collect();
    let languages: BTreeSet<String> = excerpts
        .iter()
        .filter_map(|excerpt| assay_rules::language_name(excerpt.path.as_str()))
        .collect();
    let is_candidate = |path: &RepoPath| {
        let language = assay_rules::language_name(path.as_str());
        !changed.contains(path.as_str())
            && language.is_some_and(|language| languages.contains(&language))
            && unsafe_name_reason(path.as_str()).is_none()
    };
    let mut counts = vec![0; names.len()];
    let mut left = MAX_SEARCHED_BYTES;
    let mut found = Vec::new();
    // The change records a tree that cannot be read, which makes the review incomplete.
    let known = change.base().paths().unwrap_or_default();
    for path in known.into_iter().filter(is_candidate).take(MAX_SEARCHED_FILES) {
        let Ok(Some(raw)) = change.tree().read(&path) else { continue };
        left = left.saturating_sub(raw.len());
        let wanted = names.iter().zip(&mut counts);
        let wanted =
            wanted.filter(|(name, count)| **count < MAX_PER_NAME && raw.contains(name.as_str()));
        let wanted: Vec<(&String, &mut usize)> = wanted.collect();
        // Only the files that are shown need redaction. Excluded files are not sent.
        let is_shown = !wanted.is_empty() && !change.excludes(&path);
        let text = if is_shown { tree.read(&path).ok().flatten() } else { None };
        let Some(text) = text.as_deref() else { continue };
        for (name, count) in wanted {
            let calls = assay_rules::calls(path.as_str(), text, name);
            for call in calls.into_iter().take(MAX_PER_NAME.saturating_sub(*count)) {
                *count += 1;
                let text = with_context(text, call.start() as usize);
                found.push(Caller { name: name.clone(), path: path.clone(), text });
            }
        }
        if left == 0 || found.len() >= MAX_CALLERS {
            break;
        }
    }
    found.truncate(MAX_CALLERS);
    found
}

/// Returns the names of the symbols that a change touches, without the names of what contains them.
fn touched_names(excerpts: &[Excerpt]) -> Vec<String> {
    let symbols = excerpts.iter().flat_map(|excerpt| &excerpt.units);
    let symbols = symbols.filter_map(|unit| unit.symbol.as_deref());
    let last = |symbol: &str| {
        let name = symbol.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next();
        name.unwrap_or("").to_owned()
    };
    let is_telling = |name: &String| {
        name.len() >= MIN_NAME && !["main", "test", "init", "__init__"].contains(&name.as_str())
    };
    let names: BTreeSet<String> = symbols.map(last).filter(is_telling).collect();
    names.into_iter().collect()
}

/// Returns the lines around a line, each with its number.
pub(crate) fn with_context(text: &str, line: usize) -> String {
    let first = line.saturating_sub(CONTEXT_LINES).max(1);
    let lines = text.lines().enumerate().skip(first - 1).take(line + CONTEXT_LINES + 1 - first);
    lines
        .map(|(at, line)| format!("{:>5}   {}\n", at + 1, names::replace_line_breaks(line)))
        .collect()
}
