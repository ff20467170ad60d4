//! Adding a review to the ledger: [`Run`], its findings, and the findings that are gone.

use rusqlite::{OptionalExtension, Transaction, named_params, params};
use serde::Serialize;

use super::{FindingKey, Ledger, LedgerError, Outcome};
use crate::task::Moment;

/// A stored review.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The unique id of the run.
    pub id: String,
    /// The time of the run.
    pub at: Moment,
    /// The reviewed change, in words.
    pub change: String,
    /// The branch or pull request of the change; `None` if unknown.
    pub branch: Option<String>,
    /// The head commit of the change; `None` if unknown.
    pub head: Option<String>,
    /// The verdict of the review.
    pub verdict: String,
    /// True if all required reviewers finished.
    pub complete: bool,
    /// The cost of the review.
    pub cost: Cost,
}

/// The cost of a review; all zero if no model was called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Cost {
    /// The number of model calls.
    pub calls: u64,
    /// The number of answers from the cache.
    pub kept_answers: u64,
    /// The number of input and output tokens.
    pub tokens: u64,
    /// The cost in US dollars; `None` if prices are unknown.
    pub usd: Option<f64>,
    /// True if the cost is an upper bound.
    pub at_most: bool,
}

/// A finding as a run saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// The id that the run gave the finding.
    pub id: String,
    /// The fingerprint, by which later runs recognise the finding.
    pub fingerprint: String,
    /// The file; empty for the change as a whole.
    pub file: String,
    /// A removed file from which the code moved to `file`; `None` if it did not move.
    pub moved_from: Option<String>,
    /// The line; `None` if the finding has no line.
    pub line: Option<u32>,
    /// The title.
    pub title: String,
    /// The severity, as the review wrote it.
    pub severity: String,
    /// The severity as a number, from 0 (worst) to 6.
    pub impact: u8,
    /// The category.
    pub category: String,
    /// The rule that found the defect; `None` if no rule did.
    pub rule: Option<String>,
    /// The outcome of the finding in the run.
    pub outcome: Outcome,
    /// The reason of the dismissal; `None` if the finding is not dismissed.
    pub why: Option<String>,
    /// The digest of the base version of the file; `None` if unknown.
    pub before: Option<String>,
    /// The finding as JSON.
    pub finding: String,
    /// The votes for the finding.
    pub votes: Vec<Said>,
}

/// The vote of a reviewer for a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The name of the reviewer.
    pub reviewer: String,
    /// The position among the votes of the reviewer, counted from 0.
    pub number: usize,
    /// The severity, as the reviewer wrote it.
    pub severity: String,
    /// The confidence in per cent; `None` if the reviewer gave none.
    pub confidence: Option<u8>,
    /// The vote as JSON.
    pub vote: String,
}

/// A finding that is dismissed by an entry outside of the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// The fingerprint of the finding.
    pub fingerprint: String,
    /// The file; empty for the change as a whole.
    pub file: String,
    /// The author and reason of the dismissal.
    pub why: String,
}

/// The effect of recording a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// The run was added.
    Now,
    /// The run existed already, and nothing was changed.
    Before,
}

impl Ledger {
    /// Adds a run with its findings and the findings that it found absent. A run that exists
    /// already is not changed.
    ///
    /// A finding that was held back, or present before the change, is recorded only if the ledger
    /// has it already; it adds no new finding.
    pub fn record(
        &mut self,
        run: &Run,
        sightings: &[Sighting],
        absent: &[FindingKey],
    ) -> Result<Recorded, LedgerError> {
        self.write(|transaction| {
            if !add_run(transaction, run)? {
                return Ok(Recorded::Before);
            }
            for sighting in sightings {
                if let Some(key) = key_of(transaction, run, sighting)? {
                    add_sighting(transaction, run, key, sighting)?;
                }
            }
            for key in absent {
                add_absence(transaction, run, *key)?;
            }
            Ok(Recorded::Now)
        })
    }

    /// Marks findings of a run as dismissed by an entry outside of the ledger: in a file that the
    /// next review reads.
    pub fn leave_alone(&mut self, run: &str, left: &[Left]) -> Result<(), LedgerError> {
        self.write(|transaction| {
            for Left { fingerprint, file, why } in left {
                transaction.execute(
                    "UPDATE looks SET outcome = ?4, why = ?5 WHERE run = ?3 AND finding =
                     (SELECT key FROM findings WHERE fingerprint = ?1 AND file = ?2)",
                    params![fingerprint, file, run, Outcome::LeftAlone, why],
                )?;
                transaction.execute(
                    "UPDATE findings SET outcome = ?4
                     WHERE fingerprint = ?1 AND file = ?2 AND looked_by = ?3",
                    params![fingerprint, file, run, Outcome::LeftAlone],
                )?;
            }
            Ok(())
        })
    }
}

fn add_run(transaction: &Transaction<'_>, run: &Run) -> rusqlite::Result<bool> {
    let added = transaction.execute(
        "INSERT INTO runs (id, at, change, branch, head, verdict, complete,
                           calls, kept_answers, tokens, usd, at_most)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         ON CONFLICT (id) DO NOTHING",
        params![
            run.id,
            run.at,
            run.change,
            run.branch,
            run.head,
            run.verdict,
            run.complete,
            whole(run.cost.calls),
            whole(run.cost.kept_answers),
            whole(run.cost.tokens),
            run.cost.usd,
            run.cost.at_most,
        ],
    )?;
    Ok(added == 1)
}

/// Converts a count for SQL, which has no larger numbers. Real counts never exceed `i64::MAX`.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the key of a finding, and adds the finding if it was reported for the first time.
fn key_of(
    transaction: &Transaction<'_>,
    run: &Run,
    sighting: &Sighting,
) -> rusqlite::Result<Option<FindingKey>> {
    let find = "SELECT key FROM findings WHERE fingerprint = ?1 AND file = ?2";
    let mut find = transaction.prepare_cached(find)?;
    let mut at = |file: &str| {
        find.query_row([&sighting.fingerprint, file], |row| row.get::<_, FindingKey>(0)).optional()
    };
    if let Some(key) = at(&sighting.file)? {
        return Ok(Some(key));
    }
    if let Some(before) = &sighting.moved_from
        && let Some(key) = at(before)?
    {
        let go = "UPDATE findings SET file = ?2 WHERE key = ?1";
        transaction.execute(go, params![key, sighting.file])?;
        return Ok(Some(key));
    }
    match sighting.outcome {
        Outcome::Raised | Outcome::LeftAlone => add_finding(transaction, run, sighting).map(Some),
        Outcome::HeldBack | Outcome::PreExisting | Outcome::Absent => Ok(None),
    }
}

fn add_finding(
    transaction: &Transaction<'_>,
    run: &Run,
    sighting: &Sighting,
) -> rusqlite::Result<FindingKey> {
    let mut add = transaction.prepare_cached(
        "INSERT INTO findings (id, fingerprint, file, line, title, severity, impact, category, rule,
                               finding, first_seen, last_seen, seen_by, last_look, looked_by, outcome)
         VALUES (:id, :fingerprint, :file, :line, :title, :severity, :impact, :category, :rule,
                 :finding, :at, :at, :run, :at, :run, :outcome)",
    )?;
    add.execute(named_params! {
        ":id": sighting.id,
        ":fingerprint": sighting.fingerprint,
        ":file": sighting.file,
        ":line": sighting.line,
        ":title": sighting.title,
        ":severity": sighting.severity,
        ":impact": sighting.impact,
        ":category": sighting.category,
        ":rule": sighting.rule,
        ":finding": sighting.finding,
        ":at": run.at,
        ":run": run.id,
        ":outcome": sighting.outcome,
    })?;
    Ok(FindingKey(transaction.last_insert_rowid()))
}

fn add_sighting(
    transaction: &Transaction<'_>,
    run: &Run,
    key: FindingKey,
    sighting: &Sighting,
) -> rusqlite::Result<()> {
    let mut add = transaction.prepare_cached(
        "INSERT INTO looks (run, finding, outcome, called, file, line, before, why)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
    )?;
    let Sighting { outcome, id, file, line, before, why, .. } = sighting;
    if add.execute(params![run.id, key, outcome, id, file, line, before, why])? == 0 {
        // The run reported the finding twice; the first report counts.
        return Ok(());
    }
    for said in &sighting.votes {
        add_vote(transaction, run, key, said)?;
    }
    let earlier = "UPDATE findings SET first_seen = min(first_seen, ?2) WHERE key = ?1";
    transaction.prepare_cached(earlier)?.execute(params![key, run.at])?;
    // An older run that is recorded late must not hide the result of a newer one.
    let mut newest = transaction.prepare_cached(
        "UPDATE findings
         SET id = :id, line = :line, title = :title, severity = :severity, impact = :impact,
             category = :category, rule = :rule, finding = :finding, last_seen = :at, seen_by = :run
         WHERE key = :key AND (last_seen, seen_by) <= (:at, :run)",
    )?;
    newest.execute(named_params! {
        ":key": key,
        ":id": sighting.id,
        ":line": sighting.line,
        ":title": sighting.title,
        ":severity": sighting.severity,
        ":impact": sighting.impact,
        ":category": sighting.category,
        ":rule": sighting.rule,
        ":finding": sighting.finding,
        ":at": run.at,
        ":run": run.id,
    })?;
    looked(transaction, run, key, sighting.outcome)
}

fn add_vote(
    transaction: &Transaction<'_>,
    run: &Run,
    key: FindingKey,
    said: &Said,
) -> rusqlite::Result<()> {
    let mut add = transaction.prepare_cached(
        "INSERT INTO votes (run, finding, reviewer, number, severity, confidence, vote)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
    )?;
    let number = whole(said.number as u64);
    let Said { reviewer, severity, confidence, vote, .. } = said;
    add.execute(params![run.id, key, reviewer, number, severity, confidence, vote])?;
    Ok(())
}

fn add_absence(transaction: &Transaction<'_>, run: &Run, key: FindingKey) -> rusqlite::Result<()> {
    let mut add = transaction.prepare_cached(
        "INSERT INTO looks (run, finding, outcome) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
    )?;
    // A finding that the run saw is not absent.
    match add.execute(params![run.id, key, Outcome::Absent])? {
        0 => Ok(()),
        _ => looked(transaction, run, key, Outcome::Absent),
    }
}

/// Updates the state of a finding, if this run is the newest that checked it.
fn looked(
    transaction: &Transaction<'_>,
    run: &Run,
    key: FindingKey,
    outcome: Outcome,
) -> rusqlite::Result<()> {
    let mut newest = transaction.prepare_cached(
        "UPDATE findings SET last_look = ?2, looked_by = ?3, outcome = ?4
         WHERE key = ?1 AND (last_look, looked_by) <= (?2, ?3)",
    )?;
    newest.execute(params![key, run.at, run.id, outcome])?;
    Ok(())
}
