//! The options of a command that limit the rules of a review: [`RuleOptions`].

use assay_rules::{RuleSelectionError, Rulebook};

use crate::wording::count;

/// The maximum number of rules that a note names.
const MAX_NAMED: usize = 5;

/// The options of a command that limit the rules, in addition to the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RuleOptions {
    /// Ids and globs of the rules to apply; empty for all rules.
    pub select: Vec<String>,
    /// Ids and globs of the rules to leave out.
    pub ignore: Vec<String>,
}

impl RuleOptions {
    /// Limits the rules of a rulebook. Fails if an option names an unknown rule.
    pub(crate) fn limit(&self, rules: Rulebook) -> Result<Rulebook, RuleSelectionError> {
        if self.select.is_empty() && self.ignore.is_empty() {
            return Ok(rules);
        }
        let mut selection = rules.selection().clone();
        selection.select("`--select`", self.select.iter().map(String::as_str))?;
        selection.ignore("`--ignore`", self.ignore.iter().map(String::as_str))?;
        rules.with_selection(selection)
    }
}

/// Returns a note for the user on the rules that are not applied; `None` if all are.
pub(crate) fn not_applied_note(rules: &[&str]) -> Option<String> {
    if rules.is_empty() {
        return None;
    }
    let named = rules.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
    let others = match rules.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!("{} not applied: {named}{others}", count(rules.len(), "rule")))
}
