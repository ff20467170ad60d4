//! Payouts of card payments, see docs/card-fees.md.

use crate::cents::Cents;

/// The kind of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Card {
    Debit,
    Credit,
    Business,
}

impl Card {
    /// Returns the fee of the card in per cent.
    fn fee_percent(self) -> u64 {
        match self {
            Card::Debit => 1,
            Card::Credit => 2,
            Card::Business => 3,
        }
    }
}

/// A card payment of a customer.
#[derive(Debug, Clone, Copy)]
pub struct Payment {
    pub card: Card,
    pub amount: Cents,
}

/// The payout of a day.
#[derive(Debug, PartialEq, Eq)]
pub struct Payout {
    pub gross: Cents,
    pub fees: Cents,
    pub net: Cents,
}

fn fee(payment: &Payment) -> Cents {
    payment.amount.share(payment.card.fee_percent())
}

/// Returns the payout for the payments of a day.
pub fn payout(payments: &[Payment]) -> Payout {
    let gross: u64 = payments.iter().map(|payment| payment.amount.0).sum();
    let fees: u64 = payments.iter().map(|payment| fee(payment).0).sum();
    Payout {
        gross: Cents(gross),
        fees: Cents(fees),
        net: Cents(gross - fees),
    }
}
