//! Findings over time as a part of HTML pages: [`render`].

use assay_findings::grade::Grade;
use assay_html::chart::{ChartSeries, PeriodChart};
use assay_html::severity::SeverityTone;
use maud::Markup;

use crate::finding_statistics::Timeline;

/// Renders the findings that were first reported in each period, by severity.
pub fn render(label: &str, timeline: &Timeline) -> Markup {
    let series: Vec<ChartSeries<'_>> = timeline
        .reported
        .iter()
        .map(|one| ChartSeries {
            name: &one.severity,
            tone: SeverityTone::of(&Grade::from_word(&one.severity)),
            counts: &one.counts,
        })
        .collect();
    PeriodChart { label, periods: &timeline.period_starts(), series: &series }.render()
}
