//! Open findings of earlier reviews, placed on the current lines: [`read`] and [`place_all`].

use std::collections::BTreeSet;

use anyhow::Context;
use assay_change::Change;
use assay_findings::finding::{Finding, GroundingMark};
use assay_findings::grounding::{Grounder, Tree};
use assay_findings::identity::line_hashes;
use assay_findings::report::{Reviewer, ReviewerKind};
use assay_findings::vote::{LineRange, Vote};
use assay_review::ledger;
use assay_review::runs::StoredFix;
use assay_rules::{REVIEWER, RedactedTree};
use assay_store::ledger::query::{FindingEntry, FindingFilter, History};
use assay_store::ledger::{FindingOutcome, FindingState};

use super::{EditorFinding, FindingSource};
use crate::dates::today;
use crate::environment::Environment;

/// The results of grounding after which the code of a finding is not in its file any more.
const GONE: [GroundingMark; 4] = [
    GroundingMark::FileNotFound,
    GroundingMark::FileUnreadable,
    GroundingMark::QuoteNotFound,
    GroundingMark::LineBeyondEnd,
];

/// Reads the open findings of models and analysers in the files of a change from the ledger. A
/// finding of the rules is left out, since the rules read the current text.
pub(super) fn read(environment: &Environment, change: &Change) -> anyhow::Result<Vec<Finding>> {
    let state = environment.state_of(&change.root);
    let Some(ledger) = ledger::open_read_only(&state)? else { return Ok(Vec::new()) };
    let day = today(environment.clock()).map(String::from).context("there is no day today")?;
    let files: BTreeSet<&str> =
        change.files.iter().filter_map(|file| file.new_path.as_deref()).collect();
    let is_here = |entry: &FindingEntry| {
        let by_rules = entry.reviewers.iter().any(|name| name == REVIEWER);
        !by_rules && entry.file.as_deref().is_some_and(|file| files.contains(file))
    };
    let filter = FindingFilter { state: Some(FindingState::Open), ..FindingFilter::default() };
    let mut found = Vec::new();
    for entry in ledger.list(&filter, &day)?.iter().filter(|entry| is_here(entry)) {
        found.extend(reported(ledger.history(entry.key, &day)?));
    }
    Ok(found)
}

/// Returns the finding of a history if the last run that checked it reported it.
fn reported(history: History) -> Option<Finding> {
    let is_raised = history.looks.last()?.outcome == FindingOutcome::Raised;
    serde_json::from_value(history.finding).ok().filter(|_| is_raised)
}

/// Places findings on the lines of a change. A finding whose code is gone is left out.
pub(super) fn place_all<'a>(
    findings: impl Iterator<Item = &'a Finding>,
    change: &Change,
    fixes: &[StoredFix],
) -> Vec<EditorFinding> {
    // Models saw redacted text, so their quotes are looked up in redacted text.
    let redacted = RedactedTree(change.tree());
    let ground = Grounder::new(Some(&redacted), None);
    let placed = findings.filter_map(|finding| place(finding, &redacted, &ground));
    placed
        .map(|finding| EditorFinding {
            fix: fixes.iter().find(|fix| fix.finding == finding.id).cloned(),
            source: FindingSource::StoredReview,
            finding,
        })
        .collect()
}

/// Returns a finding at its current place: where its quotes are, or its line if it quotes nothing.
fn place(finding: &Finding, tree: &dyn Tree, ground: &Grounder<'_>) -> Option<Finding> {
    let lines = LineRange::range(finding.line?, finding.end_line.or(finding.line)?)?;
    let mut vote = Vote::new(finding.title.clone(), finding.grade.clone());
    vote.file = finding.file.clone();
    vote.lines = Some(lines);
    vote.evidence = finding.evidence.clone();
    let reviewer = Reviewer::new("stored", ReviewerKind::Persona);
    let grounded = ground.check(&vote, &reviewer, (0, 0));
    if grounded.marks.iter().any(|mark| GONE.contains(mark)) || grounded.file != finding.file {
        return None;
    }
    let now = match grounded.marks.contains(&GroundingMark::NoQuote) {
        true => place_by_line(finding, tree, lines)?,
        false => grounded.lines?,
    };
    let moved = now.start() != lines.start();
    Some(Finding {
        line: Some(now.start()),
        end_line: finding.end_line.map(|_| now.end()),
        // The column belongs to the line as the reviewer saw it.
        column: finding.column.filter(|_| !moved),
        ..finding.clone()
    })
}

/// Returns the lines of a finding without quotes, found by the hash of its first line.
fn place_by_line(finding: &Finding, tree: &dyn Tree, lines: LineRange) -> Option<LineRange> {
    let wanted = finding.line_hash.as_deref()?;
    let text = tree.read(finding.file.as_ref()?).ok()??;
    let at = line_hashes(&text).iter().position(|hash| hash == wanted)?;
    Some(lines.moved_to(u32::try_from(at).ok()? + 1))
}
