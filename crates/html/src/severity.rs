//! Severities on a page: [`SeverityTone`] is the colour of a severity, [`badge`] its label.

use assay_findings::grade::Grade;
use maud::{Markup, html};

/// The colour of a severity, of four. The exact word is always shown beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SeverityTone {
    /// CRITICAL and P0.
    Critical,
    /// HIGH, MAJOR and P1.
    High,
    /// MEDIUM and P2.
    Medium,
    /// LOW, MINOR, SUGGESTION and P3.
    Low,
}

impl SeverityTone {
    /// All tones, the worst first.
    pub const ALL: [SeverityTone; 4] =
        [SeverityTone::Critical, SeverityTone::High, SeverityTone::Medium, SeverityTone::Low];

    /// Returns the tone of a grade.
    pub fn of(grade: &Grade) -> SeverityTone {
        SeverityTone::from_impact(grade.impact().level())
    }

    /// Returns the tone of an impact, from 0 (the worst) to 6.
    pub fn from_impact(level: u8) -> SeverityTone {
        match level {
            0 => SeverityTone::Critical,
            1 | 2 => SeverityTone::High,
            3 => SeverityTone::Medium,
            _ => SeverityTone::Low,
        }
    }

    /// Returns the class in the style sheet.
    pub fn class(self) -> &'static str {
        match self {
            SeverityTone::Critical => "critical",
            SeverityTone::High => "high",
            SeverityTone::Medium => "medium",
            SeverityTone::Low => "low",
        }
    }
}

/// Renders the badge of a severity with its word.
pub fn badge(tone: SeverityTone, word: &str) -> Markup {
    html! { span.badge.(tone.class()) { (word) } }
}
