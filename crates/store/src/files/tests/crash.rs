//! Crash tests: a process that dies at any write loses no task and completes none twice; a full or
//! read-only disk causes no error for an operation that was done.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;

use assay_base::clock::Clock;

use super::{Place, claim, done, policy, qa, task};
use crate::disk::fault::{self, Fault};
use crate::files::FileQueue;
use crate::queue::{Again, Failure, Filter, Queue, QueueError, Settlement, Tenure};
use crate::task::{AgentId, Status};

/// The tested operations, on a queue in which `worker` has claimed the task `held`, and the task
/// `waiting` is pending.
const OPERATIONS: [&str; 9] = [
    "push", "push-two", "push-each", "claim", "complete", "complete-with", "fail", "fail-for-good",
    "cancel",
];

/// The variable for the crashing process: the operation, the number of the write at which the
/// process dies, and the folder of the queue.
const ROLE: &str = "ASSAY_TEST_CRASH";

fn prepare(place: &Place) {
    let queue = place.open();
    queue.push(vec![task("held")]).unwrap();
    let worker: AgentId = "worker".parse().unwrap();
    let presence = queue.join(&worker).unwrap();
    let held = queue.claim(&qa(), &worker, Tenure::WhileAlive(super::LONG), 1).unwrap().remove(0);
    std::fs::write(place.path("lease.json"), serde_json::to_vec(&held.lease).unwrap()).unwrap();
    queue.push(vec![task("waiting")]).unwrap();
    drop(presence);
}

fn operate(queue: &FileQueue, operation: &str) -> Result<(), QueueError> {
    let lease = std::fs::read(queue.folder().join("lease.json")).unwrap();
    let lease = serde_json::from_slice(&lease).unwrap();
    let fail = |again| Settlement::Failed(Failure { error: "broke".into(), again });
    match operation {
        "push" => queue.push(vec![task("new")]),
        "push-two" => queue.push(vec![task("new"), task("newer")]),
        "push-each" => {
            queue.push_all(vec![task("new"), task("newer")]).into_iter().collect::<Result<_, _>>()
        }
        "claim" => {
            let tenure = Tenure::WhileAlive(super::LONG);
            queue.claim(&qa(), &"worker".parse().unwrap(), tenure, 1).map(|_| ())
        }
        "complete" => queue.settle(&lease, done(vec![])).map(|_| ()),
        "complete-with" => queue.settle(&lease, done(vec![task("fix"), task("note")])).map(|_| ()),
        "fail" => queue.settle(&lease, fail(Again::AtMost(None))).map(|_| ()),
        "fail-for-good" => queue.settle(&lease, fail(Again::Never)).map(|_| ()),
        "cancel" => queue.cancel(&"waiting".parse().unwrap(), "somebody"),
        other => panic!("no operation `{other}`"),
    }
}

/// Returns the status of every task.
fn standing(queue: &FileQueue) -> BTreeMap<String, Status> {
    let filter = Filter { statuses: Status::ALL.to_vec(), ..Filter::default() };
    let listed = queue.list(&filter).unwrap();
    let tasks: Vec<_> =
        listed.iter().map(|listed| (listed.task.id.to_string(), listed.task.status)).collect();
    let map: BTreeMap<String, Status> = tasks.iter().cloned().collect();
    assert_eq!(map.len(), tasks.len(), "a task is there twice: {tasks:?}");
    map
}

/// Returns the status of every task after an operation that happened, or did not; tasks in progress
/// count as pending.
fn outcome(operation: &str, happened: bool) -> BTreeMap<String, Status> {
    let place = Place::new();
    prepare(&place);
    let queue = place.open();
    if happened {
        operate(&queue, operation).unwrap();
    }
    queue.recover().unwrap();
    standing(&queue)
}

/// Returns true if the tasks are as after the operation, or as before it. Tasks that were pushed
/// independently may be stored in part.
fn is_either(
    operation: &str,
    now: &BTreeMap<String, Status>,
    [before, after]: [&BTreeMap<String, Status>; 2],
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
        let tenure = Tenure::ByTime(super::LONG);
        while let Some(next) = queue.claim(&name, &agent, tenure, 1).unwrap().pop() {
            queue.settle(&next.lease, done(vec![])).unwrap();
            *times.entry(next.lease.task.to_string()).or_default() += 1;
        }
    }
    times
}

/// Returns the number of writes of an operation.
fn writes(operation: &str) -> usize {
    let place = Place::new();
    prepare(&place);
    let queue = place.open();
    fault::at(usize::MAX, Fault::Die);
    operate(&queue, operation).unwrap();
    fault::none().len()
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
            let place = Place::new();
            prepare(&place);
            let role = format!("{operation} {number} {}", place.0.path().display());
            let name = "files::tests::crash::a_process_killed_at_any_write_loses_nothing_and_does_nothing_twice";
            #[expect(clippy::disallowed_methods, reason = "it has to die without our dying")]
            let mut child = Command::new(std::env::current_exe().unwrap());
            let output = child.args(["--exact", name]).env(ROLE, role).output().unwrap();
            assert!(!output.status.success(), "{operation} did not die at write {number}");
            let queue = place.open();
            queue.recover().unwrap();
            let now = standing(&queue);
            assert!(
                is_either(operation, &now, [&before, &after]),
                "{operation}, killed at write {number}: {now:?}\nbefore: {before:?}\nafter: {after:?}",
            );
            let times = work_off(&queue);
            assert!(times.values().all(|times| *times == 1), "{operation} {number}: {times:?}");
            let waiting = now.iter().filter(|(_, status)| **status == Status::Pending).count();
            assert_eq!(times.len(), waiting, "{operation} {number}: something is stuck");
            assert_eq!(place.names("locks"), [""; 0]);
            assert_eq!(place.names("intents"), [""; 0]);
        }
    }
}

fn die(role: &str) {
    let mut words = role.splitn(3, ' ');
    let operation = words.next().unwrap();
    let number = words.next().unwrap().parse().unwrap();
    let queue =
        FileQueue::open(words.next().unwrap().as_ref(), policy(), &Clock::system()).unwrap();
    let presence = queue.join(&"somebody".parse().unwrap()).unwrap();
    fault::at(number, Fault::Die);
    let done = catch_unwind(AssertUnwindSafe(|| operate(&queue, operation)));
    drop(presence);
    panic!("nothing died: {done:?}");
}

#[test]
fn a_disk_that_takes_no_more_never_has_an_error_told_for_work_that_was_done() {
    for fault in [Fault::Full, Fault::ReadOnly] {
        for operation in OPERATIONS {
            let (before, after) = (outcome(operation, false), outcome(operation, true));
            for number in 1..=writes(operation) {
                let place = Place::new();
                prepare(&place);
                let queue = place.open();
                fault::at(number, fault);
                let told = operate(&queue, operation);
                let seen = fault::none();
                // A name whose folder could not be synced may or may not survive.
                let is_doubtful = seen[number - 1] == "sync folder";
                let is_told = matches!(told, Ok(()) | Err(QueueError::File(_)));
                assert!(is_told, "{operation} {number}: {told:?}");
                queue.recover().unwrap();
                let now = standing(&queue);
                let (told_done, at) = (told.is_ok(), &seen[number - 1]);
                let is_true = match told_done {
                    true => now == after,
                    false => now == before || is_doubtful && now == after,
                };
                let is_partly = operation == "push-each";
                assert!(
                    is_true || is_partly && is_either(operation, &now, [&before, &after]),
                    "{operation}, {fault:?} at write {number} ({at}), told {told_done}: {now:?}",
                );
                let times = work_off(&queue);
                assert!(times.values().all(|times| *times == 1), "{operation} {number}: {times:?}");
            }
        }
    }
}

#[test]
fn an_index_that_cannot_be_written_decides_no_answer() {
    for operation in OPERATIONS {
        let after = outcome(operation, true);
        let place = Place::new();
        prepare(&place);
        let queue = place.open();
        let blocked = place.path(".index");
        std::fs::remove_dir_all(&blocked).unwrap();
        // A file with the name of the index folder: the index cannot be written.
        std::fs::write(&blocked, "").unwrap();
        operate(&queue, operation).unwrap();
        queue.recover().unwrap();
        assert_eq!(standing(&queue), after, "{operation}");
        std::fs::remove_file(&blocked).unwrap();
        assert_eq!(standing(&place.open()), after, "{operation}, with an index again");
    }
}

#[test]
fn what_a_dead_process_held_is_still_refused_to_it() {
    let place = Place::new();
    prepare(&place);
    let queue = place.open();
    assert_eq!(queue.recover().unwrap().len(), 1);
    let again = claim(&queue).expect("its agent is gone");
    assert_eq!(again.lease.task.as_str(), "held");
    let refused = operate(&queue, "complete").unwrap_err();
    assert!(matches!(refused, QueueError::NotHeld { .. }), "{refused}");
    queue.settle(&again.lease, done(vec![])).unwrap();
}
