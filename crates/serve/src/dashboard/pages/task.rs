//! The page of a task, with its attempts.

use assay_engine::dashboard::task_views::{AttemptView, TaskDetailView};
use assay_engine::dashboard::{Dashboard, DashboardError};
use assay_html::section::{facts, section};
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use super::PageRequest;
use super::frame::{PageContent, empty, time};
use super::now::{state_word, task_actions};

pub(super) fn content(
    dashboard: &Dashboard,
    request: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let mark = dashboard.view(request.until)?.mark;
    let detail = dashboard.task(&request.id)?;
    let main = html! {
        div.stack #task data-live {
            section.part {
                h1 { (detail.task.title) }
                (task_facts(&detail))
                @if let Some(reason) = &detail.task.reason { p.message { (reason) } }
                @if let Some(result) = &detail.result { p.prose { (result) } }
                div { (task_actions(&request.context, &detail.task)) }
            }
            @if !detail.description.is_empty() {
                (section("description", "Description", &html! { p.prose { (detail.description) } }))
            }
            (section("attempts", "Attempts", &attempts(&detail.attempts)))
        }
    };
    Ok(PageContent { title: detail.task.title.clone(), mark: Some(mark.0), main })
}

fn task_facts(detail: &TaskDetailView) -> Markup {
    let task = &detail.task;
    let optional = |at: &Option<String>| match at {
        Some(at) => time(at),
        None => html! { "–" },
    };
    facts(&[
        ("Id", html! { code { (task.id) } }),
        ("State", html! { (state_word(task)) }),
        ("Queue", html! { (task.queue) }),
        ("Kind", html! { (task.kind) }),
        ("Priority", html! { (task.priority) }),
        ("Retries", html! { (task.retries) }),
        ("Agent", html! { (task.agent.as_deref().unwrap_or("–")) }),
        ("Created by", html! { (detail.created_by) }),
        ("Created", time(&task.created_at)),
        ("Started", optional(&task.started_at)),
        ("Ended", optional(&task.ended_at)),
        (
            "Depends on",
            html! {
                @if detail.depends_on.is_empty() { "–" }
                @for id in &detail.depends_on { a href={ "/tasks/" (id) } { (id) } " " }
            },
        ),
    ])
}

fn attempts(attempts: &[AttemptView]) -> Markup {
    if attempts.is_empty() {
        return empty("No attempt has ended.");
    }
    let columns = ["Agent", "Ended", "Outcome"].map(TableColumn::text);
    let rows = attempts.iter().map(|attempt| {
        vec![html! { (attempt.agent) }, time(&attempt.ended_at), html! { (attempt.outcome) }]
    });
    HtmlTable { caption: "Attempts", columns: &columns, rows: rows.collect() }.render()
}
