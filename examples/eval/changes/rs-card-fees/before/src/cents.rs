/// An amount of money in cents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cents(pub u64);

impl Cents {
    /// Returns a share of the amount, rounded half up. The share is given in basis
    /// points: 10 000 are the whole amount.
    pub fn share(self, points: u64) -> Cents {
        Cents((self.0 * points + 5_000) / 10_000)
    }
}
