//! Severities, as people write them.

use assay_findings::grade::Grade;

/// Reads a severity in any of the vocabularies.
pub fn parse_severity(word: &str) -> Result<Grade, String> {
    let grade = Grade::from_word(word);
    if grade.is_unmapped() {
        return Err("expected one of CRITICAL, HIGH, MAJOR, MEDIUM, LOW, MINOR, SUGGESTION, \
                    P0 to P3, MUST, SHOULD, MAY"
            .to_owned());
    }
    Ok(grade)
}
