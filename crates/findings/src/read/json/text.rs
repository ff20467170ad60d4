//! Strings. Reviewers quote code and forget to escape its quotes, so the end of a string is a
//! decision.
//!
//! A string ends at the first quote after which valid JSON can continue, not at its first quote. A
//! string that contains a well-known key of a report (`"severity":`) has lost its closing quote,
//! and ends before that key instead.

use std::borrow::Cow;

use super::super::keys::KEYS;
use super::super::scan::{self, Quote};
use super::{Frame, MAX_LOOK_AHEAD, Parser, RepairKind};

impl<'a> Parser<'a, '_> {
    /// Parses a key: it ends at its first quote, or at the colon if that quote was forgotten.
    pub(super) fn key_text(&mut self) -> Option<Cow<'a, str>> {
        let quote = Quote::at(self.source, self.pos)?;
        self.note_quote(quote);
        let start = self.pos + quote.len();
        let named = scan::word_end(self.bytes, start);
        let unclosed = named > start && self.bytes.get(named) == Some(&b':');
        if let Some(end) = scan::next_quote(self.source, start, quote) {
            let after = end + quote.closing_len(self.source, end);
            let on_one_line = !self.bytes[start..end].contains(&b'\n');
            if scan::colon_follows(self.bytes, after) || (on_one_line && !unclosed) {
                self.pos = after;
                return Some(self.unescaped(start, end));
            }
        }
        if !unclosed {
            return None;
        }
        self.repair(RepairKind::MissingQuote);
        self.pos = named;
        Some(Cow::Borrowed(&self.source[start..named]))
    }

    fn note_quote(&mut self, quote: Quote) {
        if quote != Quote::Double {
            self.repair(RepairKind::Quote);
        }
    }

    /// Parses a string value, with the pieces that are joined to it.
    pub(super) fn text(&mut self, quote: Quote) -> Cow<'a, str> {
        let mut text = self.one_text(quote);
        loop {
            let next = scan::skip_space(self.bytes, self.pos);
            let joined = match self.bytes.get(next) {
                Some(b'+') => scan::skip_space(self.bytes, next + 1),
                Some(_) if self.is_adjacent_piece(next) => next,
                _ => return text,
            };
            let Some(quote) = Quote::at(self.source, joined) else { return text };
            self.repair(RepairKind::Concatenated);
            self.pos = joined;
            text = Cow::Owned(text.into_owned() + &self.one_text(quote));
        }
    }

    /// Returns true if a string follows that is part of this value: in an object, a string that is
    /// no key.
    fn is_adjacent_piece(&mut self, next: usize) -> bool {
        let in_object = matches!(self.stack.last(), Some(Frame::Object { key: Some(_), .. }));
        let Some(quote) = Quote::at(self.source, next) else { return false };
        if !in_object || !self.allowance.rescan(MAX_LOOK_AHEAD) {
            return false;
        }
        let limit = (next + MAX_LOOK_AHEAD).min(self.bytes.len());
        scan::next_quote_before(self.source, next + quote.len(), quote, limit).is_some_and(|end| {
            !scan::colon_follows(self.bytes, end + quote.closing_len(self.source, end))
        })
    }

    fn one_text(&mut self, quote: Quote) -> Cow<'a, str> {
        self.note_quote(quote);
        self.text_from(self.pos + quote.len(), quote)
    }

    /// Parses the text of a string up to its closing quote.
    pub(super) fn text_from(&mut self, start: usize, quote: Quote) -> Cow<'a, str> {
        let mut from = start;
        let mut first_close = None;
        loop {
            let end = scan::next_quote(self.source, from, quote);
            let reach = end.unwrap_or(self.bytes.len());
            if let Some(line) = self.entry_on_a_line_of(from, reach) {
                return self.missing_quote(start, line);
            }
            let Some(end) = end else { return self.unclosed(start, first_close, quote) };
            let after = end + quote.closing_len(self.source, end);
            let affordable = self.allowance.rescan(8);
            if !affordable || self.closes_value(after) {
                return self.close_text(start, end, first_close);
            }
            if let Some(entry) = self.entry_before(start, end) {
                return self.missing_quote(start, entry);
            }
            first_close.get_or_insert(end);
            from = after;
        }
    }

    fn close_text(&mut self, start: usize, end: usize, first: Option<usize>) -> Cow<'a, str> {
        self.pos = end + scan::char_len(self.bytes, end);
        if first.is_some() {
            // Quoted code has no raw line break and no key of a report; a lost quote adds both to
            // the string.
            let lost_its_end =
                self.bytes[start..end].contains(&b'\n') || self.holds_key(start, end);
            let kind = if lost_its_end { RepairKind::MissingQuote } else { RepairKind::Quote };
            self.repair_at(kind, start);
        }
        // A closing quote that is written twice closes once.
        let end = first.filter(|first| first + 1 == end).unwrap_or(end);
        self.unescaped(start, end)
    }

    /// Returns true if a string contains a key of a finding or a report, with its colon.
    fn holds_key(&self, start: usize, end: usize) -> bool {
        memchr::memchr_iter(b'"', &self.bytes[start..end]).map(|at| start + at).any(|quote| {
            let name = &self.source[quote + 1..scan::word_end(self.bytes, quote + 1)];
            (is_entry_key(name) || name == "reviewer") && self.plain_key_at(quote)
        })
    }

    /// Returns the end that a string should have had, if the quote at `at` opens a well-known key
    /// after a separator: the string has then lost its closing quote.
    fn entry_before(&self, start: usize, at: usize) -> Option<usize> {
        let name = at + Quote::at(self.source, at)?.len();
        let word = scan::word_end(self.bytes, name);
        if !is_entry_key(&self.source[name..word]) || !self.plain_key_at(at) {
            return None;
        }
        let before = self.source[start..at].trim_end();
        let text = before.trim_end_matches([',', '{', '}', '[', ']', ' ', '\n', '\r', '\t']);
        (text.len() < before.len()).then_some(start + text.len())
    }

    /// Returns the line break inside of an open string after which the next entry starts, which is
    /// where the string should have ended.
    fn entry_on_a_line_of(&self, from: usize, to: usize) -> Option<usize> {
        let source = self.bytes;
        memchr::memchr_iter(b'\n', &source[from..to])
            .map(|at| from + at)
            .find(|line| self.line_starts_entry(line + 1))
    }

    /// Returns true if a quote ends its string, judged by the text after it.
    fn closes_value(&self, after: usize) -> bool {
        let next = scan::skip_space(self.bytes, after);
        match self.bytes.get(next) {
            None => true,
            Some(b':') => matches!(self.stack.last(), Some(Frame::Array { .. })),
            Some(b'}' | b']') => self.text_may_end_after(next + 1),
            Some(b',') => self.entry_may_follow(next + 1),
            Some(b')') => {
                let behind = self.bytes.get(scan::skip_space(self.bytes, next + 1));
                matches!(behind, None | Some(b',' | b'}' | b']'))
            }
            Some(b'+') => Quote::at(self.source, scan::skip_space(self.bytes, next + 1)).is_some(),
            Some(b'/' | b'#') => scan::comment_end(self.bytes, next).is_some(),
            // The next entry is on a line of its own: only the comma is missing.
            Some(_) if self.bytes[after..next].contains(&b'\n') => {
                Quote::at(self.source, next).is_some()
                    || scan::fence_at(self.bytes, next).is_some()
                    || scan::is_word(self.bytes[next])
                        && scan::colon_follows(self.bytes, scan::word_end(self.bytes, next))
            }
            // The next key is right behind: only the comma is missing.
            Some(_) => self.plain_key_at(next),
        }
    }

    /// Returns true if JSON continues behind a closing bracket, or may end there.
    pub(super) fn text_may_end_after(&self, from: usize) -> bool {
        let next = scan::skip_space(self.bytes, from);
        let goes_on = match self.bytes.get(next) {
            None | Some(b',' | b'}' | b']' | b'{' | b'[') => true,
            Some(_) => {
                scan::fence_at(self.bytes, next).is_some()
                    || scan::comment_end(self.bytes, next).is_some()
            }
        };
        // Text on the next line, or behind the outermost bracket, is prose after the JSON.
        goes_on || self.bytes[from..next].contains(&b'\n') || self.stack.len() == 1
    }

    /// Returns true if another entry of this container may follow a comma.
    pub(super) fn entry_may_follow(&self, from: usize) -> bool {
        let next = scan::skip_space(self.bytes, from);
        let in_array = matches!(self.stack.last(), Some(Frame::Array { .. }));
        match self.bytes.get(next) {
            None | Some(b'}' | b']' | b'{' | b',' | b'/' | b'#') => true,
            Some(b'[' | b'-' | b'0'..=b'9') => in_array,
            Some(_) => match Quote::at(self.source, next) {
                Some(_) if in_array => true,
                Some(quote) => self.key_follows(next + quote.len(), quote),
                None => self.bare_entry_follows(next, in_array),
            },
        }
    }

    /// Returns true if an entry without its first quote, or a slip before an entry, starts here.
    fn bare_entry_follows(&self, at: usize, in_array: bool) -> bool {
        if scan::fence_at(self.bytes, at).is_some() || scan::ellipsis_at(self.bytes, at) {
            return true;
        }
        let word = scan::word_end(self.bytes, at);
        if word == at {
            return false;
        }
        let after = word + Quote::at(self.source, word).map_or(0, Quote::len);
        in_array && scan::is_literal(&self.bytes[at..word])
            || scan::colon_follows(self.bytes, after)
            || self.plain_key_at(scan::skip_space(self.bytes, word))
    }

    /// Returns true if a key starts here. A key that is longer than the look-ahead is accepted
    /// unchecked.
    fn key_follows(&self, from: usize, quote: Quote) -> bool {
        let limit = (from + MAX_LOOK_AHEAD).min(self.bytes.len());
        match scan::next_quote_before(self.source, from, quote, limit) {
            Some(end) => {
                scan::colon_follows(self.bytes, end + quote.closing_len(self.source, end))
                    || self.source[from..end].contains(':')
                    || is_entry_key(&self.source[from..end])
            }
            None => true,
        }
    }

    /// Returns true if a line inside of an open string is in fact the next entry.
    fn line_starts_entry(&self, at: usize) -> bool {
        let next = scan::skip_indent(self.bytes, at);
        scan::bare_fence_at(self.bytes, next)
            || self.plain_key_at(next)
            || matches!(self.bytes.get(next), Some(b'}' | b']'))
                && self.text_may_end_after(next + 1)
    }

    /// Returns true if a key of one word is here, with its colon.
    pub(super) fn plain_key_at(&self, at: usize) -> bool {
        let Some(quote) = Quote::at(self.source, at) else { return false };
        let word = scan::word_end(self.bytes, at + quote.len());
        word > at + quote.len()
            && Quote::at(self.source, word)
                .is_some_and(|close| scan::colon_follows(self.bytes, word + close.len()))
    }

    /// Ends a string at the end of its line, if its closing quote was forgotten.
    fn missing_quote(&mut self, start: usize, line: usize) -> Cow<'a, str> {
        self.repair_at(RepairKind::MissingQuote, line);
        let text = self.source[start..line].trim_end();
        let end = start + text.strip_suffix(',').unwrap_or(text).len();
        self.pos = line;
        self.unescaped(start, end)
    }

    /// Ends a string that no quote closed: at the first quote that could have closed it, else at
    /// the end of the text.
    fn unclosed(&mut self, start: usize, first_close: Option<usize>, quote: Quote) -> Cow<'a, str> {
        match first_close {
            // The text beyond the quote is parsed again, as long as the allowance permits it.
            Some(end) if self.allowance.rescan(self.bytes.len() - end) => {
                self.repair_at(RepairKind::Quote, end);
                self.pos = end + quote.closing_len(self.source, end);
                self.unescaped(start, end)
            }
            _ => {
                self.pos = self.bytes.len();
                self.cut = true;
                self.unescaped(start, self.pos)
            }
        }
    }

    fn unescaped(&mut self, start: usize, end: usize) -> Cow<'a, str> {
        let (text, sound) = scan::unescape(&self.source[start..end]);
        if !sound {
            self.repair_at(RepairKind::Escape, start);
        }
        text
    }
}

/// Returns true if a word is a key of findings or reports.
fn is_entry_key(word: &str) -> bool {
    KEYS.contains(&word)
}
