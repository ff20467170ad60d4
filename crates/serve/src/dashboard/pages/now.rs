//! The first page: queues, agents and tasks now, and the worst open findings.

use assay_engine::dashboard::finding_views::{FindingListQuery, FindingListView};
use assay_engine::dashboard::task_views::{AgentView, QueueView, TaskView, WorkOverview};
use assay_engine::dashboard::{Dashboard, DashboardError, DashboardStatistics};
use assay_engine::wording::count;
use assay_html::section::{prose, section, tile};
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use super::findings::finding_table;
use super::frame::{LEDGER_PENDING, PageContent, PageContext, empty, pending, percent, time, usd};
use super::{PageRequest, nothing};

/// The number of findings on the page.
const MAX_FINDINGS: &str = "10";

/// The sentence in place of tasks and agents.
const WORK_PENDING: &str = "The queue is being read.";

pub(super) fn content(
    dashboard: &Dashboard,
    request: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let view = dashboard.view(request.until)?;
    let statistics = view.statistics?;
    let query = FindingListQuery { limit: Some(MAX_FINDINGS.into()), ..Default::default() };
    let worst = dashboard.findings_by(&query, request.until)?;
    let context = &request.context;
    let main = html! {
        h1.hidden-text { "Now" }
        div.tiles #tiles data-live { (tiles(view.work.as_deref(), statistics.as_deref())) }
        @match view.work.as_deref() {
            Some(work) => { (work_parts(context, work)) }
            None => {
                div.stack #work data-live { (section("idle", "Tasks", &pending(WORK_PENDING))) }
                div.grid #agents data-live {}
            }
        }
        div #worst data-live {
            (section("worst-part", "Worst open findings", &worst_findings(worst.as_ref())))
        }
    };
    Ok(PageContent { title: "Now".to_owned(), mark: Some(view.mark.0), main })
}

fn work_parts(context: &PageContext, work: &WorkOverview) -> Markup {
    html! {
        div.stack #work data-live { (tasks(context, work)) }
        div.grid #agents data-live {
            (section("agents-part", "Agents", &agents(context, &work.agents)))
            (section("queues", "Queues", &queues(&work.queues)))
        }
    }
}

fn worst_findings(worst: Option<&FindingListView>) -> Markup {
    let Some(FindingListView { findings, .. }) = worst else { return pending(LEDGER_PENDING) };
    html! {
        (finding_table("Worst open findings", findings))
        @if !findings.is_empty() { p.pages { a href="/findings" { "All findings" } } }
    }
}

fn tiles(work: Option<&WorkOverview>, statistics: Option<&DashboardStatistics>) -> Markup {
    let unread = |name: &str, remark: &str| tile(name, "…", &html! { (remark) });
    let [open, resolved, spend] = match statistics {
        Some(statistics) => statistics_tiles(statistics),
        None => ["Open findings", "Resolved", "Spend"].map(|name| unread(name, "being computed")),
    };
    let waiting = match work {
        Some(work) => work_tile(work),
        None => unread("Tasks waiting", "being counted"),
    };
    html! { (open) (resolved) (waiting) (spend) }
}

fn work_tile(work: &WorkOverview) -> Markup {
    let (waiting, running) =
        (work.total(|queue| queue.ready + queue.waiting), work.total(|queue| queue.in_progress));
    let (blocked, failed) = (work.total(|queue| queue.blocked), work.total(|queue| queue.failed));
    let alive = work.agents.iter().filter(|agent| agent.alive).count();
    tile(
        "Tasks waiting",
        &waiting.to_string(),
        &html! {
            (running) " running · " (blocked) " blocked · " (failed) " failed · "
            (count(alive, "agent"))
        },
    )
}

/// Renders the tiles of the open findings, the resolved ones, and the spend.
fn statistics_tiles(statistics: &DashboardStatistics) -> [Markup; 3] {
    let total = &statistics.overview.total;
    let cost = total.cost.as_ref();
    [
        tile("Open findings", &total.open.to_string(), &open_by_severity(statistics)),
        tile(
            "Resolved",
            &percent(total.share_resolved),
            &html! {
                (total.resolved) " of " (total.findings) " findings, " (total.dismissed) " dismissed"
            },
        ),
        tile(
            "Spend",
            &usd(cost.map_or(0.0, |cost| cost.usd)),
            &html! {
                @match cost.and_then(|cost| cost.usd_per_accepted) {
                    Some(each) => { (usd(each)) " per accepted finding" }
                    None => { (cost.map_or(0, |cost| cost.calls)) " calls of models" }
                }
            },
        ),
    ]
}

fn open_by_severity(statistics: &DashboardStatistics) -> Markup {
    let overview = statistics.overview.overview.iter();
    let open = overview.flat_map(|overview| &overview.severities).filter(|group| group.open > 0);
    let parts: Vec<String> = open
        .filter_map(|group| Some(format!("{} {}", group.open, group.name.as_ref()?.to_lowercase())))
        .collect();
    html! { (if parts.is_empty() { "none".to_owned() } else { parts.join(" · ") }) }
}

fn tasks(context: &PageContext, work: &WorkOverview) -> Markup {
    let lists = [
        ("blocked", "Blocked tasks", &work.blocked, work.total(|queue| queue.blocked)),
        ("failed", "Failed tasks", &work.failed, work.total(|queue| queue.failed)),
        ("running", "Running tasks", &work.running, work.total(|queue| queue.in_progress)),
        ("waiting", "Waiting tasks", &work.waiting, work.total(|it| it.ready + it.waiting)),
    ];
    let is_idle = lists.iter().all(|(_, _, tasks, _)| tasks.is_empty());
    html! {
        @for (id, heading, tasks, total) in lists {
            @if !tasks.is_empty() {
                (section(id, heading, &html! {
                    (task_table(context, heading, tasks))
                    @if total > tasks.len() { p.dim { (tasks.len()) " of " (total) " tasks are shown" } }
                }))
            }
        }
        @if is_idle {
            (section("idle", "Tasks", &empty("No task is waiting, running, blocked or failed.")))
        }
    }
}

fn task_table(context: &PageContext, caption: &str, tasks: &[TaskView]) -> Markup {
    let columns = ["Task", "Queue", "State", "Reason", "Since", "Actions"].map(TableColumn::text);
    let rows = tasks.iter().map(|task| {
        let since = task.started_at.as_ref().unwrap_or(&task.created_at);
        vec![
            html! { a href={ "/tasks/" (task.id) } { (task.title) } },
            html! { span.name { (task.queue) } },
            html! { span.state { (state_word(task)) } },
            prose(task.reason.as_deref().unwrap_or("–")),
            time(since),
            task_actions(context, task),
        ]
    });
    HtmlTable { caption, columns: &columns, rows: rows.collect() }.render()
}

/// Returns the word for the state of a task.
pub(super) fn state_word(task: &TaskView) -> &str {
    if task.state == "over" { &task.status } else { &task.state }
}

/// Renders the actions that the status of a task allows.
pub(super) fn task_actions(context: &PageContext, task: &TaskView) -> Markup {
    html! {
        span.actions {
            @match task.status.as_str() {
                "failed" | "cancelled" => { (context.button("task.retry", &task.id, "Retry")) }
                "pending" | "in_progress" => { (context.button("task.cancel", &task.id, "Cancel")) }
                _ => { (nothing()) }
            }
        }
    }
}

fn agents(context: &PageContext, agents: &[AgentView]) -> Markup {
    if agents.is_empty() {
        return empty("No agent has run here; start agents with `assay agent start`.");
    }
    let columns = ["Agent", "State", "Task", "Last seen", "Actions"].map(TableColumn::text);
    let rows = agents.iter().map(|agent| {
        vec![
            html! { (agent.id) " " span.dim { (agent.host) } },
            html! { span.state.critical[!agent.alive && agent.state == "gone"] { (agent.state) } },
            html! {
                @match &agent.task {
                    Some(task) => { a href={ "/tasks/" (task) } { (task) } }
                    None => { "–" }
                }
            },
            time(&agent.last_seen),
            match agent.paused {
                true => context.button("agent.resume", &agent.id, "Resume"),
                false => context.button("agent.pause", &agent.id, "Pause"),
            },
        ]
    });
    html! {
        (HtmlTable { caption: "Agents", columns: &columns, rows: rows.collect() }.render())
        div.actions {
            (context.button("agent.pause", "all", "Pause")) (context.button("agent.resume", "all", "Resume"))
            span.dim { "all agents" }
        }
    }
}

fn queues(queues: &[QueueView]) -> Markup {
    let columns = [
        TableColumn::text("Queue"),
        TableColumn::number("Ready"),
        TableColumn::number("Waiting"),
        TableColumn::number("Blocked"),
        TableColumn::number("Running"),
        TableColumn::number("Failed"),
        TableColumn::number("Completed"),
    ];
    let rows = queues.iter().map(|queue| {
        let counts = [
            queue.ready, queue.waiting, queue.blocked, queue.in_progress, queue.failed,
            queue.completed,
        ];
        let counts = counts.iter().map(|count| html! { (count) });
        [html! { (queue.queue) }].into_iter().chain(counts).collect()
    });
    HtmlTable { caption: "Queues", columns: &columns, rows: rows.collect() }.render()
}
