//! The parts of an HTML page about a validation loop, for the dashboard and for reports.
//!
//! The caller decides where the pictures come from: [`ScreenshotSource`] returns the address of
//! each, which is a path of the server or a `data:` address.

use assay_findings::grade::Grade;
use assay_html::code::{CodeExcerpt, CodeLine, CodeLineKind};
use assay_html::section::{facts, folded, list, prose, section, time};
use assay_html::severity::{SeverityTone, badge};
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use crate::loop_views::event::LoopEventView;
use crate::loop_views::round::{
    LoopCheckView, LoopCriterionView, LoopFixView, LoopIssueView, LoopRoundView,
};
use crate::loop_views::screenshot::ScreenshotView;
use crate::loop_views::{LoopDetailView, LoopSignOffView, LoopView};
use crate::wording::count;

/// The number of characters of a tree's digest that are shown.
const SHORT_TREE: usize = 12;

/// A function that returns the address of a screenshot, or the reason that it is not shown.
pub type ScreenshotSource<'a> = &'a dyn Fn(&ScreenshotView) -> Result<String, String>;

/// Renders the status of a loop with its reason, as the first heading of a page.
pub fn banner(detail: &LoopDetailView) -> Markup {
    let LoopView { id, status, reason, .. } = &detail.summary;
    html! {
        section.verdict.(tone(status)) aria-labelledby="status" {
            p.label { "Loop " (id) }
            h1 #status { span.sign aria-hidden="true" { (sign(status)) } " " (status_words(status)) }
            @if let Some(reason) = reason { ul.reasons { li { (prose(reason)) } } }
        }
    }
}

/// Renders the facts of a loop.
pub fn overview(detail: &LoopDetailView) -> Markup {
    let summary = &detail.summary;
    let tree = detail.history.first().map(|round| short(&round.tree));
    let facts = facts(&[
        ("Spec", html! { span.mono { (summary.folder) } }),
        ("Rounds", html! { (summary.rounds) }),
        ("Criteria", html! { (summary.criteria_met) " of " (summary.criteria) " met" }),
        ("Open issues", html! { (summary.open_issues) }),
        (
            "Last round",
            html! { @match &summary.last_check { Some(at) => (time(at)), None => "–" } },
        ),
        ("Last tree", html! { code { (tree.unwrap_or("–")) } }),
    ]);
    section("overview", "Overview", &facts)
}

/// Renders the criteria of the last round that judged them.
pub fn criteria(detail: &LoopDetailView) -> Markup {
    let judged = detail.history.iter().find(|round| !round.criteria.is_empty());
    let content = match judged {
        Some(round) => html! {
            p.dim { "As of round " (round.number) "." }
            (criteria_table(&round.criteria))
        },
        None => html! { p.dim { "No round has judged the acceptance criteria yet." } },
    };
    section("criteria", "Acceptance criteria", &content)
}

fn criteria_table(criteria: &[LoopCriterionView]) -> Markup {
    let columns = ["Criterion", "Answer", "Evidence"].map(TableColumn::text);
    let row = |line: &LoopCriterionView| {
        let is_met = matches!(line.answer.as_str(), "met" | "decided");
        let answer = answer_words(&line.answer);
        vec![
            html! { (prose(&line.text)) },
            html! { span.good[is_met].critical[!is_met] { (answer) } },
            html! { (prose(&line.evidence)) },
        ]
    };
    let rows = criteria.iter().map(row).collect();
    HtmlTable { caption: "Acceptance criteria", columns: &columns, rows }.render()
}

/// Renders the rounds, the newest first.
pub fn rounds(detail: &LoopDetailView, source: ScreenshotSource<'_>) -> Markup {
    let content = html! {
        @if detail.history.is_empty() { p.dim { "The loop has not run yet." } }
        @for round in &detail.history { (round_entry(round, source)) }
        @if detail.has_more_rounds { p.dim { "Earlier rounds are not shown." } }
    };
    section("rounds", "Rounds", &content)
}

fn round_entry(round: &LoopRoundView, source: ScreenshotSource<'_>) -> Markup {
    let is_good = round.outcome == "passed";
    let screenshots: Vec<&ScreenshotView> = round.screenshots().collect();
    html! {
        article.entry id={ "round-" (round.number) } {
            h3.title {
                "Round " (round.number)
                span.good[is_good].critical[!is_good] { (round.outcome) }
                span.dim { (time(&round.begun)) }
            }
            @if let Some(error) = &round.error { p.prose { (prose(error)) } }
            @if !round.checks.is_empty() { (checks_table(&round.checks)) }
            @for check in &round.checks { (output(check)) }
            @for issue in &round.issues { (issue_entry(issue)) }
            @if round.remarks > 0 {
                p.dim { (count(round.remarks, "further finding")) " without blocking effect" }
            }
            @if !screenshots.is_empty() { (pictures(&screenshots, source)) }
            @if let Some(fix) = &round.fix { (fix_entry(fix)) }
            @if !round.criteria.is_empty() {
                (folded("Criteria in this round", round.criteria.len(), &criteria_table(&round.criteria)))
            }
            p.by { span { "tree " code { (short(&round.tree)) } } }
        }
    }
}

fn checks_table(checks: &[LoopCheckView]) -> Markup {
    let columns = [
        TableColumn::text("Check"),
        TableColumn::text("Result"),
        TableColumn::text("Tests"),
        TableColumn::number("Time"),
    ];
    let row = |check: &LoopCheckView| {
        let is_good = check.state == "passed";
        let state = check.state.replace('_', " ");
        vec![
            html! { span.mono { (check.name) } },
            html! {
                span.good[is_good].critical[!is_good] { (state) }
                @if let Some(why) = &check.why { ": " (prose(why)) }
            },
            html! { (tests(check)) },
            html! { (duration(check.duration_ms)) },
        ]
    };
    let rows = checks.iter().map(row).collect();
    HtmlTable { caption: "Checks", columns: &columns, rows }.render()
}

/// Returns the results of the tests and the coverage of a check in words.
fn tests(check: &LoopCheckView) -> String {
    let totals = check.tests.map(|tests| {
        let skipped = match tests.skipped {
            0 => String::new(),
            skipped => format!(", {skipped} skipped"),
        };
        format!("{} passed, {} failed{skipped}", tests.passed, tests.failed)
    });
    let covered = check.coverage.as_ref().map(|coverage| format!("{coverage} covered"));
    let parts: Vec<String> = totals.into_iter().chain(covered).collect();
    if parts.is_empty() { "–".to_owned() } else { parts.join(", ") }
}

/// Renders the output of a check that did not pass, and its notes.
fn output(check: &LoopCheckView) -> Markup {
    let line = |text: &str| CodeLine {
        kind: CodeLineKind::Context,
        number: None,
        text: text.to_owned(),
        is_marked: false,
    };
    let lines: Vec<CodeLine> = check.output.lines().map(line).collect();
    let caption = format!("end of the output of {}", check.name);
    html! {
        @if !lines.is_empty() {
            (folded(&format!("Output of {}", check.name), lines.len(),
                &CodeExcerpt { caption: &caption, lines: &lines }.render()))
        }
        @if !check.notes.is_empty() {
            (folded(&format!("Notes on {}", check.name), check.notes.len(), &list(&check.notes)))
        }
    }
}

fn issue_entry(issue: &LoopIssueView) -> Markup {
    html! {
        div.note {
            p {
                (badge(severity(&issue.severity), &issue.severity)) " " (prose(&issue.title))
                " " span.dim { "· " (issue.kind.replace('_', " ")) }
                @if let Some(place) = &issue.place { " " span.mono { (place) } }
            }
            @if let Some(text) = &issue.description { p.prose { (prose(text)) } }
        }
    }
}

fn pictures(screenshots: &[&ScreenshotView], source: ScreenshotSource<'_>) -> Markup {
    html! {
        div.pictures {
            @for shown in screenshots {
                figure {
                    @match source(shown) {
                        Ok(address) => {
                            img src=(address) alt={ "Screenshot " (shown.file) } loading="lazy";
                        },
                        Err(why) => p.dim { "Not shown: " (why) },
                    }
                    figcaption { (shown.file) }
                }
            }
        }
    }
}

fn fix_entry(fix: &LoopFixView) -> Markup {
    html! {
        p.prose {
            strong { "Fix: " }
            @if fix.changed { "files were changed: " } @else { "no file was changed: " }
            (prose(&fix.summary))
        }
    }
}

/// Renders the sign-offs and decisions of persons, and the commands for those that are missing.
pub fn sign_offs(detail: &LoopDetailView) -> Markup {
    html! {
        @if detail.sign_offs.is_empty() { p.dim { "No person has signed off or decided anything." } }
        @else { (sign_off_table(&detail.sign_offs)) }
    }
}

fn sign_off_table(lines: &[LoopSignOffView]) -> Markup {
    let columns = ["Person", "About", "Reason", "Effect"].map(TableColumn::text);
    let row = |line: &LoopSignOffView| {
        vec![
            html! { (line.by) },
            html! { (prose(line.about.as_deref().unwrap_or("the whole tree"))) },
            html! { (line.because.as_deref().unwrap_or("–")) },
            html! { @if line.is_void { "void: the tree changed since" } @else { "in force" } },
        ]
    };
    let rows = lines.iter().map(row).collect();
    HtmlTable { caption: "Sign-offs and decisions", columns: &columns, rows }.render()
}

/// Returns the commands by which a person signs off the tree or decides an issue now.
pub fn sign_off_commands(detail: &LoopDetailView) -> Vec<String> {
    let command = format!("assay qa --spec {} --sign-off \"YOUR NAME\"", detail.summary.id);
    let whole = detail.awaits_sign_off.then(|| command.clone());
    let single = detail.decidable().map(|issue| {
        let title = issue.title.replace('"', "\\\"").replace('`', "\\`");
        format!("{command} --for \"{title}\" --because \"REASON\"")
    });
    whole.into_iter().chain(single).collect()
}

/// Renders the journal, the newest line first.
pub fn journal(detail: &LoopDetailView) -> Markup {
    let columns = ["Time", "Event"].map(TableColumn::text);
    let row = |event: &LoopEventView| vec![time(&event.at), html! { (prose(&event.text)) }];
    let rows = detail.journal.iter().map(row).collect();
    let content = html! {
        @if detail.journal.is_empty() { p.dim { "The journal is empty." } }
        @else { (HtmlTable { caption: "Journal", columns: &columns, rows }.render()) }
        @if detail.has_more_events { p.dim { "Earlier lines are not shown." } }
    };
    section("journal", "Journal", &content)
}

/// Returns the status of a loop in words.
pub fn status_words(status: &str) -> &str {
    match status {
        "pending" => "Pending",
        "in_review" => "In review",
        "rejected" => "Rejected",
        "fixes_applied" => "Fixes applied",
        "approved" => "Approved",
        "human_escalation" => "A person must act",
        _ => "Unknown",
    }
}

/// Returns the class of a status: the colour of its sign.
pub fn tone(status: &str) -> &'static str {
    match status {
        "approved" => "good",
        "pending" | "in_review" | "fixes_applied" => "medium",
        _ => "critical",
    }
}

fn sign(status: &str) -> &'static str {
    match tone(status) {
        "good" => "✓",
        "medium" => "–",
        _ => "✕",
    }
}

fn answer_words(answer: &str) -> &str {
    match answer {
        "met" => "met",
        "not_met" => "not met",
        "cannot_tell" => "cannot tell",
        _ => "met, decided by a person",
    }
}

fn severity(word: &str) -> SeverityTone {
    SeverityTone::of(&Grade::from_word(word))
}

fn short(tree: &str) -> &str {
    tree.get(..SHORT_TREE).unwrap_or(tree)
}

fn duration(milliseconds: u64) -> String {
    match milliseconds {
        ..60_000 => format!("{:.1} s", milliseconds as f64 / 1000.0),
        _ => format!("{} min {} s", milliseconds / 60_000, milliseconds / 1000 % 60),
    }
}
