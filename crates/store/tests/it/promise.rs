//! The promise of a queue, proved of every store.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use assay_store::queue::{
    Addressed, AgentState, Claimed, Filter, Heartbeat, Policy, QueueError, Settlement, Tenure, Who,
};
use assay_store::task::{AgentId, QueueName, Status};
use expect_test::expect;
use serde_json::json;

use crate::script::{check, check_with, done, policy, task};
use crate::stores::Store;

/// Long enough to never be over within a test.
const LONG: Duration = Duration::from_secs(3_600);

/// Makes a test of every claim for every store.
macro_rules! promises {
    ($($claim:ident),* $(,)?) => {
        mod files {
            $(#[test]
            fn $claim() {
                super::$claim(&crate::stores::Files::new());
            })*
        }

        mod postgres {
            $(#[test]
            fn $claim() {
                super::$claim(&crate::stores::Postgres::new());
            })*
        }
    };
}

promises!(
    tasks_come_by_priority_then_age_then_name,
    a_task_waits_for_all_that_it_depends_on,
    a_dependency_that_cannot_come_blocks_visibly,
    a_held_task_is_nobody_elses,
    an_old_number_is_refused,
    a_task_whose_time_is_over_is_taken_back,
    what_follows_comes_with_completion,
    what_follows_is_not_lost_to_a_name_that_somebody_has,
    a_task_that_its_agents_do_not_survive_is_given_up,
    what_is_too_large_is_refused_at_the_door,
    a_failed_task_rests_before_it_is_tried_again,
    a_task_that_keeps_failing_is_given_up_and_told_once,
    what_cannot_get_better_is_not_tried_again,
    an_escalation_that_fails_makes_no_other,
    a_task_that_is_given_back_costs_no_try,
    a_full_queue_refuses_and_follow_ups_still_come,
    a_name_is_used_once,
    a_push_is_whole_or_not_at_all,
    priority_zero_is_for_escalations,
    an_agent_does_not_queue_what_it_is_working_on,
    a_cancelled_task_is_nobodys,
    a_retried_task_is_as_new,
    unknown_fields_survive,
    of_many_that_try_one_holds_a_task,
    a_push_wakes_who_waits,
    a_completed_dependency_wakes_who_waits,
    a_name_is_one_agents,
    what_a_dead_agent_held_is_free_at_once,
    what_waits_for_a_person_is_claimed_by_no_agent,
    a_pause_is_for_one_or_for_all,
    signs_of_life_are_seen,
    tasks_are_found_by_what_they_are_about,
    what_is_copied_stands_as_it_stood,
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
            renew a#1 -> refused: task `a` is not held by `qa-1` with number 1 any more
            complete a#1 -> refused: task `a` is not held by `qa-1` with number 1 any more
            fail a#1 -> refused: task `a` is not held by `qa-1` with number 1 any more
            give-back a#1 -> refused: task `a` is not held by `qa-1` with number 1 any more
            get a -> in_progress held by qa-1
            complete a#2 -> completed
            complete a#2 -> refused: task `a` is not held by `qa-1` with number 2 any more
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
            renew a -> refused: task `a` is not held by `slow` with number 1 any more
            claim qa-2 -> a
            complete a#1 -> refused: task `a` is not held by `slow` with number 1 any more
            complete a#2 -> completed
        "#]],
    );
}

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

fn what_is_too_large_is_refused_at_the_door(store: &dyn Store) {
    let queue = store.open(policy());
    let mut large = task("a");
    large.task.description = "x".repeat(assay_store::task::MAX_TASK);
    let refused = queue.push(vec![large.clone()]).unwrap_err();
    assert!(refused.to_string().contains("may have 4194304"), "{refused}");
    // What is there already and grows is not lost.
    queue.push(vec![task("b")]).unwrap();
    let claimed = claim(&*queue, "qa-1").unwrap();
    queue.settle(&claimed.lease, done(vec![large])).unwrap();
    assert_eq!(claim(&*queue, "qa-1").unwrap().lease.task.as_str(), "a");
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
            push c -> refused: queue `qa` has no room for that: 2 tasks may wait in it; let agents work some off, cancel some, or raise `safeguards.max_queue_size`
            push c queue=other -> ok
            claim -> a
            push d -> ok
            push e -> refused: queue `qa` has no room for that: 2 tasks may wait in it; let agents work some off, cancel some, or raise `safeguards.max_queue_size`
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
            push a queue=other -> refused: task `a` is already there (pending, in `qa`)
            claim -> a
            push a -> refused: task `a` is already there (in_progress, in `qa`)
            complete a -> completed
            push a -> refused: task `a` is already there (completed, in `qa`)
            push b and b -> refused: task `b` is already there (pending, in `qa`)
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
            push b and c and a -> refused: task `a` is already there (pending, in `qa`)
            list -> a
        "#]],
    );
}

fn priority_zero_is_for_escalations(store: &dyn Store) {
    check(
        store,
        "push a p=0
         push b p=0 type=escalation
         list",
        expect![[r#"
            push a p=0 -> refused: task `a` has priority 0, which is for escalations; 1 comes first among the others
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
            push again type=review parent=a -> refused: task `a` is being worked on; a `review` task for the same queue would be it again
            push fix type=fix parent=a -> ok
            push other type=review parent=a queue=other -> ok
            complete a -> completed
            push again type=review parent=a -> ok
        "#]],
    );
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
            complete a -> refused: task `a` is not held by `qa-1` with number 1 any more
            get a -> cancelled over
            cancel a -> refused: task `a` is cancelled; only pending and running tasks can be cancelled
            cancel b -> ok
            claim -> nothing
            cancel none -> refused: there is no task `none`
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
            retry a -> refused: task `a` is pending; only failed and cancelled tasks can be tried again
            claim -> a
            fail a for-good -> failed, escalation-a
            retry a -> ok
            get a -> pending ready
            claim -> a
            fail a -> again in 30 s
        "#]],
    );
}

fn unknown_fields_survive(store: &dyn Store) {
    let queue = store.open(policy());
    let mut new = task("a");
    new.task.rest.insert("estimated_effort".into(), json!({ "points": 3, "by": null }));
    new.task.context.insert("pr_number".into(), json!(456));
    queue.push(vec![new]).unwrap();
    let claimed = claim(&*queue, "qa-1").unwrap();
    assert_eq!(claimed.task.rest["estimated_effort"], json!({ "points": 3, "by": null }));
    let context = [("verdict".to_owned(), json!("ready"))].into_iter().collect();
    let settlement =
        Settlement::Completed { summary: "fine".into(), context, follow_ups: Vec::new() };
    queue.settle(&claimed.lease, settlement).unwrap();
    let task = queue.get(&"a".parse().unwrap()).unwrap().task;
    assert_eq!(task.rest["estimated_effort"], json!({ "points": 3, "by": null }));
    assert_eq!(task.context["pr_number"], json!(456));
    assert_eq!(task.context["verdict"], json!("ready"));
    assert_eq!(task.result_summary.as_deref(), Some("fine"));
    assert_eq!(task.completed_by.as_deref(), Some("qa-1"));
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
    let filter = Filter { statuses: vec![Status::Completed], ..Filter::default() };
    assert_eq!(queue.list(&filter).unwrap().len(), tasks);
}

fn a_push_wakes_who_waits(store: &dyn Store) {
    let queue = store.open(policy());
    let watch = queue.watch(&qa()).unwrap();
    store.open(policy()).push(vec![task("a")]).unwrap();
    assert!(watch.wait(LONG));
    assert!(claim(&*queue, "qa-1").is_some());
}

fn a_completed_dependency_wakes_who_waits(store: &dyn Store) {
    let queue = store.open(policy());
    queue.push(vec![task("first queue=engineer"), task("second after=first")]).unwrap();
    let (engineer, agent) = ("engineer".parse().unwrap(), "engineer-1".parse().unwrap());
    let tenure = Tenure::ByTime(LONG);
    let first = queue.claim(&engineer, &agent, tenure, 1).unwrap().remove(0);
    let watch = queue.watch(&qa()).unwrap();
    store.open(policy()).settle(&first.lease, done(vec![])).unwrap();
    while claim(&*queue, "qa-1").is_none() {
        assert!(watch.wait(LONG));
    }
}

fn a_name_is_one_agents(store: &dyn Store) {
    let (one, other) = (store.open(policy()), store.open(policy()));
    let agent: AgentId = "qa-1".parse().unwrap();
    let presence = one.join(&agent).unwrap();
    one.beat(&heartbeat("qa-1")).unwrap();
    let refused = other.join(&agent).err().expect("the name is taken");
    assert!(matches!(refused, QueueError::AgentRuns { .. }), "{refused}");
    other.join(&"qa-2".parse().unwrap()).unwrap();
    drop(presence);
    other.join(&agent).unwrap();
}

fn what_a_dead_agent_held_is_free_at_once(store: &dyn Store) {
    let queue = store.open(policy());
    queue.push(vec![task("a")]).unwrap();
    let agent: AgentId = "qa-1".parse().unwrap();
    let presence = queue.join(&agent).unwrap();
    let tenure = Tenure::WhileAlive(LONG);
    let claimed = queue.claim(&qa(), &agent, tenure, 1).unwrap().remove(0);
    assert_eq!(queue.recover().unwrap(), vec![]);
    drop(presence);
    let presence = store.open(policy()).join(&agent).unwrap();
    let again = claim(&*queue, "qa-2").expect("it is free");
    assert_eq!(again.lease.task, claimed.lease.task);
    let refused = queue.settle(&claimed.lease, done(vec![])).unwrap_err();
    assert!(matches!(refused, QueueError::NotHeld { .. }), "{refused}");
    drop(presence);
}

fn what_waits_for_a_person_is_claimed_by_no_agent(store: &dyn Store) {
    let queue = store.open(policy());
    let mut escalation = task("a");
    escalation.task.kind = "escalation".parse().unwrap();
    queue.push(vec![escalation, task("b")]).unwrap();
    let agent: AgentId = "qa-1".parse().unwrap();
    let _presence = queue.join(&agent).unwrap();
    let claimed = |tenure| {
        let claimed = queue.claim(&qa(), &agent, tenure, 10).unwrap().into_iter();
        claimed.map(|claimed| claimed.task.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(claimed(Tenure::WhileAlive(LONG)), ["b"]);
    assert_eq!(claimed(Tenure::ByTime(LONG)), ["a"]);
}

fn a_pause_is_for_one_or_for_all(store: &dyn Store) {
    let (queue, other) = (store.open(policy()), store.open(policy()));
    let paused = |agent: &str| queue.is_paused(&agent.parse().unwrap()).unwrap();
    let one = Who::Agent("qa-1".parse().unwrap());
    let watch = queue.watch(&qa()).unwrap();
    other.pause(&one).unwrap();
    assert!(watch.wait(LONG), "a pause is told");
    assert!(paused("qa-1") && !paused("qa-2"));
    other.pause(&Who::All).unwrap();
    assert!(paused("qa-2"));
    other.resume(&Who::All).unwrap();
    assert!(!paused("qa-1") && !paused("qa-2"));
}

fn signs_of_life_are_seen(store: &dyn Store) {
    let queue = store.open(policy());
    let agent: AgentId = "qa-1".parse().unwrap();
    let presence = queue.join(&agent).unwrap();
    queue.beat(&heartbeat("qa-1")).unwrap();
    queue.pause(&Who::Agent(agent)).unwrap();
    let seen = store.open(policy()).agents().unwrap();
    let told: Vec<_> =
        seen.iter().map(|seen| (seen.heartbeat.agent.as_str(), seen.alive, seen.paused)).collect();
    assert_eq!(told, [("qa-1", true, true)]);
    drop(presence);
    assert!(!queue.agents().unwrap()[0].alive);
}

fn tasks_are_found_by_what_they_are_about(store: &dyn Store) {
    let queue = store.open(policy());
    let about = |id: &str, epic: &str| {
        let mut new = task(id);
        new.task.context.insert("epic_key".into(), json!(epic));
        new
    };
    queue.push(vec![about("a", "P-1"), about("b", "P-2"), about("c", "P-1")]).unwrap();
    let claimed = claim(&*queue, "qa-1").unwrap();
    queue.settle(&claimed.lease, done(vec![])).unwrap();
    let filter = Filter {
        context: Some(("epic_key".into(), "P-1".into())),
        statuses: Status::ALL.to_vec(),
        ..Filter::default()
    };
    let listed = queue.list(&filter).unwrap();
    let ids: Vec<&str> = listed.iter().map(|listed| listed.task.id.as_str()).collect();
    assert_eq!(ids, ["c", "a"]);
    let counts = queue.count().unwrap();
    let count = counts.iter().find(|count| count.queue == qa()).unwrap();
    assert_eq!((count.ready, count.completed), (2, 1));
}

fn what_is_copied_stands_as_it_stood(store: &dyn Store) {
    check(
        store,
        "push done
         push broken at=1
         push off at=2
         push resting at=3
         push after-done at=4 after=done
         push after-off at=5 after=off
         push held at=6
         claim
         complete done
         claim
         fail broken for-good
         cancel off
         claim
         fail resting
         claim
         claim",
        expect![[r#"
            push done -> ok
            push broken at=1 -> ok
            push off at=2 -> ok
            push resting at=3 -> ok
            push after-done at=4 after=done -> ok
            push after-off at=5 after=off -> ok
            push held at=6 -> ok
            claim -> done
            complete done -> completed
            claim -> broken
            fail broken for-good -> failed, escalation-broken
            cancel off -> ok
            claim -> resting
            fail resting -> again in 30 s
            claim -> after-done
            claim -> held
        "#]],
    );
    let all = Filter { statuses: Status::ALL.to_vec(), ..Filter::default() };
    let listed = store.open(policy()).list(&all).unwrap();
    let tasks: Vec<Addressed> = listed
        .into_iter()
        .map(|listed| Addressed { queue: listed.queue, task: listed.task })
        .collect();
    let other = store.another();
    let queue = other.open(policy());
    assert_eq!(queue.restore(tasks.clone()).unwrap(), 8);
    assert_eq!(queue.restore(tasks).unwrap(), 0);
    check(
        &*other,
        "get done
         get broken
         get off
         get resting
         get after-off
         get escalation-broken
         push done
         claim
         claim
         claim",
        expect![[r#"
            get done -> completed over
            get broken -> failed over
            get off -> cancelled over
            get resting -> pending resting
            get after-off -> pending blocked: it depends on `off`, which was cancelled
            get escalation-broken -> pending ready
            push done -> refused: task `done` is already there (completed, in `qa`)
            claim -> after-done
            claim -> held
            claim -> nothing
        "#]],
    );
}

fn qa() -> QueueName {
    "qa".parse().unwrap()
}

fn claim(queue: &dyn assay_store::queue::Queue, agent: &str) -> Option<Claimed> {
    let tenure = Tenure::ByTime(LONG);
    queue.claim(&qa(), &agent.parse().unwrap(), tenure, 1).unwrap().pop()
}

fn heartbeat(agent: &str) -> Heartbeat {
    let now = assay_store::clock::now();
    Heartbeat {
        agent: agent.parse().unwrap(),
        queue: qa(),
        state: AgentState::Idle,
        task: None,
        since: now,
        at: now,
        every_seconds: 30,
        host: "here".into(),
        pid: std::process::id(),
        version: "0".into(),
    }
}
