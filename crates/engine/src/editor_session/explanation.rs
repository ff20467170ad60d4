//! The history of a finding as text: [`describe`].

use assay_findings::finding::Finding;
use assay_store::ledger::query::{History, RunOutcome};

/// Returns the text for a finding that no stored review has.
pub(super) fn describe_unstored(finding: &Finding) -> String {
    format!("{}\nNo stored review has this finding yet; `assay review` stores one.", finding.title)
}

/// Returns the history of a finding: a line for its state, one for each review and vote, and one
/// for each decision.
pub(super) fn describe(history: &History) -> String {
    let entry = &history.entry;
    let place = match (&entry.file, entry.line) {
        (Some(file), Some(line)) => format!("{file}:{line}"),
        (Some(file), None) => file.clone(),
        (None, _) => "the change".to_owned(),
    };
    let mut lines = vec![
        entry.title.clone(),
        format!("{} {} at {place}, id {}", entry.state.as_str(), entry.severity, entry.id),
        format!("first seen {}, last seen {}", entry.first_seen, entry.last_seen),
    ];
    lines.extend(history.looks.iter().flat_map(describe_run));
    lines.extend(history.decisions.iter().map(|decision| {
        let until = decision.until.as_ref().map(|day| format!(" until {day}"));
        let ended = decision.ended.map(|at| format!("; reopened {at}"));
        let (until, ended) = (until.unwrap_or_default(), ended.unwrap_or_default());
        format!("dismissed{until} by {} {}: {}{ended}", decision.by, decision.at, decision.reason)
    }));
    lines.join("\n")
}

fn describe_run(look: &RunOutcome) -> Vec<String> {
    let why = look.why.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let outcome = format!("{:?}", look.outcome).to_lowercase();
    let mut lines =
        vec![format!("run {} ({}, {}): {outcome}{why}", look.run, look.change, look.verdict)];
    lines.extend(look.votes.iter().map(|vote| {
        let sure = vote.confidence.map(|sure| format!(", confidence {sure}")).unwrap_or_default();
        format!("  {}: {}{sure}", vote.reviewer, vote.severity)
    }));
    lines
}
