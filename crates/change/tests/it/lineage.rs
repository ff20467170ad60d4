//! The check that one change continues another.

use assay_change::{Lineage, Scope, Selection, open};
use assay_testkit::Repository;

fn lineage(repository: &Repository, scope: &Scope) -> Lineage {
    open(repository.path(), scope, &Selection::default()).unwrap().lineage().unwrap()
}

fn follows(later: &Lineage, earlier: &Lineage) -> bool {
    later.follows(earlier.branch.as_deref(), earlier.head.as_deref())
}

fn lineage_on_branch(repository: &Repository, branch: &str) -> Lineage {
    repository.git(&["switch", "--quiet", branch]);
    repository.write("a.rs", format!("// {branch}\n"));
    repository.commit(branch);
    lineage(repository, &Scope::Automatic)
}

#[test]
fn a_change_follows_an_earlier_one_on_the_same_branch_only() {
    let repository = Repository::new();
    repository.git(&["branch", "one"]);
    repository.git(&["branch", "two"]);
    let (one, two) = (lineage_on_branch(&repository, "one"), lineage_on_branch(&repository, "two"));
    assert!(!follows(&two, &one) && !follows(&one, &two));
    assert!(follows(&lineage_on_branch(&repository, "one"), &one));
}

#[test]
fn a_rewritten_branch_follows_its_earlier_state() {
    let repository = Repository::new();
    repository.git(&["branch", "one"]);
    let before = lineage_on_branch(&repository, "one");
    repository.git(&["commit", "--quiet", "--amend", "--message", "another"]);
    let after = lineage(&repository, &Scope::Staged);
    assert_ne!(before.head, after.head);
    assert!(follows(&after, &before));
}

#[test]
fn a_history_that_contains_the_other_head_follows_without_a_common_branch() {
    let repository = Repository::new();
    repository.git(&["branch", "one"]);
    let one = lineage_on_branch(&repository, "one");
    repository.git(&["switch", "--quiet", "main"]);
    let commit = lineage(&repository, &Scope::Commits("HEAD".to_owned()));
    assert!(!follows(&commit, &one));
    repository.git(&["merge", "--quiet", "--no-ff", "--no-edit", "one"]);
    let merged = lineage(&repository, &Scope::Commits("HEAD".to_owned()));
    assert_eq!(merged.branch, None);
    assert!(follows(&merged, &one) && !follows(&one, &merged));
}

#[test]
fn no_change_follows_an_unknown_head() {
    let repository = Repository::new();
    let here = lineage(&repository, &Scope::Staged);
    assert!(!here.follows(None, None));
    for head in ["0000000000000000000000000000000000000000", "nowhere", "--all"] {
        assert!(!here.follows(None, Some(head)), "{head}");
    }
}
