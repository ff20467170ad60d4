//! Tables of text with aligned columns.

use assay_findings::write::escape;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::MAX_WIDTH;
use crate::output;

/// The gap between two columns.
const GAP: usize = 2;

/// The minimum width of the last column before other columns are cut.
const MIN_LAST_BEFORE_CUT: usize = 10;

/// The minimum width of the last column if complete names leave no room for it.
const MIN_LAST: usize = 40;

/// The room for a table.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TableWidth {
    /// A screen with this many columns: every column may be cut so that a row fits into a line.
    Screen(usize),
    /// A file or a pipe: names stay complete, and only the last column is cut.
    Unlimited,
}

impl TableWidth {
    /// Returns the current room on stdout.
    pub(crate) fn on_stdout() -> TableWidth {
        let columns = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        match columns.filter(|columns| *columns > 0 && output::is_terminal()) {
            // Some terminals start a new line after a line that fills the last column.
            Some(columns) => TableWidth::Screen(columns - 1),
            None => TableWidth::Unlimited,
        }
    }
}

/// Formats rows of text under a heading. Control characters are made visible.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>], room: TableWidth) -> String {
    let heading = heading.iter().map(|&text| text.to_owned()).collect();
    let clean = |row: &Vec<String>| row.iter().map(|cell| escape::one_line(cell)).collect();
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(rows.iter().map(clean)).collect();
    let widest = |rows: &[Vec<String>], column: usize| {
        rows.iter().map(|row| row[column].width()).max().unwrap_or(0)
    };
    let columns = 0..rows[0].len();
    let below = columns.clone().map(|column| widest(&rows[1..], column)).collect::<Vec<usize>>();
    let widths = fit_widths(columns.map(|column| widest(&rows, column)).collect(), &below, room);
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, &width) in row.iter().zip(&widths) {
            let cell = truncate(cell, width);
            line.push_str(&cell);
            line.push_str(&" ".repeat(width.saturating_sub(cell.width()) + GAP));
        }
        match room {
            TableWidth::Screen(columns) => text.push_str(&truncate(line.trim_end(), columns)),
            TableWidth::Unlimited => text.push_str(line.trim_end()),
        }
        text.push('\n');
    }
    text
}

/// Returns the widths of columns. If they do not fit, the last column is cut first, then headings
/// that are wider than their columns, then the widest column, from the left.
fn fit_widths(mut widths: Vec<usize>, below: &[usize], room: TableWidth) -> Vec<usize> {
    let Some(last) = widths.len().checked_sub(1) else { return widths };
    let taken = |widths: &[usize]| widths.iter().sum::<usize>() + last * GAP;
    let columns = match room {
        TableWidth::Screen(columns) => columns,
        TableWidth::Unlimited => {
            // Complete names may fill a line, and the last column must stay readable.
            let before = taken(&widths) - widths[last];
            widths[last] = widths[last].min(MAX_WIDTH.saturating_sub(before).max(MIN_LAST));
            return widths;
        }
    };
    let before = taken(&widths) - widths[last];
    widths[last] = widths[last].min(columns.saturating_sub(before).max(MIN_LAST_BEFORE_CUT));
    for width in &mut widths {
        *width = (*width).min(columns);
    }
    while taken(&widths) > columns {
        let is_heading = |(width, below): &(&mut usize, &usize)| **width > **below && **width > 1;
        let headings = widths.iter_mut().zip(below).filter(is_heading).map(|(width, _)| width);
        let widest = match headings.rev().max() {
            Some(widest) => Some(widest),
            None => widths.iter_mut().rev().max(),
        };
        match widest {
            Some(widest) if *widest > 1 => *widest -= 1,
            Some(_) | None => break,
        }
    }
    widths
}

/// Truncates a text to a width, with a mark at the cut.
fn truncate(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = text.chars().take_while(|character| {
        let needed = character.width().unwrap_or(0);
        let fits = needed <= left;
        left = left.saturating_sub(needed);
        fits
    });
    fits.chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(room: TableWidth, expected: Expect) {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["a", "pending", "a short title"]),
            row(["b-é-and-more", "done", "x\u{1b}[31m y and much more of it"]),
            row(["c", "done", "表表表表表表表表表表表表表表表"]),
        ];
        expected.assert_eq(&table(&["ID", "STATUS", "TITLE"], &rows, room));
    }

    #[test]
    fn columns_are_aligned_and_the_last_one_is_truncated() {
        check(
            TableWidth::Screen(37),
            expect![[r#"
                ID            STATUS   TITLE
                a             pending  a short title
                b-é-and-more  done     x\u{1b}[31m y…
                c             done     表表表表表表…
            "#]],
        );
    }

    #[test]
    fn a_line_is_no_wider_than_the_screen() {
        check(
            TableWidth::Screen(26),
            expect![[r#"
                ID       STATUS   TITLE
                a        pending  a short…
                b-é-an…  done     x\u{1b}…
                c        done     表表表…
            "#]],
        );
        check(
            TableWidth::Screen(4),
            expect![[r#"
                …  …
                a  …
                …  …
                c  …
            "#]],
        );
    }

    #[test]
    fn an_unlimited_table_does_not_truncate_names() {
        let rows = [vec!["n".repeat(200), "a title".to_owned()]];
        let text = table(&["ID", "TITLE"], &rows, TableWidth::Unlimited);
        assert!(text.contains(&"n".repeat(200)), "{text}");
    }

    #[test]
    fn a_cell_with_a_million_combining_characters_is_truncated() {
        let rows = [vec!["a".to_owned(), format!("b{}", "\u{301}c".repeat(1_000_000))]];
        let text = table(&["ID", "TITLE"], &rows, TableWidth::Screen(40));
        assert!(text.len() < 1_000, "{}", text.len());
    }
}
