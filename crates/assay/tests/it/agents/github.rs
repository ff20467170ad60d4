//! From a task to a pull request to an approval, on a fake GitHub and a fake JIRA.

use std::sync::Arc;

use assay_testkit::github::{self as fake, Access, GitHubClock, NewPull, Server};
use assay_testkit::jira::{self, FakeJira};
use assay_testkit::storm;
use assay_testkit::web::RunningService;
use assay_testkit::webhook::{self, Connection, pull_request};
use expect_test::{Expect, expect};

use super::*;

pub(super) const REPO: &str = "octo/demo";
const TOKEN: &str = "t-github-very-secret";
/// The key of a model, if one is configured.
pub(super) const MODEL_KEY: &str = "sk-test-5d0f8a7c61e94b23";
pub(super) const SECRET: &str = "It's a Secret to Everybody";

/// An agent that implements with a defect, and fixes it.
const ENGINEER: &str = r#"
- id: engineer
  command:
    - sh
    - -c
    - |
      if grep -q breakpoint shop.py; then sed -i /breakpoint/d shop.py; echo mended it
      else printf 'def total(prices):\n    breakpoint()\n    return sum(prices, 0)\n' > shop.py
      echo wrote it; fi
"#;

/// A clone of a repository on the fake GitHub, and a ticket.
pub(super) struct AgentFixture {
    pub(super) repository: Repository,
    pub(super) github: Arc<fake::GitHub>,
    _github_server: Server,
    jira: FakeJira,
    _jira_server: RunningService,
    pub(super) ticket: String,
    pub(super) bare: PathBuf,
    state: tempfile::TempDir,
    _host: tempfile::TempDir,
}

impl AgentFixture {
    pub(super) fn new() -> AgentFixture {
        AgentFixture::with(QUICK, "")
    }

    /// Sets up the fixture with additional configuration, at the top level and for GitHub.
    pub(super) fn with(top: &str, for_github: &str) -> AgentFixture {
        let host = tempfile::tempdir().unwrap();
        let bare = host.path().join("octo/demo.git");
        let repository = Repository::new();
        repository.write("shop.py", "def total(prices):\n    return sum(prices)\n");
        let github = Arc::new(fake::GitHub::new(Arc::new(GitHubClock::real())));
        github.add_repository(REPO);
        github.add_token("assay-bot", TOKEN, Access::User);
        let github_server = Arc::clone(&github).serve();
        let jira = FakeJira::cloud();
        let jira_server = jira.serve();
        let ticket = jira.add("Task", "Add up prices");
        repository.write(
            "config/agent-framework.yaml",
            format!(
                "{top}github:\n  url: {}\n  token_env: GH_SECRET\n  repositories: [{REPO}]\n\
                 {for_github}jira:\n  url: {}\n  user: {}\n  token_env: JIRA_SECRET\n",
                github_server.url(),
                jira_server.url(),
                jira::USER,
            ),
        );
        repository.write("config/agents.yaml", ENGINEER);
        repository.commit("a shop");
        repository.git(&["clone", "--quiet", "--bare", ".", bare.to_str().unwrap()]);
        repository.git(&["remote", "add", "origin", bare.to_str().unwrap()]);
        github.follow(REPO, &bare);
        AgentFixture {
            repository,
            github,
            _github_server: github_server,
            jira,
            _jira_server: jira_server,
            ticket,
            bare,
            state: tempfile::tempdir().unwrap(),
            _host: host,
        }
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        vec![
            ("GH_SECRET", TOKEN.to_owned()),
            ("JIRA_SECRET", jira::TOKEN.to_owned()),
            ("GITHUB_WEBHOOK_SECRET", SECRET.to_owned()),
            ("FAKE_KEY", MODEL_KEY.to_owned()),
            ("XDG_STATE_HOME", self.state.path().display().to_string()),
        ]
    }

    pub(super) fn with_variables<T>(&self, work: impl FnOnce(&[(&str, &str)]) -> T) -> T {
        let variables = self.variables();
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        work(&variables)
    }

    pub(super) fn agents(&self, args: &[&str]) -> Agents<'_> {
        self.with_variables(|variables| Agents::start_with(&self.repository, args, variables))
    }

    /// Returns the outbox of the repository, which exists once a message has waited in it.
    pub(super) fn outbox(&self) -> PathBuf {
        let outboxes = fs::read_dir(self.state.path().join("assay/outbox")).unwrap();
        let mut outboxes: Vec<PathBuf> = outboxes.map(|entry| entry.unwrap().path()).collect();
        assert_eq!(outboxes.len(), 1, "{outboxes:?}");
        outboxes.remove(0)
    }

    pub(super) fn assay(&self, args: &[&str]) -> AssayRun {
        self.with_variables(|variables| assay_with(self.repository.path(), args, b"", variables))
    }

    pub(super) fn serve(&self) -> storm::Server {
        let args = ["--listen", "127.0.0.1:0"];
        let program = std::path::Path::new(env!("CARGO_BIN_EXE_assay"));
        self.with_variables(|variables| {
            storm::Server::start(program, self.repository.path(), &args, variables).unwrap()
        })
    }

    pub(super) fn head(&self) -> String {
        let pull = self.github.pull(REPO, 1);
        pull["head"]["sha"].as_str().unwrap().to_owned()
    }

    /// Opens a pull request of `ann` with a text of `shop.py` on a branch, and returns its commit.
    pub(super) fn open_pull(&self, branch: &str, text: &str) -> String {
        self.open_pull_with(branch, &[("shop.py", text)], |pull| pull)
    }

    pub(super) fn open_pull_with(
        &self,
        branch: &str,
        files: &[(&str, &str)],
        change: impl FnOnce(NewPull) -> NewPull,
    ) -> String {
        let author = Repository::empty(&[]);
        author.git(&["remote", "add", "origin", self.bare.to_str().unwrap()]);
        author.git(&["fetch", "--quiet", "origin"]);
        author.git(&["checkout", "--quiet", "-b", branch, "origin/main"]);
        for (path, text) in files {
            author.write(path, text);
        }
        author.commit("prices are added up");
        author.git(&["push", "--quiet", "origin", branch, "HEAD:refs/pull/1/head"]);
        let head = author.git(&["rev-parse", "HEAD"]);
        let diff = author.git(&["diff", "origin/main...HEAD"]) + "\n";
        let number = self.github.open_pull(REPO, change(NewPull::new("ann", branch, &head, &diff)));
        assert_eq!(number, 1);
        head
    }

    /// Requests a review of the pull request through every trigger, and returns the responses.
    fn ask_for_reviews(&self, action: &str) -> Vec<String> {
        let server = self.serve();
        let mut pull = pull_request(action, REPO, 1, &self.head());
        pull["pull_request"]["head"]["ref"] = self.github.pull(REPO, 1)["head"]["ref"].clone();
        let mut connection = Connection::open(server.address()).unwrap();
        let delivery = webhook::deliver(
            &mut connection,
            SECRET,
            &format!("{action}-{}", self.head()),
            "pull_request",
            pull.to_string().as_bytes(),
        );
        let delivery = delivery.unwrap();
        let token = fs::read_to_string(self.repository.path().join(".assay/serve/token")).unwrap();
        let bearer = format!("Bearer {}", token.trim());
        let headers = [("authorization", bearer.as_str())];
        let body = br#"{"agent_id":"qa","pr":"1"}"#;
        let built = webhook::send(server.address(), "POST", "/queue", &headers, body).unwrap();
        server.stop();
        let polled = self.assay(&["watch-prs", "--once"]);
        let by_hand = self.assay(&["queue", "push", "--pr", &format!("{REPO}#1")]);
        let state = |answer: &webhook::Answer| answer.json()["state"].as_str().unwrap().to_owned();
        vec![
            state(&delivery),
            state(&built),
            format!("{} {}", polled.code, polled.stdout.lines().count()),
            format!("{} {}", by_hand.code, by_hand.stdout.contains("already")),
        ]
    }

    /// Checks the visible text of the pull request, without marks and with names for commits.
    fn check_shown(&self, commits: &[&str], expected: &Expect) {
        let mut shown = self.github.visible(REPO, 1);
        for (number, commit) in commits.iter().enumerate() {
            shown = shown.replace(&commit[..7], &format!("COMMIT {}", number + 1));
        }
        let lines = shown.lines().filter(|line| !line.contains("<!--") && !line.trim().is_empty());
        expected.assert_eq(&(lines.collect::<Vec<_>>().join("\n") + "\n"));
    }

    /// Returns the comments on the ticket, without their markers.
    fn comment_texts(&self) -> String {
        let comments = self.jira.comments(&self.ticket);
        let texts = comments.iter().map(assay_services::jira::document::read);
        let comment_texts = texts.collect::<Vec<_>>().join("\n--\n");
        let lines = comment_texts.lines().filter(|line| !line.starts_with("assay:"));
        lines.collect::<Vec<_>>().join("\n")
    }
}

#[test]
fn a_task_becomes_a_pull_request_that_is_reviewed_fixed_and_approved() {
    let fixture = AgentFixture::new();
    let task = json!({
        "id": "t", "type": "implementation", "status": "pending", "priority": 50,
        "created_by": "test", "assigned_to": "engineer", "created_at": "2026-02-03T10:00:00.000Z",
        "title": "Add up prices", "description": "Prices are added up.",
        "context": { "jira_key": fixture.ticket, "github_repo": REPO },
    });
    drop_in(&fixture.repository, "engineer", &task);
    let mut engineer = fixture.agents(&["engineer"]);
    engineer.wait_for_line("moved from To Do to Code Review");
    assert_eq!(engineer.stop(), 0);
    let first = fixture.head();
    let review = format!("review-octo.demo-1-main-{first}");
    assert_eq!(names(&fixture.repository, "queues/qa"), [format!("{review}.json")]);
    assert_eq!(
        fixture.ask_for_reviews("opened"),
        ["already_there", "already_there", "0 0", "0 true"]
    );
    assert_eq!(names(&fixture.repository, "queues/qa"), [format!("{review}.json")]);

    let mut agents = fixture.agents(&[]);
    agents.wait_for_line("moved from Code Review to Changes Requested");
    agents.wait_for_line("moved from Changes Requested to Code Review");
    agents.wait_for_line("moved from Code Review to Approved");
    let second = fixture.head();
    assert_eq!(fixture.ask_for_reviews("synchronize")[0], "already_there");
    assert_eq!(agents.stop(), 0);
    assert_eq!(names(&fixture.repository, "completed/qa").len(), 2);
    fixture.check_shown(
        &[&first, &second],
        &expect![[r#"
            shop.py, outdated, resolved by assay-bot
              assay-bot: **🟠 HIGH: Breakpoint left in the code**
                The program stops there and waits for a command from a terminal.
                **Fix**: Take the breakpoint out.
                ```suggestion
                ```
                <sub>`de4ad9d35a88` · best\_practices · `python/debugger` · found by rules · confidence 100</sub>
            comment
              assay-bot: ## Ready (rules only)
                - no open finding, and every reviewer answered
                - 1 hunk: 1 by rules
                - this is a comment, not an approval: `github.when_ready` is not set to `approve`; no model has read the change
                No findings.
                **Findings of all reviews**: 1 resolved.
                | outcome | severity | finding | place |
                |---|---|---|---|
                | resolved | HIGH | Breakpoint left in the code | `shop.py` |
                <details><summary>Resolved since the last review (1)</summary>
                - Breakpoint left in the code (`shop.py`)
                </details>
            review, commented at COMMIT 1
              assay-bot: **Not ready**: 1 finding must be fixed.
            review, commented at COMMIT 1
              assay-bot: More comments of the same review.
            review, commented at COMMIT 2
              assay-bot: **Ready**: no open finding, and every reviewer answered.
                This is a comment, not an approval: `github.when_ready` is not set to `approve`; no model has read the change.
        "#]],
    );
    expect![[r#"
        Pull request created: https://github.com/octo/demo/pull/1
        --
        Review: Not ready: 1 finding must be fixed.
        1 finding: 1 HIGH.
        1. HIGH: Breakpoint left in the code (shop.py:2)
        https://github.com/octo/demo/pull/1
        --
        New commits were pushed to the pull request: https://github.com/octo/demo/pull/1
        --
        Review: Ready: no open finding, and every reviewer answered.
        No findings.
        https://github.com/octo/demo/pull/1
        --
        Findings of all reviews: 1 resolved.
        - resolved: HIGH: Breakpoint left in the code (shop.py)
        https://github.com/octo/demo/pull/1"#]]
    .assert_eq(&fixture.comment_texts().replace(&fixture.ticket, "TICKET"));
    assert_eq!(fixture.jira.status(&fixture.ticket), "Approved");
    let logs = fs::read_to_string(fixture.repository.path().join("logs/agent.log")).unwrap();
    assert!(!logs.contains(TOKEN) && !logs.contains(jira::TOKEN));
    let pushed = assay_testkit::git(&fixture.bare, &["log", "-1", "--format=%B", &second]);
    assert!(pushed.contains("Review-Cycle: 1"), "{pushed}");
}

#[test]
fn a_pull_request_of_a_person_is_queued_once_reviewed_fixed_and_approved() {
    let fixture = AgentFixture::new();
    let author = Repository::empty(&[]);
    author.git(&["remote", "add", "origin", fixture.bare.to_str().unwrap()]);
    author.git(&["fetch", "--quiet", "origin"]);
    let branch = format!("feature/{}-prices", fixture.ticket);
    author.git(&["checkout", "--quiet", "-b", &branch, "origin/main"]);
    author.write("shop.py", "def total(prices):\n    breakpoint()\n    return sum(prices, 0)\n");
    author.commit("prices are added up");
    author.git(&["push", "--quiet", "origin", &branch]);
    let first = author.git(&["rev-parse", "HEAD"]);
    let diff = author.git(&["diff", "origin/main...HEAD"]) + "\n";
    fixture.github.open_pull(REPO, NewPull::new("ann", &branch, &first, &diff));
    fixture.jira.set(&fixture.ticket, "status", json!("Code Review"));
    assert_eq!(fixture.ask_for_reviews("opened"), ["queued", "already_there", "0 0", "0 true"]);
    assert_eq!(
        names(&fixture.repository, "queues/qa"),
        [format!("review-octo.demo-1-main-{first}.json")]
    );

    let mut agents = fixture.agents(&[]);
    agents.wait_for_line("moved from Code Review to Changes Requested");
    agents.wait_for_line("moved from Code Review to Approved");
    let second = fixture.head();
    assert_ne!(first, second);
    assert_eq!(fixture.ask_for_reviews("synchronize")[0], "already_there");
    assert_eq!(agents.stop(), 0);
    assert_eq!(names(&fixture.repository, "completed/qa").len(), 2);
    fixture.check_shown(
        &[&first, &second],
        &expect![[r#"
            shop.py, outdated, resolved by assay-bot
              assay-bot: **🟠 HIGH: Breakpoint left in the code**
                The program stops there and waits for a command from a terminal.
                **Fix**: Take the breakpoint out.
                ```suggestion
                ```
                <sub>`de4ad9d35a88` · best\_practices · `python/debugger` · found by rules · confidence 100</sub>
            comment
              assay-bot: ## Ready (rules only)
                - no open finding, and every reviewer answered
                - 1 hunk: 1 by rules
                - this is a comment, not an approval: `github.when_ready` is not set to `approve`; no model has read the change
                No findings.
                **Findings of all reviews**: 1 resolved.
                | outcome | severity | finding | place |
                |---|---|---|---|
                | resolved | HIGH | Breakpoint left in the code | `shop.py` |
                <details><summary>Resolved since the last review (1)</summary>
                - Breakpoint left in the code (`shop.py`)
                </details>
            review, dismissed at COMMIT 1
              assay-bot: **Not ready**: 1 finding must be fixed.
            review, commented at COMMIT 2
              assay-bot: **Ready**: no open finding, and every reviewer answered.
                This is a comment, not an approval: `github.when_ready` is not set to `approve`; no model has read the change.
        "#]],
    );
    assert_eq!(fixture.jira.status(&fixture.ticket), "Approved");
}

#[test]
fn a_failed_post_exits_with_3_and_an_unreadable_earlier_message_only_warns() {
    let fixture = AgentFixture::new();
    let author = Repository::empty(&[]);
    author.git(&["remote", "add", "origin", fixture.bare.to_str().unwrap()]);
    author.git(&["fetch", "--quiet", "origin"]);
    author.git(&["checkout", "--quiet", "-b", "prices", "origin/main"]);
    author.write("shop.py", "def total(prices):\n    return sum(prices, 0)\n");
    author.commit("prices are added up");
    author.git(&["push", "--quiet", "origin", "HEAD:refs/pull/1/head"]);
    author.write("shop.py", "def total(prices):\n    return sum(prices, 0.0)\n");
    author.commit("prices are no whole numbers");
    author.git(&["push", "--quiet", "origin", "HEAD:refs/heads/later"]);
    let last = author.git(&["rev-parse", "HEAD"]);
    let diff = author.git(&["diff", "origin/main...HEAD"]) + "\n";
    fixture.github.open_pull(REPO, NewPull::new("ann", "elsewhere", &last, &diff));

    // The commit that is fetched first is not the last one any more when the review is posted.
    let review = ["review", "--pr", &format!("{REPO}#1"), "--post"];
    let ran = fixture.assay(&review);
    let moved_on =
        format!("cannot post the review: {REPO}#1 has the new head commit {}", &last[..12]);
    assert!(ran.stderr.contains(&moved_on), "{}", ran.stderr);
    assert_eq!((ran.code, fixture.github.reviews(REPO, 1).len()), (3, 0));

    let odd = json!({
        "name": "odd", "number": 1, "body": { "kind": "odd" }, "put_at": "2026-02-03T10:00:00.000Z",
    });
    fs::create_dir(fixture.outbox().join("somebody")).unwrap();
    fs::write(fixture.outbox().join("somebody/odd.json"), odd.to_string()).unwrap();
    let ran = fixture.assay(&review);
    assert!(ran.stderr.contains(&format!("posted the review on {REPO}#1")), "{}", ran.stderr);
    let before = "warning: cannot send an earlier message: this version cannot read the message";
    assert!(ran.stderr.contains(before), "{}", ran.stderr);
    assert_eq!((ran.code, fixture.github.reviews(REPO, 1).len()), (0, 1), "{}", ran.stderr);
}
