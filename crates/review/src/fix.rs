//! Application of fixes: [`FixPlan`], computed and checked in memory, then written as a whole or
//! not at all.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use assay_findings::path::RepoPath;
use assay_findings::vote::Replacement;
use tempfile::NamedTempFile;

use crate::runs::{StoredFix, content_hash};

/// The reason why fixes could not be written. No file was changed.
#[derive(Debug, thiserror::Error)]
#[error("cannot write `{path}`; no file was changed")]
pub struct FixError {
    /// The path of the file.
    path: PathBuf,
    /// The error of the file system.
    source: io::Error,
}

/// The effect of fixes on the files of a work tree.
#[derive(Debug, Default)]
pub struct FixPlan {
    /// The files that change.
    pub files: Vec<FileFix>,
    /// The fixes that are not applied, each with the reason.
    pub refused: Vec<(StoredFix, String)>,
}

/// The effect of fixes on one file.
#[derive(Debug)]
pub struct FileFix {
    /// The path of the file.
    pub path: RepoPath,
    /// The text before.
    pub before: String,
    /// The text after.
    pub after: String,
    /// The fixes that are applied, from the top of the file down.
    pub fixes: Vec<StoredFix>,
}

impl FixPlan {
    /// Computes the effect of fixes on the files under a root. A fix is refused if the file has
    /// changed since the fix was made, if it overlaps another fix, or if the file would not parse
    /// afterwards.
    pub fn new(root: &Path, fixes: Vec<StoredFix>) -> FixPlan {
        let mut plan = FixPlan::default();
        let mut by_file: BTreeMap<RepoPath, Vec<StoredFix>> = BTreeMap::new();
        for fix in fixes {
            by_file.entry(fix.file.clone()).or_default().push(fix);
        }
        for (path, fixes) in by_file {
            match read(root, &path) {
                Ok(text) => plan.add(path, &text, fixes),
                Err(why) => plan.refuse(fixes, &why),
            }
        }
        plan
    }

    /// Computes the effect of fixes of one file on a text of it, which may not be saved.
    pub fn of_text(path: &RepoPath, text: &str, fixes: Vec<StoredFix>) -> FixPlan {
        let mut plan = FixPlan::default();
        plan.add(path.clone(), text, fixes);
        plan
    }

    fn refuse(&mut self, fixes: Vec<StoredFix>, why: &str) {
        self.refused.extend(fixes.into_iter().map(|fix| (fix, why.to_owned())));
    }

    fn add(&mut self, path: RepoPath, text: &str, mut fixes: Vec<StoredFix>) {
        let content = content_hash(text.as_bytes());
        let (current, stale) = fixes.drain(..).partition(|fix| fix.content == content);
        self.refuse(stale, "the file has changed since the review; review it again");
        let mut applied: Vec<StoredFix> = Vec::new();
        let mut after = text.to_owned();
        for fix in sort_by_line(current) {
            if applied.last().is_some_and(|last| overlaps(&last.replacement, &fix.replacement)) {
                self.refuse(
                    vec![fix],
                    "the fix overlaps another fix; apply that fix, then review again",
                );
                continue;
            }
            applied.push(fix);
            let tried = apply_to_text(text, &applied);
            if assay_rules::parses_as_well(path.as_str(), text, &tried) {
                after = tried;
            } else {
                let last = applied.pop().into_iter().collect();
                self.refuse(last, "the file would not parse after the fix");
            }
        }
        if !applied.is_empty() {
            self.files.push(FileFix { path, before: text.to_owned(), after, fixes: applied });
        }
    }

    /// Writes all files. If one cannot be written, those before it are restored.
    pub fn apply(&self, root: &Path) -> Result<(), FixError> {
        let fail = |path: &Path, source| FixError { path: path.to_owned(), source };
        let mut drafts = Vec::new();
        for file in &self.files {
            let path = root.join(file.path.as_str());
            let draft = write_temp(&path, &file.after).map_err(|source| fail(&path, source))?;
            drafts.push((path, draft, &file.before));
        }
        let mut done: Vec<(PathBuf, &str)> = Vec::new();
        for (path, draft, before) in drafts {
            if let Err(error) = draft.persist(&path) {
                restore(&done);
                return Err(fail(&path, error.error));
            }
            done.push((path, before));
        }
        Ok(())
    }
}

impl FixPlan {
    /// Restores the original text of all files.
    pub fn undo(&self, root: &Path) {
        let done: Vec<(PathBuf, &str)> = self
            .files
            .iter()
            .map(|file| (root.join(file.path.as_str()), file.before.as_str()))
            .collect();
        restore(&done);
    }
}

fn restore(done: &[(PathBuf, &str)]) {
    for (path, before) in done {
        // A file that was just written can most likely be written again; if not, git still has it.
        let _ = write_temp(path, before).and_then(|draft| draft.persist(path).map_err(|e| e.error));
    }
}

/// Writes a text to a temporary file in the folder of a file, with the permissions of that file.
fn write_temp(path: &Path, text: &str) -> io::Result<NamedTempFile> {
    let permissions = fs::metadata(path)?.permissions();
    let mut draft = NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    draft.write_all(text.as_bytes())?;
    draft.as_file().set_permissions(permissions)?;
    draft.as_file().sync_all()?;
    Ok(draft)
}

/// Reads a file that may be written to: a regular file, with no link in its path.
pub(crate) fn read(root: &Path, path: &RepoPath) -> Result<String, String> {
    let file = root.join(path.as_str());
    let kind = fs::symlink_metadata(&file).map(|metadata| metadata.file_type());
    let real = file.canonicalize().ok().zip(root.canonicalize().ok());
    match (kind, real) {
        (Ok(kind), Some((real, root))) if kind.is_file() && real == root.join(path.as_str()) => {
            let bytes = fs::read(&file).map_err(|error| error.to_string())?;
            String::from_utf8(bytes).map_err(|_| "the file is not UTF-8".to_owned())
        }
        (Ok(_), _) => Err("the path contains a symbolic link".to_owned()),
        (Err(error), _) => Err(format!("cannot read the file: {error}")),
    }
}

fn sort_by_line(mut fixes: Vec<StoredFix>) -> Vec<StoredFix> {
    fixes.sort_by_key(|fix| (fix.replacement.start_line(), fix.replacement.end_line()));
    fixes
}

fn overlaps(first: &Replacement, second: &Replacement) -> bool {
    second.start_line() <= first.end_line()
}

/// Applies fixes that are in order and do not overlap. The file's line ends are retained.
fn apply_to_text(text: &str, fixes: &[StoredFix]) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut texts: Vec<String> = Vec::new();
    let ends_in_crlf = lines.first().is_some_and(|line| line.ends_with("\r\n"));
    for fix in fixes {
        let new = fix.replacement.text();
        let plain = new.replace("\r\n", "\n");
        texts.push(if ends_in_crlf { plain.replace('\n', "\r\n") } else { new.to_owned() });
    }
    for (fix, new) in fixes.iter().zip(&texts).rev() {
        let from = fix.replacement.start_line() as usize - 1;
        let to = (fix.replacement.end_line() as usize).min(lines.len());
        if from <= to {
            lines.splice(from..to, [new.as_str()]);
        }
    }
    lines.concat()
}
