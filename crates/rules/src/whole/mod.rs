//! Checks on the change as a whole, beyond single lines.
//!
//! A check of one file compares it before and after the change ([`FileCheck`]); a check of the
//! change uses the facts of every file ([`ChangeCheck`]). Each is a module and a line in its list.
//! The checks read no file that the change did not touch.

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
use assay_findings::grounding::TreeError;
use assay_findings::path::RepoPath;
use assay_findings::vote::{AutofixClass, LineRange, Owner, Vote};

pub(crate) use self::facts::Facts;
use crate::survey::Survey;
use crate::syntax::{Syntax, Touched};
use crate::wording::Wording;

/// A check of one file, before and after the change.
struct FileCheck {
    wording: Wording,
    look: fn(&View<'_>) -> Vec<Sighting>,
}

const FILE_CHECKS: &[FileCheck] =
    &[tests_gone::WEAKENED, migration::CHECK, shape::TOO_LONG, shape::TOO_DEEP];

/// A check of all files of a change.
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

/// The checks that need no syntax tree to find everything.
pub(crate) const ON_TEXT: [&str; 4] = [
    migration::CHECK.wording.id,
    lock_file::CHECK.wording.id,
    generated::CHECK.wording.id,
    state::CHECK.wording.id,
];

/// A place where a check fires.
struct Sighting {
    file: Option<String>,
    lines: Option<LineRange>,
    /// A text that precedes the check's message.
    note: String,
    /// The identity of the finding, in addition to the check.
    subject: String,
}

/// A changed file, before and after.
pub(crate) struct View<'c> {
    pub(crate) change: &'c Change,
    pub(crate) file: &'c FileDiff,
    /// The text after the change; `None` if the file is deleted.
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

    /// Returns the text before the change, read on the first call.
    fn before(&self) -> Option<&str> {
        let path = || RepoPath::exact(self.file.old_path.as_deref()?).ok();
        let read = || path().map_or(Ok(None), |path| self.change.base().read(&path));
        self.before.get_or_init(read).as_ref().ok()?.as_deref()
    }

    /// Returns true if the change breaks the syntax of the file: it has errors now, at any place,
    /// and had none before.
    pub(crate) fn is_broken_by_change(&self, now: &Syntax) -> bool {
        let was_whole = || self.before().and_then(|text| Syntax::of(self.file.path(), text));
        !now.is_whole() && was_whole().is_some_and(|before| before.is_whole())
    }

    /// Returns the error of reading the text before the change, if a check requested that text.
    pub(crate) fn before_error(&self) -> Option<&TreeError> {
        self.before.get()?.as_ref().err()
    }

    /// Returns the first added line within some lines.
    fn first_added(&self, within: LineRange) -> Option<u32> {
        let within_it = Touched::new([within]);
        let added = self.file.added().find(|added| within_it.meets(*added))?;
        Some(added.start().max(within.start()))
    }

    /// Runs the checks of one file on it.
    pub(crate) fn votes(&self) -> Vec<Vote> {
        let seen = FILE_CHECKS
            .iter()
            .flat_map(|check| (check.look)(self).into_iter().map(|seen| seen.vote(&check.wording)));
        seen.collect()
    }
}

/// A change, with the facts of its files.
pub(crate) struct Whole<'c> {
    pub(crate) change: &'c Change,
    /// The facts, in the order of the change; `None` for files that are not reviewed.
    pub(crate) facts: Vec<Option<Facts>>,
}

impl Whole<'_> {
    /// Returns the reviewed files, with their facts.
    fn known(&self) -> impl Iterator<Item = (&FileDiff, &Facts)> {
        let files = self.change.files.iter().zip(&self.facts);
        files.filter_map(|(file, facts)| Some((file, facts.as_ref()?)))
    }

    /// Runs the checks of the change on it.
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
