//! Values that a text assigns to the name of a credential, in any notation: [`scan`].
//!
//! The notations are those of code (`password = "…"`, `apiKey: '…'`, `put("token", "…")`), of
//! configuration (`.env`, YAML, INI, properties, `Dockerfile`, `.npmrc`), of markup
//! (`<password>…</password>`, `key="DbPassword" value="…"`) and of command lines (`--password …`).

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::name::{MARKS, NameKind};
use super::value::{Quality, decoded, has_word, is_uuid};
use super::{Certainty, Credential};

/// The maximum number of bytes of a name.
const MAX_NAME: usize = 80;

/// The maximum number of bytes of a value.
const MAX_VALUE: usize = 1024;

/// The maximum number of bytes of a type between a name and its value.
const MAX_TYPE: usize = 48;

/// The maximum number of lines of a YAML block that is one value.
const MAX_BLOCK: usize = 20;

/// The maximum number of bytes before a name that are read to classify the line.
const MAX_BEFORE: usize = 120;

/// The delimiters of strings, also inside of other strings and of markup.
const QUOTES: [&str; 9] = ["\\\\\\\"", "\\\"", "\\'", "&quot;", "&#34;", "&#39;", "\"", "'", "`"];

static NAMES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let builder = AhoCorasick::builder().ascii_case_insensitive(true).build(MARKS);
    builder.expect("the marks are few and short")
});

/// The notation of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// In quotation marks after a sign: code, JSON, TOML.
    Quoted,
    /// Without quotation marks, up to the end of a line that begins with the name: `.env`, YAML,
    /// INI.
    Line,
    /// Without quotation marks, inside of a line: connection strings, commands.
    Inline,
    /// Between tags, or as an attribute next to the name.
    Markup,
    /// As an argument after the name or of it: `put("token", "…")`, `setPassword("…")`.
    Argument,
    /// As the option of a command: `--password …`.
    Option,
}

/// A value with the notation of its assignment.
struct AssignedValue {
    value: Range<usize>,
    form: Form,
    /// True if the value is the whole expression, and not a part of it.
    is_whole: bool,
}

/// Finds the values that a text assigns to names of credentials.
pub(super) fn scan(text: &str) -> Vec<Credential> {
    let mut found = Vec::new();
    let mut after = 0;
    let reader = Reader::new(text);
    for mark in NAMES.find_iter(text) {
        if mark.start() < after {
            continue;
        }
        let Some(name) = reader.name_around(mark.range()) else { continue };
        after = name.end;
        if !reader.may_have_value(&name) {
            continue;
        }
        let Some(kind) = NameKind::of(&text[name.clone()]) else { continue };
        for given in reader.assigned_values(&name) {
            let value = &text[given.value.clone()];
            if let Some(certainty) = rate(text, &name, kind, value, &given) {
                found.push(Credential::new(kind_of(kind), certainty, given.value));
            }
        }
    }
    found
}

fn kind_of(kind: NameKind) -> &'static str {
    match kind {
        NameKind::Password => "a password",
        NameKind::Secret => "a secret",
        NameKind::Token => "a key or token",
        NameKind::Basic => "the login of a registry",
    }
}

/// Returns the certainty that a value under the name of a credential is one; `None` if it is not.
fn rate(
    text: &str,
    name: &Range<usize>,
    kind: NameKind,
    value: &str,
    given: &AssignedValue,
) -> Option<Certainty> {
    if kind == NameKind::Basic {
        return is_login(value).then_some(Certainty::Likely);
    }
    if matches!(given.form, Form::Inline | Form::Line) && is_expression(value) {
        return None;
    }
    let spelled = &text[name.clone()];
    if is_uuid(value) {
        let may_be_uuid = match kind {
            NameKind::Password => is_plain_password_name(spelled),
            _ => is_login_name(spelled),
        };
        return (may_be_uuid && is_varied(value)).then_some(Certainty::Likely);
    }
    if spelled.eq_ignore_ascii_case(value) {
        return None;
    }
    let quality = Quality::of(value)?;
    let is_variable = spelled.len() > 2 && !spelled.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_short = matches!(spelled.to_ascii_lowercase().as_str(), "pass" | "pwd");
    let enough = match (kind, given.form) {
        (NameKind::Token, Form::Quoted | Form::Line | Form::Markup) => {
            quality == Quality::Random && value.len() >= 16
        }
        (NameKind::Token, Form::Argument) if has_word(value) => false,
        (NameKind::Token, _) => quality == Quality::Random && value.len() >= 20,
        (NameKind::Secret, Form::Quoted | Form::Line | Form::Markup) => {
            quality == Quality::Random
                || (quality == Quality::Chosen && value.len() >= 8 && is_variable)
        }
        (NameKind::Secret, _) => quality == Quality::Random,
        (_, Form::Argument) => {
            quality == Quality::Random
                || quality == Quality::Chosen && (is_variable || has_sign(value))
        }
        (_, Form::Inline) if !is_variable => {
            quality == Quality::Random || quality == Quality::Chosen && has_sign(value)
        }
        _ if is_short => quality >= Quality::Chosen,
        (_, Form::Line) => quality >= Quality::Chosen || is_variable || is_number_behind(value),
        _ => quality >= Quality::Chosen || value.len() >= 8,
    };
    let is_bare = matches!(given.form, Form::Inline | Form::Line);
    if is_bare
        && !is_variable
        && !value.bytes().any(|byte| byte.is_ascii_digit())
        && !has_sign(value)
    {
        // The value is an identifier of code.
        return None;
    }
    let is_part = !given.is_whole && quality < Quality::Random;
    (enough && !is_part).then_some(match quality {
        Quality::Random if !is_named_encrypted(spelled) => Certainty::Likely,
        Quality::Random => Certainty::Possible,
        Quality::Chosen | Quality::Word => Certainty::Possible,
    })
}

/// Returns true if the name says that the value is no plain text, such as `encrypted_secret`.
fn is_named_encrypted(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["encrypted", "obscured", "obfuscated"].iter().any(|word| name.contains(word))
}

/// Returns true if a UUID is not a placeholder such as one of zeros.
fn is_varied(uuid: &str) -> bool {
    const MIN_DIGITS: usize = 6;
    let digits: std::collections::BTreeSet<u8> =
        uuid.bytes().filter(|byte| *byte != b'-').collect();
    digits.len() >= MIN_DIGITS && !uuid.starts_with("12345678-")
}

/// Returns true for the name of a key or token that logs a user in, which may be a UUID.
fn is_login_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["api", "auth", "access", "secret"].iter().any(|word| name.contains(word))
}

/// Returns true for the name of a password itself; false for the name of an operation on a
/// password, such as `ResetPassword`, under which a UUID identifies the operation.
fn is_plain_password_name(name: &str) -> bool {
    const OPERATIONS: [&str; 7] = ["reset", "change", "set", "force", "forgot", "expire", "policy"];
    let name = name.to_ascii_lowercase();
    !OPERATIONS.iter().any(|word| name.contains(word))
}

/// Returns true if a value without quotation marks is a call, an index or a comparison.
fn is_expression(value: &str) -> bool {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_$.!?".contains(&byte);
    let end = value.bytes().position(|byte| !is_name(byte)).unwrap_or(value.len());
    let is_called = end > 0 && value[end..].starts_with(['(', '[']);
    let is_setting = value[end..].starts_with('=') && end > 0 && end + 1 < value.len();
    is_called
        || is_setting
        || ["==", "!=", "password", "?."].iter().any(|sign| value.contains(sign))
}

/// Returns true if a value has a character that no name has.
fn has_sign(value: &str) -> bool {
    value.bytes().any(|byte| !byte.is_ascii_alphanumeric() && !b"_-.".contains(&byte))
}

/// Returns true for a word that ends with two digits or more, such as `winter24`.
fn is_number_behind(value: &str) -> bool {
    value.bytes().rev().take_while(u8::is_ascii_digit).count() >= 2
}

/// Returns true if a value is a user and a password in base64.
fn is_login(value: &str) -> bool {
    let Some(login) = decoded(value).filter(|_| value.len() >= 12) else { return false };
    let Some((user, password)) = login.split_once(':') else { return false };
    !user.is_empty() && password.len() >= 4 && super::kinds::is_secret_word(password)
}

/// A text that is read byte by byte around a name.
struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

impl<'t> Reader<'t> {
    fn new(text: &'t str) -> Reader<'t> {
        Reader { text, bytes: text.as_bytes() }
    }

    fn at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn starts_with(&self, at: usize, what: &str) -> bool {
        self.bytes.get(at..).is_some_and(|rest| rest.starts_with(what.as_bytes()))
    }

    fn skip(&self, mut at: usize, most: usize, test: impl Fn(u8) -> bool) -> usize {
        let end = (at + most).min(self.bytes.len());
        while at < end && test(self.bytes[at]) {
            at += 1;
        }
        at
    }

    fn blanks(&self, at: usize) -> usize {
        self.skip(at, MAX_BEFORE, |byte| byte == b' ' || byte == b'\t')
    }

    /// Returns the quotation mark at a position.
    fn quote(&self, at: usize) -> Option<&'static str> {
        QUOTES.into_iter().find(|quote| self.starts_with(at, quote))
    }

    /// Returns the whole name around a mark, without the dashes of an option.
    fn name_around(&self, mark: Range<usize>) -> Option<Range<usize>> {
        let mut end = self.skip(mark.end, MAX_NAME, is_name_byte);
        let mut start = mark.start;
        let least = mark.start.saturating_sub(MAX_NAME);
        while start > least && is_name_byte(self.bytes[start - 1]) {
            start -= 1;
        }
        // A line end that is written as `\n` is not part of a name.
        if start > 0
            && self.bytes[start - 1] == b'\\'
            && matches!(self.bytes[start], b'n' | b'r' | b't')
        {
            start += 1;
        }
        while start < end && self.bytes[start] == b'-' {
            start += 1;
        }
        while end > start && self.bytes[end - 1] == b'-' {
            end -= 1;
        }
        (start <= mark.start && end >= mark.end).then_some(start..end)
    }

    /// Returns false if no value can follow a name, which the next byte decides for most names.
    fn may_have_value(&self, name: &Range<usize>) -> bool {
        let next = self.at(name.end);
        next.is_ascii_whitespace() || b"=:>[,(\"'`\\&<?|+".contains(&next)
    }

    /// Returns the values that are assigned to a name.
    fn assigned_values(&self, name: &Range<usize>) -> Vec<AssignedValue> {
        let mut at = name.end;
        let name_quote = self.quote(at);
        at += name_quote.map_or(0, str::len);
        if let Some(value) = self.markup(name, at, name_quote.is_some()) {
            return vec![AssignedValue { value, form: Form::Markup, is_whole: true }];
        }
        if let Some(block) = self.block(at) {
            return block;
        }
        if name_quote.is_some() || self.at(at) == b'[' {
            let bracket = self.skip(at, 1, |byte| byte == b'[');
            let bracket = self.skip(bracket, 6, |byte| byte.is_ascii_digit());
            at = self.skip(bracket, 1, |byte| byte == b']');
        }
        let is_option = name.start > 0 && self.bytes[name.start - 1] == b'-';
        let spaced = self.blanks(at);
        let one = match self.sign(name, spaced, name_quote.is_some()) {
            Some((from, Form::Argument)) => self.quoted(from, Form::Argument),
            Some((from, _)) => self.value(name, from, is_option),
            None if is_option && spaced > at => self.option(spaced),
            None if name_quote.is_some() && is_option => {
                self.option(self.skip(at, 6, |byte| b"\"', ".contains(&byte)))
            }
            None if spaced > at => self.behind_blank(name, spaced),
            None => None,
        };
        one.into_iter().collect()
    }

    /// Parses the sign between a name and its value, and returns the start of the value.
    fn sign(&self, name: &Range<usize>, at: usize, is_quoted: bool) -> Option<(usize, Form)> {
        const SIGNS: [&str; 12] =
            ["===", "==", "=>", ":=", "?=", "||=", "??=", "+=", "||", "??", "or ", "="];
        if self.starts_with(at, "=~") || self.starts_with(at, "::") {
            return None;
        }
        if let Some(sign) = SIGNS.into_iter().find(|sign| self.starts_with(at, sign)) {
            return Some((self.after_blanks(at + sign.len()), Form::Inline));
        }
        match self.at(at) {
            b':' if self.at(at + 1) == b'-' && self.before(name).ends_with("${") => {
                Some((at + 2, Form::Inline))
            }
            // A cloud resource has such a name: `…:secret:shop-a1b2c3`.
            b':' if name.start > 0 && self.bytes[name.start - 1] == b':' => None,
            b':' => Some((self.after_type(self.after_blanks(at + 1)), Form::Inline)),
            b',' if is_quoted => Some((self.after_blanks(at + 1), Form::Argument)),
            b'(' if !is_quoted => Some((self.after_blanks(at + 1), Form::Argument)),
            // A type may be between name and value: `var password string = "…"`.
            byte if byte.is_ascii_alphabetic() => {
                let end =
                    self.skip(at, MAX_TYPE, |b| b.is_ascii_alphanumeric() || b"_.*[]".contains(&b));
                let end = self.blanks(end);
                let from = self.blanks(end + 1);
                (self.at(end) == b'=' && self.at(end + 1) != b'=' && self.quote(from).is_some())
                    .then_some((from, Form::Inline))
            }
            _ => None,
        }
    }

    /// Skips blanks, and one line end if a quotation mark follows.
    fn after_blanks(&self, at: usize) -> usize {
        let here = self.blanks(at);
        let below = self.skip(here, 2, |byte| byte == b'\r' || byte == b'\n' || byte == b'\\');
        let below = self.skip(below, MAX_BEFORE, |byte| byte == b' ' || byte == b'\t');
        match below > here && self.quote(below).is_some() && self.at(here) != b'\\' {
            true => below,
            false => here,
        }
    }

    /// Skips the type of a name, as in `password: str = "…"`.
    fn after_type(&self, at: usize) -> usize {
        let end = self
            .skip(at, MAX_TYPE, |b| b.is_ascii_alphanumeric() || b"_&'<>[]., |?*:".contains(&b));
        let from = self.blanks(end + 1);
        match end > at && self.at(end) == b'=' && self.string_start(from).is_some() {
            true => from,
            false => at,
        }
    }

    /// Returns the start of a string, after the letters and calls that may precede it.
    fn string_start(&self, at: usize) -> Option<usize> {
        const CALLS: [&str; 9] = [
            "String::from(", "new String(", "Some(", "SecretString::from(", "SecretString::new(",
            "Buffer.from(", "b64decode(", "base64.b64decode(", "std::string(",
        ];
        let call = CALLS.into_iter().find(|call| self.starts_with(at, call));
        let at = at + call.map_or(0, str::len);
        let letters = self.skip(at, 2, |byte| b"bBrRuUfFL@$".contains(&byte));
        let at = if self.quote(letters).is_some() { letters } else { at };
        self.quote(at).map(|_| at)
    }

    /// Parses a value that begins at a position.
    fn value(&self, name: &Range<usize>, from: usize, is_option: bool) -> Option<AssignedValue> {
        let form = if is_option { Form::Option } else { Form::Quoted };
        match self.string_start(from) {
            Some(start) => self.quoted(start, form),
            None => self.unquoted(name, from, is_option),
        }
    }

    /// Parses a value in quotation marks.
    fn quoted(&self, at: usize, form: Form) -> Option<AssignedValue> {
        let quote = self.quote(at)?;
        let triple = quote.repeat(3);
        let quote = if self.starts_with(at, &triple) { triple.as_str() } else { quote };
        let from = self.skip(at + quote.len(), 1, |byte| byte == b'\n' && quote.len() >= 3);
        let most = (from + MAX_VALUE).min(self.bytes.len());
        let mut end = from;
        while end < most && !self.starts_with(end, quote) {
            match self.bytes[end] {
                b'\n' | b'\r' => break,
                b'\\' if quote.len() == 1 => end += 2,
                _ => end += 1,
            }
        }
        let is_closed = end <= most && (self.starts_with(end, quote) || quote.len() == 3);
        (is_closed && end > from && self.text.is_char_boundary(end.min(self.text.len())))
            .then_some(AssignedValue { value: from..end, form, is_whole: true })
    }

    /// Parses a value without quotation marks: up to the end of its line, or of its word.
    fn unquoted(&self, name: &Range<usize>, from: usize, is_option: bool) -> Option<AssignedValue> {
        if !is_option && self.begins_line(name) {
            let end = self.skip(from, MAX_VALUE, |byte| byte != b'\n' && byte != b'\r');
            let end = self.escaped_line_end(from..end);
            let line = self.text.get(from..end)?;
            let line = line.split(" #").next().unwrap_or(line).trim_end();
            if !line.is_empty() && !line.contains(char::is_whitespace) && !line.contains(['"', '`'])
            {
                return self.line_value(from, line);
            }
        }
        let stops = b" \t\r\n\"'`<>|;,)}]&";
        let end = self.skip(from, MAX_VALUE, |byte| !stops.contains(&byte));
        let end = self.escaped_line_end(from..end);
        let is_whole = !matches!(self.at(end), b'(' | b'[' | b'<' | b'>');
        let form = if is_option { Form::Option } else { Form::Inline };
        let value = from..end;
        (end > from && self.text.get(value.clone()).is_some()).then_some(AssignedValue {
            value,
            form,
            is_whole,
        })
    }

    fn line_value(&self, from: usize, line: &str) -> Option<AssignedValue> {
        // The end of a statement or of an entry is not part of a value, but it shows that the line
        // is code.
        let value = line.trim_end_matches([',', ';']);
        let form = if value.len() == line.len() { Form::Line } else { Form::Inline };
        let value = value.strip_suffix('\\').unwrap_or(value);
        let range = from..from + value.len();
        (!value.is_empty()).then_some(AssignedValue { value: range, form, is_whole: true })
    }

    /// Returns the end of a value before a line end or a quotation mark that is escaped.
    fn escaped_line_end(&self, value: Range<usize>) -> usize {
        let bytes = &self.bytes[value.clone()];
        let is_end =
            |pair: &[u8]| pair[0] == b'\\' && matches!(pair[1], b'n' | b'r' | b't' | b'"' | b'\'');
        let at = bytes.windows(2).position(is_end);
        at.map_or(value.end, |at| value.start + at)
    }

    /// Returns the text of the line before a name, without the qualifiers in front of its dots.
    fn before(&self, name: &Range<usize>) -> &'t str {
        let least = name.start.saturating_sub(MAX_BEFORE);
        let mut start = name.start;
        while start > least && self.bytes[start - 1] != b'\n' {
            start -= 1;
        }
        while !self.text.is_char_boundary(start) {
            start += 1;
        }
        let before = &self.text[start..name.start];
        before.rfind("\\n").map_or(before, |at| &before[at + 2..])
    }

    /// Returns true if a line of configuration begins with a name.
    fn begins_line(&self, name: &Range<usize>) -> bool {
        let before = self.before(name).trim_end_matches(|c: char| {
            c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '/' | '"' | '\'')
        });
        // The gutter of a diff or of a listing may precede the name.
        let before = before.trim_start_matches(|c: char| {
            c.is_whitespace()
                || c.is_ascii_digit()
                || matches!(c, '|' | '+' | '-' | '>' | '#' | ';' | '*' | '/')
        });
        const WORDS: [&str; 12] = [
            "", "export", "set", "setx", "ENV", "ARG", "env", "declare -x", "readonly", "local",
            "$env:", "SET",
        ];
        let whole = self.before(name).trim_end();
        let last = whole.trim_start_matches(|c: char| {
            c.is_whitespace()
                || c.is_ascii_digit()
                || matches!(c, '|' | '+' | '-' | '>' | '#' | ';' | '*')
        });
        WORDS.contains(&last)
            || (before.trim().is_empty()
                && !last.contains(' ')
                && last.ends_with(['.', ':', '"', '\'', '_']))
    }

    /// Parses the text between tags, or the attribute or member `value` next to a name.
    fn markup(&self, name: &Range<usize>, at: usize, is_quoted: bool) -> Option<Range<usize>> {
        if self.at(at) == b'>' {
            let before = self.before(name);
            let is_tag = is_quoted
                || before.rsplit('<').next().is_some_and(|tag| {
                    before.contains('<')
                        && tag.bytes().all(|byte| is_name_byte(byte) || byte == b':')
                });
            return is_tag.then(|| self.until_tag(at + 1))?;
        }
        if self.starts_with(at, "</key>") {
            let string = self.skip(at + 6, MAX_BEFORE, |byte| byte.is_ascii_whitespace());
            return self.starts_with(string, "<string>").then(|| self.until_tag(string + 8))?;
        }
        let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        let before = self.before(name).trim_end_matches(is_path);
        let before = before.trim_end_matches(['"', '\'', '\\']).trim_end();
        let key = before.trim_end_matches(['=', ':']);
        if key.len() == before.len() {
            return None;
        }
        let key = key.trim_end().trim_end_matches(['"', '\'', '\\']).to_ascii_lowercase();
        if !(key.ends_with("name") || key.ends_with("key") || key.ends_with("id")) {
            return None;
        }
        let next = self
            .skip(at, MAX_BEFORE, |byte| byte.is_ascii_whitespace() || b",\"'\\/".contains(&byte));
        let is_value = self.starts_with(next, "value") || self.starts_with(next, "Value");
        let sign = self.skip(next + 5, 4, |byte| b"\"'\\ ".contains(&byte));
        if !is_value || !matches!(self.at(sign), b':' | b'=') {
            return None;
        }
        let from = self.blanks(sign + 1);
        if let Some(quoted) = self.quoted(from, Form::Markup) {
            return Some(quoted.value);
        }
        let end = self
            .skip(from, MAX_VALUE, |byte| !byte.is_ascii_whitespace() && !b",}\"'".contains(&byte));
        (end > from && self.text.get(from..end).is_some()).then_some(from..end)
    }

    fn until_tag(&self, from: usize) -> Option<Range<usize>> {
        let from = self.skip(from, MAX_BEFORE, |byte| byte.is_ascii_whitespace());
        let from = if self.starts_with(from, "<![CDATA[") { from + 9 } else { from };
        let end = self.skip(from, MAX_VALUE, |byte| !b"<\r\n".contains(&byte));
        let end = if self.text.get(from..end)?.ends_with("]]>") { end - 3 } else { end };
        (end > from && (self.at(end) == b'<' || self.at(end) == b']')).then_some(from..end)
    }

    /// Parses a YAML block, whose lines are the value: `password: |` and `>-`.
    fn block(&self, at: usize) -> Option<Vec<AssignedValue>> {
        let at = self.blanks(at);
        let sign = (self.at(at) == b':').then(|| self.blanks(at + 1))?;
        if !matches!(self.at(sign), b'|' | b'>') {
            return None;
        }
        let end = self.skip(sign + 1, 4, |byte| b"+-0123456789 \r".contains(&byte));
        if self.at(end) != b'\n' {
            return None;
        }
        let mut lines = Vec::new();
        let mut from = end + 1;
        let mut depth = None;
        for _ in 0..MAX_BLOCK {
            let start = self.blanks(from);
            let end = self.skip(start, MAX_VALUE, |byte| byte != b'\n' && byte != b'\r');
            let is_deep = depth.is_none_or(|depth| start - from >= depth);
            if start == from || start == end || !is_deep || self.starts_with(start, "-----") {
                break;
            }
            depth = Some(start - from);
            if self.text.get(start..end).is_some() {
                lines.push(AssignedValue { value: start..end, form: Form::Line, is_whole: true });
            }
            from = self.skip(end, 2, |byte| byte == b'\n' || byte == b'\r');
        }
        Some(lines)
    }

    /// Parses the value of a command's option, as a separate word.
    fn option(&self, from: usize) -> Option<AssignedValue> {
        match self.quote(from) {
            Some(_) => self.quoted(from, Form::Option),
            None => self.unquoted(&(from..from), from, true),
        }
    }

    /// Parses a value that only a blank separates: `ENV DB_PASSWORD …` and `requirepass …`.
    fn behind_blank(&self, name: &Range<usize>, from: usize) -> Option<AssignedValue> {
        let before = self.before(name).trim();
        let is_config = before.is_empty() && &self.text[name.clone()] == "requirepass";
        if !matches!(before.trim_start_matches(['+', '-', ' ']), "ENV" | "ARG") && !is_config {
            return None;
        }
        match self.quote(from) {
            Some(_) => self.quoted(from, Form::Quoted),
            None => {
                let end = self.skip(from, MAX_VALUE, |byte| !byte.is_ascii_whitespace());
                self.line_value(from, self.text.get(from..end)?)
            }
        }
    }
}
