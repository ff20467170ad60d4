//! The diff of a merge request, and the positions in it that are valid.

use std::fmt::Write as _;

use ring::digest::{SHA1_FOR_LEGACY_USE_ONLY, digest};
use serde_json::{Value, json};

use super::refusal::{Refusal, invalid, only};

/// The commit that a merge request is compared with.
const BASE: &str = "00000000000000000000000000000000000000ba";

/// The diff of a merge request.
pub(crate) struct Diff(Vec<File>);

struct File {
    old: String,
    new: String,
    /// The mark of each line, ` `, `+` or `-`, with the counters of both sides.
    lines: Vec<(char, u32, u32)>,
}

impl Diff {
    /// Parses a unified diff.
    pub(super) fn parse(text: &str) -> Diff {
        let mut files: Vec<File> = Vec::new();
        let (mut old, mut new) = (0, 0);
        for line in text.lines() {
            if let Some(names) = line.strip_prefix("diff --git a/") {
                let (before, after) = names.split_once(" b/").unwrap();
                let (old, new) = (before.to_owned(), after.to_owned());
                files.push(File { old, new, lines: Vec::new() });
            } else if let Some(hunk) = line.strip_prefix("@@ -") {
                let start = |text: &str| text.split([',', ' ']).next().unwrap().parse().unwrap();
                old = start(hunk);
                new = start(hunk.split_once('+').unwrap().1);
            } else if let Some(mark @ (' ' | '+' | '-')) = line.chars().next()
                && !line.starts_with("---")
                && !line.starts_with("+++")
            {
                files.last_mut().unwrap().lines.push((mark, old, new));
                old += u32::from(mark != '+');
                new += u32::from(mark != '-');
            }
        }
        Diff(files)
    }

    pub(super) fn refs(&self, head: &str) -> Value {
        json!({ "base_sha": BASE, "start_sha": BASE, "head_sha": head })
    }

    /// Fails if a position is not one of a line or a file of the diff.
    pub(super) fn check(&self, position: &Value, head: &str) -> Result<(), Refusal> {
        only(
            position,
            &[
                "base_sha", "start_sha", "head_sha", "position_type", "old_path", "new_path",
                "old_line", "new_line", "line_range",
            ],
        )?;
        for (name, value) in self.refs(head).as_object().unwrap() {
            if position[name] != *value {
                return Err(misplaced(&format!("{name} is not that of the merge request")));
            }
        }
        let is_named =
            |file: &&File| position["old_path"] == *file.old && position["new_path"] == *file.new;
        let file = self.0.iter().find(is_named);
        let file = file.ok_or_else(|| misplaced("the file is not in the diff"))?;
        match position["position_type"].as_str() {
            Some("file") => {
                match position["new_line"].is_null() && position["old_line"].is_null() {
                    true => Ok(()),
                    false => Err(invalid("a position of a file has no line")),
                }
            }
            Some("text") => file.check_lines(position),
            _ => Err(invalid("position[position_type] does not have a valid value")),
        }
    }
}

fn misplaced(why: &str) -> Refusal {
    invalid(&format!(
        "400 Bad request - Note {{:line_code=>[\"can't be blank\", \"must be a valid line code\"]}} ({why})"
    ))
}

impl File {
    fn check_lines(&self, position: &Value) -> Result<(), Refusal> {
        let last = self.line(position)?;
        let range = &position["line_range"];
        if range.is_null() {
            return Ok(());
        }
        only(range, &["start", "end"])?;
        let first = self.range_end(&range["start"])?;
        match (self.range_end(&range["end"])? == last, first < last) {
            (true, true) => Ok(()),
            _ => Err(misplaced("the range does not end at the line")),
        }
    }

    /// Returns the index of the line that both numbers name.
    fn line(&self, numbers: &Value) -> Result<usize, Refusal> {
        let number = |name: &str| numbers[name].as_u64().map(|number| number as u32);
        let (old, new) = (number("old_line"), number("new_line"));
        let is_it = |(mark, o, n): &(char, u32, u32)| match mark {
            '+' => (old, new) == (None, Some(*n)),
            '-' => (old, new) == (Some(*o), None),
            _ => (old, new) == (Some(*o), Some(*n)),
        };
        let at = self.lines.iter().position(is_it);
        at.ok_or_else(|| misplaced("the numbers are not those of a line of the diff"))
    }

    fn range_end(&self, end: &Value) -> Result<usize, Refusal> {
        only(end, &["line_code", "type", "old_line", "new_line"])?;
        let at = self.line(end)?;
        let (mark, old, new) = self.lines[at];
        let mut code = String::new();
        for byte in digest(&SHA1_FOR_LEGACY_USE_ONLY, self.new.as_bytes()).as_ref() {
            write!(code, "{byte:02x}").unwrap();
        }
        let is_code = end["line_code"] == format!("{code}_{old}_{new}");
        match is_code && end["type"] == (if mark == '+' { "new" } else { "old" }) {
            true => Ok(at),
            false => Err(misplaced("the line code is not that of the line")),
        }
    }
}
