//! Checks on the change as a whole, beyond single lines.
//!
//! A check of one file compares it before and after the change ([`FileCheck`]); a check of the
//! change uses the facts of every file ([`ChangeCheck`]). Each is a module and a line in its list.
//! The checks read no file that the change did not touch.

mod changed_code;
mod committed_state;
mod complexity;
mod duplicate;
mod file_facts;
mod generated;
mod guard_forms;
mod lock_file;
mod loosened_conditions;
mod migration;
mod prompt_injection;
mod removed_cleaning;
mod removed_guards;
mod removed_settings;
mod removed_tests;
mod untested;
mod weakened_tests;
mod weaker_calls;

use std::cell::OnceCell;

use assay_change::Change;
use assay_change::diff::{FileDiff, Hunk};
use assay_findings::grounding::TreeError;
use assay_findings::path::RepoPath;
use assay_findings::vote::{AutofixClass, LineRange, Owner, Vote};

pub(crate) use self::file_facts::FileFacts;
use crate::language;
use crate::rule_text::RuleText;
use crate::syntax::{LineSet, Syntax};
use crate::tree_facts::TreeFacts;

/// A check of one file, before and after the change.
struct FileCheck {
    rule_text: RuleText,
    find: fn(&ChangedFile<'_>) -> Vec<CheckMatch>,
}

const FILE_CHECKS: &[FileCheck] = &[
    weakened_tests::CHECK,
    removed_guards::CHECK,
    removed_settings::CHECK,
    weaker_calls::CHECK,
    loosened_conditions::CHECK,
    removed_cleaning::CHECK,
    migration::CHECK,
    complexity::TOO_LONG,
    complexity::TOO_DEEP,
];

/// A check of all files of a change.
struct ChangeCheck {
    rule_text: RuleText,
    find: fn(&ChangeFacts<'_>) -> Vec<CheckMatch>,
}

const CHANGE_CHECKS: &[ChangeCheck] = &[
    untested::CHECK,
    removed_tests::FILE_DELETED,
    removed_tests::REMOVED,
    lock_file::CHECK,
    generated::CHECK,
    duplicate::CHECK,
    prompt_injection::CHECK,
    committed_state::CHECK,
];

/// The checks of an edit: in a review of all files, no file has a version before.
const EDIT_CHECKS: [&str; 3] =
    [untested::CHECK.rule_text.id, lock_file::CHECK.rule_text.id, generated::CHECK.rule_text.id];

/// Returns the texts of all checks.
pub(crate) fn rule_texts() -> impl Iterator<Item = RuleText> {
    let of_files = FILE_CHECKS.iter().map(|check| check.rule_text);
    of_files.chain(CHANGE_CHECKS.iter().map(|check| check.rule_text))
}

/// The checks that need no syntax tree to find everything.
pub(crate) const TEXT_CHECKS: [&str; 4] = [
    migration::CHECK.rule_text.id,
    lock_file::CHECK.rule_text.id,
    generated::CHECK.rule_text.id,
    committed_state::CHECK.rule_text.id,
];

/// A place where a check fires.
struct CheckMatch {
    file: Option<String>,
    lines: Option<LineRange>,
    /// A text that precedes the check's message.
    note: String,
    /// The identity of the finding, in addition to the check.
    subject: String,
}

/// A changed file, before and after.
pub(crate) struct ChangedFile<'c> {
    pub(crate) change: &'c Change,
    pub(crate) file: &'c FileDiff,
    /// The text after the change; `None` if the file is deleted.
    pub(crate) after: Option<&'c str>,
    after_syntax: Option<&'c Syntax>,
    pub(crate) tree_facts: Option<&'c TreeFacts>,
    before: OnceCell<Result<Option<String>, TreeError>>,
    before_syntax: OnceCell<Option<Syntax>>,
}

impl<'c> ChangedFile<'c> {
    /// Returns a file without its text after the change, such as a deleted file.
    pub(crate) fn new(change: &'c Change, file: &'c FileDiff) -> ChangedFile<'c> {
        ChangedFile {
            change,
            file,
            after: None,
            after_syntax: None,
            tree_facts: None,
            before: OnceCell::new(),
            before_syntax: OnceCell::new(),
        }
    }

    /// Adds the text after the change.
    pub(crate) fn with_after(
        self,
        text: &'c str,
        syntax: Option<&'c Syntax>,
        tree_facts: Option<&'c TreeFacts>,
    ) -> ChangedFile<'c> {
        ChangedFile { after: Some(text), after_syntax: syntax, tree_facts, ..self }
    }

    /// Returns the syntax before the change, parsed on the first call.
    fn before_syntax(&self) -> Option<&Syntax> {
        let parse = || Syntax::of(self.file.path(), self.before()?);
        self.before_syntax.get_or_init(parse).as_ref()
    }

    /// Returns the text before the change, read on the first call.
    pub(crate) fn before(&self) -> Option<&str> {
        let path = || RepoPath::exact(self.file.old_path.as_deref()?).ok();
        let read = || path().map_or(Ok(None), |path| self.change.base().read(&path));
        self.before.get_or_init(read).as_ref().ok()?.as_deref()
    }

    /// Returns the text after the change of code that the change removes lines of; `None` for tests and
    /// files that are no code.
    fn edited_code(&self) -> Option<&'c str> {
        let path = self.file.path();
        let is_code = language::is_code(path) && !language::is_test(path);
        let is_edited = self.file.old_path.is_some() && self.file.removed().next().is_some();
        self.after.filter(|_| is_code && is_edited)
    }

    /// Returns the hunk that removes a line.
    fn hunk_without(&self, removed: u32) -> Option<&'c Hunk> {
        let holds = |lines: &LineRange| lines.start() <= removed && removed <= lines.end();
        self.file.hunks.iter().find(|hunk| hunk.removed.iter().any(holds))
    }

    /// Returns true if the change breaks the syntax of the file: it has errors now, at any place,
    /// and had none before.
    pub(crate) fn is_broken_by_change(&self, now: &Syntax) -> bool {
        !now.is_whole() && self.before_syntax().is_some_and(Syntax::is_whole)
    }

    /// Returns the error of reading the text before the change, if a check requested that text.
    pub(crate) fn before_error(&self) -> Option<&TreeError> {
        self.before.get()?.as_ref().err()
    }

    /// Returns the first added line within some lines.
    fn first_added(&self, within: LineRange) -> Option<u32> {
        let within_it = LineSet::new([within]);
        let added = self.file.added().find(|added| within_it.overlaps(*added))?;
        Some(added.start().max(within.start()))
    }

    /// Returns the first line within some lines that the change adds, or at which the change removes
    /// lines. Lines may be removed at the end, where no line follows.
    fn first_changed(&self, within: LineRange) -> Option<u32> {
        let removed =
            self.file.hunks.iter().flat_map(|hunk| {
                hunk.removed.iter().map(|lines| hunk.place_of_removed(lines.start()))
            });
        let places = within.start()..=within.end().saturating_add(1);
        let removed = removed.filter(|line| places.contains(line)).map(|it| it.min(within.end()));
        self.first_added(within).into_iter().chain(removed).min()
    }

    /// Runs the checks of one file on it.
    pub(crate) fn votes(&self) -> Vec<Vote> {
        let seen = FILE_CHECKS.iter().flat_map(|check| {
            (check.find)(self).into_iter().map(|seen| seen.vote(&check.rule_text))
        });
        seen.collect()
    }
}

/// A change, with the facts of its files.
pub(crate) struct ChangeFacts<'c> {
    pub(crate) change: &'c Change,
    /// The facts, in the order of the change; `None` for files that are not reviewed.
    pub(crate) facts: Vec<Option<FileFacts>>,
}

impl ChangeFacts<'_> {
    /// Returns the reviewed files, with their facts.
    fn reviewed_files(&self) -> impl Iterator<Item = (&FileDiff, &FileFacts)> {
        let files = self.change.files.iter().zip(&self.facts);
        files.filter_map(|(file, facts)| Some((file, facts.as_ref()?)))
    }

    /// Runs the checks of the change on it.
    pub(crate) fn votes(&self) -> Vec<Vote> {
        let applies = |check: &&ChangeCheck| {
            !self.change.is_whole_tree || !EDIT_CHECKS.contains(&check.rule_text.id)
        };
        let seen = CHANGE_CHECKS.iter().filter(applies).flat_map(|check| {
            (check.find)(self).into_iter().map(|seen| seen.vote(&check.rule_text))
        });
        seen.collect()
    }
}

impl CheckMatch {
    fn vote(self, rule_text: &RuleText) -> Vote {
        let about = rule_text.info();
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
