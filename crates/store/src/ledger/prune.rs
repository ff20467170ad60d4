//! Removal of old findings and runs: [`Ledger::prune`].
//!
//! Only a finding that is gone, and that was never dismissed, can be removed: open findings and
//! decisions with their reasons stay. A run stays while the ledger has an outcome of it.

use rusqlite::named_params;

use super::sql::{SqlConnection, SqlResult};
use super::{FindingKey, Ledger, LedgerError};
use crate::task::Moment;

/// The effect of [`Ledger::prune`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PruneMode {
    /// The rows are removed.
    Remove,
    /// The rows are counted, and stay.
    Count,
}

/// The numbers of old findings and runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PruneCounts {
    /// The findings.
    pub findings: usize,
    /// The runs.
    pub runs: usize,
}

/// The findings that can be removed, as an SQL condition.
const OLD_FINDING: &str = "findings.outcome = 'absent' AND findings.last_look < :before
    AND NOT EXISTS (SELECT 1 FROM dismissals WHERE dismissals.finding = findings.key)
    AND NOT EXISTS (SELECT 1 FROM looks AS seen
                    WHERE seen.finding = findings.key AND seen.outcome = 'left_alone')";

impl Ledger {
    /// Removes the findings that were last checked before a time, are gone and were never
    /// dismissed, and the runs before the time without other findings.
    pub fn prune(&mut self, before: Moment, mode: PruneMode) -> Result<PruneCounts, LedgerError> {
        let select = |connection: &SqlConnection| {
            Ok((old_findings(connection, before)?, old_runs(connection, before)?))
        };
        let (findings, runs) = match mode {
            PruneMode::Count => self.query(select)?,
            PruneMode::Remove => self.write(|connection| {
                let (findings, runs) = select(connection)?;
                for key in &findings {
                    remove_finding(connection, *key)?;
                }
                for run in &runs {
                    remove_run(connection, run)?;
                }
                Ok((findings, runs))
            })?,
        };
        Ok(PruneCounts { findings: findings.len(), runs: runs.len() })
    }
}

fn old_findings(connection: &SqlConnection, before: Moment) -> SqlResult<Vec<FindingKey>> {
    let sql = format!("SELECT key FROM findings WHERE {OLD_FINDING}");
    let mut statement = connection.prepare(&sql)?;
    statement.query_map(named_params! { ":before": before }, |row| row.get(0))?.collect()
}

fn old_runs(connection: &SqlConnection, before: Moment) -> SqlResult<Vec<String>> {
    let sql = format!(
        "SELECT id FROM runs WHERE at < :before AND NOT EXISTS (
             SELECT 1 FROM looks JOIN findings ON findings.key = looks.finding
             WHERE looks.run = runs.id AND NOT ({OLD_FINDING}))"
    );
    let mut statement = connection.prepare(&sql)?;
    statement.query_map(named_params! { ":before": before }, |row| row.get(0))?.collect()
}

fn remove_finding(connection: &SqlConnection, key: FindingKey) -> SqlResult<()> {
    for sql in [
        "DELETE FROM finding_authors WHERE finding = ?1",
        "DELETE FROM votes WHERE finding = ?1",
        "DELETE FROM looks WHERE finding = ?1",
        "DELETE FROM findings WHERE key = ?1",
    ] {
        connection.execute(sql, [key])?;
    }
    Ok(())
}

fn remove_run(connection: &SqlConnection, run: &str) -> SqlResult<()> {
    for sql in [
        "DELETE FROM report_costs WHERE run = ?1",
        "DELETE FROM model_costs WHERE run = ?1",
        "DELETE FROM runs WHERE id = ?1",
    ] {
        connection.execute(sql, [run])?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::query::FindingFilter;
    use super::super::tests::{TODAY, also_on_postgres, moment, play, sandbox};
    use super::*;

    also_on_postgres! {
        only_findings_that_are_gone_and_were_never_dismissed_are_removed,
    }

    fn names(ledger: &Ledger) -> Vec<String> {
        let entries = ledger.list(&FindingFilter::default(), TODAY).unwrap();
        let name = |title: &str| title.split(' ').next().unwrap().to_owned();
        let mut names: Vec<String> = entries.iter().map(|entry| name(&entry.title)).collect();
        names.sort();
        names
    }

    #[test]
    fn only_findings_that_are_gone_and_were_never_dismissed_are_removed() {
        let mut sandbox = sandbox();
        let ledger = &mut sandbox.ledger;
        play(
            ledger,
            "0: saw a@x.rs
             1: saw a@x.rs, saw b@x.rs, saw c@x.rs, saw d@x.rs, left e@x.rs
             2: fixed a
             dismiss c
             reopen c
             3: fixed c, fixed e
             9: fixed d",
        );
        // `a` is old, `b` open, `c` was dismissed, `d` was checked later, `e` was left alone.
        let expected = PruneCounts { findings: 1, runs: 2 };
        assert_eq!(ledger.prune(moment(5), PruneMode::Count).unwrap(), expected);
        assert_eq!(names(ledger), ["a", "b", "c", "d", "e"]);
        assert_eq!(ledger.prune(moment(5), PruneMode::Remove).unwrap(), expected);
        assert_eq!(names(ledger), ["b", "c", "d", "e"]);
        assert_eq!(ledger.runs().unwrap(), 3);
        assert_eq!(ledger.prune(moment(5), PruneMode::Remove).unwrap(), PruneCounts::default());
        assert_eq!(ledger.prune(moment(10), PruneMode::Remove).unwrap().findings, 1);
        assert_eq!(names(ledger), ["b", "c", "e"]);
    }
}
