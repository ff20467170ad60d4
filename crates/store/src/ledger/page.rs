//! Pages of a ledger: [`FindingPage`] and [`RunPage`] have a limited number of entries, and the
//! cursor of the next page.
//!
//! A page is read by an index from the position of its cursor, so its cost does not grow with the
//! number of earlier entries. A cursor stays valid while entries are added or removed.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use rusqlite::{named_params, params};

use super::facts::cost;
use super::query::{ENTRY, FindingEntry, FindingFilter, STATE, entry};
use super::record::RunCost;
use super::sql::{OptionalRow, SqlResult, SqlRow};
use super::{FindingKey, FindingOutcome, FindingState, Ledger, LedgerError};
use crate::task::Moment;

/// The position of a finding in the order of pages: the worst first, then the oldest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingCursor {
    impact: u8,
    first_seen: Moment,
    key: FindingKey,
}

impl fmt::Display for FindingCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.impact, self.first_seen.0.as_millisecond(), self.key.0)
    }
}

impl FromStr for FindingCursor {
    type Err = String;

    fn from_str(text: &str) -> Result<FindingCursor, String> {
        let parse = || {
            let mut parts = text.splitn(3, '.');
            Some(FindingCursor {
                impact: parts.next()?.parse().ok()?,
                first_seen: parse_millis(parts.next()?)?,
                key: FindingKey(parts.next()?.parse().ok()?),
            })
        };
        parse().ok_or_else(|| invalid_cursor(text))
    }
}

/// The position of a run in the order of pages: the newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCursor {
    at: Moment,
    id: String,
}

impl fmt::Display for RunCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.at.0.as_millisecond(), self.id)
    }
}

impl FromStr for RunCursor {
    type Err = String;

    fn from_str(text: &str) -> Result<RunCursor, String> {
        let parse = || {
            let (at, id) = text.split_once('.')?;
            Some(RunCursor { at: parse_millis(at)?, id: id.to_owned() })
        };
        parse().ok_or_else(|| invalid_cursor(text))
    }
}

fn parse_millis(text: &str) -> Option<Moment> {
    Timestamp::from_millisecond(text.parse().ok()?).ok().map(Moment)
}

fn invalid_cursor(text: &str) -> String {
    format!("invalid cursor {text:?}: expected the `next` of an earlier page")
}

/// The selection of a page of findings.
#[derive(Debug, Clone, Default)]
pub struct FindingPageRequest {
    /// The selection of findings.
    pub filter: FindingFilter,
    /// Only findings of this file; `None` for all files.
    pub file: Option<String>,
    /// The last finding of the previous page; `None` for the first page.
    pub after: Option<FindingCursor>,
    /// The maximum number of findings.
    pub limit: usize,
}

/// A page of findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingPage {
    /// The findings, the worst first, then the oldest.
    pub entries: Vec<FindingEntry>,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<FindingCursor>,
}

/// A run, as the ledger has it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEntry {
    /// The id of the run.
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
    pub is_complete: bool,
    /// The cost of the review.
    pub cost: RunCost,
    /// The number of findings that the review reported.
    pub raised: u64,
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct RunPage {
    /// The runs, the newest first.
    pub entries: Vec<RunEntry>,
    /// The cursor of the next page; `None` on the last page.
    pub next: Option<RunCursor>,
}

/// A finding in a run, with its state today.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFindingEntry {
    /// The finding.
    pub entry: FindingEntry,
    /// The outcome of the finding in the run.
    pub outcome: FindingOutcome,
}

const RUN: &str =
    "*, (SELECT count(*) FROM looks WHERE run = runs.id AND outcome = 'raised') AS raised";

impl Ledger {
    /// Returns a page of findings; `today` is a day such as `2026-12-31`, by which temporary
    /// dismissals may have ended.
    pub fn finding_page(
        &self,
        request: &FindingPageRequest,
        today: &str,
    ) -> Result<FindingPage, LedgerError> {
        let sql = finding_page_sql(request.file.is_some());
        let FindingPageRequest { filter, file, after, limit } = request;
        let mut entries: Vec<FindingEntry> = self.query(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(
                named_params! {
                    ":today": today,
                    ":file": file.as_deref().unwrap_or_default(),
                    ":after_impact": after.map_or(-1, |after| i64::from(after.impact)),
                    ":after_seen": after.map_or(i64::MIN, |after| after.first_seen.0.as_millisecond()),
                    ":after_key": after.map_or(i64::MIN, |after| after.key.0),
                    ":state": filter.state.map(FindingState::as_str),
                    ":impact": filter.impact,
                    ":category": filter.category,
                    ":reviewer": filter.reviewer,
                    ":from": filter.from,
                    ":until": filter.until,
                    ":limit": one_more(*limit),
                },
                entry,
            )?;
            rows.collect()
        })?;
        let has_more = entries.len() > *limit;
        entries.truncate(*limit);
        let cursor = |entry: &FindingEntry| FindingCursor {
            impact: entry.impact,
            first_seen: entry.first_seen,
            key: entry.key,
        };
        let next = entries.last().filter(|_| has_more).map(cursor);
        Ok(FindingPage { entries, next })
    }

    /// Returns a page of runs, the newest first.
    pub fn run_page(
        &self,
        after: Option<&RunCursor>,
        limit: usize,
    ) -> Result<RunPage, LedgerError> {
        let sql = format!(
            "SELECT {RUN} FROM runs WHERE (at, id) < (?1, ?2) ORDER BY at DESC, id DESC LIMIT ?3"
        );
        let at = after.map_or(i64::MAX, |after| after.at.0.as_millisecond());
        let id = after.map_or("", |after| after.id.as_str());
        let mut entries: Vec<RunEntry> = self.query(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map(params![at, id, one_more(limit)], run_entry)?;
            rows.collect()
        })?;
        let has_more = entries.len() > limit;
        entries.truncate(limit);
        let cursor = |entry: &RunEntry| RunCursor { at: entry.at, id: entry.id.clone() };
        let next = entries.last().filter(|_| has_more).map(cursor);
        Ok(RunPage { entries, next })
    }

    /// Returns the run with an id; `None` if there is none.
    pub fn run(&self, id: &str) -> Result<Option<RunEntry>, LedgerError> {
        let sql = format!("SELECT {RUN} FROM runs WHERE id = ?1");
        self.query(|connection| connection.query_row(&sql, [id], run_entry).optional())
    }

    /// Returns the findings that were present in a run, the worst first, and at most `limit`.
    pub fn run_findings(
        &self,
        run: &str,
        today: &str,
        limit: usize,
    ) -> Result<Vec<RunFindingEntry>, LedgerError> {
        let sql = format!(
            "SELECT {ENTRY}, {STATE} AS state,
                    (SELECT looks.outcome FROM looks
                     WHERE looks.finding = findings.key AND looks.run = :run) AS seen
             FROM findings
             WHERE key IN (SELECT finding FROM looks WHERE run = :run AND outcome <> 'absent')
             ORDER BY impact, file, line NULLS FIRST, key LIMIT :limit"
        );
        self.query(|connection| {
            let mut statement = connection.prepare_cached(&sql)?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let values = named_params! { ":run": run, ":today": today, ":limit": limit };
            let rows = statement.query_map(values, |row| {
                Ok(RunFindingEntry { entry: entry(row)?, outcome: row.get("seen")? })
            })?;
            rows.collect()
        })
    }
}

/// Returns the query of a page of findings. A single file has few findings, which are sorted; all
/// other pages are read in the order of an index.
fn finding_page_sql(is_one_file: bool) -> String {
    let (index, file) = match is_one_file {
        true => ("findings_by_file", "file = :file"),
        false => ("findings_by_weight", ":file = ''"),
    };
    format!(
        "SELECT {ENTRY}, {STATE} AS state FROM findings INDEXED BY {index}
         WHERE {file} AND (impact, first_seen, key) > (:after_impact, :after_seen, :after_key)
           AND (CAST(:state AS TEXT) IS NULL OR {STATE} = :state)
           AND (CAST(:impact AS BIGINT) IS NULL OR impact <= :impact)
           AND (CAST(:category AS TEXT) IS NULL OR lower(category) = lower(:category))
           AND (CAST(:reviewer AS TEXT) IS NULL OR EXISTS (
               SELECT 1 FROM votes WHERE reviewer = :reviewer AND finding = findings.key))
           AND (CAST(:from AS BIGINT) IS NULL OR first_seen >= :from)
           AND (CAST(:until AS BIGINT) IS NULL OR first_seen <= :until)
         ORDER BY impact, first_seen, key LIMIT :limit"
    )
}

/// Returns a limit that shows whether there is a next page.
fn one_more(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1)
}

fn run_entry(row: &SqlRow<'_>) -> SqlResult<RunEntry> {
    Ok(RunEntry {
        id: row.get("id")?,
        at: row.get("at")?,
        change: row.get("change")?,
        branch: row.get("branch")?,
        head: row.get("head")?,
        verdict: row.get("verdict")?,
        is_complete: row.get("complete")?,
        cost: cost(row)?,
        raised: row.get::<_, i64>("raised")?.unsigned_abs(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::tests::{TODAY, also_on_postgres, observation, run, sandbox};
    use super::*;

    also_on_postgres! {
        every_finding_is_on_one_page_and_the_worst_come_first,
        a_page_has_only_findings_that_match_the_filter,
        runs_are_listed_from_the_newest_with_the_number_of_their_findings,
    }

    /// Records one run for each number, each with findings of these impacts.
    fn record(ledger: &mut Ledger, runs: std::ops::Range<i64>, impacts: &[u8]) {
        for number in runs {
            let run = run(number);
            let observations: Vec<_> = impacts
                .iter()
                .enumerate()
                .map(|(at, impact)| {
                    let text = format!("f{number}-{at}@src/{}.rs", number % 3);
                    let seen = observation(&text, FindingOutcome::Raised, &run);
                    super::super::record::Observation { impact: *impact, ..seen }
                })
                .collect();
            ledger.record(&run, &observations, &[]).unwrap();
        }
    }

    fn pages(ledger: &Ledger, request: &FindingPageRequest) -> Vec<Vec<FindingEntry>> {
        let (mut pages, mut request) = (Vec::new(), request.clone());
        loop {
            let page = ledger.finding_page(&request, TODAY).unwrap();
            pages.push(page.entries);
            let Some(next) = page.next else { return pages };
            request.after = Some(next.to_string().parse().unwrap());
        }
    }

    #[test]
    fn every_finding_is_on_one_page_and_the_worst_come_first() {
        let mut sandbox = sandbox();
        record(&mut sandbox.ledger, 0..7, &[3, 0, 1]);
        let request = FindingPageRequest { limit: 4, ..FindingPageRequest::default() };
        let pages = pages(&sandbox.ledger, &request);
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 4, 4, 4, 1]);
        let all: Vec<FindingEntry> = pages.concat();
        assert!(all.is_sorted_by_key(|entry| (entry.impact, entry.first_seen)));
        assert_eq!(all.iter().map(|entry| entry.key).collect::<BTreeSet<_>>().len(), 21);
    }

    #[test]
    fn a_page_has_only_findings_that_match_the_filter() {
        let mut sandbox = sandbox();
        record(&mut sandbox.ledger, 0..6, &[0, 4]);
        let worst = FindingFilter { impact: Some(1), ..FindingFilter::default() };
        let file = Some("src/1.rs".to_owned());
        let request = FindingPageRequest { filter: worst, file, after: None, limit: 10 };
        let found = pages(&sandbox.ledger, &request).concat();
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(|entry| entry.file.as_deref() == Some("src/1.rs")));
        let gone = FindingFilter { state: Some(FindingState::Gone), ..FindingFilter::default() };
        let request = FindingPageRequest { filter: gone, limit: 10, ..Default::default() };
        assert_eq!(sandbox.ledger.finding_page(&request, TODAY).unwrap().entries, []);
    }

    #[test]
    fn runs_are_listed_from_the_newest_with_the_number_of_their_findings() {
        let mut sandbox = sandbox();
        record(&mut sandbox.ledger, 0..5, &[0, 4]);
        let first = sandbox.ledger.run_page(None, 3).unwrap();
        let ids =
            |page: &RunPage| page.entries.iter().map(|run| run.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&first), ["run-004", "run-003", "run-002"]);
        assert_eq!(first.entries[0].raised, 2);
        let cursor: RunCursor = first.next.unwrap().to_string().parse().unwrap();
        let last = sandbox.ledger.run_page(Some(&cursor), 3).unwrap();
        assert_eq!((ids(&last), last.next), (vec!["run-001".into(), "run-000".into()], None));
        assert_eq!(sandbox.ledger.run("run-002").unwrap().unwrap().id, "run-002");
        assert_eq!(sandbox.ledger.run("run-099").unwrap(), None);
        let findings = sandbox.ledger.run_findings("run-002", TODAY, 10).unwrap();
        let impacts: Vec<u8> = findings.iter().map(|finding| finding.entry.impact).collect();
        assert_eq!(impacts, [0, 4]);
        assert!(findings.iter().all(|finding| finding.outcome == FindingOutcome::Raised));
    }

    #[test]
    fn a_text_that_is_no_cursor_is_refused() {
        for text in ["", "1", "1.2", "x.2.3", "300.1.1", "1.99999999999999999999.1"] {
            assert!(text.parse::<FindingCursor>().is_err(), "{text}");
        }
        assert!("1".parse::<RunCursor>().is_err());
        assert!("x.run".parse::<RunCursor>().is_err());
    }

    #[test]
    fn pages_are_read_by_an_index() {
        let sandbox = sandbox();
        let plan = |sql: &str| -> String {
            let connection = sandbox.ledger.connection.file();
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let values = vec![rusqlite::types::Null; statement.parameter_count()];
            let values = rusqlite::params_from_iter(values);
            let rows = statement.query_map(values, |row| row.get::<_, String>(3)).unwrap();
            rows.map(Result::unwrap).collect::<Vec<_>>().join("\n")
        };
        let all = plan(&finding_page_sql(false));
        assert!(all.contains("SEARCH findings USING INDEX findings_by_weight"), "{all}");
        assert!(!all.contains("B-TREE FOR ORDER BY"), "{all}");
        let state = plan(
            "SELECT key FROM findings INDEXED BY findings_by_weight
             WHERE impact > 0 AND outcome = 'absent' AND category = 'x'",
        );
        assert!(state.contains("COVERING INDEX findings_by_weight"), "{state}");
        let runs = plan("SELECT * FROM runs WHERE (at, id) < (1, 'x') ORDER BY at DESC, id DESC");
        assert!(runs.contains("runs_by_time") && !runs.contains("B-TREE"), "{runs}");
        let looks = plan("SELECT finding FROM looks WHERE run = 'x' AND outcome <> 'absent'");
        assert!(looks.contains("looks_by_run"), "{looks}");
    }

    #[test]
    fn a_shared_connection_writes_nothing_and_leaves_the_log_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        assert!(Ledger::open_shared(&path).unwrap().is_none());
        record(&mut Ledger::open(&path).unwrap(), 0..2, &[0]);
        let shared = Ledger::open_shared(&path).unwrap().unwrap();
        assert_eq!(shared.runs().unwrap(), 2);
        // The writer is not the last connection, so its log stays beside the ledger.
        record(&mut Ledger::open(&path).unwrap(), 2..3, &[0]);
        assert_eq!(shared.runs().unwrap(), 3);
        let bytes = || {
            let log = folder.path().join("ledger.db-wal");
            (std::fs::read(&path).unwrap(), std::fs::read(log).unwrap())
        };
        let before = bytes();
        assert!(!before.1.is_empty());
        assert!(shared.connection.file().execute("DELETE FROM runs", []).is_err());
        drop(shared);
        assert!(bytes() == before);
    }
}
