//! File names as text. Names in git are bytes: [`shown`] converts them into text that [`raw`]
//! converts back, so that different names have different texts and every file can be addressed by
//! its text.
//!
//! Most names are shown unchanged. A name that is not UTF-8, or begins with a quotation mark, is
//! shown as git quotes it: `"caf\351"`.

use std::borrow::Cow;

/// Converts a name into text.
pub(crate) fn shown(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(text) if !text.starts_with('"') => text.to_owned(),
        _ => quoted(name),
    }
}

/// Converts a text back into the name.
pub(crate) fn raw(text: &str) -> Cow<'_, [u8]> {
    match unquoted(text.as_bytes()) {
        Some((name, [])) if shown(&name) == text => Cow::Owned(name),
        _ => Cow::Borrowed(text.as_bytes()),
    }
}

fn quoted(name: &[u8]) -> String {
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
pub(crate) fn unquoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut name = Vec::new();
    loop {
        let (byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => return Some((name, rest)),
            b'\\' => {
                let (byte, after) = escape(rest)?;
                name.push(byte);
                rest = after;
            }
            byte => name.push(*byte),
        }
    }
}

/// Parses an escape sequence after its backslash.
fn escape(text: &[u8]) -> Option<(u8, &[u8])> {
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
        assert_eq!(shown("ä b\n.txt".as_bytes()), "ä b\n.txt");
        assert_eq!(shown(b"caf\xe9"), r#""caf\351""#);
        assert_eq!(shown(br#""quoted""#), r#""\"quoted\"""#);
    }

    #[test]
    fn a_text_that_no_name_is_shown_as_stands_for_itself() {
        for text in [r#""plain""#, r#""open"#, r#""\q""#] {
            assert_eq!(&*raw(text), text.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn every_name_comes_back(name in prop::collection::vec(any::<u8>(), 0..12)) {
            let text = shown(&name);
            prop_assert_eq!(&*raw(&text), &name);
        }

        #[test]
        fn every_name_full_of_quotes_comes_back(name in r#"["\\a3-9]{0,8}"#) {
            let text = shown(name.as_bytes());
            prop_assert_eq!(&*raw(&text), name.as_bytes());
        }
    }
}
