//! CSV as RFC 4180 describes it, safe to be opened in a spreadsheet: [`row`].

/// Characters with which a spreadsheet begins a formula, or skips to one.
const FORMULA_STARTS: [char; 10] = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];

/// Characters that only a quoted cell may contain. Some spreadsheets split at semicolons and tabs.
const QUOTED: [char; 6] = [',', '"', '\r', '\n', ';', '\t'];

/// Returns a line of CSV, with its line break. A text that a spreadsheet would run as a formula
/// gets an apostrophe in front, by which spreadsheets know texts.
pub fn row<S: AsRef<str>>(cells: impl IntoIterator<Item = S>) -> String {
    let cells: Vec<String> = cells.into_iter().map(|text| cell(text.as_ref())).collect();
    cells.join(",") + "\r\n"
}

fn cell(text: &str) -> String {
    let mark = if text.starts_with(FORMULA_STARTS) { "'" } else { "" };
    match text.contains(QUOTED) {
        true => format!("\"{mark}{}\"", text.replace('"', "\"\"")),
        false => format!("{mark}{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_ends_with_a_line_break_of_two_characters() {
        assert_eq!(row(["a", "", "ü b"]), "a,,ü b\r\n");
        assert_eq!(row::<&str>([]), "\r\n");
    }

    #[test]
    fn separators_quotes_and_line_breaks_are_quoted() {
        let cells = ["a,b", "say \"x\"", "two\nlines", "two\r\nlines", "a;b", "a\tb"];
        let expected =
            "\"a,b\",\"say \"\"x\"\"\",\"two\nlines\",\"two\r\nlines\",\"a;b\",\"a\tb\"\r\n";
        assert_eq!(row(cells), expected);
    }

    #[test]
    fn no_cell_begins_a_formula() {
        for start in FORMULA_STARTS {
            let line = row([format!("{start}cmd|' /C calc'!A0")]);
            assert!(line.trim_start_matches('"').starts_with('\''), "{line}");
        }
        assert_eq!(row(["=1+2", "@org/team", "1.5"]), "'=1+2,'@org/team,1.5\r\n");
        assert_eq!(row(["=HYPERLINK(\"x\",\"y\")"]), "\"'=HYPERLINK(\"\"x\"\",\"\"y\"\")\"\r\n");
    }
}
