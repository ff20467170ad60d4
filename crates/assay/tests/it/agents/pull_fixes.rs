//! Fixes of pull requests that a task names only by number, and pull requests that do not exist
//! yet.

use std::os::unix::fs::PermissionsExt as _;

use assay_testkit::git;
use assay_testkit::github::NewPull;

use super::github::{AgentFixture, REPO};
use super::*;

const BAD: &str = "def total(prices):\n    breakpoint()\n    return sum(prices, 0)\n";

/// Returns a task as a reviewer writes it by hand: with a ticket, a repository and a number.
fn fix_task(ticket: &str) -> Value {
    json!({
        "id": "fix-by-hand", "type": "fix", "status": "pending", "priority": 50,
        "created_by": "qa", "assigned_to": "engineer", "created_at": "2026-02-03T10:00:00.000Z",
        "title": "Address code review feedback for PROJ-123",
        "description": "Fix issues identified in review:\n\n## Review Findings\n\n\
            1. [ ] **HIGH** (best_practices): shop.py:2\n    Issue: Breakpoint left in the code\n",
        "context": { "jira_key": ticket, "pr_number": 1, "github_repo": REPO },
        "depends_on": [], "retry_count": 0,
    })
}

/// Installs a hook of the remote that runs before each push.
fn hook(fixture: &AgentFixture, script: &str) {
    let hook = fixture.bare.join("hooks/pre-receive");
    fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Returns the authors and subjects of the commits that a branch of the remote has on top of its
/// main branch.
fn commits(fixture: &AgentFixture, branch: &str) -> Vec<String> {
    let listed = git(&fixture.bare, &["log", "--format=%an: %s", &format!("main..{branch}")]);
    listed.lines().map(str::to_owned).collect()
}

/// Returns the local branches of agents.
fn own_branches(repository: &Repository) -> String {
    repository.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads/assay"])
}

/// Waits until the task is given up, and returns the task.
fn given_up(repository: &Repository, agents: &mut Agents<'_>) -> Value {
    agents.wait_for_line("Gave up");
    let task = read(repository, "queues/engineer/fix-by-hand.json");
    assert_eq!(task["status"], "failed", "{task}");
    task
}

#[test]
fn a_fix_that_names_a_pull_request_by_its_number_is_made_on_its_branch() {
    let fixture = AgentFixture::with(QUICK, "");
    let head = fixture.open_pull("feature/prices", BAD);
    drop_in(&fixture.repository, "engineer", &fix_task(&fixture.ticket));
    let mut agents = fixture.agents(&["engineer"]);
    agents.wait_for_line("Pushed ");
    completed(&fixture.repository, "engineer", "fix-by-hand");
    assert_eq!(agents.stop(), 0);
    assert_eq!(
        commits(&fixture, "feature/prices"),
        ["assay: Address code review feedback for PROJ-123", "tester: prices are added up"]
    );
    assert_eq!(git(&fixture.bare, &["rev-parse", "feature/prices^"]), head);
    let text = git(&fixture.bare, &["show", "feature/prices:shop.py"]);
    assert!(!text.contains("breakpoint"), "{text}");
    let pushed = git(&fixture.bare, &["rev-parse", "feature/prices"]);
    assert_eq!(
        names(&fixture.repository, "queues/qa"),
        [format!("review-octo.demo-1-main-{pushed}.json")]
    );
}

#[test]
fn a_push_that_passes_the_second_time_leaves_one_commit() {
    let fixture = AgentFixture::with(QUICK, "");
    fixture.open_pull("feature/prices", BAD);
    // The program would restore the defect if it ran on its own work.
    hook(&fixture, "test -e refused || { touch refused; echo 'cannot lock ref' >&2; exit 1; }");
    drop_in(&fixture.repository, "engineer", &fix_task(&fixture.ticket));
    let mut agents = fixture.agents(&["engineer"]);
    let refused = agents.wait_for_line("cannot push to branch `feature/prices` of `octo/demo`");
    assert!(refused.contains("remote: cannot lock ref"), "{refused}");
    assert!(refused.contains("repeat the work on the new head"), "{refused}");
    agents.wait_for_line("Pushed ");
    completed(&fixture.repository, "engineer", "fix-by-hand");
    assert_eq!(agents.stop(), 0);
    assert_eq!(commits(&fixture, "feature/prices").len(), 2);
    let text = git(&fixture.bare, &["show", "feature/prices:shop.py"]);
    assert!(!text.contains("breakpoint"), "{text}");
}

#[test]
fn a_forbidden_push_is_reported_with_a_remedy_and_leaves_no_commit() {
    let fixture = AgentFixture::with(QUICK, "");
    let head = fixture.open_pull("feature/prices", BAD);
    hook(&fixture, "echo 'GH006: Protected branch update failed' >&2; exit 1");
    drop_in(&fixture.repository, "engineer", &fix_task(&fixture.ticket));
    let mut agents = fixture.agents(&["engineer"]);
    let task = given_up(&fixture.repository, &mut agents);
    assert_eq!(agents.stop(), 0);
    let error = task["last_error"].as_str().unwrap();
    for part in [
        "cannot push to branch `feature/prices` of `octo/demo`",
        "remote: GH006: Protected branch update failed",
        "check the rights of the token, the branch protection and the server hooks",
    ] {
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(git(&fixture.bare, &["rev-parse", "feature/prices"]), head);
    assert_eq!(own_branches(&fixture.repository), "");
}

#[test]
fn a_pull_request_from_a_fork_is_handed_to_a_person_before_anything_is_changed() {
    let fixture = AgentFixture::with(QUICK, "");
    fixture.open_pull_with("feature/prices", &[("shop.py", BAD)], |pull| NewPull {
        head_repo: Some("somebody/demo".to_owned()),
        ..pull
    });
    drop_in(&fixture.repository, "engineer", &fix_task(&fixture.ticket));
    let mut agents = fixture.agents(&["engineer"]);
    let task = given_up(&fixture.repository, &mut agents);
    assert_eq!(agents.stop(), 0);
    let error = task["last_error"].as_str().unwrap();
    assert!(error.starts_with("octo/demo#1 is from a fork"), "{error}");
    assert_eq!(task["retry_count"], 0, "{task}");
    assert_eq!(own_branches(&fixture.repository), "");
    assert_eq!(commits(&fixture, "feature/prices").len(), 1);
    assert_eq!(names(&fixture.repository, "queues/architect").len(), 1, "a person is told");
}

#[test]
fn without_github_a_fix_for_a_pull_request_without_a_branch_fails_at_once() {
    let repository = Repository::new();
    repository.write("config/agent-framework.yaml", QUICK);
    repository.write("shop.py", BAD);
    repository.commit("a shop");
    drop_in(&repository, "engineer", &fix_task("PROJ-123"));
    let mut agents = Agents::start(&repository, &["engineer"]);
    let task = given_up(&repository, &mut agents);
    assert_eq!(agents.stop(), 0);
    let error = task["last_error"].as_str().unwrap();
    assert!(error.starts_with("the branch of octo/demo#1 is unknown"), "{error}");
    assert!(error.contains("`github.repositories`") && error.contains("`branch_name`"), "{error}");
    assert_eq!((&task["retry_count"], own_branches(&repository)), (&json!(0), String::new()));
}

// ---- pull requests that do not exist yet

#[test]
fn a_review_waits_for_a_pull_request_that_is_not_there_yet() {
    let fixture =
        AgentFixture::with("task:\n  backoff: { initial: 3, max: 3 }\n  stop_grace: 60\n", "");
    let context = json!({ "pr_number": 1, "github_repo": REPO });
    drop_in(&fixture.repository, "qa", &review_task("early", &context));
    let mut agents = fixture.agents(&["qa"]);
    let early = agents.wait_for_line("`octo/demo` has no pull request 1");
    assert!(early.contains("`refs/pull/1/head` does not exist"), "{early}");
    agents.wait_for_line("Retrying in ");
    fixture.open_pull("feature/prices", "def total(prices):\n    return sum(prices, 0)\n");
    agents.wait_for_line("Approved: ");
    completed(&fixture.repository, "qa", "early");
    assert_eq!(agents.stop(), 0);
}

#[test]
fn a_review_of_a_pull_request_that_never_comes_is_given_up_after_its_retries() {
    let fixture = AgentFixture::with(QUICK, "");
    let context = json!({ "pr_number": 9, "github_repo": REPO });
    drop_in(&fixture.repository, "qa", &review_task("never", &context));
    let mut agents = fixture.agents(&["qa"]);
    agents.wait_for_line("Gave up");
    assert_eq!(agents.stop(), 0);
    let task = read(&fixture.repository, "queues/qa/never.json");
    assert_eq!((&task["status"], &task["retry_count"]), (&json!("failed"), &json!(5)), "{task}");
}

#[test]
fn review_retries_a_missing_pull_request_three_times_and_suggests_a_remedy() {
    let fixture = AgentFixture::with(QUICK, "");
    let ran = fixture.assay(&["review", "--pr", &format!("{REPO}#9")]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    let waits: Vec<&str> = ran
        .stderr
        .lines()
        .filter_map(|line| line.split_once("retrying in "))
        .map(|it| it.1)
        .collect();
    assert_eq!(waits, ["1 s", "2 s", "4 s"], "{}", ran.stderr);
    let last = ran.stderr.lines().last().unwrap();
    assert!(last.contains("`octo/demo` has no pull request 9"), "{last}");
    assert!(
        last.contains("check the number, or wait if the pull request was just opened"),
        "{last}"
    );
}
