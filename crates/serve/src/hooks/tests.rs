//! The triggers behind a real address, with a queue on files, and those who know pull requests and
//! tickets made up.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use assay_fakes::webhook::{self, Answer, commit, pull_request, signature};
use assay_store::files::FileQueue;
use assay_store::pulls::{Pull, RepositoryName, TicketKey};
use assay_store::queue::{Filter, Policy, Queue};
use assay_store::task::Status;
use expect_test::{Expect, expect};
use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_assert, prop_oneof};
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Semaphore;

use super::limits::Limits;
use super::{Github, Hooks, Jira, LookUpError, Pulls, Secret, Setup, Tickets};
use crate::door::Door;
use crate::site::{Listener, Site};
use crate::stop::Stop;
use crate::token::Token;

const SECRET: &str = "It's a Secret to Everybody";
const WORD: &str = "a+word/for=jira-0123";
const TOKEN: &str = "0123456789abcdef";

/// Pull requests that are made up. Whoever asks for another repository than those that are
/// configured is wrong.
struct MadeUp(Vec<Pull>);

impl MadeUp {
    fn known(repository: &RepositoryName) {
        assert!(["o/r", "o/second"].contains(&repository.as_str()), "{repository} is nobody's");
    }
}

impl Pulls for MadeUp {
    fn pull(&self, repository: &RepositoryName, number: u64) -> Result<Pull, LookUpError> {
        MadeUp::known(repository);
        match number {
            500 => return Err(LookUpError::Away("GitHub does not answer".into())),
            403 => return Err(LookUpError::Refused("GitHub refuses: 403".into())),
            _ => {}
        }
        let of = |pull: &&Pull| pull.repository == *repository && pull.number == number;
        let found = self.0.iter().find(of).cloned();
        found.ok_or_else(|| LookUpError::NotThere(format!("there is no {repository}#{number}")))
    }

    fn about_ticket(
        &self,
        key: &TicketKey,
        repositories: &[RepositoryName],
    ) -> Result<Vec<Pull>, LookUpError> {
        repositories.iter().for_each(MadeUp::known);
        let about = |pull: &&Pull| pull.ticket().as_ref() == Some(key);
        Ok(self.0.iter().filter(about).cloned().collect())
    }
}

/// Comments on tickets, which are there once.
#[derive(Default)]
struct Board(Mutex<BTreeMap<(String, String), String>>);

impl Tickets for Board {
    fn comment_once(&self, key: &TicketKey, mark: &str, text: &str) -> Result<(), LookUpError> {
        let mut comments = self.0.lock().unwrap();
        comments.entry((key.to_string(), mark.to_owned())).or_insert_with(|| text.to_owned());
        Ok(())
    }
}

fn pull(repository: &str, number: u64, branch: &str) -> Pull {
    Pull {
        repository: repository.parse().unwrap(),
        number,
        head: commit(7).parse().unwrap(),
        title: "Add a login".into(),
        branch: branch.into(),
        base: "main".into(),
        url: format!("https://github.example/{repository}/pull/{number}"),
    }
}

/// The server, in a folder of its own.
struct Served {
    folder: TempDir,
    queue: Arc<FileQueue>,
    board: Arc<Board>,
    log: Arc<Mutex<Vec<String>>>,
    address: String,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    fn start() -> Served {
        Served::with(|_| {})
    }

    fn with(change: impl FnOnce(&mut Setup)) -> Served {
        Served::within(TempDir::new().unwrap(), change, |_| {})
    }

    fn within(
        folder: TempDir,
        change: impl FnOnce(&mut Setup),
        limit: impl FnOnce(&mut Limits),
    ) -> Served {
        let queue = Arc::new(queue_with_room_for(5, &folder));
        let (board, log) = (Arc::new(Board::default()), Arc::new(Mutex::new(Vec::new())));
        let lines = Arc::clone(&log);
        let mut setup = Setup {
            queue: queue.clone(),
            reviewer: "qa".parse().unwrap(),
            agents: [("qa", "qa"), ("critic", "second")]
                .map(|(agent, queue)| (agent.parse().unwrap(), queue.parse().unwrap()))
                .into(),
            github: Github {
                repositories: vec!["o/r".parse().unwrap()],
                secret: Some(Secret::new(SECRET, "a test").unwrap()),
                labels: Vec::new(),
            },
            jira: Jira {
                secret: Some(Secret::new(WORD, "a test").unwrap()),
                status: "Code Review".into(),
            },
            pulls: Some(Arc::new(MadeUp(vec![
                pull("o/r", 7, "feature/PROJ-1-login"),
                pull("o/r", 8, "feature/PROJ-2-one"),
                pull("o/second", 9, "feature/PROJ-2-two"),
            ]))),
            tickets: Some(board.clone()),
            log: Arc::new(move |line: &str| lines.lock().unwrap().push(line.to_owned())),
        };
        change(&mut setup);
        let token = Token::new(TOKEN, "a test").unwrap();
        let door = Door { token: Some(token), hosts: vec!["box.example".into()] };
        let seen = folder.path().join("deliveries");
        let mut hooks = Hooks::new(setup, door.clone(), &seen).unwrap();
        limit(&mut hooks.limits);
        let site = Site { hooks, queue: queue.clone(), reviewer: "qa".parse().unwrap() };
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), door).unwrap();
        let address = listener.url().replace("http://", "");
        let stop = Stop::default();
        let told = stop.clone();
        let thread = Some(thread::spawn(move || listener.serve(site, &told).unwrap()));
        Served { folder, queue, board, log, address, stop, thread }
    }

    fn send(&self, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        webhook::send(&self.address, "POST", path, headers, body).unwrap()
    }

    /// Sends a signed delivery under a name.
    fn deliver(&self, id: &str, event: &str, body: &Value) -> Answer {
        let body = body.to_string();
        let mut connection = webhook::Connection::open(&self.address).unwrap();
        webhook::deliver(&mut connection, SECRET, id, event, body.as_bytes()).unwrap()
    }

    fn opened(&self, number: u64) -> Answer {
        let body = pull_request("opened", "o/r", number, &commit(1));
        self.deliver(&format!("d-{number}"), "pull_request", &body)
    }

    /// The names of all tasks, whatever became of them.
    fn tasks(&self) -> Vec<String> {
        let filter = Filter { statuses: Status::ALL.to_vec(), ..Filter::default() };
        let listed = self.queue.list(&filter).unwrap();
        listed.iter().map(|listed| listed.task.id.to_string()).collect()
    }

    fn stop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn queue_with_room_for(most: usize, folder: &TempDir) -> FileQueue {
    let policy = Policy { max_queue_size: most, ..Policy::default() };
    FileQueue::open(&folder.path().join("queue"), policy).unwrap()
}

/// An answer in a line: the status, and what is said.
fn line(answer: &Answer) -> String {
    let json = answer.json();
    let reason = json["reason"].as_str().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{} {}{reason}", answer.status, json["state"].as_str().unwrap())
}

/// Compares what is answered to several.
#[track_caller]
fn check(answers: &[(&str, Answer)], expected: Expect) {
    let lines = answers.iter().map(|(what, answer)| format!("{what} -> {}\n", line(answer)));
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn an_opened_pull_request_is_a_task_that_knows_all_of_it() {
    let served = Served::start();
    let answer = served.opened(7);
    assert_eq!(answer.status, 202, "{}", answer.body);
    let id = format!("review-o.r-7-{}", commit(1));
    assert_eq!(answer.json(), json!({ "task": id, "state": "queued", "reason": null }));
    let task = served.queue.get(&id.parse().unwrap()).unwrap().task;
    assert_eq!(
        (task.title.as_str(), task.created_by.as_str()),
        ("Review PR #7 - Add a login", "github webhook")
    );
    assert_eq!(task.context["jira_key"], "PROJ-123");
    assert_eq!(task.context["head_commit"], commit(1));
    assert_eq!(task.context["pr_url"], "https://github.com/o/r/pull/7");
    let log = served.log.lock().unwrap().join("\n");
    assert_eq!(log, format!("github: 202 queued: {id} (delivery d-7)"));
}

#[test]
fn what_is_not_signed_by_github_is_refused() {
    let served = Served::start();
    let body = pull_request("opened", "o/r", 7, &commit(1)).to_string();
    let good = signature(SECRET, body.as_bytes());
    let sha1 = format!("sha1={}", &good[7..47]);
    let (upper, cut) = (good.replace("sha", "SHA"), &good[..60]);
    let other = signature("another secret of theirs", body.as_bytes());
    let send = |headers: &[(&str, &str)]| {
        let rest = [("content-type", "application/json"), ("x-github-event", "pull_request")];
        let headers: Vec<_> = headers.iter().chain(&rest).copied().collect();
        served.send("/webhooks/github", &headers, body.as_bytes())
    };
    let new = "x-hub-signature-256";
    check(
        &[
            ("nothing", send(&[])),
            ("the old one alone", send(&[("x-hub-signature", &sha1)])),
            ("the old one as the new one", send(&[(new, &sha1)])),
            ("upper case", send(&[(new, &upper)])),
            ("cut off", send(&[(new, cut)])),
            ("twice", send(&[(new, &good), (new, &good)])),
            ("another secret", send(&[(new, &other)])),
            ("the token of the server", send(&[("authorization", "Bearer 0123456789abcdef")])),
        ],
        expect![[r#"
            nothing -> 401 refused: the signature in `X-Hub-Signature-256` is not good: it is missing
            the old one alone -> 401 refused: the signature in `X-Hub-Signature-256` is not good: it is missing
            the old one as the new one -> 401 refused: the signature in `X-Hub-Signature-256` is not good: it does not begin with `sha256=`, followed by 64 digits from 0 to f
            upper case -> 401 refused: the signature in `X-Hub-Signature-256` is not good: it does not begin with `sha256=`, followed by 64 digits from 0 to f
            cut off -> 401 refused: the signature in `X-Hub-Signature-256` is not good: it does not begin with `sha256=`, followed by 64 digits from 0 to f
            twice -> 401 refused: the signature in `X-Hub-Signature-256` is not good: it is there more than once
            another secret -> 401 refused: the signature in `X-Hub-Signature-256` is not good: it is that of another secret or of another body
            the token of the server -> 401 refused: the signature in `X-Hub-Signature-256` is not good: it is missing
        "#]],
    );
    assert_eq!(served.tasks(), [""; 0]);
    assert_eq!(send(&[(new, &good)]).status, 202);
}

#[test]
fn only_what_has_a_pull_request_reviewed_makes_a_task() {
    let served = Served::start();
    let deliver = |event: &str, body: Value| served.deliver("d", event, &body);
    let with = |action: &str, key: &str, value: Value| {
        let mut body = pull_request(action, "o/r", 7, &commit(1));
        body["pull_request"][key] = value;
        body
    };
    let plain = |action: &str| pull_request(action, "o/r", 7, &commit(1));
    check(
        &[
            ("ping", deliver("ping", json!({ "zen": "Keep it logically awesome." }))),
            ("push", deliver("push", json!({}))),
            ("closed", deliver("pull_request", plain("closed"))),
            ("edited", deliver("pull_request", plain("edited"))),
            ("labeled", deliver("pull_request", plain("labeled"))),
            ("a draft", deliver("pull_request", with("opened", "draft", json!(true)))),
            (
                "closed and pushed to",
                deliver("pull_request", with("synchronize", "state", json!("closed"))),
            ),
            (
                "elsewhere",
                deliver("pull_request", pull_request("opened", "o/other", 7, &commit(1))),
            ),
        ],
        expect![[r#"
            ping -> 200 ignored: pong: the webhook is set up
            push -> 200 ignored: only `pull_request` events make tasks
            closed -> 200 ignored: nothing is reviewed when a pull request is `closed`
            edited -> 200 ignored: nothing is reviewed when a pull request is `edited`
            labeled -> 200 ignored: nothing is reviewed when a pull request is `labeled`
            a draft -> 200 ignored: the pull request is a draft
            closed and pushed to -> 200 ignored: the pull request is closed
            elsewhere -> 200 ignored: `o/other` is not among `github.repositories`
        "#]],
    );
    assert_eq!(served.tasks(), [""; 0]);
    let mut heads = 1..;
    for action in ["opened", "reopened", "synchronize", "ready_for_review"] {
        // Nobody cares how a repository is spelled.
        let body = pull_request(action, "O/R", 7, &commit(heads.next().unwrap()));
        assert_eq!(deliver("pull_request", body).status, 202, "{action}");
    }
    assert_eq!(served.tasks().len(), 4);
}

#[test]
fn where_a_label_is_asked_for_only_what_has_it_makes_a_task() {
    let served = Served::with(|setup| setup.github.labels = vec!["Ready".into(), "now".into()]);
    let deliver = |action: &str, labels: Value, label: Value| {
        let mut body = pull_request(action, "o/r", 7, &commit(1));
        body["pull_request"]["labels"] = labels;
        body["label"] = label;
        served.deliver("d", "pull_request", &body)
    };
    let (ready, bug) = (json!({ "name": "ready" }), json!({ "name": "bug" }));
    check(
        &[
            ("opened without", deliver("opened", json!([bug]), Value::Null)),
            ("another label", deliver("labeled", json!([bug, ready]), bug.clone())),
            ("the label", deliver("labeled", json!([bug, ready]), ready.clone())),
            ("pushed to with it", deliver("synchronize", json!([bug, ready]), Value::Null)),
        ],
        expect![[r#"
            opened without -> 200 ignored: the pull request has no label `Ready`, `now`
            another label -> 200 ignored: nothing is reviewed when a pull request is `labeled`
            the label -> 202 queued
            pushed to with it -> 200 already_there: this delivery was taken in before
        "#]],
    );
}

#[test]
fn a_body_that_is_not_what_it_should_be_is_told_what_is_wrong() {
    let served = Served::start();
    let signed = |kind: &str, event: Option<&str>, body: &str| {
        let signature = signature(SECRET, body.as_bytes());
        let mut headers = vec![("content-type", kind), ("x-hub-signature-256", signature.as_str())];
        headers.extend(event.map(|event| ("x-github-event", event)));
        served.send("/webhooks/github", &headers, body.as_bytes())
    };
    let (json, pulls) = ("application/json; charset=utf-8", Some("pull_request"));
    let without = |key: &str| {
        let mut body = pull_request("opened", "o/r", 7, &commit(1));
        body["pull_request"].as_object_mut().unwrap().remove(key);
        body.to_string()
    };
    let head = pull_request("opened", "o/r", 7, "HEAD").to_string();
    let form = "payload=%7B%7D";
    check(
        &[
            ("a form", signed("application/x-www-form-urlencoded", pulls, form)),
            ("no event", signed(json, None, &without("body"))),
            ("nothing", signed(json, pulls, "")),
            ("a list", signed(json, pulls, "[]")),
            ("no head", signed(json, pulls, &without("head"))),
            ("no commit", signed(json, pulls, &head)),
            ("no repository", signed(json, pulls, &head.replace("o/r", "o/../r"))),
            ("deep", signed(json, pulls, &"[".repeat(100_000))),
        ],
        expect![[r#"
            a form -> 415 refused: choose `application/json` as the content type of the webhook
            no event -> 400 refused: the header `X-GitHub-Event` is missing
            nothing -> 400 refused: the body is no `pull_request` event: EOF while parsing a value at line 1 column 0
            a list -> 400 refused: the body is no `pull_request` event: invalid length 0, expected struct Delivery with 4 elements at line 1 column 2
            no head -> 400 refused: the body is no `pull_request` event: missing field `head` at line 1 column 3756
            no commit -> 400 refused: "HEAD" is no commit: it has 40 or 64 digits from 0 to f
            no repository -> 400 refused: "o/../r" is no repository: write it as `owner/name`
            deep -> 400 refused: the body is no `pull_request` event: invalid type: sequence, expected a string at line 1 column 1
        "#]],
    );
    let log = served.log.lock().unwrap().join("\n");
    assert!(!log.contains("HEAD") && log.ends_with("github: 400 refused"), "{log}");
    let fine = signed(json, pulls, &without("title").replace("feature/PROJ-123", "x"));
    assert_eq!(fine.status, 202, "{}", fine.body);
}

#[test]
fn a_body_that_is_too_large_is_refused_before_it_is_read() {
    let served = Served::start();
    let large = vec![b' '; super::limits::MAX_BODY + 1];
    let told = served.send("/webhooks/github", &[("content-length", "5242881")], b"");
    let chunk = [format!("{:x}\r\n", large.len()).as_bytes(), &large, b"\r\n0\r\n\r\n"].concat();
    let found = served.send("/webhooks/github", &[("transfer-encoding", "chunked")], &chunk);
    check(
        &[("told", told), ("found", found)],
        expect![[r#"
        told -> 413 refused: the body has more than 5242880 bytes
        found -> 413 refused: the body has more than 5242880 bytes
    "#]],
    );
}

#[test]
fn whoever_is_slow_or_one_too_many_is_sent_away() {
    let limited = |limit: fn(&mut Limits)| Served::within(TempDir::new().unwrap(), |_| {}, limit);
    let slow = limited(|limits| limits.body_within = Duration::from_millis(20));
    let crowded = limited(|limits| limits.deliveries = Semaphore::new(0));
    let slow = slow.send("/webhooks/github", &[("content-length", "100")], b"{");
    let crowded = crowded.opened(7);
    assert!(crowded.head.contains("retry-after: 10"), "{}", crowded.head);
    check(
        &[("slow", slow), ("one too many", crowded)],
        expect![[r#"
        slow -> 408 refused: the body did not come in time
        one too many -> 503 come_again: too many deliveries come at once
    "#]],
    );
}

#[test]
fn a_redelivery_makes_nothing_new_whatever_became_of_the_task() {
    let mut served = Served::start();
    let first = served.opened(7).json()["task"].as_str().unwrap().to_owned();
    let again = served.opened(7);
    let body = pull_request("opened", "o/r", 7, &commit(1));
    let other_name = served.deliver("other", "pull_request", &body);
    check(
        &[("again", again), ("under another name", other_name)],
        expect![[r#"
        again -> 200 already_there: this delivery was taken in before
        under another name -> 200 already_there: task `review-o.r-7-0000000000000000000000000000000000000001` is already there (pending, in `qa`)
    "#]],
    );
    served.stop();
    // A person took the task away.
    let file = served.folder.path().join(format!("queue/queues/qa/{first}.json"));
    std::fs::remove_file(file).unwrap();
    let folder = std::mem::replace(&mut served.folder, TempDir::new().unwrap());
    let served = Served::within(folder, |_| {}, |_| {});
    assert_eq!(line(&served.opened(7)), "200 already_there: this delivery was taken in before");
    assert_eq!(served.tasks(), [""; 0]);
    // Its name keeps no other task away: it is not part of what is signed.
    let body = pull_request("synchronize", "o/r", 7, &commit(2));
    assert_eq!(served.deliver("d-7", "pull_request", &body).status, 202);
}

#[test]
fn a_full_queue_is_told_and_takes_more_when_there_is_room() {
    let served = Served::start();
    for number in 1..=5 {
        assert_eq!(served.opened(number).status, 202);
    }
    let full = served.opened(6);
    assert!(full.head.contains("retry-after: 10"), "{}", full.head);
    assert_eq!(served.opened(1).status, 200);
    check(
        &[("full", full)],
        expect![[r#"
        full -> 503 come_again: queue `qa` has no room for that: 5 tasks may wait in it; let agents work some off, cancel some, or raise `safeguards.max_queue_size`
    "#]],
    );
    let first = served.tasks()[0].parse().unwrap();
    served.queue.cancel(&first, "somebody").unwrap();
    assert_eq!(served.opened(6).status, 202);
}

#[test]
fn a_queue_that_cannot_be_written_to_is_told_without_saying_where_it_is() {
    let served = Served::start();
    // What should be a folder is a file.
    let folder = served.folder.path().join("queue/queues");
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::write(&folder, "").unwrap();
    let answer = served.opened(7);
    assert!(answer.head.contains("retry-after: 10"), "{}", answer.head);
    check(
        &[("broken", answer)],
        expect![[r#"
        broken -> 503 come_again: the queue cannot be written to; the server's log says why
    "#]],
    );
    let log = served.log.lock().unwrap().join("\n");
    assert!(log.starts_with("the queue cannot be written to: could not use `/"), "{log}");
}

#[test]
fn what_nobody_configured_says_so() {
    let served = Served::with(|setup| {
        setup.github.secret = None;
        setup.jira.secret = None;
        setup.pulls = None;
    });
    let asks = [("authorization", "Bearer 0123456789abcdef")];
    let github = served.opened(7);
    let jira = served.send("/webhooks/jira?token=x", &[], b"{}");
    let queue = served.send("/queue", &asks, br#"{"pr":7}"#);
    let nowhere = Served::with(|setup| setup.github.repositories.clear());
    check(
        &[
            ("github", github),
            ("jira", jira),
            ("queue", queue),
            ("no repositories, github", nowhere.opened(7)),
            ("no repositories, queue", nowhere.send("/queue", &asks, br#"{"pr":7}"#)),
        ],
        expect![[r#"
            github -> 503 refused: not configured: there is no secret for the webhooks of GitHub
            jira -> 503 refused: not configured: there is no token for the webhooks of JIRA
            queue -> 503 refused: not configured: pull requests cannot be looked up without access to GitHub
            no repositories, github -> 503 refused: not configured: `github.repositories` is empty
            no repositories, queue -> 503 refused: not configured: `github.repositories` is empty
        "#]],
    );
}

#[test]
fn a_build_asks_for_a_review_with_the_token() {
    let served = Served::start();
    let ask = |body: &str| {
        // As `curl -d` sends it.
        let kind = ("content-type", "application/x-www-form-urlencoded");
        let token = ("authorization", "bearer 0123456789abcdef");
        served.send("/queue", &[kind, token], body.as_bytes())
    };
    let old = format!(r#"{{"pr":7,"head":"{}"}}"#, commit(6));
    let right = format!(r#"{{"pr":8,"repo":"O/r","head":"{}","agent_id":"critic"}}"#, commit(7));
    check(
        &[
            ("no token", served.send("/queue", &[], b"{}")),
            ("another token", served.send("/queue", &[("authorization", "Bearer x")], b"{}")),
            ("as the seed has it", ask(r#"{"agent_id":"qa","pr":"7"}"#)),
            ("as a number", ask(r#"{"pr":7}"#)),
            ("an old head", ask(&old)),
            ("the head, another agent", ask(&right)),
            ("nobody", ask(r#"{"agent_id":"nobody","pr":"7"}"#)),
            ("a path", ask(r#"{"agent_id":"../qa","pr":"7"}"#)),
            ("no number", ask(r#"{"pr":"seven"}"#)),
            ("zero", ask(r#"{"pr":0}"#)),
            ("less", ask(r#"{"pr":-7}"#)),
            ("another repository", ask(r#"{"pr":7,"repo":"o/other"}"#)),
            ("no repository", ask(r#"{"pr":7,"repo":"o"}"#)),
            ("a slip", ask(r#"{"pr":7,"repository":"o/r"}"#)),
            ("not there", ask(r#"{"pr":70}"#)),
            ("away", ask(r#"{"pr":500}"#)),
            ("refused", ask(r#"{"pr":403}"#)),
            ("no JSON", ask("pr=7")),
        ],
        expect![[r#"
            no token -> 401 refused: the header `Authorization: Bearer TOKEN` is missing or wrong
            another token -> 401 refused: the header `Authorization: Bearer TOKEN` is missing or wrong
            as the seed has it -> 202 queued
            as a number -> 200 already_there: task `review-o.r-7-0000000000000000000000000000000000000007` is already there (pending, in `qa`)
            an old head -> 409 refused: the head of #7 is 0000000000000000000000000000000000000007 by now
            the head, another agent -> 202 queued
            nobody -> 422 refused: `agent_id` is none of critic, qa
            a path -> 422 refused: `agent_id` is none of critic, qa
            no number -> 422 refused: `pr` is no number of a pull request, such as 7 or "7"
            zero -> 422 refused: `pr` is no number of a pull request, such as 7 or "7"
            less -> 422 refused: `pr` is no number of a pull request, such as 7 or "7"
            another repository -> 422 refused: `repo` is none of o/r
            no repository -> 400 refused: the body is not of the form {"agent_id":"qa","pr":"7"}: "o" is no repository: write it as `owner/name` at line 1 column 19
            a slip -> 400 refused: the body is not of the form {"agent_id":"qa","pr":"7"}: unknown field `repository`, expected one of `agent_id`, `pr`, `repo`, `head` at line 1 column 20
            not there -> 404 refused: there is no o/r#70
            away -> 503 come_again: GitHub does not answer
            refused -> 502 refused: GitHub refuses: 403
            no JSON -> 400 refused: the body is not of the form {"agent_id":"qa","pr":"7"}: expected value at line 1 column 1
        "#]],
    );
    let critics = Filter { queue: Some("second".parse().unwrap()), ..Filter::default() };
    assert_eq!(served.queue.list(&critics).unwrap().len(), 1);
}

#[test]
fn of_several_repositories_one_has_to_be_said() {
    let served = Served::with(|setup| setup.github.repositories.push("o/second".parse().unwrap()));
    let token = [("authorization", "Bearer 0123456789abcdef")];
    let ask = |body: &str| served.send("/queue", &token, body.as_bytes());
    check(
        &[("none", ask(r#"{"pr":7}"#)), ("one", ask(r#"{"pr":9,"repo":"o/second"}"#))],
        expect![[r#"
            none -> 422 refused: say `repo`, one of o/r, o/second
            one -> 202 queued
        "#]],
    );
}

#[test]
fn a_ticket_that_comes_to_be_reviewed_has_its_pull_request_reviewed() {
    let served = Served::start();
    let token = [("x-assay-token", WORD)];
    let send = |body: Value| served.send("/webhooks/jira", &token, body.to_string().as_bytes());
    let issue = |key: &str, status: &str| {
        json!({
            "webhookEvent": "jira:issue_updated", "timestamp": 1,
            "issue": { "id": "1", "key": key, "fields": { "status": { "name": status, "id": "3" } } },
        })
    };
    check(
        &[
            ("another status", send(issue("PROJ-1", "In Progress"))),
            ("the status", send(issue("PROJ-1", "code review"))),
            ("a rule's own words", send(json!({ "issue": { "key": "PROJ-1" } }))),
            ("fewer words", send(json!({ "key": "PROJ-1", "status": "Code Review" }))),
            ("fewer words, another status", send(json!({ "key": "PROJ-1", "status": "Done" }))),
            ("none", send(issue("PROJ-9", "Code Review"))),
            ("none again", send(issue("PROJ-9", "Code Review"))),
            ("no ticket", send(issue("../x", "Code Review"))),
            ("nothing", send(json!({}))),
            ("a list", send(json!([]))),
        ],
        expect![[r#"
            another status -> 200 ignored: the status of `PROJ-1` is not `Code Review`
            the status -> 202 queued
            a rule's own words -> 200 already_there: task `review-o.r-7-0000000000000000000000000000000000000007` is already there (pending, in `qa`)
            fewer words -> 200 already_there: task `review-o.r-7-0000000000000000000000000000000000000007` is already there (pending, in `qa`)
            fewer words, another status -> 200 ignored: the status of `PROJ-1` is not `Code Review`
            none -> 200 ignored: No review was queued: no open pull request names PROJ-9 in its branch or its title.
            none again -> 200 ignored: No review was queued: no open pull request names PROJ-9 in its branch or its title.
            no ticket -> 400 refused: "../x" is no ticket: write it as `PROJ-123`
            nothing -> 400 refused: the body has no `issue.key` and no `key`
            a list -> 400 refused: the body has no `issue.key` and no `key`
        "#]],
    );
    let both = Served::with(|setup| setup.github.repositories.push("o/second".parse().unwrap()));
    let body = issue("PROJ-2", "Code Review").to_string();
    let several = both.send("/webhooks/jira", &token, body.as_bytes());
    check(
        &[("several", several)],
        expect![[r#"
        several -> 200 ignored: No review was queued: 2 open pull requests name PROJ-2 (o/r#8, o/second#9). Queue the one that is meant.
    "#]],
    );
    let comments = |served: &Served| {
        let comments = served.board.0.lock().unwrap();
        comments.iter().map(|((key, mark), _)| format!("{key} {mark}")).collect::<Vec<_>>()
    };
    assert_eq!(comments(&served), ["PROJ-9 assay-no-pull-request"]);
    assert_eq!(comments(&both), ["PROJ-2 assay-several-pull-requests o/r#8 o/second#9"]);
    assert_eq!(served.tasks().len(), 1);
    assert_eq!(both.tasks().len(), 0);
}

#[test]
fn jira_proves_itself_by_a_token_or_a_signature() {
    let served = Served::start();
    let body = br#"{"key":"PROJ-1"}"#;
    let signed = signature(WORD, body);
    let other = signature(SECRET, body);
    let bearer = format!("Bearer {WORD}");
    let send = |path: &str, headers: &[(&str, &str)]| served.send(path, headers, body).status;
    let jira = "/webhooks/jira";
    assert_eq!(send(jira, &[]), 401);
    assert_eq!(send(jira, &[("x-assay-token", "a+word/for=jira-0124")]), 401);
    assert_eq!(send("/webhooks/jira?token=a%2Bword%2Ffor%3Djira-012", &[]), 401);
    assert_eq!(send("/webhooks/jira?token=%zz%", &[("x-hub-signature", &signed)]), 401);
    assert_eq!(send(jira, &[("x-hub-signature", &other)]), 401);
    assert_eq!(send(jira, &[("authorization", "Bearer 0123456789abcdef")]), 401);
    assert_eq!(served.tasks(), [""; 0]);
    assert_eq!(send(jira, &[("x-assay-token", WORD)]), 202);
    assert_eq!(send(jira, &[("authorization", &bearer)]), 200);
    assert_eq!(send(jira, &[("x-hub-signature", &signed)]), 200);
    assert_eq!(send("/webhooks/jira?a=b&token=a%2Bword%2ffor=jira-0123", &[]), 200);
    let log = served.log.lock().unwrap().join("\n");
    assert!(!log.contains("jira-012"), "{log}");
}

#[test]
fn only_names_that_are_allowed_are_answered_to() {
    let served = Served::start();
    let under = |host: &str| {
        let body = pull_request("opened", "o/r", 7, &commit(1)).to_string();
        let signature = signature(SECRET, body.as_bytes());
        let headers = [
            ("host", host),
            ("content-type", "application/json"),
            ("x-github-event", "pull_request"),
            ("x-hub-signature-256", &signature),
        ];
        served.send("/webhooks/github", &headers, body.as_bytes()).status
    };
    assert_eq!(under("evil.example"), 421);
    assert_eq!(under("box.example.evil.example:80"), 421);
    assert_eq!(under("Box.example:8787"), 202);
    assert_eq!(under("[::1]:8787"), 200);
    assert_eq!(under("localhost"), 200);
}

#[test]
fn whoever_looks_is_told_whether_the_server_can_work() {
    let served = Served::start();
    let get = |path: &str| {
        let answer = webhook::send(&served.address, "GET", path, &[("host", "10.0.0.1")], b"");
        let answer = answer.unwrap();
        (answer.status, answer.body)
    };
    assert_eq!(get("/healthz"), (200, "ok\n".into()));
    assert_eq!(get("/readyz"), (200, "ready\n".into()));
    assert_eq!(get("/nowhere").0, 404);
    let index = served.folder.path().join("queue/.index");
    std::fs::remove_dir_all(&index).unwrap();
    std::fs::write(&index, "").unwrap();
    assert_eq!(get("/readyz"), (503, "the queue cannot be read\n".into()));
    assert_eq!(get("/healthz").0, 200);
    let wrong = webhook::send(&served.address, "GET", "/webhooks/github", &[], b"").unwrap();
    assert_eq!(wrong.status, 405);
}

#[test]
fn what_is_under_way_is_finished_when_the_server_stops() {
    let mut served = Served::start();
    let mut early = webhook::Connection::open(&served.address).unwrap();
    let body = pull_request("opened", "o/r", 7, &commit(1)).to_string();
    let first = webhook::deliver(&mut early, SECRET, "d", "pull_request", body.as_bytes());
    assert_eq!(first.unwrap().status, 202);
    served.stop();
    assert!(webhook::Connection::open(&served.address).is_err());
    assert_eq!(served.tasks().len(), 1);
}

/// Bodies of all kinds: bytes, and real ones with some of them changed or cut off.
fn bodies() -> impl Strategy<Value = Vec<u8>> {
    let real = [
        pull_request("opened", "o/r", 7, &commit(1)).to_string(),
        json!({ "issue": { "key": "PROJ-1", "fields": { "status": { "name": "Code Review" } } } })
            .to_string(),
        json!({ "agent_id": "qa", "pr": "7", "repo": "o/r", "head": commit(7) }).to_string(),
    ];
    let changed = (select(real.to_vec()), vec((any::<Index>(), any::<u8>()), 0..8), any::<Index>());
    let changed = changed.prop_map(|(real, changes, end)| {
        let mut bytes = real.into_bytes();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        let end = end.index(4 * bytes.len());
        bytes.truncate(end);
        bytes
    });
    prop_oneof![vec(any::<u8>(), 0..400), changed]
}

#[test]
fn no_body_whoever_signed_it_ends_the_server() {
    let (folder, other) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let queue = Arc::new(queue_with_room_for(100_000, &other));
    let served = Served::within(folder, |setup| setup.queue = queue, |_| {});
    let connection = RefCell::new(webhook::Connection::open(&served.address).unwrap());
    let mut runner = TestRunner::new(Config { cases: 300, ..Config::default() });
    let checked = runner.run(&bodies(), |body| {
        let mut connection = connection.borrow_mut();
        let github = webhook::deliver(&mut connection, SECRET, "d", "pull_request", &body);
        let jira = connection.send("POST", "/webhooks/jira", &[("x-assay-token", WORD)], &body);
        let token = ("authorization", "Bearer 0123456789abcdef");
        let queue = connection.send("POST", "/queue", &[token], &body);
        for answer in [github, jira, queue] {
            let status = answer.map_err(|error| TestCaseError::fail(error.to_string()))?.status;
            prop_assert!([200, 202, 400, 404, 409, 422].contains(&status), "{status}");
        }
        Ok(())
    });
    checked.unwrap();
}
