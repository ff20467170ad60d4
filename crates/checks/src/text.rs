//! Output of programs as plain text, without colours and other escapes.

/// Converts the output of a program to plain text: colours and other escapes are removed, and of a
/// line that was overwritten only the last version remains.
pub(crate) fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut plain = String::with_capacity(text.len());
    let mut line = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => skip_escape(&mut chars),
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' => plain.truncate(line),
            '\n' => {
                plain.push('\n');
                line = plain.len();
            }
            '\t' => plain.push('\t'),
            c if c.is_control() => {}
            c => plain.push(c),
        }
    }
    plain
}

/// Skips an escape sequence up to its end, which is a letter. A sequence for a title or a link ends
/// with a bell or another escape.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            while chars.peek().is_some_and(|c| *c != '\n') {
                if chars.next().is_some_and(|c| ('\u{40}'..='\u{7e}').contains(&c)) {
                    return;
                }
            }
        }
        Some(']') => {
            while chars.peek().is_some_and(|c| *c != '\n' && *c != '\u{1b}') {
                if chars.next() == Some('\u{7}') {
                    return;
                }
            }
        }
        Some('\\') => {
            chars.next();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_overwritten_text_are_removed() {
        assert_eq!(plain(b"\x1b[1;32mok\x1b[0m\r\n50%\r100%\nx"), "ok\n100%\nx");
        assert_eq!(plain(b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x07 \xff"), "link \u{fffd}");
        assert_eq!(plain(b"\x1b"), "");
        assert_eq!(plain(b"\x1b[never ends\n\x00a"), "ever ends\na");
    }
}
