//! Guarantees about settling a task and its follow-up tasks.

use std::time::Duration;

use assay_base::clock::Clock;
use assay_store::queue::{Policy, QueuedTask};
use assay_store::task::Moment;
use expect_test::expect;
use serde_json::json;

use crate::script::{check, check_with, policy, task};
use crate::stores::Store;

promises!(
    what_follows_comes_with_completion,
    what_follows_is_not_lost_to_a_name_that_somebody_has,
    the_review_of_a_head_follows_once_whoever_made_it,
    a_task_that_its_agents_do_not_survive_is_given_up,
    a_failed_task_rests_before_it_is_tried_again,
    a_task_whose_agent_dies_does_not_rest_for_an_earlier_failure,
    a_task_that_keeps_failing_is_given_up_and_told_once,
    what_cannot_get_better_is_not_tried_again,
    an_escalation_that_fails_makes_no_other,
    a_task_that_is_given_back_costs_no_try,
    a_cancelled_task_is_nobodys,
    a_retried_task_is_as_new,
);

fn what_follows_comes_with_completion(store: &dyn Store) {
    check(
        store,
        "push a
         claim
         complete a then fix queue=engineer type=fix and note queue=architect
         get fix
         get note
         claim engineer-1 1 engineer",
        expect![[r#"
            push a -> ok
            claim -> a
            complete a then fix queue=engineer type=fix and note queue=architect -> completed
            get fix -> pending ready
            get note -> pending ready
            claim engineer-1 1 engineer -> fix
        "#]],
    );
    let queue = store.open(policy());
    let parent = queue.get(&"fix".parse().unwrap()).unwrap().task.parent_task_id;
    assert_eq!(parent.unwrap().as_str(), "a");
}

fn what_follows_is_not_lost_to_a_name_that_somebody_has(store: &dyn Store) {
    check(
        store,
        "push fix queue=engineer p=7
         push a
         claim
         complete a then fix queue=engineer p=9 and note queue=engineer after=fix
         list",
        expect![[r#"
            push fix queue=engineer p=7 -> ok
            push a -> ok
            claim -> a
            complete a then fix queue=engineer p=9 and note queue=engineer after=fix -> completed
            list -> fix fix-ef31cd1e note
        "#]],
    );
    let queue = store.open(policy());
    let get = |id: &str| queue.get(&id.parse().unwrap()).unwrap().task;
    assert_eq!(get("fix").priority.get(), 7);
    assert_eq!(get("note").depends_on[0].as_str(), "fix-ef31cd1e");
}

fn the_review_of_a_head_follows_once_whoever_made_it(store: &dyn Store) {
    check(
        store,
        "push review-o.r-7-0123456789012345678901234567890123456789
         push a
         claim
         claim
         complete a then review-o.r-7-0123456789012345678901234567890123456789
         list",
        expect![[r#"
            push review-o.r-7-0123456789012345678901234567890123456789 -> ok
            push a -> ok
            claim -> a
            claim -> review-o.r-7-0123456789012345678901234567890123456789
            complete a then review-o.r-7-0123456789012345678901234567890123456789 -> completed
            list -> review-o.r-7-0123456789012345678901234567890123456789
        "#]],
    );
}

fn a_task_that_its_agents_do_not_survive_is_given_up(store: &dyn Store) {
    check_with(
        store,
        Policy { max_retries: 1, ..policy() },
        "push a
         claim-briefly one
         recover
         claim-briefly other
         recover
         get a
         get escalation-a
         claim",
        expect![[r#"
            push a -> ok
            claim-briefly one -> a
            recover -> a
            claim-briefly other -> a
            recover -> a
            get a -> failed over
            get escalation-a -> pending ready
            claim -> nothing
        "#]],
    );
}

fn a_failed_task_rests_before_it_is_tried_again(store: &dyn Store) {
    check(
        store,
        "push a
         push b at=1
         claim
         fail a
         get a
         claim
         claim",
        expect![[r#"
            push a -> ok
            push b at=1 -> ok
            claim -> a
            fail a -> again in 30 s
            get a -> pending resting
            claim -> b
            claim -> nothing
        "#]],
    );
    let queue = store.open(policy());
    let rest = queue.next_ready(&"qa".parse().unwrap()).unwrap().unwrap();
    assert!(rest <= Duration::from_secs(30), "{rest:?}");
}

fn a_task_whose_agent_dies_does_not_rest_for_an_earlier_failure(store: &dyn Store) {
    let QueuedTask { queue, mut task } = task("a");
    // The back-off of 30 seconds has ended; after two failures it would be 60 seconds.
    let failed = Moment(Moment::now(&Clock::system()).0 - Duration::from_secs(45));
    (task.retry_count, task.last_failed_at) = (1, Some(failed));
    store.open(policy()).restore(vec![QueuedTask { queue, task }]).unwrap();
    check(
        store,
        "claim-briefly one
         recover
         get a
         claim",
        expect![[r#"
            claim-briefly one -> a
            recover -> a
            get a -> pending ready
            claim -> a
        "#]],
    );
    let task = store.open(policy()).get(&"a".parse().unwrap()).unwrap().task;
    let last_failed = task.last_failed_at.unwrap();
    assert_eq!((task.retry_count, last_failed.to_string()), (2, failed.to_string()));
}

fn a_task_that_keeps_failing_is_given_up_and_told_once(store: &dyn Store) {
    let policy = Policy { max_retries: 2, initial_backoff: Duration::ZERO, ..policy() };
    check_with(
        store,
        policy.clone(),
        "push a
         claim
         fail a
         claim
         fail a
         claim
         fail a
         get a
         get escalation-a
         claim
         retry a
         claim
         fail a 0
         cancel escalation-a
         retry a
         claim
         fail a 0
         list pending",
        expect![[r#"
            push a -> ok
            claim -> a
            fail a -> again in 0 s
            claim -> a
            fail a -> again in 0 s
            claim -> a
            fail a -> failed, escalation-a
            get a -> failed over
            get escalation-a -> pending ready
            claim -> nothing
            retry a -> ok
            claim -> a
            fail a 0 -> failed, escalation-a
            cancel escalation-a -> ok
            retry a -> ok
            claim -> a
            fail a 0 -> failed, escalation-a-a7a3d40a
            list pending -> escalation-a-a7a3d40a
        "#]],
    );
    let told = store.open(policy).get(&"escalation-a".parse().unwrap()).unwrap();
    assert_eq!((told.queue.as_str(), told.task.priority.get()), ("architect", 0));
    assert_eq!(told.task.rest["needs_human_review"], json!(true));
    assert!(told.task.description.contains("it broke"), "{}", told.task.description);
}

fn what_cannot_get_better_is_not_tried_again(store: &dyn Store) {
    check(
        store,
        "push a
         claim
         fail a for-good
         get a",
        expect![[r#"
            push a -> ok
            claim -> a
            fail a for-good -> failed, escalation-a
            get a -> failed over
        "#]],
    );
}

fn an_escalation_that_fails_makes_no_other(store: &dyn Store) {
    check(
        store,
        "push told type=escalation p=0
         claim
         fail told for-good
         list",
        expect![[r#"
            push told type=escalation p=0 -> ok
            claim -> told
            fail told for-good -> failed
            list -> told
        "#]],
    );
}

fn a_task_that_is_given_back_costs_no_try(store: &dyn Store) {
    check(
        store,
        "push a
         claim
         give-back a
         get a",
        expect![[r#"
            push a -> ok
            claim -> a
            give-back a -> given back
            get a -> pending ready
        "#]],
    );
    let task = store.open(policy()).get(&"a".parse().unwrap()).unwrap().task;
    assert_eq!(task.retry_count, 0);
    assert_eq!(task.attempts.len(), 1);
    assert_eq!(task.attempts[0].outcome, "given back: stopping");
}

fn a_cancelled_task_is_nobodys(store: &dyn Store) {
    check(
        store,
        "push a
         push b at=1
         claim
         cancel a
         complete a
         get a
         cancel a
         cancel b
         claim
         cancel none",
        expect![[r#"
            push a -> ok
            push b at=1 -> ok
            claim -> a
            cancel a -> ok
            complete a -> refused: agent `qa-1` no longer holds the lease of task `a` (fence 1)
            get a -> cancelled over
            cancel a -> refused: task `a` is cancelled; only pending and running tasks can be cancelled
            cancel b -> ok
            claim -> nothing
            cancel none -> refused: unknown task `none`
        "#]],
    );
}

fn a_retried_task_is_as_new(store: &dyn Store) {
    check(
        store,
        "push a
         retry a
         claim
         fail a for-good
         retry a
         get a
         claim
         fail a",
        expect![[r#"
            push a -> ok
            retry a -> refused: task `a` is pending; only failed and cancelled tasks can be retried
            claim -> a
            fail a for-good -> failed, escalation-a
            retry a -> ok
            get a -> pending ready
            claim -> a
            fail a -> again in 30 s
        "#]],
    );
}
