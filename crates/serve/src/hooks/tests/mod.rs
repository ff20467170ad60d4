//! Tests of the triggers on a real address, with a queue on files and strict fakes of GitHub and
//! JIRA.

mod auth;
mod bodies;
mod github;
mod github_comments;
mod jira;
mod limits;
mod queue_endpoint;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use assay_base::clock::Clock;
use assay_base::shutdown::Shutdown;
use assay_store::files::FileQueue;
use assay_store::queue::{LeaseKind, Policy, Queue, TaskFilter, TaskResult};
use assay_store::task::TaskStatus;
use assay_testkit::github::{self as fake, Access, Fault, NewPull};
use assay_testkit::jira::FakeJira;
use assay_testkit::webhook::{self, Answer, commit, pull_request, signature};
use expect_test::{Expect, expect};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_assert, prop_oneof};
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use super::limits::Limits;
use super::{GithubHookSettings, HookContext, Hooks, JiraHookSettings, Secret};
use crate::auth::AccessPolicy;
use crate::http_server::{HttpListener, HttpServer};
use crate::test_clients::{self, SAMPLE_DIFF};
use crate::token::Token;

const SECRET: &str = "It's a Secret to Everybody";
const JIRA_TOKEN: &str = "a+word/for=jira-0123";
const TOKEN: &str = "0123456789abcdef";

/// Returns a GitHub with pull requests in two repositories. All pull requests with smaller numbers
/// are closed.
fn pulls() -> Arc<fake::GitHub> {
    let github = Arc::new(fake::GitHub::new(Arc::new(fake::GitHubClock::stopped())));
    github.add_token("bot", TOKEN, Access::User);
    for repository in ["o/r", "o/second"] {
        github.add_repository(repository);
    }
    let open = |repository: &str, number: u64, branch: &str| loop {
        let new = NewPull::new("ann", branch, &commit(7), SAMPLE_DIFF);
        match github.open_pull(repository, new) {
            opened if opened == number => break,
            earlier => github.merge(repository, earlier),
        }
    };
    open("o/r", 7, "feature/PROJ-1-login");
    open("o/r", 8, "feature/PROJ-2-one");
    open("o/second", 9, "feature/PROJ-2-two");
    github.add_stranger("mallory");
    let head_repo = Some("mallory/r".to_owned());
    let theirs = NewPull::new("mallory", "feature/PROJ-1-mine", &commit(8), SAMPLE_DIFF);
    github.open_pull("o/r", NewPull { head_repo, ..theirs });
    github
}

/// The running server, in its own folder.
struct HookServer {
    folder: TempDir,
    queue: Arc<FileQueue>,
    github: Arc<fake::GitHub>,
    _github: fake::Server,
    jira: FakeJira,
    log: Arc<Mutex<Vec<String>>>,
    address: String,
    shutdown: Shutdown,
    thread: Option<JoinHandle<()>>,
}

impl HookServer {
    fn start() -> HookServer {
        HookServer::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut HookContext)) -> HookServer {
        HookServer::within(TempDir::new().unwrap(), change, |_| {})
    }

    fn within(
        folder: TempDir,
        change: impl FnOnce(&mut HookContext),
        limit: impl FnOnce(&mut Limits),
    ) -> HookServer {
        let queue = Arc::new(queue_with_room_for(5, &folder));
        let (github, jira) = (pulls(), FakeJira::cloud());
        let at = Arc::clone(&github).serve();
        (1..=9).for_each(|number| drop(jira.add("Task", &format!("Task {number}"))));
        let log = Arc::new(Mutex::new(Vec::new()));
        let lines = Arc::clone(&log);
        let mut context = HookContext {
            queue: queue.clone(),
            reviewer: "qa".parse().unwrap(),
            agents: [("qa", "qa"), ("critic", "second")]
                .map(|(agent, queue)| (agent.parse().unwrap(), queue.parse().unwrap()))
                .into(),
            github: GithubHookSettings {
                repositories: vec!["o/r".parse().unwrap()],
                secret: Some(Secret::new(SECRET, "a test").unwrap()),
                labels: Vec::new(),
            },
            jira: JiraHookSettings {
                secret: Some(Secret::new(JIRA_TOKEN, "a test").unwrap()),
                status: "Code Review".into(),
            },
            pulls: Some(test_clients::github(&at.url(), TOKEN, folder.path())),
            tickets: Some(test_clients::jira(&jira)),
            clock: Clock::system(),
            log: Arc::new(move |line: &str| lines.lock().unwrap().push(line.to_owned())),
        };
        change(&mut context);
        let token = Token::new(TOKEN, "a test").unwrap();
        let access = AccessPolicy { token: Some(token), hosts: vec!["box.example".into()] };
        let seen = folder.path().join("deliveries");
        let mut hooks = Hooks::new(context, access.clone(), &seen).unwrap();
        limit(&mut hooks.limits);
        let dashboard = crate::dashboard::tests::service(folder.path(), &queue, &access);
        let reviewer = "qa".parse().unwrap();
        let server = HttpServer { hooks, dashboard, queue: queue.clone(), reviewer };
        let listener = HttpListener::bind("127.0.0.1:0".parse().unwrap(), access).unwrap();
        let address = listener.url().replace("http://", "");
        let shutdown = Shutdown::default();
        let told = shutdown.clone();
        let thread = Some(thread::spawn(move || listener.serve(server, &told).unwrap()));
        HookServer { folder, queue, github, _github: at, jira, log, address, shutdown, thread }
    }

    fn send(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        webhook::send(&self.address, "POST", path, headers, body).unwrap()
    }

    /// Sends a signed delivery with an id.
    fn deliver(&self, id: &str, event: &str, body: &Value) -> Answer {
        let body = body.to_string();
        let mut connection = webhook::Connection::open(&self.address).unwrap();
        webhook::deliver(&mut connection, SECRET, id, event, body.as_bytes()).unwrap()
    }

    fn deliver_opened(&self, number: u64) -> Answer {
        let body = pull_request("opened", "o/r", number, &commit(1));
        self.deliver(&format!("d-{number}"), "pull_request", &body)
    }

    /// Returns the ids of all tasks, in any status.
    fn tasks(&self) -> Vec<String> {
        let filter = TaskFilter { statuses: TaskStatus::ALL.to_vec(), ..TaskFilter::default() };
        let listed = self.queue.list(&filter).unwrap();
        listed.iter().map(|listed| listed.task.id.to_string()).collect()
    }

    /// Claims a task and completes it.
    fn complete(&self, task: &str) {
        let (queue, agent) = ("qa".parse().unwrap(), "qa".parse().unwrap());
        let lease_kind = LeaseKind::ByTime(Duration::from_secs(60));
        let claimed = self.queue.claim(&queue, &agent, lease_kind, 1).unwrap().remove(0);
        assert_eq!(claimed.task.id.as_str(), task);
        let done = TaskResult::Completed {
            summary: String::new(),
            context: Map::new(),
            follow_ups: Vec::new(),
        };
        self.queue.settle(&claimed.lease, done).unwrap();
    }

    /// Returns the paths that GitHub was asked for, each once.
    fn requested_paths(&self) -> BTreeSet<String> {
        let log = self.github.log().into_iter();
        log.filter_map(|logged| logged.path.split('?').next().map(str::to_owned)).collect()
    }

    fn stop(&mut self) {
        self.shutdown.request();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for HookServer {
    fn drop(&mut self) {
        self.shutdown.request();
    }
}

fn queue_with_room_for(most: usize, folder: &TempDir) -> FileQueue {
    let policy = Policy { max_queue_size: most, ..Policy::default() };
    FileQueue::open(&folder.path().join("queue"), policy, &Clock::system()).unwrap()
}

/// Formats an answer in a line: the status code, the state and the reason.
fn line(answer: &Answer) -> String {
    let json = answer.json();
    let reason = json["reason"].as_str().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{} {}{reason}", answer.status, json["state"].as_str().unwrap())
}

/// Compares several answers with the expected lines.
#[track_caller]
fn check(answers: &[(&str, Answer)], expected: Expect) {
    let lines = answers.iter().map(|(what, answer)| format!("{what} -> {}\n", line(answer)));
    expected.assert_eq(&lines.collect::<String>());
}
