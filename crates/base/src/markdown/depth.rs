//! The nesting depth of lists and quotes: [`first_too_deep`].
//!
//! Parsing a line takes a step for each list and quote around it, so a text with a million of them
//! would take an hour. People nest no more than a handful.

/// The maximum nesting depth of lists and quotes in a text that a person writes.
pub const MAX_NESTING: usize = 100;

/// The maximum number of steps for the lists and quotes around the lines of a text.
const MAX_STEPS: usize = 50_000_000;

/// Returns true if a text takes too long to parse: it is nested too deep for its number of lines.
pub(super) fn is_too_slow(text: &str) -> bool {
    let (mut lines, mut deepest) = (0_usize, 0);
    for line in text.split(['\n', '\r']) {
        lines += 1;
        deepest = depth(line).max(deepest);
    }
    deepest > MAX_NESTING && deepest.saturating_mul(lines) > MAX_STEPS
}

/// Returns the first line, from 1, that is nested in more than [`MAX_NESTING`] lists and quotes.
pub fn first_too_deep(text: &str) -> Option<usize> {
    let too_deep = text.lines().position(|line| depth(line) > MAX_NESTING);
    too_deep.map(|at| at + 1)
}

/// Counts the list and quote marks at the beginning of a line. The indentation of a mark counts as
/// well, since every two columns may be a list around the mark.
fn depth(line: &str) -> usize {
    let mut rest = line.as_bytes();
    let (mut deep, mut columns) = (0, 0);
    loop {
        let (length, is_mark) = match rest {
            [b' ', ..] => (1, false),
            [b'\t', ..] => (1, false),
            [b'>', ..] => (1, true),
            [b'-' | b'*' | b'+', b' ' | b'\t', ..] | [b'-' | b'*' | b'+'] => (1, true),
            _ => match ordered(rest) {
                Some(length) => (length, true),
                None => return deep,
            },
        };
        if is_mark {
            deep += 1 + columns / 2;
            columns = 0;
        } else {
            columns += if rest[0] == b'\t' { 4 } else { 1 };
        }
        rest = &rest[length..];
        // One space after a mark belongs to the mark.
        if is_mark && matches!(rest, [b' ', ..]) {
            rest = &rest[1..];
        }
    }
}

/// Returns the length of the mark of an ordered list, such as `12.`.
fn ordered(rest: &[u8]) -> Option<usize> {
    let digits = rest.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
    let is_mark = (1..=9).contains(&digits)
        && matches!(rest.get(digits), Some(b'.' | b')'))
        && matches!(rest.get(digits + 1), None | Some(b' ' | b'\t'));
    is_mark.then_some(digits + 1)
}
