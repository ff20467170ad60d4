//! Guarantees about stored tasks: their content is preserved and can be found.

use assay_store::queue::{QueuedTask, TaskFilter, TaskResult};
use assay_store::task::TaskStatus;
use expect_test::expect;
use serde_json::json;

use super::{claim, qa};
use crate::script::{check, done, policy, task};
use crate::stores::Store;

promises!(
    unknown_fields_survive,
    tasks_are_found_by_what_they_are_about,
    what_is_copied_stands_as_it_stood,
);

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
        TaskResult::Completed { summary: "fine".into(), context, follow_ups: Vec::new() };
    queue.settle(&claimed.lease, settlement).unwrap();
    let task = queue.get(&"a".parse().unwrap()).unwrap().task;
    assert_eq!(task.rest["estimated_effort"], json!({ "points": 3, "by": null }));
    assert_eq!(task.context["pr_number"], json!(456));
    assert_eq!(task.context["verdict"], json!("ready"));
    assert_eq!(task.result_summary.as_deref(), Some("fine"));
    assert_eq!(task.completed_by.as_deref(), Some("qa-1"));
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
    let filter = TaskFilter {
        context: Some(("epic_key".into(), "P-1".into())),
        statuses: TaskStatus::ALL.to_vec(),
        ..TaskFilter::default()
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
    let all = TaskFilter { statuses: TaskStatus::ALL.to_vec(), ..TaskFilter::default() };
    let listed = store.open(policy()).list(&all).unwrap();
    let tasks: Vec<QueuedTask> = listed
        .into_iter()
        .map(|listed| QueuedTask { queue: listed.queue, task: listed.task })
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
            get after-off -> pending blocked: depends on `off`, which was cancelled
            get escalation-broken -> pending ready
            push done -> refused: task `done` already exists (completed, in `qa`)
            claim -> after-done
            claim -> held
            claim -> nothing
        "#]],
    );
}
