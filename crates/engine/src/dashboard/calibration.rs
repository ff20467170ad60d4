//! The calibration of reviewers: stated confidence against the share of comments that are right.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Dashboard, DashboardError};
use crate::evaluation::stored_scores::{StoredScores, read_scores};

/// The scores of the last evaluations.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CalibrationListView {
    /// The evaluations, one for each set.
    pub evaluations: Vec<StoredScores>,
}

impl Dashboard {
    /// Returns the scores of the last evaluation of each set.
    pub fn calibration(&self) -> Result<CalibrationListView, DashboardError> {
        Ok(CalibrationListView { evaluations: read_scores(&self.environment, &self.root)? })
    }
}
