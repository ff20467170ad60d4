//! What a change cannot do to those who review and mend it.

use super::*;

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
