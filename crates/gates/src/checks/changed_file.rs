//! Files as a change leaves them: [`ChangedFileText`].

use assay_change::diff::{Content, FileDiff};
use assay_findings::path::RepoPath;

use super::Target;
use crate::item::Scope;
use crate::quote::shown;
use crate::result::CheckResult;
use crate::subject::Subject;

/// A changed file, with its text after the change.
pub(super) struct ChangedFileText<'c> {
    pub(super) path: &'c str,
    pub(super) file: &'c FileDiff,
    pub(super) text: String,
}

impl ChangedFileText<'_> {
    /// Returns the added lines, each with its number.
    pub(super) fn added(&self) -> Vec<(u32, &str)> {
        let lines: Vec<&str> = self.text.lines().collect();
        let numbers = self.file.added().flat_map(|lines| lines.start()..=lines.end());
        let line = |number: u32| Some((number, *lines.get((number as usize).checked_sub(1)?)?));
        numbers.map_while(line).collect()
    }
}

/// Returns the text files that exist after the change.
pub(super) fn files<'a>(subject: &Subject<'a>) -> impl Iterator<Item = &'a FileDiff> {
    let files = subject.change.into_iter().flat_map(|change| &change.files);
    let is_text = |file: &&FileDiff| matches!(file.content, Content::Text | Content::Unread(_));
    files.filter(|file| file.new_path.is_some() && file.left_out.is_none()).filter(is_text)
}

/// Returns a target for each of these files.
pub(super) fn targets(subject: &Subject<'_>, check: &str) -> Vec<Target> {
    files(subject).map(|file| Target::file(file.path(), check)).collect()
}

/// Checks the file that a scope names. Returns `NotChecked` if the file cannot be read.
pub(super) fn look(
    subject: &Subject<'_>,
    scope: &Scope,
    see: impl FnOnce(&ChangedFileText<'_>) -> CheckResult,
) -> CheckResult {
    let (Some(change), Scope::File { path, .. }) = (subject.change, scope) else {
        return no_change(scope);
    };
    let Some(file) = subject.file(path) else { return no_change(scope) };
    if let Content::Unread(_) = file.content {
        return CheckResult::NotChecked("the diff of the file could not be read".to_owned());
    }
    match RepoPath::exact(path).map_or(Ok(None), |path| change.tree().read(&path)) {
        Ok(Some(text)) => see(&ChangedFileText { path, file, text }),
        Ok(None) => CheckResult::NotChecked("the file could not be read".to_owned()),
        Err(error) => CheckResult::NotChecked(error.to_string()),
    }
}

pub(super) fn no_change(scope: &Scope) -> CheckResult {
    CheckResult::NotChecked(format!("no change to check for `{}`", shown(&scope.to_string())))
}
