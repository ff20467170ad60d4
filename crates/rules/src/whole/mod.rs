//! Checks on the change as a whole: what single lines cannot tell.
//!
//! A check of one file compares it before and after ([`FileCheck`]); one of the change looks at what
//! was learned of every file ([`ChangeCheck`]). Each is a module and a line in its list. No file is
//! read for them that the change did not touch.

mod duplicate;
mod facts;
mod generated;
mod lock_file;
mod migration;
mod orders;
mod shape;
mod state;
mod tests_gone;
mod untested;

use std::cell::OnceCell;

use assay_change::Change;
use assay_change::diff::FileDiff;
use assay_findings::ground::TreeError;
use assay_findings::path::RepoPath;
use assay_findings::vote::{AutofixClass, Lines, Owner, Vote};

pub(crate) use self::facts::Facts;
use crate::survey::Survey;
use crate::syntax::{Syntax, Touched};
use crate::wording::Wording;

/// A check that looks at one file before and after.
struct FileCheck {
    wording: Wording,
    look: fn(&View<'_>) -> Vec<Sighting>,
}

const FILE_CHECKS: &[FileCheck] =
    &[tests_gone::WEAKENED, migration::CHECK, shape::TOO_LONG, shape::TOO_DEEP];

/// A check that looks at all files of a change.
struct ChangeCheck {
    wording: Wording,
    look: fn(&Whole<'_>) -> Vec<Sighting>,
}

const CHANGE_CHECKS: &[ChangeCheck] = &[
    untested::CHECK,
    tests_gone::FILE_DELETED,
    tests_gone::REMOVED,
    lock_file::CHECK,
    generated::CHECK,
    duplicate::CHECK,
    orders::CHECK,
    state::CHECK,
];

/// Those that need no syntax tree to see all that they can.
pub(crate) const ON_TEXT: [&str; 4] = [
    migration::CHECK.wording.id,
    lock_file::CHECK.wording.id,
    generated::CHECK.wording.id,
    state::CHECK.wording.id,
];

/// Where a check fires.
struct Sighting {
    file: Option<String>,
    lines: Option<Lines>,
    /// What is said before the check's message.
    note: String,
    /// What it is told again by, besides the check.
    subject: String,
}

/// A changed file, before and after.
pub(crate) struct View<'c> {
    pub(crate) change: &'c Change,
    pub(crate) file: &'c FileDiff,
    /// Its text after; `None` where it is deleted.
    pub(crate) after: Option<&'c str>,
    pub(crate) survey: Option<&'c Survey>,
    before: OnceCell<Result<Option<String>, TreeError>>,
}

impl<'c> View<'c> {
    pub(crate) fn new(
        change: &'c Change,
        file: &'c FileDiff,
        after: Option<&'c str>,
        survey: Option<&'c Survey>,
    ) -> View<'c> {
        View { change, file, after, survey, before: OnceCell::new() }
    }

    /// Returns its text before, read when it is first asked for.
    fn before(&self) -> Option<&str> {
        let path = || RepoPath::exact(self.file.old_path.as_deref()?).ok();
        let read = || path().map_or(Ok(None), |path| self.change.base().read(&path));
        self.before.get_or_init(read).as_ref().ok()?.as_deref()
    }

    /// Returns true if the file parses no more since the change: it has errors now, wherever they
    /// stand, and had none before.
    pub(crate) fn is_broken_by_change(&self, now: &Syntax) -> bool {
        let was_whole = || self.before().and_then(|text| Syntax::of(self.file.path(), text));
        !now.is_whole() && was_whole().is_some_and(|before| before.is_whole())
    }

    /// Returns why its text before could not be read, where a check asked for that text in vain.
    pub(crate) fn before_error(&self) -> Option<&TreeError> {
        self.before.get()?.as_ref().err()
    }

    /// Gives the first added line among some lines.
    fn first_added(&self, within: Lines) -> Option<u32> {
        let within_it = Touched::new([within]);
        let added = self.file.added().find(|added| within_it.meets(*added))?;
        Some(added.start().max(within.start()))
    }

    /// Holds the checks of one file against it.
    pub(crate) fn votes(&self) -> Vec<Vote> {
        let seen = FILE_CHECKS
            .iter()
            .flat_map(|check| (check.look)(self).into_iter().map(|seen| seen.vote(&check.wording)));
        seen.collect()
    }
}

/// A change, with what was learned of its files.
pub(crate) struct Whole<'c> {
    pub(crate) change: &'c Change,
    /// In the order of the change; `None` for files that nobody looked at.
    pub(crate) facts: Vec<Option<Facts>>,
}

impl Whole<'_> {
    /// Gives the files that somebody looked at, with what was learned of them.
    fn known(&self) -> impl Iterator<Item = (&FileDiff, &Facts)> {
        let files = self.change.files.iter().zip(&self.facts);
        files.filter_map(|(file, facts)| Some((file, facts.as_ref()?)))
    }

    /// Holds the checks of the change against it.
    pub(crate) fn votes(&self) -> Vec<Vote> {
        let seen = CHANGE_CHECKS
            .iter()
            .flat_map(|check| (check.look)(self).into_iter().map(|seen| seen.vote(&check.wording)));
        seen.collect()
    }
}

impl Sighting {
    fn vote(self, wording: &Wording) -> Vote {
        let about = wording.about();
        let mut vote = Vote::new(about.title, about.grade);
        vote.description = format!("{} {}", self.note, about.message).trim().to_owned();
        vote.subject = Some(self.subject);
        vote.file = self.file.and_then(|file| RepoPath::exact(&file).ok());
        vote.lines = self.lines;
        vote.rule = Some(about.id);
        vote.category = Some(about.category);
        vote.suggested_fix = about.advice;
        vote.autofix_class = Some(AutofixClass::Manual);
        vote.owner = Some(Owner::DownstreamResolver);
        vote
    }
}
