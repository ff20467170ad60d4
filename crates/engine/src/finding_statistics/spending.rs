//! Costs of accepted findings, and the use of configured budgets.

use std::collections::BTreeMap;

use assay_models::Caps;
use assay_store::ledger::facts::{CostSum, RunFacts};
use schemars::JsonSchema;
use serde::Serialize;

use super::precision::share;

/// Millionths in a dollar.
const MICRO: f64 = 1e6;

/// The cost of models.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CostStatistics {
    /// The number of reviews.
    pub runs: u64,
    /// The number of model calls.
    pub calls: u64,
    /// The number of answers from the cache, which cost nothing.
    pub kept_answers: u64,
    /// The number of input and output tokens.
    pub tokens: u64,
    /// The cost in US dollars, of the reviews with known prices.
    pub usd: f64,
    /// The number of reviews with calls whose price is not known.
    pub unpriced_runs: u64,
    /// True if a call was interrupted, so that the figures are upper bounds.
    pub at_most: bool,
    /// The cost in US dollars for each accepted finding; null if there is none, or if a price is not
    /// known.
    pub usd_per_accepted: Option<f64>,
    /// The tokens for each accepted finding; null if there is none.
    pub tokens_per_accepted: Option<u64>,
}

impl CostStatistics {
    pub(super) fn new(sum: &CostSum, accepted: u64) -> CostStatistics {
        let has_price = accepted > 0 && sum.unpriced_runs == 0;
        CostStatistics {
            runs: sum.runs,
            calls: sum.calls,
            kept_answers: sum.kept_answers,
            tokens: sum.tokens,
            usd: sum.micro_usd as f64 / MICRO,
            unpriced_runs: sum.unpriced_runs,
            at_most: sum.at_most,
            usd_per_accepted: has_price.then(|| per_accepted(sum.micro_usd, accepted)),
            tokens_per_accepted: sum.tokens.checked_div(accepted),
        }
    }
}

/// Returns the dollars for each of some findings, rounded to millionths.
fn per_accepted(micro_usd: u64, accepted: u64) -> f64 {
    (micro_usd as f64 / accepted as f64).round() / MICRO
}

/// Returns the sum of the costs of all runs.
pub(super) fn total(runs: &[RunFacts]) -> CostSum {
    let mut sum = CostSum::default();
    for run in runs {
        sum.add(&run.cost);
    }
    sum
}

/// The period that a limit applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BudgetScope {
    /// A single review.
    Run,
    /// A day, in UTC.
    Day,
}

/// The unit of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BudgetUnit {
    /// US dollars.
    Usd,
    /// Input and output tokens.
    Tokens,
    /// Calls of models.
    Calls,
}

/// The use of a limit in `models.budget`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BudgetUse {
    /// The period that the limit applies to.
    pub scope: BudgetScope,
    /// The unit of the limit.
    pub unit: BudgetUnit,
    /// The limit.
    pub limit: f64,
    /// The highest use in a period.
    pub highest: f64,
    /// The time of the review, or the day, of the highest use; null if there was no review.
    pub highest_at: Option<String>,
    /// The highest use as a share of the limit; null if the limit is 0.
    pub share: Option<f64>,
    /// The number of reviews with calls whose price is not known, which count as 0 dollars.
    pub unpriced_runs: u64,
}

/// Returns the use of each limit that is configured.
pub(super) fn budget_uses(runs: &[RunFacts], (run, day): (Caps, Caps)) -> Vec<BudgetUse> {
    let (by_run, by_day) = (costs_by_run(runs), costs_by_day(runs));
    let run = limits(run).map(|limit| budget_use(BudgetScope::Run, limit, &by_run));
    let day = limits(day).map(|limit| budget_use(BudgetScope::Day, limit, &by_day));
    run.chain(day).collect()
}

/// Returns the cost of each run, with its time.
fn costs_by_run(runs: &[RunFacts]) -> Vec<(String, CostSum)> {
    runs.iter().map(|run| (run.at.to_string(), total(std::slice::from_ref(run)))).collect()
}

/// Returns the costs of each day with a run.
fn costs_by_day(runs: &[RunFacts]) -> Vec<(String, CostSum)> {
    let mut sums: BTreeMap<String, CostSum> = BTreeMap::new();
    for run in runs {
        let day = run.at.0.strftime("%Y-%m-%d").to_string();
        sums.entry(day).or_default().add(&run.cost);
    }
    sums.into_iter().collect()
}

/// Returns the limits that are set, each in the unit of sums: dollars in millionths.
fn limits(caps: Caps) -> impl Iterator<Item = (BudgetUnit, u64)> {
    let limits = [
        (BudgetUnit::Usd, caps.micro_usd),
        (BudgetUnit::Tokens, caps.tokens),
        (BudgetUnit::Calls, caps.calls),
    ];
    limits.into_iter().filter_map(|(unit, limit)| Some((unit, limit?)))
}

fn budget_use(
    scope: BudgetScope,
    (unit, limit): (BudgetUnit, u64),
    periods: &[(String, CostSum)],
) -> BudgetUse {
    let amount = |sum: &CostSum| match unit {
        BudgetUnit::Usd => sum.micro_usd,
        BudgetUnit::Tokens => sum.tokens,
        BudgetUnit::Calls => sum.calls,
    };
    // Of periods with the same use, the first counts.
    let highest = periods.iter().rev().max_by_key(|(_, sum)| amount(sum));
    let used = highest.map_or(0, |(_, sum)| amount(sum));
    let scale = if unit == BudgetUnit::Usd { MICRO } else { 1.0 };
    BudgetUse {
        scope,
        unit,
        limit: limit as f64 / scale,
        highest: used as f64 / scale,
        highest_at: highest.map(|(name, _)| name.clone()),
        share: share(used, limit),
        unpriced_runs: periods.iter().map(|(_, sum)| sum.unpriced_runs).sum(),
    }
}

#[cfg(test)]
mod tests {
    use assay_store::ledger::record::RunCost;

    use super::*;

    fn run(at: &str, calls: u64, usd: Option<f64>) -> RunFacts {
        let cost = RunCost { calls, tokens: calls * 100, usd, ..RunCost::default() };
        RunFacts { at: at.parse().unwrap(), is_complete: true, cost }
    }

    #[test]
    fn a_cost_without_accepted_findings_or_with_unknown_prices_has_no_quotient() {
        let sum = total(&[run("2026-05-01T08:00:00Z", 4, Some(0.5))]);
        let cost = CostStatistics::new(&sum, 0);
        assert_eq!((cost.usd, cost.usd_per_accepted, cost.tokens_per_accepted), (0.5, None, None));
        let cost = CostStatistics::new(&sum, 3);
        assert_eq!((cost.usd_per_accepted, cost.tokens_per_accepted), (Some(0.166_667), Some(133)));
        let sum = total(&[run("2026-05-01T08:00:00Z", 4, None)]);
        let cost = CostStatistics::new(&sum, 2);
        assert_eq!((cost.unpriced_runs, cost.usd_per_accepted), (1, None));
        assert_eq!(cost.tokens_per_accepted, Some(200));
    }

    #[test]
    fn a_budget_is_compared_with_the_highest_run_and_the_highest_day() {
        let runs = [
            run("2026-05-01T08:00:00Z", 4, Some(0.5)),
            run("2026-05-01T09:00:00Z", 3, Some(0.75)),
            run("2026-05-02T09:00:00Z", 5, None),
        ];
        let run = Caps { micro_usd: Some(1_000_000), ..Caps::default() };
        let day = Caps { micro_usd: Some(1_000_000), tokens: None, calls: Some(0) };
        let uses = budget_uses(&runs, (run, day));
        let shown: Vec<_> = uses
            .iter()
            .map(|budget| (budget.highest, budget.highest_at.as_deref(), budget.share))
            .collect();
        let expected = [
            (0.75, Some("2026-05-01T09:00:00.000Z"), Some(0.75)),
            (1.25, Some("2026-05-01"), Some(1.25)),
            (7.0, Some("2026-05-01"), None),
        ];
        assert_eq!(shown, expected);
        assert_eq!(uses[0].unpriced_runs, 1);
        assert!(budget_uses(&runs, (Caps::default(), Caps::default())).is_empty());
    }
}
