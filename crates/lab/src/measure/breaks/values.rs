//! Breaks of keys, strings, numbers and literals.

use super::super::draft::{Draft, Role, Token};
use crate::random::Random;

fn is_string(token: &Token) -> bool {
    matches!(token.role, Role::Key | Role::Text)
}

fn is_own_text(token: &Token) -> bool {
    token.role == Role::Text && token.finding.is_some()
}

/// Returns the text between the quotes.
fn body(token: &Token) -> &str {
    &token.text[1..token.text.len() - 1]
}

/// Rewrites every string from the text between its quotes.
fn requote(draft: &mut Draft, write: impl Fn(&str) -> String) -> bool {
    for token in draft.tokens.iter_mut().filter(|token| is_string(token)) {
        token.text = write(body(token));
    }
    true
}

/// Rewrites an escape in one of the strings that contain it. Returns false if there is none.
fn rewrite(draft: &mut Draft, random: &mut Random, escape: &str, by: &str) -> bool {
    let holds =
        |token: &Token| is_own_text(token) && replaced(body(token), escape, by) != body(token);
    let Some(at) = draft.any(random, holds) else { return false };
    let token = &mut draft.tokens[at];
    token.text = format!("\"{}\"", replaced(body(token), escape, by));
    true
}

/// Replaces an escape, but not the `\t` in `C:\\temp`.
fn replaced(body: &str, escape: &str, by: &str) -> String {
    let mut written = String::new();
    let mut rest = body;
    while let Some(at) = rest.find('\\') {
        let (before, tail) = rest.split_at(at);
        written.push_str(before);
        if let Some(after) = tail.strip_prefix(escape) {
            written.push_str(by);
            rest = after;
        } else {
            let end = tail.ceil_char_boundary(2);
            written.push_str(&tail[..end]);
            rest = &tail[end..];
        }
    }
    written + rest
}

pub(super) fn single_quotes(draft: &mut Draft, _: &mut Random) -> bool {
    requote(draft, |body| format!("'{}'", body.replace('\'', "\\'").replace("\\\"", "\"")))
}

pub(super) fn curly_quotes(draft: &mut Draft, _: &mut Random) -> bool {
    requote(draft, |body| format!("“{body}”"))
}

pub(super) fn accent_quotes(draft: &mut Draft, _: &mut Random) -> bool {
    // A string that contains the mark itself would end early for any parser.
    requote(draft, |body| match body.contains('`') {
        true => format!("\"{body}\""),
        false => format!("`{body}´"),
    })
}

pub(super) fn doubled_quotes(draft: &mut Draft, _: &mut Random) -> bool {
    requote(draft, |body| format!("\"\"{body}\"\""))
}

pub(super) fn unquoted_keys(draft: &mut Draft, _: &mut Random) -> bool {
    for token in draft.tokens.iter_mut().filter(|token| token.role == Role::Key) {
        token.text = body(token).to_owned();
    }
    true
}

pub(super) fn unquoted_values(draft: &mut Draft, random: &mut Random) -> bool {
    let key = random.pick(&["severity", "category", "file"]);
    for at in draft.positions(is_own_text) {
        if draft.key_of(at) == Some(key) {
            draft.tokens[at].text = body(&draft.tokens[at]).to_owned();
        }
    }
    true
}

pub(super) fn missing_opening_of_key(draft: &mut Draft, random: &mut Random) -> bool {
    let key = |token: &Token| token.role == Role::Key && token.finding.is_some();
    let Some(at) = draft.any(random, key) else { return false };
    draft.tokens[at].text.remove(0);
    true
}

pub(super) fn missing_closing_of_key(draft: &mut Draft, random: &mut Random) -> bool {
    let key = |token: &Token| token.role == Role::Key && token.finding.is_some();
    let Some(at) = draft.any(random, key) else { return false };
    draft.tokens[at].text.pop();
    true
}

pub(super) fn missing_opening_of_value(draft: &mut Draft, random: &mut Random) -> bool {
    let Some(at) = draft.any(random, is_own_text) else { return false };
    draft.tokens[at].text.remove(0);
    true
}

pub(super) fn missing_closing_of_value(draft: &mut Draft, random: &mut Random) -> bool {
    let ends_line = |at: usize| {
        let next = draft.tokens[at + 1..].iter().find(|token| token.role != Role::Comma);
        next.is_some_and(|token| token.text.starts_with('\n'))
    };
    let texts: Vec<usize> =
        draft.positions(is_own_text).into_iter().filter(|at| ends_line(*at)).collect();
    if texts.is_empty() {
        return false;
    }
    draft.tokens[random.pick(&texts)].text.pop();
    true
}

pub(super) fn unescaped_quotes(draft: &mut Draft, random: &mut Random) -> bool {
    rewrite(draft, random, "\\\"", "\"")
}

pub(super) fn raw_line_break(draft: &mut Draft, random: &mut Random) -> bool {
    rewrite(draft, random, "\\n", "\n")
}

pub(super) fn raw_tab(draft: &mut Draft, random: &mut Random) -> bool {
    rewrite(draft, random, "\\t", "\t")
}

/// Writes `\d` and `\w` unescaped, as in code.
pub(super) fn invalid_escape(draft: &mut Draft, random: &mut Random) -> bool {
    rewrite(draft, random, "\\\\d{3}-\\\\w", "\\d{3}-\\w")
}

pub(super) fn concatenated(draft: &mut Draft, random: &mut Random) -> bool {
    let long = |token: &Token| is_own_text(token) && token.text.len() > 20;
    let Some(at) = draft.any(random, long) else { return false };
    let body = body(&draft.tokens[at]).to_owned();
    // A blank is never inside an escape.
    let blanks: Vec<usize> = body.match_indices(' ').map(|(at, _)| at).collect();
    if blanks.is_empty() {
        return false;
    }
    let (first, second) = body.split_at(random.pick(&blanks));
    let plus = random.pick(&["\" + \"", "\" +\n      \"", "\"+\""]);
    draft.tokens[at].text = format!("\"{first}{plus}{second}\"");
    true
}

/// Removes the value of a field that is not compared.
pub(super) fn missing_value(draft: &mut Draft, random: &mut Random) -> bool {
    let values: Vec<usize> = draft
        .positions(|token| matches!(token.role, Role::Text | Role::Word) && token.finding.is_some())
        .into_iter()
        .filter(|at| matches!(draft.key_of(*at), Some("category" | "suggested_fix")))
        .collect();
    if values.is_empty() {
        return false;
    }
    draft.tokens.remove(random.pick(&values));
    true
}

/// Replaces every literal by other words.
fn literals(draft: &mut Draft, words: [(&str, &str); 3]) -> bool {
    let literals = draft.positions(|token| token.role == Role::Word);
    for at in &literals {
        let text = &mut draft.tokens[*at].text;
        if let Some((_, word)) = words.iter().find(|(from, _)| from == text) {
            *text = (*word).to_owned();
        }
    }
    !literals.is_empty()
}

pub(super) fn python_literals(draft: &mut Draft, _: &mut Random) -> bool {
    literals(draft, [("null", "None"), ("true", "True"), ("false", "False")])
}

pub(super) fn capital_literals(draft: &mut Draft, _: &mut Random) -> bool {
    literals(draft, [("null", "Null"), ("true", "TRUE"), ("false", "FALSE")])
}

pub(super) fn undefined(draft: &mut Draft, _: &mut Random) -> bool {
    literals(draft, [("null", "undefined"), ("true", "undefined"), ("false", "undefined")])
}

/// Rewrites one number.
fn number(draft: &mut Draft, random: &mut Random, write: impl Fn(&str) -> String) -> bool {
    let Some(at) = draft.any(random, |token| token.role == Role::Number) else { return false };
    draft.tokens[at].text = write(&draft.tokens[at].text);
    true
}

pub(super) fn leading_zero(draft: &mut Draft, random: &mut Random) -> bool {
    number(draft, random, |number| format!("0{number}"))
}

pub(super) fn trailing_dot(draft: &mut Draft, random: &mut Random) -> bool {
    number(draft, random, |number| format!("{number}."))
}

pub(super) fn digit_groups(draft: &mut Draft, random: &mut Random) -> bool {
    let long = |token: &Token| token.role == Role::Number && token.text.len() == 4;
    let Some(at) = draft.any(random, long) else { return false };
    draft.tokens[at].text.insert(1, '_');
    true
}

pub(super) fn database_types(draft: &mut Draft, random: &mut Random) -> bool {
    let quoted = random.chance(50);
    number(draft, random, |number| match quoted {
        true => format!("NumberLong(\"{number}\")"),
        false => format!("NumberInt({number})"),
    })
}
