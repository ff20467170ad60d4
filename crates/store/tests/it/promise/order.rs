//! The order of tasks, and what they wait for.

use assay_store::queue::{Policy, Standing};
use expect_test::expect;

use super::claim;
use crate::script::{check, done, task};
use crate::stores::Store;

promises!(
    tasks_come_by_priority_then_age_then_name,
    a_task_waits_for_all_that_it_depends_on,
    a_dependency_that_cannot_come_blocks_visibly,
    a_task_that_blocks_another_comes_before_it,
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
            get after-failing -> pending blocked: it depends on `failing`, which failed
            get after-off -> pending blocked: it depends on `off`, which was cancelled
            get after-none -> pending blocked: it depends on `none`, which is not known
            get round -> pending blocked: it depends on `about`, which depends on it
            get about -> pending blocked: it depends on `round`, which depends on it
            claim -> nothing
            push none -> ok
            get after-none -> pending waiting for none
            retry off -> ok
            get after-off -> pending waiting for off
        "#]],
    );
}

fn a_task_that_blocks_another_comes_before_it(store: &dyn Store) {
    // Each way in which the three can arrive: `second` is blocked by `first`, which says so itself.
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
            assert_eq!(blocked.standing, Standing::Waiting { on }, "{together} {blocker_first}");
            let held = claim(&*queue, "qa-1").unwrap();
            assert_eq!(held.lease.task.as_str(), "first");
            assert!(claim(&*queue, "qa-1").is_none());
            queue.settle(&held.lease, done(vec![])).unwrap();
            assert_eq!(claim(&*queue, "qa-1").unwrap().lease.task.as_str(), "second");
        }
    }
}
