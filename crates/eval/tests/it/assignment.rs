//! Compares the one-to-one matching with an exhaustive search.

use assay_eval::assignment::greatest_weight;
use proptest::prelude::*;

/// Returns the greatest sum of weights, by an exhaustive search.
fn best_by_trying(weights: &[Vec<f64>], row: usize, used: &mut Vec<bool>) -> f64 {
    if row == weights.len() {
        return 0.0;
    }
    let mut best = best_by_trying(weights, row + 1, used);
    for column in 0..weights[row].len() {
        if !used[column] && weights[row][column] > 0.0 {
            used[column] = true;
            best = best.max(weights[row][column] + best_by_trying(weights, row + 1, used));
            used[column] = false;
        }
    }
    best
}

proptest! {
    #[test]
    fn no_other_matching_weighs_more(
        weights in (0..5usize, 0..5usize).prop_flat_map(|(rows, columns)| {
            let weight = prop_oneof![Just(0.0), 0.0..1.0f64];
            prop::collection::vec(prop::collection::vec(weight, columns), rows)
        }),
    ) {
        let matched = greatest_weight(&weights);
        let columns = weights.first().map_or(0, Vec::len);
        let mut used = vec![false; columns];
        let mut total = 0.0;
        for (row, column) in matched.iter().enumerate() {
            if let Some(column) = *column {
                prop_assert!(weights[row][column] > 0.0, "a weight of zero is no match");
                prop_assert!(!used[column], "a column is matched once");
                used[column] = true;
                total += weights[row][column];
            }
        }
        let best = best_by_trying(&weights, 0, &mut vec![false; columns]);
        prop_assert!((total - best).abs() < 1e-9, "{total} instead of {best}");
    }
}

#[test]
fn a_greedy_matching_is_not_enough() {
    // Greedy takes 0.9 and loses one of the two matches.
    assert_eq!(greatest_weight(&[vec![0.9, 0.8], vec![0.8, 0.0]]), [Some(1), Some(0)]);
}
