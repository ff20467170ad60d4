//! Adding a review to the ledger: [`RunRecord`], its findings, and the findings that are gone.

use std::collections::HashSet;

use rusqlite::{named_params, params};
use serde::Serialize;

use super::sql::{OptionalRow, SqlConnection, SqlResult};
use super::{AbsenceEvidence, FindingKey, FindingOutcome, Ledger, LedgerError};
use crate::task::Moment;

/// A stored review.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
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
    pub cost: RunCost,
    /// The cost of each reviewer that called a model.
    pub reports: Vec<ReportCost>,
    /// The cost of each model that was called, second looks included.
    pub models: Vec<ModelCost>,
}

/// The cost of the report of one reviewer.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportCost {
    /// The name of the reviewer.
    pub reviewer: String,
    /// The model with its provider; `None` if it is not known.
    pub model: Option<String>,
    /// The cost of the report.
    pub cost: RunCost,
}

/// The cost of one model in a review.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelCost {
    /// The model with its provider, such as `anthropic/claude-sonnet-4-5`.
    pub model: String,
    /// The cost of all calls of the model.
    pub cost: RunCost,
}

/// A finding that a run found absent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Absence {
    /// The key of the finding.
    pub finding: FindingKey,
    /// The fact that shows the absence.
    pub evidence: AbsenceEvidence,
}

/// The cost of a review; all zero if no model was called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RunCost {
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
pub struct Observation {
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
    pub outcome: FindingOutcome,
    /// The reason of the dismissal; `None` if the finding is not dismissed.
    pub why: Option<String>,
    /// The digest of the base version of the file; `None` if unknown.
    pub before: Option<String>,
    /// The finding as JSON.
    pub finding: String,
    /// The votes for the finding.
    pub votes: Vec<VoteRecord>,
    /// The origin of the code of the finding.
    pub origin: CodeOrigin,
}

/// The origin of the code of a finding.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CodeOrigin {
    /// The author of the line, an email address; `None` if unknown.
    pub author: Option<String>,
    /// The checkout that has the code, if the code is in no commit; `None` for committed code.
    pub checkout: Option<String>,
}

/// The vote of a reviewer for a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteRecord {
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
pub struct ExternalDismissal {
    /// The fingerprint of the finding.
    pub fingerprint: String,
    /// The file; empty for the change as a whole.
    pub file: String,
    /// The author and reason of the dismissal.
    pub why: String,
}

/// The effect of recording a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordOutcome {
    /// The run was added.
    Added,
    /// The run existed already, and nothing was changed.
    Existing,
}

impl Ledger {
    /// Adds a run with its findings and the findings that it found absent. A run that exists
    /// already is not changed. If another run has the id, which is a time, a number is appended to
    /// the id: `20260203-100000-000-2`.
    ///
    /// A finding that was held back, or present before the change, is recorded only if the ledger
    /// has it already; it adds no new finding.
    pub fn record(
        &mut self,
        run: &RunRecord,
        observations: &[Observation],
        absent: &[Absence],
    ) -> Result<RecordOutcome, LedgerError> {
        self.write(|transaction| {
            let Some(run) = &add_under_free_id(transaction, run, observations)? else {
                return Ok(RecordOutcome::Existing);
            };
            add_costs(transaction, run)?;
            for observation in observations {
                if let Some(key) = find_or_add_key(transaction, run, observation)? {
                    add_observation(transaction, run, key, observation)?;
                }
            }
            for absence in absent {
                add_absence(transaction, run, *absence)?;
            }
            Ok(RecordOutcome::Added)
        })
    }

    /// Marks findings of a run as dismissed by an entry outside of the ledger: in a file that the
    /// next review reads.
    pub fn dismiss_externally(
        &mut self,
        run: &str,
        dismissals: &[ExternalDismissal],
    ) -> Result<(), LedgerError> {
        self.write(|transaction| {
            for ExternalDismissal { fingerprint, file, why } in dismissals {
                transaction.execute(
                    "UPDATE looks SET outcome = ?4, why = ?5 WHERE run = ?3 AND finding =
                     (SELECT key FROM findings WHERE fingerprint = ?1 AND file = ?2)",
                    params![fingerprint, file, run, FindingOutcome::LeftAlone, why],
                )?;
                transaction.execute(
                    "UPDATE findings SET outcome = ?4
                     WHERE fingerprint = ?1 AND file = ?2 AND looked_by = ?3",
                    params![fingerprint, file, run, FindingOutcome::LeftAlone],
                )?;
            }
            Ok(())
        })
    }
}

/// Adds a run, under another id if a different run has the id already. Returns the run with its id;
/// `None` if the ledger has the run.
fn add_under_free_id(
    transaction: &SqlConnection,
    run: &RunRecord,
    observations: &[Observation],
) -> SqlResult<Option<RunRecord>> {
    let mut added = run.clone();
    let mut number = 1;
    while !add_run(transaction, &added)? {
        if is_recorded(transaction, &added, observations)? {
            return Ok(None);
        }
        number += 1;
        added.id = format!("{}-{number}", run.id);
    }
    Ok(Some(added))
}

/// Returns true if the run with this id has the same content.
fn is_recorded(
    transaction: &SqlConnection,
    run: &RunRecord,
    observations: &[Observation],
) -> SqlResult<bool> {
    let sql = "SELECT at, change, branch, head, verdict, calls, tokens FROM runs WHERE id = ?1";
    let is_same_run = transaction.query_row(sql, [&run.id], |row| {
        Ok(row.get::<_, i64>("at")? == run.at.0.as_millisecond()
            && row.get::<_, String>("change")? == run.change
            && row.get::<_, Option<String>>("branch")? == run.branch
            && row.get::<_, Option<String>>("head")? == run.head
            && row.get::<_, String>("verdict")? == run.verdict
            && row.get::<_, i64>("calls")? == to_sql_count(run.cost.calls)
            && row.get::<_, i64>("tokens")? == to_sql_count(run.cost.tokens))
    })?;
    Ok(is_same_run && has_findings(transaction, &run.id, observations)?)
}

/// Returns true if the findings of a stored run are those of the observations. An observation that
/// adds no finding may be missing.
fn has_findings(
    transaction: &SqlConnection,
    run: &str,
    observations: &[Observation],
) -> SqlResult<bool> {
    let sql = "SELECT DISTINCT fingerprint FROM looks JOIN findings ON key = looks.finding
               WHERE run = ?1 AND called IS NOT NULL";
    let mut statement = transaction.prepare(sql)?;
    let stored = statement.query_map([run], |row| row.get(0))?;
    let stored: HashSet<String> = stored.collect::<SqlResult<_>>()?;
    let seen: HashSet<&str> = observations.iter().map(|it| it.fingerprint.as_str()).collect();
    let mut added = observations.iter().filter(|it| adds_finding(it.outcome));
    Ok(added.all(|it| stored.contains(&it.fingerprint))
        && stored.iter().all(|fingerprint| seen.contains(fingerprint.as_str())))
}

/// Returns true if a finding with this outcome is added to a ledger that does not have it.
fn adds_finding(outcome: FindingOutcome) -> bool {
    match outcome {
        FindingOutcome::Raised | FindingOutcome::LeftAlone => true,
        FindingOutcome::HeldBack | FindingOutcome::PreExisting | FindingOutcome::Absent => false,
    }
}

fn add_run(transaction: &SqlConnection, run: &RunRecord) -> SqlResult<bool> {
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
            to_sql_count(run.cost.calls),
            to_sql_count(run.cost.kept_answers),
            to_sql_count(run.cost.tokens),
            run.cost.usd,
            run.cost.at_most,
        ],
    )?;
    Ok(added == 1)
}

/// Adds the costs of the reviewers and models of a run.
fn add_costs(transaction: &SqlConnection, run: &RunRecord) -> SqlResult<()> {
    let mut add = transaction.prepare_cached(
        "INSERT INTO report_costs (run, reviewer, model, calls, kept_answers, tokens, usd, at_most)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
    )?;
    for ReportCost { reviewer, model, cost } in &run.reports {
        let [calls, kept, tokens] = to_sql_counts(cost);
        add.execute(params![run.id, reviewer, model, calls, kept, tokens, cost.usd, cost.at_most])?;
    }
    let mut add = transaction.prepare_cached(
        "INSERT INTO model_costs (run, model, calls, kept_answers, tokens, usd, at_most)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
    )?;
    for ModelCost { model, cost } in &run.models {
        let [calls, kept, tokens] = to_sql_counts(cost);
        add.execute(params![run.id, model, calls, kept, tokens, cost.usd, cost.at_most])?;
    }
    Ok(())
}

/// Converts the calls, cached answers and tokens of a cost for SQL.
fn to_sql_counts(cost: &RunCost) -> [i64; 3] {
    [cost.calls, cost.kept_answers, cost.tokens].map(to_sql_count)
}

/// Converts a count for SQL, which has no larger numbers. Real counts never exceed `i64::MAX`.
fn to_sql_count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns the key of a finding, and adds the finding if it was reported for the first time.
fn find_or_add_key(
    transaction: &SqlConnection,
    run: &RunRecord,
    observation: &Observation,
) -> SqlResult<Option<FindingKey>> {
    let find = "SELECT key FROM findings WHERE fingerprint = ?1 AND file = ?2";
    let mut find = transaction.prepare_cached(find)?;
    let mut at = |file: &str| {
        find.query_row([&observation.fingerprint, file], |row| row.get::<_, FindingKey>(0))
            .optional()
    };
    if let Some(key) = at(&observation.file)? {
        return Ok(Some(key));
    }
    if let Some(before) = &observation.moved_from
        && let Some(key) = at(before)?
    {
        let go = "UPDATE findings SET file = ?2 WHERE key = ?1";
        transaction.execute(go, params![key, observation.file])?;
        return Ok(Some(key));
    }
    match adds_finding(observation.outcome) {
        true => add_finding(transaction, run, observation).map(Some),
        false => Ok(None),
    }
}

fn add_finding(
    transaction: &SqlConnection,
    run: &RunRecord,
    observation: &Observation,
) -> SqlResult<FindingKey> {
    let mut add = transaction.prepare_cached(
        "INSERT INTO findings (id, fingerprint, file, line, title, severity, impact, category, rule,
                               finding, first_seen, last_seen, seen_by, last_look, looked_by, outcome)
         VALUES (:id, :fingerprint, :file, :line, :title, :severity, :impact, :category, :rule,
                 :finding, :at, :at, :run, :at, :run, :outcome)
         RETURNING key",
    )?;
    let values = named_params! {
        ":id": observation.id,
        ":fingerprint": observation.fingerprint,
        ":file": observation.file,
        ":line": observation.line,
        ":title": observation.title,
        ":severity": observation.severity,
        ":impact": observation.impact,
        ":category": observation.category,
        ":rule": observation.rule,
        ":finding": observation.finding,
        ":at": run.at,
        ":run": run.id,
        ":outcome": observation.outcome,
    };
    add.query_row(values, |row| row.get(0))
}

fn add_observation(
    transaction: &SqlConnection,
    run: &RunRecord,
    key: FindingKey,
    observation: &Observation,
) -> SqlResult<()> {
    let mut add = transaction.prepare_cached(
        "INSERT INTO looks (run, finding, outcome, called, file, line, before, why, checkout)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
    )?;
    let Observation { outcome, id, file, line, before, why, origin, .. } = observation;
    let CodeOrigin { author, checkout } = origin;
    if add.execute(params![run.id, key, outcome, id, file, line, before, why, checkout])? == 0 {
        // The run reported the finding twice; the first report counts.
        return Ok(());
    }
    if let Some(author) = author {
        let sql = "INSERT INTO finding_authors (finding, author) VALUES (?1, ?2)
                   ON CONFLICT (finding) DO UPDATE SET author = excluded.author";
        transaction.prepare_cached(sql)?.execute(params![key, author])?;
    }
    for vote_record in &observation.votes {
        add_vote(transaction, run, key, vote_record)?;
    }
    let earlier = "UPDATE findings SET first_seen = ?2 WHERE key = ?1 AND first_seen > ?2";
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
        ":id": observation.id,
        ":line": observation.line,
        ":title": observation.title,
        ":severity": observation.severity,
        ":impact": observation.impact,
        ":category": observation.category,
        ":rule": observation.rule,
        ":finding": observation.finding,
        ":at": run.at,
        ":run": run.id,
    })?;
    update_state(transaction, run, key, observation.outcome)
}

fn add_vote(
    transaction: &SqlConnection,
    run: &RunRecord,
    key: FindingKey,
    vote_record: &VoteRecord,
) -> SqlResult<()> {
    let mut add = transaction.prepare_cached(
        "INSERT INTO votes (run, finding, reviewer, number, severity, confidence, vote)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
    )?;
    let number = to_sql_count(vote_record.number as u64);
    let VoteRecord { reviewer, severity, confidence, vote, .. } = vote_record;
    add.execute(params![run.id, key, reviewer, number, severity, confidence, vote])?;
    Ok(())
}

fn add_absence(
    transaction: &SqlConnection,
    run: &RunRecord,
    Absence { finding, evidence }: Absence,
) -> SqlResult<()> {
    let mut add = transaction.prepare_cached(
        "INSERT INTO looks (run, finding, outcome, evidence) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT DO NOTHING",
    )?;
    // A finding that the run saw is not absent.
    match add.execute(params![run.id, finding, FindingOutcome::Absent, evidence])? {
        0 => Ok(()),
        _ => update_state(transaction, run, finding, FindingOutcome::Absent),
    }
}

/// Updates the state of a finding, if this run is the newest that checked it.
fn update_state(
    transaction: &SqlConnection,
    run: &RunRecord,
    key: FindingKey,
    outcome: FindingOutcome,
) -> SqlResult<()> {
    let mut newest = transaction.prepare_cached(
        "UPDATE findings SET last_look = ?2, looked_by = ?3, outcome = ?4
         WHERE key = ?1 AND (last_look, looked_by) <= (?2, ?3)",
    )?;
    newest.execute(params![key, run.at, run.id, outcome])?;
    Ok(())
}
