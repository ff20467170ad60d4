//! The numbered checklist: a heading for each finding, its issue and its fix.

use super::{FindingsDocument, escape, seven_level, sign, verification_mark};
use crate::finding::Finding;

const INDENT: &str = "    ";

pub(super) fn write(document: &FindingsDocument<'_>) -> String {
    let items: Vec<String> = document
        .worst_first()
        .into_iter()
        .zip(1..)
        .map(|(finding, number)| item(document, finding, number))
        .collect();
    let incomplete = document.why_incomplete();
    let incomplete = incomplete.map(|why| {
        format!(
            "**The review is incomplete**: {}\n",
            escape::disable_links(&escape::one_line(&why))
        )
    });
    incomplete.into_iter().chain(items).collect::<Vec<_>>().join("\n")
}

fn item(document: &FindingsDocument<'_>, finding: &Finding, number: usize) -> String {
    let mut out = format!(
        "### {number}. {} {}: {}{}{}\n",
        sign(&finding.grade),
        escape::one_line(seven_level(&finding.grade)),
        title_case(&finding.category),
        place(document, finding),
        verification_mark(finding),
    );
    let text = |text: &str| escape::indent(&escape::disable_links(text), INDENT);
    out.push_str(&format!("**Issue**: {}\n", text(&finding.issue())));
    if let Some(fix) = &finding.suggested_fix {
        out.push_str(&format!("**Suggested Fix**: {}\n", text(fix)));
    }
    out
}

fn place(document: &FindingsDocument<'_>, finding: &Finding) -> String {
    let Some(place) = finding.place() else { return String::new() };
    match document.link(finding) {
        Some(link) => format!(" ([{}]({link}))", escape::escape_markdown(&place)),
        None => format!(" ({})", escape::disable_links(&escape::one_line(&place))),
    }
}

/// Formats `best_practices` as `Best Practices`.
fn title_case(category: &str) -> String {
    let words = category.split(['_', ' ', '-']).filter(|word| !word.is_empty()).map(|word| {
        let mut chars = word.chars();
        let first = chars.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
        first + chars.as_str()
    });
    escape::disable_links(&escape::one_line(&words.collect::<Vec<_>>().join(" ")))
}
