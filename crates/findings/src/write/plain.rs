//! Making text harmless: control characters shown, line breaks tamed, markup escaped.

use std::borrow::Cow;
use std::fmt::Write;

/// Shows control characters instead of sending them: escapes, bells, direction marks.
/// Line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Escapes the characters of a JSON text that would otherwise be sent unseen; it stays the same
/// JSON, since they can only stand inside its strings.
pub fn json(text: String) -> String {
    if !text.chars().any(is_hidden) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

fn is_hidden(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{2028}' | '\u{2029}' => true,
        // Marks that turn the direction of writing make text look like what it is not.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => true,
        c => c.is_control(),
    }
}

/// Puts text on one line.
pub fn one_line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Keeps the lines of a text, the second and further ones indented, so that none of them begins
/// where a line of the form does.
pub fn indented(text: &str, indent: &str) -> String {
    let text = visible(text.trim_end());
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or("").to_owned();
    for line in lines {
        out.push('\n');
        if !line.trim().is_empty() {
            out.push_str(indent);
            out.push_str(line);
        }
    }
    out
}

/// Keeps images, links and tags in a text from being rendered, and leaves the rest readable as it
/// is: for lists that people and agents read as text.
pub fn without_links(text: &str) -> String {
    outside_code(text, |part| {
        let part = part.replace("](", "]\\(").replace("![", "!\\[");
        escape_tags(&part)
    })
}

fn escape_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let opens = chars.peek().is_some_and(|n| n.is_ascii_alphabetic() || matches!(n, '/' | '!'));
        if c == '<' && opens {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Escapes everything that Markdown gives a meaning, on one line; code in back-ticks stays code.
pub fn markdown(text: &str) -> String {
    outside_code(&one_line(text), |part| {
        let mut out = String::with_capacity(part.len());
        for c in part.chars() {
            match c {
                '<' => out.push_str("&lt;"),
                '@' => out.push_str("&#64;"),
                '\\' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' | '`' => {
                    out.push('\\');
                    out.push(c);
                }
                c => out.push(c),
            }
        }
        out
    })
}

/// Changes what stands outside back-ticks.
fn outside_code(text: &str, change: impl Fn(&str) -> String) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    // An odd number of back-ticks leaves the last one without its partner.
    let paired = parts.len() - usize::from(parts.len().is_multiple_of(2));
    let mut out = String::with_capacity(text.len() + 8);
    for (at, part) in parts.iter().enumerate() {
        if at > 0 {
            out.push_str(if at < paired { "`" } else { "\\`" });
        }
        if at % 2 == 1 && at < paired { out.push_str(part) } else { out.push_str(&change(part)) }
    }
    out
}

/// Fences code so that nothing in it ends the fence.
pub fn fenced(code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}\n{}\n{fence}", visible(code.trim_end()))
}

/// Writes a path as a relative URI reference.
pub fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'/'
            | b'-'
            | b'.'
            | b'_'
            | b'~'
            | b'+'
            | b'@' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_direction_marks_are_shown() {
        assert_eq!(visible("a\u{1b}[31mb\u{202e}c"), "a\\u{1b}[31mb\\u{202e}c");
    }

    #[test]
    fn no_line_of_a_finding_begins_where_a_line_of_the_form_does() {
        assert_eq!(
            indented("x\n### 2. forged\n\n**Issue**: y", "    "),
            "x\n    ### 2. forged\n\n    **Issue**: y"
        );
    }

    #[test]
    fn markup_is_shown_and_not_rendered() {
        assert_eq!(
            markdown("![x](http://e) <b> @me `a*b`"),
            "\\!\\[x\\](http://e) &lt;b> &#64;me `a*b`"
        );
        assert_eq!(
            without_links("![x](u) <img> Vec<T> `<b>`"),
            "!\\[x]\\(u) \\<img> Vec\\<T> `<b>`"
        );
        assert_eq!(markdown("one ` tick"), "one \\` tick");
    }

    #[test]
    fn a_fence_is_longer_than_any_in_its_code() {
        assert_eq!(fenced("a ``` b"), "````\na ``` b\n````");
    }
}
