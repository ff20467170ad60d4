//! Who calls what a change touches: a few places each, found by syntax tree.

use std::collections::BTreeSet;

use assay_change::Change;
use assay_findings::ground::Tree;
use assay_findings::path::RepoPath;

use super::excerpt::Excerpt;
use crate::sanitize::{names, not_to_be_named};

/// So many places are shown for one name, and so many in all.
const OF_ONE: usize = 3;
const OF_ALL: usize = 24;

/// So many files are searched, and so many bytes; cost follows the change as far as it can.
const MAX_FILES: usize = 1_500;
const MAX_BYTES: usize = 24 << 20;

/// So many lines are shown around a call.
const AROUND: usize = 2;

/// A name has to be this long to mean one thing.
const MIN_NAME: usize = 4;

/// A place that calls something which the change touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Caller {
    /// What it calls.
    pub(crate) name: String,
    pub(crate) path: RepoPath,
    /// The lines around the call, each with its number.
    pub(crate) text: String,
}

/// Finds callers in files that the change does not touch. Those that git does not know are nobody
/// else's business: what is ignored, and what lies about in the work tree.
pub(crate) fn find(change: &Change, excerpts: &[Excerpt], tree: &dyn Tree) -> Vec<Caller> {
    let names = touched_names(excerpts);
    if names.is_empty() {
        return Vec::new();
    }
    let changed: BTreeSet<&str> = change.files.iter().map(|file| file.path()).collect();
    let languages: BTreeSet<String> = excerpts
        .iter()
        .filter_map(|excerpt| assay_rules::name_of_language(excerpt.path.as_str()))
        .collect();
    let is_candidate = |path: &RepoPath| {
        let language = assay_rules::name_of_language(path.as_str());
        !changed.contains(path.as_str())
            && language.is_some_and(|language| languages.contains(&language))
            && not_to_be_named(path.as_str()).is_none()
    };
    let mut counts = vec![0; names.len()];
    let mut left = MAX_BYTES;
    let mut found = Vec::new();
    // What cannot be read is noted by the change, which makes the review incomplete.
    let known = change.base().paths().unwrap_or_default();
    for path in known.into_iter().filter(is_candidate).take(MAX_FILES) {
        let Ok(Some(raw)) = change.tree().read(&path) else { continue };
        left = left.saturating_sub(raw.len());
        let wanted = names.iter().zip(&mut counts);
        let wanted = wanted.filter(|(name, count)| **count < OF_ONE && raw.contains(name.as_str()));
        let wanted: Vec<(&String, &mut usize)> = wanted.collect();
        // Only what is shown has to be made fit to be shown.
        let text = if wanted.is_empty() { None } else { tree.read(&path).ok().flatten() };
        let Some(text) = text.as_deref() else { continue };
        for (name, count) in wanted {
            let calls = assay_rules::calls(path.as_str(), text, name);
            for call in calls.into_iter().take(OF_ONE.saturating_sub(*count)) {
                *count += 1;
                let text = around(text, call.start() as usize);
                found.push(Caller { name: name.clone(), path: path.clone(), text });
            }
        }
        if left == 0 || found.len() >= OF_ALL {
            break;
        }
    }
    found.truncate(OF_ALL);
    found
}

/// Gives the names of the things that a change touches, without what they are in.
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
pub(crate) fn around(text: &str, line: usize) -> String {
    let first = line.saturating_sub(AROUND).max(1);
    let lines = text.lines().enumerate().skip(first - 1).take(line + AROUND + 1 - first);
    lines.map(|(at, line)| format!("{:>5}   {}\n", at + 1, names::on_one_line(line))).collect()
}
