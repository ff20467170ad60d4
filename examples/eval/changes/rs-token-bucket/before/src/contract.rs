/// Throttle terms of a customer, as signed.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// Refill rate in messages per minute.
    pub rate: u32,
    /// Largest number of messages at once, at least 1.
    pub burst: u32,
}
