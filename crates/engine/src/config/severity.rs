//! Parsing of severities that users write.

use assay_base::nearest::{did_you_mean, nearest};
use assay_findings::grade::Grade;

/// The severities that are suggested for a misspelled one.
const WORDS: [&str; 10] =
    ["CRITICAL", "HIGH", "MAJOR", "MEDIUM", "LOW", "MINOR", "SUGGESTION", "MUST", "SHOULD", "MAY"];

/// Parses a severity in any of the known vocabularies.
pub fn parse_severity(word: &str) -> Result<Grade, String> {
    let grade = Grade::from_word(word);
    if grade.is_unmapped() {
        return Err(format!(
            "expected one of CRITICAL, HIGH, MAJOR, MEDIUM, LOW, MINOR, SUGGESTION, P0 to P3, \
             MUST, SHOULD, MAY{}",
            did_you_mean(&nearest(word, WORDS))
        ));
    }
    Ok(grade)
}
