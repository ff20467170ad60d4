//! The way of a value through the code: [`TraceStep`], from the source of the value to its sink.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::path::RepoPath;

/// A step of a value through the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TraceStep {
    /// The role of the step.
    pub role: TraceRole,
    /// The file of the step.
    pub file: RepoPath,
    /// The line of the step, from 1.
    pub line: u32,
    /// The code of the step, on one line.
    pub code: String,
}

/// The role of a step in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceRole {
    /// The place where the value comes from.
    Source,
    /// A place that passes the value on.
    Step,
    /// The place where the value does harm.
    Sink,
}

impl TraceRole {
    /// Returns the role as a word.
    pub fn as_str(self) -> &'static str {
        match self {
            TraceRole::Source => "source",
            TraceRole::Step => "step",
            TraceRole::Sink => "sink",
        }
    }
}
