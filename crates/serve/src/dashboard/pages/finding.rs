//! The page of a finding, with its history and the decisions on it.

use assay_engine::dashboard::finding_views::{DecisionView, FindingDetailView, LookView};
use assay_engine::dashboard::{Dashboard, DashboardError};
use assay_html::section::{facts, path, section};
use assay_html::table::{HtmlTable, TableColumn};
use assay_html::trace::trace;
use maud::{Markup, html};

use super::PageRequest;
use super::frame::{PageContent, PageContext, severity, time};
use super::run::{about_kind, heading, quotes, reported_title};

pub(super) fn content(
    dashboard: &Dashboard,
    request: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let detail = dashboard.finding(&request.id)?;
    let finding = &detail.finding;
    let main = html! {
        section.part {
            p { (severity(finding.impact, &finding.severity)) " " span.dim { (finding.state) } }
            h1 { (heading(detail.template.as_ref(), &finding.title)) }
            (reported_title(detail.template.as_ref(), &finding.title))
            (quotes(&finding.place(), &detail.evidence))
            (trace(&detail.trace))
            p.prose { (detail.description) }
            @if let Some(fix) = &detail.suggested_fix {
                h2 { "Suggested fix" }
                p.prose { (fix) }
            }
            (about_kind(detail.template.as_ref()))
            (finding_facts(&detail))
        }
        (section("decision", "Decision", &decision(&request.context, &detail)))
        (section("history", "History", &history(&detail.looks)))
    };
    Ok(PageContent::new(finding.title.clone(), main))
}

fn finding_facts(detail: &FindingDetailView) -> Markup {
    let finding = &detail.finding;
    facts(&[
        ("Id", html! { code { (finding.id) } }),
        ("Place", html! { span.mono { (path(&finding.place())) } }),
        ("Category", html! { (finding.category) }),
        ("Rule", html! { (finding.rule.as_deref().unwrap_or("–")) }),
        ("Reviewers", html! { (finding.reviewers.join(", ")) }),
        ("First seen", time(&finding.first_seen)),
        ("Last seen", time(&finding.last_seen)),
        ("Last checked", time(&finding.last_look)),
    ])
}

/// Renders the decisions, and the form for the next one.
fn decision(context: &PageContext, detail: &FindingDetailView) -> Markup {
    let id = &detail.finding.id;
    let in_force = detail.decisions.first().is_some_and(|decision| decision.ended.is_none());
    html! {
        @if !detail.decisions.is_empty() { (decisions(&detail.decisions)) }
        @if in_force {
            (context.form("finding.reopen", id, &html! { button { "Reopen this finding" } }))
        } @else if detail.finding.state != "gone" {
            (context.form("finding.dismiss", id, &dismissal_fields()))
        } @else {
            p.empty { "A later review looked for the finding and did not find it." }
        }
    }
}

fn dismissal_fields() -> Markup {
    html! {
        div.form {
            label { "Why is this finding not to be fixed?"
                textarea name="reason" rows="2" required maxlength="2000" {} }
            label { "Last day of the dismissal (optional)" input type="date" name="until"; }
            button.main { "Dismiss" }
        }
    }
}

fn decisions(decisions: &[DecisionView]) -> Markup {
    let columns = ["Dismissed by", "Reason", "Time", "Until", "Ended"].map(TableColumn::text);
    let rows = decisions.iter().map(|decision| {
        vec![
            html! { (decision.by) },
            html! { (decision.reason) },
            time(&decision.at),
            html! { (decision.until.as_deref().unwrap_or("no end")) },
            html! { @match &decision.ended { Some(ended) => { (time(ended)) } None => { "in force" } } },
        ]
    });
    HtmlTable { caption: "Dismissals", columns: &columns, rows: rows.collect() }.render()
}

fn history(looks: &[LookView]) -> Markup {
    let columns = ["Run", "Time", "Change", "Outcome", "Votes"].map(TableColumn::text);
    let rows = looks.iter().map(|look| {
        let votes = look.votes.iter().map(|vote| match vote.confidence {
            Some(confidence) => format!("{} {} ({confidence} %)", vote.reviewer, vote.severity),
            None => format!("{} {}", vote.reviewer, vote.severity),
        });
        vec![
            html! { a href={ "/runs/" (look.run) } { (look.run) } },
            time(&look.at),
            html! { (look.change) },
            html! { (outcome(&look.outcome)) @if let Some(why) = &look.why { ": " (why) } },
            html! { (votes.collect::<Vec<_>>().join(", ")) },
        ]
    });
    HtmlTable { caption: "History", columns: &columns, rows: rows.collect() }.render()
}

/// Returns an outcome as words.
fn outcome(word: &str) -> &str {
    match word {
        "raised" => "reported",
        "left_alone" => "suppressed",
        "held_back" => "held back",
        "pre_existing" => "older than the change",
        "absent" => "not found",
        other => other,
    }
}
