use std::time::Duration;

/// A support ticket.
#[derive(Debug, Clone)]
pub struct Ticket {
    pub number: u32,
    /// Subject of the first mail, any Unicode text.
    pub subject: String,
    pub age: Duration,
}
