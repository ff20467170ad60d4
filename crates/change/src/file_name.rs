//! File names as text. Names in git are bytes: [`display_name`] converts them into text that
//! [`to_raw_name`] converts back, so that different names have different texts and every file can
//! be addressed by its text.
//!
//! Most names are shown unchanged. A name that is not UTF-8, or begins with a quotation mark, is
//! shown as git quotes it: `"caf\351"`.

use std::borrow::Cow;

/// Converts a name into text.
pub(crate) fn display_name(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(text) if !text.starts_with('"') => text.to_owned(),
        _ => quote(name),
    }
}

/// Converts a text back into the name.
pub(crate) fn to_raw_name(text: &str) -> Cow<'_, [u8]> {
    match unquote(text.as_bytes()) {
        Some((name, [])) if display_name(&name) == text => Cow::Owned(name),
        _ => Cow::Borrowed(text.as_bytes()),
    }
}

fn quote(name: &[u8]) -> String {
    let mut text = String::from('"');
    for byte in name {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text += &format!("\\{byte:03o}"),
        }
    }
    text.push('"');
    text
}

/// Removes the quotes and escapes of git from a name. Returns the name and the rest of the text, or
/// `None` if a quote is missing.
pub(crate) fn unquote(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut name = Vec::new();
    loop {
        let (byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => return Some((name, rest)),
            b'\\' => {
                let (byte, after) = parse_escape(rest)?;
                name.push(byte);
                rest = after;
            }
            byte => name.push(*byte),
        }
    }
}

/// Parses an escape sequence after its backslash.
fn parse_escape(text: &[u8]) -> Option<(u8, &[u8])> {
    if let [high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', rest @ ..] = text {
        return Some(((high & 7) << 6 | (middle & 7) << 3 | (low & 7), rest));
    }
    let (byte, rest) = text.split_first()?;
    let byte = match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'v' => 11,
        b'f' => 12,
        other => *other,
    };
    Some((byte, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_that_are_no_text_are_shown_as_git_quotes_them() {
        assert_eq!(display_name("ä b\n.txt".as_bytes()), "ä b\n.txt");
        assert_eq!(display_name(b"caf\xe9"), r#""caf\351""#);
        assert_eq!(display_name(br#""quoted""#), r#""\"quoted\"""#);
    }

    #[test]
    fn a_text_that_is_not_a_quoted_name_is_its_own_raw_name() {
        for text in [r#""plain""#, r#""open"#, r#""\q""#] {
            assert_eq!(&*to_raw_name(text), text.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn every_name_survives_display_and_parsing(name in prop::collection::vec(any::<u8>(), 0..12)) {
            let text = display_name(&name);
            prop_assert_eq!(&*to_raw_name(&text), &name);
        }

        #[test]
        fn names_full_of_quotes_survive_display_and_parsing(name in r#"["\\a3-9]{0,8}"#) {
            let text = display_name(name.as_bytes());
            prop_assert_eq!(&*to_raw_name(&text), name.as_bytes());
        }
    }
}
