//! Queries on a ledger: [`FindingEntry`] is the summary of a finding, [`History`] its full history.

use rusqlite::{named_params, params};
use serde::Serialize;
use serde_json::Value;

use super::decision::Decision;
use super::record::RunCost;
use super::sql::{SqlConnection, SqlError, SqlResult, SqlRow};
use super::{FindingKey, FindingOutcome, FindingState, Ledger, LedgerError};
use crate::task::Moment;

/// The selection of findings. A field of `None` does not restrict the selection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FindingFilter {
    /// Only findings in this state.
    pub state: Option<FindingState>,
    /// Only findings of this severity or worse, from 0 (worst) to 6.
    pub impact: Option<u8>,
    /// Only findings of this category; letter case is ignored.
    pub category: Option<String>,
    /// Only findings that this reviewer ever voted for.
    pub reviewer: Option<String>,
    /// Only findings that were first seen at this time or later.
    pub from: Option<Moment>,
    /// Only findings that were first seen at this time or earlier.
    pub until: Option<Moment>,
}

/// The summary of a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FindingEntry {
    /// The key of the finding in this ledger.
    #[serde(skip)]
    pub key: FindingKey,
    /// The id that the newest run gave the finding.
    pub id: String,
    /// The state of the finding.
    pub state: FindingState,
    /// The severity, as the review wrote it.
    pub severity: String,
    /// The severity as a number, from 0 (worst) to 6.
    pub impact: u8,
    /// The file; `None` for the change as a whole.
    pub file: Option<String>,
    /// The line when the finding was last seen; `None` if it has no line.
    pub line: Option<u32>,
    /// The title that the reviewer gave the finding.
    pub title: String,
    /// The title that all findings of this kind share; `None` if no template matched.
    #[serde(skip)]
    pub template_title: Option<String>,
    /// The category.
    pub category: String,
    /// The rule that found the defect; `None` if no rule did.
    pub rule: Option<String>,
    /// All reviewers that ever voted for the finding, sorted.
    pub reviewers: Vec<String>,
    /// The fingerprint, by which later runs recognise the finding.
    pub fingerprint: String,
    /// The time of the first run that saw the finding.
    pub first_seen: Moment,
    /// The time of the last run that saw the finding.
    pub last_seen: Moment,
    /// The time of the last run that checked the finding.
    pub last_look: Moment,
}

impl FindingEntry {
    /// Returns the title for a heading: that of the template, else that of the reviewer.
    pub fn heading(&self) -> &str {
        self.template_title.as_deref().unwrap_or(&self.title)
    }
}

/// The full history of a finding.
#[derive(Debug, Serialize)]
pub struct History {
    /// The summary of the finding.
    #[serde(flatten)]
    pub entry: FindingEntry,
    /// The finding as JSON, as it was last seen.
    pub finding: Value,
    /// The outcome in each run, the oldest first.
    pub looks: Vec<RunOutcome>,
    /// The dismissals, the oldest first.
    pub decisions: Vec<Decision>,
}

/// The outcome of a finding in one run.
#[derive(Debug, Serialize)]
pub struct RunOutcome {
    /// The id of the run.
    pub run: String,
    /// The time of the run.
    pub at: Moment,
    /// The reviewed change, in words.
    pub change: String,
    /// The reviewed commit; `None` if unknown.
    #[serde(skip)]
    pub head: Option<String>,
    /// The verdict of the review.
    pub verdict: String,
    /// The cost of the review.
    pub cost: RunCost,
    /// The outcome of the finding.
    pub outcome: FindingOutcome,
    /// The reason, if the finding was dismissed by the baseline or a comment; `None` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The file; `None` for the change as a whole, or if the finding was absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line; `None` if the finding has no line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The votes for the finding.
    pub votes: Vec<ReviewerVote>,
}

/// The vote of a reviewer in a run.
#[derive(Debug, Serialize)]
pub struct ReviewerVote {
    /// The name of the reviewer.
    pub reviewer: String,
    /// The severity, as the reviewer wrote it.
    pub severity: String,
    /// The confidence in per cent; `None` if the reviewer gave none.
    pub confidence: Option<u8>,
    /// The vote as JSON.
    pub vote: Value,
}

/// A finding that was present in the last run that checked it, with the data that decide if a later
/// run has checked it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenFinding {
    /// The key of the finding in this ledger.
    pub key: FindingKey,
    /// The fingerprint, by which later runs recognise the finding.
    pub fingerprint: String,
    /// The file; empty for the change as a whole.
    pub file: String,
    /// The finding as JSON.
    pub finding: String,
    /// The digest of the base version of the file; `None` if unknown.
    pub before: Option<String>,
    /// The branch or pull request of the run; `None` if unknown.
    pub branch: Option<String>,
    /// The commit of the run; `None` if unknown.
    pub head: Option<String>,
    /// The only checkout that has the code of the finding; `None` if the code is in a commit.
    pub checkout: Option<String>,
    /// The reviewers that voted for the finding in that run.
    pub reviewers: Vec<String>,
}

/// The result of looking up a finding by its id or the beginning of the id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdMatch {
    /// No finding has this id.
    None,
    /// A single finding has this id.
    One(FindingKey),
    /// The ids of several findings begin like this.
    Ambiguous(Vec<String>),
}

/// The state of a finding on the day `:today`, as an SQL expression.
pub(super) const STATE: &str = "CASE
    WHEN outcome = 'absent' THEN 'gone'
    WHEN outcome = 'left_alone' THEN 'dismissed'
    WHEN EXISTS (SELECT 1 FROM dismissals
                 WHERE finding = findings.key AND ended IS NULL
                   AND (until IS NULL OR until >= :today)) THEN 'dismissed'
    ELSE 'open' END";

pub(super) const ENTRY: &str =
    "key, id, severity, impact, file, line, title, category, rule, fingerprint,
    first_seen, last_seen, last_look, json_extract(finding, '$.template.title') AS template_title,
    (SELECT json_group_array(DISTINCT reviewer) FROM votes WHERE finding = findings.key) AS voters";

impl Ledger {
    /// Returns the findings that match a filter, the worst first; `today` is a day such as
    /// `2026-12-31`, by which temporary dismissals may have ended.
    pub fn list(
        &self,
        filter: &FindingFilter,
        today: &str,
    ) -> Result<Vec<FindingEntry>, LedgerError> {
        let sql = format!(
            "SELECT * FROM (SELECT {ENTRY}, {STATE} AS state FROM findings) AS listed
             WHERE (CAST(:state AS TEXT) IS NULL OR state = :state)
               AND (CAST(:impact AS BIGINT) IS NULL OR impact <= :impact)
               AND (CAST(:category AS TEXT) IS NULL OR lower(category) = lower(:category))
               AND (CAST(:reviewer AS TEXT) IS NULL OR EXISTS (
                   SELECT 1 FROM votes WHERE reviewer = :reviewer AND finding = key))
               AND (CAST(:from AS BIGINT) IS NULL OR first_seen >= :from)
               AND (CAST(:until AS BIGINT) IS NULL OR first_seen <= :until)
             ORDER BY impact, file, line NULLS FIRST, title, key"
        );
        self.query(|connection| {
            let mut statement = connection.prepare(&sql)?;
            let rows = statement.query_map(
                named_params! {
                    ":today": today,
                    ":state": filter.state.map(FindingState::as_str),
                    ":impact": filter.impact,
                    ":category": filter.category,
                    ":reviewer": filter.reviewer,
                    ":from": filter.from,
                    ":until": filter.until,
                },
                entry,
            )?;
            rows.collect()
        })
    }

    /// Returns the number of runs.
    pub fn runs(&self) -> Result<u64, LedgerError> {
        let count = |connection: &SqlConnection| {
            connection.query_row("SELECT count(*) FROM runs", params![], |row| row.get::<_, i64>(0))
        };
        Ok(self.query(count)?.unsigned_abs())
    }

    /// Looks a finding up by the id that the newest run gave it, or else by an id that an earlier
    /// run gave it. The beginning of an id is enough if it is unambiguous.
    pub fn find_by_id(&self, id: &str) -> Result<IdMatch, LedgerError> {
        self.find_among(id, None)
    }

    /// Looks a finding up as [`Ledger::find_by_id`] does, among the findings of the runs of one
    /// branch or pull request; letter case of its name is ignored, as GitHub does.
    pub fn find_in_branch(&self, id: &str, branch: &str) -> Result<IdMatch, LedgerError> {
        self.find_among(id, Some(branch))
    }

    fn find_among(&self, id: &str, branch: Option<&str>) -> Result<IdMatch, LedgerError> {
        let is_id = !id.is_empty() && id.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
        if !is_id {
            return Ok(IdMatch::None);
        }
        let now = "SELECT DISTINCT key, id FROM findings
                   WHERE id >= :id AND id < :id || 'g'
                     AND (CAST(:branch AS TEXT) IS NULL OR EXISTS (
                         SELECT 1 FROM looks JOIN runs ON runs.id = looks.run
                         WHERE looks.finding = key AND lower(runs.branch) = lower(:branch)))
                   ORDER BY findings.id";
        let once = "SELECT DISTINCT key, findings.id FROM looks
                    JOIN findings ON key = looks.finding JOIN runs ON runs.id = looks.run
                    WHERE called >= :id AND called < :id || 'g'
                      AND (CAST(:branch AS TEXT) IS NULL OR lower(runs.branch) = lower(:branch))
                    ORDER BY findings.id";
        for sql in [now, once] {
            let mut found: Vec<(FindingKey, String)> = self.query(|connection| {
                let mut statement = connection.prepare(sql)?;
                let values = named_params! { ":id": id, ":branch": branch };
                let rows = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
                rows.collect()
            })?;
            match (found.len(), found.pop()) {
                (1, Some((key, _))) => return Ok(IdMatch::One(key)),
                (_, Some(last)) => {
                    found.push(last);
                    return Ok(IdMatch::Ambiguous(found.into_iter().map(|(_, id)| id).collect()));
                }
                (_, None) => {}
            }
        }
        Ok(IdMatch::None)
    }

    /// Returns the full history of a finding.
    pub fn history(&self, key: FindingKey, today: &str) -> Result<History, LedgerError> {
        let sql =
            format!("SELECT {ENTRY}, {STATE} AS state, finding FROM findings WHERE key = :key");
        self.query(|connection| {
            let (entry, finding) = connection.query_row(
                &sql,
                named_params! { ":key": key, ":today": today },
                |row| Ok((entry(row)?, json(row, "finding")?)),
            )?;
            let (looks, decisions) = (looks(connection, key)?, decisions(connection, key)?);
            Ok(History { entry, finding, looks, decisions })
        })
    }

    /// Returns the findings of files that were present in the last run that checked them; the empty
    /// name means changes as a whole.
    pub fn open_findings<'a>(
        &self,
        files: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<OpenFinding>, LedgerError> {
        let files: Vec<&str> = files.into_iter().collect();
        self.query(|connection| {
            let mut statement = connection.prepare(
                "SELECT key, fingerprint, findings.file, findings.finding, before, branch, head, checkout,
                        (SELECT json_group_array(DISTINCT reviewer) FROM votes
                         WHERE votes.finding = findings.key AND run = seen_by) AS voters
                 FROM findings
                 JOIN runs ON runs.id = seen_by
                 JOIN looks ON looks.finding = findings.key AND looks.run = seen_by
                 WHERE findings.file = ?1 AND findings.outcome <> ?2",
            )?;
            let mut all = Vec::new();
            for file in &files {
                let rows =
                    statement.query_map(params![file, FindingOutcome::Absent], open_finding)?;
                for row in rows {
                    all.push(row?);
                }
            }
            Ok(all)
        })
    }

    /// Returns true if the ledger has the author of a finding.
    pub fn has_author(&self, fingerprint: &str, file: &str) -> Result<bool, LedgerError> {
        self.query(|connection| {
            let sql = "SELECT count(*) FROM finding_authors
                       JOIN findings ON findings.key = finding_authors.finding
                       WHERE fingerprint = ?1 AND file = ?2";
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_row([fingerprint, file], |row| Ok(row.get::<_, i64>(0)? > 0))
        })
    }

    /// Returns the files in which a finding with this fingerprint was last seen, the latest first.
    pub fn files_with(&self, fingerprint: &str) -> Result<Vec<String>, LedgerError> {
        self.query(|connection| {
            let sql = "SELECT file FROM findings WHERE fingerprint = ?1 ORDER BY last_seen DESC";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([fingerprint], |row| row.get(0))?;
            rows.collect()
        })
    }
}

pub(super) fn entry(row: &SqlRow<'_>) -> SqlResult<FindingEntry> {
    let file: String = row.get("file")?;
    Ok(FindingEntry {
        key: row.get("key")?,
        id: row.get("id")?,
        state: row.get("state")?,
        severity: row.get("severity")?,
        impact: row.get("impact")?,
        file: (!file.is_empty()).then_some(file),
        line: row.get("line")?,
        title: row.get("title")?,
        template_title: row.get("template_title")?,
        category: row.get("category")?,
        rule: row.get("rule")?,
        reviewers: names(row, "voters")?,
        fingerprint: row.get("fingerprint")?,
        first_seen: row.get("first_seen")?,
        last_seen: row.get("last_seen")?,
        last_look: row.get("last_look")?,
    })
}

fn open_finding(row: &SqlRow<'_>) -> SqlResult<OpenFinding> {
    Ok(OpenFinding {
        key: row.get(0)?,
        fingerprint: row.get(1)?,
        file: row.get(2)?,
        finding: row.get(3)?,
        before: row.get(4)?,
        branch: row.get(5)?,
        head: row.get(6)?,
        checkout: row.get(7)?,
        reviewers: names(row, "voters")?,
    })
}

fn looks(connection: &SqlConnection, key: FindingKey) -> SqlResult<Vec<RunOutcome>> {
    let mut statement = connection.prepare(
        "SELECT * FROM looks JOIN runs ON runs.id = looks.run
         WHERE finding = ?1 ORDER BY at, run",
    )?;
    let rows = statement.query_map([key], |row| {
        let run: String = row.get("run")?;
        let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
        Ok(RunOutcome {
            at: row.get("at")?,
            change: row.get("change")?,
            head: row.get("head")?,
            verdict: row.get("verdict")?,
            cost: RunCost {
                calls: count("calls")?,
                kept_answers: count("kept_answers")?,
                tokens: count("tokens")?,
                usd: row.get("usd")?,
                at_most: row.get("at_most")?,
            },
            outcome: row.get("outcome")?,
            why: row.get("why")?,
            file: row.get::<_, Option<String>>("file")?.filter(|file| !file.is_empty()),
            line: row.get("line")?,
            votes: votes(connection, key, &run)?,
            run,
        })
    })?;
    rows.collect()
}

fn votes(connection: &SqlConnection, key: FindingKey, run: &str) -> SqlResult<Vec<ReviewerVote>> {
    let mut statement = connection.prepare_cached(
        "SELECT reviewer, severity, confidence, vote FROM votes
         WHERE finding = ?1 AND run = ?2 ORDER BY reviewer, number",
    )?;
    let rows = statement.query_map(params![key, run], |row| {
        Ok(ReviewerVote {
            reviewer: row.get(0)?,
            severity: row.get(1)?,
            confidence: row.get(2)?,
            vote: json(row, "vote")?,
        })
    })?;
    rows.collect()
}

fn decisions(connection: &SqlConnection, key: FindingKey) -> SqlResult<Vec<Decision>> {
    let mut statement =
        connection.prepare("SELECT * FROM dismissals WHERE finding = ?1 ORDER BY at, key")?;
    let rows = statement.query_map([key], |row| {
        Ok(Decision {
            by: row.get("by")?,
            reason: row.get("reason")?,
            at: row.get("at")?,
            until: row.get("until")?,
            ended: row.get("ended")?,
            ended_by: row.get("ended_by")?,
        })
    })?;
    rows.collect()
}

fn json<T: serde::de::DeserializeOwned>(row: &SqlRow<'_>, column: &str) -> SqlResult<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| SqlError::column(column, error))
}

fn names(row: &SqlRow<'_>, column: &str) -> SqlResult<Vec<String>> {
    let mut names: Vec<String> = json(row, column)?;
    names.sort();
    Ok(names)
}
