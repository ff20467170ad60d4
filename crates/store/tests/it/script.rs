//! A script for a queue, one operation per line: text in, text out.

use std::collections::HashMap;
use std::time::Duration;

use assay_store::queue::{
    AttemptFailure, ClaimState, Lease, LeaseKind, Policy, Queue, QueuedTask, RetryLimit,
    SettleOutcome, TaskFilter, TaskResult,
};
use assay_store::task::{Task, TaskStatus};
use expect_test::Expect;
use jiff::Timestamp;

use crate::stores::Store;

/// A lease time that never expires within a test.
const LONG: Duration = Duration::from_secs(3_600);

/// The default policy of tests.
pub(crate) fn policy() -> Policy {
    Policy { max_queue_size: 10, ..Policy::default() }
}

/// Runs a script on a queue and compares its output.
#[track_caller]
pub(crate) fn check(store: &dyn Store, script: &str, expected: Expect) {
    check_with(store, policy(), script, expected);
}

/// Runs a script with another policy.
#[track_caller]
pub(crate) fn check_with(store: &dyn Store, policy: Policy, script: &str, expected: Expect) {
    let mut run = Script { queue: store.open(policy), leases: HashMap::new() };
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty());
    let told: Vec<String> = lines.map(|line| format!("{line} -> {}", run.line(line))).collect();
    expected.assert_eq(&(told.join("\n") + "\n"));
}

/// Returns a task for a queue, from words such as `b p=10 after=a at=5`.
pub(crate) fn task(words: &str) -> QueuedTask {
    let mut words = words.split_whitespace();
    let id = words.next().expect("a task has a name");
    let options: HashMap<&str, &str> =
        words.map(|word| word.split_once('=').expect("options are key=value")).collect();
    let option = |key: &str| options.get(key).copied();
    let at: i64 = option("at").map_or(0, |at| at.parse().unwrap());
    let created = Timestamp::from_second(1_770_000_000 + at).unwrap();
    let kind = option("type").unwrap_or("review").parse().unwrap();
    let title = format!("The task {id}");
    let moment = assay_store::task::Moment(created);
    let mut task = Task::new(id.parse().unwrap(), kind, title, moment);
    if let Some(priority) = option("p") {
        task.priority = priority.parse::<i64>().unwrap().try_into().unwrap();
    }
    let after = option("after").into_iter().flat_map(|after| after.split(','));
    task.depends_on = after.map(|id| id.parse().unwrap()).collect();
    task.parent_task_id = option("parent").map(|id| id.parse().unwrap());
    QueuedTask { queue: option("queue").unwrap_or("qa").parse().unwrap(), task }
}

/// Returns the settlement of a completed task.
pub(crate) fn done(follow_ups: Vec<QueuedTask>) -> TaskResult {
    TaskResult::Completed { summary: "well done".into(), context: Default::default(), follow_ups }
}

struct Script {
    queue: Box<dyn Queue>,
    leases: HashMap<String, Lease>,
}

impl Script {
    fn line(&mut self, line: &str) -> String {
        let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
        self.run(command, rest).unwrap_or_else(|error| format!("refused: {error}"))
    }

    fn run(&mut self, command: &str, rest: &str) -> Result<String, assay_store::queue::QueueError> {
        let queue = &self.queue;
        Ok(match command {
            "push" => {
                queue.push(rest.split(" and ").map(task).collect())?;
                "ok".into()
            }
            "push-each" => {
                let answers = queue.push_all(rest.split(" and ").map(task).collect());
                let told = answers.into_iter().map(|answer| match answer {
                    Ok(()) => "ok".into(),
                    Err(error) => format!("refused: {error}"),
                });
                told.collect::<Vec<String>>().join("; ")
            }
            "claim" => {
                let words: Vec<&str> = rest.split_whitespace().collect();
                let agent = words.first().unwrap_or(&"qa-1").parse().unwrap();
                let most = words.get(1).map_or(1, |most| most.parse().unwrap());
                let from = words.get(2).unwrap_or(&"qa").parse().unwrap();
                let claimed = queue.claim(&from, &agent, LeaseKind::ByTime(LONG), most)?;
                self.remember(claimed)
            }
            "claim-briefly" => {
                let lease_kind = LeaseKind::ByTime(Duration::ZERO);
                let claimed =
                    queue.claim(&"qa".parse().unwrap(), &rest.parse().unwrap(), lease_kind, 1)?;
                self.remember(claimed)
            }
            "renew" => {
                queue.renew(&self.leases[rest], LONG)?;
                "ok".into()
            }
            "complete" => {
                let (id, follow_ups) = rest.split_once(" then ").unwrap_or((rest, ""));
                let follow_ups = follow_ups.split(" and ").filter(|words| !words.is_empty());
                settled(&queue.settle(&self.leases[id], done(follow_ups.map(task).collect()))?)
            }
            "fail" => {
                let (id, retry_limit) = match rest.split_once(' ') {
                    Some((id, "for-good")) => (id, RetryLimit::Never),
                    Some((id, most)) => (id, RetryLimit::AtMost(Some(most.parse().unwrap()))),
                    None => (rest, RetryLimit::AtMost(None)),
                };
                let failure = AttemptFailure { error: "it broke".into(), retry_limit };
                settled(&queue.settle(&self.leases[id], TaskResult::Failed(failure))?)
            }
            "give-back" => {
                let given = TaskResult::Released { reason: "stopping".into() };
                settled(&queue.settle(&self.leases[rest], given)?)
            }
            "cancel" => {
                queue.cancel(&rest.parse().unwrap(), "somebody")?;
                "ok".into()
            }
            "retry" => {
                queue.retry(&rest.parse().unwrap())?;
                "ok".into()
            }
            "recover" => {
                let back = queue.recover()?;
                let back: Vec<String> = back.iter().map(|back| back.task.to_string()).collect();
                if back.is_empty() { "nothing".into() } else { back.join(" ") }
            }
            "get" => {
                let listed = queue.get(&rest.parse().unwrap())?;
                format!("{} {}", listed.task.status, claim_state(&listed.claim_state))
            }
            "list" => {
                let statuses =
                    rest.split_whitespace().map(|word| word.parse::<TaskStatus>().unwrap());
                let filter = TaskFilter { statuses: statuses.collect(), ..TaskFilter::default() };
                let listed = queue.list(&filter)?;
                let ids: Vec<&str> = listed.iter().map(|listed| listed.task.id.as_str()).collect();
                ids.join(" ")
            }
            other => panic!("no command `{other}`"),
        })
    }

    fn remember(&mut self, claimed: Vec<assay_store::queue::ClaimedTask>) -> String {
        let names = claimed.iter().map(|claimed| claimed.lease.task.to_string());
        let names: Vec<String> = names.collect();
        for claimed in claimed {
            assert_eq!(claimed.task.status, TaskStatus::InProgress);
            let Lease { task, fence, .. } = &claimed.lease;
            self.leases.insert(format!("{task}#{fence}"), claimed.lease.clone());
            self.leases.insert(task.to_string(), claimed.lease);
        }
        if names.is_empty() { "nothing".into() } else { names.join(" ") }
    }
}

fn settled(settled: &SettleOutcome) -> String {
    match settled {
        SettleOutcome::Completed => "completed".into(),
        SettleOutcome::AlreadyCompleted => "already completed".into(),
        SettleOutcome::Retry { after } => format!("again in {} s", after.as_secs()),
        SettleOutcome::Failed { escalation: Some(id) } => format!("failed, {id}"),
        SettleOutcome::Failed { escalation: None } => "failed".into(),
        SettleOutcome::Released => "given back".into(),
    }
}

fn claim_state(claim_state: &ClaimState) -> String {
    match claim_state {
        ClaimState::Ready => "ready".into(),
        ClaimState::Backoff { .. } => "resting".into(),
        ClaimState::Waiting { on } => {
            let on: Vec<&str> = on.iter().map(|id| id.as_str()).collect();
            format!("waiting for {}", on.join(" "))
        }
        ClaimState::Blocked { reason } => format!("blocked: {reason}"),
        ClaimState::Leased { by, .. } => format!("held by {by}"),
        ClaimState::Done => "over".into(),
    }
}
