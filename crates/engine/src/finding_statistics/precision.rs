//! Shares with their uncertainty, and quantiles of times.

/// The 97.5 % quantile of the normal distribution, for intervals of 95 %.
const Z: f64 = 1.959_964;

/// A share, with its Wilson interval of 95 %.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Precision {
    pub(super) share: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Precision {
    /// Returns `part` of `total` as a share; `None` if there is nothing to share.
    pub(super) fn new(part: u64, total: u64) -> Option<Precision> {
        let share = share(part, total)?;
        let (n, z2) = (total as f64, Z * Z);
        let exact = part as f64 / n;
        let centre = (exact + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let spread = (exact * (1.0 - exact) / n + z2 / (4.0 * n * n)).sqrt();
        let half = Z / (1.0 + z2 / n) * spread;
        let [low, high] = [centre - half, centre + half].map(|bound| round(bound.clamp(0.0, 1.0)));
        Some(Precision { share, low, high })
    }
}

/// Returns `part` of `total` as a number from 0 to 1; `None` if `total` is 0.
pub(super) fn share(part: u64, total: u64) -> Option<f64> {
    (total > 0).then(|| round(part as f64 / total as f64))
}

/// Rounds to four digits, which are more than the counts of a ledger support.
fn round(number: f64) -> f64 {
    (number * 1e4).round() / 1e4
}

/// Returns the median of sorted values, the mean of the two in the middle if their number is even;
/// `None` if there is no value.
pub(super) fn median(sorted: &[u64]) -> Option<u64> {
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    match sorted.len() % 2 {
        0 => Some(sorted[middle - 1].midpoint(upper)),
        _ => Some(upper),
    }
}

/// Returns the 90th percentile of sorted values: the smallest value that nine tenths do not exceed;
/// `None` if there is no value.
pub(super) fn percentile_90(sorted: &[u64]) -> Option<u64> {
    let rank = (sorted.len() * 9).div_ceil(10);
    sorted.get(rank.checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_has_the_interval_of_wilson() {
        // Computed by hand: 3 of 4 is (0.75 + 0.4802 ± 1.96 · √(0.1875 / 4 + 3.8415 / 64)) / 1.9604.
        let three = Precision { share: 0.75, low: 0.3006, high: 0.9544 };
        assert_eq!(Precision::new(3, 4), Some(three));
        assert_eq!(Precision::new(0, 10), Some(Precision { share: 0.0, low: 0.0, high: 0.2775 }));
        assert_eq!(Precision::new(5, 5), Some(Precision { share: 1.0, low: 0.5655, high: 1.0 }));
    }

    #[test]
    fn zero_of_zero_has_no_share() {
        assert_eq!((Precision::new(0, 0), share(0, 0)), (None, None));
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        assert_eq!((median(&[]), percentile_90(&[])), (None, None));
        assert_eq!((median(&[7]), percentile_90(&[7])), (Some(7), Some(7)));
        assert_eq!(median(&[1, 2, 4, 100]), Some(3));
        assert_eq!(median(&[u64::MAX, u64::MAX]), Some(u64::MAX));
        let ten: Vec<u64> = (1..=10).collect();
        assert_eq!(percentile_90(&ten), Some(9));
        assert_eq!(percentile_90(&ten[..9]), Some(9));
        assert_eq!(percentile_90(&[1, 2]), Some(2));
    }
}
