//! The overview: counts, and the first tasks of each state.

use assay_store::queue::{
    AttemptFailure, ClaimState, ListedTask, Policy, RetryLimit, TaskFilter, TaskResult,
};
use assay_store::task::TaskStatus;

use super::claim;
use crate::script::task;
use crate::stores::Store;

promises!(
    the_overview_has_the_counts_and_the_first_tasks_of_each_state,
    blocked_tasks_are_found_behind_many_others,
    the_first_tasks_of_the_overview_are_those_of_the_list,
);

fn ids(listed: &[ListedTask]) -> Vec<&str> {
    listed.iter().map(|listed| listed.task.id.as_str()).collect()
}

fn the_overview_has_the_counts_and_the_first_tasks_of_each_state(store: &dyn Store) {
    let queue = store.open(Policy::default());
    let empty = queue.overview(5).unwrap();
    assert!(empty.running.is_empty() && empty.waiting.is_empty() && empty.blocked.is_empty());
    let all = ["held p=1", "broken p=2", "w2 p=5", "w1 p=4", "later p=6 after=w1"];
    queue.push(all.into_iter().map(task).collect()).unwrap();
    queue.push(vec![task("stuck p=3 after=broken")]).unwrap();
    claim(&*queue, "qa-1").unwrap();
    let broken = claim(&*queue, "qa-1").unwrap();
    let failure = AttemptFailure { error: "it broke".into(), retry_limit: RetryLimit::Never };
    queue.settle(&broken.lease, TaskResult::Failed(failure)).unwrap();
    let overview = queue.overview(5).unwrap();
    assert_eq!(overview.counts, queue.count().unwrap());
    assert_eq!(ids(&overview.running), ["held"]);
    assert_eq!(ids(&overview.failed), ["broken"]);
    assert_eq!(ids(&overview.blocked), ["stuck"]);
    let reason = "depends on `broken`, which failed".to_owned();
    assert_eq!(overview.blocked[0].claim_state, ClaimState::Blocked { reason });
    // The escalation of the failed task comes first.
    assert_eq!(ids(&overview.waiting)[1..], ["w1", "w2", "later"]);
    let first = queue.overview(1).unwrap();
    assert_eq!((first.waiting.len(), &first.counts), (1, &overview.counts));
}

fn blocked_tasks_are_found_behind_many_others(store: &dyn Store) {
    let queue = store.open(Policy::default());
    let many = (0..40).map(|number| task(&format!("w{number} p=1")));
    queue.push(many.collect()).unwrap();
    queue.push(vec![task("last p=90 after=nothing"), task("first p=80 after=nothing")]).unwrap();
    let overview = queue.overview(2).unwrap();
    assert_eq!(ids(&overview.blocked), ["first", "last"]);
    assert_eq!(ids(&overview.waiting), ["w0", "w1"]);
    let blocked: usize = overview.counts.iter().map(|counts| counts.blocked).sum();
    assert_eq!(blocked, 2);
}

fn the_first_tasks_of_the_overview_are_those_of_the_list(store: &dyn Store) {
    let queue = store.open(Policy::default());
    let tasks = (0..30).map(|number| {
        let name = ["qa", "dev", "ops"][number % 3];
        let mut queued = task(&format!("t{number} p={}", 1 + number * 7 % 5));
        queued.queue = name.parse().unwrap();
        queued
    });
    queue.push(tasks.collect()).unwrap();
    for most in [1, 7, 30, 100] {
        let statuses = vec![TaskStatus::Pending];
        let filter = TaskFilter { statuses, limit: Some(most), ..TaskFilter::default() };
        let listed = queue.list(&filter).unwrap();
        assert_eq!(listed.len(), most.min(30));
        assert_eq!(ids(&queue.overview(most).unwrap().waiting), ids(&listed));
    }
}
