//! Tests of polling a strict fake of GitHub over TCP, with a queue on files.

use assay_base::clock::Clock;
use assay_store::files::FileQueue;
use assay_store::pulls::PullOrigin;
use assay_store::queue::Policy;
use assay_store::task::Moment;
use assay_testkit::github::{self as fake, Access, Fault, NewPull, Server, sha};
use assay_testkit::jira::{self, FakeJira};
use expect_test::{Expect, expect};
use tempfile::TempDir;

use super::*;
use crate::test_clients::{self, SAMPLE_DIFF};

/// A GitHub with two repositories, and a queue with a capacity of two tasks.
struct PollingFixture {
    github: Arc<fake::GitHub>,
    server: Server,
    folder: TempDir,
}

impl PollingFixture {
    fn new() -> PollingFixture {
        let github = Arc::new(fake::GitHub::new(Arc::new(fake::GitHubClock::stopped())));
        github.add_repository("o/one");
        github.add_repository("o/two");
        github.add_token("bot", "t-secret", Access::User);
        let server = Arc::clone(&github).serve();
        PollingFixture { github, server, folder: tempfile::tempdir().unwrap() }
    }

    /// Opens a pull request from a branch, with labels.
    fn open(&self, repository: &str, branch: &str, labels: &[&str]) -> u64 {
        let labels = labels.iter().map(|&label| label.to_owned()).collect();
        let new = NewPull::new("ann", branch, &sha(branch), SAMPLE_DIFF);
        self.github.open_pull(repository, NewPull { labels, ..new })
    }

    fn queue(&self) -> FileQueue {
        let policy = Policy { max_queue_size: 2, ..Policy::default() };
        FileQueue::open(&self.folder.path().join("queue"), policy, &Clock::system()).unwrap()
    }

    fn poller(&self, filter: PullFilter) -> PullPoller {
        let github = test_clients::github(&self.server.url(), "t-secret", self.folder.path());
        let named = ["o/one", "o/two", "O/One"].map(|name| name.parse().unwrap());
        PullPoller::new(
            github,
            named,
            filter,
            Arc::new(self.queue()),
            "qa".parse().unwrap(),
            &Clock::system(),
        )
    }

    /// Returns the status codes of GitHub's answers since the last call.
    fn statuses(&self, seen: &mut usize) -> Vec<u16> {
        let log = self.github.log();
        let new = log[*seen..].iter().filter_map(|logged| logged.status).collect();
        *seen = log.len();
        new
    }
}

/// Formats the result of a poll in lines.
fn format_report(report: &PollReport) -> String {
    let queued = report.queued.iter().map(|(_, pull)| format!("queued {}", format_pull(pull)));
    let passed = report.skipped.iter();
    let passed = passed.map(|(pull, why)| format!("passed over {}: {why}", format_pull(pull)));
    let failed = report.failed.iter().map(|(name, error)| format!("failed {name}: {error}"));
    queued.chain(passed).chain(failed).map(|line| line + "\n").collect()
}

fn format_pull(pull: &Pull) -> String {
    format!("{}#{}", pull.repository, pull.number)
}

#[track_caller]
fn check(poller: &mut PullPoller, expected: Expect) {
    expected.assert_eq(&format_report(&poller.poll()));
}

#[test]
fn a_pull_request_is_queued_once_for_each_head() {
    let (fixture, mut seen) = (PollingFixture::new(), 0);
    let number = fixture.open("o/one", "feature/PROJ-1", &[]);
    let mut poller = fixture.poller(PullFilter::default());
    check(&mut poller, expect!["queued o/one#1\n"]);
    assert_eq!(fixture.statuses(&mut seen), [200, 200]);
    check(&mut poller, expect![""]);
    assert_eq!(fixture.statuses(&mut seen), [304, 304]);
    check(
        &mut fixture.poller(PullFilter::default()),
        expect!["passed over o/one#1: its task already exists (pending)\n"],
    );
    fixture.github.move_head("o/one", number, &sha("next"), SAMPLE_DIFF);
    check(&mut poller, expect!["queued o/one#1\n"]);
}

#[test]
fn a_pull_request_queued_by_another_trigger_is_skipped() {
    let fixture = PollingFixture::new();
    fixture.open("o/one", "topic", &[]);
    let pull = Pull {
        repository: "O/ONE".parse().unwrap(),
        number: 1,
        head: sha("topic").parse().unwrap(),
        title: "Merge topic".to_owned(),
        branch: "topic".to_owned(),
        base: "main".to_owned(),
        url: String::new(),
        origin: PullOrigin::Inside,
    };
    fixture
        .queue()
        .push(vec![pull.review(&"qa".parse().unwrap(), "webhook", Moment::now(&Clock::system()))])
        .unwrap();
    check(
        &mut fixture.poller(PullFilter::default()),
        expect!["passed over o/one#1: its task already exists (pending)\n"],
    );
}

#[test]
fn drafts_are_skipped_and_unlabelled_pull_requests_are_skipped_until_labelled() {
    let fixture = PollingFixture::new();
    let draft = NewPull { draft: true, ..NewPull::new("ann", "draft", &sha("draft"), SAMPLE_DIFF) };
    fixture.github.open_pull("o/one", draft);
    let bare = fixture.open("o/one", "bare", &["docs"]);
    fixture.open("o/one", "labelled", &["Ready-For-Review"]);
    let labels = vec!["ready-for-review".to_owned(), "urgent".to_owned()];
    let mut poller = fixture.poller(PullFilter { labels, status: None });
    check(
        &mut poller,
        expect![[r#"
            queued o/one#3
            passed over o/one#1: it is a draft
            passed over o/one#2: none of the labels is set
        "#]],
    );
    fixture.github.set_labels("o/one", bare, &["urgent"]);
    check(
        &mut poller,
        expect![[r#"
            queued o/one#2
            passed over o/one#1: it is a draft
            passed over o/one#3: its task already exists (pending)
        "#]],
    );
}

#[test]
fn pull_requests_beyond_a_full_queue_are_queued_once_there_is_room() {
    let fixture = PollingFixture::new();
    for branch in ["a", "b", "c", "d"] {
        fixture.open("o/one", branch, &[]);
        fixture.github.clock().advance(Duration::from_secs(60));
    }
    let mut poller = fixture.poller(PullFilter::default());
    let report = poller.poll();
    assert_eq!(report.queued.iter().map(|(_, pull)| pull.number).collect::<Vec<_>>(), [1, 2]);
    let full = "o/one: #3 was not queued: queue `qa` is full";
    assert!(format_report(&report).contains(full), "{}", format_report(&report));
    assert_eq!(report.failed.len(), 1);
    // A full queue does not delay the next poll of GitHub.
    assert_eq!(poller.delay(Duration::from_secs(300)), Duration::from_secs(300));
    fixture.queue().cancel(&report.queued[0].0, "somebody").unwrap();
    let report = poller.poll();
    assert_eq!(report.queued.iter().map(|(_, pull)| pull.number).collect::<Vec<_>>(), [3]);
    fixture.queue().cancel(&report.queued[0].0, "somebody").unwrap();
    assert_eq!(poller.poll().queued.len(), 1);
    check(&mut poller, expect![""]);
}

#[test]
fn an_inaccessible_repository_does_not_prevent_polling_of_the_others() {
    let fixture = PollingFixture::new();
    fixture.open("o/two", "topic", &[]);
    fixture.github.fail_next("GET /repos/o/one/pulls", Fault::NotFound);
    let mut poller = fixture.poller(PullFilter::default());
    check(
        &mut poller,
        expect![[r#"
            queued o/two#1
            failed o/one: cannot list the pull requests: GitHub refused `GET /repos/o/one/pulls` with status 404: Not Found (it does not exist, or the token has no access)
        "#]],
    );
    assert_eq!(poller.delay(Duration::from_secs(300)), Duration::from_secs(300));
}

#[test]
fn polling_backs_off_while_github_is_unavailable() {
    let fixture = PollingFixture::new();
    let usually = Duration::from_secs(300);
    let mut poller = fixture.poller(PullFilter::default());
    let mut rests = Vec::new();
    for _ in 0..6 {
        fixture.github.fail_next("GET /repos/o/one/pulls", Fault::Unavailable);
        assert_eq!(poller.poll().failed.len(), 1);
        rests.push(poller.delay(usually).as_secs());
    }
    assert_eq!(rests, [300, 600, 1200, 2400, 3600, 3600]);
    assert_eq!(poller.poll().failed.len(), 0);
    assert_eq!(poller.delay(usually), usually);
}

#[test]
fn a_rate_limit_applies_to_all_repositories() {
    let (fixture, mut seen) = (PollingFixture::new(), 0);
    let mut poller = fixture.poller(PullFilter::default());
    let limit = Fault::SecondaryLimit { retry_after: Some(7_000) };
    fixture.github.fail_next("GET /repos/o/one/pulls", limit);
    check(
        &mut poller,
        expect![[r#"
            failed o/one: cannot list the pull requests: GitHub rate limit: `GET /repos/o/one/pulls` must wait for 7000 s; retry later
            failed o/two: not polled: GitHub rate limit
        "#]],
    );
    assert_eq!(fixture.statuses(&mut seen), [403]);
    assert!(poller.delay(Duration::from_secs(300)) >= Duration::from_secs(7_000));
}

#[test]
fn a_ticket_counts_in_the_branch_of_the_repository_and_not_in_the_title_of_an_outside_author() {
    let fixture = PollingFixture::new();
    fixture.github.add_stranger("mallory");
    let titled = |branch: &str| NewPull {
        title: "PROJ-1: mine".to_owned(),
        ..NewPull::new("mallory", branch, &sha(branch), SAMPLE_DIFF)
    };
    fixture.github.open_pull("o/one", titled("topic"));
    fixture.github.open_pull("o/one", titled("feature/PROJ-1"));
    let head_repo = Some("mallory/one".to_owned());
    fixture.github.open_pull("o/one", NewPull { head_repo, ..titled("theirs") });
    let jira = FakeJira::cloud();
    let ticket = jira.add("Task", "Log in");
    jira.set(&ticket, "status", "Code Review".into());
    let status =
        TicketStatusFilter { name: "Code Review".to_owned(), tickets: test_clients::jira(&jira) };
    let mut poller = fixture.poller(PullFilter { labels: Vec::new(), status: Some(status) });
    let report = poller.poll();
    expect![[r#"
        queued o/one#2
        passed over o/one#1: its branch names no ticket, and its title does not count: the author is not known to belong to the repository
        passed over o/one#3: it is from a fork of an outside author, whose tickets do not count
    "#]]
    .assert_eq(&format_report(&report));
    let ids: Vec<&str> = report.skipped.iter().map(|(_, why)| why.as_str()).collect();
    assert_eq!(ids, ["no_ticket_in_branch", "from_outside"]);
}

#[test]
fn a_ticket_that_reaches_the_required_status_is_noticed_without_a_change_on_github() {
    let (fixture, mut seen) = (PollingFixture::new(), 0);
    fixture.open("o/one", "no-ticket", &[]);
    fixture.open("o/one", "feature/PROJ-1", &[]);
    fixture.open("o/one", "feature/PROJ-2", &[]);
    fixture.github.add_stranger("mallory");
    let head_repo = Some("mallory/one".to_owned());
    let theirs = NewPull::new("mallory", "feature/PROJ-1", &sha("theirs"), SAMPLE_DIFF);
    fixture.github.open_pull("o/one", NewPull { head_repo, ..theirs });
    let jira = FakeJira::cloud();
    let ticket = jira.add("Task", "Log in");
    jira.set(&ticket, "status", "In Progress".into());
    jira.fail("GET /rest/api/3/issue/PROJ-2", jira::Fault::Before(503));
    let status =
        TicketStatusFilter { name: "Code Review".to_owned(), tickets: test_clients::jira(&jira) };
    let mut poller = fixture.poller(PullFilter { labels: Vec::new(), status: Some(status) });
    check(
        &mut poller,
        expect![[r#"
            passed over o/one#1: neither its branch nor its title names a ticket
            passed over o/one#2: PROJ-1 is in `In Progress`
            passed over o/one#4: it is from a fork of an outside author, whose tickets do not count
            failed o/one: #3 was not queued: JIRA refused `GET /rest/api/3/issue/PROJ-2` with status 503: <html><body><h1>Trouble</h1></body></html>
        "#]],
    );
    check(
        &mut poller,
        expect![[r#"
            passed over o/one#1: neither its branch nor its title names a ticket
            passed over o/one#2: PROJ-1 is in `In Progress`
            passed over o/one#3: unknown ticket PROJ-2
            passed over o/one#4: it is from a fork of an outside author, whose tickets do not count
        "#]],
    );
    jira.set(&ticket, "status", "code review".into());
    fixture.statuses(&mut seen);
    check(
        &mut poller,
        expect![[r#"
            queued o/one#2
            passed over o/one#3: unknown ticket PROJ-2
        "#]],
    );
    assert_eq!(fixture.statuses(&mut seen), [304, 304]);
}
