//! Definitions that a change uses: those of functions, types and values that its added lines name
//! and that the change does not show.

use std::collections::{BTreeMap, BTreeSet};

use assay_base::text::first_bytes;
use assay_change::Change;
use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;
use assay_rules::DefinitionKind;

use super::excerpt::Excerpt;
use crate::sanitize::{names, unsafe_name_reason};

/// The maximum number of definitions that are shown, and of their bytes.
const MAX_DEFINITIONS: usize = 14;
const MAX_SHOWN_BYTES: usize = 7 << 10;

/// The maximum number of lines of a definition.
const MAX_DEFINITION_LINES: u32 = 32;

/// The maximum number of definitions of a name: a name with more is ambiguous.
const MAX_PER_NAME: usize = 3;

/// The maximum number of files that are searched, and of their bytes.
const MAX_SEARCHED_FILES: usize = 3_000;
const MAX_SEARCHED_BYTES: usize = 32 << 20;

/// The minimum length of a name that is searched for.
const MIN_NAME: usize = 3;

/// Words before a name that may define the name, in the languages that have a grammar.
const KEYWORDS: [&str; 28] = [
    "def", "class", "fn", "func", "function", "struct", "enum", "trait", "interface", "type",
    "const", "static", "let", "var", "val", "module", "mod", "object", "record", "define", "fun",
    "namespace", "union", "macro_rules!", "void", "int", "public", "abstract",
];

/// A definition outside of the lines that a change shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    /// The name that the change uses.
    pub(crate) name: String,
    pub(crate) path: RepoPath,
    /// The lines of the definition, each with its number.
    pub(crate) text: String,
}

/// Finds the definitions of names that the added lines of a change use, in files that git tracks.
/// Names that the change uses most come first.
pub(crate) fn find(change: &Change, excerpts: &[Excerpt], tree: &dyn Tree) -> Vec<Definition> {
    let used = used_names(excerpts);
    let places = definition_sites(change, excerpts, &used);
    let mut named: Vec<(&String, &Vec<DefinitionSite>)> =
        places.iter().filter(|(_, places)| places.len() <= MAX_PER_NAME).collect();
    named.sort_by_key(|(name, _)| (std::cmp::Reverse(used[*name]), *name));
    let mut found: Vec<Definition> = Vec::new();
    let mut room = MAX_SHOWN_BYTES;
    for (name, places) in named {
        for DefinitionSite { path, line } in places {
            if found.len() >= MAX_DEFINITIONS {
                return found;
            }
            let Some(text) = text_of(tree, path, *line) else { continue };
            let is_shown = |known: &Definition| known.path == *path && known.text.contains(&text);
            if text.len() <= room && !found.iter().any(is_shown) {
                room -= text.len();
                found.push(Definition { name: name.clone(), path: path.clone(), text });
            }
        }
    }
    found
}

/// A line that defines a name.
struct DefinitionSite {
    path: RepoPath,
    line: u32,
}

/// Counts the names in the added lines.
fn used_names(excerpts: &[Excerpt]) -> BTreeMap<String, usize> {
    let mut used = BTreeMap::new();
    for excerpt in excerpts {
        if assay_rules::language_name(excerpt.path.as_str()).is_none() {
            continue;
        }
        for line in excerpt.units.iter().flat_map(|unit| &unit.lines).filter(|line| line.is_added())
        {
            let words = line.own_text().split(|c: char| !c.is_alphanumeric() && c != '_');
            for word in words.filter(|word| is_name(word)) {
                *used.entry(word.to_owned()).or_insert(0) += 1;
            }
        }
    }
    used
}

fn is_name(word: &str) -> bool {
    word.len() >= MIN_NAME
        && word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && !KEYWORDS.contains(&word)
}

/// Returns the locations of definitions that the change does not show.
fn definition_sites(
    change: &Change,
    excerpts: &[Excerpt],
    used: &BTreeMap<String, usize>,
) -> BTreeMap<String, Vec<DefinitionSite>> {
    let mut places: BTreeMap<String, Vec<DefinitionSite>> = BTreeMap::new();
    if used.is_empty() {
        return places;
    }
    let languages: BTreeSet<String> = excerpts
        .iter()
        .filter_map(|excerpt| assay_rules::language_name(excerpt.path.as_str()))
        .collect();
    let is_candidate = |path: &RepoPath| {
        let language = assay_rules::language_name(path.as_str());
        language.is_some_and(|language| languages.contains(&language))
            && unsafe_name_reason(path.as_str()).is_none()
            && !assay_rules::is_test(path.as_str())
    };
    // The change records a tree that cannot be listed, which makes the review incomplete.
    let mut known = change.base().paths().unwrap_or_default();
    known.extend(excerpts.iter().map(|excerpt| excerpt.path.clone()));
    known.sort();
    known.dedup();
    let mut left = MAX_SEARCHED_BYTES;
    for path in known.into_iter().filter(is_candidate).take(MAX_SEARCHED_FILES) {
        let Ok(Some(text)) = change.tree().read(&path) else { continue };
        let Some(room) = left.checked_sub(text.len()) else { break };
        left = room;
        // Excluded files are not sent.
        if !may_define(&text, used) || change.excludes(&path) {
            continue;
        }
        let shown = excerpts.iter().find(|excerpt| excerpt.path == path);
        for definition in assay_rules::definitions(path.as_str(), &text).unwrap_or_default() {
            let is_wanted = used.contains_key(&definition.name)
                && !definition.is_local
                && definition.kind != DefinitionKind::Module
                && !shown.is_some_and(|excerpt| excerpt.shows(definition.line));
            if is_wanted {
                let place = DefinitionSite { path: path.clone(), line: definition.line };
                places.entry(definition.name).or_default().push(place);
            }
        }
    }
    places
}

/// Returns true if a line of a text may define a name that is used. Only such files are parsed.
fn may_define(text: &str, used: &BTreeMap<String, usize>) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.lines().any(|line| {
        let line = line.trim_start();
        let head = first_bytes(line, 160);
        let mut words = head.split(|c| !is_word(c)).filter(|word| !word.is_empty()).peekable();
        let Some(first) = words.peek().copied() else { return false };
        // A value without a keyword: `LIMIT = 3`, `total(order) {`.
        let is_value = |rest: &str| rest.trim_start().starts_with(['=', '(', ':']);
        let is_bare = used.contains_key(first) && line.strip_prefix(first).is_some_and(is_value);
        is_bare || words.any(|word| KEYWORDS.contains(&word)) && mentions(head, used)
    })
}

fn mentions(line: &str, used: &BTreeMap<String, usize>) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| used.contains_key(word))
}

/// Returns the lines of a definition, each with its number.
pub(crate) fn text_of(tree: &dyn Tree, path: &RepoPath, line: u32) -> Option<String> {
    let text = tree.read(path).ok()??;
    let symbol = tree.symbol_at(path, line).ok().flatten();
    let (first, last) = match symbol {
        Some(symbol) => (symbol.lines.start().min(line), symbol.lines.end().max(line)),
        None => (line, line),
    };
    let is_cut = last - first >= MAX_DEFINITION_LINES;
    let last = if is_cut { first + MAX_DEFINITION_LINES - 1 } else { last };
    let lines = text.lines().zip(1u32..).skip(first as usize - 1);
    let lines = lines.take_while(|(_, number)| *number <= last);
    let mut out: String = lines
        .map(|(text, number)| format!("{number:>5}   {}\n", names::replace_line_breaks(text)))
        .collect();
    if is_cut {
        out.push_str("      …\n");
    }
    Some(out)
}
