//! Compares the decisions that a text refers to, such as `DL-007`, with the log of a plan:
//! [`DecisionLog`].

use std::collections::{BTreeSet, HashSet};

use crate::plan::Plan;

/// The ids of the decisions of a plan.
pub(crate) struct DecisionLog {
    known: HashSet<(String, u64)>,
    /// The prefixes of decision ids.
    prefixes: BTreeSet<String>,
}

impl DecisionLog {
    /// Creates the log of a plan.
    pub(crate) fn of(plan: &Plan) -> DecisionLog {
        let known = plan.decisions.iter().flat_map(|decision| references(&decision.id));
        let known: HashSet<(String, u64)> =
            known.map(|(prefix, number)| (prefix.to_owned(), number)).collect();
        let prefixes = known.iter().map(|(prefix, _)| prefix.clone());
        let prefixes = prefixes.chain(["DL".to_owned()]).collect();
        DecisionLog { known, prefixes }
    }

    /// Returns the decisions that a text refers to and that the log does not have.
    pub(crate) fn missing(&self, text: &str) -> Vec<String> {
        let named = references(text).filter(|(prefix, _)| self.prefixes.contains(*prefix));
        let missing = named
            .map(|(prefix, number)| (prefix.to_owned(), number))
            .filter(|named| !self.known.contains(named));
        missing.map(|(prefix, number)| format!("{prefix}-{number:03}")).collect()
    }
}

/// Returns the possible ids of decisions in a text: a prefix, and a number after it.
fn references(text: &str) -> impl Iterator<Item = (&str, u64)> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.filter_map(|word| {
        let (prefix, number) = word.trim_matches('-').split_once('-')?;
        let is_number = number.len() <= 9 && number.bytes().all(|byte| byte.is_ascii_digit());
        Some((prefix, number.parse().ok().filter(|_| is_number)?))
    })
}
