//! The list of tasks: a check box for each finding, with its issue and its fix below.

use super::{FindingsDocument, escape, seven_level, verification_mark};
use crate::finding::Finding;

/// The indentation of further lines of a text, which is deeper than the `Issue:` and `Fix:` lines.
const INDENT: &str = "        ";

pub(super) fn write(document: &FindingsDocument<'_>) -> String {
    let items: Vec<String> =
        document.worst_first().into_iter().zip(1..).map(|(f, number)| item(f, number)).collect();
    items.join("\n")
}

fn item(finding: &Finding, number: usize) -> String {
    let place = finding
        .place()
        .map(|place| format!(": {}", escape::disable_links(&escape::one_line(&place))));
    let mut out = format!(
        "{number}. [ ] **{}** ({}){}{}\n",
        escape::one_line(seven_level(&finding.grade)),
        escape::disable_links(&escape::one_line(&finding.category)),
        place.unwrap_or_default(),
        verification_mark(finding),
    );
    let text = |text: &str| escape::indent(&escape::disable_links(text), INDENT);
    out.push_str(&format!("    Issue: {}\n", text(&finding.issue())));
    if let Some(fix) = &finding.suggested_fix {
        out.push_str(&format!("    Fix: {}\n", text(fix)));
    }
    out
}
