//! The cost of models: in total, by model, by budget and by run.

use assay_engine::dashboard::run_views::RunListQuery;
use assay_engine::dashboard::{Dashboard, DashboardError, DashboardStatistics};
use assay_engine::finding_statistics::{BudgetScope, BudgetUnit, BudgetUse, CostStatistics};
use assay_html::chart::{BarChart, ChartBar, bar_of};
use assay_html::number::grouped;
use assay_html::section::{section, tile};
use assay_html::table::{HtmlTable, TableColumn};
use maud::{Markup, html};

use super::PageRequest;
use super::frame::{PageContent, STATISTICS_PENDING, empty, pending, percent, time, usd};
use super::runs::run_table;

/// The number of runs on the page.
const MAX_RUNS: &str = "20";

pub(super) fn content(
    dashboard: &Dashboard,
    request: &PageRequest,
) -> Result<PageContent, DashboardError> {
    let view = dashboard.view(request.until)?;
    let query = RunListQuery { limit: Some(MAX_RUNS.into()), ..RunListQuery::default() };
    let runs = dashboard.runs(&query)?.runs;
    let main = html! {
        h1.hidden-text { "Spend" }
        div.stack #spend data-live {
            @match view.statistics? {
                Some(statistics) => { (parts(&statistics)) }
                None => { (section("budgets", "Budgets", &pending(STATISTICS_PENDING))) }
            }
            (section("newest-runs", "Newest runs", &run_table(&request.context, &runs)))
        }
    };
    Ok(PageContent { title: "Spend".to_owned(), mark: Some(view.mark.0), main })
}

/// Renders the parts that are made from statistics.
fn parts(statistics: &DashboardStatistics) -> Markup {
    let overview = statistics.overview.overview.as_ref();
    let budgets = overview.map(|overview| overview.budgets.as_slice()).unwrap_or_default();
    let models = overview.map(|overview| overview.models.as_slice()).unwrap_or_default();
    let bars: Vec<ChartBar<'_>> = models
        .iter()
        .filter_map(|model| {
            let tokens = model.cost.as_ref()?.tokens;
            Some(ChartBar { name: model.name.as_deref()?, value: tokens, tone: None })
        })
        .collect();
    html! {
        @if let Some(cost) = &statistics.overview.total.cost { (tiles(cost)) }
        (section("budgets", "Budgets", &budget_table(budgets)))
        @if !bars.is_empty() {
            (section("tokens", "Tokens by model",
                &BarChart { label: "Tokens by model", bars: &bars }.render()))
        }
    }
}

fn tiles(cost: &CostStatistics) -> Markup {
    let total = if cost.at_most { format!("≤ {}", usd(cost.usd)) } else { usd(cost.usd) };
    html! {
        div.tiles {
            (tile("Total", &total, &html! {
                (grouped(cost.runs)) " reviews"
                @if cost.unpriced_runs > 0 { ", " (cost.unpriced_runs) " with unknown prices" }
            }))
            (tile("Per accepted finding", &per_accepted(cost).map_or_else(|| "–".to_owned(), usd),
                &html! { "accepted: the code was changed after the report" }))
            (tile("Calls of models", &grouped(cost.calls), &html! {
                (grouped(cost.kept_answers)) " answers came from the cache"
            }))
            (tile("Tokens", &grouped(cost.tokens), &html! { "input and output" }))
        }
    }
}

/// Returns the cost of an accepted finding; `None` if no model was called or no finding accepted.
pub(super) fn per_accepted(cost: &CostStatistics) -> Option<f64> {
    cost.usd_per_accepted.filter(|_| cost.calls > 0)
}

fn budget_table(budgets: &[BudgetUse]) -> Markup {
    if budgets.is_empty() {
        return empty("No limit is configured; see `models.budget` in the configuration.");
    }
    let columns = [
        TableColumn::text("Limit"),
        TableColumn::number("Amount"),
        TableColumn::number("Highest use"),
        TableColumn::text("At"),
        TableColumn::number("Share"),
        TableColumn::text("Use"),
    ];
    let rows = budgets.iter().map(|budget| {
        let share = budget.share.unwrap_or_default();
        vec![
            html! { (name(budget)) },
            html! { (amount(budget.unit, budget.limit)) },
            html! { (amount(budget.unit, budget.highest)) },
            html! { @match &budget.highest_at { Some(at) => { (time(at)) } None => { "–" } } },
            html! { (percent(budget.share)) },
            bar_of((share * 1000.0) as u64, 1000, None),
        ]
    });
    HtmlTable { caption: "Budgets", columns: &columns, rows: rows.collect() }.render()
}

fn name(budget: &BudgetUse) -> &'static str {
    match (budget.scope, budget.unit) {
        (BudgetScope::Run, BudgetUnit::Usd) => "Dollars of a review",
        (BudgetScope::Run, BudgetUnit::Tokens) => "Tokens of a review",
        (BudgetScope::Run, BudgetUnit::Calls) => "Calls of a review",
        (BudgetScope::Day, BudgetUnit::Usd) => "Dollars of a day",
        (BudgetScope::Day, BudgetUnit::Tokens) => "Tokens of a day",
        (BudgetScope::Day, BudgetUnit::Calls) => "Calls of a day",
    }
}

fn amount(unit: BudgetUnit, value: f64) -> String {
    match unit {
        BudgetUnit::Usd => usd(value),
        BudgetUnit::Tokens | BudgetUnit::Calls => grouped(value.round() as u64),
    }
}
