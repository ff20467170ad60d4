//! Commands in comments on a pull request, on a fake GitHub: by the webhook and an agent, and by
//! `assay github-command`.

use assay_testkit::storm::Server;
use assay_testkit::webhook::{self, Connection, issue_comment};
use expect_test::{Expect, expect};

use super::github::{AgentFixture, REPO, SECRET};
use super::*;

const WIPE: &str = "import os\n\n\ndef wipe(name):\n    os.system(f\"rm -r {name}\")\n";

/// A pull request with one finding, whose review is posted.
struct PullFixture {
    agents: AgentFixture,
    /// The id of the finding.
    finding: String,
}

impl PullFixture {
    fn new() -> PullFixture {
        let agents = AgentFixture::new();
        agents.open_pull_with("prices", &[("shop.py", WIPE)], |pull| pull);
        agents.github.add_stranger("mallory");
        let ran = agents.assay(&["review", "--pr", &format!("{REPO}#1"), "--post"]);
        assert!(ran.stderr.contains("posted the review"), "{}", ran.stderr);
        let listed = agents.assay(&["findings", "list", "--format", "json"]).json();
        let finding = listed["findings"][0]["id"].as_str().unwrap().to_owned();
        PullFixture { agents, finding }
    }

    /// Adds a comment, and returns its id.
    fn comment(&self, author: &str, body: &str) -> u64 {
        self.agents.github.add_comment(REPO, 1, author, body)
    }

    /// Returns the payload of GitHub's event about a comment.
    fn payload(&self, comment: u64) -> Value {
        let comments = self.agents.github.comments(REPO, 1);
        let found = comments.iter().find(|found| found.id == comment).unwrap();
        issue_comment("created", REPO, 1, (comment, &found.author, &found.body))
    }

    /// Delivers a comment by the webhook, and returns the state of the answer.
    fn deliver(&self, server: &Server, id: &str, comment: u64) -> String {
        let mut connection = Connection::open(server.address()).unwrap();
        let body = self.payload(comment).to_string();
        let body = body.as_bytes();
        let answer = webhook::deliver(&mut connection, SECRET, id, "issue_comment", body).unwrap();
        answer.json()["state"].as_str().unwrap().to_owned()
    }

    /// Returns the answers to a comment.
    fn answers(&self, comment: u64) -> Vec<String> {
        let marker = format!("\n\n<!-- assay:answer {comment} -->");
        let bodies = self.agents.github.comments(REPO, 1).into_iter().map(|it| it.body);
        bodies.filter_map(|body| body.strip_suffix(&marker).map(str::to_owned)).collect()
    }

    /// Waits for the answer to a comment, and returns it without the id of the finding and the
    /// commit.
    fn answer(&self, comment: u64) -> String {
        let answer = until("the answer", || self.answers(comment).pop());
        answer.replace(&self.finding, "ID").replace(&self.agents.head()[..12], "COMMIT")
    }

    /// Runs `assay github-command` for a comment.
    fn run(&self, comment: u64, args: &[&str]) -> AssayRun {
        self.run_event(&self.payload(comment), args)
    }

    fn run_event(&self, event: &Value, args: &[&str]) -> AssayRun {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("event.json");
        fs::write(&file, event.to_string()).unwrap();
        let file = file.to_str().unwrap();
        self.agents.assay(&[&["github-command", "--event", file], args].concat())
    }

    /// Returns the outcomes in the table of the summary.
    fn outcomes(&self) -> Vec<String> {
        let comments = self.agents.github.comments(REPO, 1);
        let summary = comments.iter().find(|it| it.body.contains("assay:summary 1")).unwrap();
        let rows = summary.body.lines().filter(|line| line.starts_with("| "));
        rows.skip(1).map(str::to_owned).collect()
    }
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    expected.assert_eq(&format!("{text}\n"));
}

#[test]
fn each_command_of_a_webhook_is_carried_out_once_and_answered() {
    let fixture = PullFixture::new();
    let threads = fixture.agents.github.threads(REPO, 1);
    let shown = &threads[0].comments[0].body;
    assert!(shown.contains(&format!("<sub>`{}` · ", fixture.finding)), "{shown}");
    let server = fixture.agents.serve();
    let agents = fixture.agents.agents(&["qa"]);
    let give = |author: &str, body: &str| {
        let comment = fixture.comment(author, body);
        let state = fixture.deliver(&server, &format!("d-{comment}"), comment);
        assert_eq!(state, "queued");
        comment
    };

    let explain = give("ann", &format!("/assay explain {}", &fixture.finding[..4]));
    check(
        &fixture.answer(explain),
        expect![[r#"
        > /assay explain bacb

        **🟠 HIGH: Command injection**

        `shop.py:5` · open

        Shell command built from a value. A value that holds shell characters such as `;` or `$()` runs further commands.

        **Fix**: Pass a list of arguments without `shell=True`, such as `subprocess.run(["tar", "xf", path], check=True)`.

        **Evidence**

        ```
        os.system(f"rm -r {name}")
        ```

        **Votes**

        - rules: HIGH: Shell command built from a value

        **About Command injection**: Text from outside becomes part of a command line, so that an attacker can run programs on the machine.

        <https://cwe.mitre.org/data/definitions/78.html>

        <sub>`ID` · security · `python/shell-injection` · found by rules · confidence 100</sub>
    "#]],
    );

    let text = format!("Fine.\r\n\r\n/assay dismiss {} our @own names", fixture.finding);
    let dismiss = give("ann", &text);
    check(
        &fixture.answer(dismiss),
        expect![[r#"
        > /assay dismiss ID our @&#8203;own names

        Dismissed `ID` Command injection (`shop.py:5`), by ann: our @&#8203;own names

        The dismissal holds for reviews with this ledger until the code of the finding is edited. `assay findings reopen ID` reverts the dismissal.

        A review of `COMMIT` is queued. It updates the comments, the summary and the verdict.
    "#]],
    );
    let resolved = || fixture.agents.github.threads(REPO, 1).remove(0).resolved_by;
    assert_eq!(until("the resolved thread", resolved), "assay-bot");
    let outcomes = until("the table", || Some(fixture.outcomes()).filter(|it| !it.is_empty()));
    assert_eq!(outcomes.len(), 1, "{outcomes:?}");
    assert!(outcomes[0].starts_with("| dismissed: our @&#8203;own names | "), "{outcomes:?}");
    let list = ["findings", "show", &fixture.finding, "--format", "json"];
    let decisions = fixture.agents.assay(&list).json()["decisions"].take();
    assert_eq!(decisions.as_array().unwrap().len(), 1, "{decisions}");
    assert_eq!(
        (&decisions[0]["by"], &decisions[0]["reason"]),
        (&json!("ann"), &json!("our @own names"))
    );

    let review = give("ann", "/assay review");
    check(
        &fixture.answer(review),
        expect![[r#"
        > /assay review

        A review of `COMMIT` is queued. It updates the comments, the summary and the verdict.
    "#]],
    );
    let done =
        || Some(names(&fixture.agents.repository, "completed/qa")).filter(|it| it.len() >= 5);
    until("two reviews and three commands", done);

    let help = give("ann", "/assay fix everything");
    check(
        &fixture.answer(help),
        expect![[r#"
        > /assay fix

        The command is unknown.

        | command | effect |
        |---|---|
        | `/assay review` | reviews the last commit again |
        | `/assay explain ID` | explains a finding: claim, evidence, data flow, fix and votes |
        | `/assay dismiss ID REASON` | dismisses a finding, so that reviews do not report it |
        | `/assay help` | lists the commands |

        `ID` is the id in the last line of a finding, or its first digits. Each command is a line of its own.
    "#]],
    );

    let refused = give("mallory", &format!("/assay explain {}", fixture.finding));
    let reactions =
        || Some(fixture.agents.github.reactions(REPO, 1, refused)).filter(|it| !it.is_empty());
    assert_eq!(until("a reaction", reactions), ["assay-bot: confused"]);

    let before = (
        fixture.agents.github.comments(REPO, 1),
        names(&fixture.agents.repository, "completed/qa"),
    );
    for comment in [explain, dismiss, review, help, refused] {
        for id in [format!("d-{comment}"), format!("again-{comment}")] {
            assert_eq!(fixture.deliver(&server, &id, comment), "already_there");
        }
    }
    assert_eq!(fixture.answers(refused), [""; 0]);
    assert_eq!(names(&fixture.agents.repository, "queues/qa"), [""; 0]);
    assert_eq!(agents.stop(), 0);
    let after = (
        fixture.agents.github.comments(REPO, 1),
        names(&fixture.agents.repository, "completed/qa"),
    );
    assert_eq!(after.0, before.0);
    assert!(after.1.len() <= 7, "{:?}", after.1);
    server.stop();
}

#[test]
fn a_workflow_carries_out_the_commands_of_a_comment_once() {
    let fixture = PullFixture::new();
    let text = format!("/assay dismiss {} our names\n/assay explain 0", fixture.finding);
    let comment = fixture.comment("ann", &text);
    let ran = fixture.run(comment, &[]);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, &*format!("answered comment {comment} on {REPO}#1\n")),
        "{}",
        ran.stderr
    );
    check(
        &fixture.answer(comment),
        expect![[r#"
        > /assay dismiss ID our names

        Dismissed `ID` Command injection (`shop.py:5`), by ann: our names

        The dismissal holds for reviews with this ledger until the code of the finding is edited. `assay findings reopen ID` reverts the dismissal.

        > /assay explain 0

        No finding of this pull request has the id `0`. The id is in the last line of each finding.

        `COMMIT` was reviewed again. The comments, the summary and the verdict are updated.
    "#]],
    );
    let thread = fixture.agents.github.threads(REPO, 1).remove(0);
    assert_eq!(thread.resolved_by.as_deref(), Some("assay-bot"));
    let runs =
        || fs::read_dir(fixture.agents.repository.path().join(".assay/runs")).unwrap().count();
    let before = runs();
    let again = fixture.run(comment, &[]);
    assert_eq!(
        (again.code, again.stdout.as_str()),
        (0, &*format!("comment {comment} was answered before\n"))
    );
    assert_eq!((runs(), fixture.answers(comment).len()), (before, 1));
}

#[test]
fn a_workflow_can_queue_the_review_for_agents() {
    let fixture = PullFixture::new();
    let comment = fixture.comment("ann", "/assay review");
    let ran = fixture.run(comment, &["--queue"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let queued = names(&fixture.agents.repository, "queues/qa");
    let head = fixture.agents.head();
    assert!(queued.len() == 1 && queued[0].ends_with(&format!("-{head}.json")), "{queued:?}");
    assert_eq!(fixture.run(comment, &["--queue"]).code, 0);
    assert_eq!(names(&fixture.agents.repository, "queues/qa"), queued);
    let other = fixture.comment("ann", "/assay review");
    assert_eq!(fixture.run(other, &["--queue"]).code, 0);
    assert_eq!(names(&fixture.agents.repository, "queues/qa").len(), 2);
    // A closed pull request is not reviewed.
    fixture.agents.github.merge(REPO, 1);
    let late = fixture.comment("ann", "/assay review");
    assert_eq!(fixture.run(late, &[]).code, 0);
    check(
        &fixture.answer(late),
        expect![[r#"
        > /assay review

        The pull request is closed, so it is not reviewed. Reopen it first.
    "#]],
    );
}

#[test]
fn an_event_without_commands_to_carry_out_is_no_error() {
    let fixture = PullFixture::new();
    let refused = fixture.comment("mallory", "/assay review");
    let ran = fixture.run(refused, &[]);
    let said = format!("mallory may not write to {REPO}; nothing was done\n");
    assert_eq!((ran.code, ran.stdout), (0, said));
    assert_eq!(fixture.agents.github.reactions(REPO, 1, refused), ["assay-bot: confused"]);
    assert_eq!(fixture.answers(refused), [""; 0]);
    let edited = issue_comment("edited", REPO, 1, (refused, "ann", "/assay review"));
    let ran = fixture.run_event(&edited, &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "nothing to do: only new comments are read\n"));
    let elsewhere = issue_comment("created", "octo/other", 1, (refused, "ann", "/assay review"));
    let ran = fixture.run_event(&elsewhere, &[]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("`octo/other` is not among `github.repositories`"),
        "{}",
        ran.stderr
    );
    let ran = fixture.run_event(&json!({ "action": "opened" }), &[]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("the body is not an `issue_comment` event"), "{}", ran.stderr);
    let ran = fixture.agents.assay(&["github-command"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("name its file with `--event`"), "{}", ran.stderr);
}
