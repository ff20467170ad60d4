//! What people decided about findings: dismissing them, and taking that back.

use rusqlite::params;
use serde::Serialize;

use super::{FindingKey, Ledger, LedgerError};
use crate::task::Moment;

/// That somebody decided to leave a finding, and what became of that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Decision {
    /// Who decided.
    pub by: String,
    /// Why.
    pub reason: String,
    /// When.
    pub at: Moment,
    /// The last day on which it holds; for good where there is none.
    pub until: Option<String>,
    /// When it was taken back, or another took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Moment>,
    /// Who did that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_by: Option<String>,
}

/// A dismissal that nobody has taken back, with what tells which code it covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    /// The finding's fingerprint.
    pub fingerprint: String,
    /// The file in which it was last seen; empty for the change as a whole.
    pub file: String,
    /// Who decided.
    pub by: String,
    /// Why.
    pub reason: String,
    /// The last day on which it holds; for good where there is none.
    pub until: Option<String>,
}

/// Why findings are dismissed, and up to which day.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'a> {
    /// Who decides.
    pub by: &'a str,
    /// Why.
    pub reason: &'a str,
    /// The last day on which it holds, such as `2026-12-31`; for good where there is none.
    pub until: Option<&'a str>,
}

impl Ledger {
    /// Dismisses findings; this takes the place of what was decided about them before.
    pub fn dismiss(
        &mut self,
        findings: &[FindingKey],
        terms: Terms<'_>,
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

    /// Takes back what was decided about findings. Gives those about which nothing was.
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

    /// Gives the dismissals that nobody has taken back, also those whose last day has passed.
    pub fn in_force(&self) -> Result<Vec<InForce>, LedgerError> {
        self.ask(|connection| {
            let mut statement = connection.prepare(
                "SELECT fingerprint, file, by, reason, until
                 FROM dismissals JOIN findings ON findings.key = dismissals.finding
                 WHERE ended IS NULL ORDER BY dismissals.key",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(InForce {
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

fn end(
    transaction: &rusqlite::Transaction<'_>,
    key: FindingKey,
    by: &str,
    at: Moment,
) -> rusqlite::Result<usize> {
    transaction.execute(
        "UPDATE dismissals SET ended = ?2, ended_by = ?3 WHERE finding = ?1 AND ended IS NULL",
        params![key, at, by],
    )
}
