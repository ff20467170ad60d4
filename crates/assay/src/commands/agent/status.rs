//! `assay agent status`: shows agents and their tasks, as a live table or as JSON.

use std::path::PathBuf;
use std::time::Duration;

use assay_agents::instance_lock::WorkerInfo;
use assay_engine::agent_status::{
    AgentStatus, QueueStatus, StatusReader, is_of_earlier_start, state_text,
};
use assay_engine::wording::{count, elapsed};
use assay_findings::write::escape;
use assay_store::queue::{AgentHealth, QueueCounts};
use assay_store::task::Moment;

use crate::commands::{print, print_json};
use crate::exit::Exit;
use crate::output;
use crate::process::{self, environment};
use crate::terminal::{TableWidth, table};

/// The interval at which the table is drawn again if the queue does not change.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// Arguments of `assay agent status`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON, which is the default if stdout is not a terminal
    #[arg(long)]
    json: bool,
    /// Print the table once
    #[arg(long, conflicts_with = "json")]
    once: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut source = StatusReader::new(environment(), &args.folder)?;
    if output::is_terminal() && !args.json && !args.once {
        return show_live(source);
    }
    let status = source.read()?;
    match args.once {
        true => print(&render(&status, process::now(), TableWidth::on_stdout()))?,
        false => print_json(&status)?,
    }
    Ok(match status.queue {
        QueueStatus::Known { .. } => Exit::Ready,
        QueueStatus::Unreadable { .. } => Exit::Incomplete,
    })
}

fn show_live(mut source: StatusReader) -> anyhow::Result<Exit> {
    let mut status = source.read()?;
    let watch = source.watch();
    while output::is_open() {
        // Clears the screen first.
        let table = render(&status, process::now(), TableWidth::on_stdout());
        print(&format!("\x1b[H\x1b[2J{table}\nPress Ctrl-C to exit\n"))?;
        output::flush();
        watch.wait(REFRESH_INTERVAL);
        status = source.read()?;
    }
    Ok(Exit::Ready)
}

/// Formats the status as a table that fits the room.
fn render(status: &AgentStatus, now: Moment, room: TableWidth) -> String {
    let mut out = match &status.supervisor {
        Some(holder) => format!("agents are running (process {})\n\n", holder.pid),
        None => "no agents are running; start them with `assay agent start`\n\n".to_owned(),
    };
    match &status.queue {
        QueueStatus::Known { agents, queues } => {
            let (shown, over): (Vec<&AgentHealth>, Vec<&AgentHealth>) = agents
                .iter()
                .partition(|seen| !is_of_earlier_start(seen, status.supervisor.as_ref()));
            if !shown.is_empty() {
                let heading = ["AGENT", "QUEUE", "STATE", "TASK", "SINCE", "SEEN"];
                let rows: Vec<Vec<String>> =
                    shown.iter().map(|seen| agent_row(seen, now)).collect();
                out.push_str(&table(&heading, &rows, room));
            }
            if !over.is_empty() {
                let over = count(over.len(), "worker");
                out.push_str(&format!("{over} from earlier starts not shown\n"));
            }
            let heading = ["QUEUE", "READY", "WAITING", "BLOCKED", "RUNNING", "DONE", "FAILED"];
            let rows: Vec<Vec<String>> = queues.iter().map(queue_row).collect();
            out.push('\n');
            out.push_str(&table(&heading, &rows, room));
        }
        QueueStatus::Unreadable { unreadable } => {
            let row = |worker: &WorkerInfo| {
                vec![
                    worker.name.to_string(),
                    worker.pid.to_string(),
                    elapsed(worker.since.0, now.0),
                ]
            };
            let rows: Vec<Vec<String>> = status.workers.iter().map(row).collect();
            out.push_str(&table(&["WORKER", "PROCESS", "SINCE"], &rows, room));
            out.push_str(&format!("\ncannot read the queue: {}\n", escape::one_line(unreadable)));
        }
    }
    for worker in &status.workers {
        if let Some(why) = &worker.waits_because {
            let why = escape::one_line(why);
            out.push_str(&format!("{} is waiting for the queue: {why}\n", worker.name));
        }
    }
    out
}

fn queue_row(count: &QueueCounts) -> Vec<String> {
    let QueueCounts { queue, ready, waiting, blocked, in_progress, completed, failed, .. } = count;
    let numbers = [ready, waiting, blocked, in_progress, completed, failed];
    std::iter::once(queue.to_string()).chain(numbers.map(usize::to_string)).collect()
}

fn agent_row(seen: &AgentHealth, now: Moment) -> Vec<String> {
    let heartbeat = &seen.heartbeat;
    vec![
        heartbeat.agent.to_string(),
        heartbeat.queue.to_string(),
        state_text(seen).to_owned(),
        heartbeat.task.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
        elapsed(heartbeat.since.0, now.0),
        format!("{} ago", elapsed(heartbeat.at.0, now.0)),
    ]
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use assay_agents::instance_lock::SupervisorInfo;
    use assay_store::queue::{AgentState, Heartbeat};

    use super::*;

    fn seen(agent: &str, state: AgentState, alive: bool, at: &str) -> AgentHealth {
        let at: Moment = at.parse().unwrap();
        let task = (state == AgentState::Working)
            .then(|| "review-qa-1738588800000-a1b2c3".parse().unwrap());
        let heartbeat = Heartbeat {
            agent: agent.parse().unwrap(),
            queue: "qa".parse().unwrap(),
            state,
            task,
            since: at,
            at,
            every_seconds: 30,
            host: "build7".into(),
            pid: 7,
            version: "0".into(),
        };
        AgentHealth { heartbeat, alive, paused: false }
    }

    #[track_caller]
    fn check(supervisor: Option<&str>, room: TableWidth, expected: Expect) {
        let agents = vec![
            seen("qa-1.build7-3f2a", AgentState::Working, true, "2026-02-03T10:04:00Z"),
            seen("qa-2.build7-3f2a", AgentState::Stopped, false, "2026-02-03T10:04:30Z"),
            seen("qa-3.build7-3f2a", AgentState::Working, false, "2026-02-03T09:00:00Z"),
            seen("qa-4.build7-3f2a", AgentState::Stopped, false, "2026-02-03T08:00:00Z"),
        ];
        let supervisor = supervisor.map(|since| {
            let since = since.parse().unwrap();
            SupervisorInfo { pid: 6, since, agents: vec![] }
        });
        let count = QueueCounts {
            queue: "senior-engineer".parse().unwrap(),
            ready: 1,
            waiting: 0,
            blocked: 0,
            in_progress: 1,
            completed: 120,
            failed: 0,
            cancelled: 0,
        };
        let queue = QueueStatus::Known { agents, queues: vec![count] };
        let status = AgentStatus { supervisor, workers: Vec::new(), queue };
        let now = "2026-02-03T10:05:00Z".parse().unwrap();
        expected.assert_eq(&render(&status, now, room));
    }

    #[test]
    fn workers_of_earlier_starts_are_only_counted() {
        check(
            Some("2026-02-03T10:00:00Z"),
            TableWidth::Unlimited,
            expect![[r#"
                agents are running (process 6)

                AGENT             QUEUE  STATE    TASK                            SINCE  SEEN
                qa-1.build7-3f2a  qa     working  review-qa-1738588800000-a1b2c3  60 s   60 s ago
                qa-2.build7-3f2a  qa     stopped  -                               30 s   30 s ago
                2 workers from earlier starts not shown

                QUEUE            READY  WAITING  BLOCKED  RUNNING  DONE  FAILED
                senior-engineer  1      0        0        1        120   0
            "#]],
        );
    }

    #[test]
    fn without_a_supervisor_only_workers_that_were_not_stopped_are_shown() {
        check(
            None,
            TableWidth::Unlimited,
            expect![[r#"
                no agents are running; start them with `assay agent start`

                AGENT             QUEUE  STATE    TASK                            SINCE   SEEN
                qa-1.build7-3f2a  qa     working  review-qa-1738588800000-a1b2c3  60 s    60 s ago
                qa-3.build7-3f2a  qa     gone     review-qa-1738588800000-a1b2c3  65 min  65 min ago
                2 workers from earlier starts not shown

                QUEUE            READY  WAITING  BLOCKED  RUNNING  DONE  FAILED
                senior-engineer  1      0        0        1        120   0
            "#]],
        );
    }

    #[test]
    fn a_narrow_screen_truncates_long_columns() {
        check(
            Some("2026-02-03T10:00:00Z"),
            TableWidth::Screen(50),
            expect![[r#"
                agents are running (process 6)

                AGENT      Q…  STATE    TASK        SIN…  SEEN
                qa-1.bui…  qa  working  review-qa…  60 s  60 s ago
                qa-2.bui…  qa  stopped  -           30 s  30 s ago
                2 workers from earlier starts not shown

                QUEUE            RE…  WAI…  BLO…  RUN…  DONE  FAI…
                senior-engineer  1    0     0     1     120   0
            "#]],
        );
    }
}
