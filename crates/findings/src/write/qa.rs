//! The seven-level findings JSON.

use schemars::JsonSchema;
use serde::Serialize;

use super::{FindingsDocument, native_elsewhere, seven_level};
use crate::finding::Finding;
use crate::grade::{NativeSeverity, Scheme};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Review")]
pub(super) struct QaReview {
    findings: Vec<QaFinding>,
    summary: String,
}

/// A finding in the words of the seven-level format.
#[derive(Serialize, JsonSchema)]
pub(super) struct QaFinding {
    file: String,
    line_number: Option<u32>,
    severity: String,
    category: String,
    description: String,
    suggested_fix: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    native_severity: Option<NativeSeverity>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    requires_verification: bool,
}

pub(super) fn write(document: &FindingsDocument<'_>) -> QaReview {
    QaReview {
        findings: findings(document),
        summary: document.summary.unwrap_or_default().to_owned(),
    }
}

pub(super) fn findings(document: &FindingsDocument<'_>) -> Vec<QaFinding> {
    document.worst_first().into_iter().map(QaFinding::of).collect()
}

impl QaFinding {
    fn of(finding: &Finding) -> QaFinding {
        QaFinding {
            file: finding.file.as_ref().map(ToString::to_string).unwrap_or_default(),
            line_number: finding.line,
            severity: seven_level(&finding.grade).to_owned(),
            category: finding.category.clone(),
            description: finding.issue(),
            suggested_fix: finding.suggested_fix.clone(),
            native_severity: native_elsewhere(&finding.grade, Scheme::Qa7).cloned(),
            requires_verification: finding.requires_verification,
        }
    }
}
