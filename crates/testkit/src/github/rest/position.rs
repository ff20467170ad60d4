//! The position of a comment, by the rules of GitHub.

use super::super::call::Fields;
use super::super::diff::{Diff, File, Side};
use super::super::refusal::Refusal;
use super::super::state::{Lines, ThreadPosition};

/// The reason why a position is invalid.
pub(super) enum PositionError {
    /// A field has the wrong form.
    Form(Refusal),
    /// A field breaks a rule.
    Rule { field: &'static str, message: &'static str },
}

impl From<Refusal> for PositionError {
    fn from(refusal: Refusal) -> PositionError {
        PositionError::Form(refusal)
    }
}

fn wrong<T>(field: &'static str, message: &'static str) -> Result<T, PositionError> {
    Err(PositionError::Rule { field, message })
}

/// Returns the lines that a comment refers to.
pub(super) fn lines(
    diff: &Diff,
    fields: &Fields<'_>,
    body: &str,
) -> Result<ThreadPosition, PositionError> {
    let Some(file) = diff.file(fields.needed("path")?) else {
        return wrong("path", "Path could not be resolved");
    };
    let side = side(fields, "side")?.unwrap_or(Side::Right);
    let Some(line) = fields.number("line")? else {
        return wrong("line", "Line could not be resolved");
    };
    let Some(found) = file.line(side, line) else {
        return wrong("line", "Line could not be resolved");
    };
    let start = start(fields, file, (side, line, found.hunk))?;
    let is_right = side == Side::Right && start.is_none_or(|(side, _)| side == Side::Right);
    if suggests(body) && !is_right {
        return wrong("body", "Suggestions can only be made on the right side of the diff");
    }
    Ok(ThreadPosition::Lines(Lines {
        side,
        line,
        start,
        original: (line, start.map(|(_, line)| line)),
        text: found.text.to_owned(),
        hunk: file.hunks[found.hunk].to_string(),
    }))
}

/// Returns the first line of a range of lines.
fn start(
    fields: &Fields<'_>,
    file: &File,
    (end_side, end, hunk): (Side, u32, usize),
) -> Result<Option<(Side, u32)>, PositionError> {
    let given = side(fields, "start_side")?;
    let Some(line) = fields.number("start_line")? else {
        return match given {
            Some(_) => wrong("start_line", "Start line could not be resolved"),
            None => Ok(None),
        };
    };
    let side = given.unwrap_or(end_side);
    if line >= end {
        return wrong("start_line", "Start line must precede the end line");
    }
    match file.line(side, line) {
        Some(found) if found.hunk == hunk => Ok(Some((side, line))),
        Some(_) => wrong("start_line", "Start line must be part of the same hunk as the line"),
        None => wrong("start_line", "Start line could not be resolved"),
    }
}

fn side(fields: &Fields<'_>, name: &str) -> Result<Option<Side>, Refusal> {
    Ok(fields.word(name, &["LEFT", "RIGHT"])?.and_then(Side::read))
}

/// Returns true if a text contains a suggestion block.
pub(super) fn suggests(body: &str) -> bool {
    body.lines().any(|line| {
        let fence = line.trim_start();
        let word = fence.trim_start_matches(['`', '~']);
        fence.len() >= word.len() + 3 && word.trim().starts_with("suggestion")
    })
}
