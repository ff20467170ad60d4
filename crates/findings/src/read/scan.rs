//! Small steps over bytes, from which [`super::json`] and [`super::extract`] are built.
//!
//! Each step reads a bounded stretch, or a stretch that its caller then skips.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// A kind of quotation mark that opens a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quote {
    Double,
    Single,
    /// `“…”`, which a plain `"` may close as well.
    CurlyDouble,
    /// `‘…’`, which a plain `'` may close as well.
    CurlySingle,
    /// A back-tick, which an accent may close as well.
    Tick,
    /// `´`, which a back-tick may close as well.
    Accent,
}

impl Quote {
    pub(crate) fn at(source: &str, pos: usize) -> Option<Quote> {
        match source.as_bytes().get(pos)? {
            b'"' => Some(Quote::Double),
            b'\'' => Some(Quote::Single),
            b'`' => (!source[pos..].starts_with("```")).then_some(Quote::Tick),
            0xc2 => (source.get(pos..pos + 2)? == "´").then_some(Quote::Accent),
            0xe2 => match source.get(pos..pos + 3)? {
                "“" | "”" => Some(Quote::CurlyDouble),
                "‘" | "’" => Some(Quote::CurlySingle),
                _ => None,
            },
            _ => None,
        }
    }

    pub(crate) fn len(self) -> usize {
        match self {
            Quote::Double | Quote::Single | Quote::Tick => 1,
            Quote::Accent => 2,
            Quote::CurlyDouble | Quote::CurlySingle => 3,
        }
    }

    /// Returns the length of the closing mark at `pos`; a plain mark may close a curly string.
    pub(crate) fn closing_len(self, source: &str, pos: usize) -> usize {
        Quote::at(source, pos).map_or(1, Quote::len)
    }

    fn closed_by(self, other: Quote) -> bool {
        self == other
            || matches!(
                (self, other),
                (Quote::CurlyDouble, Quote::Double)
                    | (Quote::CurlySingle, Quote::Single)
                    | (Quote::Tick, Quote::Accent)
                    | (Quote::Accent, Quote::Tick)
            )
    }
}

/// Finds the next mark that may close `quote`, and skips escaped ones.
pub(crate) fn next_quote(source: &str, from: usize, quote: Quote) -> Option<usize> {
    next_quote_before(source, from, quote, source.len())
}

/// Finds the next mark that may close `quote`, before `limit`.
pub(crate) fn next_quote_before(
    source: &str,
    from: usize,
    quote: Quote,
    limit: usize,
) -> Option<usize> {
    let bytes = &source.as_bytes()[..limit];
    let mark = match quote {
        Quote::Double => b'"',
        Quote::Single => b'\'',
        Quote::CurlyDouble | Quote::CurlySingle | Quote::Tick | Quote::Accent => {
            return next_of_pair(source, from, quote, limit);
        }
    };
    let mut pos = from;
    loop {
        let hit = pos + memchr2(mark, b'\\', bytes.get(pos..)?)?;
        if bytes[hit] == mark {
            return Some(hit);
        }
        pos = hit + 2;
    }
}

fn next_of_pair(source: &str, from: usize, quote: Quote, limit: usize) -> Option<usize> {
    let bytes = source.as_bytes();
    let mut pos = from;
    while pos < limit {
        match bytes[pos] {
            b'\\' => pos += 2,
            b'"' | b'\'' | b'`' | 0xc2 | 0xe2
                if Quote::at(source, pos).is_some_and(|other| quote.closed_by(other)) =>
            {
                return Some(pos);
            }
            _ => pos += 1,
        }
    }
    None
}

pub(crate) fn skip_space(bytes: &[u8], mut pos: usize) -> usize {
    loop {
        match bytes.get(pos) {
            Some(b' ' | b'\n' | b'\r' | b'\t') => pos += 1,
            Some(0xc2 | 0xe2 | 0xe3 | 0xef) => match foreign_space(&bytes[pos..]) {
                Some(len) => pos += len,
                None => return pos,
            },
            _ => return pos,
        }
    }
}

/// Returns the length of whitespace that JSON does not know, as copied from a page: no-break and
/// wide spaces, and the byte-order mark.
fn foreign_space(bytes: &[u8]) -> Option<usize> {
    match bytes {
        [0xc2, 0xa0, ..] => Some(2),
        [0xe2, 0x80, 0x80..=0x8b | 0xaf, ..] | [0xe2, 0x81, 0x9f, ..] | [0xe3, 0x80, 0x80, ..] => {
            Some(3)
        }
        [0xef, 0xbb, 0xbf, ..] => Some(3),
        _ => None,
    }
}

pub(crate) fn skip_indent(bytes: &[u8], mut pos: usize) -> usize {
    while matches!(bytes.get(pos), Some(b' ' | b'\t')) {
        pos += 1;
    }
    pos
}

/// Returns the offset of the end of the line, which is the end of the text for the last line.
pub(crate) fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes.get(from..).and_then(|rest| memchr(b'\n', rest)).map_or(bytes.len(), |at| from + at)
}

/// Returns the offset of the end of the line, but at most `from + most`.
pub(crate) fn line_end_within(bytes: &[u8], from: usize, most: usize) -> usize {
    let limit = (from + most).min(bytes.len());
    line_end(&bytes[..limit], from)
}

pub(crate) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'-') || byte >= 0x80
}

pub(crate) fn word_end(bytes: &[u8], mut pos: usize) -> usize {
    while bytes.get(pos).is_some_and(|b| is_word(*b)) {
        pos += 1;
    }
    pos
}

pub(crate) fn is_literal(word: &[u8]) -> bool {
    matches!(word, b"true" | b"false" | b"null" | b"True" | b"False" | b"None" | b"undefined")
}

pub(crate) fn colon_follows(bytes: &[u8], pos: usize) -> bool {
    bytes.get(skip_space(bytes, pos)) == Some(&b':')
}

/// Returns the length of the character at `pos`, in bytes.
pub(crate) fn char_len(bytes: &[u8], pos: usize) -> usize {
    let mut len = 1;
    while bytes.get(pos + len).is_some_and(|b| b & 0xc0 == 0x80) {
        len += 1;
    }
    len
}

/// Returns the mark and the length of the fence at `pos`; `None` if there is no fence.
pub(crate) fn fence_at(bytes: &[u8], pos: usize) -> Option<(u8, usize)> {
    let mark = *bytes.get(pos)?;
    if !matches!(mark, b'`' | b'~') {
        return None;
    }
    let len = bytes[pos..].iter().take_while(|b| **b == mark).count();
    (len >= 3).then_some((mark, len))
}

/// Returns true if there is a fence at `pos`, and no other text behind it on the line.
pub(crate) fn bare_fence_at(bytes: &[u8], pos: usize) -> bool {
    let Some((_, len)) = fence_at(bytes, pos) else { return false };
    matches!(bytes.get(skip_indent(bytes, pos + len)), None | Some(b'\n' | b'\r'))
}

pub(crate) fn ellipsis_at(bytes: &[u8], pos: usize) -> bool {
    bytes.get(pos..).is_some_and(|rest| rest.starts_with(b"..") || rest.starts_with("…".as_bytes()))
}

pub(crate) fn ellipsis_end(bytes: &[u8], mut pos: usize) -> usize {
    while ellipsis_at(bytes, pos) || bytes.get(pos) == Some(&b'.') {
        pos += char_len(bytes, pos);
    }
    pos
}

/// Returns the end of the comment that starts at `pos`; `None` if none starts there.
pub(crate) fn comment_end(bytes: &[u8], pos: usize) -> Option<usize> {
    match (bytes.get(pos)?, bytes.get(pos + 1)) {
        (b'#', _) | (b'/', Some(b'/')) => Some(line_end(bytes, pos)),
        (b'/', Some(b'*')) => {
            let body = &bytes[pos + 2..];
            Some(memchr::memmem::find(body, b"*/").map_or(bytes.len(), |at| pos + 2 + at + 2))
        }
        _ => None,
    }
}

/// Returns the end of a value without quotes: a comma, a closing bracket, a comment or the end of
/// the line.
pub(crate) fn bare_end(bytes: &[u8], from: usize) -> usize {
    let mut pos = from;
    while let Some(byte) = bytes.get(pos) {
        match byte {
            b',' | b'}' | b']' | b'\n' | b'\r' => break,
            b'/' | b'#' if pos > from && bytes[pos - 1] == b' ' => {
                if comment_end(bytes, pos).is_some() {
                    break;
                }
                pos += 1;
            }
            _ => pos += 1,
        }
    }
    pos
}

pub(crate) fn is_json_number(text: &[u8]) -> bool {
    let digits = |from: usize| text[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut pos = usize::from(text.first() == Some(&b'-'));
    let whole = digits(pos);
    if whole == 0 || (whole > 1 && text[pos] == b'0') {
        return false;
    }
    pos += whole;
    if text.get(pos) == Some(&b'.') {
        let fraction = digits(pos + 1);
        if fraction == 0 {
            return false;
        }
        pos += 1 + fraction;
    }
    if matches!(text.get(pos), Some(b'e' | b'E')) {
        pos += 1 + usize::from(matches!(text.get(pos + 1), Some(b'+' | b'-')));
        let exponent = digits(pos);
        if exponent == 0 {
            return false;
        }
        pos += exponent;
    }
    pos == text.len()
}

/// Returns the end of a container, skipping its content.
pub(crate) fn skip_nested(bytes: &[u8], from: usize) -> usize {
    let mut depth = 0usize;
    let mut pos = from;
    while let Some(byte) = bytes.get(pos) {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth -= 1;
                if depth == 0 {
                    return pos + 1;
                }
            }
            b'"' => pos = string_end(bytes, pos),
            _ => {}
        }
        pos += 1;
    }
    bytes.len()
}

fn string_end(bytes: &[u8], open: usize) -> usize {
    let mut pos = open + 1;
    while let Some(at) = bytes.get(pos..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        if bytes[pos + at] == b'"' {
            return pos + at;
        }
        pos += at + 2;
    }
    bytes.len()
}

/// Resolves the escapes of a string. The second value is false if one had to be repaired.
pub(crate) fn unescape(raw: &str) -> (Cow<'_, str>, bool) {
    // Without an early exit, the compiler vectorises this loop.
    let has_control = raw.bytes().fold(false, |found, byte| found | (byte < 0x20));
    if memchr(b'\\', raw.as_bytes()).is_none() {
        return (Cow::Borrowed(raw), !has_control);
    }
    let mut out = String::with_capacity(raw.len());
    let mut sound = !has_control;
    let mut rest = raw;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        rest = unescape_one(rest, &mut out, &mut sound);
    }
    out.push_str(rest);
    (Cow::Owned(out), sound)
}

/// Resolves the escape whose back-slash was just skipped, and returns the text behind it.
fn unescape_one<'a>(rest: &'a str, out: &mut String, sound: &mut bool) -> &'a str {
    let Some(c) = rest.chars().next() else {
        *sound = false;
        out.push('\\');
        return rest;
    };
    let after = &rest[c.len_utf8()..];
    match c {
        '"' | '\\' | '/' => out.push(c),
        'b' => out.push('\u{8}'),
        'f' => out.push('\u{c}'),
        'n' => out.push('\n'),
        'r' => out.push('\r'),
        't' => out.push('\t'),
        'u' => return unescape_unicode(after, out, sound),
        '\'' | '`' => {
            *sound = false;
            out.push(c);
        }
        '\n' => *sound = false,
        _ => {
            // `\d` and the like come from code that was quoted without escaping: they stay as
            // written.
            *sound = false;
            out.push('\\');
            out.push(c);
        }
    }
    after
}

fn unescape_unicode<'a>(after: &'a str, out: &mut String, sound: &mut bool) -> &'a str {
    let Some(first) = hex4(after) else {
        *sound = false;
        out.push_str("\\u");
        return after;
    };
    let rest = &after[4..];
    if let Some(c) = char::from_u32(first) {
        out.push(c);
        return rest;
    }
    let second = rest.strip_prefix("\\u").and_then(hex4).filter(|s| (0xdc00..0xe000).contains(s));
    match second {
        Some(second) if first < 0xdc00 => {
            let code = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            &rest[6..]
        }
        _ => {
            *sound = false;
            out.push(char::REPLACEMENT_CHARACTER);
            rest
        }
    }
}

fn hex4(text: &str) -> Option<u32> {
    let digits = text.get(..4)?;
    digits.bytes().all(|b| b.is_ascii_hexdigit()).then(|| u32::from_str_radix(digits, 16).ok())?
}
