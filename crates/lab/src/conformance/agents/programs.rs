//! The agents at pinned versions, each with its settings for the fake model.

use std::time::Duration;

use serde_json::{Value, json};

use super::AgentSetup;
use crate::peers;

/// An agent's command line.
pub(super) struct Program {
    /// The name of the agent, also in the configuration.
    pub(super) name: &'static str,
    package: &'static str,
    pub(super) version: &'static str,
    /// True if assay knows the error messages of the agent.
    pub(super) is_known: bool,
    /// The time limit of one answer in a faulty case.
    pub(super) patience: Duration,
    /// Returns the configuration of the agent for a model at an address.
    entry: fn(url: &str) -> Value,
    /// Returns variables of assay's environment, which assay passes on or not.
    variables: fn(url: &str) -> Vec<(&'static str, String)>,
    /// Returns files in the home folder of the agent.
    files: fn(url: &str) -> Vec<(&'static str, String)>,
}

pub(super) const PROGRAMS: [Program; 5] = [
    Program {
        name: "claude",
        package: "@anthropic-ai/claude-code",
        version: "2.1.325",
        is_known: true,
        patience: Duration::from_secs(8),
        entry: |_| json!({ "api": "claude" }),
        variables: |url| {
            vec![("ANTHROPIC_BASE_URL", url.to_owned()), ("ANTHROPIC_API_KEY", "fake".to_owned())]
        },
        files: |_| Vec::new(),
    },
    Program {
        name: "codex",
        package: "@openai/codex",
        version: "0.166.0",
        is_known: true,
        patience: Duration::from_secs(8),
        entry: |url| {
            let provider = format!(
                "model_providers.fake={{name=\"fake\",base_url=\"{url}/v1\",\
                 env_key=\"OPENAI_API_KEY\",wire_api=\"responses\",request_max_retries=1,\
                 stream_max_retries=1}}"
            );
            let run = ["codex", "-c", "model_provider=fake", "-c", &provider];
            json!({ "api": "codex", "model": "fake-model", "run": run })
        },
        variables: |_| vec![("OPENAI_API_KEY", "fake".to_owned())],
        files: |_| Vec::new(),
    },
    Program {
        name: "pi",
        package: "@mariozechner/pi-coding-agent",
        version: "0.73.1",
        is_known: false,
        patience: Duration::from_secs(10),
        entry: |_| {
            let run = [
                "pi", "-p", "--mode", "text", "--no-tools", "--no-session", "--no-context-files",
                "--offline", "--provider", "fake", "--model", "{model}",
            ];
            json!({ "api": "command", "model": "fake-model", "run": run, "answer": "text" })
        },
        variables: |_| Vec::new(),
        files: |url| {
            let model = json!({ "id": "fake-model", "contextWindow": 100_000, "maxTokens": 8_000 });
            let provider = json!({
                "baseUrl": format!("{url}/v1"), "api": "openai-completions", "apiKey": "fake",
                "models": [model],
            });
            let models = json!({ "providers": { "fake": provider } });
            vec![(".pi/agent/models.json", models.to_string())]
        },
    },
    Program {
        name: "qwen",
        package: "@qwen-code/qwen-code",
        version: "0.24.4",
        is_known: false,
        patience: Duration::from_secs(15),
        entry: |url| {
            let run = [
                "qwen", "--auth-type", "openai", "--approval-mode", "plan", "--output-format",
                "stream-json",
            ];
            json!({
                "api": "command", "model": "fake-model", "run": run, "answer": "jsonl:/result",
                "failed": "/error/message",
                "env": {
                    "OPENAI_BASE_URL": format!("{url}/v1"), "OPENAI_API_KEY": "fake",
                    "OPENAI_MODEL": "fake-model",
                },
            })
        },
        variables: |_| Vec::new(),
        files: |_| Vec::new(),
    },
    Program {
        name: "opencode",
        package: "opencode-ai",
        version: "1.18.33",
        is_known: false,
        patience: Duration::from_secs(15),
        entry: |url| {
            let provider = json!({
                "npm": "@ai-sdk/openai-compatible", "name": "fake",
                "options": { "baseURL": format!("{url}/v1"), "apiKey": "fake" },
                "models": { "fake-model": { "name": "fake-model" } },
            });
            let config = json!({ "autoupdate": false, "provider": { "fake": provider } });
            let run = ["opencode", "run", "--format", "json", "-m", "fake/{model}"];
            json!({
                "api": "command", "model": "fake-model", "run": run, "answer": "jsonl:/part/text",
                "failed": "/error/data/message",
                "env": { "OPENCODE_CONFIG_CONTENT": config.to_string() },
            })
        },
        variables: |_| Vec::new(),
        files: |_| Vec::new(),
    },
];

impl Program {
    /// Installs the agent with its runtime, and returns the folders of both.
    pub(super) fn install(&self) -> anyhow::Result<String> {
        let node = peers::node()?;
        let own = peers::npm(self.name, self.package, self.version)?.join("node_modules/.bin");
        Ok(format!("{}:{}", own.display(), node.display()))
    }

    /// Returns the settings of the agent for a model at an address.
    pub(super) fn setting(&self, url: &str, path: &str, seconds: Duration) -> AgentSetup {
        AgentSetup {
            path: path.to_owned(),
            name: self.name,
            entry: (self.entry)(url),
            seconds: seconds.as_secs(),
            variables: (self.variables)(url),
            files: (self.files)(url),
        }
    }
}
