//! A page for a pull request: the verdict, then each finding, then the lists of other results.

use std::collections::BTreeSet;

use super::{FindingsDocument, escape, seven_level, sign, verification_mark, worth_note};
use crate::coverage::ReviewCoverage;
use crate::finding::Finding;
use crate::synthesis::Synthesis;
use crate::template::TemplateText;

pub(super) fn write(document: &FindingsDocument<'_>) -> String {
    let mut page = Vec::new();
    if let Some(synthesis) = document.synthesis {
        page.push(verdict(synthesis));
    }
    if let Some(summary) = document.summary.filter(|summary| !summary.trim().is_empty()) {
        page.push(escape::escape_markdown(summary));
    }
    let findings = document.worst_first();
    if findings.is_empty() {
        page.push("No findings.".to_owned());
    }
    let (shown, folded): (Vec<&Finding>, Vec<&Finding>) =
        findings.into_iter().partition(|finding| finding.shown);
    page.extend(shown.into_iter().map(|finding| section(document, finding)));
    if !folded.is_empty() {
        let sections: Vec<String> =
            folded.iter().map(|finding| section(document, finding)).collect();
        page.push(format!(
            "<details><summary>Folded, as less likely ({})</summary>\n\n{}\n\n</details>",
            folded.len(),
            sections.join("\n\n")
        ));
    }
    if let Some(synthesis) = document.synthesis {
        let doubtful = synthesis.held_back.iter().filter(|finding| !finding.is_lead());
        page.extend(folded_list("Held back as unsure", &named(doubtful)));
        page.extend(folded_list("Existed before this change", &named(&synthesis.pre_existing)));
        page.extend(folded_list("Not reviewed", &not_covered(synthesis)));
        page.extend(folded_list("Left alone on purpose", &dismissed(&synthesis.dismissed)));
        page.extend(folded_list("Testing gaps", &escape_all(&synthesis.testing_gaps)));
        page.extend(folded_list("Residual risks", &escape_all(&synthesis.residual_risks)));
    }
    page.join("\n\n") + "\n"
}

fn verdict(synthesis: &Synthesis) -> String {
    let caveat = synthesis.coverage.as_ref().and_then(ReviewCoverage::caveat);
    let caveat = caveat.map(|caveat| format!(" ({caveat})")).unwrap_or_default();
    let state = escape::capitalize(synthesis.verdict.state.in_words());
    let mut lines = vec![format!("## {state}{caveat}")];
    lines.push(String::new());
    for reason in &synthesis.verdict.because {
        lines.push(format!("- {}", escape::escape_markdown(&reason.text)));
    }
    if let Some(coverage) = &synthesis.coverage {
        lines.push(format!("- {}", escape::escape_markdown(&coverage.to_string())));
    }
    if let Some(spent) = &synthesis.spent {
        lines.push(format!("- {}", escape::escape_markdown(&spent.to_string())));
    }
    lines.join("\n")
}

fn section(document: &FindingsDocument<'_>, finding: &Finding) -> String {
    let severity = escape::escape_markdown(seven_level(&finding.grade));
    let title = escape::escape_markdown(finding.heading());
    let mut lines = vec![format!("### {} {severity}: {title}", sign(&finding.grade))];
    let place = finding.place().map(|place| escape::to_code_span(&place));
    let place = place.map(|place| match document.link(finding) {
        Some(link) => format!("[{place}]({link}) · "),
        None => format!("{place} · "),
    });
    lines.push(format!(
        "{}{}{} · confidence {}{} · found by {}{}",
        place.unwrap_or_default(),
        escape::escape_markdown(&finding.category),
        finding
            .rule
            .as_deref()
            .map(|rule| format!(" · {}", escape::to_code_span(rule)))
            .unwrap_or_default(),
        finding.confidence.percent(),
        worth_note(finding),
        escape::escape_markdown(&finding.reviewers.join(", ")),
        verification_mark(finding).replace('[', "\\[").replace(']', "\\]"),
    ));
    lines.extend(finding.text_below_heading().map(|text| escape::escape_markdown(&text)));
    lines.extend(finding.doubt().map(|doubt| escape::escape_markdown(&doubt)));
    if let Some(fix) = finding.fix_or_form() {
        let several = fix.trim_end().contains('\n');
        lines.push(if several {
            format!("**Fix**\n\n{}", escape::to_code_block(fix))
        } else {
            format!("**Fix**: {}", escape::escape_markdown(fix))
        });
    }
    lines.extend(finding.template.as_ref().map(about_kind));
    lines.join("\n\n")
}

/// Returns the explanation that all findings of a kind share.
fn about_kind(template: &TemplateText) -> String {
    let link = template.link.as_deref().map(|link| format!(" <{link}>")).unwrap_or_default();
    let explanation = escape::escape_markdown(template.explanation.trim());
    format!("**About** {}: {explanation}{link}", escape::to_code_span(&template.name))
}

fn named<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Vec<String> {
    findings
        .into_iter()
        .map(|finding| {
            let place = finding.place().map(|place| format!(" ({})", escape::to_code_span(&place)));
            format!(
                "{} {}{}, confidence {}",
                escape::escape_markdown(seven_level(&finding.grade)),
                escape::escape_markdown(&finding.title),
                place.unwrap_or_default(),
                finding.confidence.percent(),
            )
        })
        .collect()
}

fn not_covered(synthesis: &Synthesis) -> Vec<String> {
    let files = synthesis.reports.iter().flat_map(|report| &report.not_covered);
    let once: BTreeSet<&String> = files.collect();
    once.into_iter().map(|file| escape::escape_markdown(file)).collect()
}

fn dismissed(findings: &[Finding]) -> Vec<String> {
    let reasons = findings.iter().map(|f| f.dismissal.as_deref().unwrap_or("no reason"));
    let named = findings.iter().zip(reasons).map(|(finding, reason)| {
        let place = finding.place().map(|place| format!(" ({})", escape::to_code_span(&place)));
        let title = escape::escape_markdown(&finding.title);
        format!("{title}{}: {}", place.unwrap_or_default(), escape::escape_markdown(reason))
    });
    named.collect()
}

fn escape_all(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| escape::escape_markdown(text)).collect()
}

fn folded_list(title: &str, items: &[String]) -> Option<String> {
    if items.is_empty() {
        return None;
    }
    let list: Vec<String> = items.iter().map(|item| format!("- {item}")).collect();
    Some(format!(
        "<details><summary>{title} ({})</summary>\n\n{}\n\n</details>",
        items.len(),
        list.join("\n")
    ))
}
