//! Crash tests: a process that dies at any write loses no task and completes none twice; a full or
//! read-only disk causes no error for an operation that was done.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use assay_base::clock::Clock;

use super::{QueueFixture, claim, done, policy, qa, task};
use crate::durable_fs::fault::{self, Fault};
use crate::files::FileQueue;
use crate::queue::{
    AttemptFailure, LeaseKind, Queue, QueueError, RetryLimit, TaskFilter, TaskResult,
};
use crate::task::{AgentId, TaskStatus};

/// The tested operations, on a queue in which `worker` has claimed the task `held`, and the task
/// `waiting` is pending.
const OPERATIONS: [&str; 9] = [
    "push", "push-two", "push-each", "claim", "complete", "complete-with", "fail", "fail-for-good",
    "cancel",
];

/// The variable for the crashing process: the operation, the number of the write at which the
/// process dies, and the folder of the queue.
const ROLE: &str = "ASSAY_TEST_CRASH";

fn prepare(fixture: &QueueFixture) {
    let queue = fixture.open();
    queue.push(vec![task("held")]).unwrap();
    let worker: AgentId = "worker".parse().unwrap();
    let registration = queue.join(&worker).unwrap();
    let held =
        queue.claim(&qa(), &worker, LeaseKind::WhileAlive(super::LONG), 1).unwrap().remove(0);
    std::fs::write(fixture.path("lease.json"), serde_json::to_vec(&held.lease).unwrap()).unwrap();
    queue.push(vec![task("waiting")]).unwrap();
    drop(registration);
}

fn operate(queue: &FileQueue, operation: &str) -> Result<(), QueueError> {
    let lease = std::fs::read(queue.folder().join("lease.json")).unwrap();
    let lease = serde_json::from_slice(&lease).unwrap();
    let fail =
        |retry_limit| TaskResult::Failed(AttemptFailure { error: "broke".into(), retry_limit });
    match operation {
        "push" => queue.push(vec![task("new")]),
        "push-two" => queue.push(vec![task("new"), task("newer")]),
        "push-each" => {
            queue.push_all(vec![task("new"), task("newer")]).into_iter().collect::<Result<_, _>>()
        }
        "claim" => {
            let lease_kind = LeaseKind::WhileAlive(super::LONG);
            queue.claim(&qa(), &"worker".parse().unwrap(), lease_kind, 1).map(|_| ())
        }
        "complete" => queue.settle(&lease, done(vec![])).map(|_| ()),
        "complete-with" => queue.settle(&lease, done(vec![task("fix"), task("note")])).map(|_| ()),
        "fail" => queue.settle(&lease, fail(RetryLimit::AtMost(None))).map(|_| ()),
        "fail-for-good" => queue.settle(&lease, fail(RetryLimit::Never)).map(|_| ()),
        "cancel" => queue.cancel(&"waiting".parse().unwrap(), "somebody"),
        other => panic!("no operation `{other}`"),
    }
}

/// Returns the status of every task.
fn statuses(queue: &FileQueue) -> BTreeMap<String, TaskStatus> {
    let filter = TaskFilter { statuses: TaskStatus::ALL.to_vec(), ..TaskFilter::default() };
    let listed = queue.list(&filter).unwrap();
    let tasks: Vec<_> =
        listed.iter().map(|listed| (listed.task.id.to_string(), listed.task.status)).collect();
    let map: BTreeMap<String, TaskStatus> = tasks.iter().cloned().collect();
    assert_eq!(map.len(), tasks.len(), "a task is there twice: {tasks:?}");
    map
}

/// Returns the status of every task after an operation that happened, or did not; tasks in progress
/// count as pending.
fn outcome(operation: &str, happened: bool) -> BTreeMap<String, TaskStatus> {
    let fixture = QueueFixture::new();
    prepare(&fixture);
    let queue = fixture.open();
    if happened {
        operate(&queue, operation).unwrap();
    }
    queue.recover().unwrap();
    statuses(&queue)
}

/// Returns true if the tasks are as after the operation, or as before it. Tasks that were pushed
/// independently may be stored in part.
fn is_either(
    operation: &str,
    now: &BTreeMap<String, TaskStatus>,
    [before, after]: [&BTreeMap<String, TaskStatus>; 2],
) -> bool {
    let is_between = || {
        before.iter().all(|(id, status)| now.get(id) == Some(status))
            && now.iter().all(|(id, status)| after.get(id) == Some(status))
    };
    now == before || now == after || operation == "push-each" && is_between()
}

/// Completes all tasks, as agents would, and returns the number of completions of each.
fn work_off(queue: &FileQueue) -> BTreeMap<String, usize> {
    let mut times = BTreeMap::new();
    for name in ["qa", "architect"] {
        let (name, agent) = (name.parse().unwrap(), "other".parse().unwrap());
        let lease_kind = LeaseKind::ByTime(super::LONG);
        while let Some(next) = queue.claim(&name, &agent, lease_kind, 1).unwrap().pop() {
            queue.settle(&next.lease, done(vec![])).unwrap();
            *times.entry(next.lease.task.to_string()).or_default() += 1;
        }
    }
    times
}

/// Returns the number of writes of an operation.
fn writes(operation: &str) -> usize {
    let fixture = QueueFixture::new();
    prepare(&fixture);
    let queue = fixture.open();
    fault::inject(usize::MAX, Fault::Die);
    operate(&queue, operation).unwrap();
    fault::clear().len()
}

#[test]
fn a_process_killed_at_any_write_loses_nothing_and_does_nothing_twice() {
    #[expect(clippy::disallowed_methods, reason = "the process that is to die is told so")]
    if let Ok(role) = std::env::var(ROLE) {
        return die(&role);
    }
    for operation in OPERATIONS {
        let (before, after) = (outcome(operation, false), outcome(operation, true));
        for number in 1..=writes(operation) {
            let fixture = QueueFixture::new();
            prepare(&fixture);
            let role = format!("{operation} {number} {}", fixture.0.path().display());
            let name = "files::tests::crash::a_process_killed_at_any_write_loses_nothing_and_does_nothing_twice";
            #[expect(clippy::disallowed_methods, reason = "it has to die without our dying")]
            let mut child = Command::new(std::env::current_exe().unwrap());
            let output = child.args(["--exact", name]).env(ROLE, role).output().unwrap();
            assert!(!output.status.success(), "{operation} did not die at write {number}");
            let queue = fixture.open();
            queue.recover().unwrap();
            let now = statuses(&queue);
            assert!(
                is_either(operation, &now, [&before, &after]),
                "{operation}, killed at write {number}: {now:?}\nbefore: {before:?}\nafter: {after:?}",
            );
            let times = work_off(&queue);
            assert!(times.values().all(|times| *times == 1), "{operation} {number}: {times:?}");
            let waiting = now.iter().filter(|(_, status)| **status == TaskStatus::Pending).count();
            assert_eq!(times.len(), waiting, "{operation} {number}: something is stuck");
            assert_eq!(fixture.names("locks"), [""; 0]);
            assert_eq!(fixture.names("intents"), [""; 0]);
        }
    }
}

fn die(role: &str) {
    let mut words = role.splitn(3, ' ');
    let operation = words.next().unwrap();
    let number = words.next().unwrap().parse().unwrap();
    let queue =
        FileQueue::open(words.next().unwrap().as_ref(), policy(), &Clock::system()).unwrap();
    let registration = queue.join(&"somebody".parse().unwrap()).unwrap();
    fault::inject(number, Fault::Die);
    let done = catch_unwind(AssertUnwindSafe(|| operate(&queue, operation)));
    drop(registration);
    panic!("nothing died: {done:?}");
}

#[test]
fn a_full_or_read_only_disk_never_reports_an_error_for_work_that_was_done() {
    for fault in [Fault::Full, Fault::ReadOnly] {
        for operation in OPERATIONS {
            let (before, after) = (outcome(operation, false), outcome(operation, true));
            for number in 1..=writes(operation) {
                let fixture = QueueFixture::new();
                prepare(&fixture);
                let queue = fixture.open();
                fault::inject(number, fault);
                let result = operate(&queue, operation);
                let seen = fault::clear();
                // A name whose folder could not be synced may or may not survive.
                let is_doubtful = seen[number - 1] == "sync folder";
                let is_expected = matches!(result, Ok(()) | Err(QueueError::File(_)));
                assert!(is_expected, "{operation} {number}: {result:?}");
                queue.recover().unwrap();
                let now = statuses(&queue);
                let (is_reported_done, at) = (result.is_ok(), &seen[number - 1]);
                let is_true = match is_reported_done {
                    true => now == after,
                    false => now == before || is_doubtful && now == after,
                };
                let is_partly = operation == "push-each";
                assert!(
                    is_true || is_partly && is_either(operation, &now, [&before, &after]),
                    "{operation}, {fault:?} at write {number} ({at}), told {is_reported_done}: {now:?}",
                );
                let times = work_off(&queue);
                assert!(times.values().all(|times| *times == 1), "{operation} {number}: {times:?}");
            }
        }
    }
}

#[test]
fn an_index_that_cannot_be_written_does_not_change_the_outcome() {
    for operation in OPERATIONS {
        let after = outcome(operation, true);
        let fixture = QueueFixture::new();
        prepare(&fixture);
        let queue = fixture.open();
        let blocked = fixture.path(".index");
        std::fs::remove_dir_all(&blocked).unwrap();
        // A file with the name of the index folder: the index cannot be written.
        std::fs::write(&blocked, "").unwrap();
        operate(&queue, operation).unwrap();
        queue.recover().unwrap();
        assert_eq!(statuses(&queue), after, "{operation}");
        std::fs::remove_file(&blocked).unwrap();
        assert_eq!(statuses(&fixture.open()), after, "{operation}, with an index again");
    }
}

#[test]
fn the_lease_of_a_dead_process_is_refused_after_the_task_is_claimed_again() {
    let fixture = QueueFixture::new();
    prepare(&fixture);
    let queue = fixture.open();
    assert_eq!(queue.recover().unwrap().len(), 1);
    let again = claim(&queue).expect("its agent is gone");
    assert_eq!(again.lease.task.as_str(), "held");
    let refused = operate(&queue, "complete").unwrap_err();
    assert!(matches!(refused, QueueError::NotHeld { .. }), "{refused}");
    queue.settle(&again.lease, done(vec![])).unwrap();
}
