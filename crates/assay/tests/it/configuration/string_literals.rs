//! The texts in Rust code: [`string_literals`].

/// Returns the content of all string literals of Rust code. Of escapes, those for quotes, spaces
/// and ends of lines are resolved.
pub(super) fn string_literals(code: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find(['"', '\'', '/']) {
        let (before, from) = rest.split_at(start);
        rest = match from.as_bytes()[0] {
            b'/' if from.starts_with("//") => after(from, "\n"),
            b'/' => &from[1..],
            b'\'' => ["'\"'", "'\\\"'", "'\\''"]
                .iter()
                .find_map(|character| from.strip_prefix(character))
                .unwrap_or(&from[1..]),
            _ => match raw_hashes(before) {
                Some(hashes) => {
                    let end = format!("\"{}", "#".repeat(hashes));
                    literals.push(from[1..].split(&end).next().unwrap_or_default().to_owned());
                    after(&from[1..], &end)
                }
                None => {
                    let (literal, rest) = escaped(&from[1..]);
                    literals.push(literal);
                    rest
                }
            },
        };
    }
    literals
}

fn after<'a>(text: &'a str, end: &str) -> &'a str {
    text.split_once(end).map_or("", |(_, rest)| rest)
}

/// Returns the number of `#` of a raw string that begins after this code; `None` if it is no raw
/// string.
fn raw_hashes(before: &str) -> Option<usize> {
    let bare = before.trim_end_matches('#');
    bare.ends_with('r').then(|| before.len() - bare.len())
}

/// Reads a literal with escapes up to its end. Returns the literal and the code after it.
fn escaped(code: &str) -> (String, &str) {
    let (mut literal, mut rest) = (String::new(), code);
    loop {
        let stop = rest.find(['"', '\\']).unwrap_or(rest.len());
        literal.push_str(&rest[..stop]);
        rest = &rest[stop..];
        let (character, length) = match rest.as_bytes() {
            [] => return (literal, ""),
            [b'"', ..] => return (literal, &rest[1..]),
            [_, b'\n', ..] => {
                rest = rest[1..].trim_start();
                continue;
            }
            [_, b'n', ..] => ('\n', 2),
            [_, b'x', b'2', b'0', ..] => (' ', 4),
            [_, b'"', ..] => ('"', 2),
            _ => ('\\', 2),
        };
        literal.push(character);
        rest = rest.get(length..).unwrap_or_default();
    }
}

#[test]
fn escaped_and_raw_string_literals_are_read() {
    let code = concat!(
        "// \"not\" 'this\n",
        r####"let c = '"'; f("a\n\"b\"", r#"c "d""#, 'x', "e \
           f", "\x20");"####,
    );
    assert_eq!(string_literals(code), ["a\n\"b\"", "c \"d\"", "e f", " "]);
}
