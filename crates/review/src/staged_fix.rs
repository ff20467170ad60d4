//! Fixes of staged files: [`StagedFixPlan`] changes the index and the work tree together. Unstaged
//! edits of the work tree stay.

use std::collections::BTreeMap;
use std::path::Path;

use assay_change::{Change, GitError, IndexEntry, StagedFiles};
use assay_findings::path::RepoPath;

use crate::fix::{FileFix, FixError, FixPlan, read};
use crate::runs::StoredFix;

/// The reason why staged files could not be fixed. No file was changed.
#[derive(Debug, thiserror::Error)]
pub enum StagedFixError {
    /// A file of the work tree cannot be written.
    #[error(transparent)]
    WorkTree(#[from] FixError),
    /// The index cannot be read or written.
    #[error("cannot change the index; no file was changed")]
    Index(#[from] GitError),
}

/// The effect of fixes on staged files.
#[derive(Debug)]
pub struct StagedFixPlan {
    /// The effect on the index.
    pub index: FixPlan,
    /// The files with unstaged edits, which stay.
    pub partly_staged: Vec<RepoPath>,
    work_tree: FixPlan,
    entries: Vec<EntryChange>,
    staged: StagedFiles,
}

/// The entry of a file in the index, before and after.
#[derive(Debug)]
struct EntryChange {
    before: IndexEntry,
    after: IndexEntry,
}

/// The effect of fixes on one file of the work tree.
enum WorkTreeEffect {
    Write(FileFix),
    /// The file was deleted in the work tree.
    Absent,
    Refuse(&'static str),
}

impl StagedFixPlan {
    /// Computes the effect of fixes on the staged files of a change. A fix is refused as in
    /// [`FixPlan::new`], and if an unstaged edit changes the same lines.
    pub fn new(
        change: &Change,
        staged: StagedFiles,
        fixes: Vec<StoredFix>,
    ) -> Result<StagedFixPlan, GitError> {
        let mut plan = StagedFixPlan {
            index: FixPlan::default(),
            partly_staged: Vec::new(),
            work_tree: FixPlan::default(),
            entries: Vec::new(),
            staged,
        };
        let mut by_file: BTreeMap<RepoPath, Vec<StoredFix>> = BTreeMap::new();
        for fix in fixes {
            by_file.entry(fix.file.clone()).or_default().push(fix);
        }
        for (path, fixes) in by_file {
            plan.add(change, &path, fixes)?;
        }
        Ok(plan)
    }

    fn add(
        &mut self,
        change: &Change,
        path: &RepoPath,
        fixes: Vec<StoredFix>,
    ) -> Result<(), GitError> {
        let text = change.tree().read(path).ok().flatten();
        let (Some(text), Some(entry)) = (text, self.staged.entry(path)?) else {
            self.refuse(fixes, "the file is not a staged text");
            return Ok(());
        };
        let mut possible = FixPlan::of_text(path, &text, fixes);
        self.index.refused.append(&mut possible.refused);
        let Some(file) = possible.files.pop() else { return Ok(()) };
        let mut kept: Vec<StoredFix> = Vec::new();
        let mut last = None;
        // Each fix that the work tree refuses leaves the others.
        for fix in file.fixes {
            let mut tried = kept.clone();
            tried.push(fix.clone());
            let Some(file) = FixPlan::of_text(path, &text, tried).files.pop() else { continue };
            match self.effect_on_work_tree(&change.root, &file)? {
                WorkTreeEffect::Refuse(why) => self.refuse(vec![fix], why),
                effect @ (WorkTreeEffect::Write(_) | WorkTreeEffect::Absent) => {
                    kept.push(fix);
                    last = Some((file, effect));
                }
            }
        }
        let Some((file, effect)) = last else { return Ok(()) };
        let after = self.staged.with_text(&entry, &file.after)?;
        self.entries.push(EntryChange { before: entry, after });
        if let WorkTreeEffect::Write(work_file) = effect {
            if work_file.before != file.before {
                self.partly_staged.push(path.clone());
            }
            self.work_tree.files.push(work_file);
        }
        self.index.files.push(file);
        Ok(())
    }

    fn refuse(&mut self, fixes: Vec<StoredFix>, why: &str) {
        self.index.refused.extend(fixes.into_iter().map(|fix| (fix, why.to_owned())));
    }

    fn effect_on_work_tree(&self, root: &Path, file: &FileFix) -> Result<WorkTreeEffect, GitError> {
        if root.join(file.path.as_str()).symlink_metadata().is_err() {
            return Ok(WorkTreeEffect::Absent);
        }
        let Ok(before) = read(root, &file.path) else {
            return Ok(WorkTreeEffect::Refuse(
                "the file of the work tree cannot be edited: it is no plain UTF-8 file",
            ));
        };
        let Some(after) = self.staged.merge(&file.before, &file.after, &before)? else {
            return Ok(WorkTreeEffect::Refuse(
                "an unstaged edit changes the same lines; stage or stash the edit first",
            ));
        };
        let (path, fixes) = (file.path.clone(), file.fixes.clone());
        Ok(WorkTreeEffect::Write(FileFix { path, before, after, fixes }))
    }

    /// Writes the work tree and then the index. If one of them fails, both stay as they were.
    pub fn apply(&self, root: &Path) -> Result<(), StagedFixError> {
        if self.entries.is_empty() {
            return Ok(());
        }
        self.work_tree.apply(root)?;
        let after: Vec<IndexEntry> = self.entries.iter().map(|entry| entry.after.clone()).collect();
        if let Err(error) = self.staged.replace(&after) {
            self.work_tree.undo(root);
            return Err(error.into());
        }
        Ok(())
    }

    /// Restores the index and the work tree.
    pub fn undo(&self, root: &Path) -> Result<(), StagedFixError> {
        let before: Vec<IndexEntry> =
            self.entries.iter().map(|entry| entry.before.clone()).collect();
        self.staged.replace(&before)?;
        self.work_tree.undo(root);
        Ok(())
    }
}
