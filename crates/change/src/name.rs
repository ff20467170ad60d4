//! Names of files as text. Git's names are bytes: [`shown`] makes text of them that [`raw`] turns
//! back, so that no two names look alike and every file can be asked for by the text.
//!
//! Most names are shown as they are. One that is not UTF-8, or begins with a quotation mark, is
//! shown as git quotes it: `"caf\351"`.

use std::borrow::Cow;

/// Gives a name as text.
pub(crate) fn shown(name: &[u8]) -> String {
    match std::str::from_utf8(name) {
        Ok(text) if !text.starts_with('"') => text.to_owned(),
        _ => quoted(name),
    }
}

/// Gives the name that a text stands for.
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

/// Takes git's quotes, with their escapes, off a name; gives what follows it as well. `None` where
/// there are no quotes, or no second one.
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

/// Reads what stands behind a back-slash.
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
