//! The facts of a ledger from which statistics are computed: [`LedgerFacts`].
//!
//! Each table is read once, findings by an index that has all columns of their facts, so that the
//! JSON of findings is never read. Groups, shares and times are computed by callers; this module
//! decides only which findings are accepted or rejected ([`Reception`]).

use std::collections::{BTreeMap, HashMap};

use rusqlite::{named_params, params};

use super::query::STATE;
use super::record::RunCost;
use super::sql::{SqlConnection, SqlResult, SqlRow};
use super::{AbsenceEvidence, FindingKey, FindingOutcome, FindingState, Ledger, LedgerError};
use crate::task::Moment;

/// The facts of the runs and findings since a time.
#[derive(Debug, Default)]
pub struct LedgerFacts {
    /// The runs, the oldest first.
    pub runs: Vec<RunFacts>,
    /// The findings, in the order in which they were first seen.
    pub findings: Vec<FindingFacts>,
    /// The findings that each reviewer ever voted for, by its name. Findings that were first seen
    /// before the time are included.
    pub votes: BTreeMap<String, Vec<FindingKey>>,
    /// The findings that reviewers voted for with each model, by its name. Findings that were first
    /// seen before the time are included.
    pub model_votes: BTreeMap<String, Vec<FindingKey>>,
    /// The costs of each reviewer, by its name.
    pub reviewer_costs: BTreeMap<String, CostSum>,
    /// The costs of each model, by its name.
    pub model_costs: BTreeMap<String, CostSum>,
    /// The number of runs with models whose costs by reviewer and model were not recorded: an
    /// earlier version recorded them.
    pub unattributed_runs: u64,
}

/// The facts of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFacts {
    /// The time of the run.
    pub at: Moment,
    /// True if all required reviewers finished.
    pub is_complete: bool,
    /// The cost of the run.
    pub cost: RunCost,
}

/// The facts of a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingFacts {
    /// The key of the finding in this ledger.
    pub key: FindingKey,
    /// The severity as a number, from 0 (worst) to 6.
    pub impact: u8,
    /// The category.
    pub category: String,
    /// The rule that found the defect; `None` if no rule did.
    pub rule: Option<String>,
    /// The file; `None` for the change as a whole.
    pub file: Option<String>,
    /// The time of the first run that saw the finding.
    pub first_seen: Moment,
    /// The time of the last run that checked the finding.
    pub last_look: Moment,
    /// The state of the finding.
    pub state: FindingState,
    /// The time of the first run that found the finding absent; `None` unless the finding is gone.
    pub resolved: Option<Moment>,
    /// The reaction to the finding.
    pub reception: Reception,
    /// The author of the line, an email address; `None` if unknown.
    pub author: Option<String>,
}

/// The reaction to a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reception {
    /// The code that the finding quotes was changed after the finding was reported, and the finding
    /// was not dismissed at that time.
    Accepted,
    /// A user, the baseline or a comment dismissed the finding with a reason.
    Rejected,
    /// The finding is open, or is gone without a change of the quoted code.
    Undecided,
}

/// A sum of costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CostSum {
    /// The number of runs.
    pub runs: u64,
    /// The number of model calls.
    pub calls: u64,
    /// The number of answers from the cache.
    pub kept_answers: u64,
    /// The number of input and output tokens.
    pub tokens: u64,
    /// Millionths of a dollar, of the runs with known prices.
    pub micro_usd: u64,
    /// The number of runs with calls whose price is not known.
    pub unpriced_runs: u64,
    /// True if any of the costs is an upper bound.
    pub at_most: bool,
}

impl CostSum {
    /// Adds the cost of a run. The sum does not depend on the order of runs.
    pub fn add(&mut self, cost: &RunCost) {
        let is_unpriced = cost.usd.is_none() && cost.calls > 0;
        self.runs += 1;
        self.calls = self.calls.saturating_add(cost.calls);
        self.kept_answers = self.kept_answers.saturating_add(cost.kept_answers);
        self.tokens = self.tokens.saturating_add(cost.tokens);
        self.micro_usd = self.micro_usd.saturating_add(to_micro_usd(cost.usd.unwrap_or_default()));
        self.unpriced_runs += u64::from(is_unpriced);
        self.at_most |= cost.at_most;
    }
}

/// Converts dollars to millionths. A sum of integers does not depend on the order of its terms.
fn to_micro_usd(usd: f64) -> u64 {
    (usd * 1e6).round() as u64
}

/// The findings in scope. The index `findings_by_time` has all of its columns.
const FINDINGS: &str = "FROM findings WHERE first_seen >= :from ORDER BY first_seen";

/// The looks that found a finding absent after it was last seen, in any order, with the outcome in
/// the run that saw the finding last.
const ABSENCES: &str = "SELECT findings.key, runs.at, looks.evidence, seen.outcome
    FROM findings
    CROSS JOIN looks ON looks.finding = findings.key AND looks.outcome = 'absent'
    CROSS JOIN runs ON runs.id = looks.run
    CROSS JOIN looks AS seen ON seen.finding = findings.key AND seen.run = findings.seen_by
    WHERE findings.first_seen >= :from AND findings.outcome = 'absent'
      AND (runs.at, runs.id) > (findings.last_seen, findings.seen_by)";

const VOTES: &str = "SELECT DISTINCT reviewer, finding FROM votes ORDER BY reviewer, finding";

const MODEL_VOTES: &str = "SELECT DISTINCT model, finding FROM votes
    CROSS JOIN report_costs
        ON report_costs.run = votes.run AND report_costs.reviewer = votes.reviewer
    WHERE model IS NOT NULL ORDER BY model, finding";

impl Ledger {
    /// Returns the facts of the runs since `from`, and of the findings that were first seen since
    /// then; `None` for all. `today` is a day such as `2026-12-31`, by which temporary dismissals
    /// may have ended.
    pub fn facts(&self, from: Option<Moment>, today: &str) -> Result<LedgerFacts, LedgerError> {
        let from = from.map_or(i64::MIN, |from| from.0.as_millisecond());
        self.query(|connection| {
            Ok(LedgerFacts {
                runs: runs(connection, from)?,
                findings: findings(connection, from, today)?,
                votes: keys_by_name(connection, VOTES)?,
                model_votes: keys_by_name(connection, MODEL_VOTES)?,
                reviewer_costs: costs(connection, "reviewer", "report_costs", from)?,
                model_costs: costs(connection, "model", "model_costs", from)?,
                unattributed_runs: unattributed_runs(connection, from)?,
            })
        })
    }
}

fn runs(connection: &SqlConnection, from: i64) -> SqlResult<Vec<RunFacts>> {
    let mut statement = connection.prepare("SELECT * FROM runs WHERE at >= ?1 ORDER BY at, id")?;
    let rows = statement.query_map([from], |row| {
        Ok(RunFacts { at: row.get("at")?, is_complete: row.get("complete")?, cost: cost(row)? })
    })?;
    rows.collect()
}

pub(super) fn cost(row: &SqlRow<'_>) -> SqlResult<RunCost> {
    let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
    Ok(RunCost {
        calls: count("calls")?,
        kept_answers: count("kept_answers")?,
        tokens: count("tokens")?,
        usd: row.get("usd")?,
        at_most: row.get("at_most")?,
    })
}

fn costs(
    connection: &SqlConnection,
    column: &str,
    table: &str,
    from: i64,
) -> SqlResult<BTreeMap<String, CostSum>> {
    let sql = format!(
        "SELECT {column} AS name, {table}.* FROM runs CROSS JOIN {table} ON {table}.run = runs.id
         WHERE runs.at >= ?1"
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([from])?;
    let mut sums: BTreeMap<String, CostSum> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        sums.entry(row.get("name")?).or_default().add(&cost(&row)?);
    }
    Ok(sums)
}

fn unattributed_runs(connection: &SqlConnection, from: i64) -> SqlResult<u64> {
    let sql = "SELECT count(*) FROM runs WHERE at >= ?1 AND calls + kept_answers > 0
               AND NOT EXISTS (SELECT 1 FROM model_costs WHERE run = runs.id)";
    connection.query_row(sql, [from], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs)
}

/// Returns the keys of a query that is sorted by name.
fn keys_by_name(
    connection: &SqlConnection,
    sql: &str,
) -> SqlResult<BTreeMap<String, Vec<FindingKey>>> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(params![])?;
    let mut groups: Vec<(String, Vec<FindingKey>)> = Vec::new();
    while let Some(row) = rows.next()? {
        let name = row.get_ref(0)?.as_str()?;
        match groups.last_mut() {
            Some((last, keys)) if last == name => keys.push(row.get(1)?),
            Some(_) | None => groups.push((name.to_owned(), vec![row.get(1)?])),
        }
    }
    Ok(groups.into_iter().collect())
}

fn findings(connection: &SqlConnection, from: i64, today: &str) -> SqlResult<Vec<FindingFacts>> {
    let absences = absences(connection, from)?;
    let dismissals = dismissals(connection)?;
    let mut authors = authors(connection)?;
    let columns = "key, impact, category, rule, file, first_seen, last_look";
    let sql = format!("SELECT {columns}, {STATE} AS state {FINDINGS}");
    let mut statement = connection.prepare(&sql)?;
    let values = named_params! { ":from": from, ":today": today };
    let mut rows = statement.query(values)?;
    let mut findings = Vec::new();
    while let Some(row) = rows.next()? {
        let key: FindingKey = row.get("key")?;
        let (state, file): (FindingState, String) = (row.get("state")?, row.get("file")?);
        let absence = absences.get(&key).filter(|_| state == FindingState::Gone);
        findings.push(FindingFacts {
            author: authors.remove(&key),
            key,
            impact: row.get("impact")?,
            category: row.get("category")?,
            rule: row.get("rule")?,
            file: (!file.is_empty()).then_some(file),
            first_seen: row.get("first_seen")?,
            last_look: row.get("last_look")?,
            state,
            resolved: absence.map(|absence| absence.at),
            reception: reception(state, absence, dismissals.get(&key)),
        });
    }
    Ok(findings)
}

fn authors(connection: &SqlConnection) -> SqlResult<HashMap<FindingKey, String>> {
    let mut statement = connection.prepare("SELECT finding, author FROM finding_authors")?;
    statement.query_map(params![], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

/// The absence of a finding that is gone.
struct AbsenceFacts {
    /// The time of the first run that found the finding absent.
    at: Moment,
    /// True if a run found the quoted code removed.
    is_code_removed: bool,
    /// True if the baseline or a comment dismissed the finding when it was last seen.
    was_left_alone: bool,
}

fn absences(connection: &SqlConnection, from: i64) -> SqlResult<HashMap<FindingKey, AbsenceFacts>> {
    let mut statement = connection.prepare(ABSENCES)?;
    let mut rows = statement.query(named_params! { ":from": from })?;
    let mut absences = HashMap::new();
    while let Some(row) = rows.next()? {
        let (at, evidence): (Moment, Option<AbsenceEvidence>) = (row.get(1)?, row.get(2)?);
        let last_outcome: FindingOutcome = row.get(3)?;
        let was_left_alone = last_outcome == FindingOutcome::LeftAlone;
        let new = AbsenceFacts { at, is_code_removed: false, was_left_alone };
        let absence: &mut AbsenceFacts = absences.entry(row.get(0)?).or_insert(new);
        absence.at = absence.at.min(at);
        absence.is_code_removed |= evidence == Some(AbsenceEvidence::CodeRemoved);
    }
    Ok(absences)
}

/// The period in which a dismissal is in force.
struct DismissalPeriod {
    at: Moment,
    /// The last day; `None` for no end.
    until: Option<String>,
    /// The time at which the dismissal was revoked; `None` if it was not.
    ended: Option<Moment>,
}

impl DismissalPeriod {
    fn contains(&self, at: Moment) -> bool {
        let day = at.0.strftime("%Y-%m-%d").to_string();
        self.at <= at
            && self.ended.is_none_or(|ended| at < ended)
            && self.until.as_ref().is_none_or(|until| day <= *until)
    }
}

fn dismissals(connection: &SqlConnection) -> SqlResult<HashMap<FindingKey, Vec<DismissalPeriod>>> {
    let mut statement = connection.prepare("SELECT finding, at, until, ended FROM dismissals")?;
    let mut rows = statement.query(params![])?;
    let mut dismissals: HashMap<FindingKey, Vec<DismissalPeriod>> = HashMap::new();
    while let Some(row) = rows.next()? {
        let period = DismissalPeriod { at: row.get(1)?, until: row.get(2)?, ended: row.get(3)? };
        dismissals.entry(row.get(0)?).or_default().push(period);
    }
    Ok(dismissals)
}

/// Decides on the reaction to a finding. Code that is removed while its finding is dismissed does
/// not make the finding accepted.
fn reception(
    state: FindingState,
    absence: Option<&AbsenceFacts>,
    dismissals: Option<&Vec<DismissalPeriod>>,
) -> Reception {
    match (state, absence) {
        (FindingState::Dismissed, _) => Reception::Rejected,
        (FindingState::Open, _) | (FindingState::Gone, None) => Reception::Undecided,
        (FindingState::Gone, Some(absence)) => {
            let mut periods = dismissals.into_iter().flatten();
            match absence.was_left_alone || periods.any(|period| period.contains(absence.at)) {
                true => Reception::Rejected,
                false if absence.is_code_removed => Reception::Accepted,
                false => Reception::Undecided,
            }
        }
    }
}

#[cfg(test)]
mod tests;
