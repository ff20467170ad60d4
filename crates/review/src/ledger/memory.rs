//! The history of the files of a change in the ledger, in words: [`memory`].

use std::cmp::Reverse;
use std::collections::HashMap;

use assay_change::{Change, state as work_tree};
use assay_store::ledger::FindingState;
use assay_store::ledger::known_finding::KnownFinding;

use super::{LedgerUseError, open_read_only};
use crate::memory::{Memory, named_files};
use crate::runs;

/// The maximum number of findings of one file.
const MAX_PER_FILE: u32 = 8;

/// Returns the history of the files of a change. Reviews of the same change are left out.
pub fn memory(
    state: &work_tree::State,
    change: &Change,
    today: &str,
) -> Result<Option<Memory>, LedgerUseError> {
    let Some(ledger) = open_read_only(state)? else { return Ok(None) };
    let same = runs::runs_of_change(state, change)?;
    let files = named_files(change);
    let known = ledger.known_findings(files, &same, MAX_PER_FILE, today)?;
    Ok(Memory::of(sort_by_relevance(known).iter().map(describe)))
}

/// Sorts dismissed findings first, then those of several runs, then the rest; the newest of each
/// first. The first of every file comes before the second of any.
fn sort_by_relevance(mut known: Vec<KnownFinding>) -> Vec<KnownFinding> {
    let weight = |it: &KnownFinding| match (it.entry.state, it.runs) {
        (FindingState::Dismissed, _) => 0,
        (FindingState::Open | FindingState::Gone, 2..) => 1,
        (FindingState::Open | FindingState::Gone, _) => 2,
    };
    known.sort_by_key(|it| (weight(it), Reverse(it.last), it.entry.impact, it.entry.key));
    let mut of_file: HashMap<Option<String>, usize> = HashMap::new();
    let mut places: Vec<(usize, KnownFinding)> = Vec::with_capacity(known.len());
    for it in known {
        let place = of_file.entry(it.entry.file.clone()).or_default();
        places.push((*place, it));
        *place += 1;
    }
    places.sort_by_key(|(place, _)| *place);
    places.into_iter().map(|(_, it)| it).collect()
}

fn describe(known: &KnownFinding) -> String {
    let KnownFinding { entry, runs, last, why } = known;
    let file = entry.file.as_deref().unwrap_or("the change");
    let line = entry.line.map(|line| format!(":{line}")).unwrap_or_default();
    let times = if *runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
    let day = last.0.strftime("%Y-%m-%d");
    let became = match (entry.state, why) {
        (FindingState::Open, _) => "still open when somebody last looked".to_owned(),
        (FindingState::Gone, _) => "gone since".to_owned(),
        (FindingState::Dismissed, None) => "dismissed".to_owned(),
        (FindingState::Dismissed, Some(why)) => format!("dismissed: {why}"),
    };
    let (severity, title) = (&entry.severity, &entry.title);
    format!("{file}{line}: {severity} \"{title}\", raised in {times}, last on {day}; {became}")
}
