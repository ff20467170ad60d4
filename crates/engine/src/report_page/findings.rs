//! The findings of a review on its page, each beside its code, with votes, evidence and fix.

use assay_findings::finding::{Finding, FindingStatus, GroundingMark, Validation};
use assay_findings::identity::ResolvedFinding;
use assay_findings::template::TemplateText;
use assay_findings::vote::AutofixClass;
use assay_html::code::{CodeExcerpt, CodeLine, CodeLineKind, LineReplacement};
use assay_html::filter::ListFilter;
use assay_html::section::{anchor, folded, list, prose, section};
use assay_html::severity::{SeverityTone, badge};
use assay_html::table::{HtmlTable, TableColumn};
use assay_html::trace::trace;
use assay_review::run_context::{ContextLine, ContextLineKind, FindingContext, FixLines};
use maud::{Markup, html};

use super::ReviewedRun;
use crate::wording::count;

/// Returns the address of a finding on its page.
pub(super) fn link(id: &str) -> String {
    format!("#{}", anchor("finding", id))
}

/// Renders all findings: open ones, and the others folded by their state.
pub(super) fn sections(run: &ReviewedRun) -> Markup {
    let synthesis = &run.synthesis;
    let (shown, less): (Vec<&Finding>, Vec<&Finding>) =
        synthesis.findings.iter().partition(|finding| finding.shown);
    let (leads, doubtful): (Vec<&Finding>, Vec<&Finding>) =
        synthesis.held_back.iter().partition(|finding| finding.is_lead());
    let groups = [
        ("Folded, as less likely or not urgent", less),
        ("Existed before the change", synthesis.pre_existing.iter().collect()),
        ("Held back as unsure", doubtful),
        ("Leads, not counted as findings", leads),
        ("Dismissed or suppressed", synthesis.dismissed.iter().collect()),
    ];
    let content = html! {
        @if has_entries(run) { (filter(run)) }
        @if synthesis.findings.is_empty() { p.dim { "No open finding." } }
        @for finding in shown { (entry(run, finding)) }
        @for (heading, findings) in &groups {
            @if !findings.is_empty() {
                (folded(heading, findings.len(), &entries(run, findings)))
            }
        }
        (gone("No longer found since the last round", &synthesis.resolved))
        (gone("Not looked for in this round", &synthesis.unseen))
    };
    section("findings", &count(synthesis.findings.len(), "open finding"), &content)
}

/// Returns all findings of a review, in any state.
pub(super) fn all(run: &ReviewedRun) -> impl Iterator<Item = &Finding> {
    let synthesis = &run.synthesis;
    let others = [&synthesis.pre_existing, &synthesis.held_back, &synthesis.dismissed];
    synthesis.findings.iter().chain(others.into_iter().flatten())
}

fn has_entries(run: &ReviewedRun) -> bool {
    all(run).next().is_some()
}

fn filter(run: &ReviewedRun) -> Markup {
    let number = |tone| all(run).filter(|finding| SeverityTone::of(&finding.grade) == tone).count();
    let severities = SeverityTone::ALL.map(|tone| (tone, number(tone)));
    let severities: Vec<_> = severities.into_iter().filter(|(_, number)| *number > 0).collect();
    ListFilter { entries: "findings", severities: &severities }.render()
}

fn entries(run: &ReviewedRun, findings: &[&Finding]) -> Markup {
    html! { div { @for finding in findings { (entry(run, finding)) } } }
}

fn gone(heading: &str, findings: &[ResolvedFinding]) -> Markup {
    let texts = findings.iter().map(|finding| match &finding.file {
        Some(file) => format!("{} ({file})", finding.title),
        None => finding.title.clone(),
    });
    let texts: Vec<String> = texts.collect();
    html! { @if !texts.is_empty() { (folded(heading, texts.len(), &list(&texts))) } }
}

fn entry(run: &ReviewedRun, finding: &Finding) -> Markup {
    let tone = SeverityTone::of(&finding.grade);
    let context = run.context.as_ref().and_then(|context| context.of_finding(&finding.id));
    html! {
        article.entry id=(anchor("finding", &finding.id)) tabindex="-1" data-entry
            data-severity=(tone.class()) {
            h3.title {
                (badge(tone, &finding.severity))
                a.link href=(link(&finding.id)) { (finding.heading()) }
            }
            (origin(finding))
            @if let Some(reason) = &finding.dismissal { p.note { "Dismissed: " (prose(reason)) } }
            @if let Some(text) = finding.text_below_heading() { p.prose { (prose(&text)) } }
            (code(run, finding, context))
            (trace(&finding.trace))
            (doubts(finding))
            @if let Some(look) = &finding.validation { (second_look(look)) }
            (fix(run, finding, context))
            @if let Some(template) = &finding.template { (about_kind(template)) }
            (evidence(&finding.evidence))
            @if let Some(context) = context { (votes(context)) }
        }
    }
}

/// Renders the explanation that all findings of a kind share, without its address: a page refers
/// to nothing outside.
fn about_kind(template: &TemplateText) -> Markup {
    html! {
        p.note {
            "About " (template.title) ": " (prose(&template.explanation))
        }
    }
}

/// Renders place, category, rule, confidence and reviewers in one line.
fn origin(finding: &Finding) -> Markup {
    let status = finding.status.map(|status| match status {
        FindingStatus::New => "new",
        FindingStatus::StillOpen => "still open",
        FindingStatus::Regressed => "was resolved, and is back",
    });
    html! {
        p.by {
            span.mono { (finding.place().unwrap_or_else(|| "the change as a whole".to_owned())) }
            @if let Some(symbol) = &finding.symbol { span { "in " code { (symbol) } } }
            span { (finding.category) }
            @if let Some(rule) = &finding.rule { span { code { (rule) } } }
            span { "confidence " (finding.confidence.percent()) " %" }
            span { "found by " (finding.reviewers.join(", ")) }
            @if let Some(status) = status { span { (status) } }
        }
    }
}

fn code(run: &ReviewedRun, finding: &Finding, context: Option<&FindingContext>) -> Markup {
    let (Some(place), Some(first)) = (finding.place(), finding.line) else { return html! {} };
    let lines = context.map(|context| context.lines.as_slice()).unwrap_or_default();
    if lines.is_empty() {
        let reason = match run.context {
            Some(_) => "the reviewed tree has no such line, or the file could not be read.",
            None => "an earlier version of assay stored this run, without code.",
        };
        return html! { p.note { "The code is not available: " (reason) } };
    }
    let marked = first..=finding.end_line.unwrap_or(first);
    // In a deleted file, the finding is about removed lines.
    let is_deleted = lines.iter().all(|line| line.kind == ContextLineKind::Removed);
    let lines: Vec<CodeLine> = lines
        .iter()
        .map(|line| {
            let counts = is_deleted || line.kind != ContextLineKind::Removed;
            let mut shown = code_line(line);
            shown.is_marked = counts && shown.number.is_some_and(|n| marked.contains(&n));
            shown
        })
        .collect();
    CodeExcerpt { caption: &place, lines: &lines }.render()
}

fn code_line(line: &ContextLine) -> CodeLine {
    let kind = match line.kind {
        ContextLineKind::Same => CodeLineKind::Context,
        ContextLineKind::Added => CodeLineKind::Added,
        ContextLineKind::Removed => CodeLineKind::Removed,
        ContextLineKind::Skipped => {
            return CodeLine::gap(count(line.number as usize, "more removed line"));
        }
    };
    CodeLine::new(kind, line.number, line.text.as_str())
}

/// Renders the limits of a finding: results of grounding, doubted grades, contradictions.
fn doubts(finding: &Finding) -> Markup {
    let marks: Vec<&str> = finding.marks.iter().map(|mark| in_words(*mark)).collect();
    html! {
        @if !marks.is_empty() { p.note { "Check of the claim: " (marks.join("; ")) "." } }
        @if let Some(grade) = &finding.doubted_grade {
            p.note { "Votes that are not sure enough give a worse severity: " (grade.word()) "." }
        }
        @if let Some(decision) = &finding.settled_conflict {
            p.note { "Contradicts a recorded decision: " (decision) }
        }
    }
}

fn in_words(mark: GroundingMark) -> &'static str {
    match mark {
        GroundingMark::FileNotFound => "the file does not exist",
        GroundingMark::FileUnreadable => "the file cannot be read",
        GroundingMark::FileMoved => "the file has another path than stated",
        GroundingMark::LineMoved => "the quote is on another line than stated",
        GroundingMark::LineBeyondEnd => "the line is beyond the end of the file",
        GroundingMark::QuoteNotFound => "the quoted code is not at this place",
        GroundingMark::NoQuote => "the claim has no quote to check",
        GroundingMark::OutsideTheHunks => "the line is not changed",
        GroundingMark::GradeCapped => "the severity is the worst that the reviewer may give",
        GroundingMark::NoPlace => "the claim names no file and line",
        GroundingMark::Repaired => "the JSON of the report was repaired",
        GroundingMark::PlacedByAssay => "assay found the place by the names in the claim",
    }
}

fn second_look(look: &Validation) -> Markup {
    html! {
        div.note {
            p {
                "Second look: " (look.state.as_str())
                @if let Some(consequence) = look.consequence {
                    ", a maintainer would decide: " (consequence.as_str())
                }
                @if let Some(before) = look.lowered_from {
                    ", confidence " (before.percent()) " % before"
                }
                @if !look.why.trim().is_empty() { ". " (prose(&look.why)) }
            }
            @if let Some(quote) = &look.quote { blockquote { (quote) } }
        }
    }
}

fn fix(run: &ReviewedRun, finding: &Finding, context: Option<&FindingContext>) -> Markup {
    let lines = context.and_then(|context| context.fix.as_ref());
    if finding.fix_or_form().is_none() && lines.is_none() {
        return html! {};
    }
    let is_safe = run.safe_fixes.contains(&finding.id);
    html! {
        p { span.label { "Fix" } " " span.dim { "(" (application(finding.autofix_class, is_safe)) ")" } }
        @if let Some(text) = finding.fix_or_form() {
            @if text.trim_end().contains('\n') { blockquote { (text) } } @else { p { (prose(text)) } }
        }
        @if let Some(lines) = lines { (hunk(finding, lines)) }
    }
}

/// Returns how a fix may be applied.
fn application(class: AutofixClass, is_safe: bool) -> &'static str {
    match class {
        _ if is_safe => "safe: applied by assay fix",
        AutofixClass::Advisory => "for information",
        AutofixClass::SafeAuto | AutofixClass::GatedAuto => "applied by a person",
        AutofixClass::Manual => "needs a decision",
    }
}

fn hunk(finding: &Finding, fix: &FixLines) -> Markup {
    let [before, removed, added, after] =
        [&fix.before, &fix.removed, &fix.added, &fix.after].map(|lines| as_texts(lines));
    let replacement = LineReplacement {
        first: fix.first,
        before: &before,
        removed: &removed,
        added: &added,
        after: &after,
    };
    let file = finding.file.as_ref().map(ToString::to_string).unwrap_or_default();
    CodeExcerpt { caption: &format!("fix of {file}"), lines: &replacement.hunk() }.render()
}

fn as_texts(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

fn evidence(quotes: &[String]) -> Markup {
    let content = html! { div { @for quote in quotes { blockquote { (quote) } } } };
    html! { @if !quotes.is_empty() { (folded("Evidence", quotes.len(), &content)) } }
}

/// Renders the votes if there are several; a single one is the finding itself.
fn votes(context: &FindingContext) -> Markup {
    let columns = [
        TableColumn::text("Reviewer"),
        TableColumn::text("Severity"),
        TableColumn::number("Confidence"),
        TableColumn::text("Claim"),
    ];
    let rows = context.votes.iter().map(|vote| {
        let confidence = vote.confidence.map(|percent| format!("{percent} %"));
        vec![
            html! { (vote.reviewer) },
            html! { (vote.severity) },
            html! { (confidence.as_deref().unwrap_or("–")) },
            html! { (vote.title) },
        ]
    });
    let table = HtmlTable { caption: "Votes", columns: &columns, rows: rows.collect() };
    html! {
        @if context.votes.len() > 1 {
            (folded("Votes", context.votes.len(), &table.render()))
        }
    }
}
