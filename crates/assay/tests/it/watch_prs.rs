//! `assay watch-prs` and `assay queue push --pr`, on a fake GitHub.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::Arc;

use assay_testkit::github::{self as fake, Access, Fault, GitHubClock, NewPull, Server, sha};
use assay_testkit::jira::{self, FakeJira};
use assay_testkit::{Repository, storm};
use expect_test::expect;
use serde_json::{Value, json};

use crate::mcp::tool_with;
use crate::{AssayRun, assay_with};

const REPO: &str = "octo/demo";
const TOKEN: &str = "t-very-secret";
const DIFF: &str =
    "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+a\n";

/// A repository on a fake GitHub.
struct WatchFixture {
    github: Arc<fake::GitHub>,
    repository: Repository,
    state: tempfile::TempDir,
    _server: Server,
}

impl WatchFixture {
    /// Sets up the fixture with additional configuration for GitHub, and other sections after it.
    fn new(more: &str) -> WatchFixture {
        let github = Arc::new(fake::GitHub::new(Arc::new(GitHubClock::stopped())));
        github.add_repository(REPO);
        github.add_token("bot", TOKEN, Access::User);
        let server = Arc::clone(&github).serve();
        let repository = Repository::new();
        let url = server.url();
        let configuration = format!(
            "github:\n  url: {url}\n  token_env: FAKE_TOKEN\n  repositories: [{REPO}]\n{more}"
        );
        repository.write("config/agent-framework.yaml", &configuration);
        WatchFixture { github, repository, state: tempfile::tempdir().unwrap(), _server: server }
    }

    fn open(&self, branch: &str, title: &str, labels: &[&str]) -> u64 {
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        let new = NewPull::new("ann", branch, &sha(branch), DIFF);
        self.github.open_pull(REPO, NewPull { title: title.to_owned(), labels, ..new })
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("FAKE_TOKEN", TOKEN.to_owned()),
            ("XDG_STATE_HOME", self.state.path().display().to_string()),
            ("JIRA_USER", jira::USER.to_owned()),
            ("JIRA_API_TOKEN", jira::TOKEN.to_owned()),
        ]
    }

    fn assay(&self, args: &[&str]) -> AssayRun {
        let variables = self.variables();
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let ran = assay_with(self.repository.path(), args, b"", &variables);
        assert!(!(ran.stdout.clone() + &ran.stderr).contains(TOKEN), "{}", ran.stderr);
        ran
    }

    fn once(&self, args: &[&str]) -> AssayRun {
        self.assay(&[&["watch-prs", "--once"], args].concat())
    }

    /// Returns the ids of the waiting tasks.
    fn waiting(&self) -> Vec<String> {
        let listed = self.assay(&["queue", "list", "--status", "pending", "--json"]).json();
        let tasks = listed["tasks"].as_array().unwrap().iter();
        tasks.map(|listed| listed["task"]["id"].as_str().unwrap().to_owned()).collect()
    }
}

/// Returns the output and the exit code of a command.
fn said(ran: &AssayRun) -> String {
    format!("{}{}[exit {}]\n", ran.stdout, ran.stderr, ran.code)
}

#[test]
fn two_polls_queue_one_task_and_a_new_head_queues_another() {
    let fixture = WatchFixture::new("");
    let number = fixture.open("feature/PROJ-1", "Log in\u{202e}", &[]);
    expect![[r#"
        octo/demo#1: queued review-octo.demo-1-main-c2d816ca40df150ab0987dcbf52331cb09b4de0d in `qa`  Log in\u{202e}
        [exit 0]
    "#]]
    .assert_eq(&said(&fixture.once(&[])));
    expect![[r#"
        1 pull request was queued before
        [exit 0]
    "#]]
    .assert_eq(&said(&fixture.once(&[])));
    assert_eq!(fixture.waiting().len(), 1);
    fixture.github.move_head(REPO, number, &sha("next"), DIFF);
    let again = fixture.once(&["--json"]).json();
    assert_eq!(again["queued"][0]["head"], sha("next"));
    assert_eq!((&again["passed_over"], &again["failed"]), (&json!([]), &json!([])));
    assert_eq!(fixture.waiting().len(), 2);
}

#[test]
fn every_way_to_ask_for_a_review_leads_to_the_same_task() {
    let fixture = WatchFixture::new("");
    fixture.open("feature/PROJ-1", "Log in", &[]);
    let task = format!("review-octo.demo-1-main-{}", sha("feature/PROJ-1"));
    let by_hand = || fixture.assay(&["queue", "push", "--pr", "octo/demo#1", "--for", "qa"]);
    assert_eq!(said(&by_hand()), format!("queued {task} in `qa`\n[exit 0]\n"));
    let there = format!("task `{task}` already exists (pending, in `qa`)\n[exit 0]\n");
    assert_eq!(said(&by_hand()), there);
    assert_eq!(said(&fixture.once(&[])), "1 pull request was queued before\n[exit 0]\n");
    let asked = json!({
        "agent_id": "qa", "task_type": "review", "title": "Review PR #1", "description": "Do.",
        "context": { "jira_key": "PROJ-1", "github_repo": REPO, "pr_number": 1 },
    });
    let variables = fixture.variables();
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let queue = |variables: &[(&str, &str)]| {
        tool_with(fixture.repository.path(), "queue_task_for_agent", &asked, variables).unwrap()
    };
    let answer = queue(&variables);
    assert_eq!((&answer["task_id"], &answer["already_there"]), (&json!(task), &json!(true)));
    assert_eq!(fixture.waiting(), [task.as_str()]);
    let shown = fixture.assay(&["queue", "push", "--pr", "octo/demo#1", "--json"]).json();
    let keys: Vec<&String> = shown[0]["context"].as_object().unwrap().keys().collect();
    let expected = [
        "jira_key", "jira_project", "github_repo", "pr_number", "pr_url", "branch_name",
        "base_branch", "head_commit",
    ];
    assert_eq!(keys, expected);
    // Without a token the pull request cannot be looked up, and the task is queued as requested.
    let answer = queue(&[]);
    assert!(answer["task_id"].as_str().unwrap().starts_with("review-qa-"), "{answer}");
}

#[test]
fn the_action_asks_a_server_for_the_same_task() {
    let fixture = WatchFixture::new("");
    fixture.open("topic", "Log in", &[]);
    let variables = fixture.variables();
    let variables: Vec<(&str, &str)> =
        variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let (program, folder) = (Path::new(env!("CARGO_BIN_EXE_assay")), fixture.repository.path());
    let server = storm::Server::start(program, folder, &["--listen", "127.0.0.1:0"], &variables);
    let server = server.unwrap();
    let token = std::fs::read_to_string(folder.join(".assay/serve/token")).unwrap();
    let url = format!("http://{}", server.address());
    let head = sha("topic");
    let values = [
        ("QUEUE_URL", url.as_str()),
        ("QUEUE_TOKEN", token.trim()),
        ("AGENT", "qa"),
        ("NUMBER", "1"),
        ("REPOSITORY", REPO),
        ("HEAD_COMMIT", &head),
    ];
    for state in ["queued", "already_there"] {
        let (said, code) = crate::action::run("queue", folder, &values);
        assert_eq!(code, 0, "{said}");
        assert!(
            said.starts_with("the server queued the review: ") && said.contains(state),
            "{said}"
        );
        assert!(!said.contains(token.trim()), "{said}");
    }
    assert_eq!(said(&fixture.once(&[])), "1 pull request was queued before\n[exit 0]\n");
    assert_eq!(fixture.waiting(), [format!("review-octo.demo-1-main-{head}")]);
    assert_eq!(server.stop().0, Some(0));
}

#[test]
fn queue_push_takes_priority_title_and_queue_and_refuses_a_closed_pull_request() {
    let fixture = WatchFixture::new("");
    let number = fixture.open("topic", "Log in", &[]);
    let asked = ["queue", "push", "--pr", "octo/demo#1", "--priority", "3", "--title", "Look well"];
    let task = fixture.assay(&[&asked[..], &["--queue", "engineer", "--json"]].concat()).json();
    assert_eq!((&task[0]["priority"], &task[0]["title"]), (&json!(3), &json!("Look well")));
    assert_eq!(task[0]["assigned_to"], "engineer");
    fixture.github.merge(REPO, number);
    expect![[r#"
        error: octo/demo#1 is closed; only open pull requests are reviewed
        [exit 2]
    "#]]
    .assert_eq(&said(&fixture.assay(&["queue", "push", "--pr", "octo/demo#1"])));
    let limit = Fault::SecondaryLimit { retry_after: Some(7_000) };
    fixture.github.fail_next("GET /repos/octo/demo/pulls/1", limit);
    expect![[r#"
        error: GitHub rate limit: `GET /repos/octo/demo/pulls/1` must wait for 7000 s; retry later
        [exit 3]
    "#]]
    .assert_eq(&said(&fixture.assay(&["queue", "push", "--pr", "octo/demo#1"])));
}

#[test]
fn labels_of_the_command_replace_those_of_the_configuration() {
    let fixture = WatchFixture::new("  labels: [ready-for-review]\n");
    fixture.open("a", "Ready", &["ready-for-review"]);
    fixture.open("b", "Urgent", &["urgent"]);
    let numbers = |ran: AssayRun| -> Vec<Value> {
        let answer = ran.json();
        answer["queued"].as_array().unwrap().iter().map(|it| it["number"].clone()).collect()
    };
    assert_eq!(numbers(fixture.once(&["--json"])), [1]);
    assert_eq!(numbers(fixture.once(&["--json", "--label", "urgent", "--label", "x"])), [2]);
    expect![[r#"
        octo/demo#1: skipped, none of the labels is set
        octo/demo#2: skipped, none of the labels is set
        [exit 0]
    "#]]
    .assert_eq(&said(&fixture.once(&["--label", "x"])));
}

#[test]
fn pull_requests_are_skipped_until_their_ticket_has_the_required_status() {
    let fake = FakeJira::cloud();
    let fixture = WatchFixture::new(&format!("jira:\n  url: {}\n", fake.serve().url()));
    fake.add("Task", "A task");
    fixture.open("feature/PROJ-1-login", "Log in", &[]);
    fixture.open("feature/PROJ-9", "Log out", &[]);
    let status = ["--jira-status", "code review"];
    expect![[r#"
        octo/demo#1: skipped, PROJ-1 is in `To Do`
        octo/demo#2: skipped, unknown ticket PROJ-9
        [exit 0]
    "#]]
    .assert_eq(&said(&fixture.once(&status)));
    fake.set("PROJ-1", "status", json!("Code Review"));
    let ran = fixture.once(&status);
    assert!(
        ran.stdout.starts_with("octo/demo#1: queued review-octo.demo-1-main-"),
        "{}",
        said(&ran)
    );
    expect![[r#"
        error: JIRA is not configured: set `jira.url` in the configuration
        [exit 2]
    "#]]
    .assert_eq(&said(&WatchFixture::new("").once(&status)));
}

#[test]
fn a_pull_request_that_found_the_queue_full_is_queued_by_a_later_poll() {
    let fixture = WatchFixture::new("safeguards:\n  max_queue_size: 1\n");
    fixture.open("a", "First", &[]);
    fixture.github.clock().advance(std::time::Duration::from_secs(60));
    fixture.open("b", "Second", &[]);
    let first = fixture.once(&[]);
    assert_eq!(first.code, 3, "{}", first.stderr);
    let full = "warning: octo/demo: #2 was not queued: queue `qa` is full";
    assert!(first.stderr.starts_with(full), "{}", first.stderr);
    let waiting = fixture.waiting();
    fixture.assay(&["queue", "cancel", &waiting[0]]);
    let second = fixture.once(&[]);
    assert_eq!((second.code, second.stdout.matches("octo/demo#2: ").count()), (0, 1));
}

#[test]
fn an_inaccessible_repository_is_incomplete_and_wrong_usage_is_an_error() {
    let fixture = WatchFixture::new("");
    expect![[r#"
        warning: octo/gone: cannot list the pull requests: GitHub refused `GET /repos/octo/gone/pulls` with status 404: Not Found (it does not exist, or the token has no access)
        [exit 3]
    "#]]
    .assert_eq(&said(&fixture.once(&["--repo", "octo/gone"])));
    expect![[r#"
        error: unknown agent `nobody`; configured agents: qa, engineer, architect
        [exit 2]
    "#]]
    .assert_eq(&said(&fixture.once(&["--for", "nobody"])));
    let bare = assay_with(fixture.repository.path(), &["watch-prs", "--once"], b"", &[]);
    expect![[r#"
        error: cannot use GitHub
          because: missing key: set the variable `FAKE_TOKEN`
        [exit 2]
    "#]]
    .assert_eq(&said(&bare));
    let elsewhere = tempfile::tempdir().unwrap();
    let nowhere = assay_with(elsewhere.path(), &["watch-prs"], b"", &[]);
    expect![[r#"
        error: missing repository: name one with `--repo OWNER/NAME`, or in `github.repositories` of `config/agent-framework.yaml`
        [exit 2]
    "#]]
    .assert_eq(&said(&nowhere));
}

/// A running `assay watch-prs`, until it is stopped.
struct RunningWatch {
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: Lines<BufReader<ChildStderr>>,
}

impl RunningWatch {
    fn start(fixture: &WatchFixture) -> RunningWatch {
        let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
        command.args(["watch-prs", "--every", "1"]).current_dir(fixture.repository.path());
        command.envs(fixture.variables()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        RunningWatch { child, stdout, stderr }
    }

    fn next_line(&mut self) -> String {
        self.stdout.next().unwrap().unwrap()
    }

    fn notice(&mut self) -> String {
        self.stderr.next().unwrap().unwrap()
    }
}

impl Drop for RunningWatch {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

#[test]
fn the_watch_reports_each_task_and_failure_once_and_exits_on_sigterm() {
    let fixture = WatchFixture::new("");
    fixture.open("a", "First", &[]);
    let mut watching = RunningWatch::start(&fixture);
    assert_eq!(watching.notice(), "polling octo/demo every 1 s");
    assert!(watching.next_line().ends_with(" in `qa`  First"));
    for _ in 0..2 {
        fixture.github.fail_next("GET /repos/octo/demo/pulls", Fault::NotFound);
    }
    assert!(watching.notice().starts_with("warning: octo/demo: cannot list the pull requests"));
    assert_eq!(watching.notice(), "octo/demo: polling works again");
    let statuses: Vec<u16> = fixture.github.log().iter().filter_map(|asked| asked.status).collect();
    assert!(statuses.ends_with(&[404, 404, 304]), "{statuses:?}");
    fixture.open("b", "Second", &[]);
    assert!(watching.next_line().ends_with(" in `qa`  Second"));
    let pid = watching.child.id().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    assert_eq!(watching.child.wait().unwrap().code(), Some(0));
    assert_eq!(watching.stderr.next().map(Result::unwrap), None);
}

#[test]
fn the_doctor_reports_the_github_configuration() {
    let about = |ran: AssayRun| -> String {
        let lines = ran.stdout.lines().filter(|line| line.contains("GitHub"));
        lines.map(|line| format!("{line}\n")).collect()
    };
    let fixture = WatchFixture::new("");
    let url = format!("{}/", fixture.github.root());
    assert_eq!(
        about(fixture.assay(&["doctor"])),
        format!(
            "ok   repositories on GitHub: octo/demo\n\
             ok   the token for GitHub at {url} is from the variable `FAKE_TOKEN`\n"
        )
    );
    let without = assay_with(fixture.repository.path(), &["doctor"], b"", &[]);
    assert_eq!(without.code, 2);
    let expected = format!(
        "ok   repositories on GitHub: octo/demo\n\
         bad  missing token for GitHub at {url}: set the variable `FAKE_TOKEN`\n"
    );
    assert_eq!(about(without), expected);
    let bare = Repository::new();
    expect![[r#"
        -    GitHub is not configured: `github.repositories` is empty
    "#]]
    .assert_eq(&about(assay_with(bare.path(), &["doctor"], b"", &[])));
    assert!(fixture.github.log().is_empty());
}
