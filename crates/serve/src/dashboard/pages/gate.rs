//! The page of a quality gate, with its items.

use assay_engine::dashboard::gate_views::{GateDecisionView, GateDetailView, GateItemView};
use assay_engine::dashboard::{Dashboard, DashboardError};
use assay_engine::wording::count;
use assay_html::section::{anchor, facts, list, path, prose, section};
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use super::PageRequest;
use super::frame::{PageContent, empty};
use super::gates::{counts, tone};
use super::loop_detail::signer;

pub(super) fn content(
    dashboard: &Dashboard,
    request: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let detail = dashboard.gate(&request.id)?;
    let (missing, settled): (Vec<_>, Vec<_>) =
        detail.requirements.iter().partition(|item| is_missing(item));
    let main = html! {
        (banner(&detail))
        (section("missing", "What is missing", &html! {
            @if missing.is_empty() { (empty("No item is open or blocks the gate.")) }
            @for item in &missing { (entry(request, dashboard.user(), item)) }
            @if let Some(next) = &detail.next { p { "Next: " (prose(next)) } }
        }))
        (section("items", "Other items", &html! {
            @if settled.is_empty() { (empty("There are no other items.")) }
            @for item in settled.iter().filter(|item| !holds(item)) {
                (entry(request, dashboard.user(), item))
            }
            (passed(settled.iter().copied().filter(|item| holds(item))))
        }))
        (section("decisions", "Decisions of persons", &decisions(&detail)))
    };
    Ok(PageContent::new(format!("Gate {}", detail.gate.phase), main))
}

fn is_missing(item: &GateItemView) -> bool {
    matches!(item.effect.as_str(), "open" | "blocks")
}

fn holds(item: &GateItemView) -> bool {
    item.effect == "holds"
}

/// Renders the items that hold as a table: nothing has to be done about them.
fn passed<'v>(items: impl Iterator<Item = &'v GateItemView>) -> Markup {
    let columns = ["Check", "Status", "Severity", "Item", "Scope"].map(TableColumn::text);
    let row = |item: &GateItemView| {
        vec![
            prose(&item.check),
            html! { span.state.good { (item.status) } },
            html! { span.badge { (item.severity) } },
            html! { span.mono { (item.id) } },
            html! { span.mono { (path(&item.scope)) } },
        ]
    };
    let rows: Vec<Vec<Markup>> = items.map(row).collect();
    html! {
        @if !rows.is_empty() {
            (HtmlTable { caption: "Items that passed", columns: &columns, rows }.render())
        }
    }
}

fn banner(detail: &GateDetailView) -> Markup {
    let gate = &detail.gate;
    let text = |text: &Option<String>| html! { span.mono { (text.as_deref().unwrap_or("–")) } };
    html! {
        section.verdict.(tone(gate)) aria-labelledby="status" {
            p.label { "Gate " (gate.phase) }
            h1 #status { (prose(&gate.summary)) }
            (facts(&[
                ("Items", html! { (counts(&gate.items)) }),
                ("Iteration", html! { (gate.iteration) }),
                ("Plan", text(&gate.plan)),
                ("Base", text(&gate.base)),
            ]))
            @if !detail.remarks.is_empty() { (list(&detail.remarks)) }
        }
    }
}

fn entry(request: &PageRequest, user: &str, item: &GateItemView) -> Markup {
    let is_good = matches!(item.effect.as_str(), "holds" | "accepted");
    html! {
        article.entry id=(anchor("item", &item.id)) {
            h3.title {
                span.badge { (item.severity) }
                span.good[is_good].critical[!is_good] { (item.status) }
                span { (prose(&item.check)) }
            }
            @if let Some(finding) = &item.finding { p.prose { (prose(finding)) } }
            @if let (Some(by), Some(why)) = (&item.accepted_by, &item.accepted_because) {
                p.prose { "Accepted by " strong { (by) } ": " (why) }
            }
            p.by {
                span.mono { (item.id) } span { "scope " code { (item.scope) } } span { (item.effect) }
                @if item.fails > 0 { span { "failed " (count(item.fails as usize, "time")) } }
            }
            @if item.can_be_accepted() {
                details.folded {
                    summary { "Accept this item" }
                    (request.context.form("gate.accept", &request.id, &accept_fields(user, item)))
                    p.dim { "On the command line: "
                        code { "assay gate accept " (item.id) " --phase " (request.id)
                            " --by NAME --reason TEXT" } }
                }
            }
        }
    }
}

fn accept_fields(user: &str, item: &GateItemView) -> Markup {
    html! {
        div.form {
            input type="hidden" name="item" value=(item.id);
            (signer(user))
            label { "Why can the work go on with this finding?"
                textarea name="reason" rows="2" required maxlength="2000" {} }
            button.main { "Accept" }
        }
    }
}

fn decisions(detail: &GateDetailView) -> Markup {
    let columns = ["Item", "Decision", "Person", "Reason"].map(TableColumn::text);
    let row = |entry: &GateDecisionView| {
        let cells = [&entry.item, &entry.decision, &entry.by, &entry.reason];
        cells.map(|text| html! { (text) }).into()
    };
    let rows: Vec<Vec<Markup>> = detail.decisions.iter().map(row).collect();
    html! {
        @if rows.is_empty() { (empty("No person has decided anything.")) }
        @else {
            (HtmlTable { caption: "Decisions of persons", columns: &columns, rows }.render())
        }
        @if !detail.authors.is_empty() {
            p.dim { "Authors of items or fixes, who cannot accept items: "
                (detail.authors.join(", ")) "." }
        }
    }
}
