//! A random number generator with reproducible output: [`SplitMix64`].

/// The generator SplitMix64: small, fast, and with the same output on every machine.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64(seed)
    }

    /// Returns the next number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`, which must not be zero.
    pub fn below(&mut self, end: usize) -> usize {
        // Multiplying instead of dividing keeps the bias below 2^-32 for all practical sizes.
        ((u128::from(self.next_u64()) * end as u128) >> 64) as usize
    }

    /// Draws `count` different items in random order, or all items if there are fewer.
    pub fn draw<'a, T>(&mut self, items: &'a [T], count: usize) -> Vec<&'a T> {
        let mut order: Vec<usize> = (0..items.len()).collect();
        for at in 0..count.min(items.len()) {
            let other = at + self.below(items.len() - at);
            order.swap(at, other);
        }
        order.iter().take(count).map(|at| &items[*at]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_those_of_the_published_generator() {
        let mut random = SplitMix64::new(1_234_567);
        let drawn: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn a_draw_takes_each_item_at_most_once() {
        let items: Vec<usize> = (0..20).collect();
        let mut drawn: Vec<usize> =
            SplitMix64::new(7).draw(&items, 30).into_iter().copied().collect();
        assert_ne!(drawn, items);
        drawn.sort_unstable();
        assert_eq!(drawn, items);
    }
}
