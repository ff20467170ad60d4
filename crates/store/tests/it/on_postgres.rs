//! Tests of the PostgreSQL store alone: several connections, a server that becomes unreachable.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use assay_base::clock::Clock;
use assay_store::postgres::PgQueue;
use assay_store::queue::{
    AttemptFailure, ClaimState, ClaimedTask, LeaseKind, PauseTarget, Policy, Queue, QueueError,
    QueuedTask, RetryLimit, SettleOutcome, TaskFilter, TaskResult,
};
use assay_store::task::{AgentId, QueueName, Task, TaskId, TaskStatus};
use assay_testenv::postgres::{PrivatePostgres, ServerDurability, in_schema, schema};

const MINUTE: Duration = Duration::from_secs(60);

fn large() -> Policy {
    Policy { max_queue_size: 1_000_000, ..Policy::default() }
}

/// Returns a queue on new tables, and the URL of the tables.
fn open(policy: Policy) -> (String, PgQueue) {
    let url = schema();
    assert_eq!(PgQueue::migrate(&url).unwrap(), 1);
    let queue = PgQueue::open(&url, policy, &Clock::system()).unwrap();
    (url, queue)
}

fn qa() -> QueueName {
    "qa".parse().unwrap()
}

fn agent(name: &str) -> AgentId {
    name.parse().unwrap()
}

fn id(name: &str) -> TaskId {
    name.parse().unwrap()
}

fn task(name: &str) -> QueuedTask {
    task_after(name, &[])
}

fn task_after(name: &str, needs: &[&str]) -> QueuedTask {
    let at = "2026-02-03T10:00:00.000Z".parse().unwrap();
    let mut task = Task::new(id(name), "review".parse().unwrap(), name, at);
    task.depends_on = needs.iter().map(|need| id(need)).collect();
    QueuedTask { queue: qa(), task }
}

fn claim(queue: &PgQueue, name: &str, at_most: usize) -> Vec<ClaimedTask> {
    queue.claim(&qa(), &agent(name), LeaseKind::ByTime(MINUTE), at_most).unwrap()
}

fn completed(follow_ups: Vec<QueuedTask>) -> TaskResult {
    TaskResult::Completed { summary: "done".into(), context: Default::default(), follow_ups }
}

fn names(claimed: &[ClaimedTask]) -> String {
    claimed.iter().map(|one| one.task.id.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn concurrent_migrations_create_the_tables_once() {
    let url = schema();
    let error = PgQueue::open(&url, large(), &Clock::system()).unwrap_err().to_string();
    assert_eq!(error, "the queue tables are missing; run `assay queue migrate`");
    let steps: usize = thread::scope(|scope| {
        let all: Vec<_> = (0..4).map(|_| scope.spawn(|| PgQueue::migrate(&url).unwrap())).collect();
        all.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert_eq!(steps, 1);
    PgQueue::open(&url, large(), &Clock::system()).unwrap();
}

#[test]
fn a_password_is_never_shown() {
    let (url, queue) = open(large());
    assert!(!format!("{queue:?}").contains("not-a-secret"));
    let wrong = url.replace("not-a-secret", "s3cret");
    let error = PgQueue::open(&wrong, large(), &Clock::system()).unwrap_err();
    assert!(!format!("{error:?} {error}").contains("s3cret"), "{error:?}");
    let away = "postgres://me:s3cret@127.0.0.1:1/none";
    let error = PgQueue::open(away, large(), &Clock::system()).unwrap_err();
    assert!(matches!(error, QueueError::Unreachable { .. }), "{error:?}");
    assert!(!format!("{error:?} {error}").contains("s3cret"), "{error:?}");
}

#[test]
fn each_task_is_claimed_by_exactly_one_of_many_workers() {
    const TASKS: usize = 400;
    let (url, queue) = open(large());
    queue.push((0..TASKS).map(|n| task(&format!("t{n:03}"))).collect()).unwrap();
    let done = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for worker in 0..8 {
            // Some workers share a store, as threads do; others have their own, as processes do.
            let own =
                (worker % 2 == 0).then(|| PgQueue::open(&url, large(), &Clock::system()).unwrap());
            let (queue, done) = (&queue, &done);
            scope.spawn(move || {
                let queue = own.as_ref().unwrap_or(queue);
                loop {
                    let claimed = claim(queue, &format!("qa-{worker}"), 1 + worker % 3);
                    if claimed.is_empty() {
                        return;
                    }
                    for one in &claimed {
                        *done.lock().unwrap().entry(one.task.id.clone()).or_insert(0) += 1;
                    }
                    let all = claimed.into_iter().map(|one| (one.lease, completed(vec![])));
                    for answer in queue.settle_all(all.collect()) {
                        assert_eq!(answer.unwrap(), SettleOutcome::Completed);
                    }
                }
            });
        }
    });
    let done = done.into_inner().unwrap();
    assert_eq!(done.len(), TASKS);
    assert!(done.values().all(|times| *times == 1));
    assert_eq!(queue.count().unwrap()[0].completed, TASKS);
}

#[test]
fn follow_up_tasks_are_added_together_with_the_completion_or_not_at_all() {
    let (_, queue) = open(large());
    queue.push(vec![task("a")]).unwrap();
    let claimed = claim(&queue, "qa-1", 1).remove(0);
    let follow_ups = || vec![task("b"), task_after("c", &["a", "b"])];
    let mut old = claimed.lease.clone();
    old.fence -= 1;
    let refused = queue.settle(&old, completed(follow_ups())).unwrap_err();
    assert!(matches!(refused, QueueError::NotHeld { .. }), "{refused}");
    assert!(matches!(queue.get(&id("b")), Err(QueueError::Unknown(_))));
    queue.settle(&claimed.lease, completed(follow_ups())).unwrap();
    let c = queue.get(&id("c")).unwrap();
    assert_eq!(c.claim_state, ClaimState::Waiting { on: vec![id("b")] });
    assert_eq!(c.task.parent_task_id, Some(id("a")));
    let again = queue.settle(&claimed.lease, completed(follow_ups())).unwrap();
    assert_eq!(again, SettleOutcome::AlreadyCompleted);
    assert_eq!(names(&claim(&queue, "qa-1", 9)), "b");
}

#[test]
fn a_dependent_task_becomes_ready_if_push_and_completion_are_concurrent() {
    const ROUNDS: usize = 60;
    let (url, queue) = open(large());
    let other = PgQueue::open(&url, large(), &Clock::system()).unwrap();
    for round in 0..ROUNDS {
        let (first, second) = (format!("a{round}"), format!("b{round}"));
        queue.push(vec![task(&first)]).unwrap();
        let held = claim(&queue, "qa-1", 1).remove(0);
        thread::scope(|scope| {
            scope.spawn(|| queue.settle(&held.lease, completed(vec![])).unwrap());
            scope.spawn(|| other.push(vec![task_after(&second, &[&first])]).unwrap());
        });
        let freed = claim(&queue, "qa-1", 1);
        assert_eq!(names(&freed), second);
        queue.settle(&freed[0].lease, completed(vec![])).unwrap();
    }
}

#[test]
fn a_task_with_a_dependency_that_cannot_complete_is_blocked_with_the_reason() {
    let (_, queue) = open(large());
    queue.push(vec![task("failing"), task("gone")]).unwrap();
    queue
        .push(vec![
            task_after("x", &["failing"]),
            task_after("y", &["gone"]),
            task_after("z", &["nowhere"]),
            task_after("o", &["p"]),
            task_after("p", &["o"]),
        ])
        .unwrap();
    let held = claim(&queue, "qa-1", 1).remove(0);
    let failure = AttemptFailure { error: "no".into(), retry_limit: RetryLimit::Never };
    queue.settle(&held.lease, TaskResult::Failed(failure)).unwrap();
    queue.cancel(&id("gone"), "me").unwrap();
    let reason = |name: &str| match queue.get(&id(name)).unwrap().claim_state {
        ClaimState::Blocked { reason } => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason("x"), "depends on `failing`, which failed");
    assert_eq!(reason("y"), "depends on `gone`, which was cancelled");
    assert_eq!(reason("z"), "depends on `nowhere`, which is unknown");
    assert_eq!(reason("o"), "depends on `p`, which depends on this task");
    let count = queue.count().unwrap();
    assert_eq!((count[1].queue.as_str(), count[1].blocked), ("qa", 5));
    assert_eq!(count[0].queue.as_str(), "architect");
    queue.retry(&id("failing")).unwrap();
    let again = claim(&queue, "qa-1", 9);
    assert_eq!(names(&again), "failing");
    assert_eq!(again[0].lease.fence, held.lease.fence + 1);
    queue.settle(&again[0].lease, completed(vec![])).unwrap();
    assert_eq!(names(&claim(&queue, "qa-1", 9)), "x");
}

#[test]
fn concurrent_pushes_fill_a_queue_exactly_to_its_maximum() {
    for most in [10, 700] {
        let policy = Policy { max_queue_size: most, ..Policy::default() };
        let (url, queue) = open(policy.clone());
        let next = AtomicUsize::new(0);
        let refused = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    let queue = PgQueue::open(&url, policy.clone(), &Clock::system()).unwrap();
                    while refused.load(Ordering::Relaxed) < 6 {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        match queue.push(vec![task(&format!("t{number}"))]) {
                            Ok(()) => {}
                            Err(QueueError::Full { .. }) => {
                                refused.fetch_add(1, Ordering::Relaxed);
                            }
                            Err(other) => panic!("{other}"),
                        }
                    }
                });
            }
        });
        assert_eq!(queue.count().unwrap()[0].ready, most);
        claim(&queue, "qa-1", 1);
        queue.push(vec![task("one-more")]).unwrap();
        let full = queue.push(vec![task("too-much")]).unwrap_err();
        assert!(matches!(full, QueueError::Full { .. }), "{full}");
        let there = queue.push(vec![task("one-more")]).unwrap_err();
        assert!(matches!(there, QueueError::AlreadyExists { .. }), "{there}");
    }
}

#[test]
fn a_push_and_a_pause_wake_a_watch() {
    let (url, queue) = open(large());
    let watch = queue.watch(&qa()).unwrap();
    assert_eq!(names(&claim(&queue, "qa-1", 1)), "");
    let other = PgQueue::open(&url, large(), &Clock::system()).unwrap();
    for round in 0..3 {
        other.push(vec![task(&format!("t{round}"))]).unwrap();
        assert!(watch.wait(MINUTE));
        let held = claim(&queue, "qa-1", 1).remove(0);
        assert_eq!(names(&claim(&queue, "qa-2", 1)), "");
        let follow_ups = vec![task(&format!("f{round}"))];
        other.settle(&held.lease, completed(follow_ups)).unwrap();
        assert!(watch.wait(MINUTE));
        let held = claim(&queue, "qa-1", 1).remove(0);
        queue.settle(&held.lease, completed(vec![])).unwrap();
        assert_eq!(names(&claim(&queue, "qa-1", 1)), "");
    }
    other.pause(&PauseTarget::All).unwrap();
    assert!(watch.wait(MINUTE));
    assert!(queue.is_paused(&agent("qa-1")).unwrap());
    other.resume(&PauseTarget::All).unwrap();
    assert!(watch.wait(MINUTE));
    assert!(!queue.is_paused(&agent("qa-1")).unwrap());
}

#[test]
fn an_agent_id_is_taken_until_its_agent_leaves() {
    let (url, queue) = open(large());
    let other = PgQueue::open(&url, large(), &Clock::system()).unwrap();
    let registration = queue.join(&agent("qa-1")).unwrap();
    let refused = other.join(&agent("qa-1")).err().unwrap().to_string();
    assert!(refused.starts_with("agent `qa-1` is already running (process "), "{refused}");
    queue.push(vec![task("a"), task("b")]).unwrap();
    let held = queue.claim(&qa(), &agent("qa-1"), LeaseKind::WhileAlive(MINUTE), 2).unwrap();
    assert!(other.recover().unwrap().is_empty());
    drop(registration);
    let _presence = other.join(&agent("qa-1")).unwrap();
    let refused = queue.settle(&held[0].lease, completed(vec![])).unwrap_err();
    assert!(matches!(refused, QueueError::NotHeld { .. }), "{refused}");
    assert_eq!(names(&claim(&queue, "qa-2", 9)), "a b");
}

#[test]
fn a_server_that_crashes_under_load_loses_nothing_and_doubles_nothing() {
    const TASKS: usize = 600;
    const WORKERS: usize = 4;
    let mut server = PrivatePostgres::start(&std::env::temp_dir(), ServerDurability::No).unwrap();
    let url = in_schema(&server.url(), "crash");
    PgQueue::migrate(&url).unwrap();
    let done = Mutex::new(BTreeMap::new());
    let total = AtomicUsize::new(0);
    let watcher = PgQueue::open(&url, large(), &Clock::system()).unwrap();
    let watch = watcher.watch(&qa()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            let queue = PgQueue::open(&url, large(), &Clock::system()).unwrap();
            for number in 0..TASKS / 2 {
                let pair = vec![task(&format!("a{number}")), task(&format!("b{number}"))];
                queue.push(pair).unwrap();
            }
        });
        for worker in 0..WORKERS {
            let (url, done, total) = (&url, &done, &total);
            scope.spawn(move || {
                let queue = PgQueue::open(url, large(), &Clock::system()).unwrap();
                while total.load(Ordering::Relaxed) < TASKS * 2 {
                    for one in claim(&queue, &format!("qa-{worker}"), 2) {
                        *done.lock().unwrap().entry(one.task.id.clone()).or_insert(0) += 1;
                        let is_first = one.task.parent_task_id.is_none();
                        let next = is_first.then(|| task(&format!("next-{}", one.task.id)));
                        let next = completed(next.into_iter().collect());
                        assert_eq!(
                            queue.settle(&one.lease, next).unwrap(),
                            SettleOutcome::Completed
                        );
                        total.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
        for crash in 1..=2 {
            while total.load(Ordering::Relaxed) < crash * TASKS / 2 {
                thread::yield_now();
            }
            server.kill().unwrap();
            server.resume().unwrap();
        }
    });
    let done = done.into_inner().unwrap();
    assert_eq!(done.len(), TASKS * 2);
    assert!(done.values().all(|times| *times == 1), "{done:?}");
    assert_eq!(watcher.count().unwrap()[0].completed, TASKS * 2);
    // The watch has reconnected to the server.
    while watch.wait(Duration::ZERO) {}
    assert_eq!(names(&claim(&watcher, "qa-1", 1)), "");
    watcher.push(vec![task("after")]).unwrap();
    assert!(watch.wait(MINUTE));
    drop(watch);
    server.stop().unwrap();
    let listed = watcher.list(&TaskFilter::default());
    assert!(matches!(listed, Err(QueueError::Unreachable { .. })), "{listed:?}");
}

#[test]
fn a_task_keeps_unknown_members_in_their_order() {
    let (_, queue) = open(large());
    let json = r#"{"zebra": 1, "id": "t", "type": "review", "title": "T", "apple": {"b": 1, "a": 2},
        "created_at": "2026-02-03T10:00:00Z", "context": {"epic": "E-1", "odd": "\u0000"}}"#;
    let task = Task::parse(json.as_bytes()).unwrap();
    queue.push(vec![QueuedTask { queue: qa(), task: task.clone() }]).unwrap();
    assert_eq!(queue.get(&id("t")).unwrap().task, task);
    let wanted =
        TaskFilter { context: Some(("epic".into(), "E-1".into())), ..TaskFilter::default() };
    assert_eq!(queue.list(&wanted).unwrap().len(), 1);
    let other =
        TaskFilter { context: Some(("epic".into(), "E-2".into())), ..TaskFilter::default() };
    assert_eq!(queue.list(&other).unwrap().len(), 0);
    let held = claim(&queue, "qa-1", 1).remove(0);
    queue.settle(&held.lease, completed(vec![])).unwrap();
    let over = TaskFilter { statuses: vec![TaskStatus::Completed], ..TaskFilter::default() };
    let rest = queue.list(&over).unwrap().remove(0).task.rest;
    assert_eq!(rest.keys().collect::<Vec<_>>(), ["zebra", "apple"]);
}
