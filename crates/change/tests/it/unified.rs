//! Unified diffs with their lines, and their application to a tree.

use std::collections::BTreeMap;

use assay_change::unified::{DiffFaultKind, LineOrigin, MisfitKind, PatchedTree, parse};
use assay_findings::grounding::{Symbol, Tree, TreeError};
use assay_findings::path::RepoPath;

/// A tree in memory.
struct Files(BTreeMap<&'static str, &'static str>);

impl Tree for Files {
    fn read(&self, path: &RepoPath) -> Result<Option<String>, TreeError> {
        Ok(self.0.get(path.as_str()).map(|text| (*text).to_owned()))
    }

    fn exists(&self, path: &RepoPath) -> Result<bool, TreeError> {
        Ok(self.0.contains_key(path.as_str()))
    }

    fn symbol_at(&self, _path: &RepoPath, _line: u32) -> Result<Option<Symbol>, TreeError> {
        Ok(None)
    }

    fn paths(&self) -> Result<Vec<RepoPath>, TreeError> {
        Ok(self.0.keys().map(|path| at(path)).collect())
    }
}

fn tree() -> Files {
    Files(BTreeMap::from([("a.txt", "one\ntwo\nthree\n")]))
}

fn at(path: &str) -> RepoPath {
    RepoPath::exact(path).unwrap()
}

#[test]
fn diffs_are_applied_one_after_another_and_each_line_keeps_its_origin() {
    let first = parse("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,3 @@\n one\n+new\n two\n", 10);
    let second = parse("--- a/a.txt\n+++ b/a.txt\n@@ -2,2 +2,1 @@\n new\n-two\n", 20);
    let patched = PatchedTree::of(&tree(), first.files.iter().chain(&second.files));
    assert!(patched.misfits("a.txt").is_empty());
    assert_eq!(patched.text(&at("a.txt")).as_deref(), Some("one\nnew\nthree\n"));
    assert_eq!(patched.origin(&at("a.txt"), 2), Some(LineOrigin::Diff(14)));
    assert_eq!(patched.origin(&at("a.txt"), 3), Some(LineOrigin::Before(3)));
}

#[test]
fn a_fault_has_its_line_and_the_rest_is_still_read() {
    let diff = parse("--- a/a.txt\n+++ b/a.txt\n@@ -1,9 +1,9 @@\n one\n+new\n two\n", 10);
    let [file] = &diff.files[..] else { panic!("{diff:?}") };
    let counts = DiffFaultKind::Counts { stated: (9, 9), found: (2, 3) };
    assert_eq!((file.faults[0].line, &file.faults[0].kind), (12, &counts));
    let patched = PatchedTree::of(&tree(), &diff.files);
    assert_eq!(patched.text(&at("a.txt")).as_deref(), Some("one\nnew\ntwo\nthree\n"));
}

#[test]
fn a_hunk_that_does_not_fit_is_left_out_and_names_the_line_that_differs() {
    let diff = parse("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-zwei\n+2\n", 1);
    let patched = PatchedTree::of(&tree(), &diff.files);
    let [misfit] = patched.misfits("a.txt") else { panic!("{patched:?}") };
    let (found, wanted) = ("two".to_owned(), "zwei".to_owned());
    assert_eq!(misfit.kind, MisfitKind::Differs { number: 2, found, at: 5, wanted });
    assert_eq!(patched.text(&at("a.txt")).as_deref(), Some("one\ntwo\nthree\n"));
}

#[test]
fn a_moved_hunk_is_applied_at_its_only_match_and_is_a_misfit_if_it_fits_twice() {
    let diff = parse("--- a/a.txt\n+++ b/a.txt\n@@ -9 +9 @@\n-three\n+3\n", 1);
    let patched = PatchedTree::of(&tree(), &diff.files);
    assert_eq!(
        (patched.moved_hunks("a.txt")[0].stated, patched.moved_hunks("a.txt")[0].fits),
        (9, 3)
    );
    let twice = Files(BTreeMap::from([("a.txt", "x\ny\nx\n")]));
    let diff = parse("--- a/a.txt\n+++ b/a.txt\n@@ -9 +9 @@\n-x\n+z\n", 1);
    let patched = PatchedTree::of(&twice, &diff.files);
    let ambiguous = MisfitKind::Ambiguous { stated: 9, fits: vec![1, 3] };
    assert_eq!(patched.misfits("a.txt")[0].kind, ambiguous);
}
