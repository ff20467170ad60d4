//! Numbers, literals and values without quotes.

use std::borrow::Cow;

use super::super::scan::{self, Quote};
use super::{Json, MAX_LOOK_AHEAD, Parser, RepairKind};

impl<'a> Parser<'a, '_> {
    pub(super) fn scalar(&mut self) -> Json<'a> {
        if let Some(quote) = Quote::at(self.source, self.pos) {
            return Json::Text(self.text(quote));
        }
        let start = self.pos;
        if let Some(inner) = self.call_or_prefix(start) {
            return inner;
        }
        let end = self.bare_value_end(start);
        let bare = self.source[start..end].trim_end();
        self.pos = start + bare.len();
        if let Some(literal) = self.literal(bare, start) {
            return literal;
        }
        if self.lost_its_first_quote(start, end) {
            self.repair_at(RepairKind::MissingQuote, start);
            return Json::Text(self.text_from(start, Quote::Double));
        }
        self.repair_at(RepairKind::UnquotedValue, start);
        if bare.is_empty() {
            // No value starts here: the character is skipped, since the parser would not advance
            // otherwise.
            self.pos = start + scan::char_len(self.bytes, start);
            return Json::Null;
        }
        Json::Text(Cow::Borrowed(bare.trim_end_matches(['"', '\'', '”', '’'])))
    }

    /// Returns the end of a value without quotes, which may be a key right behind it.
    fn bare_value_end(&self, start: usize) -> usize {
        let end = scan::bare_end(self.bytes, start);
        memchr::memchr_iter(b'"', &self.bytes[start..end])
            .map(|at| start + at)
            .find(|at| *at > start && self.plain_key_at(*at))
            .unwrap_or(end)
    }

    /// Returns true if a value without quotes is the text of a string whose first quote is missing:
    /// no entry follows the end of the value, or a quote is right before the end.
    fn lost_its_first_quote(&mut self, start: usize, end: usize) -> bool {
        let ends_in_quote = self.source[start..end].trim_end().ends_with('"');
        let goes_on = match self.bytes.get(end) {
            Some(b',') => !self.entry_may_follow(end + 1),
            Some(b'}' | b']') => !self.text_may_end_after(end + 1),
            _ => false,
        };
        let line = scan::line_end_within(self.bytes, end, MAX_LOOK_AHEAD);
        ends_in_quote || (goes_on && self.bytes[end..line].contains(&b'"'))
    }

    fn literal(&mut self, bare: &'a str, at: usize) -> Option<Json<'a>> {
        if scan::is_json_number(bare.as_bytes()) {
            return Some(Json::Number(bare));
        }
        if let Some(number) = digit_groups(bare) {
            self.repair_at(RepairKind::Literal, at);
            return Some(Json::Text(Cow::Owned(number)));
        }
        let (value, strict) = match bare {
            "true" => (Json::Bool(true), true),
            "false" => (Json::Bool(false), true),
            "null" => (Json::Null, true),
            "True" | "TRUE" => (Json::Bool(true), false),
            "False" | "FALSE" => (Json::Bool(false), false),
            "None" | "NULL" | "Null" | "nil" | "undefined" | "NaN" | "Infinity" | "-Infinity" => {
                (Json::Null, false)
            }
            _ => return None,
        };
        if !strict {
            self.repair_at(RepairKind::Literal, at);
        }
        Some(value)
    }

    /// Parses the value inside of `u"…"` or `ObjectId("…")`.
    fn call_or_prefix(&mut self, start: usize) -> Option<Json<'a>> {
        let word = scan::word_end(self.bytes, start);
        if word == start {
            return None;
        }
        if let Some(number) = self.wrapped_number(start, word) {
            return Some(number);
        }
        let inner = match self.bytes.get(word) {
            Some(b'(') => scan::skip_space(self.bytes, word + 1),
            Some(b'"' | b'\'') if is_string_prefix(&self.source[start..word]) => word,
            _ => return None,
        };
        let quote = Quote::at(self.source, inner)?;
        self.repair_at(RepairKind::Literal, start);
        self.pos = inner;
        let text = self.text(quote);
        let close = scan::skip_space(self.bytes, self.pos);
        if self.bytes.get(word) == Some(&b'(') && self.bytes.get(close) == Some(&b')') {
            self.pos = close + 1;
        }
        Some(Json::Text(text))
    }

    /// Parses the number in `NumberInt(42)`.
    fn wrapped_number(&mut self, start: usize, word: usize) -> Option<Json<'a>> {
        let inside = self.bytes.get(word).filter(|byte| **byte == b'(').map(|_| word + 1)?;
        let end = scan::word_end(self.bytes, inside);
        let number = &self.source[inside..end];
        if !scan::is_json_number(number.as_bytes()) || self.bytes.get(end) != Some(&b')') {
            return None;
        }
        self.repair_at(RepairKind::Literal, start);
        self.pos = end + 1;
        Some(Json::Number(number))
    }
}

/// Returns true if a word is the prefix of a special string in Python or a similar language.
fn is_string_prefix(word: &str) -> bool {
    matches!(word.to_ascii_lowercase().as_str(), "r" | "u" | "b" | "f" | "rb" | "br" | "fr" | "rf")
}

/// Removes the separators from a number such as `1_339`.
fn digit_groups(bare: &str) -> Option<String> {
    let grouped = bare.contains('_') && bare.bytes().all(|b| b.is_ascii_digit() || b == b'_');
    let digits: String = bare.chars().filter(char::is_ascii_digit).collect();
    (grouped && scan::is_json_number(digits.as_bytes())).then_some(digits)
}
