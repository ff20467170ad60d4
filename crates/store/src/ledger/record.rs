//! Adding a review: [`Run`], what it saw, and what it did not see any more.

use rusqlite::{OptionalExtension, Transaction, named_params, params};
use serde::Serialize;

use super::{FindingKey, Ledger, LedgerError, Outcome};
use crate::task::Moment;

/// A review that was kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Its id, which no other run has.
    pub id: String,
    /// When it was made.
    pub at: Moment,
    /// What was reviewed, in words.
    pub change: String,
    /// The branch or pull request that the change stands on.
    pub branch: Option<String>,
    /// The commit that it stands on.
    pub head: Option<String>,
    /// What it came to.
    pub verdict: String,
    /// Whether everybody who had to look did.
    pub complete: bool,
    /// What it cost.
    pub cost: Cost,
}

/// What a review cost; nothing where no model was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Cost {
    /// How often a model was asked.
    pub calls: u64,
    /// How many answers were there already.
    pub kept_answers: u64,
    /// The tokens that were read and written.
    pub tokens: u64,
    /// The dollars that this comes to, where prices are known.
    pub usd: Option<f64>,
    /// Whether this is only the most it can have been.
    pub at_most: bool,
}

/// A finding as a run saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sighting {
    /// What the run calls it.
    pub id: String,
    /// What it is told again by.
    pub fingerprint: String,
    /// Where; empty for the change as a whole.
    pub file: String,
    /// A file that is no longer there, from which the same code came here.
    pub moved_from: Option<String>,
    /// On which line.
    pub line: Option<u32>,
    /// What it is, in a few words.
    pub title: String,
    /// How bad, in the word it came in.
    pub severity: String,
    /// How bad, from 0 (worst) to 6.
    pub impact: u8,
    /// Of which kind.
    pub category: String,
    /// The rule that found it.
    pub rule: Option<String>,
    /// What became of it in the run.
    pub outcome: Outcome,
    /// Why, where somebody decided to leave it.
    pub why: Option<String>,
    /// What tells with what its file was compared.
    pub before: Option<String>,
    /// All of it, as JSON.
    pub finding: String,
    /// Who said so.
    pub votes: Vec<Said>,
}

/// One reviewer's vote on a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Whose.
    pub reviewer: String,
    /// Which of that reviewer's, counted from 0.
    pub number: usize,
    /// How bad, in that reviewer's word.
    pub severity: String,
    /// How sure, in per cent, where it said so.
    pub confidence: Option<u8>,
    /// All of it, as JSON.
    pub vote: String,
}

/// A finding that is left alone for a reason that stands elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// What it is told again by.
    pub fingerprint: String,
    /// Where it is; empty for the change as a whole.
    pub file: String,
    /// Who decided so, and why.
    pub why: String,
}

/// Whether a run was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recorded {
    /// It was.
    Now,
    /// It was there, and nothing is changed.
    Before,
}

impl Ledger {
    /// Adds a run: what it saw, and the findings for which it looked in vain. A run that is there
    /// already is left as it is.
    ///
    /// What was held back, or was there before its change, is noted of findings that were raised
    /// once, and makes no new one.
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

    /// Notes that what a run raised is left alone from then on, each for a reason that stands
    /// elsewhere: in a file that the next review reads.
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

/// SQL knows no larger numbers, and nobody counts that far.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Finds the row of what was seen, or makes one.
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
        // The run saw it twice; the first of them counts.
        return Ok(());
    }
    for said in &sighting.votes {
        add_vote(transaction, run, key, said)?;
    }
    let earlier = "UPDATE findings SET first_seen = min(first_seen, ?2) WHERE key = ?1";
    transaction.prepare_cached(earlier)?.execute(params![key, run.at])?;
    // An older run that comes late does not cover up what a newer one saw.
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
    // What the run did see is not absent.
    match add.execute(params![run.id, key, Outcome::Absent])? {
        0 => Ok(()),
        _ => looked(transaction, run, key, Outcome::Absent),
    }
}

/// Takes the newest look for what a finding has come to.
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
