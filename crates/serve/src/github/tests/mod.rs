//! Tests of the tools, with a fake of GitHub that is stricter than the real one.

mod failing;
mod permitting;
mod reading;
mod writing;

use std::time::Duration;

use assay_sandbox::{Key, KeySource, Keys};
use assay_services::github::WRITE_LIMITS;
use assay_services::http::RateLimiter;
use assay_services::http::{ServiceClock, WaitRefused};
use assay_testkit::github::{self as fake, Access, Fault, FaultTiming, NewPull, sha};
use assay_testkit::jira::FakeJira;
use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::test_clients;

const REPO: &str = "octo/demo";
const TOKEN: &str = "t-assay-secret";

/// A fake GitHub with a pull request, and the settings of the server for it.
struct GithubFixture {
    github: Arc<fake::GitHub>,
    clock: Arc<FakeClock>,
    served: fake::Server,
    kept: TempDir,
    number: u64,
    repositories: Vec<&'static str>,
    permit: Permit,
    /// The client of JIRA; `None` if JIRA is not configured.
    tickets: Option<Jira>,
}

/// The clock of the fake, which advances when a client waits.
struct FakeClock(Arc<fake::GitHubClock>);

impl ServiceClock for FakeClock {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn wait(&self, time: Duration, _: &str) -> Result<(), WaitRefused> {
        self.0.advance(time);
        Ok(())
    }
}

/// Returns a diff that adds `lines` lines to each of `files` files.
fn diff(files: usize, lines: usize) -> String {
    let added: String = (1..=lines).map(|line| format!("+line {line}\n")).collect();
    let file = |file| {
        format!(
            "diff --git a/src/{file}.rs b/src/{file}.rs\nnew file mode 100644\n--- /dev/null\n\
             +++ b/src/{file}.rs\n@@ -0,0 +1,{lines} @@\n{added}"
        )
    };
    (1..=files).map(file).collect()
}

impl GithubFixture {
    fn new() -> GithubFixture {
        GithubFixture::with(|pull| pull)
    }

    fn with(change: impl FnOnce(NewPull) -> NewPull) -> GithubFixture {
        let clock = Arc::new(fake::GitHubClock::stopped());
        let github = Arc::new(fake::GitHub::new(Arc::clone(&clock)));
        github.add_repository(REPO);
        github.add_token("assay-bot", TOKEN, Access::User);
        github.add_token("ann", "t-ann", Access::User);
        github.add_token("ci", "t-ci", Access::App);
        let pull = NewPull::new("ann", "feature", &sha("head 1"), &diff(2, 10));
        let number = github.open_pull(REPO, change(pull));
        GithubFixture {
            served: Arc::clone(&github).serve(),
            github,
            clock: Arc::new(FakeClock(clock)),
            kept: tempfile::tempdir().unwrap(),
            number,
            repositories: vec![REPO],
            permit: Permit::Person,
            tickets: None,
        }
    }

    fn server(&self, url: &str, token: Option<&str>) -> Server {
        let source =
            KeySource::Variable { name: "GITHUB_TOKEN".to_owned(), value: token.map(Key::new) };
        let pace = RateLimiter::in_dir(self.kept.path().to_owned(), WRITE_LIMITS);
        let clock = Arc::clone(&self.clock);
        let tools = GithubTools {
            github: GitHub::new(&url.parse().unwrap(), Keys::new(source), pace, clock),
            repositories: self.repositories.iter().map(|name| name.parse().unwrap()).collect(),
            permit: self.permit.clone(),
            tickets: self.tickets.clone(),
        };
        server(tools, "1.0.0")
    }

    /// Calls a tool. Fails if the result does not match the published schema.
    fn call(&self, tool: &str, arguments: Value) -> Result<Value, String> {
        call(&self.server(&self.served.url(), Some(TOKEN)), tool, arguments)
    }

    /// Calls a tool that refuses. Fails if a request took effect.
    fn refusal(&self, tool: &str, arguments: Value) -> String {
        let refusal = self.call(tool, arguments).unwrap_err();
        let effects: Vec<String> = self.requests_where(|logged| logged.took_effect);
        assert_eq!(effects, [""; 0], "{refusal}");
        refusal
    }

    /// Returns the requests that match `which`, as method and path.
    fn requests_where(&self, which: impl Fn(&fake::LoggedRequest) -> bool) -> Vec<String> {
        let log = self.github.log();
        let log = log.iter().filter(|logged| which(logged));
        log.map(|logged| format!("{} {}", logged.method, logged.path)).collect()
    }

    /// Returns the bodies of the requests that took effect.
    fn written_bodies(&self) -> Vec<Value> {
        let log = self.github.log().into_iter();
        log.filter(|logged| logged.took_effect).map(|logged| logged.body).collect()
    }
}

fn call(server: &Server, tool: &str, arguments: Value) -> Result<Value, String> {
    let tool = server.tool(tool).unwrap();
    let answer = tool.call(arguments).map_err(|refusal| refusal.to_string())?.value;
    let published = Value::Object(tool.output().clone());
    if let Err(error) = jsonschema::validate(&published, &answer) {
        panic!("{error}: {answer:#}");
    }
    Ok(answer)
}

fn check(answer: &Value, expected: &Expect) {
    expected.assert_eq(&format!("{answer:#}"));
}

fn review(comments: Value) -> Value {
    json!({ "pr_number": 1, "event": "REQUEST_CHANGES", "body": "Not yet.", "comments": comments })
}

/// Returns a valid call of every tool.
fn valid_calls() -> Vec<(&'static str, Value)> {
    vec![
        ("github_get_pr", json!({ "pr_number": 1 })),
        ("github_get_pr_by_branch", json!({ "branch": "feature" })),
        ("github_get_pr_diff", json!({ "pr_number": 1 })),
        ("github_get_pr_comments", json!({ "pr_number": 1 })),
        ("github_get_check_runs", json!({ "pr_number": 1 })),
        ("github_add_pr_comment", json!({ "pr_number": 1, "body": "Thanks." })),
        ("github_submit_review", review(json!([]))),
        ("github_create_branch", json!({ "branch": "fix" })),
        ("github_create_pr", json!({ "title": "Fix", "head": "other" })),
        ("github_update_pr", json!({ "pr_number": 1, "title": "Better" })),
        ("github_link_pr_to_jira", json!({ "pr_number": 1, "jira_key": "PROJ-1" })),
    ]
}

/// Returns a valid call of every tool that writes.
fn valid_writing_calls() -> Vec<(&'static str, Value)> {
    valid_calls().split_off(5)
}
