//! Shares of a bill.

use crate::bill::Bill;

/// Returns the share of each guest in cents, None if nobody pays.
pub fn split(bill: &Bill) -> Option<Vec<u64>> {
    let total: u64 = bill.weights().iter().map(|&weight| u64::from(weight)).sum();
    if total == 0 {
        return None;
    }
    let mut shares: Vec<u64> = bill
        .weights()
        .iter()
        .map(|&weight| bill.cents() * u64::from(weight) / total)
        .collect();
    let left = bill.cents() - shares.iter().sum::<u64>();
    // Each payer loses less than one cent by rounding, so one round is enough.
    let payers = bill
        .weights()
        .iter()
        .zip(shares.iter_mut())
        .filter(|(weight, _)| **weight > 0);
    for (_, share) in payers.take(left as usize) {
        *share += 1;
    }
    Some(shares)
}

/// Returns the share as text, for example "12.05".
pub fn format_share(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}
