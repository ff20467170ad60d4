//! A pattern of rule ids: [`RulePattern`].

use serde::{Deserialize, Serialize};

/// A rule id in which `*` is any text, such as `*/sql-injection`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RulePattern(String);

impl RulePattern {
    /// Returns true if a rule id matches the pattern, in any case.
    pub(super) fn matches(&self, rule: &str) -> bool {
        let (pattern, rule) = (self.0.to_ascii_lowercase(), rule.to_ascii_lowercase());
        let mut parts = pattern.split('*');
        let first = parts.next().unwrap_or_default();
        let Some(mut rest) = rule.strip_prefix(first) else { return false };
        let mut parts: Vec<&str> = parts.collect();
        let Some(last) = parts.pop() else { return rest.is_empty() };
        for part in parts {
            let Some(at) = rest.find(part) else { return false };
            rest = &rest[at + part.len()..];
        }
        rest.ends_with(last)
    }
}

impl TryFrom<String> for RulePattern {
    type Error = String;

    fn try_from(text: String) -> Result<RulePattern, String> {
        let has_text = text.chars().any(char::is_alphanumeric);
        if !has_text || text.contains(char::is_whitespace) {
            return Err(format!("invalid rule `{text}`: expected an id such as `bandit/B608`"));
        }
        Ok(RulePattern(text))
    }
}

impl From<RulePattern> for String {
    fn from(pattern: RulePattern) -> String {
        pattern.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_text() {
        let matches = |pattern: &str, rule: &str| {
            RulePattern::try_from(pattern.to_owned()).unwrap().matches(rule)
        };
        assert!(matches("*/sql-injection", "python/sql-injection"));
        assert!(matches("*/sql-injection", "codeql/py/sql-injection"));
        assert!(!matches("*/sql-injection", "javascript/nosql-injection"));
        assert!(!matches("*/sql-injection", "python/sql-injection-test"));
        assert!(matches("bandit/B608", "bandit/b608"));
        assert!(!matches("bandit/B60", "bandit/B608"));
        assert!(matches("semgrep/*xss*", "semgrep/js.xss.reflected"));
        assert!(!matches("a*b*b", "ab"));
    }
}
