//! Guarantees about pushing: accepted and rejected tasks.

use assay_store::queue::{Policy, TaskFilter};
use expect_test::expect;

use super::claim;
use crate::script::{check, check_with, done, policy, task};
use crate::stores::Store;

promises!(
    what_is_too_large_is_refused_at_the_door,
    a_full_queue_refuses_and_follow_ups_still_come,
    a_name_is_used_once,
    a_push_is_whole_or_not_at_all,
    of_tasks_that_are_pushed_each_for_itself_only_those_in_the_wrong_are_refused,
    many_tasks_each_for_itself_are_all_there_once,
    priority_zero_is_for_escalations,
    an_agent_does_not_queue_what_it_is_working_on,
);

fn what_is_too_large_is_refused_at_the_door(store: &dyn Store) {
    let queue = store.open(policy());
    let mut large = task("a");
    large.task.description = "x".repeat(assay_store::task::MAX_TASK);
    let refused = queue.push(vec![large.clone()]).unwrap_err();
    assert!(refused.to_string().contains("the limit is 4194304"), "{refused}");
    // A follow-up task that is too large for a push is stored all the same.
    queue.push(vec![task("b")]).unwrap();
    let claimed = claim(&*queue, "qa-1").unwrap();
    queue.settle(&claimed.lease, done(vec![large])).unwrap();
    assert_eq!(claim(&*queue, "qa-1").unwrap().lease.task.as_str(), "a");
}

fn a_full_queue_refuses_and_follow_ups_still_come(store: &dyn Store) {
    let policy = Policy { max_queue_size: 2, ..policy() };
    check_with(
        store,
        policy,
        "push a and b
         push c
         push c queue=other
         claim
         push d
         push e
         complete a then f
         list",
        expect![[r#"
            push a and b -> ok
            push c -> refused: queue `qa` is full: at most 2 tasks may wait; let agents complete some, cancel some, or raise `safeguards.max_queue_size`
            push c queue=other -> ok
            claim -> a
            push d -> ok
            push e -> refused: queue `qa` is full: at most 2 tasks may wait; let agents complete some, cancel some, or raise `safeguards.max_queue_size`
            complete a then f -> completed
            list -> b c d f
        "#]],
    );
}

fn a_name_is_used_once(store: &dyn Store) {
    check(
        store,
        "push a
         push a queue=other
         claim
         push a
         complete a
         push a
         push b and b",
        expect![[r#"
            push a -> ok
            push a queue=other -> refused: task `a` already exists (pending, in `qa`)
            claim -> a
            push a -> refused: task `a` already exists (in_progress, in `qa`)
            complete a -> completed
            push a -> refused: task `a` already exists (completed, in `qa`)
            push b and b -> refused: task `b` already exists (pending, in `qa`)
        "#]],
    );
}

fn a_push_is_whole_or_not_at_all(store: &dyn Store) {
    check(
        store,
        "push a
         push b and c and a
         list",
        expect![[r#"
            push a -> ok
            push b and c and a -> refused: task `a` already exists (pending, in `qa`)
            list -> a
        "#]],
    );
}

fn of_tasks_that_are_pushed_each_for_itself_only_those_in_the_wrong_are_refused(store: &dyn Store) {
    let small = Policy { max_queue_size: 2, ..policy() };
    check(
        store,
        "push a type=review
         claim
         push-each b and a and c p=0 and b queue=other and d parent=a and e after=b
         push-each f and a and g and h queue=other
         list",
        expect![[r#"
            push a type=review -> ok
            claim -> a
            push-each b and a and c p=0 and b queue=other and d parent=a and e after=b -> ok; refused: task `a` already exists (in_progress, in `qa`); refused: task `c` has priority 0, which is reserved for escalations; use 1 to 100; refused: task `b` already exists (pending, in `qa`); refused: task `a` is in progress; a `review` task for the same queue would repeat it; ok
            push-each f and a and g and h queue=other -> ok; refused: task `a` already exists (in_progress, in `qa`); ok; ok
            list -> a b e f g h
        "#]],
    );
    check_with(
        &*store.another(),
        small,
        "push-each a and b and c and d queue=other
         list",
        expect![[r#"
            push-each a and b and c and d queue=other -> ok; ok; refused: queue `qa` is full: at most 2 tasks may wait; let agents complete some, cancel some, or raise `safeguards.max_queue_size`; ok
            list -> a b d
        "#]],
    );
}

fn many_tasks_each_for_itself_are_all_there_once(store: &dyn Store) {
    let policy = Policy { max_queue_size: 1_000, ..policy() };
    let queue = store.open(policy.clone());
    assert!(queue.push_all(Vec::new()).is_empty());
    let some = |from: usize, to: usize| (from..to).map(|n| task(&format!("t{n}"))).collect();
    // Two processes push the same tasks concurrently.
    let new: usize = std::thread::scope(|scope| {
        let sides = [(0, 200), (100, 300)].map(|(from, to)| {
            let (queue, tasks) = (store.open(policy.clone()), some(from, to));
            scope.spawn(move || queue.push_all(tasks).iter().filter(|one| one.is_ok()).count())
        });
        sides.into_iter().map(|side| side.join().unwrap()).sum()
    });
    assert_eq!(new, 300);
    assert_eq!(queue.list(&TaskFilter::default()).unwrap().len(), 300);
}

fn priority_zero_is_for_escalations(store: &dyn Store) {
    check(
        store,
        "push a p=0
         push b p=0 type=escalation
         list",
        expect![[r#"
            push a p=0 -> refused: task `a` has priority 0, which is reserved for escalations; use 1 to 100
            push b p=0 type=escalation -> ok
            list -> b
        "#]],
    );
}

fn an_agent_does_not_queue_what_it_is_working_on(store: &dyn Store) {
    check(
        store,
        "push a type=review
         claim
         push again type=review parent=a
         push fix type=fix parent=a
         push other type=review parent=a queue=other
         complete a
         push again type=review parent=a",
        expect![[r#"
            push a type=review -> ok
            claim -> a
            push again type=review parent=a -> refused: task `a` is in progress; a `review` task for the same queue would repeat it
            push fix type=fix parent=a -> ok
            push other type=review parent=a queue=other -> ok
            complete a -> completed
            push again type=review parent=a -> ok
        "#]],
    );
}
