/// Seconds of a monotonic clock.
pub type Seconds = u64;

/// A signed-in session; it has ended once the clock has reached `ends_at`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    pub user: String,
    pub signed_in_at: Seconds,
    pub ends_at: Seconds,
}
