//! Parsing of severities that users write.

use assay_findings::grade::Grade;

/// Parses a severity in any of the known vocabularies.
pub fn parse_severity(word: &str) -> Result<Grade, String> {
    let grade = Grade::from_word(word);
    if grade.is_unmapped() {
        return Err("expected one of CRITICAL, HIGH, MAJOR, MEDIUM, LOW, MINOR, SUGGESTION, \
                    P0 to P3, MUST, SHOULD, MAY"
            .to_owned());
    }
    Ok(grade)
}
