//! Pull requests, fetched from a repository on disk that has the refs of a hosting service.

use assay_change::{GitError, Scope, Selection};
use expect_test::{Expect, expect};

use crate::support::{open, path, show};
use assay_testkit::{Repository, git};

/// A clone, and its origin, which has a pull request.
struct PullFixture {
    host: tempfile::TempDir,
    clone: Repository,
}

impl PullFixture {
    fn bare(&self) -> std::path::PathBuf {
        self.host.path().join("Owner/repo.git")
    }
}

/// Creates pull request 7 with one file onto `main`, which has advanced, with or without a merge
/// ref.
fn pull_fixture(is_merged: bool) -> PullFixture {
    let host = tempfile::tempdir().unwrap();
    let bare = host.path().join("Owner/repo.git");
    let author = Repository::new();
    author.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
    author.git(&["checkout", "--quiet", "-b", "topic"]);
    author.write("pulled", "1\n2\n");
    author.commit("topic");
    author.git(&["checkout", "--quiet", "main"]);
    author.write("other", "1\n");
    author.commit("main goes on");
    author.git(&["push", "--quiet", bare.to_str().unwrap(), "main", "topic:refs/pull/7/head"]);
    if is_merged {
        author.git(&["merge", "--quiet", "--no-ff", "--no-edit", "topic"]);
        author.git(&["push", "--quiet", bare.to_str().unwrap(), "HEAD:refs/pull/7/merge"]);
    }
    let clone = Repository::new();
    clone.git(&["remote", "add", "fork", "git@host.example:somebody/fork.git"]);
    clone.git(&["remote", "add", "upstream", bare.to_str().unwrap()]);
    PullFixture { host, clone }
}

fn check(pull_fixture: &PullFixture, repository: &str, number: u64, expected: Expect) {
    let scope = Scope::Pull { repository: repository.to_owned(), number, head: None, base: None };
    let shown = match assay_change::open(pull_fixture.clone.path(), &scope, &Selection::default()) {
        Ok(change) => {
            assert_eq!(change.tree().read(&path("pulled")).unwrap().as_deref(), Some("1\n2\n"));
            assert!(!change.base().exists(&path("pulled")).unwrap());
            show(&change)
        }
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn a_pull_request_is_compared_with_its_merge_base() {
    for is_merged in [true, false] {
        let pull_fixture = pull_fixture(is_merged);
        check(
            &pull_fixture,
            "owner/repo",
            7,
            expect![[r#"
            pull request owner/repo#7
            "pulled" +2 -0
        "#]],
        );
        let refs = pull_fixture.clone.git(&[
            "for-each-ref", "--format=%(refname)", "refs/assay", "refs/tags", "refs/remotes",
        ]);
        let names: Vec<&str> = refs.lines().map(|name| name.split_at(29).1).collect();
        assert_eq!(names, ["7/against", "7/head"], "{refs}");
        assert!(!pull_fixture.clone.path().join(".git/FETCH_HEAD").exists());
    }
}

#[test]
fn a_pull_request_that_moved_on_is_fetched_again() {
    let pull_fixture = pull_fixture(true);
    let scope = Scope::pull_request("Owner/repo#7").unwrap();
    open(pull_fixture.clone.path(), scope.clone());
    let bare = pull_fixture.bare();
    git(&bare, &["update-ref", "refs/pull/7/head", "main"]);
    assert_eq!(show(&open(pull_fixture.clone.path(), scope)), "pull request Owner/repo#7\n");
}

#[test]
fn a_missing_pull_request_or_remote_is_named() {
    let pull_fixture = pull_fixture(true);
    check(
        &pull_fixture,
        "owner/repo",
        8,
        expect![
            "`owner/repo` has no pull request 8: `refs/pull/8/head` does not exist; check the \
             number, or wait if the pull request was just opened"
        ],
    );
    check(
        &pull_fixture,
        "owner/other",
        7,
        expect![
            "no remote of this repository is `owner/other`; remotes: `fork` (somebody/fork), \
             `upstream` (Owner/repo)"
        ],
    );
    pull_fixture.clone.git(&["remote", "remove", "fork"]);
    pull_fixture.clone.git(&["remote", "remove", "upstream"]);
    check(
        &pull_fixture,
        "owner/repo",
        7,
        expect!["no remote of this repository is `owner/repo`; remotes: none"],
    );
}

#[test]
fn a_push_only_fast_forwards_the_remote_branch() {
    let pull_fixture = pull_fixture(false);
    let clone = &pull_fixture.clone;
    clone.write("mine", "1\n");
    clone.commit("mine");
    let (first, place) = (clone.git(&["rev-parse", "HEAD"]), pull_fixture.bare());
    let push = |commit: &str| assay_change::push(clone.path(), "owner/repo", commit, "fix/it");
    push("HEAD").unwrap();
    push("HEAD").unwrap();
    assert_eq!(git(&place, &["rev-parse", "fix/it"]), first);
    clone.git(&["commit", "--quiet", "--amend", "--message", "otherwise"]);
    let refused = push("HEAD").unwrap_err();
    assert!(matches!(refused, GitError::BranchMoved { .. }), "{refused}");
    let error_text = refused.to_string();
    assert!(
        error_text.starts_with("cannot push to branch `fix/it` of `owner/repo`"),
        "{error_text}"
    );
    assert!(
        error_text.contains("! [rejected]")
            && error_text.ends_with("; repeat the work on the new head"),
        "{error_text}"
    );
    assert_eq!(git(&place, &["rev-parse", "fix/it"]), first);
    let odd = assay_change::push(clone.path(), "owner/repo", "HEAD", "a..b").unwrap_err();
    assert!(odd.to_string().contains("a..b"), "{odd}");
}

#[test]
fn a_refused_push_is_reported_with_the_message_of_the_remote_and_a_remedy() {
    let pull_fixture = pull_fixture(false);
    let hook = pull_fixture.bare().join("hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\necho 'GH006: Protected branch update failed'\nexit 1\n")
        .unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&hook, mode).unwrap();
    pull_fixture.clone.write("mine", "1\n");
    pull_fixture.clone.commit("mine");
    let refused =
        assay_change::push(pull_fixture.clone.path(), "owner/repo", "HEAD", "fix").unwrap_err();
    assert!(matches!(refused, GitError::PushRefused { .. }), "{refused}");
    let error_text = refused.to_string();
    let parts = [
        "cannot push to branch `fix` of `owner/repo`: ",
        "remote: GH006: Protected branch update failed",
        "(pre-receive hook declined)",
        "; check the rights of the token, the branch protection and the server hooks, or push",
    ];
    for part in parts {
        assert!(error_text.contains(part), "{part}: {error_text}");
    }
    assert!(!error_text.contains("hint:") && !error_text.contains("\n"), "{error_text}");
}

#[test]
fn a_fetch_gives_the_current_head_of_the_remote_branch() {
    let pull_fixture = pull_fixture(false);
    let main = git(&pull_fixture.bare(), &["rev-parse", "main"]);
    let fetch =
        |branch| assay_change::fetch_branch(pull_fixture.clone.path(), "owner/repo", branch);
    assert_eq!(fetch("main").unwrap(), main);
    git(&pull_fixture.bare(), &["update-ref", "refs/heads/main", "main^"]);
    assert_ne!(fetch("main").unwrap(), main);
    assert!(fetch("nowhere").unwrap_err().to_string().contains("nowhere"));
    assert!(fetch("a..b").is_err());
}

#[test]
fn a_requested_commit_is_opened_even_if_the_pull_request_has_another_head() {
    let pull_fixture = pull_fixture(false);
    let bare = pull_fixture.bare();
    let topic = git(&bare, &["rev-parse", "refs/pull/7/head"]);
    // A commit was pushed since, and the ref of the pull request is not updated yet.
    let author = Repository::empty(&[]);
    author.git(&["fetch", "--quiet", bare.to_str().unwrap(), "refs/pull/7/head"]);
    author.git(&["checkout", "--quiet", "-b", "topic", "FETCH_HEAD"]);
    author.write("more", "1\n");
    author.commit("more");
    author.git(&["push", "--quiet", bare.to_str().unwrap(), "HEAD:refs/heads/topic"]);
    let pushed = author.git(&["rev-parse", "HEAD"]);
    let open = |head: Option<&str>| {
        let scope = Scope::Pull {
            repository: "owner/repo".to_owned(),
            number: 7,
            head: head.map(str::to_owned),
            base: Some("main".to_owned()),
        };
        assay_change::open(pull_fixture.clone.path(), &scope, &Selection::default())
    };
    assert_eq!(open(None).unwrap().pull_head(), Some(topic.as_str()));
    assert_eq!(open(Some(&topic)).unwrap().pull_head(), Some(topic.as_str()));
    let change = open(Some(&pushed)).unwrap();
    assert_eq!(change.pull_head(), Some(pushed.as_str()));
    assert!(change.tree().exists(&path("more")).unwrap());
    assert!(open(Some("HEAD")).is_err());
    assert!(open(Some(&"0".repeat(40))).is_err());
}
