//! The newest stored review: [`LastRun`].

use assay_change::state::State;
use assay_findings::synthesis::Synthesis;
use assay_review::runs::{self, RunError, StoredFix};

use crate::wording::count;

/// The verdict of the newest stored review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LastRun {
    /// The id of the run.
    pub id: String,
    /// The verdict in words, such as `not ready`.
    pub verdict: &'static str,
    /// The reasons of the verdict; the deciding one comes first.
    pub reasons: Vec<String>,
    /// The number of open findings with each severity, such as `2 findings: 1 HIGH, 1 LOW`.
    pub summary: String,
}

/// Returns the newest stored review with its fixes; `None` if there is none. Fails if it has no
/// authority.
pub(super) fn find(state: &State) -> Result<Option<(LastRun, Vec<StoredFix>)>, RunError> {
    let folder = match runs::find(state, None) {
        Err(RunError::NoneYet) => return Ok(None),
        found => found?,
    };
    let id = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Some((describe(id, &runs::synthesis(&folder)?), runs::fixes(&folder)?)))
}

fn describe(id: String, synthesis: &Synthesis) -> LastRun {
    let verdict = &synthesis.verdict;
    LastRun {
        id,
        verdict: verdict.state.in_words(),
        reasons: verdict.because.iter().map(|reason| reason.text.clone()).collect(),
        summary: summarize(synthesis),
    }
}

fn summarize(synthesis: &Synthesis) -> String {
    let counts = &synthesis.counts;
    let total = count(counts.findings, "finding");
    let levels = assay_findings::grade::SEVEN_LEVELS.iter().filter_map(|level| {
        let number = counts.by_severity.get(*level)?;
        Some(format!("{number} {level}"))
    });
    let levels: Vec<String> = levels.collect();
    if levels.is_empty() { total } else { format!("{total}: {}", levels.join(", ")) }
}
