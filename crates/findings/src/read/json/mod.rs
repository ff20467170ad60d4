//! A tolerant JSON parser: [`parse_at`] parses one value, and repairs the mistakes of reviewers.
//!
//! Three invariants hold, and the tests prove them: valid JSON results in exactly the value of a
//! strict parser; every input results in a value, without recursion; and the work is linear in the
//! input, because every look-ahead is bounded or charged to a fixed allowance.
//!
//! Scalars are parsed in [`scalar`], strings in [`text`]. The meaning of the value is left to
//! [`super::extract`] and [`super::fields`].

mod scalar;
mod text;

use std::borrow::Cow;

use super::scan::{self, Quote};
use super::{Repair, RepairKind};

/// The maximum nesting depth; deeper containers are skipped.
const MAX_DEPTH: usize = 128;

/// The maximum number of bytes that are read ahead to decide about a quote.
const MAX_LOOK_AHEAD: usize = 160;

/// The maximum number of repairs that are listed.
const MAX_REPAIRS: usize = 1_000;

/// The maximum number of meaningless characters between entries; with more, the text is no JSON.
const MAX_JUNK: usize = 64;

/// A JSON value that borrows its text from the source, unless an escape was resolved.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    /// A number as it is written.
    Number(&'a str),
    Text(Cow<'a, str>),
    Array(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// Returns the last entry with a key, in lower or upper case. As in every JSON parser, a later
    /// entry replaces an earlier one.
    pub(crate) fn get(&self, key: &str) -> Option<&Json<'a>> {
        match self {
            Json::Object(entries) => {
                entries.iter().rev().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v)
            }
            _ => None,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Converts the value to a `serde_json::Value`, for values that are stored unchanged.
    pub(crate) fn to_value(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Json::Null => Value::Null,
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(text) => {
                serde_json::from_str(text).unwrap_or_else(|_| Value::String((*text).to_owned()))
            }
            Json::Text(text) => Value::String(text.to_string()),
            Json::Array(items) => Value::Array(items.iter().map(Json::to_value).collect()),
            Json::Object(entries) => {
                Value::Object(entries.iter().map(|(k, v)| (k.to_string(), v.to_value())).collect())
            }
        }
    }
}

/// The result of [`parse_at`].
#[derive(Debug)]
pub(crate) struct ParsedJson<'a> {
    pub(crate) value: Json<'a>,
    /// The offset behind the value, in bytes.
    pub(crate) end: usize,
    pub(crate) repairs: Vec<Repair>,
}

/// The remaining allowance of one reading, which bounds the work of all its parsing.
#[derive(Debug)]
pub(crate) struct ParseBudget {
    /// The number of bytes that may still be read more than once.
    rescans: usize,
    /// The number of values that may still be stored.
    values: usize,
}

impl ParseBudget {
    pub(crate) fn for_text(text: &str) -> ParseBudget {
        ParseBudget { rescans: 4 * text.len() + 65_536, values: text.len() / 6 + 65_536 }
    }

    /// Takes `bytes` from the allowance; returns false once the allowance is spent.
    pub(crate) fn rescan(&mut self, bytes: usize) -> bool {
        let granted = self.rescans >= bytes;
        self.rescans = self.rescans.saturating_sub(bytes);
        granted
    }
}

/// Parses the value that starts at `start`, which must be a `{` or a `[`.
pub(crate) fn parse_at<'a>(
    source: &'a str,
    start: usize,
    allowance: &mut ParseBudget,
) -> ParsedJson<'a> {
    let mut parser = Parser {
        source,
        bytes: source.as_bytes(),
        pos: start,
        stack: Vec::new(),
        repairs: Vec::new(),
        junk: 0,
        objects: 0,
        cut: false,
        allowance,
    };
    let value = parser.run();
    ParsedJson { value, end: parser.pos, repairs: parser.repairs }
}

enum Frame<'a> {
    Array {
        items: Vec<Json<'a>>,
        separator: Separator,
    },
    Object {
        entries: Vec<(Cow<'a, str>, Json<'a>)>,
        key: Option<Cow<'a, str>>,
        separator: Separator,
        /// The number of extra opening braces, for which the same number of closing ones is
        /// expected.
        doubled: usize,
    },
}

/// The text between the last entry and the current position.
#[derive(Clone, Copy, PartialEq)]
enum Separator {
    /// No entry yet.
    Fresh,
    /// An entry without a comma after it.
    Entry,
    /// A comma.
    Comma,
}

enum Step<'a> {
    Continue,
    Done(Json<'a>),
}

struct Parser<'a, 'b> {
    source: &'a str,
    bytes: &'a [u8],
    pos: usize,
    stack: Vec<Frame<'a>>,
    repairs: Vec<Repair>,
    junk: usize,
    /// The number of objects on the stack.
    objects: usize,
    /// True if the text ended inside a string.
    cut: bool,
    allowance: &'b mut ParseBudget,
}

impl<'a> Parser<'a, '_> {
    fn run(&mut self) -> Json<'a> {
        self.open();
        loop {
            self.skip_blank();
            let step = match self.stack.last() {
                None => return Json::Null,
                Some(_) if self.at_end() => Step::Done(self.close_all()),
                Some(Frame::Array { .. }) => self.in_array(),
                Some(Frame::Object { key: None, .. }) => self.in_object(),
                Some(Frame::Object { key: Some(_), .. }) => self.after_key(),
            };
            if let Step::Done(value) = step {
                return value;
            }
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.pos).copied()
    }

    fn repair(&mut self, kind: RepairKind) {
        self.repair_at(kind, self.pos);
    }

    fn repair_at(&mut self, kind: RepairKind, at: usize) {
        if self.repairs.len() < MAX_REPAIRS {
            self.repairs.push(Repair { kind, at });
        }
    }

    /// Returns true if JSON cannot continue here: the text ends, or a fence closes.
    fn at_end(&self) -> bool {
        self.pos >= self.bytes.len() || scan::fence_at(self.bytes, self.pos).is_some()
    }

    /// Skips whitespace and comments.
    fn skip_blank(&mut self) {
        loop {
            self.pos = scan::skip_space(self.bytes, self.pos);
            match scan::comment_end(self.bytes, self.pos) {
                Some(end) => {
                    // A comment with brackets may have swallowed content that a lost quote
                    // released.
                    let holds_json = self.bytes[self.pos..end].contains(&b'{')
                        || self.bytes[self.pos..end].contains(&b'}');
                    self.repair(if holds_json { RepairKind::Skipped } else { RepairKind::Comment });
                    self.pos = end;
                }
                None => return,
            }
        }
    }

    /// Opens the container at the current position.
    fn open(&mut self) {
        if self.stack.len() >= MAX_DEPTH {
            self.repair(RepairKind::TooDeep);
            self.pos = scan::skip_nested(self.bytes, self.pos);
            self.put(Json::Null);
            return;
        }
        let is_array = self.peek() == Some(b'[');
        self.pos += 1;
        if is_array {
            self.stack.push(Frame::Array { items: Vec::new(), separator: Separator::Fresh });
        } else {
            self.push_object(None);
        }
    }

    fn push_object(&mut self, key: Option<Cow<'a, str>>) {
        self.objects += 1;
        self.stack.push(Frame::Object {
            entries: Vec::new(),
            key,
            separator: Separator::Fresh,
            doubled: 0,
        });
    }

    /// Adds a finished value to the innermost container.
    fn put(&mut self, value: Json<'a>) {
        let keep = self.allowance.values > 0;
        self.allowance.values = self.allowance.values.saturating_sub(1);
        if !keep {
            self.repair(RepairKind::TooMany);
        }
        match self.stack.last_mut() {
            Some(Frame::Array { items, separator }) => {
                *separator = Separator::Entry;
                if keep {
                    items.push(value);
                }
            }
            Some(Frame::Object { entries, key, separator, .. }) => {
                *separator = Separator::Entry;
                if let (Some(key), true) = (key.take(), keep) {
                    entries.push((key, value));
                }
            }
            None => {}
        }
    }

    /// Closes the innermost container.
    fn close(&mut self) -> Step<'a> {
        let value = match self.stack.pop() {
            Some(Frame::Array { items, .. }) => Json::Array(items),
            Some(Frame::Object { mut entries, doubled, .. }) => {
                if entries.len() <= 2 {
                    // Small objects are frequent, so they retain no spare capacity.
                    entries.shrink_to_fit();
                }
                self.objects -= 1;
                self.skip_doubled_closers(doubled);
                Json::Object(entries)
            }
            None => return Step::Done(Json::Null),
        };
        if self.stack.is_empty() {
            return Step::Done(value);
        }
        self.put(value);
        Step::Continue
    }

    fn skip_doubled_closers(&mut self, doubled: usize) {
        for _ in 0..doubled {
            let next = scan::skip_space(self.bytes, self.pos);
            if self.bytes.get(next) == Some(&b'}') {
                self.pos = next + 1;
            }
        }
    }

    /// Ends the value where it stops being JSON or the text stops, and keeps all complete entries.
    fn close_all(&mut self) -> Json<'a> {
        self.repair(RepairKind::Truncated);
        loop {
            if let Step::Done(value) = self.close() {
                return value;
            }
        }
    }

    fn separator(&mut self) -> &mut Separator {
        match self.stack.last_mut().expect("a step has a container") {
            Frame::Array { separator, .. } | Frame::Object { separator, .. } => separator,
        }
    }

    fn comma(&mut self) -> Step<'a> {
        if *self.separator() != Separator::Entry {
            self.repair(RepairKind::ExtraComma);
        }
        *self.separator() = Separator::Comma;
        self.pos += 1;
        Step::Continue
    }

    /// Closes the container at its closing bracket, and records a comma before the bracket.
    fn close_properly(&mut self) -> Step<'a> {
        if *self.separator() == Separator::Comma {
            self.repair(RepairKind::ExtraComma);
        }
        if self.is_emptied_list() {
            self.repair(RepairKind::Skipped);
        }
        self.pos += 1;
        self.close()
    }

    /// Returns true if the list that closes here has no item, but other text: a comment may state
    /// where the items are.
    fn is_emptied_list(&self) -> bool {
        let is_empty =
            matches!(self.stack.last(), Some(Frame::Array { items, .. }) if items.is_empty());
        let before = self.bytes[..self.pos].iter().rev().find(|byte| !byte.is_ascii_whitespace());
        is_empty && before != Some(&b'[')
    }

    fn note_missing_comma(&mut self) {
        if *self.separator() == Separator::Entry {
            self.repair(RepairKind::MissingComma);
        }
    }

    // ---- arrays

    fn in_array(&mut self) -> Step<'a> {
        match self.peek() {
            Some(b']') => self.close_properly(),
            Some(b'}') => self.brace_in_array(),
            Some(b',') => self.comma(),
            Some(b'{' | b'[') => {
                self.note_missing_comma();
                self.open();
                Step::Continue
            }
            Some(b';' | b')' | b'(') => self.skip_junk(),
            Some(_) => self.scalar_in_array(),
            None => Step::Done(self.close_all()),
        }
    }

    /// Handles a `}` in place of a `]`: either the `}` is one too many, or the `]` was forgotten.
    fn brace_in_array(&mut self) -> Step<'a> {
        self.repair(RepairKind::Bracket);
        if self.objects == 0 || self.items_go_on_after(self.pos + 1) {
            self.pos += 1;
            return Step::Continue;
        }
        self.close()
    }

    /// Returns true if, after a stray closing bracket, the array continues with another item or its
    /// own end.
    fn items_go_on_after(&self, from: usize) -> bool {
        let next = scan::skip_space(self.bytes, from);
        match self.bytes.get(next) {
            Some(b'{' | b']') => true,
            Some(b',') => self.bytes.get(scan::skip_space(self.bytes, next + 1)) == Some(&b'{'),
            _ => false,
        }
    }

    fn scalar_in_array(&mut self) -> Step<'a> {
        if scan::ellipsis_at(self.bytes, self.pos) {
            return self.skip_ellipsis();
        }
        let after_items = match self.stack.last() {
            Some(Frame::Array { items, separator }) => {
                *separator == Separator::Entry && matches!(items.last(), Some(Json::Object(_)))
            }
            _ => false,
        };
        if after_items && Quote::at(self.source, self.pos).is_none() {
            // A list of objects that turns into prose has lost its end.
            return Step::Done(self.close_all());
        }
        let start = self.pos;
        self.note_missing_comma();
        let value = self.scalar();
        self.skip_blank();
        match (value, self.peek()) {
            (Json::Text(key), Some(b':')) => {
                // `"file": …` in place of an item: the item has lost its `{`.
                self.repair_at(RepairKind::Bracket, start);
                self.push_object(Some(key));
            }
            (value, _) => self.put(value),
        }
        Step::Continue
    }

    // ---- objects

    fn in_object(&mut self) -> Step<'a> {
        match self.peek() {
            Some(b'}') => self.close_properly(),
            Some(b']') => self.bracket_in_object(),
            Some(b',') => self.comma(),
            Some(b'{') => self.brace_in_object(),
            Some(_) if Quote::at(self.source, self.pos).is_some() => self.quoted_key(),
            Some(byte) if scan::is_word(byte) => self.bare_key(),
            Some(_) if scan::ellipsis_at(self.bytes, self.pos) => self.skip_ellipsis(),
            _ => self.skip_junk(),
        }
    }

    /// Handles a `]` in place of a `}`: either the `}` was forgotten, or the `]` is one too many.
    fn bracket_in_object(&mut self) -> Step<'a> {
        self.repair(RepairKind::Bracket);
        if self.stack.len() > self.objects {
            return self.close();
        }
        self.pos += 1;
        Step::Continue
    }

    /// Handles a `{` in place of a key: it was written twice, or it begins the next item of a list
    /// after a forgotten `}`, or of a list whose `[` was forgotten.
    fn brace_in_object(&mut self) -> Step<'a> {
        self.repair(RepairKind::Bracket);
        let in_list = matches!(self.stack.iter().rev().nth(1), Some(Frame::Array { .. }));
        match self.stack.last_mut() {
            Some(Frame::Object { entries, doubled, .. }) if entries.is_empty() => {
                *doubled += 1;
                self.pos += 1;
                Step::Continue
            }
            Some(Frame::Object { .. }) if in_list => self.close(),
            Some(Frame::Object { entries, key, .. })
                if matches!(entries.last(), Some((_, Json::Object(_)))) =>
            {
                let (list, first) = entries.pop().expect("the arm saw an entry");
                *key = Some(list);
                self.stack.push(Frame::Array { items: vec![first], separator: Separator::Comma });
                Step::Continue
            }
            _ => Step::Done(self.close_all()),
        }
    }

    fn quoted_key(&mut self) -> Step<'a> {
        self.note_missing_comma();
        match self.key_text() {
            Some(key) => self.set_key(key),
            None => Step::Done(self.close_all()),
        }
    }

    fn set_key(&mut self, key: Cow<'a, str>) -> Step<'a> {
        if key.trim().is_empty() {
            // A doubled quote before a key results in an empty key.
            self.repair(RepairKind::Skipped);
        }
        if let Some(Frame::Object { key: slot, .. }) = self.stack.last_mut() {
            *slot = Some(key);
        }
        Step::Continue
    }

    fn bare_key(&mut self) -> Step<'a> {
        let end = scan::word_end(self.bytes, self.pos);
        let mut next = end;
        // `file": …` has lost only its first quote.
        if let Some(quote) = Quote::at(self.source, next) {
            next += quote.len();
        }
        let colon = scan::skip_space(self.bytes, next);
        if !matches!(self.bytes.get(colon), Some(b':' | b'=')) {
            return self.word_without_value(end);
        }
        self.note_missing_comma();
        self.repair(RepairKind::UnquotedKey);
        let key = &self.source[self.pos..end];
        self.pos = colon;
        self.set_key(Cow::Borrowed(key))
    }

    /// Handles a word that is no key: prose after a lost end, or a slip inside the object.
    fn word_without_value(&mut self, end: usize) -> Step<'a> {
        let next = scan::skip_space(self.bytes, end);
        if matches!(self.bytes.get(next), Some(b',' | b'}')) || self.plain_key_at(next) {
            self.repair(RepairKind::Skipped);
            self.pos = end;
            return Step::Continue;
        }
        Step::Done(self.close_all())
    }

    fn after_key(&mut self) -> Step<'a> {
        match self.peek() {
            Some(b':') => {
                self.pos += 1;
                while self.peek() == Some(b':') {
                    self.repair(RepairKind::Skipped);
                    self.pos += 1;
                }
            }
            Some(b'=') => {
                self.repair(RepairKind::MissingColon);
                self.pos += 1;
                self.pos += usize::from(self.peek() == Some(b'>'));
            }
            Some(b',' | b'}' | b']') => {
                self.repair(RepairKind::Skipped);
                if let Some(Frame::Object { key, separator, .. }) = self.stack.last_mut() {
                    *key = None;
                    *separator = Separator::Entry;
                }
                return Step::Continue;
            }
            _ => self.repair(RepairKind::MissingColon),
        }
        self.skip_blank();
        self.value_of_key()
    }

    fn value_of_key(&mut self) -> Step<'a> {
        match self.peek() {
            _ if self.at_end() => return Step::Done(self.close_all()),
            Some(b'{' | b'[') => self.open(),
            Some(b',' | b'}' | b']') => {
                self.repair(RepairKind::MissingValue);
                self.put(Json::Null);
            }
            _ => {
                let value = self.scalar();
                if self.cut {
                    // The field at the end of a cut text is incomplete, so it is dropped.
                    return Step::Done(self.close_all());
                }
                self.put(value);
            }
        }
        Step::Continue
    }

    fn skip_ellipsis(&mut self) -> Step<'a> {
        self.repair(RepairKind::Skipped);
        self.pos = scan::ellipsis_end(self.bytes, self.pos);
        Step::Continue
    }

    fn skip_junk(&mut self) -> Step<'a> {
        self.junk += 1;
        let nothing_yet = self.stack.len() == 1
            && matches!(self.stack.last(), Some(Frame::Object { entries, .. }) if entries.is_empty());
        if nothing_yet || self.junk > MAX_JUNK {
            return Step::Done(self.close_all());
        }
        self.repair(RepairKind::Skipped);
        self.pos += scan::char_len(self.bytes, self.pos);
        Step::Continue
    }
}
