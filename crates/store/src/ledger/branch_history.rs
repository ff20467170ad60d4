//! The findings of all runs of one branch or pull request: [`BranchFinding`].

use std::collections::HashMap;

use rusqlite::named_params;

use super::query::{ENTRY, FindingEntry, STATE, entry};
use super::{FindingKey, FindingOutcome, FindingState, Ledger, LedgerError};

/// A finding that a run of a branch reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchFinding {
    /// The summary of the finding.
    pub entry: FindingEntry,
    /// The outcomes in the runs of the branch, the oldest first.
    pub outcomes: Vec<FindingOutcome>,
    /// The reason of the dismissal; `None` if the finding is not dismissed.
    pub reason: Option<String>,
}

impl Ledger {
    /// Returns the findings that runs of a branch or pull request reported or left alone, the worst
    /// first; `today` is a day such as `2026-12-31`, by which temporary dismissals may have ended.
    pub fn branch_findings(
        &self,
        branch: &str,
        today: &str,
        limit: usize,
    ) -> Result<Vec<BranchFinding>, LedgerError> {
        let mut outcomes = self.branch_outcomes(branch)?;
        let sql = format!(
            "SELECT {ENTRY}, {STATE} AS state,
                    coalesce(
                        (SELECT reason FROM dismissals
                         WHERE dismissals.finding = findings.key AND ended IS NULL),
                        (SELECT looks.why FROM looks JOIN runs ON runs.id = looks.run
                         WHERE looks.finding = findings.key AND looks.why IS NOT NULL
                         ORDER BY runs.at DESC LIMIT 1)) AS why
             FROM findings
             WHERE key IN (SELECT looks.finding FROM looks JOIN runs ON runs.id = looks.run
                           WHERE runs.branch = :branch
                             AND looks.outcome IN ('raised', 'left_alone'))
             ORDER BY impact, file, line NULLS FIRST, key LIMIT :limit"
        );
        let entries: Vec<(FindingEntry, Option<String>)> = self.query(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let values = named_params! { ":branch": branch, ":today": today, ":limit": limit };
            let rows = statement.query_map(values, |row| Ok((entry(row)?, row.get("why")?)))?;
            rows.collect()
        })?;
        let findings = entries.into_iter().map(|(entry, reason)| BranchFinding {
            outcomes: outcomes.remove(&entry.key).unwrap_or_default(),
            reason: reason.filter(|_| entry.state == FindingState::Dismissed),
            entry,
        });
        Ok(findings.collect())
    }

    /// Returns the outcomes of all findings in the runs of a branch, the oldest first.
    fn branch_outcomes(
        &self,
        branch: &str,
    ) -> Result<HashMap<FindingKey, Vec<FindingOutcome>>, LedgerError> {
        let sql = "SELECT looks.finding, looks.outcome FROM looks
            JOIN runs ON runs.id = looks.run
            WHERE runs.branch = ?1 ORDER BY runs.at, runs.id";
        let looks: Vec<(FindingKey, FindingOutcome)> = self.query(|connection| {
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([branch], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect()
        })?;
        let mut outcomes: HashMap<FindingKey, Vec<FindingOutcome>> = HashMap::new();
        for (finding, outcome) in looks {
            outcomes.entry(finding).or_default().push(outcome);
        }
        Ok(outcomes)
    }
}
