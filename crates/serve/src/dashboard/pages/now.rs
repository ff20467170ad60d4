//! The first page: queues, agents and tasks now, and the worst open findings.

use assay_engine::dashboard::finding_views::{FindingListQuery, FindingListView};
use assay_engine::dashboard::task_views::{AgentView, QueueView, TaskView, WorkOverview};
use assay_engine::dashboard::{Dashboard, DashboardError, DashboardStatistics};
use assay_engine::finding_statistics::GroupStatistics;
use assay_engine::wording::count;
use assay_findings::grade::Grade;
use assay_html::chart::sparkline;
use assay_html::number::grouped;
use assay_html::section::{prose, section, tile};
use assay_html::severity::SeverityTone;
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use super::findings::{FindingColumns, NO_OPEN_FINDING, finding_table};
use super::frame::{LEDGER_PENDING, PageContent, PageContext, empty, pending, percent, usd};
use super::runs::NO_RUN;
use super::spend::per_accepted;
use super::{PageRequest, nothing};

/// The number of findings on the page.
const MAX_FINDINGS: &str = "10";

/// The name of the tile of resolved findings.
const IMPORTANT_RESOLVED: &str = "Critical and high resolved";

/// The sentence in place of tasks and agents.
const WORK_PENDING: &str = "The queue is being read.";

pub(super) fn content(
    dashboard: &Dashboard,
    request: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let view = dashboard.view(request.until)?;
    let statistics = view.statistics?;
    let has_runs = statistics.as_ref().is_none_or(|it| it.overview.runs.total > 0);
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
            (section("worst-part", "Worst open findings",
                &worst_findings(context, worst.as_ref(), has_runs)))
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

fn worst_findings(
    context: &PageContext,
    worst: Option<&FindingListView>,
    has_runs: bool,
) -> Markup {
    let Some(FindingListView { findings, .. }) = worst else { return pending(LEDGER_PENDING) };
    if findings.is_empty() {
        return empty(if has_runs { NO_OPEN_FINDING } else { NO_RUN });
    }
    html! {
        (finding_table(context, FindingColumns::Short, "Worst open findings", findings))
        p.pages { a href="/findings" { "All findings" } }
    }
}

fn tiles(work: Option<&WorkOverview>, statistics: Option<&DashboardStatistics>) -> Markup {
    let unread = |name: &str, remark: &str| tile(name, "…", &html! { (remark) });
    let [open, resolved, spend] = match statistics {
        Some(statistics) => statistics_tiles(statistics),
        None => ["Open findings", IMPORTANT_RESOLVED, "Spend"]
            .map(|name| unread(name, "being computed")),
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
        &grouped(waiting as u64),
        &html! {
            (grouped(running as u64)) " running · " (grouped(blocked as u64)) " blocked · "
            (grouped(failed as u64)) " failed · "
            (count(alive, "agent"))
        },
    )
}

/// Renders the tiles of the open findings, the important resolved ones, and the spend.
fn statistics_tiles(statistics: &DashboardStatistics) -> [Markup; 3] {
    let total = &statistics.overview.total;
    let cost = total.cost.as_ref();
    [
        tile(
            "Open findings",
            &grouped(total.open),
            &html! { (new_findings(statistics)) (open_by_severity(statistics)) },
        ),
        important_resolved(statistics),
        tile(
            "Spend",
            &usd(cost.map_or(0.0, |cost| cost.usd)),
            &html! {
                @match cost.and_then(per_accepted) {
                    Some(each) => { (usd(each)) " per accepted finding" }
                    None => { (grouped(cost.map_or(0, |cost| cost.calls))) " calls of models" }
                }
            },
        ),
    ]
}

/// Renders the tile of the resolved findings that are CRITICAL, HIGH or MAJOR.
fn important_resolved(statistics: &DashboardStatistics) -> Markup {
    let groups = statistics.overview.overview.iter().flat_map(|overview| &overview.severities);
    let is_important = |group: &&GroupStatistics| {
        let grade = group.name.as_deref().map(Grade::from_word);
        let tone = grade.map(|grade| SeverityTone::of(&grade));
        matches!(tone, Some(SeverityTone::Critical | SeverityTone::High))
    };
    let (resolved, findings) = groups
        .filter(is_important)
        .fold((0, 0), |(resolved, all), group| (resolved + group.resolved, all + group.findings));
    let total = &statistics.overview.total;
    let share = (findings > 0).then(|| resolved as f64 / findings as f64);
    tile(
        IMPORTANT_RESOLVED,
        &percent(share),
        &html! {
            @if findings > 0 { (grouped(resolved)) " of " (grouped(findings)) " · " }
            "all severities: " (grouped(total.resolved)) " of " (grouped(total.findings))
        },
    )
}

/// Renders the new findings of each day or week as a line.
fn new_findings(statistics: &DashboardStatistics) -> Markup {
    let overview = statistics.overview.overview.as_ref();
    let timeline = overview.and_then(|overview| overview.timeline.as_ref());
    let Some(timeline) = timeline.filter(|timeline| timeline.resolved.len() > 1) else {
        return nothing();
    };
    sparkline(&format!("New findings by {}", timeline.period.noun()), &timeline.reported_totals())
}

fn open_by_severity(statistics: &DashboardStatistics) -> Markup {
    let overview = statistics.overview.overview.iter();
    let open = overview.flat_map(|overview| &overview.severities).filter(|group| group.open > 0);
    let parts: Vec<String> = open
        .filter_map(|group| {
            Some(format!("{} {}", grouped(group.open), group.name.as_ref()?.to_lowercase()))
        })
        .collect();
    html! { (if parts.is_empty() { "none".to_owned() } else { parts.join(" · ") }) }
}

fn tasks(context: &PageContext, work: &WorkOverview) -> Markup {
    let lists = [
        ("blocked", &work.blocked, work.total(|queue| queue.blocked)),
        ("failed", &work.failed, work.total(|queue| queue.failed)),
        ("running", &work.running, work.total(|queue| queue.in_progress)),
        ("waiting", &work.waiting, work.total(|it| it.ready + it.waiting)),
    ];
    let all: Vec<&TaskView> = lists.iter().flat_map(|(_, tasks, _)| tasks.iter()).collect();
    if all.is_empty() {
        return section("idle", "Tasks", &empty("No task is waiting, running, blocked or failed."));
    }
    let parts = lists.iter().filter(|(_, tasks, total)| *total > tasks.len());
    let parts = parts.map(|(word, tasks, total)| {
        format!("{} of {} {word}", tasks.len(), grouped(*total as u64))
    });
    let parts = parts.collect::<Vec<_>>().join(", ");
    section(
        "tasks",
        "Tasks",
        &html! {
            (task_table(context, &all))
            @if !parts.is_empty() { p.dim { "Shown: " (parts) "." } }
        },
    )
}

fn task_table(context: &PageContext, tasks: &[&TaskView]) -> Markup {
    let columns = ["Task", "Queue", "State", "Since", "Action"].map(TableColumn::text);
    let rows = tasks.iter().map(|task| {
        let since = task.started_at.as_ref().unwrap_or(&task.created_at);
        vec![
            html! { a href={ "/tasks/" (task.id) } { (task.title) } },
            html! { span.name { (task.queue) } },
            task_state(task),
            context.age(since),
            task_actions(context, task),
        ]
    });
    HtmlTable { caption: "Tasks", columns: &columns, rows: rows.collect() }.render()
}

/// Renders the state of a task with its reason.
fn task_state(task: &TaskView) -> Markup {
    let word = state_word(task);
    let is_running = task.status == "in_progress";
    let is_stuck = word == "blocked" || word == "failed";
    html! {
        span.state.critical[is_stuck].good[is_running] { (if is_running { "running" } else { word }) }
        @if let Some(reason) = &task.reason { span.dim { ": " (prose(reason)) } }
    }
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
            html! { span.state { (context.age(&agent.last_seen)) " ago" } },
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
        let counts = counts.iter().map(|count| html! { (grouped(*count as u64)) });
        [html! { (queue.queue) }].into_iter().chain(counts).collect()
    });
    HtmlTable { caption: "Queues", columns: &columns, rows: rows.collect() }.render()
}
