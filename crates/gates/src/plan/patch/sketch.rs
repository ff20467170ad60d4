//! A tree as it would be after the diffs of a plan: [`Sketch`]. Nothing is written anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assay_change::diff::{FileDiff, Hunk, Origin, Span};
use assay_change::{Change, RecordedChange};
use assay_findings::ground::Tree;
use assay_findings::path::RepoPath;
use assay_findings::vote::Lines;

use super::apply::weave;
use super::patched_line::{Budget, LineOrigin, Misfit, Moved, Written};
use super::{End, FilePatch, Placed};
use crate::quote::quoted;

/// So many misfits of one file are told.
const MAX_MISFITS: usize = 20;

/// So many lines are moved or compared for all diffs of a plan. A plan of any sense takes a
/// hundredth.
const WORK: usize = 1 << 26;

/// The files that a plan changes, as they would be after it.
#[derive(Debug, Default)]
pub struct Sketch {
    /// Each that is touched; `None` where it is gone.
    files: BTreeMap<RepoPath, Option<Text>>,
    /// The files at those paths before, and those that are gone or were moved.
    before: BTreeMap<RepoPath, String>,
    /// The hunks that do not fit, by path.
    misfits: BTreeMap<String, Vec<Misfit>>,
    /// The hunks that fit elsewhere than they say.
    moved: BTreeMap<String, Vec<Moved>>,
}

/// A file that is changed.
#[derive(Debug, Clone)]
struct Text {
    lines: Vec<Written>,
    /// How its lines end.
    end: End,
    /// The source.
    from: Option<(RepoPath, Origin)>,
}

impl Text {
    fn read(text: &str, from: Option<(RepoPath, Origin)>) -> Text {
        let numbered = text.split_inclusive('\n').zip(1u32..);
        let lines: Vec<Written> = numbered
            .map(|(line, number)| Written {
                text: line.to_owned(),
                came: LineOrigin::Before(number),
            })
            .collect();
        let is_returned = lines.first().is_some_and(|line| line.text.ends_with("\r\n"));
        Text { lines, end: if is_returned { End::ReturnFeed } else { End::Feed }, from }
    }

    fn whole(&self) -> String {
        self.lines.iter().map(|line| line.text.as_str()).collect()
    }
}

impl Sketch {
    /// Applies the diffs of a plan to a tree, in order.
    pub fn of(tree: &dyn Tree, patches: &[Placed<'_>]) -> Sketch {
        let mut sketch = Sketch::default();
        let mut budget = Budget(WORK);
        for file in patches.iter().flat_map(|placed| &placed.patch.files) {
            if let Err(why) = sketch.apply(tree, file, &mut budget) {
                sketch.tell(file.path(), Misfit { line: file.line, why });
            }
        }
        sketch
    }

    /// Returns what of the diffs of a file does not fit.
    pub fn misfits(&self, path: &str) -> &[Misfit] {
        self.misfits.get(path).map_or(&[], Vec::as_slice)
    }

    /// Returns what of the diffs of a file fits elsewhere than it says.
    pub fn moved(&self, path: &str) -> &[Moved] {
        self.moved.get(path).map_or(&[], Vec::as_slice)
    }

    /// Says where a line of a file after the plan comes from.
    pub fn came(&self, path: &RepoPath, line: u32) -> Option<LineOrigin> {
        let text = self.files.get(path)?.as_ref()?;
        Some(text.lines.get((line as usize).checked_sub(1)?)?.came)
    }

    /// Returns a file after the plan, where the plan touches it and leaves it there.
    pub fn text(&self, path: &RepoPath) -> Option<String> {
        Some(self.files.get(path)?.as_ref()?.whole())
    }

    fn tell(&mut self, path: &str, misfit: Misfit) {
        let told = self.misfits.entry(path.to_owned()).or_default();
        if told.len() < MAX_MISFITS {
            told.push(misfit);
        }
    }

    fn apply(
        &mut self,
        tree: &dyn Tree,
        file: &FilePatch<'_>,
        budget: &mut Budget,
    ) -> Result<(), String> {
        if budget.is_spent() {
            return Err("the diffs before it take too long to apply".to_owned());
        }
        let Some(old) = &file.old else { return self.create(tree, file, budget) };
        let is_moved = file.new.as_ref().is_some_and(|new| new != old);
        if let Some(new) = file.new.as_ref().filter(|_| is_moved)
            && self.exists(tree, new)?
        {
            return Err(format!("{} is there already", quoted(new.as_str())));
        }
        let keeps_old = file.origin == Origin::Copied;
        let Some(mut text) = self.take(tree, old, keeps_old, budget)? else {
            if file.new.as_ref() == Some(old) && only_adds(file) && !self.exists(tree, old)? {
                return self.create(tree, file, budget);
            }
            return Err(self.why_missing(tree, old)?);
        };
        text.lines = self.woven(text.lines, file, text.end, budget);
        match &file.new {
            None if text.lines.is_empty() => Ok(()),
            None => {
                let left = text.lines.len();
                self.files.insert(old.clone(), Some(text));
                Err(format!("the file is to be deleted, and {left} of its lines are left"))
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
    ) -> Result<(), String> {
        let Some(new) = &file.new else { return Ok(()) };
        if self.exists(tree, new)? {
            return Err("the file is to be new, and it is there already".to_owned());
        }
        let returned = file.hunks.iter().flat_map(|hunk| &hunk.lines).map(|line| line.end).next();
        let end = returned.filter(|end| *end == End::ReturnFeed).unwrap_or(End::Feed);
        let lines = self.woven(Vec::new(), file, end, budget);
        self.files.insert(new.clone(), Some(Text { lines, end, from: None }));
        Ok(())
    }

    fn woven(
        &mut self,
        before: Vec<Written>,
        file: &FilePatch<'_>,
        end: End,
        budget: &mut Budget,
    ) -> Vec<Written> {
        let woven = weave(before, file, end, budget);
        for misfit in woven.misfits {
            self.tell(file.path(), misfit);
        }
        if !woven.moved.is_empty() {
            self.moved.entry(file.path().to_owned()).or_default().extend(woven.moved);
        }
        woven.lines
    }

    fn exists(&self, tree: &dyn Tree, path: &RepoPath) -> Result<bool, String> {
        match self.files.get(path) {
            Some(file) => Ok(file.is_some()),
            None => tree.exists(path).map_err(|error| error.to_string()),
        }
    }

    /// Takes a file out of the tree as it is by now, or a copy of it.
    fn take(
        &mut self,
        tree: &dyn Tree,
        path: &RepoPath,
        keeps: bool,
        budget: &mut Budget,
    ) -> Result<Option<Text>, String> {
        if !self.files.contains_key(path) {
            let Some(text) = tree.read(path).map_err(|error| error.to_string())? else {
                return Ok(None);
            };
            let read = Text::read(&text, Some((path.clone(), Origin::Same)));
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

    fn why_missing(&self, tree: &dyn Tree, path: &RepoPath) -> Result<String, String> {
        let told = quoted(path.as_str());
        if self.files.contains_key(path) {
            return Ok(format!("an earlier diff of the plan takes {told} away"));
        }
        Ok(match self.exists(tree, path)? {
            true => format!("{told} is no text that can be read"),
            false => format!("there is no file {told}"),
        })
    }

    /// Returns the change that the plan makes, as of a repository. Other files may be shown with it.
    pub fn change(&self, root: &Path, others: BTreeMap<RepoPath, String>) -> Change {
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
        let after = after.filter_map(|(path, text)| Some((path.clone(), text.as_ref()?.whole())));
        let after = others.clone().into_iter().chain(after).collect();
        let before = others.into_iter().chain(self.before.clone()).collect();
        let recorded = RecordedChange::sketched("the plan".to_owned(), files, before, after);
        recorded.open(root.to_owned())
    }

    /// Tells of a file that is gone, unless the plan itself had made it.
    fn deletion(&self, path: &RepoPath) -> Option<FileDiff> {
        let count = self.before.get(path)?.split_inclusive('\n').count();
        let old_path = Some(path.to_string());
        Some(FileDiff { old_path, hunks: hunks(&[], count), ..FileDiff::default() })
    }

    fn diff(&self, path: &RepoPath, text: &Text) -> FileDiff {
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

/// Returns true if the hunks of a file hold nothing that was there before.
fn only_adds(file: &FilePatch<'_>) -> bool {
    !file.hunks.is_empty() && file.hunks.iter().all(|hunk| hunk.before().next().is_none())
}

/// Returns the places where a file differs from one of so many lines that it was made from.
fn hunks(lines: &[Written], count: usize) -> Vec<Hunk> {
    let mut hunks = Vec::new();
    let (mut old, mut new) = (1u32, 1u32);
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let end = (count.saturating_add(1), u32::try_from(lines.len()).unwrap_or(u32::MAX) + 1);
    let kept = lines.iter().zip(1u32..).filter_map(|(line, number)| match line.came {
        LineOrigin::Before(before) => Some((before, number)),
        LineOrigin::Plan(_) => None,
    });
    for (next_old, next_new) in kept.chain([end]) {
        hunks.extend(between((old, next_old), (new, next_new)));
        (old, new) = (next_old.saturating_add(1), next_new.saturating_add(1));
    }
    hunks
}

/// Returns the hunk between two lines that were kept, where anything came or went there.
fn between(old: (u32, u32), new: (u32, u32)) -> Option<Hunk> {
    let span = |(start, end): (u32, u32)| match end.saturating_sub(start) {
        0 => Span { start: start - 1, count: 0 },
        count => Span { start, count },
    };
    let lines = |span: Span| {
        let last = span.start.saturating_add(span.count).saturating_sub(1);
        Lines::range(span.start, last).filter(|_| span.count > 0).into_iter().collect()
    };
    let (old, new) = (span(old), span(new));
    let changed = old.count > 0 || new.count > 0;
    changed.then(|| Hunk { old, new, added: lines(new), removed: lines(old) })
}
