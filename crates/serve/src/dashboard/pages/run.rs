//! The page of a run, with its findings.

use std::collections::BTreeMap;

use assay_engine::dashboard::run_views::{CodeLineView, FixView, RunDetailView, RunFindingView};
use assay_engine::dashboard::{Dashboard, DashboardError};
use assay_findings::template::TemplateText;
use assay_html::code::{CodeExcerpt, CodeLine, CodeLineKind, LineReplacement};
use assay_html::filter::ListFilter;
use assay_html::section::{anchor, facts, folded, path, prose, section};
use assay_html::severity::SeverityTone;
use assay_html::trace::trace;
use maud::{Markup, html};

use super::PageRequest;
use super::frame::{PageContent, empty, severity, time};
use super::runs::{cost, verdict};

/// The length of the shown name of a commit.
const SHORT_COMMIT: usize = 12;

pub(super) fn content(
    dashboard: &Dashboard,
    request: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let run = dashboard.run(&request.id)?;
    let (raised, other): (Vec<_>, Vec<_>) =
        run.present.iter().partition(|finding| finding.outcome == "raised");
    let main = html! {
        section.part {
            h1 { "Run " (run.run.id) }
            (run_facts(&run))
        }
        (section("findings", "Findings", &html! {
            @if raised.is_empty() { (empty("The review reported no finding.")) }
            @else { (ListFilter { entries: "findings", severities: &severities(&raised) }.render()) }
            @for finding in &raised { (entry(finding)) }
            @if !other.is_empty() {
                (folded("Not reported: older than the change, suppressed or held back", other.len(),
                    &html! { @for finding in &other { (entry(finding)) } }))
            }
            @if run.has_more { p.dim { "The run has more findings than are shown." } }
            @if run.present.iter().any(|finding| finding.description.is_none()) {
                p.dim { "The files of this run are gone, so descriptions and quotes are not shown." }
            }
        }))
    };
    Ok(PageContent::new(format!("Run {}", run.run.id), main))
}

fn run_facts(detail: &RunDetailView) -> Markup {
    let run = &detail.run;
    let text = |text: &Option<String>| html! { (text.as_deref().unwrap_or("–")) };
    facts(&[
        ("Verdict", verdict(run)),
        ("Change", html! { (run.change) }),
        ("Branch", text(&run.branch)),
        ("Commit", html! { code title=[&run.head] { (short_commit(run.head.as_deref())) } }),
        ("Time", time(&run.at)),
        ("Cost", html! { (cost(run)) }),
        (
            "Calls of models",
            html! {
                @if run.cost.calls + run.cost.kept_answers == 0 { "none" }
                @else { (run.cost.calls) ", " (run.cost.kept_answers) " from the cache" }
            },
        ),
        ("Replay", html! { code { "assay replay " (run.id) } }),
    ])
}

/// Returns the first characters of a commit's name, as git shows it.
fn short_commit(head: Option<&str>) -> &str {
    let head = head.unwrap_or("–");
    head.get(..SHORT_COMMIT).unwrap_or(head)
}

fn severities(findings: &[&RunFindingView]) -> Vec<(SeverityTone, usize)> {
    let mut counts: BTreeMap<SeverityTone, usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry(SeverityTone::from_impact(finding.finding.impact)).or_default() += 1;
    }
    counts.into_iter().collect()
}

fn entry(found: &RunFindingView) -> Markup {
    let finding = &found.finding;
    let tone = SeverityTone::from_impact(finding.impact);
    html! {
        article.entry id=(anchor("finding", &finding.id)) tabindex="-1" data-entry
            data-severity=(tone.class()) {
            h3.title {
                (severity(finding.impact, &finding.severity))
                a.link href={ "/findings/" (finding.id) } { (heading(found.template.as_ref(), &finding.title)) }
                span.dim { (finding.state) }
            }
            (code(found))
            (trace(&found.trace))
            (reported_title(found.template.as_ref(), &finding.title))
            @if let Some(description) = &found.description { p.prose { (prose(description)) } }
            @if let Some(fix) = &found.suggested_fix { p.prose { strong { "Fix: " } (prose(fix)) } }
            @if let Some(fix) = &found.fix { (hunk(fix)) }
            (about_kind(found.template.as_ref()))
            p.by {
                // Code has the place as its caption.
                @if found.code.is_empty() && found.evidence.is_empty() {
                    span.mono { (path(&finding.place())) }
                }
                span { (finding.category) } span { (finding.reviewers.join(", ")) }
            }
        }
    }
}

/// Returns the title for a heading: that of the template, else that of the reviewer.
pub(super) fn heading<'v>(template: Option<&'v TemplateText>, title: &'v str) -> &'v str {
    template.map_or(title, |template| &template.title)
}

/// Renders the title of the reviewer below the title of a template.
pub(super) fn reported_title(template: Option<&TemplateText>, title: &str) -> Markup {
    let is_shown = template.is_some_and(|template| template.title != title);
    html! { @if is_shown { p.dim { "Reported as: " (title) } } }
}

/// Renders the explanation, the form of a fix and the address that all findings of a kind share.
pub(super) fn about_kind(template: Option<&TemplateText>) -> Markup {
    html! {
        @if let Some(template) = template {
            p.note {
                "About " (template.title) ": " (prose(&template.explanation)) " "
                (prose(&template.fix))
                @if let Some(link) = &template.link { " " span.mono { (link) } }
            }
        }
    }
}

/// Renders the code around a finding, or else the quotes of its evidence.
fn code(found: &RunFindingView) -> Markup {
    let place = found.finding.place();
    if found.code.is_empty() {
        return quotes(&place, &found.evidence);
    }
    let lines: Vec<CodeLine> =
        found.code.iter().map(|line| code_line(line, found.finding.line)).collect();
    CodeExcerpt { caption: &place, lines: &lines }.render()
}

/// Returns a line of an excerpt. The line of the finding is marked.
fn code_line(line: &CodeLineView, marked: Option<u32>) -> CodeLine {
    let kind = match line.kind.as_str() {
        "added" => CodeLineKind::Added,
        "removed" => CodeLineKind::Removed,
        "skipped" => return CodeLine::gap(format!("… {} more removed lines", line.number)),
        _ => CodeLineKind::Context,
    };
    let is_marked = kind != CodeLineKind::Removed && marked == Some(line.number);
    CodeLine { is_marked, ..CodeLine::new(kind, line.number, line.text.clone()) }
}

fn hunk(fix: &FixView) -> Markup {
    let (before, removed) = (texts(&fix.before), texts(&fix.removed));
    let (added, after) = (texts(&fix.added), texts(&fix.after));
    let lines = LineReplacement {
        first: fix.first,
        before: &before,
        removed: &removed,
        added: &added,
        after: &after,
    };
    CodeExcerpt { caption: "Fix", lines: &lines.hunk() }.render()
}

/// Renders the quotes of the code that a finding is about.
pub(super) fn quotes(place: &str, evidence: &[String]) -> Markup {
    let line = |text: &str| CodeLine {
        kind: CodeLineKind::Context,
        number: None,
        text: text.to_owned(),
        is_marked: false,
    };
    // Reviewers quote code between back-ticks.
    let quotes = evidence.iter().map(|quote| quote.trim_matches('`'));
    let lines: Vec<CodeLine> = quotes.flat_map(str::lines).map(line).collect();
    html! { @if !lines.is_empty() { (CodeExcerpt { caption: place, lines: &lines }.render()) } }
}

fn texts(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}
