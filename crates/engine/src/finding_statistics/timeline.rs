//! Findings over time: [`Timeline`].

use assay_findings::grade::SEVEN_LEVELS;
use assay_store::ledger::facts::FindingFacts;
use assay_store::task::Moment;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::Serialize;

use super::group::severity_name;

/// The longest span in days that is shown by day.
const MAX_DAYS: i64 = 31;

/// The maximum number of periods; ten years of weeks.
const MAX_PERIODS: i64 = 520;

const MILLIS_PER_DAY: i64 = 24 * 60 * 60 * 1000;

/// The length of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Period {
    /// A day, in UTC.
    Day,
    /// A week, from Monday.
    Week,
}

/// The findings of each period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Timeline {
    /// The length of a period.
    pub period: Period,
    /// The first day of the first period, such as `2026-12-31`.
    pub start: String,
    /// The number of findings that were first reported before the first period.
    pub earlier: u64,
    /// The findings that were first reported in each period, by severity, the worst first.
    pub reported: Vec<SeverityTimeline>,
    /// The findings that were resolved in each period.
    pub resolved: Vec<u64>,
}

/// The findings of one severity in each period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeverityTimeline {
    /// The severity, as a word of the seven levels.
    pub severity: String,
    /// The number of findings in each period.
    pub counts: Vec<u64>,
}

impl Period {
    /// Returns the name of the period: `day` or `week`.
    pub fn noun(self) -> &'static str {
        match self {
            Period::Day => "day",
            Period::Week => "week",
        }
    }

    fn days(self) -> i64 {
        match self {
            Period::Day => 1,
            Period::Week => 7,
        }
    }

    /// Returns the number of the period with a day; days are counted from 1970.
    fn number(self, day: i64) -> i64 {
        match self {
            Period::Day => day,
            // 1970 began on a Thursday.
            Period::Week => (day + 3).div_euclid(7),
        }
    }

    fn first_day(self, number: i64) -> i64 {
        match self {
            Period::Day => number,
            Period::Week => number * 7 - 3,
        }
    }
}

fn day_of(at: Moment) -> i64 {
    at.0.as_millisecond().div_euclid(MILLIS_PER_DAY)
}

fn format_day(day: i64) -> String {
    let days = i32::try_from(day).ok().map(i64::from).unwrap_or_default();
    let start = Date::constant(1970, 1, 1);
    let date = start.checked_add(jiff::Span::new().days(days)).unwrap_or(start);
    date.to_string()
}

impl Timeline {
    /// Returns the first day of each period, such as `2026-12-31`.
    pub fn period_starts(&self) -> Vec<String> {
        let start: Option<Date> = self.start.parse().ok();
        let day = |at: usize| {
            let days = i64::try_from(at).ok()?.checked_mul(self.period.days())?;
            Some(start?.checked_add(jiff::Span::new().days(days)).ok()?.to_string())
        };
        (0..self.resolved.len()).map(|at| day(at).unwrap_or_default()).collect()
    }

    /// Returns the number of findings of all severities that were first reported in each period.
    pub fn reported_totals(&self) -> Vec<u64> {
        let total = |at: usize| self.reported.iter().filter_map(|one| one.counts.get(at)).sum();
        (0..self.resolved.len()).map(total).collect()
    }

    /// Counts findings by period, from `since` or else the first finding, up to `now`. Returns
    /// `None` if there is no finding.
    pub(super) fn new(
        findings: &[FindingFacts],
        since: Option<Moment>,
        now: Moment,
    ) -> Option<Timeline> {
        let first = findings.iter().map(|finding| finding.first_seen).min()?;
        let (from, to) = (day_of(since.unwrap_or(first)), day_of(now));
        let period = if to - from < MAX_DAYS { Period::Day } else { Period::Week };
        let last = period.number(to);
        let start = period.number(from).clamp(last - MAX_PERIODS + 1, last);
        // The clock may have been set back since a run.
        let index = |at: Moment| usize::try_from(period.number(day_of(at)).min(last) - start).ok();
        let length = usize::try_from(last - start + 1).unwrap_or(1);
        let mut counts = vec![vec![0; length]; SEVEN_LEVELS.len()];
        let (mut resolved, mut earlier) = (vec![0; length], 0);
        for finding in findings {
            let level = usize::from(finding.impact).min(SEVEN_LEVELS.len() - 1);
            match index(finding.first_seen) {
                Some(at) => counts[level][at] += 1,
                None => earlier += 1,
            }
            if let Some(at) = finding.resolved.and_then(index) {
                resolved[at] += 1;
            }
        }
        let reported = (0..).zip(counts).filter(|(_, counts)| counts.iter().any(|n| *n > 0));
        let reported = reported
            .map(|(level, counts)| SeverityTimeline { severity: severity_name(level), counts });
        let (reported, start) = (reported.collect(), format_day(period.first_day(start)));
        Some(Timeline { period, start, earlier, reported, resolved })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::findings;
    use super::*;

    fn at(text: &str) -> Moment {
        text.parse().unwrap()
    }

    #[test]
    fn a_short_span_is_counted_by_day() {
        let findings = findings(
            "0 x.rs 2026-05-01T23:59:59Z
             1 x.rs 2026-05-02T00:00:00Z fixed=2026-05-03T10:00:00Z
             1 x.rs 2026-05-02T12:00:00Z",
        );
        let timeline = Timeline::new(&findings, None, at("2026-05-04T01:00:00Z")).unwrap();
        let counts = |severity: &str, counts: [u64; 4]| SeverityTimeline {
            severity: severity.to_owned(),
            counts: counts.to_vec(),
        };
        let expected = Timeline {
            period: Period::Day,
            start: "2026-05-01".to_owned(),
            earlier: 0,
            reported: vec![counts("CRITICAL", [1, 0, 0, 0]), counts("HIGH", [0, 2, 0, 0])],
            resolved: vec![0, 0, 1, 0],
        };
        assert_eq!(timeline, expected);
    }

    #[test]
    fn a_long_span_is_counted_by_week_from_monday() {
        // 2026-05-03 is a Sunday.
        let findings = findings("0 x.rs 2026-05-03T12:00:00Z\n0 x.rs 2026-05-04T12:00:00Z");
        let timeline = Timeline::new(&findings, None, at("2026-06-04T12:00:00Z")).unwrap();
        assert_eq!((timeline.period, timeline.start.as_str()), (Period::Week, "2026-04-27"));
        assert_eq!(timeline.reported[0].counts, [1, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn every_finding_is_in_a_period_or_earlier() {
        let findings = findings("0 x.rs 1970-01-01T00:00:00Z\n0 x.rs 2026-05-04T12:00:00Z");
        let timeline = Timeline::new(&findings, None, at("2026-05-01T12:00:00Z")).unwrap();
        assert_eq!(timeline.reported[0].counts.len(), 520);
        assert_eq!((timeline.earlier, timeline.reported[0].counts.last()), (1, Some(&1)));
    }

    #[test]
    fn the_span_begins_at_the_given_time() {
        let findings = findings("0 x.rs 2026-05-04T12:00:00Z");
        let since = Some(at("2026-05-01T00:00:00Z"));
        let timeline = Timeline::new(&findings, since, at("2026-05-05T12:00:00Z")).unwrap();
        assert_eq!(timeline.start, "2026-05-01");
        assert_eq!(timeline.reported[0].counts, [0, 0, 0, 1, 0]);
        assert_eq!(Timeline::new(&[], since, at("2026-05-05T12:00:00Z")), None);
    }
}
