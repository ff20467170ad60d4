//! Prices of tokens: [`Price`], in integers.

use serde::{Deserialize, Serialize};

use crate::Usage;

/// The price of a million tokens, in millionths of a dollar: 3,000,000 is three dollars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Price {
    /// Input that is not read from a cache.
    pub input: u64,
    /// Output.
    pub output: u64,
    /// Input that is read from the provider's cache.
    pub cache_read: u64,
    /// Input that is written to the provider's cache.
    pub cache_write: u64,
}

const MILLION: u128 = 1_000_000;

impl Price {
    /// Returns the cost of tokens in millionths of a dollar, rounded up.
    pub fn cost(&self, usage: Usage) -> u64 {
        let cost = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let whole = cost(usage.input, self.input)
            .saturating_add(cost(usage.output, self.output))
            .saturating_add(cost(usage.cache_read, self.cache_read))
            .saturating_add(cost(usage.cache_write, self.cache_write));
        u64::try_from(whole.div_ceil(MILLION)).unwrap_or(u64::MAX)
    }

    /// Returns the most that tokens can cost, with or without the provider's cache.
    pub fn max_cost(&self, usage: Usage) -> u64 {
        let input = self.input.max(self.cache_read).max(self.cache_write);
        Price { input, cache_read: input, cache_write: input, output: self.output }.cost(usage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRICE: Price =
        Price { input: 3_000_000, output: 15_000_000, cache_read: 300_000, cache_write: 3_750_000 };

    #[test]
    fn money_is_counted_in_whole_numbers_and_rounded_up() {
        let usage = Usage { input: 1_000, cache_read: 10_001, cache_write: 2_000, output: 500 };
        assert_eq!(PRICE.cost(usage), 3_000 + 3_001 + 7_500 + 7_500);
        assert_eq!(PRICE.cost(Usage::default()), 0);
        assert_eq!(PRICE.cost(Usage { output: u64::MAX, ..usage }), u64::MAX);
    }

    #[test]
    fn the_maximum_cost_is_the_cost_of_a_cache_write() {
        let usage = Usage { input: 1_000, ..Usage::default() };
        assert_eq!((PRICE.cost(usage), PRICE.max_cost(usage)), (3_000, 3_750));
    }

    #[test]
    fn an_overflowing_cost_saturates() {
        let most = u64::MAX;
        let price = Price { input: most, output: most, cache_read: most, cache_write: most };
        let usage = Usage { input: most, cache_read: most, cache_write: most, output: most };
        assert_eq!(price.cost(usage), most);
    }
}
