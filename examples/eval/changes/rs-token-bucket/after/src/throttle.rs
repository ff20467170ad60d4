//! Token buckets for outgoing messages.

use std::collections::HashMap;
use std::time::Instant;

use crate::contract::Terms;

#[derive(Debug)]
struct Bucket {
    tokens: f64,
    filled_at: Instant,
}

impl Bucket {
    fn full(terms: Terms, now: Instant) -> Self {
        Bucket {
            tokens: f64::from(terms.burst),
            filled_at: now,
        }
    }

    /// Adds the tokens that have accrued since the last refill.
    fn refill(&mut self, terms: Terms, now: Instant) {
        let elapsed = now.duration_since(self.filled_at).as_secs_f64();
        let tokens = self.tokens + elapsed * f64::from(terms.rate);
        self.tokens = tokens.min(f64::from(terms.burst));
        self.filled_at = now;
    }
}

/// The buckets of all customers.
#[derive(Debug, Default)]
pub struct Throttle {
    buckets: HashMap<u64, Bucket>,
}

impl Throttle {
    /// Takes a token of the customer; returns false if there is none.
    pub fn take(&mut self, customer: u64, terms: Terms, now: Instant) -> bool {
        let bucket = self
            .buckets
            .entry(customer)
            .or_insert_with(|| Bucket::full(terms, now));
        bucket.refill(terms, now);
        if bucket.tokens < 1.0 {
            return false;
        }
        bucket.tokens -= 1.0;
        true
    }
}
