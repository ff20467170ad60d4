//! New tasks of a user: parsed from JSON, created for a pull request, and validated before they are
//! queued.

use anyhow::{Context, bail};
use assay_services::github::{GitHub, PullState};
use assay_store::pulls::RepositoryName;
use assay_store::queue::{Lease, QueuedTask};
use assay_store::task::{Moment, QueueName, Task, TaskKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::config::agents::AgentSettings;

/// The author and the creation time of tasks that do not state them.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The name of the user.
    pub user: &'a str,
    /// The creation time.
    pub now: Moment,
}

/// Parses tasks from JSON: one, a list, or one per line. They go to `queue`, or else to the queue
/// that each is assigned to. `name` names the input in errors.
pub fn parse_tasks(
    bytes: &[u8],
    name: &str,
    queue: Option<&QueueName>,
    origin: Origin<'_>,
) -> anyhow::Result<Vec<QueuedTask>> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let mut tasks = Vec::new();
    for value in serde_json::Deserializer::from_slice(bytes).into_iter::<Value>() {
        match value.with_context(|| format!("`{name}` is not JSON"))? {
            Value::Array(several) => tasks.extend(several),
            one => tasks.push(one),
        }
    }
    if tasks.is_empty() {
        bail!("`{name}` contains no task");
    }
    let read = |(number, mut value): (usize, Value)| {
        if let Value::Object(fields) = &mut value {
            fields.entry("created_at").or_insert_with(|| json!(origin.now));
            fields.entry("created_by").or_insert_with(|| json!(origin.user));
            if let Some(queue) = queue {
                // The task goes to this queue, whatever agent the file names.
                fields.insert("assigned_to".to_owned(), json!(queue));
            }
        }
        let task = Task::parse(value.to_string().as_bytes());
        let task = task.with_context(|| format!("invalid task {} in `{name}`", number + 1))?;
        let queue = queue.cloned().map_or_else(|| task.assigned_to.parse(), Ok);
        let queue = queue.with_context(|| {
            format!("task `{}` has no valid `assigned_to`; name a queue with `--queue`", task.id)
        })?;
        Ok(QueuedTask { queue, task })
    };
    tasks.into_iter().enumerate().map(read).collect()
}

/// Returns the task to review a pull request, which is the same for every trigger. Fails if the
/// pull request is closed.
pub fn review_of_pull(
    github: &GitHub,
    repository: &RepositoryName,
    number: u64,
    queue: &QueueName,
    origin: Origin<'_>,
) -> anyhow::Result<QueuedTask> {
    let found = github.pull(repository, number)?;
    if found.state == PullState::Closed {
        bail!("{repository}#{number} is closed; only open pull requests are reviewed");
    }
    Ok(found.pull(repository).review(queue, origin.user, origin.now))
}

/// Warns of each task whose queue has no configured agent. Fails if the agents of its queue do not
/// know the type of a task.
pub fn check_tasks(
    settings: &AgentSettings,
    tasks: &[QueuedTask],
    warn: &dyn Fn(&str),
) -> anyhow::Result<()> {
    for new in tasks {
        if !settings.roster.has_agent_for(&new.queue) {
            warn(&format!("no configured agent works on queue `{}`", new.queue));
        } else if !new.task.kind.is_known() {
            // Scripts may have their own kinds of tasks in their own queues.
            bail!(
                "task `{}` has the type `{}`, which is unknown to the agents of `{}`; known types: \
                 {}",
                new.task.id,
                new.task.kind,
                new.queue,
                TaskKind::KNOWN.join(", ")
            );
        }
    }
    Ok(())
}

/// A task and its queue, as scripts write them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FollowUp {
    queue: QueueName,
    task: Value,
}

/// Parses the tasks that follow from another task: `[{"queue": "engineer", "task": {…}}]`. `name`
/// names the input in errors.
pub fn parse_follow_ups(bytes: &[u8], name: &str) -> anyhow::Result<Vec<QueuedTask>> {
    let list: Vec<FollowUp> = serde_json::from_slice(bytes)
        .with_context(|| format!("`{name}` is not a list of {{\"queue\", \"task\"}}"))?;
    let read = |(number, next): (usize, FollowUp)| {
        let task = Task::parse(next.task.to_string().as_bytes());
        let task = task.with_context(|| format!("invalid task {} in `{name}`", number + 1))?;
        Ok(QueuedTask { queue: next.queue, task })
    };
    list.into_iter().enumerate().map(read).collect()
}

/// The output of `assay queue claim`.
#[derive(Deserialize)]
struct Claims {
    claimed: Vec<Claim>,
}

#[derive(Deserialize)]
struct Claim {
    lease: Lease,
}

/// Parses leases as `assay queue claim` prints them. `name` names the input in errors.
pub fn parse_leases(bytes: &[u8], name: &str) -> anyhow::Result<Vec<Lease>> {
    let claims: Claims = serde_json::from_slice(bytes)
        .with_context(|| format!("`{name}` is not the output of `assay queue claim`"))?;
    Ok(claims.claimed.into_iter().map(|claim| claim.lease).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> Origin<'static> {
        Origin { user: "ann", now: "2026-02-03T12:00:00Z".parse().unwrap() }
    }

    fn parse(text: &str, queue: Option<&str>) -> anyhow::Result<Vec<QueuedTask>> {
        let queue = queue.map(|name| name.parse().unwrap());
        parse_tasks(text.as_bytes(), "tasks.json", queue.as_ref(), origin())
    }

    const TASK: &str = r#"{"id": "t1", "type": "review", "title": "a", "assigned_to": "qa"}"#;

    #[test]
    fn a_task_without_author_and_time_gets_those_of_the_user() {
        let [new] = &parse(TASK, None).unwrap()[..] else { panic!("one task") };
        assert_eq!((new.queue.as_str(), new.task.created_by.as_str()), ("qa", "ann"));
        assert_eq!(new.task.created_at, origin().now);
        let [other] = &parse(TASK, Some("second")).unwrap()[..] else { panic!("one task") };
        assert_eq!((other.queue.as_str(), other.task.assigned_to.as_str()), ("second", "second"));
    }

    #[test]
    fn tasks_may_be_a_list_or_one_on_each_line() {
        assert_eq!(parse(&format!("[{TASK}, {TASK}]"), None).unwrap().len(), 2);
        assert_eq!(parse(&format!("\u{feff}{TASK}\n{TASK}\n"), None).unwrap().len(), 2);
    }

    #[test]
    fn invalid_task_input_is_rejected_with_the_reason() {
        let refused = |text: &str| format!("{:#}", parse(text, None).unwrap_err());
        assert_eq!(refused("[]"), "`tasks.json` contains no task");
        assert!(refused("{").starts_with("`tasks.json` is not JSON"));
        assert!(refused(&format!("[{TASK}, 7]")).starts_with("invalid task 2 in `tasks.json`"));
        let unassigned = TASK.replace("\"qa\"", "\"\"");
        assert!(refused(&unassigned).starts_with("task `t1` has no valid `assigned_to`"));
    }

    #[test]
    fn follow_ups_and_leases_are_read_as_scripts_write_them() {
        let task = TASK.replacen('{', r#"{"created_at": "2026-02-03T12:00:00Z", "#, 1);
        let text = format!(r#"[{{"queue": "engineer", "task": {task}}}]"#);
        let [next] = &parse_follow_ups(text.as_bytes(), "f").unwrap()[..] else { panic!("one") };
        assert_eq!((next.queue.as_str(), next.task.id.as_str()), ("engineer", "t1"));
        let refused = parse_follow_ups(b"[{}]", "f").unwrap_err().to_string();
        assert_eq!(refused, "`f` is not a list of {\"queue\", \"task\"}");
        let leases = r#"{"claimed": [{"lease": {"task": "t1", "queue": "qa", "agent": "me", "fence": 3},
                         "task": {}}]}"#;
        let [lease] = &parse_leases(leases.as_bytes(), "f").unwrap()[..] else {
            panic!("one lease")
        };
        assert_eq!((lease.task.as_str(), lease.fence), ("t1", 3));
        let refused = parse_leases(b"[]", "f").unwrap_err().to_string();
        assert_eq!(refused, "`f` is not the output of `assay queue claim`");
    }
}
