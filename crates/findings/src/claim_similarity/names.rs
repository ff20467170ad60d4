//! Identifiers of a claim, and numbers that are no line references.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::words::{is_name_start, is_word, joint_len, name_len};

/// The maximum number of words of a quoted name; longer quotes are sentences.
const MAX_QUOTED_WORDS: usize = 3;

/// Calls `each` with every word of a text, and with true if the word is an identifier: it is in
/// quotes, or it is spelt like a name in code.
pub(super) fn each_name<'t>(text: &'t str, mut each: impl FnMut(&'t str, bool)) {
    let mut quoted = Vec::new();
    each_quoted_word(text, |word| quoted.push(word));
    each_word(text, |word| each(word, quoted.contains(&word) || is_identifier(word)));
}

/// Calls `each` with the words of a text that begin with a letter; joined words are one.
pub(super) fn each_word<'t>(text: &'t str, mut each: impl FnMut(&'t str)) {
    let mut at = 0;
    while at < text.len() {
        let c = text[at..].chars().next().expect("the text does not end here");
        if !is_name_start(c) {
            at += c.len_utf8();
            continue;
        }
        let mut end = at + name_len(&text[at..]);
        loop {
            let rest = &text[end..];
            let joint =
                if rest.starts_with('-') { joint_len(rest).max(1) } else { joint_len(rest) };
            if joint == 0 || !rest[joint..].starts_with(is_name_start) {
                break;
            }
            end += joint + name_len(&rest[joint..]);
        }
        each(&text[at..end]);
        at = end;
    }
}

/// Calls `each` with the words in short quotes or back-ticks.
pub(super) fn each_quoted_word<'t>(text: &'t str, mut each: impl FnMut(&'t str)) {
    let mut at = 0;
    while let Some(found) = memchr::memchr3(b'`', b'"', b'\'', &text.as_bytes()[at..]) {
        let start = at + found;
        let mark = text.as_bytes()[start];
        let inside = &text[start + 1..];
        let length = memchr::memchr(mark, inside.as_bytes()).unwrap_or(usize::MAX);
        let is_quote = match mark {
            b'`' => (1..usize::MAX).contains(&length),
            b'"' => is_long(inside, length),
            _ => {
                let stands_alone = !text[..start].ends_with(is_word)
                    && inside
                        .get(length.saturating_add(1)..)
                        .is_some_and(|t| !t.starts_with(is_word));
                is_long(inside, length) && stands_alone
            }
        };
        if !is_quote {
            at = start + 1;
            continue;
        }
        let quote = &inside[..length];
        if quote.split_whitespace().count() <= MAX_QUOTED_WORDS {
            each_word(quote, &mut each);
        }
        at = start + length + 2;
    }
}

fn is_long(inside: &str, length: usize) -> bool {
    inside.get(..length).is_some_and(|quote| quote.chars().nth(2).is_some())
}

/// Returns true if a word is spelt like a name in code rather than a word of the language.
pub(super) fn is_identifier(word: &str) -> bool {
    let [first, rest @ ..] = word.as_bytes() else { return false };
    let is_plain = first.is_ascii_alphabetic() && rest.iter().all(u8::is_ascii_lowercase);
    if is_plain || matches!(word, "e.g" | "i.e" | "and/or") {
        return false;
    }
    let pairs = || word.chars().zip(word.chars().skip(1));
    let has_joint = word.contains(['.', '#', '/']) || word.contains("::") || word.contains("->");
    let has_capitals = word.chars().nth(1).is_some()
        && word.chars().any(char::is_uppercase)
        && !word.chars().any(char::is_lowercase);
    has_joint
        || has_capitals
        || word.trim_matches('_').contains('_')
        || pairs().any(|(a, b)| a.is_lowercase() && b.is_uppercase())
        || pairs().any(|(a, b)| a.is_alphabetic() && b.is_numeric())
}

/// Returns true if one name is a run of the other's parts, as `find_by` is of
/// `TopicUser.find_by`.
pub(super) fn is_same_name(a: &[u32], b: &[u32]) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    !short.is_empty() && long.windows(short.len()).any(|run| run == short)
}

/// Returns the numbers of a text that has no line references.
pub(super) fn numbers(text: &str) -> BTreeSet<String> {
    let bytes = text.as_bytes();
    let digits =
        |from: usize| from + bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut found = BTreeSet::new();
    let mut at = 0;
    while let Some(next) = bytes[at..].iter().position(u8::is_ascii_digit) {
        let start = at + next;
        let whole = digits(start);
        let decimal = match bytes.get(whole..) {
            Some([b'.', digit, ..]) if digit.is_ascii_digit() => digits(whole + 1),
            _ => whole,
        };
        let stands_alone = !text[..start].ends_with(|c| is_word(c) || c == '.');
        let ends = |end: usize| !text[end..].starts_with(is_word);
        if stands_alone && (ends(decimal) || ends(whole)) {
            found.insert(text[start..if ends(decimal) { decimal } else { whole }].to_owned());
        }
        at = decimal;
    }
    found
}

/// Removes line references from a text: `on line 12`, `lines 78-80`, `L157`, `a.rb:12`.
pub(super) fn without_line_references(text: &str) -> Cow<'_, str> {
    if !may_have_line_reference(text) {
        return Cow::Borrowed(text);
    }
    let may_start = |byte: u8| matches!(byte, b'l' | b'L' | b':' | b'#');
    let mut starts = (0..text.len()).filter(|at| may_start(text.as_bytes()[*at]));
    if !starts.any(|at| line_reference_len(text, at) > 0) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let c = text[at..].chars().next().expect("the text does not end here");
        let length = line_reference_len(text, at);
        if length > 0 {
            cut_preposition(&mut out);
            out.push(' ');
            at += length;
        } else {
            out.push(c);
            at += c.len_utf8();
        }
    }
    Cow::Owned(out)
}

/// Returns false if no digit follows whitespace, a mark or a letter as in a line reference.
fn may_have_line_reference(text: &str) -> bool {
    let may_precede = |byte: u8| !byte.is_ascii() || byte <= b' ' || b".#:lLnNeEsS".contains(&byte);
    text.as_bytes().windows(2).any(|pair| pair[1].is_ascii_digit() && may_precede(pair[0]))
}

/// Returns the length of the line reference that starts at a byte; 0 if none starts there.
fn line_reference_len(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    match rest.as_bytes()[0] {
        b'l' | b'L' if !text[..at].ends_with(is_word) => line_words_len(rest),
        b':' | b'#' if text[..at].ends_with(|c| is_word(c) || c == ')') => mark_len(rest),
        _ => 0,
    }
}

/// Returns the length of `lines 78-80`, `ln. 3` or `L157` at the start of a text.
fn line_words_len(text: &str) -> usize {
    let word = ["lines", "line", "ln", "l"]
        .into_iter()
        .find(|word| text.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word)));
    let Some(word) = word else { return 0 };
    let after = text[word.len()..].trim_start_matches('.').trim_start();
    let after = after.strip_prefix('#').unwrap_or(after).trim_start();
    let Some(mut rest) = without_digits(after) else { return 0 };
    loop {
        let next = rest.trim_start();
        let joined =
            ["-", "–", "to", "and", ",", "&"].iter().find_map(|joint| next.strip_prefix(joint));
        match joined.and_then(|next| without_digits(next.trim_start())) {
            Some(next) => rest = next,
            None => return text.len() - rest.len(),
        }
    }
}

/// Returns the length of `:12`, `#L3-L9` or the like at the start of a text.
fn mark_len(text: &str) -> usize {
    let number = |text: &str| {
        let digits = text.strip_prefix(['L', 'l']).unwrap_or(text);
        Some(text.len() - without_digits(digits)?.len())
    };
    let Some(rest) = text.strip_prefix([':', '#']) else { return 0 };
    let Some(first) = number(rest) else { return 0 };
    let ends = |length: usize| !rest[length..].starts_with(is_word);
    let range = rest[first..].strip_prefix('-').and_then(number).map(|last| first + 1 + last);
    match range.filter(|range| ends(*range)) {
        Some(range) => 1 + range,
        None if ends(first) => 1 + first,
        None => 0,
    }
}

fn without_digits(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    (rest.len() < text.len()).then_some(rest)
}

fn cut_preposition(out: &mut String) {
    for word in ["at ", "on ", "in ", "from ", "near "] {
        let start = out.len().saturating_sub(word.len());
        let is_it = out.get(start..).is_some_and(|end| end.eq_ignore_ascii_case(word));
        if is_it && !out[..start].ends_with(is_word) {
            out.truncate(start);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identifiers(text: &str) -> Vec<&str> {
        let mut all = Vec::new();
        each_name(text, |word, is_identifier| all.extend(is_identifier.then_some(word)));
        all
    }

    #[test]
    fn names_in_code_are_identifiers() {
        for (text, expected) in [
            ("TopicUser.find_by(...) returns nil", vec!["TopicUser.find_by"]),
            ("`open` is never closed", vec!["open"]),
            ("SQL built from 'user input' and \"name\"", vec!["SQL", "user", "input", "name"]),
            ("it's the caller's, and/or e.g. a plain-text note", vec![]),
            ("gap-filling.ts and maxSize, http2", vec!["gap-filling.ts", "maxSize", "http2"]),
            ("`a sentence of many words in ticks`", vec![]),
        ] {
            assert_eq!(identifiers(text), expected, "{text}");
        }
    }

    #[test]
    fn line_numbers_do_not_count_as_numbers_of_a_claim() {
        for (text, left) in [
            ("nil on line 157 of it", vec![]),
            ("see lines 78-80, and a.rb:12", vec![]),
            ("at L157 and src/a.rs#L3-L9", vec![]),
            ("waits 30 seconds (1.5 at most)", vec!["1.5", "30"]),
            ("criterion 2 of v3 has 10ms", vec!["2"]),
            ("f(x):12 is 7", vec!["7"]),
        ] {
            let found = numbers(&without_line_references(text));
            assert_eq!(found.into_iter().collect::<Vec<_>>(), left, "{text}");
        }
    }

    #[test]
    fn a_name_is_the_same_if_its_parts_are_a_run_of_the_other_names_parts() {
        assert!(is_same_name(&[1, 2], &[7, 1, 2, 3]));
        assert!(!is_same_name(&[1, 3], &[1, 2, 3]));
        assert!(!is_same_name(&[], &[1]));
    }
}
