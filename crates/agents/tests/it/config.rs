//! Tests of `config/agents.yaml` and the other configuration files.

use assay_agents::config::framework::TaskSettings;
use assay_agents::config::mcp::McpServers;
use assay_agents::config::roster::{BUILT_IN, Roster};
use assay_services::permit::Capability;
use expect_test::{Expect, expect};

fn roster(text: &str) -> Result<Roster, String> {
    Roster::parse(Some(text), &TaskSettings::default()).map_err(|error| error.to_string())
}

/// Checks the agents of a file, or its error.
fn check(text: &str, expected: &Expect) {
    let shown = match roster(text) {
        Err(error) => error,
        Ok(roster) => {
            let lines = roster.agents().iter().map(|agent| {
                format!(
                    "{} ({}) on {}{}: every {:?}, {} retries, {:?}",
                    agent.id,
                    agent.name,
                    agent.queue,
                    if agent.enabled { "" } else { ", off" },
                    agent.poll_interval,
                    agent.max_retries,
                    agent.timeout,
                )
            });
            lines.collect::<Vec<_>>().join("\n")
        }
    };
    expected.assert_eq(&shown);
}

#[test]
fn three_agents_are_built_in() {
    let built_in = expect![[r#"
        qa (Code Reviewer) on qa: every 30s, 5 retries, 1800s
        engineer (Engineer) on engineer: every 30s, 5 retries, 1800s
        architect (Architect) on architect: every 30s, 5 retries, 1800s"#]];
    check("", &built_in);
    check("# nothing but comments\n", &built_in);
    check(BUILT_IN, &built_in);
}

#[test]
fn an_agent_list_is_read_at_the_top_level_and_below_agents() {
    let item = "- id: qa
  name: Code Reviewer
  queue: qa            # Queue directory name
  enabled: true
  poll_interval: 30               # Seconds between polls (default)
  max_retries: 5                  # Max attempts for failed tasks
  timeout: 1800                   # Task timeout (30 minutes)
";
    let agents = expect![[r#"
        qa (Code Reviewer) on qa: every 30s, 5 retries, 1800s
        engineer (Engineer) on engineer: every 30s, 5 retries, 1800s
        architect (Architect) on architect: every 30s, 5 retries, 1800s"#]];
    check(item, &agents);
    check(&format!("agents:\n{item}"), &agents);
}

#[test]
fn omitted_agents_and_settings_have_the_built_in_values() {
    check(
        "- id: qa\n  timeout: 60\n- id: architect\n  enabled: false\n- id: writer\n",
        &expect![[r#"
            qa (Code Reviewer) on qa: every 30s, 5 retries, 60s
            architect (Architect) on architect, off: every 30s, 5 retries, 1800s
            writer (writer) on writer: every 30s, 5 retries, 1800s
            engineer (Engineer) on engineer: every 30s, 5 retries, 1800s"#]],
    );
}

#[test]
fn an_invalid_agent_file_is_reported_with_line_and_key() {
    check(
        "- id: qa\n  poll_intervall: 30\n",
        &expect![
            "cannot read `config/agents.yaml`, line 2 (`poll_intervall`): unknown key \
             `poll_intervall`, expected one of id, name, queue, enabled, replicas, poll_interval, \
             max_retries, timeout, prompt, model, permissions, jira, transitions, command; \
             did you mean `poll_interval`?"
        ],
    );
    check(
        "- id: qa\n  timeout: soon\n",
        &expect!["cannot read `config/agents.yaml`, line 2 (`timeout`): expected a number"],
    );
    check(
        "- id: qa\n  timeout: 0\n",
        &expect![
            "cannot read `config/agents.yaml`, line 2 (`timeout`): invalid value: `0`, \
             expected a number from 1"
        ],
    );
    check(
        "- id: ../qa\n",
        &expect![[
            r#"cannot read `config/agents.yaml`, line 1 (`id`): invalid agent "../qa": expected 1 to 128 letters, digits, `.`, `_` or `-`, and no leading dot"#
        ]],
    );
    check(
        "- id: qa\n- id: qa\n",
        &expect!["cannot read `config/agents.yaml`: duplicate agent `qa`"],
    );
    check(
        "- name: qa\n",
        &expect!["cannot read `config/agents.yaml`, line 1 (`name`): missing field `id`"],
    );
    check(
        "agent:\n- id: qa\n",
        &expect![
            "cannot read `config/agents.yaml`, line 1 (`agent`): unknown key `agent`, expected \
             one of agents; did you mean `agents`?"
        ],
    );
    check(
        "- id: qa\n  command: my-agent\n",
        &expect![
            "cannot read `config/agents.yaml`, line 2 (`command`): unknown command `my-agent`: \
             expected `claude`, `codex`, or a list of a program and its arguments"
        ],
    );
    check(
        "- id: qa\n  permissions: [everything]\n",
        &expect![
            "cannot read `config/agents.yaml`, line 2 (`permissions`): unknown value \
             `everything`, expected one of read, edit, push, github, jira, create_tickets"
        ],
    );
    check(
        "- id: qa\n  model: best\n",
        &expect![
            "cannot read `config/agents.yaml`, line 2 (`model`): unknown value `best`, expected \
             one of cheap, default, premium"
        ],
    );
}

#[test]
fn the_reviewers_prompt_has_the_six_directives() {
    let roster = roster("").unwrap();
    let prompt = &roster.find("qa").unwrap().prompt;
    for word in ["JSON", "file and line", "mend", "severity", "category", "REQUEST_CHANGES"] {
        assert!(prompt.contains(word), "{word}");
    }
}

#[test]
fn a_replica_name_resolves_to_its_agent() {
    let roster = roster("- id: qa-2\n").unwrap();
    let agent = |name| roster.find_by_worker(name).map(|agent| agent.id.to_string());
    assert_eq!(agent("engineer-12").as_deref(), Some("engineer"));
    assert_eq!(agent("qa-2").as_deref(), Some("qa-2"));
    assert_eq!(agent("somebody"), None);
    assert_eq!(agent("engineer-x"), None);
}

#[test]
fn mcp_servers_are_parsed_and_passed_on_unchanged() {
    let text = r#"{"mcpServers":{"queue":{"command":"assay","args":["mcp","task-queue"]},"web":{"type":"http","url":"http://127.0.0.1:1"}}}"#;
    assert_eq!(McpServers::parse(text).unwrap().to_json(), text);
    let error = |text| McpServers::parse(text).unwrap_err().to_string();
    expect!["cannot read `config/mcp-config.json`: `mcpServers.a` has neither `command` nor `url`"]
        .assert_eq(&error(r#"{"mcpServers":{"a":{}}}"#));
    expect![
        "cannot read `config/mcp-config.json`: unknown field `mcpServer`, expected `mcpServers` at \
         line 2 column 11"
    ]
    .assert_eq(&error("{\n\"mcpServer\":{}}"));
}

#[test]
fn permissions_limit_the_capabilities_and_transitions_of_an_agent() {
    let roster = roster("- id: qa\n  transitions: [Done]\n").unwrap();
    let may =
        |agent: &str, deed: Capability| roster.find(agent).unwrap().permit().check(deed).is_ok();
    let all = [
        Capability::WriteOnGithub,
        Capability::Push,
        Capability::WriteInJira,
        Capability::CreateTickets,
    ];
    assert_eq!(all.map(|deed| may("qa", deed)), [true, false, true, false]);
    assert_eq!(all.map(|deed| may("engineer", deed)), [true, true, true, false]);
    assert_eq!(all.map(|deed| may("architect", deed)), [true; 4]);
    let qa = roster.find("qa").unwrap().permit();
    let moves = ["approved", "Changes Requested", "Done", "Code Review"];
    let may_move = moves.map(|name| qa.check_transition(name).is_ok());
    assert_eq!(may_move, [true, true, true, false]);
}
