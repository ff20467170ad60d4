//! Hash tables for many short keys: [`FastMap`], [`FastSet`]; and lists without repeats:
//! [`sorted`].
//!
//! No code may depend on the order of such a table. Each table has a random seed, so that no input
//! can be made to collide in all tables.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher};

/// Returns the distinct items, sorted.
pub(crate) fn sorted<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = items.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// A map that hashes its keys fast.
pub(crate) type FastMap<K, V> = HashMap<K, V, FastState>;

/// A set that hashes its keys fast.
pub(crate) type FastSet<K> = HashSet<K, FastState>;

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The seed of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FastState(u64);

impl Default for FastState {
    fn default() -> FastState {
        FastState(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for FastState {
    type Hasher = FastHasher;

    fn build_hasher(&self) -> FastHasher {
        FastHasher(self.0)
    }
}

/// A hasher that multiplies eight bytes at a time and folds the two halves of the product.
#[derive(Debug)]
pub(crate) struct FastHasher(u64);

impl FastHasher {
    fn add(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(FACTOR);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }
}

impl Hasher for FastHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.add(u64::from_le_bytes(*word)));
        let (halves, rest) = rest.as_chunks::<4>();
        let half = halves.first().map_or(0, |half| u64::from(u32::from_le_bytes(*half)));
        let rest = rest.iter().fold(rest.len() as u64, |word, byte| word << 8 | u64::from(*byte));
        self.add(half << 32 | rest);
    }

    fn write_u8(&mut self, number: u8) {
        self.add(u64::from(number));
    }

    fn write_u32(&mut self, number: u32) {
        self.add(u64::from(number));
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
