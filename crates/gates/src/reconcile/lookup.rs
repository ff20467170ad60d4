//! Decides the claims of criteria by looking them up in a tree: [`Lookup`].

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use assay_findings::grounding::{Tree, TreeError};
use assay_findings::path::RepoPath;
use assay_rules::{
    CodeLines, DefinitionKind, Reach, SymbolTree, TestEffect, has_code_lines, is_program, is_word,
};

use super::search::{Definition, Search, definitions_in};
use super::{Answer, Evidence, Place};
use crate::claim::{Claim, DefinitionClaim, ParsedCriterion, Reference};
use crate::facts::tree_index::TreeIndex;
use crate::quote::quoted;

/// The message for a criterion that code cannot decide.
const BEYOND: &str = "code cannot decide this criterion";

/// Maximum number of bytes that are read for single criteria, in addition to the one search for
/// all.
const MAX_READ: usize = 256 << 20;

/// A tree, with the results of the search for all names.
pub(super) struct Lookup<'l> {
    tree: &'l (dyn Tree + Sync),
    index: &'l TreeIndex,
    search: &'l Search,
    symbols: SymbolTree<'l>,
    /// The texts of the files that criteria name; `None` if a file cannot be read.
    texts: RefCell<HashMap<RepoPath, Option<Rc<str>>>>,
    /// The number of bytes that were read for single criteria.
    read: Cell<usize>,
}

/// The result of looking up one thing: its place.
type Hit = Result<Evidence, Miss>;

/// The reason why a thing was not found.
enum Miss {
    /// The thing does not exist; the text says what was looked for.
    Missing(String),
    /// Code cannot decide, for this reason.
    Unclear(String),
}

impl From<TreeError> for Miss {
    fn from(error: TreeError) -> Miss {
        Miss::Unclear(error.to_string())
    }
}

impl<'l> Lookup<'l> {
    pub(super) fn new(
        tree: &'l (dyn Tree + Sync),
        index: &'l TreeIndex,
        search: &'l Search,
    ) -> Lookup<'l> {
        let symbols = SymbolTree::new(tree);
        Lookup { tree, index, search, symbols, texts: RefCell::default(), read: Cell::new(0) }
    }

    /// Answers a criterion, with the places of the things that it names.
    pub(super) fn answer(&self, reading: &ParsedCriterion) -> (Answer, Vec<Evidence>) {
        // A file that could not be listed or searched is not known to be absent.
        if let Some(error) = self.index.error.as_ref().or(self.search.error.as_ref()) {
            return (Answer::CannotTell { why: error.to_string() }, Vec::new());
        }
        let Some(claim) = &reading.claim else { return self.undecided(reading) };
        let mut evidence = Vec::new();
        for hit in self.hits(claim) {
            match hit {
                Ok(found) => evidence.push(found),
                Err(Miss::Missing(why)) => return (Answer::NotMet { why }, evidence),
                Err(Miss::Unclear(why)) => return (Answer::CannotTell { why }, evidence),
            }
        }
        let seen = match claim {
            Claim::Removed { what, .. } => {
                let gone: Vec<String> = what.iter().map(|what| quoted(&what.written())).collect();
                format!("{} is gone", gone.join(", "))
            }
            _ => evidence.iter().map(|found| found.what.as_str()).collect::<Vec<_>>().join("; "),
        };
        (Answer::Met { at: evidence.first().map(|found| found.at.clone()), seen }, evidence)
    }

    /// Looks up the things that an undecidable criterion names. If one does not exist, the
    /// criterion cannot be met; if all exist, that proves nothing yet.
    fn undecided(&self, reading: &ParsedCriterion) -> (Answer, Vec<Evidence>) {
        let mut evidence = Vec::new();
        let mut missing = None;
        for reference in &reading.references {
            match self.anywhere(reference) {
                Some(Ok(found)) => evidence.push(found),
                Some(Err(Miss::Missing(why))) => missing = missing.or(Some(why)),
                Some(Err(Miss::Unclear(_))) | None => {}
            }
        }
        let answer = match missing.filter(|_| !reading.is_negative) {
            Some(why) => Answer::NotMet { why },
            None => Answer::CannotTell { why: BEYOND.to_owned() },
        };
        (answer, evidence)
    }

    fn hits(&self, claim: &Claim) -> Vec<Hit> {
        match claim {
            Claim::Exist(what) => what.iter().map(|what| self.exists(what)).collect(),
            Claim::Files(what) => what.iter().map(|what| self.as_file(what)).collect(),
            Claim::Defines(claim) => {
                claim.what.iter().map(|what| self.defined(what, claim)).collect()
            }
            Claim::Tests { what, place } => {
                what.iter().map(|what| self.test(what, place.as_ref())).collect()
            }
            Claim::Mentioned { what, page } => {
                what.iter().map(|what| self.mentioned(what, page)).collect()
            }
            Claim::Removed { what, place } => {
                what.iter().filter_map(|what| self.left(what, place.as_ref())).map(Err).collect()
            }
            Claim::Replaced { old, new, is_test } => {
                let new = if *is_test { self.test(new, None) } else { self.exists(new) };
                self.left_in_code(old).map(Err).into_iter().chain([new]).collect()
            }
        }
    }

    /// Returns the remains of a thing that another one replaced; `None` if there are none. Pages
    /// may mention the old name.
    fn left_in_code(&self, what: &Reference) -> Option<Miss> {
        let found = match what {
            Reference::Symbol { name, .. } => self.search.found(name),
            Reference::File { .. } | Reference::Folder(_) | Reference::Other(_) => None,
        };
        match found {
            Some(found) if found.definitions.is_empty() && !found.used_in_code => None,
            Some(_) | None => self.left(what, None),
        }
    }

    /// Looks up a file whose name may have no ending.
    fn as_file(&self, what: &Reference) -> Hit {
        match what {
            Reference::Symbol { written, .. } | Reference::Other(written) => {
                self.file(written, None, false)
            }
            Reference::File { .. } | Reference::Folder(_) => self.exists(what),
        }
    }

    fn exists(&self, what: &Reference) -> Hit {
        match what {
            Reference::Symbol { .. } => self.defined(what, &DefinitionClaim::default()),
            Reference::Other(text) => {
                Err(Miss::Unclear(format!("{} is neither a file nor a name in code", quoted(text))))
            }
            Reference::File { path, line, is_by_name } => self.file(path, *line, *is_by_name),
            Reference::Folder(path) => self.folder(path),
        }
    }

    /// Looks up a thing anywhere; returns `None` if it is neither a file nor a name in code.
    fn anywhere(&self, what: &Reference) -> Option<Hit> {
        Some(match what {
            Reference::File { path, line, .. } => self.file(path, *line, true),
            Reference::Folder(path) => self.folder(path),
            Reference::Symbol { written, name, .. } => {
                let found = self.search.found(name)?;
                if let Some(definition) = found.definitions.first() {
                    return Some(Ok(defined_at(written, definition)));
                }
                match &found.used {
                    Some(at) => Ok(Evidence {
                        at: at.clone(),
                        what: format!("{} is used there", quoted(written)),
                    }),
                    None => {
                        let why = format!("{} does not occur in the tree", quoted(written));
                        Err(Miss::Missing(why))
                    }
                }
            }
            Reference::Other(_) => return None,
        })
    }

    /// Returns the file at a path. Other files whose path ends with it may not be the one that is
    /// meant, unless only the name is given and only one file has it.
    fn path(&self, path: &str, is_by_name: bool) -> Result<RepoPath, Miss> {
        let missing = || Miss::Missing(format!("there is no file {}", quoted(path)));
        let exact = RepoPath::parse(path, None).map_err(|_| missing())?;
        if self.tree.exists(&exact)? {
            return Ok(exact);
        }
        match self.index.ending(exact.as_str())[..] {
            [] => Err(missing()),
            [only] if is_by_name => Ok(only.clone()),
            [first, ..] => {
                let (found, meant) = (quoted(first.as_str()), quoted(path));
                Err(Miss::Unclear(format!("{found} may not be what is meant by {meant}")))
            }
        }
    }

    /// Returns the first file whose path ends with `path`, if there is none at the path itself.
    fn first_ending(&self, path: &str) -> Option<RepoPath> {
        let is_absent = |path: &RepoPath| self.tree.exists(path).is_ok_and(|exists| !exists);
        let path = RepoPath::parse(path, None).ok().filter(is_absent)?;
        self.index.ending(path.as_str()).first().map(|found| (*found).clone())
    }

    /// Returns the text of a file. Fails once more than `MAX_READ` bytes were read.
    fn text(&self, path: &RepoPath) -> Result<Rc<str>, Miss> {
        let mut texts = self.texts.borrow_mut();
        let read = || self.tree.read(path).ok().flatten().map(Rc::from);
        let known = texts.entry(path.clone()).or_insert_with(read);
        let unread = || Miss::Unclear(format!("{} cannot be read", quoted(path.as_str())));
        let text = known.clone().ok_or_else(unread)?;
        let read = self.read.get().saturating_add(text.len());
        self.read.set(read);
        match read <= MAX_READ {
            true => Ok(text),
            false => Err(Miss::Unclear("the search limit of the plan is reached".to_owned())),
        }
    }

    /// Looks up a file; by its name alone, any file with the name counts.
    fn file(&self, path: &str, line: Option<u32>, is_by_name: bool) -> Hit {
        let first = if is_by_name { self.first_ending(path) } else { None };
        let found = first.map_or_else(|| self.path(path, false), Ok)?;
        let file = found.to_string();
        let Some(line) = line else {
            let what = format!("{} exists", quoted(&file));
            return Ok(Evidence { at: Place { file, line: 1 }, what });
        };
        match self.text(&found)?.lines().nth((line as usize).saturating_sub(1)) {
            Some(said) if line > 0 => {
                Ok(Evidence { at: Place { file, line }, what: quoted(said.trim()) })
            }
            _ => Err(Miss::Missing(format!("{} has no line {line}", quoted(&file)))),
        }
    }

    fn folder(&self, path: &str) -> Hit {
        let inside = format!("{path}/");
        match self.index.first_in(path) {
            Some(file) => Ok(Evidence {
                at: Place { file: file.to_string(), line: 1 },
                what: format!("{} exists", quoted(&inside)),
            }),
            None => Err(Miss::Missing(format!("there is no folder {}", quoted(&inside)))),
        }
    }

    /// Returns the definitions of a name, in a file if one is given.
    fn definitions(&self, name: &str, place: Option<&Reference>) -> Result<Vec<Definition>, Miss> {
        let Some(Reference::File { path, is_by_name, .. }) = place else {
            let found = self.search.found(name);
            let unclear = || Miss::Unclear("there are too many names to search for".to_owned());
            return found.map(|found| found.definitions.clone()).ok_or_else(unclear);
        };
        let file = self.path(path, *is_by_name)?;
        if !has_code_lines(file.as_str()) {
            return Err(Miss::Unclear(format!("unknown language of {}", quoted(path))));
        }
        Ok(definitions_in(&file, &self.text(&file)?, name))
    }

    fn defined(&self, what: &Reference, claim: &DefinitionClaim) -> Hit {
        let place = claim.place.as_ref();
        let Reference::Symbol { written, name, around } = what else {
            return match what {
                Reference::File { .. } | Reference::Folder(_) if place.is_none() => {
                    self.exists(what)
                }
                _ => {
                    let why = format!("{} is not a name in code", quoted(&what.written()));
                    Err(Miss::Unclear(why))
                }
            };
        };
        let definitions = self.definitions(name, place)?;
        let Some(first) = definitions.first() else {
            let why = format!("{} is not defined{}", quoted(written), within(place));
            return Err(Miss::Missing(why));
        };
        if let Some(why) = first.dead()
            && definitions.iter().all(|definition| definition.dead().is_some())
        {
            let Place { file, line } = &first.at;
            return Err(Miss::Missing(format!(
                "{} is defined only in code that never runs, at {file}:{line}: {why}",
                quoted(written)
            )));
        }
        let is_meant = |definition: &&Definition| {
            definition.of.reach == Reach::Reached
                && !definition.of.is_local
                && claim.kind.as_deref().is_none_or(|kind| is_of_kind(definition.of.kind, kind))
                && (!claim.is_exported || definition.of.is_exported)
                && around.iter().all(|outer| self.stands_in(definition, outer))
        };
        let conditional = definitions.iter().find_map(|definition| match &definition.of.reach {
            Reach::Conditional(why) => Some((definition, why)),
            Reach::Reached | Reach::Never(_) => None,
        });
        let is_otherwise = |definition: &Definition| definition.of.reach == Reach::Reached;
        if let Some((definition, why)) = conditional
            && !definitions.iter().any(is_otherwise)
        {
            let Place { file, line } = &definition.at;
            let why = format!("{} at {file}:{line} is defined {why}", quoted(name));
            return Err(Miss::Unclear(why));
        }
        match definitions.iter().find(is_meant) {
            Some(definition) => Ok(defined_at(written, definition)),
            None => Err(Miss::Unclear(format!(
                "{} at {}:{} may not be what is meant: {}",
                quoted(name),
                first.at.file,
                first.at.line,
                quoted(&first.of.text)
            ))),
        }
    }

    /// Returns true if a definition is in a type, a module, a folder or a file with a name.
    fn stands_in(&self, definition: &Definition, outer: &str) -> bool {
        let file = &definition.at.file;
        let mut parts = file.split('/').map(|part| part.split('.').next().unwrap_or(part));
        if parts.any(|part| part == outer) {
            return true;
        }
        let symbol = RepoPath::exact(file)
            .ok()
            .and_then(|path| self.symbols.symbol_at(&path, definition.at.line).ok().flatten());
        symbol.is_some_and(|symbol| symbol.name.split('.').any(|part| part == outer))
    }

    fn test(&self, what: &Reference, place: Option<&Reference>) -> Hit {
        let name = match what {
            Reference::Symbol { name, .. } => name,
            Reference::Other(text) => text,
            Reference::File { .. } | Reference::Folder(_) => return self.exists(what),
        };
        let definitions = self.definitions(name, place)?;
        let tests = || definitions.iter().filter(|one| one.of.is_test);
        let by_rank = |test: &&Definition| match (test.dead(), &test.of.effect) {
            (None, TestEffect::CanFail) => 0,
            (None, TestEffect::Unclear(_)) => 1,
            (None, TestEffect::Inert(_)) => 2,
            (Some(_), _) => 3,
        };
        let said = |test: &Definition, why: &str| {
            let Place { file, line } = &test.at;
            format!("the test {} at {file}:{line} {why}", quoted(name))
        };
        let best = tests().min_by_key(by_rank);
        if let Some((test, why)) = best.and_then(|test| Some((test, test.dead()?))) {
            return Err(Miss::Missing(said(test, &format!("never runs: {why}"))));
        }
        let Some(test) = best else {
            let why = format!("no test is named {}{}", quoted(name), within(place));
            return Err(Miss::Missing(why));
        };
        match &test.of.effect {
            TestEffect::Inert(why) => Err(Miss::Missing(said(test, why))),
            TestEffect::Unclear(why) => Err(Miss::Unclear(said(test, why))),
            TestEffect::CanFail => Ok(Evidence {
                at: test.at.clone(),
                what: format!("the test {}", quoted(&test.of.text)),
            }),
        }
    }

    fn mentioned(&self, what: &Reference, page: &Reference) -> Hit {
        let Reference::File { path, is_by_name, .. } = page else {
            return Err(Miss::Unclear(BEYOND.to_owned()));
        };
        let file = self.path(path, *is_by_name)?;
        let text = self.text(&file)?;
        let wanted = what.written();
        let name = match what {
            Reference::Symbol { name, .. } => name.as_str(),
            Reference::File { .. } | Reference::Folder(_) | Reference::Other(_) => wanted.as_str(),
        };
        let stands = |line: &str| {
            let mut places = line.match_indices(name);
            places.any(|(at, found)| is_word(line, at, at + found.len()))
        };
        let is_symbol = matches!(what, Reference::Symbol { .. });
        let code = (is_symbol && is_program(file.as_str()))
            .then(|| CodeLines::of(file.as_str(), &text).map(|lines| lines.code))
            .flatten();
        let in_code = |number: u32| {
            code.as_ref()
                .is_none_or(|code| code.get(number as usize - 1).is_some_and(|c| stands(c)))
        };
        let found: Vec<(&str, u32)> =
            text.lines().zip(1u32..).filter(|(line, _)| !name.is_empty() && stands(line)).collect();
        let in_code = found.iter().find(|(_, number)| in_code(*number));
        match in_code.or(found.first()).copied() {
            Some((_, number)) if in_code.is_none() => Err(Miss::Unclear(format!(
                "{} occurs only in a comment or a string, at {file}:{number}",
                quoted(&wanted)
            ))),
            Some((line, number)) => Ok(Evidence {
                at: Place { file: file.to_string(), line: number },
                what: quoted(line.trim()),
            }),
            None => {
                let why = format!("{} does not mention {}", quoted(path), quoted(&wanted));
                Err(Miss::Missing(why))
            }
        }
    }

    /// Returns the remains of a thing that is to be gone; `None` if there are none.
    fn left(&self, what: &Reference, place: Option<&Reference>) -> Option<Miss> {
        let still = |at: &Place| {
            let (file, line) = (&at.file, at.line);
            Miss::Missing(format!("{} is still at {file}:{line}", quoted(&what.written())))
        };
        if let Some(place) = place {
            return match self.mentioned(what, place) {
                Ok(found) => Some(still(&found.at)),
                // A file that is gone contains nothing.
                Err(Miss::Missing(_)) => None,
                Err(unclear @ Miss::Unclear(_)) => Some(unclear),
            };
        }
        match what {
            Reference::File { path, .. } => {
                let exact = RepoPath::parse(path, None).ok();
                match exact.map_or(Ok(false), |path| self.tree.exists(&path)) {
                    Ok(is_left) => is_left.then(|| still(&Place { file: path.clone(), line: 1 })),
                    Err(error) => Some(error.into()),
                }
            }
            Reference::Folder(path) => self.folder(path).ok().map(|found| still(&found.at)),
            Reference::Symbol { written, name, .. } => {
                let Some(found) = self.search.found(name) else {
                    return Some(Miss::Unclear(
                        "there are too many names to search for".to_owned(),
                    ));
                };
                let used = |at: &Place| {
                    let (file, line) = (&at.file, at.line);
                    Miss::Unclear(format!("{} still occurs at {file}:{line}", quoted(written)))
                };
                let defined = found.definitions.first().map(|definition| still(&definition.at));
                defined.or_else(|| found.used.as_ref().map(used))
            }
            Reference::Other(text) => Some(Miss::Unclear(format!(
                "{} is neither a file nor a name in code",
                quoted(text)
            ))),
        }
    }
}

fn within(place: Option<&Reference>) -> String {
    place.map(|place| format!(" in {}", quoted(&place.written()))).unwrap_or_default()
}

fn defined_at(written: &str, definition: &Definition) -> Evidence {
    let what = format!("{} is defined: {}", quoted(written), quoted(&definition.of.text));
    Evidence { at: definition.at.clone(), what }
}

/// Returns true if a definition is of a kind that a criterion names.
fn is_of_kind(definition: DefinitionKind, kind: &str) -> bool {
    match (kind, definition) {
        ("function" | "method", _) => definition == DefinitionKind::Function,
        ("constant" | "const", _) => definition == DefinitionKind::Value,
        ("macro", _) => definition == DefinitionKind::Macro,
        ("symbol", _) => true,
        ("type", DefinitionKind::Type(word)) => !["object", "protocol"].contains(&word),
        // In Go, every type is defined with `type`.
        (kind, DefinitionKind::Type(word)) => word == kind || word == "type",
        _ => false,
    }
}
