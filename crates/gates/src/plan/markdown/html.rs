//! Extracts text from HTML, line by line: [`lines`].

/// The text of one block-level tag: an item, a paragraph, a cell, a heading.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HtmlLine {
    pub(super) text: String,
    /// True if the text is in `<h1>` to `<h6>`.
    pub(super) is_heading: bool,
    /// The number of lines before the text.
    pub(super) offset: u32,
}

/// Tags that do not end a line.
const INLINE: [&str; 17] = [
    "a", "abbr", "b", "code", "del", "em", "i", "ins", "kbd", "mark", "s", "small", "span",
    "strong", "sub", "sup", "u",
];

/// Tags whose content is hidden, or is only the title of a folded section.
const HIDDEN: [&str; 4] = ["script", "style", "summary", "template"];

/// Returns the lines of text in HTML. Comments are invisible, so they are left out.
pub(super) fn lines(html: &str) -> Vec<HtmlLine> {
    let mut reading = HtmlReader::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        reading.text(&rest[..at]);
        rest = &rest[at..];
        let end = match rest.strip_prefix("<!--") {
            Some(_) => rest.find("-->").map(|end| end + 3),
            None => rest.find('>').map(|end| end + 1),
        };
        let end = end.unwrap_or(rest.len());
        if !rest.starts_with("<!--") {
            reading.tag(&rest[..end]);
        }
        reading.line += newlines(&rest[..end]);
        rest = &rest[end..];
    }
    reading.text(rest);
    reading.flush();
    reading.lines
}

#[derive(Default)]
struct HtmlReader {
    lines: Vec<HtmlLine>,
    text: String,
    begun: u32,
    line: u32,
    is_heading: bool,
    hidden: Option<String>,
}

impl HtmlReader {
    fn text(&mut self, text: &str) {
        if self.hidden.is_none() {
            if self.text.trim().is_empty() {
                let blank = &text[..text.len() - text.trim_start().len()];
                self.begun = self.line + newlines(blank);
            }
            self.text.push_str(text);
        }
        self.line += newlines(text);
    }

    fn tag(&mut self, tag: &str) {
        let is_end = tag.starts_with("</");
        let name = tag.trim_start_matches(['<', '/']);
        let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
        let name = name[..end].to_ascii_lowercase();
        if name == "code" {
            self.text.push('`');
        } else if !INLINE.contains(&name.as_str()) {
            self.flush();
            let digits = name.strip_prefix('h').filter(|level| level.len() == 1);
            self.is_heading = !is_end && digits.is_some_and(|level| level != "r");
        }
        if HIDDEN.contains(&name.as_str()) {
            self.hidden = (!is_end).then_some(name);
        }
    }

    fn flush(&mut self) {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        let text = decoded(&words.join(" "));
        if !text.is_empty() {
            self.lines.push(HtmlLine { text, is_heading: self.is_heading, offset: self.begun });
        }
        self.text.clear();
    }
}

fn newlines(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}

fn decoded(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&nbsp;", " "), ("&amp;", "&")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_paragraphs_and_headings_are_lines_and_comments_are_not() {
        let html = "<h3>Acceptance</h3>\n<ul><li>`a` is <b>there</b></li>\n<li><code>b</code>\n\
                    too</li></ul><!-- no --><details><summary>More</summary><p>1 &lt; 2</p>";
        let found: Vec<(String, bool, u32)> =
            lines(html).into_iter().map(|line| (line.text, line.is_heading, line.offset)).collect();
        let expected = [
            ("Acceptance", true, 0),
            ("`a` is there", false, 1),
            ("`b` too", false, 2),
            ("1 < 2", false, 3),
        ];
        let expected: Vec<_> =
            expected.map(|(text, is_heading, at)| (text.to_owned(), is_heading, at)).into();
        assert_eq!(found, expected);
    }
}
