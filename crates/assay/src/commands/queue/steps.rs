//! `assay queue claim|renew|complete|fail`: single steps for scripts.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use assay_engine::new_tasks::{parse_follow_ups, parse_leases};
use assay_store::queue::{
    AttemptFailure, ClaimedTask, Lease, LeaseKind, Queue, QueueError, RetryLimit, SettleOutcome,
    TaskResult,
};
use assay_store::task::{AgentId, QueueName, TaskId};
use serde_json::{Map, Value, json};

use super::super::{print_json, read_file, read_stdin};
use super::{agent_id, queue_name};
use crate::exit::Exit;

/// Arguments of `assay queue claim`.
#[derive(clap::Args)]
pub(super) struct ClaimArgs {
    /// The name of the queue
    #[arg(long, value_name = "NAME", value_parser = queue_name)]
    queue: QueueName,
    /// The name of the agent that claims
    #[arg(long, value_name = "NAME", value_parser = agent_id)]
    agent: AgentId,
    /// The length of the lease in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = lease())]
    lease: u64,
    /// The maximum number of tasks
    #[arg(long, value_name = "N", default_value = "1")]
    count: NonZeroUsize,
    /// Print JSON, which is the only output format
    #[arg(long)]
    json: bool,
}

/// Returns the parser of a lease in seconds: at most a day.
fn lease() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=24 * 60 * 60)
}

/// Arguments with a lease.
#[derive(clap::Args)]
struct LeaseArgs {
    /// The id of the task
    #[arg(value_name = "ID")]
    id: TaskId,
    /// The name of the agent that holds the lease
    #[arg(long, value_name = "NAME", value_parser = agent_id)]
    agent: AgentId,
    /// The fence number of the lease, as printed by `claim`
    #[arg(long, value_name = "N")]
    fence: u64,
    /// Print JSON, which is the only output format
    #[arg(long)]
    json: bool,
}

/// Arguments of `assay queue renew`.
#[derive(clap::Args)]
pub(super) struct RenewArgs {
    #[command(flatten)]
    held: LeaseArgs,
    /// The length of the lease from now, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = lease())]
    lease: u64,
}

/// Arguments of `assay queue complete`.
#[derive(clap::Args)]
pub(super) struct CompleteArgs {
    /// The id of the task
    #[arg(value_name = "ID", required_unless_present = "leases", requires_all = ["agent", "fence"])]
    id: Option<TaskId>,
    /// The name of the agent that holds the lease
    #[arg(long, value_name = "NAME", value_parser = agent_id)]
    agent: Option<AgentId>,
    /// The fence number of the lease, as printed by `claim`
    #[arg(long, value_name = "N")]
    fence: Option<u64>,
    /// Complete all tasks of this JSON, as `claim` prints it; a file, or `-` for stdin
    #[arg(long, value_name = "FILE", conflicts_with_all = ["id", "agent", "fence", "follow_ups"])]
    leases: Option<String>,
    /// Print JSON, which is the only output format
    #[arg(long)]
    json: bool,
    /// A summary of the result
    #[arg(long, value_name = "TEXT", default_value = "")]
    summary: String,
    /// A JSON file with follow-up tasks: `[{"queue": "engineer", "task": {…}}]`
    #[arg(long, value_name = "FILE")]
    follow_ups: Option<PathBuf>,
}

/// Arguments of `assay queue fail`.
#[derive(clap::Args)]
pub(super) struct FailArgs {
    #[command(flatten)]
    held: LeaseArgs,
    /// The text of the error
    #[arg(long, value_name = "TEXT")]
    error: String,
    /// Do not retry: the error is permanent
    #[arg(long)]
    for_good: bool,
}

impl LeaseArgs {
    fn lease(&self, queue: &dyn Queue) -> anyhow::Result<Lease> {
        let name = queue.get(&self.id)?.queue;
        let (task, agent) = (self.id.clone(), self.agent.clone());
        Ok(Lease { task, queue: name, agent, fence: self.fence })
    }
}

pub(super) fn claim(queue: &dyn Queue, args: &ClaimArgs) -> anyhow::Result<Exit> {
    let lease_kind = LeaseKind::ByTime(Duration::from_secs(args.lease));
    let claimed = queue.claim(&args.queue, &args.agent, lease_kind, args.count.get())?;
    let printed =
        claimed.iter().map(|ClaimedTask { lease, task }| json!({ "lease": lease, "task": task }));
    print_json(&json!({ "claimed": printed.collect::<Vec<Value>>() }))?;
    Ok(Exit::Ready)
}

pub(super) fn renew(queue: &dyn Queue, args: &RenewArgs) -> anyhow::Result<Exit> {
    let lease = args.held.lease(queue)?;
    queue.renew(&lease, Duration::from_secs(args.lease))?;
    print_json(&json!({ "renewed": lease.task, "seconds": args.lease }))?;
    Ok(Exit::Ready)
}

pub(super) fn complete(queue: &dyn Queue, args: CompleteArgs) -> anyhow::Result<Exit> {
    let follow_ups = args
        .follow_ups
        .map(|file| parse_follow_ups(&read_file(&file)?, &file.display().to_string()))
        .transpose()?;
    let settlement = TaskResult::Completed {
        summary: args.summary,
        context: Map::new(),
        follow_ups: follow_ups.unwrap_or_default(),
    };
    let held = match (args.leases, args.id, args.agent, args.fence) {
        (Some(file), ..) => {
            let bytes = match file.as_str() {
                "-" => read_stdin()?,
                file => read_file(file.as_ref())?,
            };
            return complete_all(queue, &parse_leases(&bytes, &file)?, &settlement);
        }
        (None, Some(id), Some(agent), Some(fence)) => {
            LeaseArgs { id, agent, fence, json: args.json }
        }
        (None, ..) => {
            bail!("missing task: name a task with `--agent` and `--fence`, or use `--leases FILE`")
        }
    };
    settle(queue, &held, settlement)
}

/// Completes several tasks independently of each other.
fn complete_all(
    queue: &dyn Queue,
    leases: &[Lease],
    settlement: &TaskResult,
) -> anyhow::Result<Exit> {
    let settlements = leases.iter().map(|lease| (lease.clone(), settlement.clone())).collect();
    let (mut completed, mut refused, mut exit) = (Vec::new(), Vec::new(), Exit::Ready);
    for (lease, answer) in leases.iter().zip(queue.settle_all(settlements)) {
        match answer {
            Ok(_) => completed.push(&lease.task),
            Err(error) => {
                exit = match &error {
                    QueueError::NotHeld { .. } | QueueError::Unknown(_) => Exit::Usage,
                    _ => Exit::Incomplete,
                };
                refused.push(json!({ "task": lease.task, "error": error.to_string() }));
            }
        }
    }
    print_json(&json!({ "completed": completed, "refused": refused }))?;
    Ok(exit)
}

pub(super) fn fail(queue: &dyn Queue, args: FailArgs) -> anyhow::Result<Exit> {
    let retry_limit = if args.for_good { RetryLimit::Never } else { RetryLimit::AtMost(None) };
    settle(queue, &args.held, TaskResult::Failed(AttemptFailure { error: args.error, retry_limit }))
}

fn settle(queue: &dyn Queue, held: &LeaseArgs, settlement: TaskResult) -> anyhow::Result<Exit> {
    let settled = queue.settle(&held.lease(queue)?, settlement)?;
    let id = &held.id;
    print_json(&match settled {
        SettleOutcome::Completed => json!({ "completed": id }),
        SettleOutcome::AlreadyCompleted => json!({ "completed": id, "already_completed": true }),
        SettleOutcome::Retry { after } => json!({ "waits": id, "rests_seconds": after.as_secs() }),
        SettleOutcome::Failed { escalation } => json!({ "failed": id, "escalation": escalation }),
        SettleOutcome::Released => json!({ "waits": id, "rests_seconds": 0 }),
    })?;
    Ok(Exit::Ready)
}
