//! A page for a pull request: the verdict, then each finding, then the lists of other results.

use std::collections::BTreeSet;

use super::{Document, plain, seven_level, sign, verification_mark, worth_note};
use crate::coverage::Coverage;
use crate::finding::Finding;
use crate::synthesis::Synthesis;

pub(super) fn write(document: &Document<'_>) -> String {
    let mut page = Vec::new();
    if let Some(synthesis) = document.synthesis {
        page.push(verdict(synthesis));
    }
    if let Some(summary) = document.summary.filter(|summary| !summary.trim().is_empty()) {
        page.push(plain::markdown(summary));
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
        page.extend(aside("Held back as unsure", &named(&synthesis.held_back)));
        page.extend(aside("There before this change", &named(&synthesis.pre_existing)));
        page.extend(aside("Not looked at", &not_covered(synthesis)));
        page.extend(aside("Left alone on purpose", &dismissed(&synthesis.dismissed)));
        page.extend(aside("Testing gaps", &escaped(&synthesis.testing_gaps)));
        page.extend(aside("Residual risks", &escaped(&synthesis.residual_risks)));
    }
    page.join("\n\n") + "\n"
}

fn verdict(synthesis: &Synthesis) -> String {
    let caveat = synthesis.coverage.as_ref().and_then(Coverage::caveat);
    let caveat = caveat.map(|caveat| format!(" ({caveat})")).unwrap_or_default();
    let state = plain::capitalised(synthesis.verdict.state.in_words());
    let mut lines = vec![format!("## {state}{caveat}")];
    lines.push(String::new());
    for reason in &synthesis.verdict.because {
        lines.push(format!("- {}", plain::markdown(&reason.text)));
    }
    if let Some(coverage) = &synthesis.coverage {
        lines.push(format!("- {}", plain::markdown(&coverage.to_string())));
    }
    if let Some(spent) = &synthesis.spent {
        lines.push(format!("- {}", plain::markdown(&spent.to_string())));
    }
    lines.join("\n")
}

fn section(document: &Document<'_>, finding: &Finding) -> String {
    let severity = plain::markdown(seven_level(&finding.grade));
    let title = plain::markdown(&finding.title);
    let mut lines = vec![format!("### {} {severity}: {title}", sign(&finding.grade))];
    let place = finding.place().map(|place| plain::code(&place));
    let place = place.map(|place| match document.link(finding) {
        Some(link) => format!("[{place}]({link}) · "),
        None => format!("{place} · "),
    });
    lines.push(format!(
        "{}{}{} · confidence {}{} · found by {}{}",
        place.unwrap_or_default(),
        plain::markdown(&finding.category),
        finding.rule.as_deref().map(|rule| format!(" · {}", plain::code(rule))).unwrap_or_default(),
        finding.confidence.percent(),
        worth_note(finding),
        plain::markdown(&finding.reviewers.join(", ")),
        verification_mark(finding).replace('[', "\\[").replace(']', "\\]"),
    ));
    if finding.description != finding.title {
        lines.push(plain::markdown(&finding.description));
    }
    lines.extend(finding.doubt().map(|doubt| plain::markdown(&doubt)));
    if let Some(fix) = &finding.suggested_fix {
        let several = fix.trim_end().contains('\n');
        lines.push(if several {
            format!("**Fix**\n\n{}", plain::fenced(fix))
        } else {
            format!("**Fix**: {}", plain::markdown(fix))
        });
    }
    lines.join("\n\n")
}

fn named(findings: &[Finding]) -> Vec<String> {
    findings
        .iter()
        .map(|finding| {
            let place = finding.place().map(|place| format!(" ({})", plain::code(&place)));
            format!(
                "{} {}{}, confidence {}",
                plain::markdown(seven_level(&finding.grade)),
                plain::markdown(&finding.title),
                place.unwrap_or_default(),
                finding.confidence.percent(),
            )
        })
        .collect()
}

fn not_covered(synthesis: &Synthesis) -> Vec<String> {
    let files = synthesis.reports.iter().flat_map(|report| &report.not_covered);
    let once: BTreeSet<&String> = files.collect();
    once.into_iter().map(|file| plain::markdown(file)).collect()
}

fn dismissed(findings: &[Finding]) -> Vec<String> {
    let reasons = findings.iter().map(|f| f.dismissal.as_deref().unwrap_or("no reason"));
    let named = findings.iter().zip(reasons).map(|(finding, reason)| {
        let place = finding.place().map(|place| format!(" ({})", plain::code(&place)));
        let title = plain::markdown(&finding.title);
        format!("{title}{}: {}", place.unwrap_or_default(), plain::markdown(reason))
    });
    named.collect()
}

fn escaped(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| plain::markdown(text)).collect()
}

fn aside(title: &str, items: &[String]) -> Option<String> {
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
