//! A recorded change: [`RecordedChange`] holds all files that a review of it reads, so that it can
//! be reviewed again anywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use assay_findings::grounding::TreeError;
use assay_findings::path::RepoPath;
use serde::{Deserialize, Serialize};

use crate::Change;
use crate::diff::FileDiff;
use crate::tree::{ErrorRecordingTree, RecordedTree, TreeErrors, TreeKind};

/// A change with the files that a review of it reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedChange {
    title: String,
    messages: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    purpose: Option<String>,
    files: Vec<FileDiff>,
    before: RecordedTree,
    after: RecordedTree,
    /// The errors of the trees when the change was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tree_errors: Vec<TreeError>,
}

impl RecordedChange {
    /// Records a change, and the other files that a review of it has read. Every text passes
    /// `clean`, which removes what must not be stored.
    pub fn record(
        change: &Change,
        others: &BTreeSet<RepoPath>,
        clean: &dyn Fn(&str) -> String,
    ) -> RecordedChange {
        let paths = |which: fn(&FileDiff) -> Option<&String>| {
            let own = change.files.iter().filter(|file| file.left_out.is_none());
            let own = own.filter_map(which).filter_map(|path| RepoPath::exact(path).ok());
            own.chain(others.iter().cloned()).collect::<BTreeSet<RepoPath>>().into_iter()
        };
        let before = RecordedTree::read_from(change.base(), paths(|f| f.old_path.as_ref()), clean);
        let after = RecordedTree::read_from(change.tree(), paths(|f| f.new_path.as_ref()), clean);
        RecordedChange {
            title: clean(&change.title),
            messages: change.messages().iter().map(|message| clean(message)).collect(),
            purpose: change.stated_purpose().map(clean),
            files: change.files.clone(),
            before,
            after,
            tree_errors: change.tree_errors(),
        }
    }

    /// Creates a recorded change that exists in no repository, from the files before and after it.
    pub fn from_files(
        title: String,
        files: Vec<FileDiff>,
        before: BTreeMap<RepoPath, String>,
        after: BTreeMap<RepoPath, String>,
    ) -> RecordedChange {
        let [before, after] = [before, after].map(RecordedTree::from);
        let (messages, tree_errors) = (Vec::new(), Vec::new());
        RecordedChange { title, messages, purpose: None, files, before, after, tree_errors }
    }

    /// Returns the size of all files in bytes.
    pub fn bytes(&self) -> usize {
        self.before.bytes() + self.after.bytes()
    }

    /// Restores the change, with a root that need not be related to it.
    pub fn open(self, root: PathBuf) -> Change {
        let errors = TreeErrors::new(self.tree_errors);
        Change {
            root,
            title: self.title,
            files: self.files,
            untracked: Vec::new(),
            is_limited: false,
            is_whole_tree: false,
            messages: self.messages,
            purpose: self.purpose,
            exclusion_rules: None,
            head: None,
            pull: None,
            base: ErrorRecordingTree::new(TreeKind::Recorded(self.before), &errors),
            tree: ErrorRecordingTree::new(TreeKind::Recorded(self.after), &errors),
            errors,
        }
    }
}
