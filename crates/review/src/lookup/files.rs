//! The files that look-ups may read, and searches in them: [`ReadableFiles`].

use std::collections::BTreeSet;
use std::fmt::Write;

use assay_base::text::first_bytes;
use assay_change::Change;
use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;
use assay_rules::SymbolTree;

use super::request::{Named, ReadLines, Request, Search};
use crate::prompt::{callers, definitions};
use crate::sanitize::{SafeTree, names, unsafe_name_reason, withheld_reason};

/// The maximum number of bytes of one result.
const MAX_RESULT_BYTES: usize = 8 << 10;

/// The maximum number of bytes of a line that is not truncated.
const MAX_LINE: usize = 400;

/// The maximum number of lines that a search shows.
const MAX_MATCHES: usize = 40;

/// The maximum number of definitions of a name that are shown.
const MAX_DEFINITIONS: usize = 6;

/// The maximum number of calls of a name that are shown.
const MAX_CALLS: usize = 12;

/// The maximum number of files that one look-up reads, and of their bytes.
const MAX_SEARCHED_FILES: usize = 3_000;
const MAX_READ_BYTES: usize = 32 << 20;

/// The result for a path that may not be read, whatever the reason: a model learns nothing about
/// files that are withheld.
const NO_SUCH_FILE: &str =
    "there is no such file that can be read here; `search` finds files by their content\n";

/// The files that look-ups may read: those that git knew before the change, and those of the
/// change. Left out are links, files that reviewers do not read, and files whose names are
/// withheld.
#[derive(Debug, Default)]
pub(super) struct ReadableFiles(BTreeSet<RepoPath>);

impl ReadableFiles {
    /// Lists the files of the tree after a change.
    pub(super) fn of(change: &Change) -> ReadableFiles {
        // The change records a tree that cannot be listed, which makes the review incomplete.
        let known = change.base().paths().unwrap_or_default();
        let now: BTreeSet<RepoPath> =
            change.tree().paths().unwrap_or_default().into_iter().collect();
        let (shown, hidden): (Vec<_>, Vec<_>) =
            change.files.iter().partition(|file| withheld_reason(file).is_none());
        let path = |path: &String| RepoPath::exact(path).ok();
        let hidden: BTreeSet<RepoPath> =
            hidden.iter().filter_map(|file| file.new_path.as_ref().and_then(path)).collect();
        let shown = shown.iter().filter_map(|file| file.new_path.as_ref().and_then(path));
        let is_readable = |path: &RepoPath| {
            now.contains(path)
                && !hidden.contains(path)
                && unsafe_name_reason(path.as_str()).is_none()
                && !change.is_behind_link(path)
        };
        ReadableFiles(known.into_iter().chain(shown).filter(is_readable).collect())
    }

    /// Runs a look-up. The result contains no credentials and no instructions to a model, and is
    /// marked where it is truncated.
    pub(super) fn look_up(&self, change: &Change, request: &Request) -> String {
        match request {
            Request::ReadLines(lines) => self.read_lines(change, lines),
            Request::Search(search) => self.search(change, search),
            Request::Definition(named) => self.definitions(change, named),
            Request::Callers(named) => self.callers(change, named),
        }
    }

    fn read_lines(&self, change: &Change, ReadLines { path, from, to }: &ReadLines) -> String {
        if !self.0.contains(path) || change.excludes(path) {
            return NO_SUCH_FILE.to_owned();
        }
        let text = match SafeTree::of(change.tree()).read(path) {
            Ok(Some(text)) => text,
            Ok(None) => return "the file is not a text file\n".to_owned(),
            Err(_) => return "the file could not be read\n".to_owned(),
        };
        let count = text.lines().count();
        let mut result = Excerpts::default();
        result.open(path);
        for (line, number) in text.lines().zip(1u32..).skip(*from as usize - 1) {
            if number > *to {
                break;
            }
            if !result.push(&numbered(line, number)) {
                let last = (*to).min(count as u32);
                return result.cut(&format!("lines {number} to {last} are not shown"));
            }
        }
        match *from as usize > count {
            true => result.cut(&format!("the file has {count} lines")),
            false => result.text,
        }
    }

    fn search(&self, change: &Change, search: &Search) -> String {
        let is_in =
            |path: &RepoPath| search.path.as_ref().is_none_or(|at| is_at_or_below(path, at));
        let mut result = Excerpts::default();
        let mut matches = 0;
        let files = self.files_containing(change, &search.text, is_in);
        for (path, text) in &files.found {
            let lines = text.lines().zip(1u32..).filter(|(line, _)| search.is_in_line(line));
            for (at, (line, number)) in lines.enumerate() {
                if at == 0 {
                    result.open(path);
                }
                if matches == MAX_MATCHES || !result.push(&numbered(line, number)) {
                    return result.cut(
                        "further lines are not shown; search for a longer text, or in a folder",
                    );
                }
                matches += 1;
            }
        }
        result.or_nothing("no line contains the text", files.is_whole)
    }

    fn definitions(&self, change: &Change, Named { name }: &Named) -> String {
        let safe = SafeTree::of(change.tree());
        let tree = SymbolTree::new(&safe);
        let mut result = Excerpts::default();
        let mut shown = 0;
        let files = self.files_containing(change, name, has_language);
        for (path, text) in &files.found {
            let defined = assay_rules::definitions(path.as_str(), text).unwrap_or_default();
            for definition in defined.iter().filter(|one| one.name == *name && !one.is_local) {
                let lines = definitions::text_of(&tree, path, definition.line).unwrap_or_default();
                result.open(path);
                if shown == MAX_DEFINITIONS || !result.push(&lines) {
                    return result.cut("further definitions are not shown");
                }
                shown += 1;
            }
        }
        result.or_nothing("no definition of the name was found", files.is_whole)
    }

    fn callers(&self, change: &Change, Named { name }: &Named) -> String {
        let mut result = Excerpts::default();
        let mut shown = 0;
        let files = self.files_containing(change, name, has_language);
        for (path, text) in &files.found {
            for call in assay_rules::calls(path.as_str(), text, name) {
                result.open(path);
                if shown == MAX_CALLS
                    || !result.push(&callers::with_context(text, call.start() as usize))
                {
                    return result.cut("further calls are not shown");
                }
                shown += 1;
            }
        }
        result.or_nothing("no call of the name was found", files.is_whole)
    }

    /// Returns the files that contain a text, as models may see them.
    fn files_containing(
        &self,
        change: &Change,
        wanted: &str,
        is_candidate: impl Fn(&RepoPath) -> bool,
    ) -> MatchingFiles {
        let safe = SafeTree::of(change.tree());
        let mut holding = MatchingFiles { found: Vec::new(), is_whole: true };
        let mut left = MAX_READ_BYTES;
        for (path, at) in self.0.iter().filter(|path| is_candidate(path)).zip(0..) {
            // The change records a file that cannot be read, which makes the review incomplete.
            let Ok(Some(raw)) = change.tree().read(path) else { continue };
            match left.checked_sub(raw.len()) {
                Some(rest) if at < MAX_SEARCHED_FILES => left = rest,
                _ => {
                    holding.is_whole = false;
                    return holding;
                }
            }
            if !raw.contains(wanted) || change.excludes(path) {
                continue;
            }
            // The match may be in a part that models do not see.
            let text = safe.read(path).ok().flatten().filter(|text| text.contains(wanted));
            holding.found.extend(text.map(|text| (path.clone(), text)));
        }
        holding
    }
}

/// The files that contain a text.
struct MatchingFiles {
    found: Vec<(RepoPath, String)>,
    /// False if the tree has more files than one look-up reads.
    is_whole: bool,
}

/// Lines of several files, as one result of limited length.
#[derive(Default)]
struct Excerpts {
    text: String,
    path: Option<RepoPath>,
}

impl Excerpts {
    /// Starts the section of a file, unless it has started already.
    fn open(&mut self, path: &RepoPath) {
        if self.path.as_ref() != Some(path) {
            writeln!(self.text, "### FILE {path}").expect("writing to a string works");
            self.path = Some(path.clone());
        }
    }

    /// Adds whole lines. Returns false, and adds nothing, if they do not fit.
    fn push(&mut self, lines: &str) -> bool {
        let has_room = self.text.len() + lines.len() <= MAX_RESULT_BYTES;
        if has_room {
            self.text.push_str(lines);
        }
        has_room
    }

    /// Returns the text with a note about the missing part.
    fn cut(self, why: &str) -> String {
        format!("{}({why})\n", self.text)
    }

    /// Returns the text, or `nothing` if it is empty, with a note if not all files were read.
    fn or_nothing(self, nothing: &str, is_whole: bool) -> String {
        let text = match self.text.is_empty() {
            true => format!("{nothing}\n"),
            false => self.text,
        };
        match is_whole {
            true => text,
            false => format!("{text}(cut: the repository is larger than one look-up reads)\n"),
        }
    }
}

impl Search {
    /// Returns true if a line contains the text.
    fn is_in_line(&self, line: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        line.match_indices(&self.text).any(|(at, found)| {
            let before = line[..at].chars().next_back();
            let after = line[at + found.len()..].chars().next();
            let goes_on = |inner: Option<char>, outer: Option<char>| {
                inner.is_some_and(is_word) && outer.is_some_and(is_word)
            };
            !self.whole_words
                || !goes_on(found.chars().next(), before)
                    && !goes_on(found.chars().next_back(), after)
        })
    }
}

/// Formats a line with its number, truncated if it is long.
fn numbered(line: &str, number: u32) -> String {
    let line = names::replace_line_breaks(line);
    match line.len() > MAX_LINE {
        true => format!("{number:>5}   {}… (cut)\n", first_bytes(&line, MAX_LINE)),
        false => format!("{number:>5}   {line}\n"),
    }
}

fn has_language(path: &RepoPath) -> bool {
    assay_rules::language_name(path.as_str()).is_some()
}

fn is_at_or_below(path: &RepoPath, place: &RepoPath) -> bool {
    let rest = path.as_str().strip_prefix(place.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
