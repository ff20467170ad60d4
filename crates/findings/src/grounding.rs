//! Grounding: [`Grounder`] checks each vote against the files of the tree and the diff.
//!
//! The vote itself is never changed; [`GroundedVote`] holds the vote and the results of the checks.
//! A vote loses confidence for a missing quote only if there is a tree in which the quote could
//! have been found: without a tree, no confidence is capped.

mod file_view;
mod quote_variant;
mod quotes;

use std::cell::{OnceCell, RefCell};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use serde::{Deserialize, Serialize};

use self::file_view::FileView;
use self::quotes::Excerpt;
use crate::claim_similarity::{IndexedLine, PlaceIndex};
use crate::finding::{GroundingMark, issue};
use crate::grade::Grade;
use crate::path::RepoPath;
use crate::report::{Reviewer, ReviewerKind};
use crate::vote::{Confidence, LineRange, Vote};

pub use crate::claim_similarity::squeeze;

/// The number of lines around a change that help to find the place of a vote.
const CONTEXT_LINES: u32 = 3;

/// The prefixes that git writes before the paths of a diff.
const DIFF_PREFIXES: [&str; 6] = ["a/", "b/", "i/", "w/", "c/", "o/"];

/// The tree after the change.
///
/// An implementation reads files inside the tree only: it never follows a link out of the tree. An
/// absent file is an answer; a file that could not be read is a [`TreeError`], never `None`.
pub trait Tree {
    /// Returns a file's text, or `None` if there is no such file or the file is no text.
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError>;

    /// Returns true if the tree has the file.
    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError>;

    /// Returns the innermost symbol around a line, or `None` if there is none or the language is
    /// not known.
    fn symbol_at(&self, path: &RepoPath, line: u32) -> Result<Option<Symbol>, TreeError>;

    /// Returns the paths of all files, for finding a file by the end of its path.
    fn paths(&self) -> Result<Vec<RepoPath>, TreeError>;
}

/// An error of the tree: a file or the list of files could not be read, so nothing is known of it.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, thiserror::Error,
)]
pub enum TreeError {
    /// A file could not be read.
    #[error("could not read `{path}`: {reason}")]
    Read {
        /// The path of the file.
        path: String,
        /// The error of the file system or of git.
        reason: String,
    },
    /// The files could not be listed.
    #[error("cannot list the files: {reason}")]
    List {
        /// The error of the file system or of git.
        reason: String,
    },
}

impl TreeError {
    /// Returns the error for a file that could not be read.
    pub fn read(path: &RepoPath, reason: impl ToString) -> TreeError {
        TreeError::Read { path: path.to_string(), reason: reason.to_string() }
    }

    /// Returns the error for files that could not be listed.
    pub fn list(reason: impl ToString) -> TreeError {
        TreeError::List { reason: reason.to_string() }
    }
}

/// A symbol of a file: a function, a type or a section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The name, qualified as far as it is known.
    pub name: String,
    /// The lines of the symbol.
    pub lines: LineRange,
}

/// The lines that a change added or edited, by file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedLines {
    files: BTreeMap<RepoPath, Vec<LineRange>>,
}

impl ChangedLines {
    /// Adds a file with its changed lines.
    pub fn insert(&mut self, path: RepoPath, mut lines: Vec<LineRange>) {
        lines.sort_unstable();
        self.files.insert(path, lines);
    }

    /// Returns true if the change touched any of the lines.
    pub fn touches(&self, path: &RepoPath, lines: LineRange) -> bool {
        self.files.get(path).is_some_and(|changed| {
            changed.iter().any(|c| c.start() <= lines.end() && lines.start() <= c.end())
        })
    }

    /// Returns the number of changed lines.
    pub fn count(&self) -> u64 {
        let lines = self.files.values().flatten();
        lines.map(|lines| u64::from(lines.end() - lines.start()) + 1).sum()
    }

    /// Returns true if the change touched a file.
    pub fn has_file(&self, path: &RepoPath) -> bool {
        self.files.contains_key(path)
    }
}

/// A vote with the results of checking it against the tree.
#[derive(Debug, Clone)]
pub struct GroundedVote<'a> {
    /// The vote, as it was cast.
    pub vote: &'a Vote,
    /// The reviewer that cast the vote.
    pub reviewer: &'a Reviewer,
    /// The index of the report, and of the vote in it.
    pub source: (usize, usize),
    /// The file of the vote, as it was found in the tree; without a tree, as the vote names it.
    pub file: Option<RepoPath>,
    /// The lines of the vote, corrected by its quotes.
    pub lines: Option<LineRange>,
    /// The grade, capped at the worst one that the reviewer may give.
    pub grade: Grade,
    /// The confidence, capped by the checks.
    pub confidence: Confidence,
    /// True if the defect is older than the change.
    pub pre_existing: bool,
    /// The results of the checks.
    pub marks: Vec<GroundingMark>,
    /// The quoted line without its whitespace; if the file contains the quote, as it is in the
    /// file.
    pub quote: Option<String>,
    /// All lines of the quote that begins with `quote`, without their whitespace.
    pub quoted: Option<String>,
    /// True if the vote quotes code, which is in the tree if there is a tree, or if the vote is
    /// from a compact report.
    pub is_backed: bool,
    /// The lines of the quotes; `None` if a quote was not found, or the vote has none.
    pub(crate) quoted_lines: Option<Vec<LineRange>>,
    /// The lines around the vote's first line, without their whitespace.
    pub surroundings: Option<String>,
    /// The name of the symbol that contains the vote's first line.
    pub symbol: Option<String>,
    /// The hash by which GitHub recognises the line.
    pub line_hash: Option<String>,
}

/// The tree and the diff that votes are checked against.
pub struct Grounder<'t> {
    tree: Option<&'t dyn Tree>,
    changed: Option<&'t ChangedLines>,
    files: RefCell<HashMap<RepoPath, Option<Rc<FileView>>>>,
    paths: OnceCell<Vec<RepoPath>>,
    places: RefCell<Option<PlaceIndex>>,
    errors: RefCell<BTreeSet<TreeError>>,
}

impl<'t> Grounder<'t> {
    /// Creates the checks against a tree and a diff, either of which may be missing.
    pub fn new(tree: Option<&'t dyn Tree>, changed: Option<&'t ChangedLines>) -> Grounder<'t> {
        let (files, errors) = (RefCell::default(), RefCell::default());
        let (paths, places) = (OnceCell::new(), RefCell::default());
        Grounder { tree, changed, files, paths, places, errors }
    }

    /// Returns the errors of the tree so far.
    pub fn errors(&self) -> Vec<TreeError> {
        self.errors.borrow().iter().cloned().collect()
    }

    /// Returns an answer of the tree; stores an error and returns `None`.
    fn record_error<T>(&self, answer: Result<T, TreeError>) -> Option<T> {
        answer.map_err(|error| self.errors.borrow_mut().insert(error)).ok()
    }

    /// Checks a vote against the tree and the diff.
    pub fn check<'a>(
        &self,
        vote: &'a Vote,
        reviewer: &'a Reviewer,
        source: (usize, usize),
    ) -> GroundedVote<'a> {
        let excerpts = Excerpt::all_of(&vote.evidence);
        let quoted = excerpts.iter().find_map(Excerpt::first);
        let mut grounded = GroundedVote {
            vote,
            reviewer,
            source,
            file: vote.file.clone(),
            lines: vote.lines,
            grade: vote.grade.clone(),
            confidence: stated_confidence(vote, reviewer),
            // A vote without a place may join votes anywhere, so it is no evidence that their
            // defect is old.
            pre_existing: vote.pre_existing && vote.file.is_some(),
            marks: Vec::new(),
            quote: quoted.map(|quote| quote.first_line().to_owned()),
            quoted: quoted.map(|quote| quote.lines.join("\n")),
            is_backed: quoted.is_some() || vote.is_compact,
            quoted_lines: None,
            surroundings: None,
            symbol: None,
            line_hash: None,
        };
        cap_grade(&mut grounded);
        if let Some(tree) = self.tree {
            self.check_tree(tree, &excerpts, &mut grounded);
        }
        let is_placed = grounded.file.is_some() && grounded.lines.is_some();
        if vote.confidence.is_none() && reviewer.kind == ReviewerKind::Persona && !is_placed {
            grounded.marks.push(GroundingMark::NoPlace);
        }
        if vote.is_repaired {
            grounded.marks.push(GroundingMark::Repaired);
        }
        let is_unfounded = |mark: &GroundingMark| {
            matches!(
                mark,
                GroundingMark::FileNotFound | GroundingMark::QuoteNotFound | GroundingMark::NoQuote
            )
        };
        grounded.is_backed &= !grounded.marks.iter().any(is_unfounded);
        if let Some(changed) = self.changed {
            self.check_change(changed, &mut grounded);
        }
        if grounded.file.is_none() && reviewer.kind == ReviewerKind::Persona {
            self.find_place(&mut grounded);
        }
        grounded
    }

    /// Finds a place in the change for a vote that names none, to show the vote there. The vote is
    /// not checked against that place.
    fn find_place(&self, grounded: &mut GroundedVote<'_>) {
        let Some((tree, changed)) = self.tree.zip(self.changed) else { return };
        let mut places = self.places.borrow_mut();
        let index = places.get_or_insert_with(|| self.index_change(tree, changed));
        let claim = issue(&grounded.vote.title, &grounded.vote.description);
        let quotes = grounded.vote.evidence.iter().map(String::as_str);
        let claim = std::iter::once(claim.as_str()).chain(quotes).collect::<Vec<_>>().join("\n");
        let Some((file, line)) = index.place(&claim) else { return };
        grounded.file = changed.files.keys().nth(file).cloned();
        grounded.lines = line.and_then(LineRange::at);
        grounded.marks.push(GroundingMark::PlacedByAssay);
    }

    /// Indexes the changed lines, and a few around them.
    fn index_change(&self, tree: &dyn Tree, changed: &ChangedLines) -> PlaceIndex {
        let views: Vec<Option<Rc<FileView>>> =
            changed.files.keys().map(|path| self.file_view(tree, path)).collect();
        let files = changed.files.keys().map(RepoPath::as_str);
        let hunks = changed.files.values().zip(&views).enumerate();
        let hunks =
            hunks.flat_map(|(file, (hunks, view))| hunks.iter().map(move |h| (file, h, view)));
        let lines = hunks.enumerate().flat_map(|(hunk, (file, lines, view))| {
            let shown = lines.start().saturating_sub(CONTEXT_LINES)..=lines.end() + CONTEXT_LINES;
            let all = view.iter().flat_map(|view| view.text.lines().zip(1u32..));
            all.filter(move |(_, line)| shown.contains(line)).map(move |(text, line)| IndexedLine {
                file,
                hunk,
                line,
                is_changed: (lines.start()..=lines.end()).contains(&line),
                text,
            })
        });
        PlaceIndex::of(files, lines)
    }

    /// Returns true if a file contains a quote that is long enough to prove anything.
    pub fn contains_quote(&self, path: &RepoPath, quote: &str) -> bool {
        let excerpts = Excerpt::all_of(&[quote.to_owned()]);
        let view = self.tree.and_then(|tree| self.file_view(tree, path));
        let is_found = |view: &FileView| {
            excerpts
                .iter()
                .flat_map(|excerpt| excerpt.find(view, LineRange::FIRST))
                .any(|lines| lines.is_some())
        };
        view.is_some_and(|view| is_found(&view))
    }

    /// Returns true if evidence quotes code and a file contains none of the quotes; false if the
    /// file cannot be read.
    pub fn lacks_all_quotes(&self, path: &RepoPath, evidence: &[String]) -> bool {
        let excerpts = Excerpt::all_of(evidence);
        let view = self.tree.and_then(|tree| self.file_view(tree, path));
        let lacks = |view: Rc<FileView>| !excerpts.iter().any(|excerpt| excerpt.is_in(&view));
        excerpts.iter().any(Excerpt::is_quote) && view.is_some_and(lacks)
    }

    fn check_tree(&self, tree: &dyn Tree, excerpts: &[Excerpt], grounded: &mut GroundedVote<'_>) {
        let personal = grounded.reviewer.kind == ReviewerKind::Persona;
        let Vote { confidence, is_compact, .. } = grounded.vote;
        let is_quoting = excerpts.iter().any(Excerpt::is_quote);
        if grounded.file.is_none() && is_quoting && personal {
            // A quote without a file proves nothing.
            grounded.marks.push(GroundingMark::QuoteNotFound);
            grounded.confidence = grounded.confidence.min(Confidence::MODERATE);
        }
        let stated = grounded.confidence;
        let located = self.locate(tree, grounded);
        let view = located.as_ref().and_then(|path| self.file_view(tree, path));
        // A rule read the file itself, so even a name on the stated line is the one that was meant.
        let is_of_rule = grounded.reviewer.kind == ReviewerKind::Rules;
        let stated_lines = grounded.lines.unwrap_or(LineRange::FIRST);
        let found = |view: &Rc<FileView>| -> Vec<Option<LineRange>> {
            let find = |excerpt: &Excerpt| match is_of_rule && excerpt.is_on(view, stated_lines) {
                true => vec![Some(stated_lines)],
                false => excerpt.find(view, stated_lines),
            };
            excerpts.iter().flat_map(find).collect()
        };
        let quotes = view.as_ref().map(found);
        // An entry without the form of a quote is a quote if the file contains it.
        let is_without_quote = quotes.as_ref().map_or(!is_quoting, Vec::is_empty);
        // A compact report has no room for evidence, so a missing quote costs no confidence.
        if is_without_quote && personal && confidence.is_some() && !is_compact {
            if stated > Confidence::MODERATE {
                grounded.marks.push(GroundingMark::NoQuote);
            }
            grounded.confidence = grounded.confidence.min(Confidence::MODERATE);
        }
        let Some(((path, view), quotes)) = located.zip(view).zip(quotes) else { return };
        self.check_quotes(&quotes, &view, grounded);
        if grounded.lines.is_some_and(|lines| lines.start() > view.len()) {
            // A quote would have corrected the line; without a quote, only the file is left.
            grounded.marks.push(GroundingMark::LineBeyondEnd);
            grounded.lines = None;
        }
        let may_lack_quotes = confidence.is_none() || *is_compact;
        if grounded.lines.is_none() && may_lack_quotes && personal {
            grounded.confidence = grounded.confidence.min(Confidence::MODERATE);
        }
        if let Some(lines) = grounded.lines {
            grounded.surroundings = Some(view.surroundings(lines.start()));
            grounded.line_hash = view.hash(lines.start());
            let symbol = self.record_error(tree.symbol_at(&path, lines.start())).flatten();
            grounded.symbol = symbol.map(|symbol| symbol.name);
        }
    }

    /// Finds the file of a vote: by its path as named, without the prefix that diffs write, or by
    /// the end of its path.
    fn locate(&self, tree: &dyn Tree, grounded: &mut GroundedVote<'_>) -> Option<RepoPath> {
        let path = grounded.file.clone()?;
        let Some(exists) = self.record_error(tree.exists(&path)) else {
            grounded.marks.push(GroundingMark::FileUnreadable);
            return None;
        };
        if exists {
            return Some(path);
        }
        let plain = DIFF_PREFIXES.iter().find_map(|prefix| path.as_str().strip_prefix(prefix));
        let plain = plain.and_then(|plain| RepoPath::exact(plain).ok());
        let is_there = |plain: &RepoPath| self.record_error(tree.exists(plain)).unwrap_or(false);
        if let Some(plain) = plain.filter(is_there) {
            grounded.file = Some(plain.clone());
            return Some(plain);
        }
        let ending = format!("/{path}");
        let Some(paths) = self.paths(tree) else {
            grounded.marks.push(GroundingMark::FileUnreadable);
            return None;
        };
        let mut matches = paths.iter().filter(|other| other.as_str().ends_with(&ending));
        match (matches.next(), matches.next()) {
            (Some(only), None) => {
                grounded.marks.push(GroundingMark::FileMoved);
                grounded.file = Some(only.clone());
                Some(only.clone())
            }
            _ => {
                grounded.marks.push(GroundingMark::FileNotFound);
                // A rule read the file itself, whatever bytes its name has.
                if grounded.reviewer.kind != ReviewerKind::Rules {
                    grounded.confidence = grounded.confidence.min(Confidence::LOW);
                }
                None
            }
        }
    }

    /// Returns the files of the tree, listed once.
    fn paths(&self, tree: &dyn Tree) -> Option<&[RepoPath]> {
        if self.paths.get().is_none() {
            let paths = self.record_error(tree.paths())?;
            return Some(self.paths.get_or_init(|| paths));
        }
        self.paths.get().map(Vec::as_slice)
    }

    fn file_view(&self, tree: &dyn Tree, path: &RepoPath) -> Option<Rc<FileView>> {
        if let Some(known) = self.files.borrow().get(path) {
            return known.clone();
        }
        let text = self.record_error(tree.read(path)).flatten();
        let view = text.map(|text| Rc::new(FileView::new(text)));
        self.files.borrow_mut().insert(path.clone(), view.clone());
        view
    }

    /// Compares the lines of a vote's quotes with the place that the vote names. A quote that the
    /// file does not contain is `None`.
    fn check_quotes(
        &self,
        quotes: &[Option<LineRange>],
        view: &FileView,
        grounded: &mut GroundedVote<'_>,
    ) {
        if quotes.is_empty() {
            return;
        }
        let stated = grounded.lines;
        let near = stated.map_or(1, LineRange::start);
        grounded.quoted_lines = quotes.iter().copied().collect();
        let found = quotes.iter().flatten().min_by_key(|lines| lines.start().abs_diff(near));
        let Some(found) = found else {
            grounded.marks.push(GroundingMark::QuoteNotFound);
            // A rule read the file itself; the text that the rule quotes may be redacted here.
            if grounded.reviewer.kind != ReviewerKind::Rules {
                grounded.confidence = grounded.confidence.min(Confidence::MODERATE);
            }
            return;
        };
        let at = found.start();
        grounded.is_backed = true;
        grounded.quote = view.line(at).map(str::to_owned);
        grounded.quoted = Some(view.text_of(*found));
        let kept = stated.is_some_and(|lines| lines.start() <= at && at <= lines.end());
        if !kept {
            grounded.marks.push(GroundingMark::LineMoved);
            grounded.lines = stated.map(|lines| lines.moved_to(at)).or_else(|| LineRange::at(at));
        }
    }

    /// Decides whether the defect of the vote is part of the change or older.
    fn check_change(&self, changed: &ChangedLines, grounded: &mut GroundedVote<'_>) {
        let Some(path) = &grounded.file else {
            if std::mem::take(&mut grounded.pre_existing) {
                grounded.marks.push(GroundingMark::OutsideTheHunks);
            }
            return;
        };
        let on_changed_line = match grounded.lines {
            Some(lines) => changed.touches(path, lines),
            None => changed.has_file(path),
        };
        if on_changed_line {
            grounded.pre_existing = false;
            return;
        }
        grounded.pre_existing = match grounded.reviewer.kind {
            ReviewerKind::Rules | ReviewerKind::Command => grounded.vote.fires_on_base,
            ReviewerKind::Persona => {
                grounded.vote.pre_existing && self.is_unchanged(changed, grounded)
            }
        };
        if !grounded.pre_existing {
            grounded.marks.push(GroundingMark::OutsideTheHunks);
        }
    }

    /// Returns true if a defect that a vote calls old is old: every quote of the vote is in the
    /// file, on unchanged lines, and the change did not touch the symbol around the vote. Without a
    /// tree, only the line itself is checked.
    fn is_unchanged(&self, changed: &ChangedLines, grounded: &GroundedVote<'_>) -> bool {
        let Some((path, lines)) = grounded.file.as_ref().zip(grounded.lines) else { return false };
        let Some(tree) = self.tree else { return true };
        let quotes_are_old = grounded.quoted_lines.as_ref().is_some_and(|quoted| {
            !quoted.is_empty() && !quoted.iter().any(|lines| changed.touches(path, *lines))
        });
        let Some(symbol) = self.record_error(tree.symbol_at(path, lines.start())) else {
            return false;
        };
        quotes_are_old && symbol.is_none_or(|symbol| !changed.touches(path, symbol.lines))
    }
}

/// Lowers the grade of a vote to the worst one that its reviewer may give.
fn cap_grade(grounded: &mut GroundedVote<'_>) {
    let Some(cap) = &grounded.reviewer.cap else { return };
    if grounded.grade.worst_first(cap) == Ordering::Less {
        grounded.grade = cap.clone();
        grounded.marks.push(GroundingMark::GradeCapped);
    }
}

/// Returns the confidence that a vote states, or the default of its reviewer's kind.
fn stated_confidence(vote: &Vote, reviewer: &Reviewer) -> Confidence {
    vote.confidence.unwrap_or(match reviewer.kind {
        ReviewerKind::Rules | ReviewerKind::Command => Confidence::CERTAIN,
        ReviewerKind::Persona if vote.file.is_some() && vote.lines.is_some() => Confidence::HIGH,
        ReviewerKind::Persona => Confidence::MODERATE,
    })
}
