//! Statistics of loops, computed from their journals: [`Metrics`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Serialize;

use crate::event::Event;
use crate::issue::Issue;
use crate::journal::{Entry, Journal, JournalError};
use crate::loop_state::LoopState;

/// Statistics of all loops.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Metrics {
    /// The number of validated specs.
    pub specs: usize,
    /// The number of approvals.
    pub approvals: usize,
    /// The number of loops that were escalated to a person.
    pub handed_over: usize,
    /// The number of rounds until an approval; `None` if there was no approval.
    pub rounds_to_approval: Option<Spread>,
    /// The success rate of fixes, by kind of issue.
    pub fixes_by_type: BTreeMap<String, FixRate>,
    /// The time spent in each stage, in seconds.
    pub seconds_by_stage: BTreeMap<&'static str, f64>,
}

/// The median and the 95th percentile of some numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Spread {
    /// The median.
    pub median: usize,
    /// The 95th percentile.
    pub p95: usize,
}

/// The success rate of fixes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct FixRate {
    /// The number of issues that a fixer tried to fix.
    pub tried: usize,
    /// The number of these issues that were gone in the next round.
    pub fixed: usize,
}

impl Metrics {
    /// Computes the statistics from the journals of specs, regardless of the machine that wrote
    /// them. `folders` are paths from the root.
    pub fn over(root: &Path, folders: &[PathBuf]) -> Result<Metrics, JournalError> {
        let read = |folder: &PathBuf| Journal::read(&root.join(folder));
        let journals: Result<Vec<Vec<Entry>>, JournalError> = folders.iter().map(read).collect();
        Ok(Metrics::of(&journals?))
    }

    /// Computes the statistics from the entries of journals.
    pub fn of(journals: &[Vec<Entry>]) -> Metrics {
        let mut metrics = Metrics::default();
        let mut rounds = Vec::new();
        for entries in journals.iter().filter(|entries| !entries.is_empty()) {
            metrics.specs += 1;
            metrics.add_endings(entries, &mut rounds);
            metrics.add_fixes(entries);
            metrics.add_times(entries);
        }
        metrics.approvals = rounds.len();
        metrics.rounds_to_approval = spread(rounds);
        metrics
    }

    fn add_endings(&mut self, entries: &[Entry], rounds: &mut Vec<usize>) {
        let mut loop_state = LoopState::default();
        for entry in entries {
            // A journal that is invalid is reported where it is used.
            if loop_state.apply(&entry.at, &entry.event).is_err() {
                return;
            }
            if entry.event == Event::Ended {
                match loop_state.is_approved() {
                    true => rounds.push(loop_state.epoch().len()),
                    false => self.handed_over += 1,
                }
            }
        }
    }

    fn add_fixes(&mut self, entries: &[Entry]) {
        let Ok(loop_state) = LoopState::of(entries) else { return };
        let rounds: Vec<_> = loop_state.history.iter().collect();
        for pair in rounds.windows(2) {
            let [before, after] = pair else { continue };
            let (Some(seen), Some(next), Some(_)) = (before.review(), after.review(), &before.fix)
            else {
                continue;
            };
            for issue in &seen.issues {
                let rate = self.fixes_by_type.entry(issue.kind.name().to_owned()).or_default();
                rate.tried += 1;
                rate.fixed += usize::from(!next.issues.iter().any(|other| is_same(issue, other)));
            }
        }
    }

    fn add_times(&mut self, entries: &[Entry]) {
        let pairs = entries.windows(2).filter_map(|pair| match pair {
            [before, after] => Some((stage(&before.event, &after.event)?, before, after)),
            _ => None,
        });
        for (stage, before, after) in pairs {
            let parse = |entry: &Entry| entry.at.parse::<Timestamp>().ok();
            let (Some(from), Some(to)) = (parse(before), parse(after)) else { continue };
            let seconds = to.duration_since(from).as_secs_f64().max(0.0);
            *self.seconds_by_stage.entry(stage).or_default() += seconds;
        }
    }

    /// Formats the statistics as text for people.
    pub fn text(&self) -> String {
        let mut out = format!(
            "Specs: {}\nApproved: {}\nHanded over: {}\n",
            self.specs, self.approvals, self.handed_over
        );
        if let Some(Spread { median, p95 }) = self.rounds_to_approval {
            out.push_str(&format!(
                "\nRounds to approval:\n  Median: {median}\n  95th percentile: {p95}\n"
            ));
        }
        if !self.fixes_by_type.is_empty() {
            out.push_str("\nFixed by the next round:\n");
        }
        for (kind, FixRate { tried, fixed }) in &self.fixes_by_type {
            let percent = 100 * fixed / tried.max(&1);
            out.push_str(&format!("  {kind}: {fixed} of {tried} ({percent}%)\n"));
        }
        if !self.seconds_by_stage.is_empty() {
            out.push_str("\nTime:\n");
        }
        for (stage, seconds) in &self.seconds_by_stage {
            out.push_str(&format!("  {stage}: {seconds:.1} s\n"));
        }
        out
    }
}

/// Returns true if two issues of consecutive rounds are the same issue.
fn is_same(one: &Issue, other: &Issue) -> bool {
    match (&one.key, &other.key) {
        (Some(one), Some(other)) => one == other,
        _ => one.title == other.title && one.file == other.file,
    }
}

/// Returns the stage between two consecutive events; `None` if their time is not counted.
fn stage(before: &Event, after: &Event) -> Option<&'static str> {
    match (before, after) {
        (
            Event::ReviewBegun { .. } | Event::TestsKept { .. } | Event::Checked { .. },
            Event::Checked { .. } | Event::KeptChecked { .. },
        ) => Some("checks"),
        (_, Event::Reviewed { .. }) => Some("review"),
        (Event::FixBegun { .. }, Event::FixMade { .. }) => Some("fix"),
        _ => None,
    }
}

fn spread(mut numbers: Vec<usize>) -> Option<Spread> {
    numbers.sort_unstable();
    // The nearest-rank percentile: the smallest number that `percent` percent of the numbers do not
    // exceed.
    let at = |percent: usize| {
        let rank = (numbers.len() * percent).div_ceil(100);
        numbers.get(rank.saturating_sub(1)).copied()
    };
    Some(Spread { median: at(50)?, p95: at(95)? })
}
