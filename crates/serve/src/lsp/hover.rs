//! The text over a finding: [`hover`].
//!
//! Findings quote the change under review, so all their texts are escaped: a hover shows no link,
//! image or command that the change supplies.

use assay_findings::finding::Finding;
use assay_findings::template::TemplateText;
use assay_findings::write::escape::{escape_comment, one_line, to_code_block, to_code_span};
use serde_json::{Value, json};

use super::client::safe;
use super::diagnostics::ShownFinding;
use super::position::Position;

/// The page of the manual that describes the built-in rules.
const RULES_PAGE: &str = "docs/rules.md";

/// The form of the text that the client shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HoverFormat {
    Markdown,
    PlainText,
}

/// Returns the hover for a position; null if there is no finding.
pub(super) fn hover(shown: &[ShownFinding], position: Position, format: HoverFormat) -> Value {
    let here: Vec<&ShownFinding> = shown.iter().filter(|shown| shown.is_at(position)).collect();
    let Some(first) = here.first() else { return Value::Null };
    let (kind, separator) = match format {
        HoverFormat::Markdown => ("markdown", "\n\n---\n\n"),
        HoverFormat::PlainText => ("plaintext", "\n\n"),
    };
    let texts: Vec<String> = here
        .iter()
        .map(|shown| match format {
            HoverFormat::Markdown => markdown(shown.finding()),
            HoverFormat::PlainText => plain_text(shown.finding()),
        })
        .collect();
    json!({"contents": {"kind": kind, "value": safe(&texts.join(separator))}, "range": first.range})
}

fn markdown(finding: &Finding) -> String {
    let mut parts = vec![format!(
        "**{}** ({}, confidence {})",
        escape_comment(&finding.title),
        escape_comment(&finding.severity),
        finding.confidence.percent(),
    )];
    parts.extend(paragraph("Why", &finding.description, &finding.title));
    if !finding.evidence.is_empty() {
        let quotes = finding.evidence.iter().map(|quote| to_code_block(without_ticks(quote)));
        parts.push("Evidence:".to_owned());
        parts.extend(quotes);
    }
    if let Some(fix) = &finding.suggested_fix {
        parts.extend(paragraph("Fix", fix, ""));
    }
    parts.extend(finding.doubt().map(|doubt| escape_comment(&doubt)));
    parts.extend(
        finding.template.as_ref().map(|kind| about_kind(kind, escape_comment, to_code_span)),
    );
    parts.push(origin(finding, to_code_span));
    parts.join("\n\n")
}

/// Returns the code of a quote that is one code span, without its back-ticks.
fn without_ticks(quote: &str) -> &str {
    let inner = quote.trim().strip_prefix('`').and_then(|rest| rest.strip_suffix('`'));
    inner.filter(|inner| !inner.contains('`')).unwrap_or(quote)
}

fn paragraph(name: &str, text: &str, title: &str) -> Option<String> {
    let text = text.trim();
    let is_new = !text.is_empty() && text != title;
    is_new.then(|| format!("{name}: {}", escape_comment(text)))
}

fn plain_text(finding: &Finding) -> String {
    let mut lines = vec![format!(
        "{} ({}, confidence {})",
        one_line(&finding.title),
        one_line(&finding.severity),
        finding.confidence.percent()
    )];
    if finding.description != finding.title {
        lines.push(format!("Why: {}", one_line(&finding.description)));
    }
    lines.extend(finding.evidence.iter().map(|quote| format!("Evidence: {}", one_line(quote))));
    lines.extend(finding.suggested_fix.iter().map(|fix| format!("Fix: {}", one_line(fix))));
    lines.extend(finding.doubt());
    lines.extend(finding.template.as_ref().map(|kind| about_kind(kind, one_line, one_line)));
    lines.push(origin(finding, one_line));
    lines.join("\n")
}

/// Returns the explanation that all findings of a kind share.
fn about_kind(
    kind: &TemplateText,
    text: impl Fn(&str) -> String,
    code: impl Fn(&str) -> String,
) -> String {
    let link = kind.link.as_deref().map(|link| format!(" {}", code(link))).unwrap_or_default();
    format!("About {}: {}{link}", text(&kind.title), text(&kind.explanation))
}

/// Returns the rule with its documentation, the reviewers and the id.
fn origin(finding: &Finding, code: impl Fn(&str) -> String) -> String {
    let by = finding.reviewers.iter().map(|name| code(name)).collect::<Vec<_>>().join(", ");
    let is_built_in = finding.reviewers.iter().any(|name| name == assay_rules::REVIEWER);
    let rule = match &finding.rule {
        Some(rule) if is_built_in => {
            format!("Rule {}, see {RULES_PAGE} of assay or .assay/rules. ", code(rule))
        }
        Some(rule) => format!("Rule {} of {by}. ", code(rule)),
        None => String::new(),
    };
    format!("{rule}Reported by {by}, id {}.", code(&finding.id))
}

#[cfg(test)]
mod tests {
    use assay_base::markdown::{self, InlineKind, Span};
    use assay_engine::editor_session::{EditorFinding, FindingSource};
    use assay_findings::report::Report;
    use assay_findings::synthesis::{SynthesisInputs, synthesize};
    use assay_findings::write::escape::is_hidden;
    use proptest::prelude::*;

    use super::super::position::Range;
    use super::*;

    const START: Position = Position { line: 0, character: 0 };

    /// Returns the text over a finding whose title, description, evidence and fix are given.
    fn text(
        title: &str,
        description: &str,
        evidence: &str,
        fix: &str,
        format: HoverFormat,
    ) -> String {
        let finding = json!({"title": title, "severity": "HIGH", "file": "a.rs", "line": 1,
            "confidence": 100, "description": description, "why_it_matters": description,
            "evidence": [evidence], "suggested_fix": fix});
        let report = json!([{"reviewer": "one", "findings": [finding], "residual_risks": [],
            "testing_gaps": []}]);
        let reports = Report::list_from_text(&report.to_string(), None);
        let synthesis = synthesize(&reports, &SynthesisInputs::default());
        let all = synthesis.findings.into_iter().chain(synthesis.held_back);
        let shown: Vec<ShownFinding> = all
            .map(|finding| ShownFinding {
                found: EditorFinding { finding, source: FindingSource::StoredReview, fix: None },
                range: Range { start: START, end: START },
            })
            .collect();
        let hover = hover(&shown, START, format);
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    /// Fails if Markdown has a link, an image, a tag or a bare address outside of code.
    fn check_inert(text: &str) {
        let document = markdown::read(text);
        assert!(document.definitions().is_empty(), "{text}");
        for inline in document.inlines() {
            match &inline.kind {
                InlineKind::Open { span: Span::Link | Span::Image, .. } | InlineKind::Html(_) => {
                    panic!("{inline:?} in {text}");
                }
                InlineKind::Text(words) => {
                    assert!(!words.contains("://") && !words.contains("www."), "{words} in {text}");
                }
                _ => {}
            }
        }
        assert!(!text.chars().any(is_hidden), "{text:?}");
    }

    const ATTACKS: [&str; 9] = [
        "[click](command:workbench.action.terminal.sendSequence)",
        "![x](https://evil.example/?leak)",
        "<https://evil.example> <a href=\"x\">y</a> <!-- c -->",
        "see https://evil.example and www.evil.example",
        "```\n[a](command:b)\n```\n[a](command:b)",
        "[a]: command:b\n\n[a]",
        "`` ` `` [a](b) ` [c](d)",
        "one\n\n# head\n\n| [a](b) |\n|---|\n",
        "\u{202e}[a](b)\u{200b}",
    ];

    #[test]
    fn no_text_of_a_finding_becomes_a_link_or_a_tag() {
        for attack in ATTACKS {
            let text = text(attack, attack, attack, attack, HoverFormat::Markdown);
            assert!(text.contains("Reported by `one`"), "{text}");
            check_inert(&text);
        }
    }

    #[test]
    fn plain_text_has_no_markup_of_its_own() {
        let text = text("a *b*", "why", "x < y", "do it", HoverFormat::PlainText);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[..4],
            ["a *b* (HIGH, confidence 100)", "Why: why", "Evidence: x < y", "Fix: do it",]
        );
    }

    proptest! {
        #[test]
        fn any_text_of_a_finding_is_inert(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "[", "]", "(", ")", "`", "```", "\n", "<", ">", "!", "a", "://", "https", "www.",
                    "\\", "*", "_", "#", "@", " ", "command:x", "&#91;", "~", "|", "-", "é",
                ]),
                0..14,
            ),
        ) {
            let attack = parts.concat();
            check_inert(&text("title", &attack, &attack, &attack, HoverFormat::Markdown));
        }
    }
}
