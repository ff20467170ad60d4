//! The binary, run as users run it: arguments, output and exit codes.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, missing_docs)]
#![allow(clippy::disallowed_methods, reason = "tests are outside of the layers")]

mod action;
mod action_review;
mod agents;
mod analysers;
mod ci_examples;
mod configuration;
mod dashboard;
mod delegation;
mod demo;
mod docs;
mod electron;
mod eval;
mod faults;
mod gates;
mod github;
mod github_token;
mod gitlab;
mod hyperlinks;
mod injection;
mod interrupts;
mod jira;
mod layering;
mod ledger;
mod lsp;
mod lsp_edits;
mod mcp;
mod mcp_attacks;
mod models;
mod modules;
mod nothing_to_review;
mod planted;
mod plumbing;
mod qa;
mod queue;
mod queue_entries;
mod report;
mod review;
mod review_e2e;
mod review_imports;
mod review_output;
mod review_scopes;
mod rules;
mod secrets;
mod serve;
mod shared_ledger;
mod staged_fixes;
mod state;
mod statistics;
mod stdout;
mod templates;
mod traces;
mod unreadable;
mod watch_prs;

use std::cell::RefCell;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The output and the exit code of a command.
struct AssayRun {
    stdout: String,
    stderr: String,
    code: i32,
}

impl AssayRun {
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stdout, self.stderr))
    }
}

/// Returns the state home of all tests that name no other one. It is outside of every work tree of
/// a test.
fn state_home() -> &'static str {
    concat!(env!("CARGO_TARGET_TMPDIR"), "/state")
}

/// Returns the folder of the user's configuration for tests that name no other one. It has none.
fn config_home() -> &'static str {
    concat!(env!("CARGO_TARGET_TMPDIR"), "/no-config")
}

/// Runs assay in a folder with an input.
fn assay_in(folder: &Path, args: &[&str], input: &[u8]) -> AssayRun {
    assay_with(folder, args, input, &[])
}

thread_local! {
    /// The database of the ledger in this test; `None` for a ledger in a file.
    static LEDGER_URL: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Runs a test with its ledger in PostgreSQL.
fn with_ledger_on_postgres(test: fn()) {
    LEDGER_URL.set(Some(assay_testenv::postgres::schema()));
    test();
}

/// Defines tests that run those of the same names with their ledger in PostgreSQL.
macro_rules! also_on_postgres {
    ($($test:ident,)*) => {
        mod on_postgres {
            $(
                #[test]
                fn $test() {
                    crate::with_ledger_on_postgres(super::$test);
                }
            )*
        }
    };
}
use also_on_postgres;

/// The variables that make assay send traces.
const ENDPOINTS_OF_TRACES: [&str; 3] =
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "TRACEPARENT"];

/// Prepares assay in a folder, without variables of the tester's environment that affect the
/// result.
fn command_in(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(args).current_dir(folder).env("NO_COLOR", "1").env_remove("CARGO_HOME");
    command.env("XDG_STATE_HOME", state_home()).env("XDG_CONFIG_HOME", config_home());
    for key in ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL"] {
        command.env_remove(key);
    }
    for name in ["JIRA_USER", "JIRA_API_TOKEN", "LINEAR_API_KEY", "LINEAR_TEAM_ID", "ASSAY_AGENT"] {
        command.env_remove(name);
    }
    command.env_remove("GRAPHITI_ENABLED").env_remove("GRAPHITI_MCP_URL");
    for name in ENDPOINTS_OF_TRACES {
        command.env_remove(name);
    }
    command.env_remove("GITHUB_TOKEN").env_remove("GITHUB_API_URL");
    command.env_remove("GITLAB_TOKEN").env_remove("CI_API_V4_URL");
    match LEDGER_URL.with_borrow(Clone::clone) {
        Some(url) => command.env("ASSAY_LEDGER_URL", url),
        None => command.env_remove("ASSAY_LEDGER_URL"),
    };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs assay in a folder with an input and with variables.
fn assay_with(folder: &Path, args: &[&str], input: &[u8], variables: &[(&str, &str)]) -> AssayRun {
    let mut command = command_in(folder, args);
    command.envs(variables.iter().copied());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A command that needs no input may have exited already.
    let _ = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let signal = || {
        panic!("{args:?} ended by {}: {}", output.status, String::from_utf8_lossy(&output.stderr))
    };
    let code = output.status.code().unwrap_or_else(signal);
    AssayRun {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code,
    }
}

/// Runs assay in the current folder, for commands that do not depend on it.
fn assay(args: &[&str], input: &str) -> AssayRun {
    assay_in(Path::new("."), args, input.as_bytes())
}
