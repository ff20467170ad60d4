//! Reproducible pseudo-random numbers: [`Random`].

/// A sequence of numbers that follows from a seed.
#[derive(Debug, Clone)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Returns a number below a limit.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 = hash(&self.0.wrapping_add(1).to_le_bytes());
        self.0 % limit.max(1)
    }
}

/// Returns a hash of some bytes, which is the same on every machine and with every compiler.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    // FNV, whose upper bits are mixed into the lower ones.
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325, step);
    let hash = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ hash >> 29
}

/// Returns a commit id for a text, always the same.
pub fn sha(text: &str) -> String {
    let part = |number: u8| hash(&[&[number], text.as_bytes()].concat());
    format!("{:016x}{:016x}{:08x}", part(0), part(1), part(2) as u32)
}
