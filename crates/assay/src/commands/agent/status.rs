//! `assay agent status`: who works on what, as a live table or as JSON.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use assay_agents::seat::{Seat, Supervising, Working};
use assay_engine::config::agents::AgentSettings;
use assay_engine::queues;
use assay_engine::wording::count;
use assay_findings::write::plain;
use assay_store::queue::{AgentState, Count, Queue, QueueError, Seen, Watch};
use assay_store::task::Moment;
use serde::Serialize;

use crate::commands::{print, print_json};
use crate::exit::Exit;
use crate::output;
use crate::process::{self, environment};
use crate::terminal::{Room, table};

/// How often the table is drawn anew where nothing is heard.
const EVERY: Duration = Duration::from_secs(1);

/// How to show it.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print JSON, as is done where the output is no terminal
    #[arg(long)]
    json: bool,
    /// Print the table once
    #[arg(long, conflicts_with = "json")]
    once: bool,
    /// Run as if started in this folder
    #[arg(short = 'C', value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Who works on what.
#[derive(Serialize)]
struct Status {
    supervisor: Option<Supervising>,
    /// Those who work here, as this machine knows it.
    workers: Vec<Working>,
    #[serde(flatten)]
    told: Told,
}

/// What the queue knows.
#[derive(Serialize)]
#[serde(untagged)]
enum Told {
    /// Everybody, wherever they are, and what there is to do.
    All { agents: Vec<Seen>, queues: Vec<Count> },
    /// It does not tell, and why.
    Nothing { unreadable: String },
}

/// Where status is read from.
struct Source {
    root: PathBuf,
    settings: AgentSettings,
    /// It is not there before it can be reached.
    queue: Option<Arc<dyn Queue>>,
}

impl Source {
    fn new(folder: &Path) -> anyhow::Result<Source> {
        let root = queues::root(folder)?;
        let settings = AgentSettings::on_disk(environment(), &root)?;
        Ok(Source { root, settings, queue: None })
    }

    fn queue(&mut self) -> anyhow::Result<Arc<dyn Queue>> {
        if let Some(queue) = &self.queue {
            return Ok(queue.clone());
        }
        let queue: Arc<dyn Queue> = queues::open_to_read(&self.root, &self.settings)?.into();
        Ok(self.queue.insert(queue).clone())
    }

    /// Reads all that can be read. A queue that is away, or will not be read, leaves what is known
    /// here.
    fn read(&mut self) -> anyhow::Result<Status> {
        let state = super::own_folder(&self.root)?;
        let (supervisor, workers) = (Seat::holder(&state), Seat::workers(&state));
        let told = self.queue().and_then(|queue| Ok((queue.agents()?, queue.count()?)));
        let told = match told {
            Ok((agents, queues)) => Told::All { agents, queues },
            Err(error) if error.chain().any(|cause| cause.is::<QueueError>()) => {
                let unreadable = assay_rules::redact(&format!("{error:#}")).into_owned();
                Told::Nothing { unreadable }
            }
            Err(error) => return Err(error),
        };
        Ok(Status { supervisor, workers, told })
    }

    /// What wakes whoever shows it.
    fn watch(&self) -> Watch {
        let queue = &self.settings.configuration.workflow.reviewer;
        let watch = self.queue.as_ref().and_then(|open| open.watch(queue).ok());
        watch.unwrap_or_else(Watch::deaf)
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Exit> {
    let mut source = Source::new(&args.folder)?;
    if output::is_terminal() && !args.json && !args.once {
        return show_live(source);
    }
    let status = source.read()?;
    match args.once {
        true => print(&draw(&status, process::now(), Room::on_stdout()))?,
        false => print_json(&status)?,
    }
    Ok(match status.told {
        Told::All { .. } => Exit::Ready,
        Told::Nothing { .. } => Exit::Incomplete,
    })
}

fn show_live(mut source: Source) -> anyhow::Result<Exit> {
    let mut status = source.read()?;
    let watch = source.watch();
    while output::is_open() {
        // From the top of an empty screen.
        let table = draw(&status, process::now(), Room::on_stdout());
        print(&format!("\x1b[H\x1b[2J{table}\nCtrl-C to leave\n"))?;
        output::flush();
        watch.wait(EVERY);
        status = source.read()?;
    }
    Ok(Exit::Ready)
}

/// Draws it for people, with as much as there is room for.
fn draw(status: &Status, now: Moment, room: Room) -> String {
    let mut out = match &status.supervisor {
        Some(holder) => format!("agents run here (process {})\n\n", holder.pid),
        None => "no agents are running here; `assay agent start` starts them\n\n".to_owned(),
    };
    match &status.told {
        Told::All { agents, queues } => {
            let (shown, over): (Vec<&Seen>, Vec<&Seen>) =
                agents.iter().partition(|seen| !is_over(seen, status.supervisor.as_ref()));
            if !shown.is_empty() {
                let heading = ["AGENT", "QUEUE", "STATE", "TASK", "SINCE", "SEEN"];
                let rows: Vec<Vec<String>> =
                    shown.iter().map(|seen| agent_row(seen, now)).collect();
                out.push_str(&table(&heading, &rows, room));
            }
            if !over.is_empty() {
                let over = count(over.len(), "worker");
                out.push_str(&format!("{over} of earlier starts not shown\n"));
            }
            let heading = ["QUEUE", "READY", "WAITING", "BLOCKED", "RUNNING", "DONE", "FAILED"];
            let rows: Vec<Vec<String>> = queues.iter().map(queue_row).collect();
            out.push('\n');
            out.push_str(&table(&heading, &rows, room));
        }
        Told::Nothing { unreadable } => {
            let row = |worker: &Working| {
                vec![worker.name.to_string(), worker.pid.to_string(), ago(worker.since, now)]
            };
            let rows: Vec<Vec<String>> = status.workers.iter().map(row).collect();
            out.push_str(&table(&["WORKER", "PROCESS", "SINCE"], &rows, room));
            out.push_str(&format!("\nno more is known: {}\n", plain::one_line(unreadable)));
        }
    }
    for worker in &status.workers {
        if let Some(why) = &worker.waits_because {
            let why = plain::one_line(why);
            out.push_str(&format!("{} waits for its queue: {why}\n", worker.name));
        }
    }
    out
}

/// Says whether a worker ended before those who run here were started, or as it was told to.
fn is_over(seen: &Seen, supervisor: Option<&Supervising>) -> bool {
    let is_of_earlier_start = match supervisor {
        Some(holder) => seen.heartbeat.at < holder.since,
        None => seen.heartbeat.state == AgentState::Stopped,
    };
    !seen.alive && is_of_earlier_start
}

fn queue_row(count: &Count) -> Vec<String> {
    let Count { queue, ready, waiting, blocked, in_progress, completed, failed, .. } = count;
    let numbers = [ready, waiting, blocked, in_progress, completed, failed];
    std::iter::once(queue.to_string()).chain(numbers.map(usize::to_string)).collect()
}

fn agent_row(seen: &Seen, now: Moment) -> Vec<String> {
    let heartbeat = &seen.heartbeat;
    let state = match (seen.alive, heartbeat.state, seen.paused) {
        (_, AgentState::Stopped, _) => "stopped",
        (false, _, _) => "gone",
        (true, AgentState::Working, true) => "working, then paused",
        (true, AgentState::Working, false) => "working",
        (true, AgentState::Stopping, _) => "stopping",
        (true, AgentState::Idle | AgentState::Paused, true) => "paused",
        (true, AgentState::Idle | AgentState::Paused, false) => "idle",
    };
    vec![
        heartbeat.agent.to_string(),
        heartbeat.queue.to_string(),
        state.to_owned(),
        heartbeat.task.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
        ago(heartbeat.since, now),
        format!("{} ago", ago(heartbeat.at, now)),
    ]
}

/// Says how long ago something was.
fn ago(then: Moment, now: Moment) -> String {
    let seconds = now.0.duration_since(then.0).as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use assay_store::queue::Heartbeat;

    use super::*;

    fn seen(agent: &str, state: AgentState, alive: bool, at: &str) -> Seen {
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
        Seen { heartbeat, alive, paused: false }
    }

    #[track_caller]
    fn check(supervisor: Option<&str>, room: Room, expected: Expect) {
        let agents = vec![
            seen("qa-1.build7-3f2a", AgentState::Working, true, "2026-02-03T10:04:00Z"),
            seen("qa-2.build7-3f2a", AgentState::Stopped, false, "2026-02-03T10:04:30Z"),
            seen("qa-3.build7-3f2a", AgentState::Working, false, "2026-02-03T09:00:00Z"),
            seen("qa-4.build7-3f2a", AgentState::Stopped, false, "2026-02-03T08:00:00Z"),
        ];
        let supervisor = supervisor.map(|since| {
            let since = since.parse().unwrap();
            Supervising { pid: 6, since, agents: vec![] }
        });
        let queue = Count {
            queue: "senior-engineer".parse().unwrap(),
            ready: 1,
            waiting: 0,
            blocked: 0,
            in_progress: 1,
            completed: 120,
            failed: 0,
            cancelled: 0,
        };
        let told = Told::All { agents, queues: vec![queue] };
        let status = Status { supervisor, workers: Vec::new(), told };
        let now = "2026-02-03T10:05:00Z".parse().unwrap();
        expected.assert_eq(&draw(&status, now, room));
    }

    #[test]
    fn workers_of_earlier_starts_are_counted_alone() {
        check(
            Some("2026-02-03T10:00:00Z"),
            Room::Page,
            expect![[r#"
                agents run here (process 6)

                AGENT             QUEUE  STATE    TASK                            SINCE  SEEN
                qa-1.build7-3f2a  qa     working  review-qa-1738588800000-a1b2c3  60 s   60 s ago
                qa-2.build7-3f2a  qa     stopped  -                               30 s   30 s ago
                2 workers of earlier starts not shown

                QUEUE            READY  WAITING  BLOCKED  RUNNING  DONE  FAILED
                senior-engineer  1      0        0        1        120   0
            "#]],
        );
    }

    #[test]
    fn where_nobody_runs_those_are_shown_that_ended_by_themselves() {
        check(
            None,
            Room::Page,
            expect![[r#"
                no agents are running here; `assay agent start` starts them

                AGENT             QUEUE  STATE    TASK                            SINCE   SEEN
                qa-1.build7-3f2a  qa     working  review-qa-1738588800000-a1b2c3  60 s    60 s ago
                qa-3.build7-3f2a  qa     gone     review-qa-1738588800000-a1b2c3  65 min  65 min ago
                2 workers of earlier starts not shown

                QUEUE            READY  WAITING  BLOCKED  RUNNING  DONE  FAILED
                senior-engineer  1      0        0        1        120   0
            "#]],
        );
    }

    #[test]
    fn a_narrow_screen_cuts_what_is_long() {
        check(
            Some("2026-02-03T10:00:00Z"),
            Room::Screen(50),
            expect![[r#"
                agents run here (process 6)

                AGENT      Q…  STATE    TASK        SIN…  SEEN
                qa-1.bui…  qa  working  review-qa…  60 s  60 s ago
                qa-2.bui…  qa  stopped  -           30 s  30 s ago
                2 workers of earlier starts not shown

                QUEUE            RE…  WAI…  BLO…  RUN…  DONE  FAI…
                senior-engineer  1    0     0     1     120   0
            "#]],
        );
    }
}
