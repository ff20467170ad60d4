//! Rows whose columns stand below each other.

use assay_findings::write::plain;
use unicode_width::UnicodeWidthStr;

/// Between two columns.
const GAP: usize = 2;

/// Lines up rows of text under a heading. Control characters are shown, not obeyed; the last column
/// takes what is left of a line's width.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>], width: usize) -> String {
    let heading = heading.iter().map(|&text| text.to_owned()).collect();
    let clean = |row: &Vec<String>| row.iter().map(|cell| plain::one_line(cell)).collect();
    let rows: Vec<Vec<String>> = std::iter::once(heading).chain(rows.iter().map(clean)).collect();
    let columns = rows[0].len();
    let widest = |column: usize| rows.iter().map(|row| row[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(widest).collect();
    let before: usize = widths.iter().rev().skip(1).map(|width| width + GAP).sum();
    let mut text = String::new();
    for row in &rows {
        for (cell, width) in row.iter().zip(&widths).take(columns - 1) {
            text.push_str(cell);
            text.push_str(&" ".repeat(width - cell.width() + GAP));
        }
        text.push_str(&shortened(&row[columns - 1], width.saturating_sub(before).max(GAP)));
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
    }
    text
}

/// As much of a text as fits, with a mark where it goes on.
fn shortened(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut fits = String::new();
    for character in text.chars() {
        if fits.width() + 2 > width {
            break;
        }
        fits.push(character);
    }
    fits + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_below_each_other_and_the_last_one_is_cut() {
        let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
        let rows = [
            row(["a", "pending", "a short title"]),
            row(["b-é", "done", "x\u{1b}[31m y and much more of it"]),
        ];
        expect_test::expect![[r#"
            ID   STATUS   TITLE
            a    pending  a short title
            b-é  done     x\u{1b}[31m y…
        "#]]
        .assert_eq(&table(&["ID", "STATUS", "TITLE"], &rows, 28));
    }
}
