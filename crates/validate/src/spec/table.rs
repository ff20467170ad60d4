//! Tables in a spec: [`Table`], parsed from the lines of a paragraph.

use super::headings::names_criteria;

/// Headers of columns that describe the progress of a row, and not a requirement.
const PROGRESS_HEADERS: [&str; 6] = ["status", "state", "done", "priority", "prio", "progress"];

/// Words in the cells of such a column.
const PROGRESS_WORDS: [&str; 34] = [
    "open", "done", "todo", "to", "do", "pending", "in", "progress", "met", "yes", "no", "passed",
    "pass", "ok", "high", "medium", "low", "must", "should", "could", "have", "p0", "p1", "p2",
    "p3", "p4", "x", "planned", "not", "started", "complete", "completed", "draft", "critical",
];

/// A table, with the line number of each row.
#[derive(Debug)]
pub(super) struct Table {
    /// The cells above the separator; empty if the table has none.
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<(Vec<String>, u32)>,
}

impl Table {
    /// Parses the lines of a table; returns `None` if the lines are text.
    pub(super) fn read(lines: &[(&str, u32)]) -> Option<Table> {
        let separator = lines.iter().position(|(line, _)| is_separator(line));
        let is_table = separator == Some(1)
            || lines.iter().all(|(line, _)| line.trim_start().starts_with('|'));
        if !is_table || lines.is_empty() {
            return None;
        }
        let first = separator.map_or(0, |at| at + 1);
        let header = match separator {
            Some(at) if at > 0 => cells(lines[at - 1].0),
            Some(_) | None => Vec::new(),
        };
        let rows = lines[first..].iter().map(|(row, line)| (cells(row), *line)).collect();
        Some(Table { header, rows })
    }

    /// Returns true if the header of a column announces acceptance criteria.
    pub(super) fn names_criteria(&self) -> bool {
        self.header.iter().any(|cell| names_criteria(cell))
    }

    /// Returns the cell of a row below the first header that contains a word; `None` if there is no
    /// such header, or the cell is empty.
    pub(super) fn below<'a>(&self, row: &'a [String], word: &str) -> Option<&'a str> {
        let at = self.header.iter().position(|cell| cell.to_lowercase().contains(word))?;
        row.get(at).map(String::as_str).filter(|cell| !cell.is_empty())
    }

    /// Returns the text of a row, without cells that only describe its progress.
    pub(super) fn text_of(&self, row: &[String]) -> String {
        let said = row.iter().enumerate().filter(|(at, cell)| {
            let header = self.header.get(*at).map(|it| it.to_lowercase()).unwrap_or_default();
            let is_progress = PROGRESS_HEADERS.contains(&header.as_str()) && tells_progress(cell);
            cell.contains(char::is_alphanumeric) && !is_progress
        });
        said.map(|(_, cell)| cell.as_str()).collect::<Vec<_>>().join(" – ")
    }
}

fn tells_progress(cell: &str) -> bool {
    let words = cell.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.into_iter().all(|word| PROGRESS_WORDS.contains(&word.to_lowercase().as_str()))
}

fn is_separator(line: &str) -> bool {
    let line = line.trim();
    line.contains('-') && line.contains('|') && line.chars().all(|c| "|-: \t".contains(c))
}

/// Returns the cells of a row, without the empty ones outside of its borders.
fn cells(row: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let (mut in_code, mut is_escaped) = (false, false);
    for c in row.trim().chars() {
        in_code ^= c == '`';
        match c {
            '|' if !in_code && !is_escaped => cells.push(String::new()),
            c => cells.last_mut().into_iter().for_each(|cell| cell.push(c)),
        }
        is_escaped = c == '\\';
    }
    let text = |cell: &String| crate::markdown::tick(cell.trim()).1.trim().to_owned();
    let mut cells: Vec<String> = cells.iter().map(text).collect();
    if row.trim().starts_with('|') && !cells.is_empty() {
        cells.remove(0);
    }
    if cells.last().is_some_and(String::is_empty) {
        cells.pop();
    }
    cells
}
