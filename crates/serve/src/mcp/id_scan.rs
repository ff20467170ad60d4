//! Recovery of the id from a message that cannot be parsed: [`IdScan`].
//!
//! A scan follows the structure of JSON byte by byte and retains only the bytes that may be an id,
//! so a message of any length can be scanned. The content of strings may be damaged: a lone
//! surrogate, bytes that are not UTF-8, a control character. If the structure itself is damaged,
//! the result is the id before the damage, or else an id at the end of the message in a form that
//! no nested object has.

use serde_json::Value;

/// The maximum number of bytes of an id, and of a key that may be `id`.
const MAX_TOKEN: usize = 256;

/// The maximum nesting that is followed.
const MAX_DEPTH: usize = 1024;

/// The number of bytes at the end of the message that are retained.
const MAX_TAIL: usize = 512;

/// The bytes before an id at the end of a message, in the form of common clients.
const BEFORE_ID: &[u8] = br#""jsonrpc":"2.0","id":"#;

/// The expected next token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expect {
    Value,
    /// A value, or the end of an array that is still empty.
    FirstItem,
    /// A key, or the end of an object that is still empty.
    FirstKey,
    Key,
    Colon,
    /// A comma, or the end of the open array or object.
    Next,
    /// Only white space: the message is complete.
    End,
}

/// The token that is being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    None,
    Text {
        escaped: bool,
    },
    /// A number, or `true`, `false`, `null`.
    Word,
}

/// The result of the search for an id.
#[derive(Debug, Clone, PartialEq)]
enum IdResult {
    Nothing,
    Id(Value),
    /// There is more than one id, or an invalid one.
    Unclear,
}

/// A scan over the bytes of a message, in pieces of any size.
#[derive(Debug)]
pub(super) struct IdScan {
    open: Vec<u8>,
    expect: Expect,
    token: Token,
    /// The bytes of the token so far; `None` if it is longer than an id can be.
    text: Option<Vec<u8>>,
    /// True if the next value is that of the message's own `id`.
    is_id: bool,
    seen: IdResult,
    is_damaged: bool,
    tail: Vec<u8>,
}

impl IdScan {
    pub(super) fn new() -> IdScan {
        IdScan {
            open: Vec::new(),
            expect: Expect::Value,
            token: Token::None,
            text: Some(Vec::new()),
            is_id: false,
            seen: IdResult::Nothing,
            is_damaged: false,
            tail: Vec::new(),
        }
    }

    /// Scans a whole message.
    pub(super) fn scan(bytes: &[u8]) -> IdScan {
        let mut scan = IdScan::new();
        scan.feed(bytes);
        scan
    }

    /// Scans the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if self.is_damaged {
                break;
            }
            self.take(*byte);
        }
        self.keep_tail(bytes);
    }

    /// Returns the id of the message, or `null` if it cannot be determined.
    pub(super) fn id(&self) -> Value {
        match &self.seen {
            IdResult::Id(id) => id.clone(),
            IdResult::Nothing if self.is_damaged => self.trailing_id().unwrap_or(Value::Null),
            IdResult::Nothing | IdResult::Unclear => Value::Null,
        }
    }

    fn take(&mut self, byte: u8) {
        match self.token {
            Token::Text { escaped } => return self.in_text(byte, escaped),
            Token::Word if is_word(byte) => return self.keep(byte),
            Token::Word => {
                self.token = Token::None;
                self.end_value(false);
            }
            Token::None => {}
        }
        match (byte, self.expect) {
            (b' ' | b'\t' | b'\r' | b'\n', _) => {}
            (b'{', Expect::Value | Expect::FirstItem) => self.descend(b'}', Expect::FirstKey),
            (b'[', Expect::Value | Expect::FirstItem) => self.descend(b']', Expect::FirstItem),
            (b'}', Expect::FirstKey | Expect::Next) => self.ascend(b'}'),
            (b']', Expect::FirstItem | Expect::Next) => self.ascend(b']'),
            (b',', Expect::Next) => self.after_comma(),
            (b':', Expect::Colon) => self.expect = Expect::Value,
            (b'"', Expect::Value | Expect::FirstItem | Expect::FirstKey | Expect::Key) => {
                self.begin(Token::Text { escaped: false })
            }
            (byte, Expect::Value | Expect::FirstItem) if is_word(byte) => {
                self.begin(Token::Word);
                self.keep(byte);
            }
            _ => self.is_damaged = true,
        }
    }

    fn begin(&mut self, token: Token) {
        self.token = token;
        self.text = Some(Vec::new());
    }

    fn keep(&mut self, byte: u8) {
        if self.text.as_ref().is_some_and(|text| text.len() >= MAX_TOKEN) {
            self.text = None;
        }
        if let Some(text) = &mut self.text {
            text.push(byte);
        }
    }

    fn in_text(&mut self, byte: u8, escaped: bool) {
        match (byte, escaped) {
            (b'"', false) => {
                self.token = Token::None;
                match self.expect {
                    Expect::FirstKey | Expect::Key => self.end_key(),
                    _ => self.end_value(true),
                }
            }
            _ => {
                self.token = Token::Text { escaped: byte == b'\\' && !escaped };
                self.keep(byte);
            }
        }
    }

    fn end_key(&mut self) {
        self.is_id = self.open.len() == 1 && self.text.as_deref() == Some(b"id");
        self.expect = Expect::Colon;
    }

    /// Handles the end of a string or word that is a value.
    fn end_value(&mut self, is_text: bool) {
        if std::mem::take(&mut self.is_id) {
            let id = self.text.as_deref().and_then(|text| parse_id(text, is_text));
            self.seen = match (&self.seen, id) {
                (IdResult::Nothing, Some(id)) => IdResult::Id(id),
                (IdResult::Nothing | IdResult::Id(_) | IdResult::Unclear, _) => IdResult::Unclear,
            };
        }
        self.after_value();
    }

    fn after_value(&mut self) {
        self.expect = if self.open.is_empty() { Expect::End } else { Expect::Next };
    }

    fn after_comma(&mut self) {
        self.expect = match self.open.last() {
            Some(b'}') => Expect::Key,
            _ => Expect::Value,
        };
    }

    fn descend(&mut self, end: u8, expect: Expect) {
        if std::mem::take(&mut self.is_id) {
            self.seen = IdResult::Unclear;
        }
        // An array has no id of its own, and an object that is nested too deeply is not followed.
        self.is_damaged = self.open.len() >= MAX_DEPTH;
        self.open.push(end);
        self.expect = expect;
    }

    fn ascend(&mut self, end: u8) {
        self.is_damaged = self.open.pop() != Some(end);
        self.after_value();
    }

    fn keep_tail(&mut self, bytes: &[u8]) {
        let last = &bytes[bytes.len().saturating_sub(MAX_TAIL)..];
        let scan = (self.tail.len() + last.len()).saturating_sub(MAX_TAIL);
        self.tail.drain(..scan.min(self.tail.len()));
        self.tail.extend_from_slice(last);
    }

    /// Reads the id at the end of a message, after the version, which no nested object has.
    fn trailing_id(&self) -> Option<Value> {
        let end = self.tail.trim_ascii().strip_suffix(b"}")?;
        let at = end.windows(BEFORE_ID.len()).rposition(|bytes| bytes == BEFORE_ID)?;
        let id: Value = serde_json::from_slice(&end[at + BEFORE_ID.len()..]).ok()?;
        (id.is_string() || id.is_i64()).then_some(id)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.')
}

/// Parses an id: a string or an integer.
fn parse_id(token: &[u8], is_text: bool) -> Option<Value> {
    let quoted = match is_text {
        true => [b"\"", token, b"\""].concat(),
        false => token.to_vec(),
    };
    let id: Value = serde_json::from_slice(&quoted).ok()?;
    (id.is_string() || id.is_i64()).then_some(id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn check(message: &str, expected: Value) {
        assert_eq!(IdScan::scan(message.as_bytes()).id(), expected, "{message}");
        let mut scan = IdScan::new();
        message.as_bytes().chunks(3).for_each(|piece| scan.feed(piece));
        assert_eq!(scan.id(), expected, "in pieces: {message}");
    }

    #[test]
    fn an_id_is_recovered_from_damaged_text() {
        check(r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"\ud83d"}}"#, json!(7));
        check(
            r#"{"method":"x","params":{"id":3,"a":"\ud83d"},"jsonrpc":"2.0","id":"a-7"}"#,
            json!("a-7"),
        );
        check(r#"{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"#, json!(7));
        check(r#"{"method":"x","params":{"a":"b"c"},"jsonrpc":"2.0","id":7}"#, json!(7));
        check(r#"{"params":[1,{"id":2}],"id":-1,}"#, json!(-1));
    }

    #[test]
    fn an_ambiguous_nested_or_truncated_id_is_not_used() {
        for message in [
            "",
            "hello",
            r#"{"id":"#,
            r#"{"id":12"#,
            r#"{"id":1.5,"x"}"#,
            r#"{"id":{"id":5},"x"}"#,
            r#"{"id":1,"id":2,"x"}"#,
            r#"{"params":{"id":5},"x"}"#,
            r#"{"params":{"id":5}"#,
            r#"{"params":{"a":"b"c","id":5}}"#,
            r#"[{"id":5},"x"}"#,
            r#"{"params":"{\"id\":5}","x"}"#,
            r#"{"id":"\ud83d","x"}"#,
        ] {
            check(message, Value::Null);
        }
        check(&format!(r#"{{"id":"{}","x"}}"#, "x".repeat(300)), Value::Null);
    }

    proptest! {
        /// A message is an object with an id at any position. Any cut or damaged byte leaves its id
        /// or none, as long as the id itself is complete.
        #[test]
        fn damage_never_makes_up_an_id(
            id in 1000_i64..9999,
            before in "[a-c\"\\\\{}\\[\\]:, ]{0,12}",
            nested in "[0-9]{1,4}",
            id_first in any::<bool>(),
            cut in any::<prop::sample::Index>(),
        ) {
            let params = json!({ "text": before, "id": nested, "list": [{ "id": 5 }] });
            let message = match id_first {
                true => format!(r#"{{"id":{id},"params":{params},"method":"x"}}"#),
                false => format!(r#"{{"method":"x","params":{params},"id":{id}}}"#),
            };
            prop_assert_eq!(IdScan::scan(message.as_bytes()).id(), json!(id));
            let cut = cut.index(message.len());
            let found = IdScan::scan(&message.as_bytes()[..cut]).id();
            prop_assert!(found == json!(id) || found.is_null(), "{} of {}", found, message);
        }
    }
}
