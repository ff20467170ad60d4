//! The JSON Schema of a severity that users write, in a configuration file: [`severity_schema`].

use schemars::{Schema, SchemaGenerator, json_schema};

/// The severity words that the manual lists: the seven levels, P0 to P3, and the obligations.
const SEVERITY_NAMES: [&str; 14] = [
    "CRITICAL", "HIGH", "MAJOR", "MEDIUM", "LOW", "MINOR", "SUGGESTION", "P0", "P1", "P2", "P3",
    "MUST", "SHOULD", "MAY",
];

/// Returns the schema of a severity: a listed word, in any case. Editors offer the words in upper
/// case.
pub fn severity_schema(_: &mut SchemaGenerator) -> Schema {
    let pattern = format!("^({})$", SEVERITY_NAMES.map(any_case).join("|"));
    json_schema!({
        "title": "severity",
        "anyOf": [{ "enum": SEVERITY_NAMES }, { "type": "string", "pattern": pattern }],
    })
}

/// Returns a pattern for a word in any case; JSON Schema has no flag for that.
fn any_case(word: &str) -> String {
    let letter = |c: char| match c.is_ascii_alphabetic() {
        true => format!("[{c}{}]", c.to_ascii_lowercase()),
        false => c.to_string(),
    };
    word.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::grade::Grade;

    #[test]
    fn every_listed_word_is_a_known_severity() {
        for word in SEVERITY_NAMES {
            assert!(!Grade::from_word(word).is_unmapped(), "{word}");
        }
    }

    #[test]
    fn the_schema_accepts_the_words_in_any_case_and_no_others() {
        let schema = severity_schema(&mut SchemaGenerator::default()).to_value();
        let validator = jsonschema::validator_for(&schema).unwrap();
        for word in ["HIGH", "high", "High", "p0", "Suggestion"] {
            assert!(validator.is_valid(&json!(word)), "{word}");
        }
        for word in [json!("HIGHER"), json!("none"), json!(""), json!(1)] {
            assert!(!validator.is_valid(&word), "{word}");
        }
    }
}
