//! A change on record: [`RecordedChange`] holds all that a review of it reads, so that it can be
//! reviewed again anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use assay_findings::ground::{Symbol, Tree};
use assay_findings::path::RepoPath;
use serde::{Deserialize, Serialize};

use crate::diff::FileDiff;
use crate::tree::TreeKind;
use crate::{Change, Messages};

/// A change with the files that a review of it reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedChange {
    title: String,
    messages: Vec<String>,
    files: Vec<FileDiff>,
    before: RecordedTree,
    after: RecordedTree,
}

/// Files by their paths; there are no others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct RecordedTree(BTreeMap<RepoPath, String>);

impl RecordedTree {
    fn take(
        tree: &dyn Tree,
        paths: impl Iterator<Item = RepoPath>,
        clean: &dyn Fn(&str) -> String,
    ) -> RecordedTree {
        let read = |path: RepoPath| tree.read(&path).map(|text| (path, clean(&text)));
        RecordedTree(paths.filter_map(read).collect())
    }

    pub(crate) fn size(&self, path: &RepoPath) -> Option<u64> {
        self.0.get(path).map(|text| text.len() as u64)
    }
}

impl Tree for RecordedTree {
    fn read(&self, path: &RepoPath) -> Option<String> {
        self.0.get(path).cloned()
    }

    fn exists(&self, path: &RepoPath) -> bool {
        self.0.contains_key(path)
    }

    fn symbol_at(&self, _path: &RepoPath, _line: u32) -> Option<Symbol> {
        None
    }

    fn paths(&self) -> Vec<RepoPath> {
        self.0.keys().cloned().collect()
    }
}

impl RecordedChange {
    /// Records a change and whatever other files a review of it has read. Every text is cleaned
    /// first of what must not be kept.
    pub fn of(
        change: &Change,
        others: &BTreeSet<RepoPath>,
        clean: &dyn Fn(&str) -> String,
    ) -> RecordedChange {
        let paths = |which: fn(&FileDiff) -> Option<&String>| {
            let own = change.files.iter().filter(|file| file.left_out.is_none());
            let own = own.filter_map(which).filter_map(|path| RepoPath::exact(path).ok());
            own.chain(others.iter().cloned()).collect::<BTreeSet<RepoPath>>().into_iter()
        };
        RecordedChange {
            title: clean(&change.title),
            messages: change.messages().iter().map(|message| clean(message)).collect(),
            files: change.files.clone(),
            before: RecordedTree::take(change.base(), paths(|f| f.old_path.as_ref()), clean),
            after: RecordedTree::take(change.tree(), paths(|f| f.new_path.as_ref()), clean),
        }
    }

    /// Makes one that stands in no repository yet, out of the files before and after it.
    pub fn sketched(
        title: String,
        files: Vec<FileDiff>,
        before: BTreeMap<RepoPath, String>,
        after: BTreeMap<RepoPath, String>,
    ) -> RecordedChange {
        let [before, after] = [before, after].map(RecordedTree);
        RecordedChange { title, messages: Vec::new(), files, before, after }
    }

    /// Gives how many bytes of files it holds.
    pub fn bytes(&self) -> usize {
        self.before.0.values().chain(self.after.0.values()).map(String::len).sum()
    }

    /// Gives the change as it was, seen from a folder that need not have anything to do with it.
    pub fn open(self, root: PathBuf) -> Change {
        Change {
            root,
            title: self.title,
            files: self.files,
            untracked: Vec::new(),
            is_limited: false,
            messages: Messages::Known(self.messages),
            head: None,
            pull: None,
            base: TreeKind::Recorded(self.before),
            tree: TreeKind::Recorded(self.after),
        }
    }
}
