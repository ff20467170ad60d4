//! Reviewers and models: precision and cost.

use assay_engine::dashboard::{Dashboard, DashboardError, DashboardStatistics};
use assay_engine::finding_statistics::{GroupStatistics, MostlyDismissed};
use assay_html::number::grouped;
use assay_html::section::section;
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use super::frame::{PageContent, STATISTICS_PENDING, empty, pending, percent, usd};
use super::{PageRequest, calibration};

pub(super) fn content(
    dashboard: &Dashboard,
    request: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let view = dashboard.view(request.until)?;
    let main = html! {
        h1.hidden-text { "Reviewers" }
        div.stack #reviewers data-live {
            @match view.statistics? {
                Some(statistics) => { (parts(&statistics)) }
                None => { (section("reviewers-part", "Reviewers", &pending(STATISTICS_PENDING))) }
            }
            (calibration::part(dashboard.calibration()))
        }
    };
    Ok(PageContent { title: "Reviewers".to_owned(), mark: Some(view.mark.0), main })
}

fn parts(statistics: &DashboardStatistics) -> Markup {
    let overview = statistics.overview.overview.as_ref();
    let groups = |groups: Option<&Vec<GroupStatistics>>| groups.cloned().unwrap_or_default();
    let reviewers = groups(overview.map(|overview| &overview.reviewers));
    let models = groups(overview.map(|overview| &overview.models));
    let dismissed = overview.map(|overview| overview.mostly_dismissed.as_slice());
    html! {
        @if let Some(dismissed) = dismissed.filter(|it| !it.is_empty()) {
            (section("mostly-dismissed", "Mostly dismissed", &mostly_dismissed(dismissed)))
        }
        (section("reviewers-part", "Reviewers", &html! {
            (group_table("Reviewer", &reviewers))
            p.dim { "Precision is accepted ÷ decided. A finding is accepted if its code was changed after "
                "the report, and decided if it was accepted or dismissed. The range is the 95 % interval." }
        }))
        (section("models", "Models", &group_table("Model", &models)))
    }
}

fn group_table(noun: &str, groups: &[GroupStatistics]) -> Markup {
    if groups.is_empty() {
        return empty("No review has used one.");
    }
    let columns = [
        TableColumn::text(noun),
        TableColumn::number("Findings"),
        TableColumn::number("Open"),
        TableColumn::number("Accepted"),
        TableColumn::number("Decided"),
        TableColumn::number("Precision"),
        TableColumn::text("Range"),
        TableColumn::number("Cost"),
        TableColumn::number("Per accepted"),
    ];
    let rows = groups.iter().map(|group| {
        let cost = group.cost.as_ref();
        let range = group.precision_low.zip(group.precision_high);
        let range =
            range.map(|(low, high)| format!("{} to {}", percent(Some(low)), percent(Some(high))));
        let dollars = |amount: Option<f64>| amount.map_or_else(|| "–".to_owned(), usd);
        vec![
            html! { (group.name.as_deref().unwrap_or("unknown")) },
            html! { (grouped(group.findings)) },
            html! { (grouped(group.open)) },
            html! { (grouped(group.accepted)) },
            html! { (grouped(group.decided)) },
            html! { (percent(group.precision)) },
            html! { (range.unwrap_or_else(|| "–".to_owned())) },
            html! { (dollars(cost.map(|cost| cost.usd))) },
            html! { (dollars(cost.and_then(|cost| cost.usd_per_accepted))) },
        ]
    });
    HtmlTable { caption: noun, columns: &columns, rows: rows.collect() }.render()
}

fn mostly_dismissed(sources: &[MostlyDismissed]) -> Markup {
    html! {
        ul.plain {
            @for source in sources {
                li { strong { (source.name) } ": " (source.accepted) " of " (source.decided)
                    " decided findings were accepted. " (source.remedy)
                    @if let Some(command) = &source.command { " " code { (command) } } }
            }
        }
    }
}
