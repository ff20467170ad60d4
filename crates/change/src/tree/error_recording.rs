//! A tree that records its read errors: [`ErrorRecordingTree`].

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use assay_findings::grounding::{Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;

use super::TreeKind;

/// The errors of the trees of one change, shared by them.
#[derive(Debug, Clone, Default)]
pub(crate) struct TreeErrors(Arc<Mutex<BTreeSet<TreeError>>>);

impl TreeErrors {
    /// Creates a list with errors that are known already.
    pub(crate) fn new(known: Vec<TreeError>) -> TreeErrors {
        TreeErrors(Arc::new(Mutex::new(known.into_iter().collect())))
    }

    /// Returns all errors so far.
    pub(crate) fn all(&self) -> Vec<TreeError> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn record<T>(&self, answer: Result<T, TreeError>) -> Result<T, TreeError> {
        if let Err(error) = &answer {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(error.clone());
        }
        answer
    }
}

/// A tree of a change. Each error is recorded, so that a review knows of an unreadable file even if
/// the caller ignores the error.
#[derive(Debug)]
pub(crate) struct ErrorRecordingTree {
    pub(crate) kind: TreeKind,
    errors: TreeErrors,
}

impl ErrorRecordingTree {
    pub(crate) fn new(kind: TreeKind, errors: &TreeErrors) -> ErrorRecordingTree {
        ErrorRecordingTree { kind, errors: errors.clone() }
    }

    /// Returns the size of a file in bytes, or `None` if there is no such file.
    pub(crate) fn size(&self, path: &RepoPath) -> Result<Option<u64>, TreeError> {
        self.errors.record(self.kind.size(path))
    }
}

impl Tree for ErrorRecordingTree {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        self.errors.record(self.kind.as_tree().read(path))
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        self.errors.record(self.kind.as_tree().exists(path))
    }

    fn symbol_at(&self, path: &RepoPath, line: u32) -> Result<Option<Symbol>, TreeError> {
        self.errors.record(self.kind.as_tree().symbol_at(path, line))
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        self.errors.record(self.kind.as_tree().paths())
    }
}
