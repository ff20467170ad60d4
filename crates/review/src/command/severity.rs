//! The severity words of analysers, and the levels that they map to.

use assay_findings::grade::{Grade, Scheme};
use assay_findings::vote::Confidence;

/// The words of analysers, in any case, and the level of each.
///
/// | the analyser's word | its level | blocks |
/// |---|---|---|
/// | critical, blocker; a security score of 9.0 and up | `CRITICAL` | yes |
/// | error, fatal, high; a security score of 7.0 and up | `HIGH` | yes |
/// | major | `MAJOR` | yes |
/// | warning, medium, moderate; a security score of 4.0 and up; no word | `MEDIUM` | no |
/// | note, info, low, style, none, recommendation; a lower security score | `LOW` | no |
/// | minor | `MINOR` | no |
/// | help, hint, inventory, experiment | `SUGGESTION` | no |
const WORDS: &[(&str, &str)] = &[
    ("critical", "CRITICAL"),
    ("blocker", "CRITICAL"),
    ("error", "HIGH"),
    ("fatal", "HIGH"),
    ("high", "HIGH"),
    ("major", "MAJOR"),
    ("warning", "MEDIUM"),
    ("warn", "MEDIUM"),
    ("medium", "MEDIUM"),
    ("moderate", "MEDIUM"),
    ("", "MEDIUM"),
    ("unknown_severity", "MEDIUM"),
    ("undefined", "LOW"),
    ("note", "LOW"),
    ("info", "LOW"),
    ("information", "LOW"),
    ("low", "LOW"),
    ("style", "LOW"),
    ("none", "LOW"),
    ("recommendation", "LOW"),
    ("minor", "MINOR"),
    ("help", "SUGGESTION"),
    ("hint", "SUGGESTION"),
    ("inventory", "SUGGESTION"),
    ("experiment", "SUGGESTION"),
];

/// Returns the grade of a severity word. An unknown word is kept as it is and counts as `should`.
pub(crate) fn grade(word: &str) -> Grade {
    let word = word.trim();
    let known = WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word));
    known
        .and_then(|(_, level)| Grade::in_scheme(Scheme::Qa7, level))
        .unwrap_or_else(|| Grade::from_word(word))
}

/// Returns the grade of a security score from 0.1 to 10.0; `None` for any other number.
pub(crate) fn grade_of_score(score: f64) -> Option<Grade> {
    let word = match score {
        s if s > 10.0 => return None,
        s if s >= 9.0 => "critical",
        s if s >= 7.0 => "high",
        s if s >= 4.0 => "medium",
        s if s > 0.0 => "low",
        _ => return None,
    };
    Some(grade(word))
}

/// Parses the confidence of an analyser.
pub(crate) fn confidence(word: &str) -> Option<Confidence> {
    match word.trim().to_ascii_lowercase().as_str() {
        "very-high" => Some(Confidence::CERTAIN),
        "high" => Some(Confidence::HIGH),
        "medium" => Some(Confidence::MODERATE),
        "low" => Some(Confidence::LOW),
        _ => None,
    }
}
