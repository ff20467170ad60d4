//! The known findings of given files, for a new review of these files: [`KnownFinding`].

use std::collections::BTreeSet;

use rusqlite::named_params;

use super::query::{ENTRY, FindingEntry, STATE, entry};
use super::sql::{SqlResult, SqlRow};
use super::{FindingState, Ledger, LedgerError};
use crate::task::Moment;

/// A finding, with the number of runs that reported it and the reason of its dismissal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFinding {
    /// The summary of the finding.
    pub entry: FindingEntry,
    /// The number of runs that reported the finding or saw it dismissed.
    pub runs: u64,
    /// The time of the last of these runs.
    pub last: Moment,
    /// The reason of the dismissal; `None` if the finding is not dismissed.
    pub why: Option<String>,
}

/// The outcomes that count as reported, without those of the excluded runs.
const RAISED: &str = "FROM looks JOIN runs ON runs.id = looks.run
    WHERE looks.finding = findings.key AND looks.outcome IN ('raised', 'left_alone')
      AND looks.run NOT IN (SELECT value FROM json_each(CAST(:but AS TEXT)))";

impl Ledger {
    /// Returns the known findings of files, the newest of each file first and at most `most` of
    /// each file. The runs in `but` do not count; `today` is a day such as `2026-12-31`.
    pub fn known_findings<'a>(
        &self,
        files: impl IntoIterator<Item = &'a str>,
        but: &BTreeSet<String>,
        most: u32,
        today: &str,
    ) -> Result<Vec<KnownFinding>, LedgerError> {
        let sql = format!(
            "SELECT * FROM (
                 SELECT {ENTRY}, {STATE} AS state,
                        (SELECT count(*) {RAISED}) AS raised,
                        (SELECT max(runs.at) {RAISED}) AS last_raised,
                        (SELECT reason FROM dismissals
                         WHERE finding = findings.key AND ended IS NULL) AS reason,
                        (SELECT why FROM looks
                         WHERE finding = findings.key AND run = findings.looked_by) AS left_for
                 FROM findings WHERE file = :file) AS known
             WHERE raised > 0 ORDER BY last_raised DESC, impact, key LIMIT :most"
        );
        let files: Vec<&str> = files.into_iter().collect();
        let but = serde_json::to_string(but).expect("names are text");
        self.query(|connection| {
            let mut statement = connection.prepare(&sql)?;
            let mut all = Vec::new();
            for file in &files {
                let asked = named_params! {
                    ":today": today, ":file": file, ":but": but, ":most": most,
                };
                let rows = statement.query_map(asked, known)?;
                for row in rows {
                    all.push(row?);
                }
            }
            Ok(all)
        })
    }
}

fn known(row: &SqlRow<'_>) -> SqlResult<KnownFinding> {
    let entry = entry(row)?;
    let why = match entry.state {
        FindingState::Open | FindingState::Gone => None,
        FindingState::Dismissed => match row.get("reason")? {
            Some(reason) => Some(reason),
            None => row.get("left_for")?,
        },
    };
    Ok(KnownFinding {
        entry,
        runs: row.get::<_, i64>("raised")?.unsigned_abs(),
        last: row.get("last_raised")?,
        why,
    })
}
