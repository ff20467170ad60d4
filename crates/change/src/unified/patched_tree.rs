//! A tree as it would be after diffs: [`PatchedTree`]. Nothing is written, and no process is
//! started.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assay_findings::grounding::Tree;
use assay_findings::path::RepoPath;
use assay_findings::vote::LineRange;

use super::hunks::apply;
use super::patched_line::{Budget, LineOrigin, PatchedLine};
use super::{FilePatch, LineEnd, Misfit, MisfitKind, MovedHunk};
use crate::diff::{FileDiff, Hunk, Origin, Span};
use crate::{Change, RecordedChange};

/// The maximum number of misfits that are reported per file.
const MAX_MISFITS: usize = 20;

/// The maximum number of lines that are moved or compared for all diffs. Diffs of people need a
/// hundredth of it.
const MAX_WORK: usize = 1 << 26;

/// The files that diffs change, in their state after the diffs.
#[derive(Debug, Default)]
pub struct PatchedTree {
    /// The touched files; `None` for one that is deleted or moved away.
    files: BTreeMap<RepoPath, Option<PatchedFile>>,
    /// The texts before the diffs of the touched files, including those that are deleted or moved.
    before: BTreeMap<RepoPath, String>,
    /// The hunks that do not fit, by path.
    misfits: BTreeMap<String, Vec<Misfit>>,
    /// The hunks that fit at another line than they state, by path.
    moved: BTreeMap<String, Vec<MovedHunk>>,
}

/// A changed file.
#[derive(Debug, Clone)]
struct PatchedFile {
    lines: Vec<PatchedLine>,
    /// The line end of the file.
    end: LineEnd,
    /// The source of the file, and its kind; `None` for a new file.
    from: Option<(RepoPath, Origin)>,
}

impl PatchedFile {
    fn read(text: &str, from: Option<(RepoPath, Origin)>) -> PatchedFile {
        let numbered = text.split_inclusive('\n').zip(1u32..);
        let lines: Vec<PatchedLine> = numbered
            .map(|(line, number)| PatchedLine {
                whole: line.to_owned(),
                origin: LineOrigin::Before(number),
            })
            .collect();
        let is_returned = lines.first().is_some_and(|line| line.whole.ends_with("\r\n"));
        PatchedFile {
            lines,
            end: if is_returned { LineEnd::ReturnFeed } else { LineEnd::Feed },
            from,
        }
    }

    fn full_text(&self) -> String {
        self.lines.iter().map(|line| line.whole.as_str()).collect()
    }
}

impl PatchedTree {
    /// Applies the files of diffs to a tree, in order.
    pub fn of<'p, 't: 'p>(
        tree: &dyn Tree,
        files: impl IntoIterator<Item = &'p FilePatch<'t>>,
    ) -> PatchedTree {
        let mut patched = PatchedTree::default();
        let mut budget = Budget(MAX_WORK);
        for file in files {
            if let Err(kind) = patched.apply(tree, file, &mut budget) {
                patched.report(file.path(), Misfit { line: file.line, kind });
            }
        }
        patched
    }

    /// Returns the hunks of a file that do not fit.
    pub fn misfits(&self, path: &str) -> &[Misfit] {
        self.misfits.get(path).map_or(&[], Vec::as_slice)
    }

    /// Returns the hunks of a file that fit at another line than they state.
    pub fn moved_hunks(&self, path: &str) -> &[MovedHunk] {
        self.moved.get(path).map_or(&[], Vec::as_slice)
    }

    /// Returns the origin of a line in a file after the diffs.
    pub fn origin(&self, path: &RepoPath, line: u32) -> Option<LineOrigin> {
        let text = self.files.get(path)?.as_ref()?;
        Some(text.lines.get((line as usize).checked_sub(1)?)?.origin)
    }

    /// Returns the text of a file after the diffs, if they touch the file and do not delete it.
    pub fn text(&self, path: &RepoPath) -> Option<String> {
        Some(self.files.get(path)?.as_ref()?.full_text())
    }

    fn report(&mut self, path: &str, misfit: Misfit) {
        let misfits = self.misfits.entry(path.to_owned()).or_default();
        if misfits.len() < MAX_MISFITS {
            misfits.push(misfit);
        }
    }

    fn apply(
        &mut self,
        tree: &dyn Tree,
        file: &FilePatch<'_>,
        budget: &mut Budget,
    ) -> Result<(), MisfitKind> {
        if budget.is_spent() {
            return Err(MisfitKind::TooMuchBefore);
        }
        let Some(old) = &file.old else { return self.create(tree, file, budget) };
        let is_moved = file.new.as_ref().is_some_and(|new| new != old);
        if let Some(new) = file.new.as_ref().filter(|_| is_moved)
            && self.exists(tree, new)?
        {
            return Err(MisfitKind::TargetExists(new.clone()));
        }
        let keeps_old = file.origin == Origin::Copied;
        let Some(mut text) = self.take(tree, old, keeps_old, budget)? else {
            if file.new.as_ref() == Some(old) && only_adds(file) && !self.exists(tree, old)? {
                return self.create(tree, file, budget);
            }
            return Err(self.absence(tree, old)?);
        };
        text.lines = self.patched(text.lines, file, text.end, budget);
        match &file.new {
            None if text.lines.is_empty() => Ok(()),
            None => {
                let left = text.lines.len();
                self.files.insert(old.clone(), Some(text));
                Err(MisfitKind::LinesLeft(left))
            }
            Some(new) => {
                if is_moved && text.from.as_ref().is_some_and(|(from, _)| from == old) {
                    text.from = Some((old.clone(), file.origin));
                }
                self.files.insert(new.clone(), Some(text));
                Ok(())
            }
        }
    }

    fn create(
        &mut self,
        tree: &dyn Tree,
        file: &FilePatch<'_>,
        budget: &mut Budget,
    ) -> Result<(), MisfitKind> {
        let Some(new) = &file.new else { return Ok(()) };
        if self.exists(tree, new)? {
            return Err(MisfitKind::Exists);
        }
        let returned = file.hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| line.end).next();
        let end = returned.filter(|end| *end == LineEnd::ReturnFeed).unwrap_or(LineEnd::Feed);
        let lines = self.patched(Vec::new(), file, end, budget);
        self.files.insert(new.clone(), Some(PatchedFile { lines, end, from: None }));
        Ok(())
    }

    fn patched(
        &mut self,
        before: Vec<PatchedLine>,
        file: &FilePatch<'_>,
        end: LineEnd,
        budget: &mut Budget,
    ) -> Vec<PatchedLine> {
        let applied = apply(before, file, end, budget);
        for misfit in applied.misfits {
            self.report(file.path(), misfit);
        }
        if !applied.moved.is_empty() {
            self.moved.entry(file.path().to_owned()).or_default().extend(applied.moved);
        }
        applied.lines
    }

    fn exists(&self, tree: &dyn Tree, path: &RepoPath) -> Result<bool, MisfitKind> {
        match self.files.get(path) {
            Some(file) => Ok(file.is_some()),
            None => Ok(tree.exists(path)?),
        }
    }

    /// Removes a file from the patched tree and returns it; returns a copy if `keeps` is true.
    fn take(
        &mut self,
        tree: &dyn Tree,
        path: &RepoPath,
        keeps: bool,
        budget: &mut Budget,
    ) -> Result<Option<PatchedFile>, MisfitKind> {
        if !self.files.contains_key(path) {
            let Some(text) = tree.read(path)? else { return Ok(None) };
            let read = PatchedFile::read(&text, Some((path.clone(), Origin::Same)));
            self.before.insert(path.clone(), text);
            self.files.insert(path.clone(), Some(read));
        }
        let Some(file) = self.files.get_mut(path) else { return Ok(None) };
        if !keeps {
            return Ok(file.take());
        }
        budget.spend(file.as_ref().map_or(0, |text| text.lines.len()));
        Ok(file.clone())
    }

    /// Returns the reason that a file cannot be read.
    fn absence(&self, tree: &dyn Tree, path: &RepoPath) -> Result<MisfitKind, MisfitKind> {
        if self.files.contains_key(path) {
            return Ok(MisfitKind::TakenAway(path.clone()));
        }
        Ok(match self.exists(tree, path)? {
            true => MisfitKind::NotText(path.clone()),
            false => MisfitKind::NoFile(path.clone()),
        })
    }

    /// Returns the change that the diffs make, with a title and the root of a repository. Its trees
    /// also have the files in `others`.
    pub fn change(&self, title: &str, root: &Path, others: BTreeMap<RepoPath, String>) -> Change {
        let made = self.files.values().flatten().filter_map(|text| text.from.as_ref());
        let renamed = made.filter(|(_, origin)| *origin == Origin::Renamed);
        let renamed: BTreeSet<&RepoPath> = renamed.map(|(path, _)| path).collect();
        let files = self.files.iter().filter_map(|(path, text)| match text {
            Some(text) => Some(self.diff(path, text)),
            None if renamed.contains(path) => None,
            None => self.deletion(path),
        });
        let files = files.collect();
        let after = self.files.iter();
        let after =
            after.filter_map(|(path, text)| Some((path.clone(), text.as_ref()?.full_text())));
        let after = others.clone().into_iter().chain(after).collect();
        let before = others.into_iter().chain(self.before.clone()).collect();
        let recorded = RecordedChange::from_files(title.to_owned(), files, before, after);
        recorded.open(root.to_owned())
    }

    /// Returns the diff of a deleted file, or `None` if the diffs themselves had created it.
    fn deletion(&self, path: &RepoPath) -> Option<FileDiff> {
        let count = self.before.get(path)?.split_inclusive('\n').count();
        let old_path = Some(path.to_string());
        Some(FileDiff { old_path, hunks: hunks(&[], count), ..FileDiff::default() })
    }

    fn diff(&self, path: &RepoPath, text: &PatchedFile) -> FileDiff {
        let (old, origin) = match &text.from {
            Some((old, origin)) => (Some(old), *origin),
            None => (self.before.get(path).map(|_| path), Origin::Same),
        };
        let count = old.and_then(|old| self.before.get(old));
        let count = count.map_or(0, |text| text.split_inclusive('\n').count());
        FileDiff {
            old_path: old.map(RepoPath::to_string),
            new_path: Some(path.to_string()),
            origin,
            hunks: hunks(&text.lines, count),
            ..FileDiff::default()
        }
    }
}

/// Returns true if the hunks of a file contain no line from before the change.
fn only_adds(file: &FilePatch<'_>) -> bool {
    !file.hunks.is_empty() && file.hunks.iter().all(|hunk| hunk.before().next().is_none())
}

/// Returns the hunks between a file and its source, which has `count` lines.
fn hunks(lines: &[PatchedLine], count: usize) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let (mut old, mut new) = (1u32, 1u32);
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let end = (count.saturating_add(1), u32::try_from(lines.len()).unwrap_or(u32::MAX) + 1);
    let kept = lines.iter().zip(1u32..).filter_map(|(line, number)| match line.origin {
        LineOrigin::Before(before) => Some((before, number)),
        LineOrigin::Diff(_) => None,
    });
    for (next_old, next_new) in kept.chain([end]) {
        hunks.extend(between((old, next_old), (new, next_new)));
        (old, new) = (next_old.saturating_add(1), next_new.saturating_add(1));
    }
    hunks
}

/// Returns the hunk between two unchanged lines, or `None` if no line was added or removed there.
fn between(old: (u32, u32), new: (u32, u32)) -> Option<Hunk> {
    let span = |(start, end): (u32, u32)| match end.saturating_sub(start) {
        0 => Span { start: start - 1, count: 0 },
        count => Span { start, count },
    };
    let lines = |span: Span| {
        let last = span.start.saturating_add(span.count).saturating_sub(1);
        LineRange::range(span.start, last).filter(|_| span.count > 0).into_iter().collect()
    };
    let (old, new) = (span(old), span(new));
    let changed = old.count > 0 || new.count > 0;
    changed.then(|| Hunk { old, new, added: lines(new), removed: lines(old) })
}
