//! Definitions in Python, which are documented inside of their bodies.

use super::{MAX_LINES, SourceLines, without, word};

/// Returns the name of the definition on a line, if it is public and has no docstring.
pub(super) fn undocumented_name(
    source: &SourceLines<'_>,
    seen: &[bool],
    at: usize,
) -> Option<String> {
    let code = source.code(at);
    let code = without(code, &["async"]).unwrap_or(code);
    let name = word(without(code, &["def", "class"])?);
    let is_public = !name.is_empty() && !name.starts_with('_');
    let is_seen = seen.get(at).is_some_and(|seen| *seen);
    if !is_public || !is_seen || is_overload(source, at) {
        return None;
    }
    let body = after_signature(source, at)?;
    let lines = source.lines.iter().skip(body).map(|line| line.trim());
    let first = lines.clone().find(|line| !line.is_empty() && !line.starts_with('#'))?;
    let first = first.trim_start_matches(['r', 'R', 'u', 'U']);
    let is_documented = first.starts_with('"') || first.starts_with('\'');
    (!is_documented).then(|| name.to_owned())
}

/// Returns for every line whether a definition on it would be public: it is in nothing but public
/// classes.
pub(super) fn public_lines(source: &SourceLines<'_>) -> Vec<bool> {
    let mut seen = Vec::with_capacity(source.lines.len());
    // The definitions around a line, each with its indent.
    let mut around: Vec<(usize, bool)> = Vec::new();
    let mut open = 0i32;
    for at in 0..source.lines.len() {
        let code = source.code(at);
        let is_continued = open > 0;
        let count = |signs: [char; 3]| code.chars().filter(|c| signs.contains(c)).count() as i32;
        open = (open + count(['(', '[', '{']) - count([')', ']', '}'])).max(0);
        if code.is_empty() || is_continued {
            seen.push(false);
            continue;
        }
        let indent = source.indent(at);
        while around.last().is_some_and(|(outer, _)| *outer >= indent) {
            around.pop();
        }
        // It is unknown whether the definitions before a cut are public.
        let is_outermost = indent == 0 || !source.is_cut;
        let is_seen = around.last().map_or(is_outermost, |(_, is_seen)| *is_seen);
        seen.push(is_seen);
        let plain = without(code, &["async"]).unwrap_or(code);
        match without(plain, &["class", "def"]) {
            Some(name) if word(plain) == "class" => {
                around.push((indent, is_seen && !name.starts_with('_')));
            }
            // A definition in a function is local to it.
            Some(_) => around.push((indent, false)),
            None => {}
        }
    }
    seen
}

/// Returns true if a definition only repeats or completes another one.
fn is_overload(source: &SourceLines<'_>, at: usize) -> bool {
    let above = (at.saturating_sub(MAX_LINES)..at).rev().map(|at| source.code(at));
    let mut decorators = above.take_while(|code| code.starts_with('@'));
    decorators.any(|code| {
        [".setter", ".deleter", "overload", "override"].iter().any(|end| code.ends_with(end))
    })
}

/// Returns the line on which the body of a definition begins; `None` if it is on the same line.
fn after_signature(source: &SourceLines<'_>, at: usize) -> Option<usize> {
    let mut open = 0i32;
    for line in at..(at + MAX_LINES).min(source.lines.len()) {
        for (place, c) in source.code(line).char_indices() {
            match c {
                '(' | '[' | '{' => open += 1,
                ')' | ']' | '}' => open -= 1,
                ':' if open <= 0 => {
                    let behind = source.code(line)[place + 1..].trim();
                    return behind.is_empty().then_some(line + 1);
                }
                _ => {}
            }
        }
    }
    None
}
