/// A bill whose limits have been checked by `Bill::new`.
#[derive(Debug, Clone)]
pub struct Bill {
    cents: u64,
    weights: Vec<u32>,
}

impl Bill {
    /// Returns None for a bill outside of the limits.
    pub fn new(cents: u64, weights: Vec<u32>) -> Option<Bill> {
        let allowed =
            cents < 10_000_000 && weights.len() <= 200 && weights.iter().all(|&w| w <= 1000);
        allowed.then_some(Bill { cents, weights })
    }

    pub fn cents(&self) -> u64 {
        self.cents
    }

    pub fn weights(&self) -> &[u32] {
        &self.weights
    }
}
