//! Labelled changes: [`Case`], and [`parse_cases`], which parses a set's `cases.jsonl`.

use serde::{Deserialize, Serialize};

/// A change whose defects are known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The id of the case, unique in its set.
    pub id: String,
    /// The title of the change, from its commit or pull request.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The whole message of the change's commit; `None` if the title is the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The main programming language; `None` if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// The path of the change, relative to the set's folder: a folder with `before/` and `after/`,
    /// a folder with `before/` and `change.diff`, or a file with a unified diff.
    pub change: String,
    /// Documents that state the purpose of the change, relative to the set's folder. Documents in
    /// `before/` are part of the repository; others are copied to its folder `docs/`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub purpose: Vec<String>,
    /// The known defects; empty for a clean change.
    #[serde(default)]
    pub labels: Vec<Label>,
    /// Comments that reviewers made and maintainers rejected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<Label>,
    /// The origin of the case, such as a commit or a pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Case {
    /// Returns true if the change has no known defect.
    pub fn is_clean(&self) -> bool {
        self.labels.is_empty()
    }
}

/// A known defect, or a comment that was rejected.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Label {
    /// The description of the defect.
    pub comment: String,
    /// The file, relative to the repository; `None` if the label names no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The first line, counted from one; `None` if the label names no line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The last line; `None` if the label names a single line or no line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_line: Option<u32>,
    /// The severity in the set's own word; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// The kind of defect in the set's own word; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The evidence that the label is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An invalid line of a set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct SetError {
    /// The line of `cases.jsonl`, counted from one.
    pub line: usize,
    /// The reason of the failure.
    pub reason: String,
}

/// Parses cases, one JSON object per line; blank lines are skipped.
///
/// Fails if a line is not a case, if two cases have the same id, if an id or a path leads out of
/// its folder, if the location of a label is invalid, or if there is no case.
pub fn parse_cases(text: &str) -> Result<Vec<Case>, SetError> {
    let mut cases: Vec<Case> = Vec::new();
    let mut ids = std::collections::HashSet::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let error = |reason: String| SetError { line: at + 1, reason };
        let case: Case = serde_json::from_str(line).map_err(|fault| error(fault.to_string()))?;
        if !ids.insert(case.id.clone()) {
            return Err(error(format!("the id `{}` is used twice", case.id)));
        }
        let paths = case.purpose.iter().chain([&case.id, &case.change]);
        if let Some(path) = paths.into_iter().find(|path| !is_inside(path)) {
            return Err(error(format!(
                "`{path}` is no path inside of a folder; ids, `change` and `purpose` have to be"
            )));
        }
        if let Some(label) = case.labels.iter().chain(&case.rejected).find(|it| !it.is_valid()) {
            let reason = format!("the place of the label `{}` is not valid", label.comment);
            return Err(error(format!("{reason}: a range needs a path, and ends after its start")));
        }
        cases.push(case);
    }
    match cases.is_empty() {
        true => Err(SetError { line: 1, reason: "the set holds no case".to_owned() }),
        false => Ok(cases),
    }
}

/// Returns true if a path is relative and has no `.`, `..` or empty component.
fn is_inside(path: &str) -> bool {
    let is_plain = |part: &str| !matches!(part, "" | "." | "..");
    !path.contains(['\\', '\0']) && path.split('/').all(is_plain)
}

impl Label {
    fn is_valid(&self) -> bool {
        let has_words = !self.comment.trim().is_empty();
        let in_order = match (self.line, self.end_line) {
            (None, Some(_)) => false,
            (Some(start), Some(end)) => start <= end,
            (Some(_), None) | (None, None) => true,
        };
        has_words
            && in_order
            && (self.path.is_some() || self.line.is_none())
            && self.line != Some(0)
    }
}
