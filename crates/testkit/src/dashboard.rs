//! A running `assay serve` for tests of its pages and its API: [`DashboardFixture`].

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::devtools::BrowserTab;
use crate::model::{FakeModel, SmallReview};
use crate::storm::Server;
use crate::{Repository, webhook};

/// The token of the server.
pub const TOKEN: &str = "a-token-for-tests-of-pages";

/// The branch of the change.
const CHANGE_BRANCH: &str = "topic";

/// The files before the change, and after.
const BEFORE: &str = "def total(prices):\n    return sum(prices)\n";
const AFTER: &str = "\
import subprocess


def total(prices):
    breakpoint()
    return sum(prices, 0)


def ping(host):
    return subprocess.run(\"ping \" + host, shell=True)


def load(text):
    return eval(text)
";
const SCRIPT: &str = "export function show(name) {\n  debugger;\n  return eval(name);\n}\n";

/// A spec with a criterion that a person has to judge.
const SPEC: &str = "# Greeting\n\n## Acceptance Criteria\n\n- The greeting is polite & kind\n";

/// A plan with a milestone without criteria.
const PLAN: &str = "# Plan\n\n## Milestone M1: Greet\n\nSay hello.\n";

/// A server over a repository with reviews, tasks and an agent, or without.
pub struct DashboardFixture {
    program: PathBuf,
    repository: Repository,
    server: Server,
}

/// A page, and a text that it shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedPage {
    /// The path of the page.
    pub path: String,
    /// A part of the visible text.
    pub text: String,
}

impl DashboardFixture {
    /// Starts a server for a repository without reviews and tasks.
    pub fn without_data(program: &Path) -> DashboardFixture {
        DashboardFixture::start(program, Repository::new())
    }

    /// Starts a server for a repository with reviews by rules and a model, a validation loop, a
    /// quality gate, tasks in every state, and an agent.
    pub fn with_data(program: &Path) -> DashboardFixture {
        let repository = Repository::new();
        let model = FakeModel::start(SmallReview);
        repository.write("config/agent-framework.yaml", configuration(&model.url()));
        repository.write("shop/prices.py", BEFORE);
        repository.commit("a shop");
        let fixture = DashboardFixture::start(program, repository);
        fixture.review_change();
        fixture.verify_plan();
        fixture.run_loop();
        fixture.add_tasks();
        fixture.add_agent();
        fixture
    }

    fn start(program: &Path, repository: Repository) -> DashboardFixture {
        let home = repository.state_home().to_str().unwrap().to_owned();
        let variables = [("XDG_STATE_HOME", home.as_str()), ("ASSAY_TEST_TOKEN", TOKEN)];
        let args = ["--listen", "127.0.0.1:0", "--token-env", "ASSAY_TEST_TOKEN"];
        let server = Server::start(program, repository.path(), &args, &variables).unwrap();
        DashboardFixture { program: program.to_owned(), repository, server }
    }

    fn review_change(&self) {
        self.repository.git(&["switch", "--quiet", "--create", CHANGE_BRANCH]);
        self.repository.write("shop/prices.py", AFTER);
        self.repository.write("web/cart.js", SCRIPT);
        self.repository.commit("prices can be loaded");
        self.run(&["review", "--models"], 1);
        self.repository.write("web/cart.js", SCRIPT.replace("  debugger;\n", ""));
        self.repository.commit("no debugger");
        self.run(&["review", "--models"], 1);
    }

    /// Runs the loop of a spec whose criterion no check can judge, until a person has to decide.
    fn run_loop(&self) {
        self.repository.write("greeting.txt", "hello\n");
        self.repository.write("specs/001-greeting/spec.md", SPEC);
        let subtask = json!({ "id": "1.1", "title": "Say hello", "status": "completed" });
        let plan = json!({
            "feature": "Greeting",
            "verification_strategy": { "risk_level": "trivial" },
            "phases": [{ "name": "one", "subtasks": [subtask] }],
        });
        self.repository.write("specs/001-greeting/implementation_plan.json", plan.to_string());
        self.run(&["qa", "--spec", "001", "--no-models"], 4);
    }

    /// Verifies the list of a plan that lacks criteria, on a branch of its own.
    fn verify_plan(&self) {
        self.repository.git(&["switch", "--quiet", "--create", "greeting", "main"]);
        self.repository.write("plan.md", PLAN);
        let gate = |args: &[&str], code| {
            self.run(&[&["gate"], args, &["--phase", "plan-structure"]].concat(), code);
        };
        gate(&["decompose", "--plan", "plan.md"], 0);
        gate(&["verify"], 1);
    }

    fn add_tasks(&self) {
        let push = |queue: &str, kind: &str, id: &str, title: &str, more: &[&str]| {
            let args =
                ["queue", "push", "--queue", queue, "--type", kind, "--id", id, "--title", title];
            self.run(&[&args, more].concat(), 0);
        };
        push("jobs", "export", "export", "Export the findings", &[]);
        self.claim_job();
        let error = "the folder of the export is full";
        let fail = ["queue", "fail", "export", "--agent", "script", "--fence", "1", "--for-good"];
        self.run(&[&fail[..], &["--error", error]].concat(), 0);
        push("jobs", "copy", "copy", "Copy the ledger", &[]);
        self.claim_job();
        push("qa", "review", "review-login", "Review the login", &[]);
        push("qa", "review", "review-cart", "Review the cart", &["--depends-on", "no-such-task"]);
        let after = ["--depends-on", "review-login"];
        push("engineer", "implementation", "log-out", "Log out again", &after);
    }

    fn claim_job(&self) {
        self.run(&["queue", "claim", "--queue", "jobs", "--agent", "script"], 0);
    }

    /// Writes the heartbeat of an agent that is gone.
    fn add_agent(&self) {
        let heartbeat = json!({
            "agent": "qa", "queue": "qa", "state": "idle", "task": null, "host": "build7",
            "since": "2026-05-01T08:00:00.000Z", "at": "2026-05-01T08:00:00.000Z",
            "every_seconds": 30, "pid": 1, "version": "1.0.0",
        });
        self.repository.write(".agent-communication/heartbeats/qa.json", format!("{heartbeat}\n"));
    }

    /// Runs the program in the repository. Panics if its exit code is another one.
    pub fn run(&self, args: &[&str], code: i32) -> String {
        let output = Command::new(&self.program)
            .args(args)
            .current_dir(self.repository.path())
            .env("XDG_STATE_HOME", self.repository.state_home())
            .env("FAKE_KEY", "sk-test-5d0f8a7c61e94b23")
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        said
    }

    /// Returns the host and port of the server.
    pub fn address(&self) -> &str {
        self.server.address()
    }

    /// Returns the address of a page.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.server.address())
    }

    /// Reads from the API.
    pub fn get(&self, path: &str) -> Value {
        let bearer = format!("Bearer {TOKEN}");
        let headers = [("authorization", bearer.as_str())];
        webhook::send(self.server.address(), "GET", path, &headers, b"").unwrap().json()
    }

    /// Returns the id of the first open finding.
    pub fn finding(&self) -> String {
        let findings = self.get("/api/v1/findings");
        findings["findings"][0]["id"].as_str().expect("an open finding").to_owned()
    }

    /// Returns the id of the newest review of the change; the validation loop has reviews of its own.
    pub fn newest_run(&self) -> String {
        let runs = self.get("/api/v1/runs");
        let mut runs = runs["runs"].as_array().into_iter().flatten();
        let run = runs.find(|run| run["branch"] == CHANGE_BRANCH).expect("a run");
        run["id"].as_str().expect("a run has an id").to_owned()
    }

    /// Returns all pages that show data, for a fixture with data.
    pub fn pages(&self) -> Vec<ExpectedPage> {
        let (run, finding) = (self.newest_run(), self.finding());
        let title = self.get(&format!("/api/v1/findings/{finding}"))["title"].clone();
        let title = title.as_str().expect("a title");
        [
            ("/", "Review the login"),
            ("/", title),
            ("/runs", run.as_str()),
            (&format!("/runs/{run}"), "breakpoint()"),
            ("/findings", title),
            ("/findings?state=gone", "Debugger statement left in"),
            (&format!("/findings/{finding}"), "Why is this finding not to be fixed?"),
            ("/loops", "001-greeting"),
            ("/loops/001-greeting", "Decide that this holds"),
            ("/gates", "plan-structure"),
            ("/gates/plan-structure", "Accept this item"),
            ("/reviewers", "rules"),
            ("/spend", "Tokens by model"),
            ("/tasks/export", "the folder of the export is full"),
            ("/audit", "Actions of users"),
            ("/api", "GET /api/v1/findings"),
        ]
        .map(|(path, text)| ExpectedPage { path: path.to_owned(), text: text.to_owned() })
        .into()
    }

    /// Signs in with the keyboard, and is led to the first page.
    pub fn sign_in(&self, tab: &BrowserTab) {
        assert_eq!(tab.open(&self.url("/login")), 200);
        tab.go_to("input[name=token]");
        tab.type_text(TOKEN);
        assert_eq!(tab.load(|| tab.press("Enter")), 200);
    }
}

fn configuration(url: &str) -> String {
    format!(
        "models:\n  use:\n    fake:\n      api: anthropic\n      model: fake-1\n      \
         url: {url}\n      key_env: FAKE_KEY\n      usd_per_million: {{ input: 1, output: 5 }}\n  \
         budget: {{ run: {{ usd: 2 }} }}\n"
    )
}
