//! SARIF 2.1.0, as far as scoring needs.

use serde::Deserialize;
use serde_json::Value;

use super::{FormatError, blocked_by_comments, range, typed};
use crate::comment::Comment;
use crate::score::CaseResult;

#[derive(Deserialize)]
struct Log {
    runs: Vec<Run>,
}

#[derive(Deserialize)]
struct Run {
    #[serde(default)]
    results: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    message: Message,
    level: Option<String>,
    kind: Option<String>,
    #[serde(default)]
    locations: Vec<Location>,
    #[serde(default)]
    suppressions: Vec<Value>,
}

#[derive(Deserialize)]
struct Message {
    text: Option<String>,
    markdown: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Option<PhysicalLocation>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: Option<ArtifactLocation>,
    region: Option<Region>,
}

#[derive(Deserialize)]
struct ArtifactLocation {
    uri: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: Option<u32>,
    end_line: Option<u32>,
}

/// Parses a SARIF log. Results that are suppressed, or that are not failures, are left out.
pub(super) fn parse(value: &Value) -> Result<CaseResult, FormatError> {
    let log: Log = typed("SARIF", value)?;
    let entries = log.runs.into_iter().flat_map(|run| run.results);
    let is_failure = |entry: &Entry| entry.kind.as_deref().is_none_or(|kind| kind == "fail");
    let shown = entries.filter(|entry| entry.suppressions.is_empty() && is_failure(entry));
    Ok(blocked_by_comments(shown.map(comment).collect()))
}

fn comment(entry: Entry) -> Comment {
    let place = entry.locations.into_iter().find_map(|location| location.physical_location);
    let (artifact, region) = match place {
        Some(place) => (place.artifact_location, place.region),
        None => (None, None),
    };
    let uri = artifact.and_then(|artifact| artifact.uri);
    let path = uri.map(|uri| uri.strip_prefix("file://").unwrap_or(&uri).to_owned());
    Comment {
        text: entry.message.text.or(entry.message.markdown).unwrap_or_default(),
        path,
        lines: region.and_then(|region| range(region.start_line, region.end_line)),
        blocks: entry.level.as_deref() == Some("error"),
        severity: entry.level,
        confidence: None,
    }
}
