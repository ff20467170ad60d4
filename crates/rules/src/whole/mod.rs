//! Checks on the change as a whole: what single lines cannot tell.
//!
//! A check is one entry in [`CHECKS`] and a module that knows how to see it. They compare the files
//! before and after, and look at no file that the change did not touch.

mod duplicate;
mod generated;
mod lock_file;
mod migration;
mod shape;
mod tests_gone;
mod untested;

use assay_change::Change;
use assay_change::diff::{Content, FileDiff};
use assay_findings::path::RepoPath;
use assay_findings::vote::{AutofixClass, Lines, Owner, Vote};

use crate::language;
use crate::syntax::Touched;
use crate::wording::Wording;

/// A check on a whole change.
struct Check {
    wording: Wording,
    look: fn(&Whole<'_>) -> Vec<Sighting>,
}

/// Where a check fires.
struct Sighting {
    file: Option<String>,
    lines: Option<Lines>,
    /// What is said before the check's message.
    note: String,
    /// What it is told again by, besides the check and the file.
    subject: String,
}

/// A change with its files' texts.
pub(crate) struct Whole<'c> {
    change: &'c Change,
    files: Vec<&'c FileDiff>,
}

impl<'c> Whole<'c> {
    fn before(&self, file: &FileDiff) -> Option<String> {
        let path = RepoPath::exact(file.old_path.as_deref()?).ok()?;
        self.change.base().read(&path)
    }

    fn after(&self, file: &FileDiff) -> Option<String> {
        let path = RepoPath::exact(file.new_path.as_deref()?).ok()?;
        self.change.tree().read(&path)
    }

    /// Gives the source files that are no tests.
    fn code(&self) -> impl Iterator<Item = &'c FileDiff> {
        self.files.iter().copied().filter(|file| {
            let path = file.path();
            language::is_code(path) && !language::is_test(path)
        })
    }

    /// Gives the files that hold tests.
    fn tests(&self) -> impl Iterator<Item = &'c FileDiff> {
        self.files
            .iter()
            .copied()
            .filter(|file| language::is_code(file.path()) && language::is_test(file.path()))
    }
}

/// Gives the first added line among some lines.
fn first_added(file: &FileDiff, within: Lines) -> Option<u32> {
    file.added().find(|a| Touched::new([within]).meets(*a)).map(|a| a.start().max(within.start()))
}

const CHECKS: &[Check] = &[
    untested::CHECK,
    tests_gone::FILE_DELETED,
    tests_gone::TESTS_REMOVED,
    tests_gone::WEAKENED,
    migration::CHECK,
    lock_file::CHECK,
    generated::CHECK,
    shape::TOO_LONG,
    shape::TOO_DEEP,
    duplicate::CHECK,
];

/// Holds every check against a change.
pub(crate) fn look(change: &Change) -> Vec<Vote> {
    let files =
        change.files.iter().filter(|file| file.left_out.is_none() && file.content == Content::Text);
    let whole = Whole { change, files: files.collect() };
    CHECKS
        .iter()
        .flat_map(|check| (check.look)(&whole).into_iter().map(|seen| check.vote(seen)))
        .collect()
}

impl Check {
    fn vote(&self, seen: Sighting) -> Vote {
        let about = self.wording.about();
        let mut vote = Vote::new(about.title, about.grade);
        vote.description = format!("{} {}", seen.note, about.message).trim().to_owned();
        vote.subject = Some(seen.subject);
        vote.file = seen.file.and_then(|file| RepoPath::exact(&file).ok());
        vote.lines = seen.lines;
        vote.rule = Some(about.id);
        vote.category = Some(about.category);
        vote.suggested_fix = about.advice;
        vote.autofix_class = Some(AutofixClass::Manual);
        vote.owner = Some(Owner::DownstreamResolver);
        vote
    }
}
