//! The code that a vote quotes: [`Excerpt`], one for each entry of its evidence.
//!
//! Back-ticks mark code in prose, and occur in code themselves. So an entry that is in the file as
//! a whole is one quote. Only if it is not, the parts that the entry marks as code are the quotes.

use std::borrow::Cow;

use super::file_view::FileView;
use super::quote_variant::QuoteVariant;
use crate::vote::LineRange;

/// An entry of a vote's evidence.
pub(super) struct Excerpt {
    /// The entry as a whole, in several readings; a reading counts only if the file contains it.
    whole: Vec<QuoteVariant>,
    /// The parts that are marked as code; without marks, the entry.
    marked: Vec<Quote>,
}

/// Code in all its readings: as written, and without the marks of a diff or the line numbers of a
/// listing at the start of each line. There is at least one reading.
struct Quote(Vec<QuoteVariant>);

impl Excerpt {
    /// Reads the entries of a vote's evidence.
    pub(super) fn all_of(evidence: &[String]) -> Vec<Excerpt> {
        evidence.iter().map(|entry| Excerpt::of(entry)).collect()
    }

    fn of(entry: &str) -> Excerpt {
        let plain = without_place(entry);
        let spans = code_spans(entry);
        let entry_itself = || Quote::of(plain).into_iter().collect();
        if spans.iter().all(|span| span.trim().is_empty()) {
            return Excerpt { whole: Vec::new(), marked: entry_itself() };
        }
        // Outer back-ticks may mark a line that contains back-ticks.
        let outer = outer_span(plain).into_iter().flat_map(quote_variants);
        let whole = quote_variants(plain).into_iter().chain(outer).collect();
        let marked = match has_code_outside(plain) {
            true => entry_itself(),
            false => spans.into_iter().filter_map(Quote::of).collect(),
        };
        Excerpt { whole, marked }
    }

    /// Returns true if the form of the entry is that of a quote, whatever the file contains.
    pub(super) fn is_quote(&self) -> bool {
        !self.marked.is_empty()
    }

    /// Returns the first quote as it was written.
    pub(super) fn first(&self) -> Option<&QuoteVariant> {
        self.marked.first().map(|quote| &quote.0[0])
    }

    /// Returns the lines of each quote, nearest to the stated lines; `None` for a quote that the file
    /// does not contain. The list is empty if the entry has no quote.
    pub(super) fn find(&self, view: &FileView, stated: LineRange) -> Vec<Option<LineRange>> {
        let find = |quote_variants: &[QuoteVariant]| {
            quote_variants.iter().find_map(|it| view.find(it, stated))
        };
        match find(&self.whole) {
            Some(lines) => vec![Some(lines)],
            None => self.marked.iter().map(|quote| find(&quote.0)).collect(),
        }
    }

    /// Returns true if a quote of the entry begins on the first of some lines, even a quote that is only
    /// a name.
    pub(super) fn is_on(&self, view: &FileView, lines: LineRange) -> bool {
        let line = view.line(lines.start()).unwrap_or_default();
        let marked = self.marked.iter().flat_map(|quote| &quote.0);
        marked.chain(&self.whole).any(|quote| line.contains(quote.first_line()))
    }

    /// Returns true if a file contains a quote of the entry, even a quote that is only a name.
    pub(super) fn is_in(&self, view: &FileView) -> bool {
        let has = |reading: &QuoteVariant| view.contains(reading);
        self.find(view, LineRange::FIRST).iter().any(Option::is_some)
            || self.marked.iter().any(|quote| quote.0.iter().any(has))
    }
}

impl Quote {
    fn of(text: &str) -> Option<Quote> {
        QuoteVariant::of(text)?;
        Some(Quote(quote_variants(text)))
    }
}

/// Returns all readings of a text that are long enough to prove anything, the text as written
/// first.
fn quote_variants(text: &str) -> Vec<QuoteVariant> {
    let mut texts: Vec<Cow<'_, str>> = vec![Cow::Borrowed(text)];
    for strip in [without_diff_marks, without_line_numbers, without_diff_marks] {
        let stripped: Vec<String> = texts.iter().filter_map(|text| strip(text)).collect();
        for text in stripped.into_iter().map(Cow::Owned) {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
    }
    texts.iter().filter_map(|text| QuoteVariant::of(text)).collect()
}

/// Returns the parts of a text that back-ticks or fences mark as code. A run of back-ticks ends at
/// the next run of the same length; a run without an end marks the rest of the text.
fn code_spans(text: &str) -> Vec<&str> {
    let run = |text: &str| text.bytes().take_while(|byte| *byte == b'`').count();
    let mut spans = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('`') {
        let ticks = run(&rest[start..]);
        let inside = &rest[start + ticks..];
        let mut end = 0;
        let closing = loop {
            let Some(next) = inside[end..].find('`') else { break None };
            let length = run(&inside[end + next..]);
            if length == ticks {
                break Some(end + next);
            }
            end += next + length;
        };
        let span = &inside[..closing.unwrap_or(inside.len())];
        // The first line of a fence names the language.
        let body = span.split_once('\n').filter(|_| ticks >= 3).map(|(_, body)| body);
        spans.push(body.unwrap_or(span));
        rest = closing.map_or("", |end| &inside[end + ticks..]);
    }
    spans
}

/// Returns the text between the first and the last back-tick, if the text around them is prose.
fn outer_span(text: &str) -> Option<&str> {
    let (before, rest) = text.split_once('`')?;
    let (inside, after) = rest.rsplit_once('`')?;
    (!is_code(before) && !is_code(after)).then(|| inside.trim_matches('`'))
}

/// Returns true if the back-ticks of a text are part of code, by the text outside of them.
fn has_code_outside(text: &str) -> bool {
    !text.contains("``") && text.split('`').step_by(2).any(is_code)
}

/// Returns true if a text has an assignment, a block, a call or the end of a statement.
fn is_code(text: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let is_call = |(at, _): (usize, &str)| {
        text[..at].ends_with(is_of_name) && !text[at + 1..].starts_with(')')
    };
    text.contains(['=', '{', '}'])
        || text.trim_end().ends_with(';')
        || text.match_indices('(').any(is_call)
}

/// Removes a place such as `src/a.rs:12 -- ` from the beginning of an entry.
fn without_place(entry: &str) -> &str {
    let trimmed = entry.trim();
    let token = trimmed.find(char::is_whitespace).unwrap_or(trimmed.len());
    let after_place = |(at, _): (usize, &str)| {
        let after = &trimmed[at + 1..];
        let digits = after.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-');
        let is_place = at > 0 && digits.len() < after.len();
        let ends = digits.is_empty() || digits.starts_with([' ', '\t', ':']);
        (is_place && ends).then_some(digits)
    };
    let Some(rest) = trimmed[..token].match_indices(':').find_map(after_place) else {
        return trimmed;
    };
    let rest = rest.trim_start_matches(':').trim_start();
    rest.trim_start_matches(['-', '–', '—', ':', ' ']).trim_start()
}

/// Removes the marks of a diff, or of a quotation in Markdown, from each line, and drops removed
/// lines. Returns `None` if the lines have no such marks.
fn without_diff_marks(text: &str) -> Option<String> {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    if lines().next().is_some() && lines().all(|line| line.trim_start().starts_with('>')) {
        let inside = lines().map(|line| &line.trim_start()[1..]);
        return Some(inside.collect::<Vec<_>>().join("\n"));
    }
    let is_of_diff = |line: &str| line.starts_with(['+', '-', ' ', '\t', '@', '\\']);
    if !lines().all(is_of_diff) || !lines().any(|line| line.starts_with('+')) {
        return None;
    }
    let is_left = |line: &&str| !line.starts_with(['-', '@', '\\']) && !line.starts_with("+++ ");
    let left = lines().filter(is_left).map(|line| line.strip_prefix('+').unwrap_or(line));
    Some(left.collect::<Vec<_>>().join("\n"))
}

/// Removes the line number from each line, as listings write it: `12: code`, `L12 | code`. Returns
/// `None` if a line has no number.
fn without_line_numbers(text: &str) -> Option<String> {
    let strip = |line: &str| {
        let line = line.trim_start();
        let line = line.strip_prefix(['L', 'l']).unwrap_or(line);
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_numbered = rest.len() < line.len();
        let code = rest.trim_start().trim_start_matches([':', '|', '→', '│', ')']);
        (is_numbered && code.len() < rest.len()).then(|| code.to_owned())
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let stripped: Vec<String> = lines.map(strip).collect::<Option<_>>()?;
    Some(stripped.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_span_ends_at_a_run_of_as_many_back_ticks() {
        for (text, expected) in [
            ("calls `a` and `b`", vec!["a", "b"]),
            ("``say(`x`)`` is wrong", vec!["say(`x`)"]),
            ("```rust\nlet a = 1;\n``` is", vec!["let a = 1;\n"]),
            ("```inline```", vec!["inline"]),
            ("cut `off here", vec!["off here"]),
            ("no code", vec![]),
        ] {
            assert_eq!(code_spans(text), expected, "{text}");
        }
    }

    #[test]
    fn a_place_before_a_quote_is_no_part_of_the_quote() {
        for (entry, expected) in [
            ("src/a.rs:12 -- store.put(x);", "store.put(x);"),
            ("src/a.rs:12-14: store.put(x);", "store.put(x);"),
            ("src/a.rs:12:store.put(x);", "store.put(x);"),
            ("src/a.rs:12", ""),
            ("store::put(x); // at:12", "store::put(x); // at:12"),
            ("let a: u32 = 12;", "let a: u32 = 12;"),
        ] {
            assert_eq!(without_place(entry), expected, "{entry}");
        }
    }

    #[test]
    fn lines_of_listings_and_diffs_are_read_without_their_marks() {
        let last = |text: &str| quote_variants(text).pop().map(|it| it.lines.join("|"));
        for (text, expected) in [
            ("12: store.put(x);\n13: store.flush();", "store.put(x);|store.flush();"),
            ("  12\tstore.put(x);", "store.put(x);"),
            ("+ store.put(x);", "store.put(x);"),
            ("@@ -1 +1 @@\n-store.del(x);\n+store.put(x);\n }", "store.put(x);|}"),
            ("+12 | store.put(x);", "store.put(x);"),
            ("> store.put(x);", "store.put(x);"),
            ("- store.put(x);", "-store.put(x);"),
        ] {
            assert_eq!(last(text).as_deref(), Some(expected), "{text}");
        }
    }
}
