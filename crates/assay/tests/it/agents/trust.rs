//! What a change, or a disk, cannot do to those who review it.

use super::*;

#[test]
fn a_review_that_cannot_be_kept_approves_nothing() {
    let repository =
        with_change(QUICK, "shop.py", "def total(prices):\n    return sum(prices, 0)\n");
    let mut agents = Agents::start(&repository, &["qa"]);
    let _ = fs::remove_dir_all(repository.path().join(".assay/runs"));
    repository.write(".assay/runs", "no folder");
    drop_in(&repository, "qa", &review_task("t", &json!({ "branch_name": "topic" })));
    let line = agents.heard("Review failed (");
    assert!(line.contains("the review could not be kept, so it does not count"), "{line}");
    agents.heard("It is tried again in 0 s");
    assert!(names(&repository, "completed/qa").is_empty());
}

#[test]
fn what_an_earlier_commit_of_a_branch_configures_is_not_run() {
    let repository = with_change(
        QUICK,
        "config/agent-framework.yaml",
        "review:\n  commands:\n    - name: evil\n      run: [touch, ../../../marker]\n      form: sarif\n",
    );
    repository.git(&["switch", "--quiet", "topic"]);
    repository.write("shop.py", "def total(prices):\n    breakpoint()\n    return sum(prices)\n");
    repository.commit("another");
    repository.git(&["switch", "--quiet", "main"]);
    // Nobody can tell what the branch was made on top of.
    repository.git(&["branch", "--quiet", "-m", "trunk"]);
    let mut agents = Agents::start(&repository, &["engineer"]);
    let mut task = review_task("t", &json!({ "branch_name": "topic" }));
    task["type"] = json!("fix");
    drop_in(&repository, "engineer", &task);
    let line = agents.heard("Fix failed (");
    assert!(line.contains("nobody knows what the change was made on top of"), "{line}");
    assert!(!repository.path().join("marker").exists());
}
