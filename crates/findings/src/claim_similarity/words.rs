//! The words of a claim: splits identifiers, drops stop words, and reduces words to their stems.

use std::borrow::Cow;

/// Words that do not tell one defect from another.
const STOP_WORDS: &str = " a an the and or but of in on at to for from by with as is are was were \
    be been being it its this that these those there has have had do does doing did can could \
    should would may might will into when where which who what how why if then than so such also \
    only just because due since while after before during about above below between both each any \
    all some more most other another same own very i we you they he she them their our your his \
    her one use uses used using causing cause causes lead leads leading result results resulting \
    instead e g eg ie etc via here see line lines code ";

/// Words of absence: "missing error handling" and "no error handling" are one claim.
const NEGATIONS: &str = " not no never without missing lacks lack lacking cannot absent absence \
    none nor neither ";

/// Suffixes in the order in which they are tried.
const SUFFIXES: [&str; 18] = [
    "ations", "ation", "ating", "ated", "ates", "ate", "ings", "ing", "ions", "ion", "ments",
    "ment", "edly", "ed", "ies", "es", "ly", "s",
];

/// Relation words, whose two sides must not be exchanged: "locks before it writes".
const RELATIONS: [&str; 14] = [
    "before", "after", "instead", "than", "where", "into", "from", "over", "under", "above",
    "below", "to", "by", "with",
];

/// Returns the number of a relation word; `None` for other words.
pub(super) fn relation(word: &str) -> Option<u8> {
    RELATIONS.iter().position(|relation| *relation == word).map(|number| number as u8)
}

fn is_listed(list: &str, word: &str) -> bool {
    let after = |at: usize| list.as_bytes().get(at + word.len()) == Some(&b' ');
    list.match_indices(word).any(|(at, _)| at > 0 && list.as_bytes()[at - 1] == b' ' && after(at))
}

pub(super) fn is_stop_word(word: &str) -> bool {
    is_listed(STOP_WORDS, word)
}

pub(super) fn is_negation(word: &str) -> bool {
    is_listed(NEGATIONS, word)
}

/// Returns true if a character can be part of a word or an identifier.
pub(super) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// Calls `each` with the parts of words and identifiers, in lower case: `TopicUser.find_by` has the
/// parts `topic`, `user`, `find` and `by`.
pub(super) fn each_part(text: &str, mut each: impl FnMut(&str)) {
    let text = without_contractions(text, "");
    let bytes = text.as_bytes();
    let mut lower = String::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = part_end(&text, at);
        if end == at {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
            continue;
        }
        let part = &text[at..end];
        if part.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) {
            each(part);
        } else {
            lower.clear();
            lower.extend(part.chars().flat_map(char::to_lowercase));
            each(&lower);
        }
        at = end;
    }
}

/// Returns the end of the part that starts at a byte; the byte itself if none starts there.
fn part_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let run = |from: usize, is_in: fn(&u8) -> bool| {
        from + bytes[from..].iter().take_while(|byte| is_in(byte)).count()
    };
    match bytes[at] {
        b'A'..=b'Z' => {
            let capitals = run(at, u8::is_ascii_uppercase);
            let is_before_word = bytes.get(capitals).is_some_and(u8::is_ascii_lowercase);
            match (is_before_word, capitals - at) {
                (true, 1) => run(capitals, u8::is_ascii_lowercase),
                // The last capital begins the next part: `HTTPServer`.
                (true, _) => capitals - 1,
                (false, _) => capitals,
            }
        }
        b'a'..=b'z' => run(at, u8::is_ascii_lowercase),
        b'0'..=b'9' => run(at, u8::is_ascii_digit),
        byte if byte.is_ascii() => at,
        _ => {
            let is_letter = |c: &char| !c.is_ascii() && c.is_alphanumeric() && !c.is_numeric();
            at + text[at..].chars().take_while(is_letter).map(char::len_utf8).sum::<usize>()
        }
    }
}

/// Returns false if no word of a text ends with `n't`.
pub(super) fn may_contract(text: &str) -> bool {
    const FIRST_OF_CURLY: u8 = 0xe2;
    let is_there = memchr::memchr2(b'\'', FIRST_OF_CURLY, text.as_bytes()).is_some();
    is_there && (text.contains("'t") || text.contains("’t"))
}

/// Replaces the `n't` at the end of words with `with`.
pub(super) fn without_contractions<'t>(text: &'t str, with: &str) -> Cow<'t, str> {
    if !may_contract(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['\'', '’']) {
        let mark = rest[at..].chars().next().map_or(1, char::len_utf8);
        let after = &rest[at + mark..];
        let is_end = after.starts_with('t') && !after[1..].starts_with(is_word);
        if is_end && rest[..at].ends_with('n') {
            out.push_str(&rest[..at - 1]);
            out.push_str(with);
            rest = &after[1..];
        } else {
            out.push_str(&rest[..at + mark]);
            rest = after;
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns the stem that the forms of a word in lower case share.
pub(super) fn stem(word: &str) -> Cow<'_, str> {
    if !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Cow::Borrowed(word);
    }
    let mut stem = Cow::Borrowed(word);
    for suffix in SUFFIXES {
        let Some(short) = word.strip_suffix(suffix) else { continue };
        let keeps_s = suffix == "s" && (short.is_empty() || short.ends_with(['s', 'u', 'i']));
        let least = if suffix.starts_with('a') { 4 } else { 3 };
        if !keeps_s && short.len() >= least {
            stem = match suffix {
                "ies" => Cow::Owned(format!("{short}y")),
                _ => Cow::Borrowed(short),
            };
            break;
        }
    }
    if stem.len() >= 4 && stem.ends_with('e') {
        cut_last(&mut stem);
    }
    if stem.len() >= 4 && stem.ends_with('y') {
        cut_last(&mut stem);
        stem.to_mut().push('i');
    }
    let is_doubled = matches!(stem.as_bytes(), [.., a, b] if a == b && !matches!(b, b'l' | b's'));
    if stem.len() >= 4 && is_doubled {
        cut_last(&mut stem);
    }
    stem
}

fn cut_last(stem: &mut Cow<'_, str>) {
    match stem {
        Cow::Borrowed(text) => *text = &text[..text.len() - 1],
        Cow::Owned(text) => {
            text.pop();
        }
    }
}

/// Calls `each` with the stretches of a text, and with true for a compound name such as
/// `user.save`, `a::b`, `src/a.rs` or `find_by`.
pub(super) fn each_stretch<'t>(text: &'t str, mut each: impl FnMut(&'t str, bool)) {
    let (mut plain, mut at) = (0, 0);
    while at < text.len() {
        let c = text[at..].chars().next().expect("the text does not end here");
        let name = if is_name_start(c) { name_len(&text[at..]) } else { 0 };
        let end = compound_end(text, at, name);
        if end > at {
            each(&text[plain..at], false);
            each(&text[at..end], true);
            (plain, at) = (end, end);
        } else {
            at += name.max(c.len_utf8());
        }
    }
    each(&text[plain..], false);
}

pub(super) fn is_name_start(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '_' | '$')
}

/// Returns the number of bytes of the name that a text starts with.
pub(super) fn name_len(text: &str) -> usize {
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$');
    let plain = text.bytes().take_while(is_plain).count();
    match text.as_bytes().get(plain) {
        Some(byte) if !byte.is_ascii() => {
            let rest = &text[plain..];
            plain + rest.find(|c| !is_word(c) && c != '$').unwrap_or(rest.len())
        }
        _ => plain,
    }
}

/// Returns the number of bytes of the mark that joins two names; 0 if the text starts with none.
pub(super) fn joint_len(text: &str) -> usize {
    match text.as_bytes() {
        [b'.' | b'#' | b'/', ..] => 1,
        [b':', b':', ..] | [b'-', b'>', ..] => 2,
        _ => 0,
    }
}

/// Returns the end of the compound name that starts at a byte; the byte itself if none starts
/// there. `name` is the length of the name that starts there, 0 for none.
fn compound_end(text: &str, start: usize, name: usize) -> usize {
    if name == 0 {
        // A digit may begin a name with an underscore: `2_steps`.
        return underscored_end(text, start, name);
    }
    let mut end = start + name;
    let mut joints = 0;
    loop {
        let joint = joint_len(&text[end..]);
        let next = end + joint;
        if joint == 0 || !text[next..].starts_with(is_name_start) {
            break;
        }
        end = next + name_len(&text[next..]);
        joints += 1;
    }
    if joints > 0 { end } else { underscored_end(text, start, name) }
}

fn underscored_end(text: &str, start: usize, name: usize) -> usize {
    let rest = &text[start..];
    let first = rest.as_bytes()[0];
    if first.is_ascii() && !first.is_ascii_alphanumeric() && first != b'_' {
        return start;
    }
    let length = match if name > 0 { name } else { name_len(rest) } {
        whole if rest[..whole].contains('$') => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
        whole => whole,
    };
    let inner = rest[..length].find('_').is_some_and(|at| at + 1 < length);
    if inner { start + length } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> String {
        let mut all = Vec::new();
        each_part(text, |part| all.push(part.to_owned()));
        all.join(" ")
    }

    #[test]
    fn names_are_split_at_case_changes_digits_and_separators() {
        for (text, expected) in [
            ("TopicUser.find_by", "topic user find by"),
            ("HTTPServer parseJSON v2", "http server parse json v 2"),
            ("doesn't isn’t", "does is"),
            ("größe ÄNDERN", "gr öß e ä ndern"),
            ("", ""),
        ] {
            assert_eq!(parts(text), expected, "{text}");
        }
    }

    #[test]
    fn forms_of_one_word_have_one_stem() {
        for (a, b) in [
            ("validated", "validation"),
            ("inputs", "input"),
            ("leaked", "leaks"),
            ("queries", "query"),
            ("handling", "handled"),
            ("stopped", "stop"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} / {b}");
        }
        for word in ["status", "class", "is", "us", "42"] {
            assert_eq!(stem(word), word);
        }
    }

    #[test]
    fn compound_names_are_distinguished_from_plain_words() {
        let compounds = |text: &'static str| {
            let mut all = Vec::new();
            each_stretch(text, |stretch, is_compound| all.extend(is_compound.then_some(stretch)));
            all
        };
        assert_eq!(compounds("call user.save or find_by, not a.  b"), ["user.save", "find_by"]);
        assert_eq!(compounds("src/a.rs::b->c is 2_steps"), ["src/a.rs::b->c", "2_steps"]);
        assert_eq!(compounds("plain words. Another sentence _"), [] as [&str; 0]);
    }
}
