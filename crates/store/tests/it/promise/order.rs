//! Guarantees about the order of tasks and their dependencies.

use std::time::Duration;

use assay_base::clock::Clock;
use assay_store::queue::{ClaimState, Policy, SettleOutcome, TaskFilter};
use assay_store::task::{Moment, TaskStatus};
use expect_test::expect;

use super::{claim, qa};
use crate::script::{check, done, task};
use crate::stores::Store;

promises!(
    tasks_come_by_priority_then_age_then_name,
    a_task_waits_for_all_that_it_depends_on,
    a_dependency_that_cannot_come_blocks_visibly,
    a_task_that_blocks_another_comes_before_it,
    a_task_for_later_is_not_claimed_before,
    a_task_that_repeats_comes_again_once_it_is_over,
    old_tasks_that_are_over_can_be_removed,
);

fn tasks_come_by_priority_then_age_then_name(store: &dyn Store) {
    check(
        store,
        "push late at=9
         push b
         push a
         push urgent p=1 at=99
         push last p=100
         list
         claim
         claim
         claim
         claim
         claim
         claim",
        expect![[r#"
            push late at=9 -> ok
            push b -> ok
            push a -> ok
            push urgent p=1 at=99 -> ok
            push last p=100 -> ok
            list -> urgent a b late last
            claim -> urgent
            claim -> a
            claim -> b
            claim -> late
            claim -> last
            claim -> nothing
        "#]],
    );
}

fn a_task_waits_for_all_that_it_depends_on(store: &dyn Store) {
    check(
        store,
        "push child p=1 after=a,b
         push a queue=other
         push b
         get child
         claim
         claim
         complete b
         get child
         claim
         claim qa-1 1 other
         complete a
         get child
         claim",
        expect![[r#"
            push child p=1 after=a,b -> ok
            push a queue=other -> ok
            push b -> ok
            get child -> pending waiting for a b
            claim -> b
            claim -> nothing
            complete b -> completed
            get child -> pending waiting for a
            claim -> nothing
            claim qa-1 1 other -> a
            complete a -> completed
            get child -> pending ready
            claim -> child
        "#]],
    );
}

fn a_dependency_that_cannot_come_blocks_visibly(store: &dyn Store) {
    check(
        store,
        "push failing
         push off
         push after-failing after=failing
         push after-off after=off
         push after-none after=none
         push round after=about
         push about after=round
         claim
         fail failing for-good
         cancel off
         get after-failing
         get after-off
         get after-none
         get round
         get about
         claim
         push none
         get after-none
         retry off
         get after-off",
        expect![[r#"
            push failing -> ok
            push off -> ok
            push after-failing after=failing -> ok
            push after-off after=off -> ok
            push after-none after=none -> ok
            push round after=about -> ok
            push about after=round -> ok
            claim -> failing
            fail failing for-good -> failed, escalation-failing
            cancel off -> ok
            get after-failing -> pending blocked: depends on `failing`, which failed
            get after-off -> pending blocked: depends on `off`, which was cancelled
            get after-none -> pending blocked: depends on `none`, which is unknown
            get round -> pending blocked: depends on `about`, which depends on this task
            get about -> pending blocked: depends on `round`, which depends on this task
            claim -> nothing
            push none -> ok
            get after-none -> pending waiting for none
            retry off -> ok
            get after-off -> pending waiting for off
        "#]],
    );
}

fn a_task_that_blocks_another_comes_before_it(store: &dyn Store) {
    // Both orders of arrival, together and one by one: `first` names `second` in its `blocks`.
    for together in [true, false] {
        for blocker_first in [true, false] {
            let store = store.another();
            let queue = store.open(Policy::default());
            let mut first = task("first");
            first.task.blocks = vec!["second".parse().unwrap()];
            let second = task("second p=10");
            let mut tasks = vec![first, second];
            if !blocker_first {
                tasks.reverse();
            }
            match together {
                true => queue.push(tasks).unwrap(),
                false => tasks.into_iter().for_each(|one| queue.push(vec![one]).unwrap()),
            }
            let blocked = queue.get(&"second".parse().unwrap()).unwrap();
            let on = vec!["first".parse().unwrap()];
            assert_eq!(
                blocked.claim_state,
                ClaimState::Waiting { on },
                "{together} {blocker_first}"
            );
            let held = claim(&*queue, "qa-1").unwrap();
            assert_eq!(held.lease.task.as_str(), "first");
            assert!(claim(&*queue, "qa-1").is_none());
            queue.settle(&held.lease, done(vec![])).unwrap();
            assert_eq!(claim(&*queue, "qa-1").unwrap().lease.task.as_str(), "second");
        }
    }
}

fn a_task_for_later_is_not_claimed_before(store: &dyn Store) {
    let queue = store.open(Policy::default());
    let (mut later, mut due) = (task("later"), task("due"));
    let now = Clock::system().now();
    later.task.run_at = Some(Moment(now + jiff::SignedDuration::from_hours(1)));
    due.task.run_at = Some(Moment(now - jiff::SignedDuration::from_hours(1)));
    queue.push(vec![later, due]).unwrap();
    assert_eq!(claim(&*queue, "qa-1").unwrap().lease.task.as_str(), "due");
    assert!(claim(&*queue, "qa-1").is_none());
    let listed = queue.get(&"later".parse().unwrap()).unwrap();
    assert!(
        matches!(listed.claim_state, ClaimState::Backoff { seconds: 3_000..=3_600 }),
        "{listed:?}"
    );
    let wait = queue.next_ready(&qa()).unwrap().unwrap();
    assert!(wait <= Duration::from_secs(3_600), "{wait:?}");
    assert_eq!(queue.count().unwrap()[0].waiting, 1);
}

fn a_task_that_repeats_comes_again_once_it_is_over(store: &dyn Store) {
    let queue = store.open(Policy::default());
    let mut nightly = task("nightly");
    nightly.task.repeat_every = Some("1d".parse().unwrap());
    nightly.task.run_at = Some("2026-02-03T02:00:00Z".parse().unwrap());
    queue.push(vec![nightly]).unwrap();
    let held = claim(&*queue, "qa-1").unwrap();
    queue.settle(&held.lease, done(vec![])).unwrap();
    assert_eq!(queue.settle(&held.lease, done(vec![])).unwrap(), SettleOutcome::AlreadyCompleted);
    let listed = queue.list(&TaskFilter::default()).unwrap();
    assert_eq!(listed.len(), 1, "{listed:?}");
    let next = &listed[0].task;
    assert!(next.id.as_str().starts_with("nightly-"), "{}", next.id);
    assert!(next.id.as_str().ends_with("T020000Z"), "{}", next.id);
    assert!(next.run_at.unwrap().0 > Clock::system().now());
    assert_eq!(next.repeat_every.unwrap().to_string(), "1d");
    assert!(claim(&*queue, "qa-1").is_none(), "it is for later");
    queue.cancel(&next.id, "me").unwrap();
    let filter = TaskFilter { statuses: vec![TaskStatus::Pending], ..TaskFilter::default() };
    assert!(queue.list(&filter).unwrap().is_empty(), "a task that is called off comes no more");
}

fn old_tasks_that_are_over_can_be_removed(store: &dyn Store) {
    let queue = store.open(Policy::default());
    queue.push(vec![task("done"), task("needed"), task("open after=needed,other")]).unwrap();
    for _ in 0..2 {
        let held = claim(&*queue, "qa-1").unwrap();
        queue.settle(&held.lease, done(vec![])).unwrap();
    }
    queue.push(vec![task("gone")]).unwrap();
    queue.cancel(&"gone".parse().unwrap(), "me").unwrap();
    assert_eq!(queue.prune(Duration::from_secs(3_600)).unwrap(), 0, "none is as old");
    assert_eq!(queue.prune(Duration::ZERO).unwrap(), 2);
    for (id, is_there) in [("done", false), ("gone", false), ("needed", true), ("open", true)] {
        assert_eq!(queue.get(&id.parse().unwrap()).is_ok(), is_there, "{id}");
    }
    assert_eq!(queue.prune(Duration::ZERO).unwrap(), 0);
}
