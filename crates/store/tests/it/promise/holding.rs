//! Guarantees about leases: one agent holds a task until its lease ends.

use std::collections::HashSet;
use std::sync::Mutex;

use assay_store::queue::{LeaseKind, Policy, TaskFilter};
use assay_store::task::{AgentId, TaskStatus};
use expect_test::expect;

use super::{LONG, claim, qa};
use crate::script::{check, done, policy, task};
use crate::stores::Store;

promises!(
    a_held_task_is_nobody_elses,
    an_old_number_is_refused,
    a_task_whose_time_is_over_is_taken_back,
    of_many_that_try_one_holds_a_task,
    what_waits_for_a_person_is_claimed_by_no_agent,
);

fn a_held_task_is_nobody_elses(store: &dyn Store) {
    check(
        store,
        "push a
         claim qa-1
         claim qa-2
         get a
         renew a
         recover
         complete a
         get a
         claim qa-2",
        expect![[r#"
            push a -> ok
            claim qa-1 -> a
            claim qa-2 -> nothing
            get a -> in_progress held by qa-1
            renew a -> ok
            recover -> nothing
            complete a -> completed
            get a -> completed over
            claim qa-2 -> nothing
        "#]],
    );
}

fn an_old_number_is_refused(store: &dyn Store) {
    check(
        store,
        "push a
         claim qa-1
         give-back a
         claim qa-1
         renew a#1
         complete a#1
         fail a#1
         give-back a#1
         get a
         complete a#2
         complete a#2",
        expect![[r#"
            push a -> ok
            claim qa-1 -> a
            give-back a -> given back
            claim qa-1 -> a
            renew a#1 -> refused: agent `qa-1` no longer holds the lease of task `a` (fence 1)
            complete a#1 -> refused: agent `qa-1` no longer holds the lease of task `a` (fence 1)
            fail a#1 -> refused: agent `qa-1` no longer holds the lease of task `a` (fence 1)
            give-back a#1 -> refused: agent `qa-1` no longer holds the lease of task `a` (fence 1)
            get a -> in_progress held by qa-1
            complete a#2 -> completed
            complete a#2 -> already completed
        "#]],
    );
}

fn a_task_whose_time_is_over_is_taken_back(store: &dyn Store) {
    check(
        store,
        "push a
         claim-briefly slow
         recover
         renew a
         claim qa-2
         complete a#1
         complete a#2",
        expect![[r#"
            push a -> ok
            claim-briefly slow -> a
            recover -> a
            renew a -> refused: agent `slow` no longer holds the lease of task `a` (fence 1)
            claim qa-2 -> a
            complete a#1 -> refused: agent `slow` no longer holds the lease of task `a` (fence 1)
            complete a#2 -> completed
        "#]],
    );
}

fn of_many_that_try_one_holds_a_task(store: &dyn Store) {
    let tasks = 60;
    let policy = Policy { max_queue_size: tasks, ..policy() };
    let queue = store.open(policy.clone());
    queue.push((0..tasks).map(|n| task(&format!("t{n}"))).collect()).unwrap();
    let done_by: Mutex<Vec<String>> = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for number in 0..6 {
            let (policy, done_by) = (policy.clone(), &done_by);
            scope.spawn(move || {
                let queue = store.open(policy);
                while let Some(claimed) = claim(&*queue, &format!("qa-{number}")) {
                    queue.settle(&claimed.lease, done(vec![])).unwrap();
                    done_by.lock().unwrap().push(claimed.lease.task.to_string());
                }
            });
        }
    });
    let done_by = done_by.into_inner().unwrap();
    assert_eq!(done_by.len(), tasks);
    assert_eq!(done_by.iter().collect::<HashSet<_>>().len(), tasks);
    let filter = TaskFilter { statuses: vec![TaskStatus::Completed], ..TaskFilter::default() };
    assert_eq!(queue.list(&filter).unwrap().len(), tasks);
}

fn what_waits_for_a_person_is_claimed_by_no_agent(store: &dyn Store) {
    let queue = store.open(policy());
    let mut escalation = task("a");
    escalation.task.kind = "escalation".parse().unwrap();
    queue.push(vec![escalation, task("b")]).unwrap();
    let agent: AgentId = "qa-1".parse().unwrap();
    let _presence = queue.join(&agent).unwrap();
    let claimed = |lease_kind| {
        let claimed = queue.claim(&qa(), &agent, lease_kind, 10).unwrap().into_iter();
        claimed.map(|claimed| claimed.task.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(claimed(LeaseKind::WhileAlive(LONG)), ["b"]);
    assert_eq!(claimed(LeaseKind::ByTime(LONG)), ["a"]);
}
