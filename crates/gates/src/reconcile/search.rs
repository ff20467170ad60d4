//! Searches a tree for many names at once: [`Search`].

use std::collections::{BTreeSet, HashMap};

use assay_findings::grounding::{Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_rules::{NameMatch, NameSearch, NamedDefinition, Reach, has_code_lines};

use super::Place;
use crate::claim::{Claim, ParsedCriterion, Reference};
use crate::facts::tree_index::TreeIndex;
use crate::file_kinds::ending;

/// Maximum size of a file, in bytes; larger ones are data.
const MAX_FILE_BYTES: usize = 1 << 20;

/// Maximum number of names; a sensible plan has a tenth of them.
const MAX_NAMES: usize = 5_000;

/// Maximum number of definitions of one name that are stored.
const MAX_FOUND: usize = 20;

/// The endings of files that are no text, or were generated.
const NOT_READ: [&str; 26] = [
    "png", "jpg", "jpeg", "gif", "webp", "ico", "pdf", "zip", "gz", "xz", "bz2", "tar", "jar",
    "woff", "woff2", "ttf", "otf", "mp3", "mp4", "so", "a", "o", "wasm", "lock", "map", "bin",
];

/// The places of the names in a plan's criteria.
#[derive(Debug, Default)]
pub(super) struct Search {
    found: HashMap<String, NameUses>,
    /// The error of a file that could not be searched; `None` if there was none.
    pub(super) error: Option<TreeError>,
}

/// A definition of a name.
#[derive(Debug, Clone)]
pub(super) struct Definition {
    pub(super) at: Place,
    pub(super) of: NamedDefinition,
}

impl Definition {
    /// Returns the reason why the definition is dead code; `None` if it is not.
    pub(super) fn dead(&self) -> Option<&str> {
        match &self.of.reach {
            Reach::Never(why) => Some(why),
            Reach::Reached | Reach::Conditional(_) => None,
        }
    }
}

/// The places of a name.
#[derive(Debug, Default)]
pub(super) struct NameUses {
    pub(super) definitions: Vec<Definition>,
    /// The first use in code, or else in any text; `None` if there is none.
    pub(super) used: Option<Place>,
    /// True if that use is in code.
    pub(super) used_in_code: bool,
}

impl Search {
    /// Searches a tree once for all names in the criteria. The plan itself is not searched.
    pub(super) fn over<'r>(
        tree: &dyn Tree,
        index: &TreeIndex,
        plan: &str,
        readings: impl Iterator<Item = &'r ParsedCriterion>,
    ) -> Search {
        let names: BTreeSet<String> = readings.flat_map(names).collect();
        let mut search = Search::default();
        let Some(names) = NameSearch::new(names.into_iter().take(MAX_NAMES).collect()) else {
            return search;
        };
        search.found =
            names.names().iter().map(|name| (name.clone(), NameUses::default())).collect();
        for path in index.paths.iter().filter(|path| is_read(path) && path.as_str() != plan) {
            let text = match tree.read(path) {
                Ok(text) => text.filter(|text| text.len() <= MAX_FILE_BYTES),
                Err(error) => {
                    search.error.get_or_insert(error);
                    continue;
                }
            };
            let Some(text) = text.filter(|text| names.is_in(text)) else { continue };
            for sighting in names.find_matches(path.as_str(), &text) {
                search.note(path, sighting);
            }
        }
        search
    }

    fn note(&mut self, path: &RepoPath, sighting: NameMatch<'_>) {
        let Some(found) = self.found.get_mut(sighting.name) else { return };
        let is_code = has_code_lines(path.as_str());
        let at = Place { file: path.to_string(), line: sighting.line };
        match sighting.definition {
            Some(of) if found.definitions.len() < MAX_FOUND => {
                found.definitions.push(Definition { at, of });
            }
            None if found.used.is_none() || (is_code && !found.used_in_code) => {
                found.used = Some(at);
                found.used_in_code = is_code;
            }
            Some(_) | None => {}
        }
    }

    /// Returns the places of a name; `None` if it was not searched for.
    pub(super) fn found(&self, name: &str) -> Option<&NameUses> {
        self.found.get(name)
    }
}

/// Returns the names in a criterion that are searched for.
fn names(reading: &ParsedCriterion) -> Vec<String> {
    let mut names: Vec<String> = reading.references.iter().filter_map(name).collect();
    if let Some(Claim::Tests { what, .. }) = &reading.claim {
        // The name of a test may be a sentence.
        names.extend(what.iter().filter_map(|test| match test {
            Reference::Other(text) if (3..=200).contains(&text.len()) => Some(text.clone()),
            _ => None,
        }));
    }
    names
}

fn name(reference: &Reference) -> Option<String> {
    match reference {
        Reference::Symbol { name, .. } => Some(name.clone()),
        Reference::File { .. } | Reference::Folder(_) | Reference::Other(_) => None,
    }
}

fn is_read(path: &RepoPath) -> bool {
    !NOT_READ.contains(&ending(path.as_str()).as_str())
}

/// Returns the definitions of a name in one file.
pub(super) fn definitions_in(path: &RepoPath, text: &str, name: &str) -> Vec<Definition> {
    let Some(names) = NameSearch::new(vec![name.to_owned()]) else { return Vec::new() };
    let found = names.find_matches(path.as_str(), text).into_iter();
    let defined = found.filter_map(|sighting| {
        let at = Place { file: path.to_string(), line: sighting.line };
        Some(Definition { at, of: sighting.definition? })
    });
    defined.collect()
}
