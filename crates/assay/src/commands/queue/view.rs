//! `assay queue list|show|stats`: shows tasks.

use assay_engine::queues::{self, StrayEntries};
use assay_engine::wording::count;
use assay_findings::write::escape;
use assay_store::queue::{ClaimState, ListedTask, Queue, TaskFilter};
use assay_store::task::{Moment, QueueName, Task, TaskId, TaskStatus};
use serde_json::{Value, json};

use super::super::{print, print_json};
use super::{queue_name, status};
use crate::exit::Exit;
use crate::process;
use crate::terminal::{TableWidth, table};

/// The default maximum number of listed tasks.
const DEFAULT_LIMIT: usize = 50;

/// The maximum number of names of non-task entries that are shown.
const MAX_NAMES: usize = 5;

/// The maximum number of findings of a task that are shown.
const MAX_FINDINGS: usize = 50;

/// The key of the findings in the context of a task.
const FINDINGS_KEY: &str = "structured_findings";

/// Arguments of `assay queue list`.
#[derive(clap::Args)]
pub(super) struct ListArgs {
    /// List only tasks of this queue
    #[arg(long, value_name = "NAME", value_parser = queue_name)]
    queue: Option<QueueName>,
    /// List tasks with this status: pending, in_progress, completed, failed, cancelled
    /// [default: all except completed]
    #[arg(long, value_name = "STATUS", value_parser = status)]
    status: Vec<TaskStatus>,
    /// The maximum number of tasks
    #[arg(long, value_name = "N", default_value_t = DEFAULT_LIMIT)]
    limit: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `assay queue show`.
#[derive(clap::Args)]
pub(super) struct ShowArgs {
    /// The id of the task
    #[arg(value_name = "ID")]
    id: TaskId,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `assay queue stats`.
#[derive(clap::Args)]
pub(super) struct StatsArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn list(
    queue: &dyn Queue,
    args: &ListArgs,
    stray_entries: impl FnOnce() -> anyhow::Result<StrayEntries>,
) -> anyhow::Result<Exit> {
    let filter = TaskFilter {
        queue: args.queue.clone(),
        statuses: args.status.clone(),
        context: None,
        // One more than is shown, to know if there are more.
        limit: Some(args.limit.saturating_add(1)),
    };
    let mut listed = queue.list(&filter)?;
    let more = listed.len() > args.limit;
    listed.truncate(args.limit);
    if args.json {
        print_json(&json!({ "tasks": listed, "more": more }))?;
        return Ok(Exit::Ready);
    }
    if listed.is_empty() {
        print("no tasks\n")?;
    } else {
        let rows: Vec<Vec<String>> = listed.iter().map(row).collect();
        let heading = ["QUEUE", "ID", "TYPE", "PRIO", "STATE", "TITLE"];
        print(&table(&heading, &rows, TableWidth::on_stdout()))?;
    }
    if more {
        print(&format!("more tasks exist; show them with `--limit {}`\n", args.limit.max(1) * 10))?;
    }
    warn_of_stray_entries(&stray_entries()?)?;
    Ok(Exit::Ready)
}

/// Warns of files in the queue's folder that are not tasks.
fn warn_of_stray_entries(stray_entries: &StrayEntries) -> anyhow::Result<()> {
    let StrayEntries { set_aside, doubtful } = stray_entries;
    for (file, reason) in doubtful {
        print(&escape::escape_hidden(&format!("`{file}` is not a task: {reason}\n")))?;
    }
    if set_aside.is_empty() {
        return Ok(());
    }
    let (files, folder) = (count(set_aside.len(), "file"), queues::FOLDER);
    let mut names = set_aside.iter().take(MAX_NAMES).cloned().collect::<Vec<String>>().join(", ");
    if set_aside.len() > MAX_NAMES {
        names.push_str(", …");
    }
    let summary =
        format!("{files} without a valid task moved to `{folder}/malformed`, each with the reason");
    print(&escape::escape_hidden(&format!("{summary}: {names}\n")))
}

fn row(listed: &ListedTask) -> Vec<String> {
    let ListedTask { queue, claim_state, task } = listed;
    vec![
        queue.to_string(),
        task.id.to_string(),
        task.kind.to_string(),
        task.priority.get().to_string(),
        short_state(claim_state, task),
        task.title.clone(),
    ]
}

/// Returns the claim state of a task in a word or two.
fn short_state(claim_state: &ClaimState, task: &Task) -> String {
    match claim_state {
        ClaimState::Ready if task.kind.is_escalation() => "for a person".into(),
        ClaimState::Ready => "ready".into(),
        ClaimState::Backoff { seconds } => match scheduled_time(task) {
            Some(at) => format!("from {at}"),
            None => format!("retry in {seconds} s"),
        },
        ClaimState::Waiting { on } => format!("waits for {}", on.len()),
        ClaimState::Blocked { .. } => "blocked".into(),
        ClaimState::Leased { by, .. } => format!("leased by {by}"),
        ClaimState::Done => task.status.to_string(),
    }
}

/// Returns the time before which a task must not be claimed; `None` if it may be claimed now.
fn scheduled_time(task: &Task) -> Option<Moment> {
    task.run_at.filter(|at| *at > process::now())
}

/// Returns the claim state of a task as a phrase.
fn full_state(claim_state: &ClaimState, task: &Task) -> String {
    match claim_state {
        ClaimState::Ready if task.kind.is_escalation() => "waits for a person".into(),
        ClaimState::Ready => "ready to be claimed".into(),
        ClaimState::Backoff { seconds } => match scheduled_time(task) {
            Some(at) => format!("scheduled for {at}"),
            None => format!("failed; retry in {seconds} s"),
        },
        ClaimState::Waiting { on } => {
            let on: Vec<String> = on.iter().map(|id| format!("`{id}`")).collect();
            format!("waits for {}", on.join(", "))
        }
        ClaimState::Blocked { reason } => format!("blocked: {reason}"),
        ClaimState::Leased { by, seconds } => {
            format!("leased by {by} for {seconds} s unless renewed")
        }
        ClaimState::Done => task.status.to_string(),
    }
}

pub(super) fn show(queue: &dyn Queue, args: &ShowArgs) -> anyhow::Result<Exit> {
    let listed = queue.get(&args.id)?;
    if args.json {
        print_json(&listed)?;
        return Ok(Exit::Ready);
    }
    let ListedTask { queue, claim_state, task } = &listed;
    let mut text = format!("{} ({} in `{queue}`)\n", escape::one_line(&task.title), task.id);
    let mut line = |name: &str, value: &str| {
        text.push_str(&format!("  {name:<15} {}\n", escape::one_line(value)));
    };
    line("state", &full_state(claim_state, task));
    line("type", task.kind.as_str());
    line("priority", &task.priority.get().to_string());
    line("created", &format!("{} by {}", task.created_at, author_name(&task.created_by)));
    if let Some(every) = task.repeat_every {
        line("repeats", &format!("every {every}"));
    }
    if !task.depends_on.is_empty() {
        let names: Vec<&str> = task.depends_on.iter().map(TaskId::as_str).collect();
        line("depends on", &names.join(", "));
    }
    if let Some(parent) = &task.parent_task_id {
        line("follows from", parent.as_str());
    }
    // Keys with this prefix are internal to agents.
    for (key, value) in task.context.iter().filter(|(key, _)| !key.starts_with('_')) {
        match finding_lines(key, value) {
            Some(findings) => {
                let names = std::iter::once("· findings").chain(std::iter::repeat(""));
                names.zip(&findings).for_each(|(name, finding)| line(name, finding));
            }
            None => {
                let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                line(&format!("· {key}"), &value);
            }
        }
    }
    for attempt in &task.attempts {
        line("attempt", &format!("{} by {}: {}", attempt.ended_at, attempt.by, attempt.outcome));
    }
    if let Some(summary) = &task.result_summary {
        line("result", summary);
    }
    if !task.description.is_empty() {
        text.push_str(&format!("\n{}\n", task.description.trim_end()));
    }
    if !task.acceptance_criteria.is_empty() {
        text.push_str("\nAcceptance criteria:\n");
        for criterion in &task.acceptance_criteria {
            text.push_str(&format!("  - {criterion}\n"));
        }
    }
    print(&assay_rules::redact(&escape::escape_hidden(&text)))?;
    Ok(Exit::Ready)
}

/// Returns the findings of a task as lines; `None` if the context value has no findings.
fn finding_lines(key: &str, value: &Value) -> Option<Vec<String>> {
    let list = value.get("findings").filter(|_| key == FINDINGS_KEY)?.as_array()?;
    let listed = list.iter().zip(1..).map(|(finding, number)| finding_line(finding, number));
    let mut lines: Vec<String> = listed.take(MAX_FINDINGS).collect();
    let more = list.len().saturating_sub(MAX_FINDINGS);
    if more > 0 {
        lines.push(format!("and {more} more; `--json` shows all findings"));
    }
    if lines.is_empty() {
        lines.push("none".to_owned());
    }
    Some(lines)
}

/// Formats a finding as a line: its id or number, severity, place and title.
fn finding_line(finding: &Value, number: usize) -> String {
    let text = |key: &str| finding.get(key).and_then(Value::as_str).filter(|it| !it.is_empty());
    let name = text("id").map_or_else(|| format!("{number}."), str::to_owned);
    let line = finding.get("line_number").or_else(|| finding.get("line")).and_then(Value::as_u64);
    let place = match (text("file"), line) {
        (Some(file), Some(line)) => Some(format!("{file}:{line}")),
        (Some(file), None) => Some(file.to_owned()),
        (None, _) => None,
    };
    let what = text("title").or_else(|| text("description")?.lines().next());
    let parts = [Some(name), text("severity").map(str::to_owned), place, what.map(str::to_owned)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn author_name(name: &str) -> &str {
    if name.is_empty() { "unknown" } else { name }
}

pub(super) fn stats(
    queue: &dyn Queue,
    args: &StatsArgs,
    stray_entries: impl FnOnce() -> anyhow::Result<StrayEntries>,
) -> anyhow::Result<Exit> {
    let counts = queue.count()?;
    if args.json {
        print_json(&counts)?;
        return Ok(Exit::Ready);
    }
    if counts.is_empty() {
        print("no queue has tasks; add a task with `assay queue push`\n")?;
        return Ok(Exit::Ready);
    }
    let row = |count: &assay_store::queue::QueueCounts| {
        let numbers = [
            count.ready, count.waiting, count.blocked, count.in_progress, count.completed,
            count.failed, count.cancelled,
        ];
        let name = std::iter::once(count.queue.to_string());
        name.chain(numbers.iter().map(usize::to_string)).collect::<Vec<String>>()
    };
    let rows: Vec<Vec<String>> = counts.iter().map(row).collect();
    let heading =
        ["QUEUE", "READY", "WAITING", "BLOCKED", "RUNNING", "COMPLETED", "FAILED", "CANCELLED"];
    print(&table(&heading, &rows, TableWidth::on_stdout()))?;
    let all: usize = counts.iter().map(|count| count.blocked).sum();
    if all > 0 {
        let blocked = count(all, "task");
        print(&format!("{blocked} blocked; `assay queue show ID` shows the reason\n"))?;
    }
    warn_of_stray_entries(&stray_entries()?)?;
    Ok(Exit::Ready)
}
