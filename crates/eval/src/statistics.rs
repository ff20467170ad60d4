//! Bootstrap intervals, paired comparisons, calibration and rank correlation.

use serde::{Deserialize, Serialize};

use crate::random::SplitMix64;

/// The default number of draws of a bootstrap.
pub const DEFAULT_DRAWS: usize = 2000;

/// A figure with its 95 % bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The figure over all cases.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// Returns a figure over items with its bootstrap interval. Returns `None` if the figure over all
/// items is undefined. Draws for which the figure is undefined are left out.
pub fn bootstrap<T>(
    items: &[T],
    draws: usize,
    seed: u64,
    figure: impl Fn(&[&T]) -> Option<f64>,
) -> Option<Estimate> {
    let all: Vec<&T> = items.iter().collect();
    let value = figure(&all)?;
    let mut random = SplitMix64::new(seed);
    let mut drawn: Vec<f64> =
        (0..draws).filter_map(|_| figure(&resample(&all, &mut random))).collect();
    drawn.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| quantile(&drawn, share).unwrap_or(value);
    Some(Estimate { value, low: at(0.025), high: at(0.975) })
}

/// The difference of a figure between two reviewers on the same cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedDifference {
    /// The difference, first minus second, with its interval.
    pub difference: Estimate,
    /// The ratio of draws in which the first reviewer is ahead, from 0 to 1; a tie counts half.
    pub ahead: f64,
}

/// Compares a figure of two reviewers, with the same cases in every draw.
pub fn paired<T>(
    pairs: &[(T, T)],
    draws: usize,
    seed: u64,
    figure: impl Fn(&[&T]) -> Option<f64>,
) -> Option<PairedDifference> {
    let difference = |drawn: &[&(T, T)]| {
        let first: Vec<&T> = drawn.iter().map(|pair| &pair.0).collect();
        let second: Vec<&T> = drawn.iter().map(|pair| &pair.1).collect();
        Some(figure(&first)? - figure(&second)?)
    };
    let estimate = bootstrap(pairs, draws, seed, difference)?;
    let all: Vec<&(T, T)> = pairs.iter().collect();
    let mut random = SplitMix64::new(seed);
    let drawn: Vec<f64> =
        (0..draws).filter_map(|_| difference(&resample(&all, &mut random))).collect();
    let worth = |value: &f64| match value.total_cmp(&0.0) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Greater => 1.0,
    };
    let ahead = match drawn.is_empty() {
        true => 0.5,
        false => drawn.iter().map(worth).sum::<f64>() / drawn.len() as f64,
    };
    Some(PairedDifference { difference: estimate, ahead })
}

fn resample<'a, T>(items: &[&'a T], random: &mut SplitMix64) -> Vec<&'a T> {
    (0..items.len()).map(|_| items[random.below(items.len())]).collect()
}

/// Returns a quantile of sorted values, interpolated linearly. Returns `None` without values.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = share * last as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    Some(sorted[low] + (sorted[high] - sorted[low]) * (at - at.floor()))
}

/// The calibration of stated confidence: how well it predicts which comments are right.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// The Brier score, the mean squared difference between confidence and outcome: 0 is perfect,
    /// 0.25 is a coin toss.
    pub brier: f64,
    /// The bins of the calibration curve, by confidence.
    pub curve: Vec<CalibrationBin>,
}

/// A group of comments with similar confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CalibrationBin {
    /// The mean stated confidence.
    pub stated: f64,
    /// The ratio of comments that are right, from 0 to 1.
    pub right: f64,
    /// The number of comments.
    pub comments: usize,
}

/// Returns the calibration of comments in ten bins of equal width. Returns `None` without comments.
pub fn calibration(comments: &[(f64, bool)]) -> Option<Calibration> {
    if comments.is_empty() {
        return None;
    }
    let outcome = |right: bool| f64::from(u8::from(right));
    let squared = |(stated, right): &(f64, bool)| (stated - outcome(*right)).powi(2);
    let brier = comments.iter().map(squared).sum::<f64>() / comments.len() as f64;
    let bin_of = |stated: f64| ((stated * 10.0).floor().clamp(0.0, 9.0)) as usize;
    let bins = (0..10).filter_map(|bin| {
        let here: Vec<&(f64, bool)> =
            comments.iter().filter(|(stated, _)| bin_of(*stated) == bin).collect();
        let count = here.len() as f64;
        (!here.is_empty()).then(|| CalibrationBin {
            stated: here.iter().map(|(stated, _)| stated).sum::<f64>() / count,
            right: here.iter().map(|(_, right)| outcome(*right)).sum::<f64>() / count,
            comments: here.len(),
        })
    });
    Some(Calibration { brier, curve: bins.collect() })
}

/// Returns Spearman's rank correlation of two lists of equal length; equal values share the mean of
/// their ranks. Returns `None` for fewer than two values, or if a list is constant.
pub fn spearman(first: &[f64], second: &[f64]) -> Option<f64> {
    if first.len() != second.len() || first.len() < 2 {
        return None;
    }
    let (a, b) = (ranks(first), ranks(second));
    let mean = (a.len() as f64 + 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum()
    };
    let spread = (product(&a, &a) * product(&b, &b)).sqrt();
    (spread > 0.0).then(|| product(&a, &b) / spread)
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let equal = values.iter().filter(|other| *other == value).count() as f64;
        below + (equal + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_equal_cases_is_a_point() {
        let mean = |items: &[&f64]| Some(items.iter().copied().sum::<f64>() / items.len() as f64);
        let estimate = bootstrap(&[0.5, 0.5, 0.5], 100, 1, mean).unwrap();
        assert_eq!((estimate.low, estimate.value, estimate.high), (0.5, 0.5, 0.5));
    }

    #[test]
    fn an_interval_holds_the_figure_and_narrows_with_more_cases() {
        let mean = |items: &[&f64]| Some(items.iter().copied().sum::<f64>() / items.len() as f64);
        let width = |count: usize| {
            let values: Vec<f64> = (0..count).map(|at| (at % 10) as f64).collect();
            let estimate = bootstrap(&values, 500, 7, mean).unwrap();
            assert!(estimate.low < 4.5 && 4.5 < estimate.high);
            estimate.high - estimate.low
        };
        assert!(width(400) < width(40) / 2.0);
    }

    #[test]
    fn a_reviewer_is_not_ahead_of_itself() {
        let pairs: Vec<(f64, f64)> = (0..20).map(|at| (f64::from(at), f64::from(at))).collect();
        let mean = |items: &[&f64]| Some(items.iter().copied().sum::<f64>() / items.len() as f64);
        let compared = paired(&pairs, 200, 3, mean).unwrap();
        assert_eq!((compared.difference.value, compared.ahead), (0.0, 0.5));
    }

    #[test]
    fn the_brier_score_of_a_sure_and_right_reviewer_is_zero() {
        assert_eq!(calibration(&[(1.0, true), (0.0, false)]).unwrap().brier, 0.0);
        assert_eq!(calibration(&[(0.5, true), (0.5, false)]).unwrap().brier, 0.25);
        assert_eq!(calibration(&[]), None);
    }

    #[test]
    fn ranks_correlate_by_order_alone() {
        assert_eq!(spearman(&[1.0, 2.0, 30.0], &[5.0, 6.0, 7.0]), Some(1.0));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        assert_eq!(spearman(&[1.0, 1.0], &[3.0, 2.0]), None);
    }
}
