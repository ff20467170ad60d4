//! Decisions of a user on findings in the ledger: `FindingLedger` lists, dismisses and reopens
//! findings by id.

use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, bail};
use assay_findings::identity::Day;
use assay_review::ledger::{self, OpenLedger};
use assay_store::ledger::decision::DismissalTerms;
use assay_store::ledger::query::{FindingEntry, History, IdMatch};
use assay_store::ledger::{FindingKey, FindingState, Ledger};
use assay_store::task::Moment;
use jiff::{SignedDuration, Timestamp};

use crate::dates::today;
use crate::environment::Environment;

/// A duration such as `7d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeSpan(SignedDuration);

impl FromStr for TimeSpan {
    type Err = String;

    fn from_str(text: &str) -> Result<TimeSpan, String> {
        let wrong = || format!("`{text}` is not a time such as 7d, 2w or 12h");
        let split = text.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let number: u32 = text[..split].parse().map_err(|_| wrong())?;
        let hours = match &text[split..] {
            "h" => 1,
            "d" => 24,
            "w" => 24 * 7,
            _ => return Err(wrong()),
        };
        Ok(TimeSpan(SignedDuration::from_hours(i64::from(number) * hours)))
    }
}

impl TimeSpan {
    /// Returns the time that is this duration before `now`.
    pub fn before(self, now: Timestamp) -> anyhow::Result<Moment> {
        now.checked_sub(self.0).map(Moment).context("the time is too far in the past")
    }
}

/// A start time: a day, or a duration before now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryStart {
    /// The start of a day, in UTC.
    Day(Timestamp),
    /// A duration before now.
    Within(TimeSpan),
}

impl FromStr for HistoryStart {
    type Err = String;

    fn from_str(text: &str) -> Result<HistoryStart, String> {
        if let Ok(span) = text.parse() {
            return Ok(HistoryStart::Within(span));
        }
        let day = Day::try_from(text.to_owned()).map_err(|_| {
            format!("`{text}` is neither a day such as 2026-12-31 nor a time such as 7d, 2w or 12h")
        })?;
        let start = format!("{}T00:00:00Z", String::from(day)).parse();
        start.map(HistoryStart::Day).map_err(|error: jiff::Error| error.to_string())
    }
}

impl HistoryStart {
    /// Returns the time that is meant at `now`.
    pub fn moment(self, now: Timestamp) -> anyhow::Result<Moment> {
        match self {
            HistoryStart::Day(start) => Ok(Moment(start)),
            HistoryStart::Within(span) => span.before(now),
        }
    }
}

/// The ledger of a work tree, for the decisions of a user.
pub struct FindingLedger {
    ledger: OpenLedger,
    environment: Environment,
}

impl FindingLedger {
    /// Opens the ledger of the work tree at `root` to read. Fails if there is no ledger.
    pub fn open_to_read(environment: &Environment, root: &Path) -> anyhow::Result<FindingLedger> {
        let ledger = ledger::open_read_only(&environment.state_of(root))?
            .context("the ledger is empty; `assay review` fills it")?;
        Ok(FindingLedger { ledger, environment: environment.clone() })
    }

    /// Opens the ledger of the work tree at `root` to write. Fails if there is no ledger, and
    /// creates none.
    pub fn open(environment: &Environment, root: &Path) -> anyhow::Result<FindingLedger> {
        drop(FindingLedger::open_to_read(environment, root)?);
        FindingLedger::open_existing(environment, root)
    }

    /// Opens the ledger of the work tree at `root` to write; `None` if there is no ledger.
    pub(crate) fn open_if_any(
        environment: &Environment,
        root: &Path,
    ) -> anyhow::Result<Option<FindingLedger>> {
        match ledger::open_read_only(&environment.state_of(root))? {
            None => Ok(None),
            Some(found) => {
                drop(found);
                FindingLedger::open_existing(environment, root).map(Some)
            }
        }
    }

    fn open_existing(environment: &Environment, root: &Path) -> anyhow::Result<FindingLedger> {
        let ledger = ledger::open(&environment.state_of(root))?;
        Ok(FindingLedger { ledger, environment: environment.clone() })
    }

    /// Returns true if the ledger of the work tree at `root` has a finding with this id; false if
    /// there is no ledger.
    pub(crate) fn has_finding(
        environment: &Environment,
        root: &Path,
        id: &str,
    ) -> anyhow::Result<bool> {
        let Some(ledger) = ledger::open_read_only(&environment.state_of(root))? else {
            return Ok(false);
        };
        Ok(matches!(ledger.find_by_id(id)?, IdMatch::One(_)))
    }

    /// Returns the history of the finding with an id or a prefix of an id.
    pub fn history(&self, id: &str) -> anyhow::Result<History> {
        Ok(self.ledger.history(find_key(&self.ledger, id)?, &self.day()?)?)
    }

    /// Dismisses findings, so that later reviews do not report them. Dismisses all of them, or none
    /// if an id is unknown. Returns the findings.
    pub fn dismiss(
        &mut self,
        ids: &[String],
        by: &str,
        dismissal: &DismissRequest<'_>,
    ) -> anyhow::Result<Vec<FindingEntry>> {
        let keys = find_keys(&self.ledger, ids)?;
        self.dismiss_keys(&keys, by, dismissal)?;
        self.entries(&keys)
    }

    /// Dismisses findings by their keys, so that later reviews do not report them.
    pub(crate) fn dismiss_keys(
        &mut self,
        keys: &[FindingKey],
        by: &str,
        dismissal: &DismissRequest<'_>,
    ) -> anyhow::Result<()> {
        let reason = &assay_rules::redact(dismissal.reason);
        let terms = DismissalTerms { by, reason, until: dismissal.until.map(Day::as_str) };
        Ok(self.ledger.dismiss(keys, terms, Moment::now(self.environment.clock()))?)
    }

    /// Looks a finding of a branch or pull request up by an id or a prefix of an id.
    pub(crate) fn find_in_branch(&self, id: &str, branch: &str) -> anyhow::Result<IdMatch> {
        Ok(self.ledger.find_in_branch(id, branch)?)
    }

    /// Returns the history of a finding by its key.
    pub(crate) fn history_of(&self, key: FindingKey) -> anyhow::Result<History> {
        Ok(self.ledger.history(key, &self.day()?)?)
    }

    /// Reopens findings, so that later reviews report them again. Fails if a finding was not
    /// dismissed in the ledger. Returns the findings.
    pub fn reopen(&mut self, ids: &[String], by: &str) -> anyhow::Result<Vec<FindingEntry>> {
        let keys = find_keys(&self.ledger, ids)?;
        for key in &keys {
            check_dismissed(&self.ledger.history(*key, &self.day()?)?)?;
        }
        self.ledger.reopen(&keys, by, Moment::now(self.environment.clock()))?;
        self.entries(&keys)
    }

    fn entries(&self, keys: &[FindingKey]) -> anyhow::Result<Vec<FindingEntry>> {
        let day = self.day()?;
        keys.iter().map(|key| Ok(self.ledger.history(*key, &day)?.entry)).collect()
    }

    fn day(&self) -> anyhow::Result<String> {
        today(self.environment.clock())
            .map(String::from)
            .context("cannot determine the current date")
    }
}

/// The reason of a dismissal, and its last day.
pub struct DismissRequest<'a> {
    reason: &'a str,
    /// The last day; `None` if the dismissal has no end.
    until: Option<&'a Day>,
}

impl<'a> DismissRequest<'a> {
    /// Validates a reason and a day. Fails if the reason is empty, or if the day has passed.
    pub fn new(
        environment: &Environment,
        reason: &'a str,
        until: Option<&'a Day>,
    ) -> anyhow::Result<DismissRequest<'a>> {
        let reason = reason.trim();
        if reason.is_empty() {
            bail!("missing reason: `--reason` must state why the findings are dismissed");
        }
        let today = today(environment.clock()).context("cannot determine the current date")?;
        if let Some(until) = until.filter(|until| **until < today) {
            bail!("invalid last day {} of the dismissal: the day has passed", until.as_str());
        }
        Ok(DismissRequest { reason, until })
    }
}

/// Fails if a finding is not dismissed by a decision in the ledger.
fn check_dismissed(history: &History) -> anyhow::Result<()> {
    if history.decisions.last().is_some_and(|decision| decision.ended.is_none()) {
        return Ok(());
    }
    let (id, state) = (&history.entry.id, history.entry.state);
    if state != FindingState::Dismissed {
        bail!("`{id}` is {}, and was not dismissed", state.as_str());
    }
    let why = history.looks.last().and_then(|look| look.why.as_deref()).unwrap_or("no reason");
    bail!(
        "`{id}` is suppressed by the baseline or a comment in the code; remove the entry there: \
         {why}"
    )
}

/// Returns the keys of the named findings, each once. Fails if a finding is unknown.
fn find_keys(ledger: &Ledger, ids: &[String]) -> anyhow::Result<Vec<FindingKey>> {
    let mut keys = Vec::new();
    for id in ids {
        let key = find_key(ledger, id)?;
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    Ok(keys)
}

/// Returns the key of the finding with an id or a prefix of an id.
fn find_key(ledger: &Ledger, id: &str) -> anyhow::Result<FindingKey> {
    match ledger.find_by_id(id)? {
        IdMatch::One(key) => Ok(key),
        IdMatch::None => {
            bail!("unknown finding `{id}`; `assay findings list --state all` lists all findings")
        }
        IdMatch::Ambiguous(ids) => {
            let some: Vec<&str> = ids.iter().take(5).map(String::as_str).collect();
            let more = if ids.len() > some.len() { " and others" } else { "" };
            bail!("ambiguous id `{id}`: matches {}{more}; use a longer prefix", some.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use assay_testkit::Repository;

    use super::*;

    #[test]
    fn a_span_is_a_number_of_hours_days_or_weeks() {
        let hours = |text: &str| text.parse::<TimeSpan>().map(|span| span.0.as_hours());
        assert_eq!([hours("12h"), hours("7d"), hours("2w")], [Ok(12), Ok(168), Ok(336)]);
        for wrong in ["", "7", "d", "7m", "-1d", "99999999999d"] {
            assert_eq!(hours(wrong), Err(format!("`{wrong}` is not a time such as 7d, 2w or 12h")));
        }
    }

    #[test]
    fn since_is_a_day_or_a_span_before_now() {
        let now: Timestamp = "2026-02-03T12:00:00Z".parse().unwrap();
        let moment =
            |text: &str| text.parse::<HistoryStart>().unwrap().moment(now).unwrap().to_string();
        assert_eq!(moment("2026-01-31"), "2026-01-31T00:00:00.000Z");
        assert_eq!(moment("2d"), "2026-02-01T12:00:00.000Z");
        let early = HistoryStart::Within(TimeSpan(SignedDuration::MAX)).moment(now).unwrap_err();
        assert_eq!(early.to_string(), "the time is too far in the past");
        assert!(
            "tomorrow"
                .parse::<HistoryStart>()
                .unwrap_err()
                .starts_with("`tomorrow` is neither a day")
        );
    }

    #[test]
    fn opening_a_missing_ledger_is_an_error() {
        let repository = Repository::new();
        for opened in [FindingLedger::open, FindingLedger::open_to_read] {
            let error = opened(&Environment::default(), repository.path()).err().unwrap();
            assert_eq!(error.to_string(), "the ledger is empty; `assay review` fills it");
        }
    }
}
