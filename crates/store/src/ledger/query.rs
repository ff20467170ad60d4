//! Asking a ledger: [`Entry`] is a finding in short, [`History`] all that is known of one.

use rusqlite::{Connection, Row, named_params, params};
use serde::Serialize;
use serde_json::Value;

use super::decision::Decision;
use super::record::Cost;
use super::{FindingKey, Ledger, LedgerError, Outcome, State};
use crate::task::Moment;

/// Which findings are meant; all where nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Those in this state.
    pub state: Option<State>,
    /// Those as bad as this or worse, from 0 (worst) to 6.
    pub impact: Option<u8>,
    /// Those of this kind, however it is spelt.
    pub category: Option<String>,
    /// Those that this reviewer ever voted for.
    pub reviewer: Option<String>,
    /// Those that were first seen then or later.
    pub from: Option<Moment>,
    /// Those that were first seen then or earlier.
    pub until: Option<Moment>,
}

/// A finding in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// What names it in this ledger.
    #[serde(skip)]
    pub key: FindingKey,
    /// What the newest run that saw it calls it.
    pub id: String,
    /// Where it stands.
    pub state: State,
    /// How bad, in the word it came in.
    pub severity: String,
    /// How bad, from 0 (worst) to 6.
    pub impact: u8,
    /// Where; `None` for the change as a whole.
    pub file: Option<String>,
    /// On which line, when it was last seen.
    pub line: Option<u32>,
    /// What it is, in a few words.
    pub title: String,
    /// Of which kind.
    pub category: String,
    /// The rule that found it.
    pub rule: Option<String>,
    /// Everybody who ever voted for it.
    pub reviewers: Vec<String>,
    /// What it is told again by.
    pub fingerprint: String,
    /// When it was first seen.
    pub first_seen: Moment,
    /// When it was last seen.
    pub last_seen: Moment,
    /// When somebody last looked for it.
    pub last_look: Moment,
}

/// All that is known of a finding.
#[derive(Debug, Serialize)]
pub struct History {
    /// The finding in short.
    #[serde(flatten)]
    pub entry: Entry,
    /// All of it, as it was last seen.
    pub finding: Value,
    /// What each run made of it, the oldest first.
    pub looks: Vec<Look>,
    /// What somebody decided about it, the oldest first.
    pub decisions: Vec<Decision>,
}

/// What one run made of a finding.
#[derive(Debug, Serialize)]
pub struct Look {
    /// The run.
    pub run: String,
    /// When it was made.
    pub at: Moment,
    /// What was reviewed.
    pub change: String,
    /// The commit that was reviewed; `None` where it is not known.
    #[serde(skip)]
    pub head: Option<String>,
    /// What the review came to.
    pub verdict: String,
    /// What it cost.
    pub cost: Cost,
    /// What it made of the finding.
    pub outcome: Outcome,
    /// Why, where it was left alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// On which line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Who said so.
    pub votes: Vec<Heard>,
}

/// What one reviewer said in a run.
#[derive(Debug, Serialize)]
pub struct Heard {
    /// Who.
    pub reviewer: String,
    /// How bad, in that reviewer's word.
    pub severity: String,
    /// How sure, in per cent, where it said so.
    pub confidence: Option<u8>,
    /// All of it.
    pub vote: Value,
}

/// A finding that was there when somebody last looked, with what tells whether a later run has looked
/// for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// What names it in this ledger.
    pub key: FindingKey,
    /// What it is told again by.
    pub fingerprint: String,
    /// Where; empty for the change as a whole.
    pub file: String,
    /// All of it, as JSON.
    pub finding: String,
    /// What tells with what its file was compared.
    pub before: Option<String>,
    /// The branch or pull request that it was seen on.
    pub branch: Option<String>,
    /// The commit that it was seen on.
    pub head: Option<String>,
    /// Who voted for it then.
    pub reviewers: Vec<String>,
}

/// Which finding an id, or the beginning of one, names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Named {
    /// None.
    Nobody,
    /// This one.
    One(FindingKey),
    /// Any of these, by their ids.
    Several(Vec<String>),
}

/// A finding's state, on a day.
pub(super) const STATE: &str = "CASE
    WHEN outcome = 'absent' THEN 'gone'
    WHEN outcome = 'left_alone' THEN 'dismissed'
    WHEN EXISTS (SELECT 1 FROM dismissals
                 WHERE finding = findings.key AND ended IS NULL
                   AND (until IS NULL OR until >= :today)) THEN 'dismissed'
    ELSE 'open' END";

pub(super) const ENTRY: &str =
    "key, id, severity, impact, file, line, title, category, rule, fingerprint,
    first_seen, last_seen, last_look,
    (SELECT json_group_array(DISTINCT reviewer) FROM votes WHERE finding = findings.key) AS voters";

impl Ledger {
    /// Lists findings, the worst first; `today` is a day such as `2026-12-31`, on which what was
    /// dismissed up to a day may be open again.
    pub fn list(&self, filter: &Filter, today: &str) -> Result<Vec<Entry>, LedgerError> {
        let sql = format!(
            "SELECT * FROM (SELECT {ENTRY}, {STATE} AS state FROM findings)
             WHERE (:state IS NULL OR state = :state)
               AND (:impact IS NULL OR impact <= :impact)
               AND (:category IS NULL OR lower(category) = lower(:category))
               AND (:reviewer IS NULL OR EXISTS (
                   SELECT 1 FROM votes WHERE reviewer = :reviewer AND finding = key))
               AND (:from IS NULL OR first_seen >= :from)
               AND (:until IS NULL OR first_seen <= :until)
             ORDER BY impact, file, line, title, key"
        );
        self.ask(|connection| {
            let mut statement = connection.prepare(&sql)?;
            let rows = statement.query_map(
                named_params! {
                    ":today": today,
                    ":state": filter.state.map(State::as_str),
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

    /// Counts the runs.
    pub fn runs(&self) -> Result<u64, LedgerError> {
        let count = |connection: &Connection| {
            connection.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0))
        };
        Ok(self.ask(count)?.unsigned_abs())
    }

    /// Finds out which finding an id means: what the newest run calls a finding, or else what an
    /// earlier one called it. The beginning of an id will do where no other begins like it.
    pub fn named(&self, id: &str) -> Result<Named, LedgerError> {
        let is_id = !id.is_empty() && id.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
        if !is_id {
            return Ok(Named::Nobody);
        }
        let now = "SELECT DISTINCT key, id FROM findings WHERE id >= ?1 AND id < ?1 || 'g'
                   ORDER BY id";
        let once = "SELECT DISTINCT key, id FROM looks JOIN findings ON key = looks.finding
                    WHERE called >= ?1 AND called < ?1 || 'g' ORDER BY id";
        for sql in [now, once] {
            let mut found: Vec<(FindingKey, String)> = self.ask(|connection| {
                let mut statement = connection.prepare(sql)?;
                let rows = statement.query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
                rows.collect()
            })?;
            match (found.len(), found.pop()) {
                (1, Some((key, _))) => return Ok(Named::One(key)),
                (_, Some(last)) => {
                    found.push(last);
                    return Ok(Named::Several(found.into_iter().map(|(_, id)| id).collect()));
                }
                (_, None) => {}
            }
        }
        Ok(Named::Nobody)
    }

    /// Tells all that is known of a finding.
    pub fn history(&self, key: FindingKey, today: &str) -> Result<History, LedgerError> {
        let sql =
            format!("SELECT {ENTRY}, {STATE} AS state, finding FROM findings WHERE key = :key");
        self.ask(|connection| {
            let (entry, finding) = connection.query_row(
                &sql,
                named_params! { ":key": key, ":today": today },
                |row| Ok((entry(row)?, json(row, "finding")?)),
            )?;
            let (looks, decisions) = (looks(connection, key)?, decisions(connection, key)?);
            Ok(History { entry, finding, looks, decisions })
        })
    }

    /// Gives the findings of some files that were there when somebody last looked; the empty name is
    /// that of changes as a whole.
    pub fn seen_in<'a>(
        &self,
        files: impl IntoIterator<Item = &'a str>,
    ) -> Result<Vec<Seen>, LedgerError> {
        self.ask(|connection| {
            let mut statement = connection.prepare(
                "SELECT key, fingerprint, findings.file, findings.finding, before, branch, head,
                        (SELECT json_group_array(DISTINCT reviewer) FROM votes
                         WHERE votes.finding = findings.key AND run = seen_by) AS voters
                 FROM findings
                 JOIN runs ON runs.id = seen_by
                 JOIN looks ON looks.finding = findings.key AND looks.run = seen_by
                 WHERE findings.file = ?1 AND findings.outcome <> ?2",
            )?;
            let mut all = Vec::new();
            for file in files {
                let rows = statement.query_map(params![file, Outcome::Absent], seen)?;
                for row in rows {
                    all.push(row?);
                }
            }
            Ok(all)
        })
    }

    /// Gives the files in which something with this fingerprint was last seen.
    pub fn files_with(&self, fingerprint: &str) -> Result<Vec<String>, LedgerError> {
        self.ask(|connection| {
            let sql = "SELECT file FROM findings WHERE fingerprint = ?1 ORDER BY last_seen DESC";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([fingerprint], |row| row.get(0))?;
            rows.collect()
        })
    }
}

pub(super) fn entry(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let state: String = row.get("state")?;
    let known = [State::Open, State::Gone, State::Dismissed];
    let state = known.into_iter().find(|known| known.as_str() == state);
    let file: String = row.get("file")?;
    Ok(Entry {
        key: row.get("key")?,
        id: row.get("id")?,
        state: state.expect("the query gives a state its word"),
        severity: row.get("severity")?,
        impact: row.get("impact")?,
        file: (!file.is_empty()).then_some(file),
        line: row.get("line")?,
        title: row.get("title")?,
        category: row.get("category")?,
        rule: row.get("rule")?,
        reviewers: names(row, "voters")?,
        fingerprint: row.get("fingerprint")?,
        first_seen: row.get("first_seen")?,
        last_seen: row.get("last_seen")?,
        last_look: row.get("last_look")?,
    })
}

fn seen(row: &Row<'_>) -> rusqlite::Result<Seen> {
    Ok(Seen {
        key: row.get(0)?,
        fingerprint: row.get(1)?,
        file: row.get(2)?,
        finding: row.get(3)?,
        before: row.get(4)?,
        branch: row.get(5)?,
        head: row.get(6)?,
        reviewers: names(row, "voters")?,
    })
}

fn looks(connection: &Connection, key: FindingKey) -> rusqlite::Result<Vec<Look>> {
    let mut statement = connection.prepare(
        "SELECT * FROM looks JOIN runs ON runs.id = looks.run
         WHERE finding = ?1 ORDER BY at, run",
    )?;
    let rows = statement.query_map([key], |row| {
        let run: String = row.get("run")?;
        let count = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
        Ok(Look {
            at: row.get("at")?,
            change: row.get("change")?,
            head: row.get("head")?,
            verdict: row.get("verdict")?,
            cost: Cost {
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

fn votes(connection: &Connection, key: FindingKey, run: &str) -> rusqlite::Result<Vec<Heard>> {
    let mut statement = connection.prepare_cached(
        "SELECT reviewer, severity, confidence, vote FROM votes
         WHERE finding = ?1 AND run = ?2 ORDER BY reviewer, number",
    )?;
    let rows = statement.query_map(params![key, run], |row| {
        Ok(Heard {
            reviewer: row.get(0)?,
            severity: row.get(1)?,
            confidence: row.get(2)?,
            vote: json(row, "vote")?,
        })
    })?;
    rows.collect()
}

fn decisions(connection: &Connection, key: FindingKey) -> rusqlite::Result<Vec<Decision>> {
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

fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| {
        let at = row.as_ref().column_index(column).unwrap_or_default();
        rusqlite::Error::FromSqlConversionFailure(at, rusqlite::types::Type::Text, error.into())
    })
}

fn names(row: &Row<'_>, column: &str) -> rusqlite::Result<Vec<String>> {
    let mut names: Vec<String> = json(row, column)?;
    names.sort();
    Ok(names)
}
