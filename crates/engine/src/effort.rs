//! The effort of the models in a review: [`Effort`], one option for readings, second looks and budget.

use assay_review::recording::Grouping;

use crate::config::models::SpendingCaps;

/// The maximum number of tokens of a review with low effort.
const LOW_MAX_TOKENS: u64 = 200_000;

/// The effort of the models in a review.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Effort {
    /// A few readings without second looks and look-ups, within 200,000 tokens.
    Low,
    /// As configured.
    #[default]
    Medium,
    /// Each persona reads on its own, with second looks and look-ups.
    High,
}

impl Effort {
    /// Returns the way in which personas share the reading of a change.
    pub(crate) fn grouping(self, configured: Grouping) -> Grouping {
        match self {
            Effort::Low => Grouping::Readings,
            Effort::Medium => configured,
            Effort::High => Grouping::EachPersona,
        }
    }

    /// Returns true if a model takes a second look at findings, or looks things up.
    pub(crate) fn allows(self, configured: bool) -> bool {
        match self {
            Effort::Low => false,
            Effort::Medium => configured,
            Effort::High => true,
        }
    }

    /// Returns the spending limits; a limit that the user sets has precedence.
    pub(crate) fn caps(self, asked: SpendingCaps) -> SpendingCaps {
        match self {
            Effort::Low if asked.usd.is_none() => {
                SpendingCaps { tokens: asked.tokens.or(Some(LOW_MAX_TOKENS)), ..asked }
            }
            Effort::Low | Effort::Medium | Effort::High => asked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_effort_reads_more_and_less_effort_costs_less() {
        let asked = SpendingCaps::default();
        assert_eq!(Effort::Low.caps(asked).tokens, Some(LOW_MAX_TOKENS));
        assert_eq!(Effort::High.caps(asked).tokens, None);
        for configured in [true, false] {
            assert!(!Effort::Low.allows(configured) && Effort::High.allows(configured));
            assert_eq!(Effort::Medium.allows(configured), configured);
        }
        assert_eq!(Effort::Medium.grouping(Grouping::EachPersona), Grouping::EachPersona);
        assert_eq!(Effort::Low.grouping(Grouping::EachPersona), Grouping::Readings);
    }

    #[test]
    fn a_limit_of_the_user_has_precedence() {
        let tokens = SpendingCaps { tokens: Some(500_000), ..SpendingCaps::default() };
        assert_eq!(Effort::Low.caps(tokens).tokens, Some(500_000));
        let usd = SpendingCaps { usd: Some(2.0), ..SpendingCaps::default() };
        assert_eq!(Effort::Low.caps(usd).tokens, None);
    }
}
