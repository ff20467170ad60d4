//! `assay queue push`: adds a task from options, a task for a pull request, or tasks from JSON.

use anyhow::Context;
use assay_engine::config::agents::AgentSettings;
use assay_engine::config::service::SHORT_WAIT;
use assay_engine::new_tasks::{Origin, check_tasks, parse_tasks, review_of_pull};
use assay_engine::queues;
use assay_store::interval::Interval;
use assay_store::pulls::RepositoryName;
use assay_store::queue::{Queue, QueueError, QueuedTask};
use assay_store::task::{Moment, Priority, QueueName, Task, TaskId, TaskKind};
use serde_json::{Map, Value, json};

use super::super::{print, print_json, read_file, read_stdin};
use super::queue_name;
use crate::exit::Exit;
use crate::process;

/// Arguments of `assay queue push`.
#[derive(clap::Args)]
pub(super) struct Args {
    /// The queue of the task
    #[arg(long, value_name = "NAME", value_parser = queue_name)]
    queue: Option<QueueName>,
    /// The agent for the task, instead of a queue
    #[arg(long = "for", value_name = "AGENT", conflicts_with = "queue")]
    agent: Option<String>,
    /// Review the last commit of this pull request; a review that is already queued is not added
    /// again
    #[arg(long, value_name = "OWNER/REPO#N", value_parser = pull_request,
          conflicts_with_all = ["kind", "context", "id", "file", "repeat_every"])]
    pr: Option<(RepositoryName, u64)>,
    /// The kind of the task, such as review or fix
    #[arg(long = "type", value_name = "KIND", required_unless_present_any = ["file", "pr"])]
    kind: Option<TaskKind>,
    /// The title of the task
    #[arg(long, value_name = "TEXT", required_unless_present_any = ["file", "pr"])]
    title: Option<String>,
    /// The description of the work
    #[arg(long, value_name = "TEXT", default_value = "")]
    description: String,
    /// Add context, such as branch_name=topic or pr_number=7
    #[arg(long = "context", value_name = "KEY=VALUE", value_parser = key_value)]
    context: Vec<(String, Value)>,
    /// A task that must be completed first
    #[arg(long = "depends-on", value_name = "ID")]
    depends_on: Vec<TaskId>,
    /// The priority, from 1 (first) to 100
    #[arg(long, value_name = "N", default_value_t = 50)]
    priority: i64,
    /// An acceptance criterion
    #[arg(long = "criterion", value_name = "TEXT")]
    acceptance_criteria: Vec<String>,
    /// The earliest time for the task, such as 2026-02-03T02:00:00Z
    #[arg(long = "run-at", value_name = "TIME")]
    run_at: Option<Moment>,
    /// Repeat the task at this interval, such as 6h or 1d, once it is completed or has failed
    #[arg(long = "every", value_name = "TIME")]
    repeat_every: Option<Interval>,
    /// The id of the task [default: a generated id]
    #[arg(long, value_name = "ID")]
    id: Option<TaskId>,
    /// Read one task or a list of tasks from this JSON file, or from stdin if it is `-`
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["kind", "title", "context", "id", "run_at", "repeat_every"])]
    file: Option<String>,
    /// Print the tasks as JSON
    #[arg(long)]
    json: bool,
}

/// Parses `key=value`; the value is JSON, or else text.
fn key_value(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or_else(|| format!("`{text}` is not KEY=VALUE"))?;
    if key.is_empty() {
        return Err(format!("`{text}` has no key"));
    }
    let value = serde_json::from_str(value).unwrap_or_else(|_| json!(value));
    Ok((key.to_owned(), value))
}

/// Parses `owner/repo#7`.
fn pull_request(text: &str) -> Result<(RepositoryName, u64), String> {
    let read = || {
        let (repository, number) = text.split_once('#')?;
        Some((repository.parse().ok()?, number.parse().ok().filter(|number| *number > 0)?))
    };
    read().ok_or_else(|| format!("`{text}` is not a pull request such as `owner/repo#7`"))
}

pub(super) fn run(
    queue: &dyn Queue,
    settings: &AgentSettings,
    user: &str,
    mut args: Args,
) -> anyhow::Result<Exit> {
    let as_json = args.json;
    if let Some(agent) = &args.agent {
        args.queue = Some(queues::agent_queue(settings, agent)?);
    }
    let pull = args.pr.take();
    let asks_for_pull = pull.is_some();
    let tasks = match (&args.file, pull) {
        (Some(file), _) => {
            let bytes = match file.as_str() {
                "-" => read_stdin()?,
                file => read_file(file.as_ref())?,
            };
            parse_tasks(&bytes, file, args.queue.as_ref(), origin(user))?
        }
        (None, Some(pull)) => vec![pull_review_task(pull, settings, args, user)?],
        (None, None) => vec![task_from_args(args, user)?],
    };
    check_tasks(settings, &tasks, &super::super::warn)?;
    match queue.push(tasks.clone()) {
        // Another trigger queued the same task, which is the one that the user wants.
        Err(there @ QueueError::AlreadyExists { .. }) if asks_for_pull => {
            return report_existing(queue, &there, as_json);
        }
        pushed => pushed?,
    }
    match as_json {
        true => print_json(&tasks.iter().map(|new| &new.task).collect::<Vec<_>>())?,
        false => {
            let lines =
                tasks.iter().map(|new| format!("queued {} in `{}`\n", new.task.id, new.queue));
            print(&lines.collect::<String>())?;
        }
    }
    Ok(Exit::Ready)
}

fn report_existing(queue: &dyn Queue, there: &QueueError, as_json: bool) -> anyhow::Result<Exit> {
    match there {
        QueueError::AlreadyExists { id, .. } if as_json => print_json(&[queue.get(id)?.task])?,
        there => print(&format!("{there}\n"))?,
    }
    Ok(Exit::Ready)
}

/// Returns the task to review a pull request, which is the same for every trigger.
fn pull_review_task(
    (repository, number): (RepositoryName, u64),
    settings: &AgentSettings,
    args: Args,
    user: &str,
) -> anyhow::Result<QueuedTask> {
    let queue = args.queue.map_or_else(|| queues::reviewer_queue(settings, None), Ok)?;
    let configured = &settings.configuration.github;
    let github = configured.required(SHORT_WAIT, super::super::warn)?;
    let mut new = review_of_pull(&github, &repository, number, &queue, origin(user))?;
    let task = &mut new.task;
    task.title = args.title.unwrap_or_else(|| std::mem::take(&mut task.title));
    if !args.description.is_empty() {
        task.description = args.description;
    }
    task.priority = Priority::try_from(args.priority)?;
    task.depends_on = args.depends_on;
    task.acceptance_criteria = args.acceptance_criteria;
    task.run_at = args.run_at;
    Ok(new)
}

fn task_from_args(args: Args, user: &str) -> anyhow::Result<QueuedTask> {
    let queue = args
        .queue
        .context("missing `--queue`: name the queue of the task, such as `--queue qa`")?;
    let kind = args
        .kind
        .context("missing `--type`: name the kind of the task, such as `--type review`")?;
    let id = args.id.map_or_else(|| TaskId::generate(&kind, queue.as_str(), process::now()), Ok)?;
    let mut task = Task::new(id, kind, args.title.unwrap_or_default(), process::now());
    task.description = args.description;
    task.priority = Priority::try_from(args.priority)?;
    task.depends_on = args.depends_on;
    task.acceptance_criteria = args.acceptance_criteria;
    task.context = args.context.into_iter().collect::<Map<_, _>>();
    task.run_at = args.run_at;
    task.repeat_every = args.repeat_every;
    task.created_by = user.to_owned();
    task.assigned_to = queue.as_str().to_owned();
    Ok(QueuedTask { queue, task })
}

fn origin(user: &str) -> Origin<'_> {
    Origin { user, now: process::now() }
}
