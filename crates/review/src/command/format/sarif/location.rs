//! The location and the fix of a SARIF result.

use assay_findings::path::RepoPath;
use assay_findings::vote::LineRange;
use serde::Deserialize;
use serde_json::Value;

use super::log::{ArtifactLocation, Fix as SarifFix, Outcome, Region, Run};
use crate::command::draft::Fix;
use crate::command::edit::{ColumnUnit, Edit, Point};
use crate::command::report_builder::ReportBuilder;

/// The maximum nesting depth of base URIs.
const MAX_BASES: usize = 8;

/// Returns the file of a location. A base without a URI is the root.
pub(super) fn file(
    builder: &ReportBuilder<'_>,
    run: &Run,
    location: &ArtifactLocation,
) -> Result<RepoPath, String> {
    let artifact = at(&run.artifacts, location.index).and_then(|known| known.location.as_ref());
    let location = match (&location.uri, artifact) {
        (None, Some(artifact)) => artifact,
        _ => location,
    };
    let uri = location.uri.as_deref().ok_or("the location has no file")?;
    builder.checkout.uri(uri, base(run, location.uri_base_id.as_deref()).as_deref())
}

/// Returns the URI of a base, resolved against its own bases.
fn base(run: &Run, id: Option<&str>) -> Option<String> {
    let mut joined: Option<String> = None;
    let mut id = id.map(str::to_owned);
    for _ in 0..MAX_BASES {
        let Some(known) = id.take().and_then(|id| run.original_uri_base_ids.get(&id)) else {
            break;
        };
        if let Some(uri) = &known.uri {
            joined = Some(match joined {
                Some(below) => format!("{}/{below}", uri.trim_end_matches('/')),
                None => uri.clone(),
            });
        }
        id = known.uri_base_id.clone();
    }
    joined
}

/// Returns the entry with an index; `None` for `-1`, which means that there is none.
pub(super) fn at<T>(list: &[T], index: Option<i64>) -> Option<&T> {
    list.get(usize::try_from(index?).ok()?)
}

/// Returns the lines of a region, whose end column is exclusive.
pub(super) fn lines(region: Region) -> Option<LineRange> {
    let start = region.start_line?;
    let end = match (region.end_line, region.end_column) {
        (Some(end), Some(1)) if end > start => end - 1,
        (end, _) => end.unwrap_or(start),
    };
    LineRange::range(start, end.max(start))
}

/// Returns the first fix of a result; trusted if there is no other one, it changes only the file of
/// the result, and all of its regions can be located.
pub(super) fn fix(
    builder: &ReportBuilder<'_>,
    run: &Run,
    outcome: &Outcome,
    about: &RepoPath,
) -> Option<Fix> {
    let fixes: &[Value] = &outcome.fixes;
    let first = SarifFix::deserialize(fixes.first()?).ok()?;
    // The default is UTF-16 by the specification alone: Ruff counts characters and Semgrep bytes.
    let unit = match run.column_kind.as_deref() {
        Some("unicodeCodePoints") => ColumnUnit::Char,
        Some("utf16CodeUnits") => ColumnUnit::Utf16,
        _ => ColumnUnit::Any,
    };
    let in_this_file = first
        .artifact_changes
        .iter()
        .all(|change| file(builder, run, &change.artifact_location).as_ref() == Ok(about));
    let edits: Option<Vec<Edit>> = first
        .artifact_changes
        .iter()
        .flat_map(|change| &change.replacements)
        .map(|replacement| {
            let (start, end) = points(replacement.deleted_region, unit)?;
            let text = replacement.inserted_content.as_ref().and_then(|text| text.text.clone());
            Some(Edit { start, end, text: text.unwrap_or_default() })
        })
        .collect();
    Some(Fix {
        words: first.description.and_then(|text| text.text),
        trusted: in_this_file && fixes.len() == 1 && edits.is_some(),
        edits: edits.unwrap_or_default(),
    })
}

/// Returns the start and the end of a region; `None` without an end column, since the length of the
/// line is not known here.
fn points(region: Region, unit: ColumnUnit) -> Option<(Point, Point)> {
    let line = region.start_line?;
    let start = Point::At { line, column: region.start_column.unwrap_or(1), unit };
    let end_line = region.end_line.unwrap_or(line);
    Some((start, Point::At { line: end_line, column: region.end_column?, unit }))
}
