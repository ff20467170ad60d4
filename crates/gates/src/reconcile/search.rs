//! Looking for many names in a tree at once: [`Search`].

use std::collections::{BTreeSet, HashMap};

use aho_corasick::AhoCorasick;
use assay_findings::ground::{Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_rules::{Reach, SymbolDefinition, TestEffect, TestFunction, definitions, test_functions};

use super::Place;
use super::body::{self, TestBody};
use super::define::{Defined, Definition};
use super::word::is_word;
use crate::claim::{Claim, Reading, Reference};
use crate::facts::lexer::{Language, Lexed};
use crate::facts::tree_index::TreeIndex;
use crate::kinds::ending;

/// Longer files are data.
const MAX_BYTES: usize = 1 << 20;

/// Longer lines define nothing that anybody wrote.
const MAX_LINE: usize = 2_000;

/// So many names are looked for; a plan of any sense has a tenth.
const MAX_NAMES: usize = 5_000;

/// So many definitions of one name are kept.
const MAX_FOUND: usize = 20;

/// The endings of files that are no text, or were made by a program.
const NOT_READ: [&str; 26] = [
    "png", "jpg", "jpeg", "gif", "webp", "ico", "pdf", "zip", "gz", "xz", "bz2", "tar", "jar",
    "woff", "woff2", "ttf", "otf", "mp3", "mp4", "so", "a", "o", "wasm", "lock", "map", "bin",
];

/// Where the names are that a plan speaks of.
#[derive(Debug, Default)]
pub(super) struct Search {
    found: HashMap<String, Found>,
    /// The reason why a file could not be searched, where one could not.
    pub(super) error: Option<TreeError>,
}

/// Where a name stands.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) definitions: Vec<Definition>,
    /// The first place in code where it stands, or else in any text.
    pub(super) used: Option<Place>,
    /// Whether that place is in code.
    pub(super) used_in_code: bool,
}

impl Search {
    /// Goes over a tree once and looks for every name that some criteria speak of. The plan itself
    /// is not looked into.
    pub(super) fn over<'r>(
        tree: &dyn Tree,
        index: &TreeIndex,
        plan: &str,
        readings: impl Iterator<Item = &'r Reading>,
    ) -> Search {
        let names: BTreeSet<String> = readings.flat_map(names).collect();
        let names: Vec<String> = names.into_iter().take(MAX_NAMES).collect();
        let mut search = Search::default();
        let Some(words) = AhoCorasick::new(&names).ok().filter(|_| !names.is_empty()) else {
            return search;
        };
        search.found = names.iter().map(|name| (name.clone(), Found::default())).collect();
        for path in index.paths.iter().filter(|path| is_read(path) && path.as_str() != plan) {
            let text = match tree.read(path) {
                Ok(text) => text.filter(|text| text.len() <= MAX_BYTES),
                Err(error) => {
                    search.error.get_or_insert(error);
                    continue;
                }
            };
            let Some(text) = text.filter(|text| words.is_match(text)) else { continue };
            for (name, definition) in found_in(path, &text, &words, &names) {
                search.note(path, name, definition);
            }
        }
        search
    }

    fn note(&mut self, path: &RepoPath, name: &str, sighting: Sighting) {
        let Some(found) = self.found.get_mut(name) else { return };
        let is_code = Language::of(path.as_str()).is_some();
        match sighting {
            Sighting::Defined(definition) if found.definitions.len() < MAX_FOUND => {
                found.definitions.push(definition);
            }
            Sighting::Defined(_) => {}
            Sighting::Used(line) => {
                if found.used.is_none() || (is_code && !found.used_in_code) {
                    found.used = Some(Place { file: path.to_string(), line });
                    found.used_in_code = is_code;
                }
            }
        }
    }

    /// Returns where a name stands; nothing where it was not looked for.
    pub(super) fn found(&self, name: &str) -> Option<&Found> {
        self.found.get(name)
    }
}

/// Returns what has to be looked for everywhere.
fn names(reading: &Reading) -> Vec<String> {
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

/// Where a name was seen.
enum Sighting {
    Defined(Definition),
    Used(u32),
}

/// Finds names in one file.
pub(super) fn definitions_in(path: &RepoPath, text: &str, name: &str) -> Vec<Definition> {
    let names = [name.to_owned()];
    let Ok(words) = AhoCorasick::new(&names) else { return Vec::new() };
    let found = found_in(path, text, &words, &names).into_iter();
    let defined = found.filter_map(|(_, sighting)| match sighting {
        Sighting::Defined(definition) => Some(definition),
        Sighting::Used(_) => None,
    });
    defined.collect()
}

fn found_in<'n>(
    path: &RepoPath,
    text: &str,
    words: &AhoCorasick,
    names: &'n [String],
) -> Vec<(&'n str, Sighting)> {
    let language = Language::of(path.as_str());
    let lexed = language.map(|language| Lexed::read(language, text));
    let lines: Vec<&str> = text.lines().collect();
    let defined = defined_by_grammar(path, text);
    let tests = test_functions(path.as_str(), text).unwrap_or_default();
    let mut found = Vec::new();
    // A line tells of each name once, so that one full of them takes no longer than others.
    let mut told_on = vec![usize::MAX; names.len()];
    for (at, line) in lines.iter().enumerate() {
        let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
        for hit in words.find_overlapping_iter(line) {
            let name = names[hit.pattern().as_usize()].as_str();
            let told_on = &mut told_on[hit.pattern().as_usize()];
            if *told_on == at || !is_word(line, hit.start(), hit.end()) {
                continue;
            }
            *told_on = at;
            let code = lexed.as_ref().and_then(|lexed| lexed.code.get(at));
            let code = code.filter(|code| code.len() <= MAX_LINE);
            let next = || {
                let code = &lexed.as_ref()?.code;
                code.get(at + 1..)?.iter().find(|line| !line.trim().is_empty())
            };
            let test = test_on(&tests, number, name);
            let is_told = is_test_title(line, hit.start(), code.map(String::as_str));
            let by_grammar = defined.get(&(number, name.to_owned()));
            let defined = match is_told {
                true => Some(Defined::TEST),
                false => by_grammar.map(|(defined, _)| *defined).or_else(|| {
                    let next = next().map_or("", String::as_str);
                    Defined::on(path.as_str(), code?, next, name)
                }),
            };
            let defined = defined.or(test.map(|_| Defined::TEST));
            let sighting = match defined.zip(language.zip(lexed.as_ref())) {
                Some((Defined { word, is_function, is_local }, (language, lexed))) => {
                    Sighting::Defined(Definition {
                        at: Place { file: path.to_string(), line: number },
                        line: line.trim().to_owned(),
                        effect: test.map_or_else(
                            || TestBody::of(language, lexed, at).effect(),
                            |test| test.effect.clone(),
                        ),
                        reach: match body::is_dead(language, &lines, lexed, at) {
                            true => Reach::Never("its condition never holds".to_owned()),
                            false => by_grammar.map_or(Reach::Reached, |(_, reach)| reach.clone()),
                        },
                        is_test: is_told
                            || is_test(path, &lines, at, name)
                            || test
                                .is_some_and(|test| !matches!(test.effect, TestEffect::Inert(_))),
                        word,
                        is_function,
                        is_local,
                    })
                }
                None => Sighting::Used(number),
            };
            found.push((name, sighting));
        }
    }
    found
}

/// Returns what a file defines as far as a grammar reads it, by line and name.
fn defined_by_grammar(path: &RepoPath, text: &str) -> HashMap<(u32, String), (Defined, Reach)> {
    let found = definitions(path.as_str(), text).unwrap_or_default().into_iter();
    let entry = |found: SymbolDefinition| {
        let defined = Defined::of(&found);
        ((found.line, found.name), (defined, found.reach))
    };
    found.map(entry).collect()
}

/// Returns the test that is declared on a line by a name, or by a title that begins with the name.
fn test_on<'t>(tests: &'t [TestFunction], line: u32, name: &str) -> Option<&'t TestFunction> {
    let mut on_line = tests.iter().filter(|test| test.line == line);
    on_line.find(|test| test.name.starts_with(name))
}

/// Returns true if a name stands as the title of a test: `it("name"`, `test('name'`, `t.Run("name"`.
fn is_test_title(line: &str, start: usize, code: Option<&str>) -> bool {
    let before = line[..start].trim_end_matches(['"', '\'', '`']);
    let is_quoted = before.len() < start;
    let openers = ["it(", "test(", "describe(", "t.Run(", "it.each(", "scenario(", "specify("];
    let is_code = |opener: &str| code.is_some_and(|code| code.contains(opener));
    is_quoted && openers.iter().any(|opener| before.trim_end().ends_with(opener) && is_code(opener))
}

/// Returns true if a definition is a test: by its file and its name, or by what stands above it.
fn is_test(path: &RepoPath, lines: &[&str], at: usize, name: &str) -> bool {
    let above = lines[..at].iter().rev().take(6).map(|line| line.trim());
    let mut attributes = above.take_while(|line| line.starts_with("#[") || line.starts_with('@'));
    let is_marked = attributes.any(|line| {
        let line = line.to_ascii_lowercase();
        line.contains("test") || line.starts_with("#[rstest")
    });
    let is_called_so = name.to_ascii_lowercase().starts_with("test");
    is_marked || (is_called_so && assay_rules::is_test(path.as_str()))
}
