//! Limits for CI: minimum and maximum figures (`--min f1=.4 --max noise=.6`), and regressions
//! against a baseline.

use std::fmt;
use std::str::FromStr;

use crate::report::{EvalReport, ReviewerScore};

/// The names of the figures that a limit may use.
pub const FIGURES: [&str; 8] =
    ["f1", "precision", "recall", "macro_f1", "noise", "comments", "blocked_clean", "duplicates"];

/// Figures for which a lower value is better.
const LESS_IS_BETTER: [&str; 4] = ["noise", "comments", "blocked_clean", "duplicates"];

/// A figure and the value with which the figure is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Limit {
    /// The name of the figure, from [`FIGURES`].
    pub figure: String,
    /// The minimum or maximum of the figure.
    pub value: f64,
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Limit, String> {
        let (figure, value) = text
            .split_once('=')
            .ok_or_else(|| format!("`{text}` is no limit; expected for example `f1=0.4`"))?;
        if !FIGURES.contains(&figure) {
            return Err(format!("`{figure}` is no figure; expected one of {}", FIGURES.join(", ")));
        }
        let value = value.parse().ok().filter(|value: &f64| value.is_finite());
        let value = value.ok_or_else(|| format!("`{text}` needs a number behind the `=`"))?;
        Ok(Limit { figure: figure.to_owned(), value })
    }
}

/// A limit that a reviewer does not meet.
#[derive(Debug, Clone, PartialEq)]
pub struct Breach {
    /// The reviewer's name.
    pub reviewer: String,
    /// The figure's name.
    pub figure: String,
    /// The value of the figure; `None` if it is undefined, which meets no limit.
    pub value: Option<f64>,
    /// The limit in words, such as `at least 0.4`.
    pub limit: String,
}

impl fmt::Display for Breach {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Breach { reviewer, figure, value, limit } = self;
        match value {
            Some(value) => write!(f, "{reviewer}: {figure} is {value:.3}, and has to be {limit}"),
            None => write!(f, "{reviewer}: {figure} is undefined, and has to be {limit}"),
        }
    }
}

/// Returns the limits that a reviewer does not meet.
pub fn breaches(reviewer: &ReviewerScore, least: &[Limit], most: &[Limit]) -> Vec<Breach> {
    let held = |limit: &Limit, is_least: bool| {
        let value = reviewer.summary.figure(&limit.figure);
        let keeps = value.is_some_and(|value| match is_least {
            true => value >= limit.value,
            false => value <= limit.value,
        });
        let word = if is_least { "at least" } else { "at most" };
        (!keeps).then(|| Breach {
            reviewer: reviewer.name.clone(),
            figure: limit.figure.clone(),
            value,
            limit: format!("{word} {}", limit.value),
        })
    };
    let least = least.iter().filter_map(|limit| held(limit, true));
    least.chain(most.iter().filter_map(|limit| held(limit, false))).collect()
}

/// Returns the figures in which a reviewer is worse than in an earlier report, by more than a
/// tolerance. A reviewer that is not in the earlier report is not compared.
pub fn regressions(now: &EvalReport, earlier: &EvalReport, tolerance: f64) -> Vec<Breach> {
    let mut found = Vec::new();
    for reviewer in &now.reviewers {
        let Some(before) = earlier.reviewers.iter().find(|it| it.name == reviewer.name) else {
            continue;
        };
        for figure in ["f1", "blocked_clean", "comments"] {
            let Some(old) = before.summary.figure(figure) else { continue };
            let limit = match LESS_IS_BETTER.contains(&figure) {
                true => (vec![], vec![Limit { figure: figure.to_owned(), value: old + tolerance }]),
                false => {
                    (vec![Limit { figure: figure.to_owned(), value: old - tolerance }], vec![])
                }
            };
            found.extend(breaches(reviewer, &limit.0, &limit.1));
        }
    }
    found
}
