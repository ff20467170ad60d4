//! Copies of a whole ledger, also from one kind of database to the other: [`Ledger::copy_to`].
//!
//! Rows are recognised by their content, so a copy can be repeated, and two ledgers can be merged:
//! a run by its id, a finding by its fingerprint and file, or by a run that reported it in the same
//! place before its file was renamed, a dismissal by its finding, user, reason and time. As after each review, the newest fact decides on a finding. Of several decisions on one
//! finding, dismissals and reopenings, the last one holds.

use std::collections::BTreeSet;

use rusqlite::types::{ToSql, Value};
use rusqlite::{named_params, params};

use super::sql::{OptionalRow, SqlConnection, SqlResult, SqlRow};
use super::{FindingKey, Ledger, LedgerError};
use crate::task::Moment;

/// The number of findings that one transaction copies.
const BATCH_SIZE: usize = 500;

/// The number of rows of one kind in a copy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyCount {
    /// The rows that the target did not have.
    pub copied: u64,
    /// The rows that the target had already.
    pub present: u64,
}

impl CopyCount {
    fn add(&mut self, is_new: bool) {
        match is_new {
            true => self.copied += 1,
            false => self.present += 1,
        }
    }

    fn merge(&mut self, other: CopyCount) {
        self.copied += other.copied;
        self.present += other.present;
    }
}

/// The numbers of rows in a copy of a ledger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyCounts {
    /// The runs, with their costs.
    pub runs: CopyCount,
    /// The findings.
    pub findings: CopyCount,
    /// The outcomes of findings in runs.
    pub outcomes: CopyCount,
    /// The votes of reviewers.
    pub votes: CopyCount,
    /// The dismissals of users.
    pub dismissals: CopyCount,
}

impl CopyCounts {
    fn merge(&mut self, other: CopyCounts) {
        self.runs.merge(other.runs);
        self.findings.merge(other.findings);
        self.outcomes.merge(other.outcomes);
        self.votes.merge(other.votes);
        self.dismissals.merge(other.dismissals);
    }
}

/// A table whose rows are copied as they are, except for the key of the finding.
struct CopiedTable {
    name: &'static str,
    /// The columns. In a table of findings, the first column is the key of the finding.
    columns: &'static str,
    width: usize,
}

const RUNS: CopiedTable = CopiedTable {
    name: "runs",
    columns: "id, at, change, branch, head, verdict, complete, calls, kept_answers, tokens, usd, \
              at_most",
    width: 12,
};

const REPORT_COSTS: CopiedTable = CopiedTable {
    name: "report_costs",
    columns: "run, reviewer, model, calls, kept_answers, tokens, usd, at_most",
    width: 8,
};

const MODEL_COSTS: CopiedTable = CopiedTable {
    name: "model_costs",
    columns: "run, model, calls, kept_answers, tokens, usd, at_most",
    width: 7,
};

const FINDINGS: CopiedTable = CopiedTable {
    name: "findings",
    columns: "key, id, fingerprint, file, line, title, severity, impact, category, rule, finding, \
              first_seen, last_seen, seen_by, last_look, looked_by, outcome",
    width: 17,
};

/// The numbers of columns of a finding.
const FINGERPRINT: usize = 2;
const FILE: usize = 3;
const SEEN_BY: usize = 13;
const LOOKED_BY: usize = 15;

/// The numbers of columns of a look.
const RUN_OF_LOOK: usize = 1;
const FILE_OF_LOOK: usize = 4;

const LOOKS: CopiedTable = CopiedTable {
    name: "looks",
    columns: "finding, run, outcome, called, file, line, before, why, evidence, checkout",
    width: 10,
};

const AUTHORS: CopiedTable =
    CopiedTable { name: "finding_authors", columns: "finding, author", width: 2 };

const VOTES: CopiedTable = CopiedTable {
    name: "votes",
    columns: "finding, run, reviewer, number, severity, confidence, vote",
    width: 7,
};

type RowValues = Vec<Value>;

impl CopiedTable {
    fn read(&self, row: &SqlRow<'_>) -> SqlResult<RowValues> {
        (0..self.width).map(|column| row.get(column)).collect()
    }

    fn rows(&self, connection: &SqlConnection) -> SqlResult<Vec<RowValues>> {
        let sql = format!("SELECT {} FROM {}", self.columns, self.name);
        connection.prepare(&sql)?.query_map(params![], |row| self.read(row))?.collect()
    }

    fn rows_of(
        &self,
        connection: &SqlConnection,
        finding: FindingKey,
    ) -> SqlResult<Vec<RowValues>> {
        self.rows_where(connection, "finding", &finding)
    }

    /// Returns the rows with a value in a column.
    fn rows_where(
        &self,
        connection: &SqlConnection,
        column: &str,
        value: &dyn ToSql,
    ) -> SqlResult<Vec<RowValues>> {
        let sql = format!("SELECT {} FROM {} WHERE {column} = ?1", self.columns, self.name);
        connection.prepare(&sql)?.query_map(params![value], |row| self.read(row))?.collect()
    }

    /// Adds a row. Returns false if the table has the row already.
    fn add(&self, connection: &SqlConnection, row: &[Value]) -> SqlResult<bool> {
        let places: Vec<String> = (1..=self.width).map(|number| format!("?{number}")).collect();
        let (name, columns, places) = (self.name, self.columns, places.join(", "));
        let sql =
            format!("INSERT INTO {name} ({columns}) VALUES ({places}) ON CONFLICT DO NOTHING");
        let values: Vec<&dyn ToSql> = row.iter().map(|value| value as &dyn ToSql).collect();
        Ok(connection.prepare(&sql)?.execute(&values[..])? == 1)
    }

    /// Adds the rows of a finding, which has another key in the target.
    fn add_all(
        &self,
        target: &SqlConnection,
        key: FindingKey,
        rows: &[RowValues],
    ) -> SqlResult<CopyCount> {
        let mut count = CopyCount::default();
        for row in rows {
            let mut row = row.clone();
            row[0] = Value::Integer(key.0);
            count.add(self.add(target, &row)?);
        }
        Ok(count)
    }
}

/// A finding with all of its rows.
struct FindingRows {
    finding: RowValues,
    looks: Vec<RowValues>,
    votes: Vec<RowValues>,
    authors: Vec<RowValues>,
    dismissals: Vec<DismissalRow>,
}

/// A dismissal, without its finding.
struct DismissalRow {
    by: String,
    reason: String,
    at: Moment,
    until: Option<String>,
    ended: Option<Moment>,
    ended_by: Option<String>,
}

impl Ledger {
    /// Copies all runs, findings and dismissals into another ledger. Rows that the target has stay
    /// there. An interrupted copy can be repeated.
    pub fn copy_to(&self, target: &mut Ledger) -> Result<CopyCounts, LedgerError> {
        let runs = self.all_runs()?;
        let added = target.write(|connection| runs.add(connection))?;
        let mut counts = CopyCounts { runs: added, ..CopyCounts::default() };
        let mut copied = runs.ids();
        let mut after = i64::MIN;
        loop {
            let (batch, new_runs) = self.next_findings(after, &copied)?;
            let Some(last) = batch.last() else { return Ok(counts) };
            after = finding_key(last).0;
            counts.merge(target.write(|connection| {
                let runs = new_runs.add(connection)?;
                Ok(CopyCounts { runs, ..add_findings(connection, &batch)? })
            })?);
            copied.extend(new_runs.ids());
        }
    }

    fn all_runs(&self) -> Result<RunRows, LedgerError> {
        self.query(|connection| {
            Ok(RunRows {
                runs: RUNS.rows(connection)?,
                reports: REPORT_COSTS.rows(connection)?,
                models: MODEL_COSTS.rows(connection)?,
            })
        })
    }

    /// Returns the next findings after a key, with the runs that they refer to and that are not
    /// `copied`: another process may record runs during the copy, and a finding cannot be added
    /// before its runs.
    fn next_findings(
        &self,
        after: i64,
        copied: &BTreeSet<String>,
    ) -> Result<(Vec<FindingRows>, RunRows), LedgerError> {
        self.query(|connection| {
            let sql = format!(
                "SELECT {} FROM findings WHERE key > ?1 ORDER BY key LIMIT {BATCH_SIZE}",
                FINDINGS.columns
            );
            let mut statement = connection.prepare(&sql)?;
            let rows = statement.query_map(params![after], |row| FINDINGS.read(row))?;
            let rows: Vec<RowValues> = rows.collect::<SqlResult<_>>()?;
            let rows = rows.into_iter().map(|finding| finding_with_rows(connection, finding));
            let findings: Vec<FindingRows> = rows.collect::<SqlResult<_>>()?;
            // Runs are read after the rows that refer to them.
            let named: BTreeSet<&str> = findings.iter().flat_map(FindingRows::runs).collect();
            let mut runs = RunRows::default();
            for run in named.into_iter().filter(|run| !copied.contains(*run)) {
                runs.runs.extend(RUNS.rows_where(connection, "id", &run)?);
                runs.reports.extend(REPORT_COSTS.rows_where(connection, "run", &run)?);
                runs.models.extend(MODEL_COSTS.rows_where(connection, "run", &run)?);
            }
            Ok((findings, runs))
        })
    }
}

/// Runs with their costs.
#[derive(Default)]
struct RunRows {
    runs: Vec<RowValues>,
    reports: Vec<RowValues>,
    models: Vec<RowValues>,
}

impl RunRows {
    fn ids(&self) -> BTreeSet<String> {
        self.runs.iter().filter_map(|run| text(&run[0])).map(str::to_owned).collect()
    }

    /// Adds the runs that the target does not have.
    fn add(&self, target: &SqlConnection) -> SqlResult<CopyCount> {
        let mut count = CopyCount::default();
        for run in &self.runs {
            count.add(RUNS.add(target, run)?);
        }
        for (table, rows) in [(REPORT_COSTS, &self.reports), (MODEL_COSTS, &self.models)] {
            for row in rows {
                table.add(target, row)?;
            }
        }
        Ok(count)
    }
}

impl FindingRows {
    /// Returns the runs that the rows refer to.
    fn runs(&self) -> impl Iterator<Item = &str> {
        let own = [&self.finding[SEEN_BY], &self.finding[LOOKED_BY]].into_iter();
        let looks = self.looks.iter().map(|look| &look[RUN_OF_LOOK]);
        own.chain(looks).filter_map(text)
    }
}

/// Returns the text of a value; `None` for a value of another type.
fn text(value: &Value) -> Option<&str> {
    match value {
        Value::Text(text) => Some(text),
        Value::Null | Value::Integer(_) | Value::Real(_) | Value::Blob(_) => None,
    }
}

fn finding_with_rows(connection: &SqlConnection, finding: RowValues) -> SqlResult<FindingRows> {
    let key = key_of(&finding);
    Ok(FindingRows {
        looks: LOOKS.rows_of(connection, key)?,
        votes: VOTES.rows_of(connection, key)?,
        authors: AUTHORS.rows_of(connection, key)?,
        dismissals: dismissal_rows(connection, key)?,
        finding,
    })
}

fn finding_key(rows: &FindingRows) -> FindingKey {
    key_of(&rows.finding)
}

fn key_of(finding: &[Value]) -> FindingKey {
    match finding.first() {
        Some(Value::Integer(key)) => FindingKey(*key),
        _ => unreachable!("the first column of a finding is its key"),
    }
}

fn dismissal_rows(connection: &SqlConnection, key: FindingKey) -> SqlResult<Vec<DismissalRow>> {
    let sql = "SELECT by, reason, at, until, ended, ended_by FROM dismissals
               WHERE finding = ?1 ORDER BY at, key";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map(params![key], |row| {
        Ok(DismissalRow {
            by: row.get(0)?,
            reason: row.get(1)?,
            at: row.get(2)?,
            until: row.get(3)?,
            ended: row.get(4)?,
            ended_by: row.get(5)?,
        })
    })?;
    rows.collect()
}

fn add_findings(target: &SqlConnection, batch: &[FindingRows]) -> SqlResult<CopyCounts> {
    let mut counts = CopyCounts::default();
    for rows in batch {
        let (key, is_new) = add_or_update_finding(target, rows)?;
        counts.findings.add(is_new);
        counts.outcomes.merge(LOOKS.add_all(target, key, &rows.looks)?);
        counts.votes.merge(VOTES.add_all(target, key, &rows.votes)?);
        AUTHORS.add_all(target, key, &rows.authors)?;
        for dismissal in &rows.dismissals {
            counts.dismissals.add(add_dismissal(target, key, dismissal)?);
        }
    }
    Ok(counts)
}

/// Adds a finding, or updates it if the copied one is newer. Returns its key, and true if it is
/// new.
fn add_or_update_finding(
    target: &SqlConnection,
    rows: &FindingRows,
) -> SqlResult<(FindingKey, bool)> {
    let finding = &rows.finding;
    let find = "SELECT key FROM findings WHERE fingerprint = ?1 AND file = ?2";
    let identity = params![finding[FINGERPRINT], finding[FILE]];
    let known = target.query_row(find, identity, |row| row.get(0)).optional()?;
    let known = match known {
        Some(key) => Some(key),
        None => find_renamed(target, rows)?,
    };
    if let Some(key) = known {
        update_finding(target, key, finding)?;
        return Ok((key, false));
    }
    let columns = FINDINGS.columns.trim_start_matches("key, ");
    let places: Vec<String> = (1..FINDINGS.width).map(|number| format!("?{number}")).collect();
    let places = places.join(", ");
    let sql = format!("INSERT INTO findings ({columns}) VALUES ({places}) RETURNING key");
    let values: Vec<&dyn ToSql> = finding[1..].iter().map(|value| value as &dyn ToSql).collect();
    let key = target.query_row(&sql, &values[..], |row| row.get(0))?;
    Ok((key, true))
}

/// Returns the finding of the target that has another file, since only one of the ledgers knows of a
/// rename: a run reported both with the same code in the same file.
fn find_renamed(target: &SqlConnection, rows: &FindingRows) -> SqlResult<Option<FindingKey>> {
    let sql = "SELECT findings.key FROM looks JOIN findings ON findings.key = looks.finding
               WHERE looks.run = ?1 AND looks.file = ?2 AND findings.fingerprint = ?3";
    let mut find = target.prepare(sql)?;
    for look in &rows.looks {
        let place = params![look[RUN_OF_LOOK], look[FILE_OF_LOOK], rows.finding[FINGERPRINT]];
        if let Some(key) = find.query_row(place, |row| row.get(0)).optional()? {
            return Ok(Some(key));
        }
    }
    Ok(None)
}

fn update_finding(target: &SqlConnection, key: FindingKey, finding: &[Value]) -> SqlResult<()> {
    let first = "UPDATE findings SET first_seen = ?2 WHERE key = ?1 AND first_seen > ?2";
    target.execute(first, params![key, finding[11]])?;
    let seen = "UPDATE findings
         SET id = :id, line = :line, title = :title, severity = :severity, impact = :impact,
             category = :category, rule = :rule, finding = :finding, last_seen = :at, seen_by = :run,
             file = :file
         WHERE key = :key AND (last_seen, seen_by) <= (:at, :run)";
    let values = named_params! {
        ":key": key,
        ":file": finding[FILE],
        ":id": finding[1],
        ":line": finding[4],
        ":title": finding[5],
        ":severity": finding[6],
        ":impact": finding[7],
        ":category": finding[8],
        ":rule": finding[9],
        ":finding": finding[10],
        ":at": finding[12],
        ":run": finding[13],
    };
    target.execute(seen, values)?;
    let checked = "UPDATE findings SET last_look = ?2, looked_by = ?3, outcome = ?4
                   WHERE key = ?1 AND (last_look, looked_by) <= (?2, ?3)";
    target.execute(checked, params![key, finding[14], finding[15], finding[16]])?;
    Ok(())
}

/// Adds a dismissal. Returns false if the target has the dismissal; its end is copied then.
fn add_dismissal(
    target: &SqlConnection,
    key: FindingKey,
    dismissal: &DismissalRow,
) -> SqlResult<bool> {
    let DismissalRow { by, reason, at, until, ended, ended_by } = dismissal;
    let same = "SELECT key FROM dismissals
                WHERE finding = ?1 AND by = ?2 AND reason = ?3 AND at = ?4";
    let found: Option<i64> =
        target.query_row(same, params![key, by, reason, at], |row| row.get(0)).optional()?;
    if let Some(found) = found {
        let end = "UPDATE dismissals SET ended = ?2, ended_by = ?3
                   WHERE key = ?1 AND ended IS NULL AND CAST(?2 AS BIGINT) IS NOT NULL";
        target.execute(end, params![found, ended, ended_by])?;
        end_earlier(target, key, dismissal)?;
        return Ok(false);
    }
    let (mut ended, mut ended_by) = (*ended, ended_by.clone());
    if ended.is_none()
        && let Some((later, later_by)) = last_end(target, key)?
        && later > *at
    {
        // A user of the target reopened the finding later, or dismissed it again.
        (ended, ended_by) = (Some(later), later_by);
    }
    if ended.is_none()
        && let Some((other_at, other_by)) = active_dismissal(target, key)?
    {
        match other_at > *at {
            // The dismissal of the target replaces the copied one.
            true => (ended, ended_by) = (Some(other_at), Some(other_by)),
            false => {
                let end = "UPDATE dismissals SET ended = ?2, ended_by = ?3
                           WHERE finding = ?1 AND ended IS NULL";
                target.execute(end, params![key, at, by])?;
            }
        }
    }
    target.execute(
        "INSERT INTO dismissals (finding, by, reason, at, until, ended, ended_by)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![key, by, reason, at, until, ended, ended_by],
    )?;
    end_earlier(target, key, dismissal)?;
    Ok(true)
}

/// Ends the dismissal of the target that is in force, if the copied one ended after its start.
fn end_earlier(target: &SqlConnection, key: FindingKey, copied: &DismissalRow) -> SqlResult<()> {
    let Some(ended) = copied.ended else { return Ok(()) };
    let end = "UPDATE dismissals SET ended = ?2, ended_by = ?3
               WHERE finding = ?1 AND ended IS NULL AND at < ?2";
    target.execute(end, params![key, ended, copied.ended_by])?;
    Ok(())
}

/// Returns the last end of a dismissal of a finding, and its user; `None` if none has ended.
fn last_end(
    target: &SqlConnection,
    key: FindingKey,
) -> SqlResult<Option<(Moment, Option<String>)>> {
    let sql = "SELECT ended, ended_by FROM dismissals
               WHERE finding = ?1 AND ended IS NOT NULL ORDER BY ended DESC, key LIMIT 1";
    target.query_row(sql, params![key], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// Returns the time and the user of the dismissal of a finding that is in force.
fn active_dismissal(
    target: &SqlConnection,
    key: FindingKey,
) -> SqlResult<Option<(Moment, String)>> {
    let sql = "SELECT at, by FROM dismissals WHERE finding = ?1 AND ended IS NULL";
    target.query_row(sql, params![key], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

#[cfg(test)]
mod tests {
    use super::super::query::FindingFilter;
    use super::super::tests::{TODAY, also_on_postgres, key, play, sandbox};
    use super::*;

    also_on_postgres! {
        a_copy_has_the_same_histories_and_facts_and_a_second_copy_adds_nothing,
        a_merge_keeps_the_newest_facts_and_the_later_dismissal,
        the_later_decision_holds_after_a_merge,
        a_finding_of_a_renamed_file_is_one_finding_after_a_copy_in_either_direction,
        a_run_that_is_recorded_during_a_copy_is_copied_with_its_findings,
    }

    /// Returns the histories of all findings and the facts of a ledger as text, without keys.
    fn describe(ledger: &Ledger) -> String {
        let mut out = String::new();
        for entry in ledger.list(&FindingFilter::default(), TODAY).unwrap() {
            let history = ledger.history(entry.key, TODAY).unwrap();
            out.push_str(&serde_json::to_string(&history).unwrap());
            out.push('\n');
        }
        let facts = ledger.facts(None, TODAY).unwrap();
        let votes: Vec<(&String, usize)> =
            facts.votes.iter().map(|(name, keys)| (name, keys.len())).collect();
        out + &format!("{:?} {votes:?} {:?}", facts.runs, facts.reviewer_costs)
    }

    const STORY: &str = "1: saw a@x.rs, saw b@x.rs, saw c@y.rs
        2: saw a@x.rs, fixed b
        dismiss a until 2026-12-31
        3: saw a@x.rs>z.rs, left d@y.rs
        dismiss c
        reopen c";

    #[test]
    fn a_copy_has_the_same_histories_and_facts_and_a_second_copy_adds_nothing() {
        // The source is in a file, also if the target is not.
        let folder = tempfile::tempdir().unwrap();
        let mut source = Ledger::open(&folder.path().join("source.db")).unwrap();
        play(&mut source, STORY);
        let mut target = sandbox();
        let counts = source.copy_to(&mut target.ledger).unwrap();
        let copied = |copied| CopyCount { copied, present: 0 };
        let expected = CopyCounts {
            runs: copied(3),
            findings: copied(4),
            outcomes: copied(7),
            votes: copied(6),
            dismissals: copied(2),
        };
        assert_eq!(counts, expected);
        assert_eq!(describe(&target.ledger), describe(&source));
        let again = source.copy_to(&mut target.ledger).unwrap();
        let present = |present| CopyCount { copied: 0, present };
        assert_eq!((again.runs, again.dismissals), (present(3), present(2)));
        assert_eq!(describe(&target.ledger), describe(&source));
        let mut back = Ledger::open(&folder.path().join("back.db")).unwrap();
        target.ledger.copy_to(&mut back).unwrap();
        assert_eq!(describe(&back), describe(&source));
    }

    /// Returns a ledger with a finding that is dismissed and, if a second minute is given, reopened.
    fn decide(ledger: &mut Ledger, dismissed: i64, reopened: Option<i64>) {
        use super::super::decision::DismissalTerms;
        use super::super::tests::moment;
        play(ledger, "1: saw a@x.rs");
        let a = key(ledger, "a");
        let reason = format!("at {dismissed}");
        let terms = DismissalTerms { by: "eve", reason: &reason, until: None };
        ledger.dismiss(&[a], terms, moment(dismissed)).unwrap();
        if let Some(minute) = reopened {
            ledger.reopen(&[a], "bob", moment(minute)).unwrap();
        }
    }

    #[test]
    fn the_later_decision_holds_after_a_merge() {
        let cases = [
            ((5, None), (7, Some(8)), 0),
            ((7, Some(8)), (5, None), 0),
            ((9, None), (7, Some(8)), 1),
            ((7, Some(8)), (9, None), 1),
            ((5, None), (7, None), 1),
        ];
        for (from, to, in_force) in cases {
            let folder = tempfile::tempdir().unwrap();
            let mut source = Ledger::open(&folder.path().join("source.db")).unwrap();
            decide(&mut source, from.0, from.1);
            let mut target = sandbox();
            decide(&mut target.ledger, to.0, to.1);
            for _ in 0..2 {
                source.copy_to(&mut target.ledger).unwrap();
                let active = target.ledger.active_dismissals().unwrap();
                assert_eq!(active.len(), in_force, "{from:?} {to:?} {active:?}");
            }
        }
    }

    #[test]
    fn a_finding_of_a_renamed_file_is_one_finding_after_a_copy_in_either_direction() {
        let before = "1: saw a@x.rs, saw b@x.rs";
        let after = "2: saw a@x.rs>z.rs, saw a@y.rs";
        for is_source_newer in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let mut source = Ledger::open(&folder.path().join("source.db")).unwrap();
            let mut target = sandbox();
            play(&mut source, before);
            play(&mut target.ledger, before);
            play(if is_source_newer { &mut source } else { &mut target.ledger }, after);
            for _ in 0..2 {
                source.copy_to(&mut target.ledger).unwrap();
            }
            let entries = target.ledger.list(&FindingFilter::default(), TODAY).unwrap();
            let mut places: Vec<String> = entries
                .iter()
                .map(|entry| format!("{} {}", &entry.title[..1], entry.file.as_deref().unwrap()))
                .collect();
            places.sort();
            assert_eq!(places, ["a y.rs", "a z.rs", "b x.rs"], "newer: {is_source_newer}");
        }
    }

    #[test]
    fn a_run_that_is_recorded_during_a_copy_is_copied_with_its_findings() {
        let folder = tempfile::tempdir().unwrap();
        let mut source = Ledger::open(&folder.path().join("source.db")).unwrap();
        play(&mut source, "1: saw a@x.rs");
        let runs = source.all_runs().unwrap();
        // The next run comes between the copy of runs and that of findings.
        play(&mut source, "2: saw a@x.rs, saw b@x.rs");
        let (findings, new_runs) = source.next_findings(i64::MIN, &runs.ids()).unwrap();
        let mut target = sandbox();
        target.ledger.write(|connection| runs.add(connection)).unwrap();
        let copied = target.ledger.write(|connection| {
            let runs = new_runs.add(connection)?;
            Ok(CopyCounts { runs, ..add_findings(connection, &findings)? })
        });
        let count = CopyCount { copied: 1, present: 0 };
        assert_eq!((copied.unwrap().runs, new_runs.ids().len()), (count, 1));
        assert_eq!(describe(&target.ledger), describe(&source));
    }

    #[test]
    fn a_merge_keeps_the_newest_facts_and_the_later_dismissal() {
        let folder = tempfile::tempdir().unwrap();
        let mut source = Ledger::open(&folder.path().join("source.db")).unwrap();
        play(&mut source, "1: saw a@x.rs, saw b@x.rs\n5: fixed b\ndismiss a");
        let mut target = sandbox();
        play(&mut target.ledger, "3: saw a@x.rs, saw b@x.rs, saw c@x.rs");
        let a = key(&target.ledger, "a");
        let terms =
            super::super::decision::DismissalTerms { by: "eve", reason: "earlier", until: None };
        let at = super::super::tests::moment(400);
        target.ledger.dismiss(&[a], terms, at).unwrap();
        for _ in 0..2 {
            source.copy_to(&mut target.ledger).unwrap();
        }
        let active = target.ledger.active_dismissals().unwrap();
        assert_eq!(active.iter().map(|one| one.by.as_str()).collect::<Vec<_>>(), ["ada"]);
        let history = target.ledger.history(a, TODAY).unwrap();
        let runs: Vec<&str> = history.looks.iter().map(|look| look.run.as_str()).collect();
        assert_eq!((runs, history.decisions.len()), (vec!["run-001", "run-003"], 2));
        let b = key(&target.ledger, "b");
        assert_eq!(target.ledger.history(b, TODAY).unwrap().entry.state.as_str(), "gone");
        assert_eq!(target.ledger.list(&FindingFilter::default(), TODAY).unwrap().len(), 3);
    }
}
