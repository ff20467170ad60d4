//! Differences between two runs, and their causes: [`compare`].

use std::collections::BTreeMap;

use assay_findings::finding::Finding;
use assay_findings::synthesis::Synthesis;
use serde::Serialize;

use crate::runs::RunProvenance;

/// A run, as far as it can be compared.
#[derive(Debug)]
pub struct ComparedRun {
    /// The synthesis.
    pub synthesis: Synthesis,
    /// The reviewers and versions that the run was made with.
    pub provenance: RunProvenance,
}

/// The differences between two runs.
#[derive(Debug, Default, PartialEq, Serialize)]
pub struct Comparison {
    /// The findings that differ.
    pub findings: Vec<Difference>,
    /// Both verdicts, in words; `None` if they are equal.
    pub verdicts: Option<(String, String)>,
    /// The differences in reviewers and versions, whether they changed a finding or not.
    pub causes: Vec<String>,
}

/// A finding that differs between two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The kind of difference.
    pub how: DifferenceKind,
    /// The title of the finding.
    pub title: String,
    /// The location of the finding; `None` if it has none.
    pub place: Option<String>,
    /// Possible causes, the most specific first.
    pub because: Vec<String>,
}

/// The kind of difference of a finding between two runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// Only the first run has the finding.
    Gone,
    /// Only the second run has the finding.
    Came,
    /// Both runs have the finding with different weights: the first and the second weight.
    Changed(String, String),
}

/// Compares two runs.
pub fn compare(first: &ComparedRun, second: &ComparedRun) -> Comparison {
    let (before, after) = (by_key(&first.synthesis), by_key(&second.synthesis));
    let mut findings = Vec::new();
    for (key, (finding, list)) in &before {
        let how = match after.get(key) {
            None => DifferenceKind::Gone,
            Some((other, list_after)) => {
                let (was, is) = (weight(finding, list), weight(other, list_after));
                if was == is {
                    continue;
                }
                DifferenceKind::Changed(was, is)
            }
        };
        findings.push(difference(how, finding, first, second));
    }
    let came = after.iter().filter(|(key, _)| !before.contains_key(*key));
    findings.extend(came.map(|(_, (f, _))| difference(DifferenceKind::Came, f, first, second)));
    let verdict = |run: &ComparedRun| run.synthesis.verdict.state.in_words().to_owned();
    let verdicts = (verdict(first), verdict(second));
    let names = roster_causes(first, second);
    let mut causes: Vec<String> = general_causes(first, second).into_iter().collect();
    causes.extend(names.iter().flat_map(|name| reviewer_causes(name, None, first, second)));
    Comparison { findings, verdicts: Some(verdicts).filter(|(a, b)| a != b), causes }
}

type FindingsByKey<'a> = BTreeMap<(String, String), (&'a Finding, &'static str)>;

/// Returns the findings by the key that identifies them, each with the list that it is in.
fn by_key(synthesis: &Synthesis) -> FindingsByKey<'_> {
    let lists = [
        ("open", &synthesis.findings),
        ("held back", &synthesis.held_back),
        ("left alone", &synthesis.dismissed),
    ];
    let keyed = lists.into_iter().flat_map(|(list, findings)| {
        findings.iter().map(move |finding| {
            let file = finding.file.as_ref().map(ToString::to_string).unwrap_or_default();
            ((file, finding.fingerprint.clone()), (finding, list))
        })
    });
    keyed.collect()
}

fn weight(finding: &Finding, list: &str) -> String {
    let second = finding.validation.as_ref();
    let second = second.map(|look| format!(", {}", look.state.as_str())).unwrap_or_default();
    format!("{list}, {} at {}{second}", finding.severity, finding.confidence.percent())
}

fn difference(
    how: DifferenceKind,
    finding: &Finding,
    first: &ComparedRun,
    second: &ComparedRun,
) -> Difference {
    let rule = finding.rule.as_deref();
    let mut because: Vec<String> = finding
        .reviewers
        .iter()
        .flat_map(|name| reviewer_causes(name, rule, first, second))
        .collect();
    because.extend(general_causes(first, second));
    if because.is_empty() {
        because.push("no recorded cause; a model may answer differently each time".into());
    }
    Difference { how, title: finding.title.clone(), place: finding.place(), because }
}

/// Returns the causes that apply to every reviewer.
fn general_causes(first: &ComparedRun, second: &ComparedRun) -> Vec<String> {
    let (a, b) = (&first.provenance, &second.provenance);
    let mut causes = Vec::new();
    if a.change != b.change {
        causes.push("the change is different".to_owned());
    }
    if a.assay != b.assay {
        causes.push(format!("the version of assay is {}, was {}", b.assay, a.assay));
    }
    causes
}

fn roster_causes(first: &ComparedRun, second: &ComparedRun) -> Vec<String> {
    let names =
        |run: &ComparedRun| run.provenance.reviewers.keys().cloned().collect::<Vec<String>>();
    let mut all = [names(first), names(second)].concat();
    all.sort();
    all.dedup();
    all
}

/// Returns the differences of a reviewer; of its rules, only those that concern `rule` if one is
/// given.
fn reviewer_causes(
    name: &str,
    rule: Option<&str>,
    first: &ComparedRun,
    second: &ComparedRun,
) -> Vec<String> {
    let failure = |run: &ComparedRun| {
        let report = run.synthesis.reports.iter().find(|report| report.reviewer == name);
        report.and_then(|report| report.unusable.clone())
    };
    let (was, is) = (first.provenance.reviewers.get(name), second.provenance.reviewers.get(name));
    let (Some(was), Some(is)) = (was, is) else {
        return match (was, is) {
            (None, Some(_)) => vec![format!("`{name}` is not part of the first run")],
            (Some(_), None) => vec![format!("`{name}` is not part of the second run")],
            _ => Vec::new(),
        };
    };
    let mut causes = Vec::new();
    if let Some(why) = failure(first) {
        causes.push(format!("`{name}` gave nothing usable in the first run: {why}"));
    }
    if let Some(why) = failure(second) {
        causes.push(format!("`{name}` gave nothing usable in the second run: {why}"));
    }
    let mut parts: Vec<&String> = was.keys().chain(is.keys()).collect();
    parts.sort();
    parts.dedup();
    for part in parts {
        // A rule of a repository is identified by its file and not by its name.
        let concerns =
            rule.is_none_or(|rule| part == rule || !part.contains('/') || part.starts_with('.'));
        let (was, is) = (was.get(part), is.get(part));
        if was != is && concerns {
            causes.push(describe_change(name, part, was, is));
        }
    }
    causes
}

fn describe_change(name: &str, part: &str, was: Option<&String>, is: Option<&String>) -> String {
    match (part, was, is) {
        ("model", Some(was), Some(is)) => format!("`{name}` used the model {is}, before {was}"),
        ("persona", _, _) => format!("the prompt of `{name}` has changed"),
        (rule, None, Some(_)) => format!("the rule `{rule}` is new"),
        (rule, Some(_), None) => format!("the rule `{rule}` was removed"),
        (rule, _, _) => format!("the rule `{rule}` has changed"),
    }
}
