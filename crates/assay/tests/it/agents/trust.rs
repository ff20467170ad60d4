//! Attacks of a change on its reviewers and fixers.

use super::*;

#[test]
fn commands_configured_by_an_earlier_commit_of_a_branch_are_not_run() {
    let outside = tempfile::tempdir().unwrap();
    let marker = outside.path().join("marker");
    let evil = format!(
        "review:\n  commands:\n    - name: evil\n      run: [touch, {}]\n      form: sarif\n",
        marker.display(),
    );
    let repository = with_change(QUICK, "config/agent-framework.yaml", &evil);
    repository.git(&["switch", "--quiet", "topic"]);
    repository.write("shop.py", "def total(prices):\n    breakpoint()\n    return sum(prices)\n");
    repository.commit("another");
    repository.git(&["switch", "--quiet", "main"]);
    // The base of the branch cannot be determined.
    repository.git(&["branch", "--quiet", "-m", "trunk"]);
    let mut agents = Agents::start(&repository, &["engineer"]);
    let mut task = review_task("t", &json!({ "branch_name": "topic" }));
    task["type"] = json!("fix");
    drop_in(&repository, "engineer", &task);
    let line = agents.wait_for_line("Fix ");
    assert!(!marker.exists(), "{line}");
    assert!(line.contains("the base of the change is unknown"), "{line}");
}

/// A `claude` that records its arguments, and does its task.
const CLAUDE: &str = r#"#!/bin/sh
printf '%s\n' "$@" "$CLAUDE_CODE_DISABLE_ATTACHMENTS" "$CLAUDE_CODE_SAFE_MODE" \
    "$ASSAY_AGENT" > told.txt
echo '{"type": "result", "result": "I wrote it down."}'
"#;

/// Runs a task with the engineer's `claude`, and returns the agents.
fn with_claude<'a>(
    repository: &'a Repository,
    programs: &tempfile::TempDir,
    script: &str,
) -> Agents<'a> {
    use std::os::unix::fs::PermissionsExt;
    let program = programs.path().join("claude");
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    repository.write(
        "config/agents.yaml",
        "- id: engineer\n  command: claude\n  permissions: [read, edit]\n",
    );
    let path = format!("{}:{}", programs.path().display(), std::env::var("PATH").unwrap());
    let agents = Agents::start_with(repository, &[], &[("PATH", &path)]);
    let mut task = review_task("t", &json!({ "branch_name": "topic" }));
    task["type"] = json!("implementation");
    drop_in(repository, "engineer", &task);
    agents
}

#[test]
fn claude_runs_without_the_settings_and_mcp_servers_of_the_branch() {
    let repository = with_change(QUICK, "shop.py", "def total(prices):\n    return 0\n");
    let programs = tempfile::tempdir().unwrap();
    let mut agents = with_claude(&repository, &programs, CLAUDE);
    agents.wait_for_line("`topic` is ready for review");
    let arguments = repository.git(&["show", "topic:told.txt"]);
    let arguments: Vec<&str> = arguments.lines().collect();
    assert!(arguments.contains(&"--strict-mcp-config"), "{arguments:?}");
    assert!(
        arguments.windows(2).any(|pair| pair == ["--setting-sources", "user"]),
        "{arguments:?}"
    );
    assert_eq!(arguments[arguments.len() - 3..], ["1", "1", "engineer"]);
    assert_eq!(agents.stop(), 0);
}

#[test]
fn an_agent_cannot_change_the_configuration_of_the_agents() {
    let repository = with_change(QUICK, "shop.py", "def total(prices):\n    return 0\n");
    let programs = tempfile::tempdir().unwrap();
    let script = "#!/bin/sh\nmkdir -p config; echo '- id: mine' > config/agents.yaml; echo done\n";
    let mut agents = with_claude(&repository, &programs, script);
    let line = agents.wait_for_line("Implementation failed (");
    assert!(line.contains("the work changes `config/agents.yaml`"), "{line}");
    agents.wait_for_line("escalates the task to a person");
    assert_eq!(repository.git(&["log", "--format=%s", "-1", "topic"]), "a change");
}
