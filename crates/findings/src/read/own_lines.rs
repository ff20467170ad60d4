//! The lines that are the reviewer's own words: [`OwnLines`].
//!
//! JSON that was read is cut out, and a fence holds quoted code. A fence that is never closed, that
//! holds JSON of the review, or that holds the whole text quotes nothing: its lines are the
//! reviewer's. So a lost or doubled fence mark cannot turn the reviewer's words into a quotation
//! without leaving a fence open.

use std::borrow::Cow;

use super::scan;

/// The lines of a review text: the reviewer's own, and quoted ones.
#[derive(Debug, Default)]
pub(crate) struct OwnLines<'t> {
    /// The reviewer's own lines, without the JSON that was read.
    pub(crate) lines: Vec<OwnLine<'t>>,
    /// The lines inside of fences that quote, with their numbers, from 1.
    pub(crate) quoted: Vec<(usize, &'t str)>,
    /// True if the text ends in an open fence without JSON that was read.
    pub(crate) ends_in_fence: bool,
}

/// A line of the reviewer's own words.
#[derive(Debug)]
pub(crate) struct OwnLine<'t> {
    /// The number of the line, from 1.
    pub(crate) number: usize,
    pub(crate) text: Cow<'t, str>,
    /// True if the line is in a fence all the same. An approval there does not count.
    pub(crate) is_fenced: bool,
}

/// A fenced block: the numbers of its first and last line, fence lines included.
struct Block {
    first: usize,
    /// The last line; `None` if the text ends before the fence is closed.
    last: Option<usize>,
}

impl<'t> OwnLines<'t> {
    /// Sorts the lines of a text. `json_spans` are the byte ranges that were read as JSON.
    pub(crate) fn of(text: &'t str, json_spans: &[(usize, usize)]) -> OwnLines<'t> {
        let numbered: Vec<(usize, &str)> = (1..).zip(text.lines()).collect();
        let mut blocks = blocks(&numbered).into_iter().peekable();
        let mut filled = numbered.iter().filter(|(_, line)| !line.trim().is_empty());
        let first_and_last = (filled.clone().next(), filled.next_back());
        let holds_all = |block: &Block| match first_and_last {
            (Some((first, _)), Some((last, _))) => {
                block.first == *first && block.last == Some(*last)
            }
            _ => false,
        };
        let mut spans = Spans { text, spans: json_spans };
        let mut sorted = OwnLines::default();
        let mut at = 0;
        while let Some(&(number, line)) = numbered.get(at) {
            let Some(block) = blocks.next_if(|block| block.first == number) else {
                let text = spans.cut_from(line);
                sorted.lines.push(OwnLine { number, text, is_fenced: false });
                at += 1;
                continue;
            };
            let last = block.last.unwrap_or(numbered.len());
            let fenced = &numbered[at..last];
            let end = fenced.last().map_or(line, |(_, line)| line);
            let holds_json = spans.touch(line, end);
            let quotes = block.last.is_some() && !holds_all(&block) && !holds_json;
            sorted.ends_in_fence = block.last.is_none() && !holds_json;
            for &(number, line) in fenced.iter().filter(|(_, line)| !is_fence(line)) {
                if quotes {
                    sorted.quoted.push((number, line));
                } else {
                    let text = spans.cut_from(line);
                    sorted.lines.push(OwnLine { number, text, is_fenced: true });
                }
            }
            at = last;
        }
        sorted
    }

    /// Returns the last line of the text if that line announces text that does not follow: a line
    /// that ends in a colon, or the first characters of a fence.
    pub(crate) fn announcement(&self) -> Option<&str> {
        let is_filled = |line: &&OwnLine| {
            let holds_json = matches!(line.text, Cow::Owned(_));
            holds_json || !line.text.trim().is_empty()
        };
        let last = self.lines.iter().rev().find(is_filled)?;
        let text = last.text.trim();
        let is_followed = self.quoted.last().is_some_and(|(number, _)| *number > last.number);
        let is_fence_start = !text.is_empty() && text.bytes().all(|byte| b"`~".contains(&byte));
        (!is_followed && (text.ends_with(':') || is_fence_start)).then_some(text)
    }
}

fn is_fence(line: &str) -> bool {
    scan::fence_at(line.trim_start().as_bytes(), 0).is_some()
}

/// Returns the fenced blocks of a text. A fence is closed by a fence of the same kind that is at
/// least as long.
fn blocks(lines: &[(usize, &str)]) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<(usize, (u8, usize))> = None;
    for (number, line) in lines {
        let Some((mark, len)) = scan::fence_at(line.trim_start().as_bytes(), 0) else { continue };
        open = match open {
            None => Some((*number, (mark, len))),
            Some((first, opened)) if opened.0 == mark && len >= opened.1 => {
                found.push(Block { first, last: Some(*number) });
                None
            }
            still_open => still_open,
        };
    }
    found.extend(open.map(|(first, _)| Block { first, last: None }));
    found
}

/// The byte ranges that were read as JSON, in order.
struct Spans<'t, 's> {
    text: &'t str,
    spans: &'s [(usize, usize)],
}

impl<'t> Spans<'t, '_> {
    fn offset(&self, line: &str) -> usize {
        line.as_ptr() as usize - self.text.as_ptr() as usize
    }

    /// Returns true if a range of lines contains a part of the JSON.
    fn touch(&self, first: &str, last: &str) -> bool {
        let (start, end) = (self.offset(first), self.offset(last) + last.len());
        let after = self.spans.partition_point(|(_, span_end)| *span_end <= start);
        self.spans.get(after).is_some_and(|(span_start, _)| *span_start < end)
    }

    /// Returns a line without the JSON in it.
    fn cut_from(&mut self, line: &'t str) -> Cow<'t, str> {
        let (start, end) = (self.offset(line), self.offset(line) + line.len());
        let passed = self.spans.partition_point(|(_, span_end)| *span_end <= start);
        self.spans = &self.spans[passed..];
        let mut kept = String::new();
        let mut from = start;
        for (span_start, span_end) in self.spans.iter().take_while(|(span, _)| *span < end) {
            if *span_start > from {
                kept.push_str(&self.text[from..*span_start]);
            }
            kept.push(' ');
            from = (*span_end).min(end);
        }
        if from == start {
            return Cow::Borrowed(line);
        }
        kept.push_str(&self.text[from..end]);
        Cow::Owned(kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the reviewer's own lines, and quoted ones behind `>`.
    fn check(text: &str, spans: &[(usize, usize)], expected: &[&str]) {
        let sorted = OwnLines::of(text, spans);
        let own = sorted.lines.iter().map(|line| format!("{} {}", line.number, line.text));
        let quoted = sorted.quoted.iter().map(|(number, line)| format!("{number} > {line}"));
        assert_eq!(own.chain(quoted).collect::<Vec<_>>(), expected, "{text}");
    }

    #[test]
    fn lines_in_a_closed_fence_are_quotes_and_lines_in_an_open_one_are_not() {
        check("a\n```\nb\n```\nc", &[], &["1 a", "5 c", "3 > b"]);
        check("a\n```\nb\nc", &[], &["1 a", "3 b", "4 c"]);
        check("a\n```\nb\n~~~\n```\nc", &[], &["1 a", "6 c", "3 > b"]);
    }

    #[test]
    fn a_fence_around_all_of_the_text_quotes_nothing() {
        check("\n```\na\n```\n", &[], &["1 ", "3 a"]);
    }

    #[test]
    fn only_an_unfinished_last_line_is_an_announcement() {
        let announcement =
            |text, spans| OwnLines::of(text, spans).announcement().map(str::to_owned);
        assert_eq!(announcement("{}\nAnd then:\n\n", &[(0, 2)]).as_deref(), Some("And then:"));
        assert_eq!(announcement("{}\n``", &[(0, 2)]).as_deref(), Some("``"));
        assert_eq!(announcement("My review:\n{}", &[(11, 13)]), None);
        assert_eq!(announcement("My review:\n```json\n{}\n```\n", &[(19, 21)]), None);
        assert_eq!(announcement("{}\nAs in:\n```\nx\n```", &[(0, 2)]), None);
        assert_eq!(announcement("{}\nThat is all.", &[(0, 2)]), None);
    }

    #[test]
    fn json_that_was_read_is_cut_out_and_its_fence_is_the_reviewers_own_text() {
        check("a\n```\n{} b\nc\n```", &[(6, 8)], &["1 a", "3   b", "4 c"]);
        check("a {} b {} c", &[(2, 4), (7, 9)], &["1 a   b   c"]);
        check("a {\n} b", &[(2, 5)], &["1 a  ", "2   b"]);
    }
}
