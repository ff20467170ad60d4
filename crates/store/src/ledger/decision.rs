//! Dismissals of findings by users, and their end: `Decision`.

use rusqlite::params;
use serde::Serialize;

use super::sql::{SqlConnection, SqlResult};
use super::{FindingKey, Ledger, LedgerError};
use crate::task::Moment;

/// The dismissal of a finding by a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// The user who dismissed the finding.
    pub by: String,
    /// The reason of the dismissal.
    pub reason: String,
    /// The time of the dismissal.
    pub at: Moment,
    /// The last day of the dismissal; `None` for no end.
    pub until: Option<String>,
    /// The time at which the dismissal was revoked or replaced; `None` while it is in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Moment>,
    /// The user who revoked or replaced the dismissal; `None` while it is in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<String>,
}

/// A dismissal that was not revoked, with the data that decide which code it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveDismissal {
    /// The fingerprint of the finding.
    pub fingerprint: String,
    /// The file in which the finding was last seen; empty for the change as a whole.
    pub file: String,
    /// The user who dismissed the finding.
    pub by: String,
    /// The reason of the dismissal.
    pub reason: String,
    /// The last day of the dismissal; `None` for no end.
    pub until: Option<String>,
}

/// The author, reason and last day of a new dismissal.
#[derive(Debug, Clone, Copy)]
pub struct DismissalTerms<'a> {
    /// The user who dismisses the findings.
    pub by: &'a str,
    /// The reason of the dismissal.
    pub reason: &'a str,
    /// The last day of the dismissal, such as `2026-12-31`; `None` for no end.
    pub until: Option<&'a str>,
}

impl Ledger {
    /// Dismisses findings, and replaces earlier dismissals of them.
    pub fn dismiss(
        &mut self,
        findings: &[FindingKey],
        terms: DismissalTerms<'_>,
        at: Moment,
    ) -> Result<(), LedgerError> {
        self.write(|transaction| {
            for key in findings {
                end(transaction, *key, terms.by, at)?;
                transaction.execute(
                    "INSERT INTO dismissals (finding, by, reason, at, until)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![key, terms.by, terms.reason, at, terms.until],
                )?;
            }
            Ok(())
        })
    }

    /// Revokes the dismissals of findings. Returns the findings that had none.
    pub fn reopen(
        &mut self,
        findings: &[FindingKey],
        by: &str,
        at: Moment,
    ) -> Result<Vec<FindingKey>, LedgerError> {
        self.write(|transaction| {
            let mut others = Vec::new();
            for key in findings {
                if end(transaction, *key, by, at)? == 0 {
                    others.push(*key);
                }
            }
            Ok(others)
        })
    }

    /// Returns the dismissals that were not revoked, including those whose last day has passed.
    pub fn active_dismissals(&self) -> Result<Vec<ActiveDismissal>, LedgerError> {
        self.query(|connection| {
            let mut statement = connection.prepare(
                "SELECT fingerprint, file, by, reason, until
                 FROM dismissals JOIN findings ON findings.key = dismissals.finding
                 WHERE ended IS NULL ORDER BY dismissals.key",
            )?;
            let rows = statement.query_map(params![], |row| {
                Ok(ActiveDismissal {
                    fingerprint: row.get(0)?,
                    file: row.get(1)?,
                    by: row.get(2)?,
                    reason: row.get(3)?,
                    until: row.get(4)?,
                })
            })?;
            rows.collect()
        })
    }
}

fn end(transaction: &SqlConnection, key: FindingKey, by: &str, at: Moment) -> SqlResult<usize> {
    transaction.execute(
        "UPDATE dismissals SET ended = ?2, ended_by = ?3 WHERE finding = ?1 AND ended IS NULL",
        params![key, at, by],
    )
}
