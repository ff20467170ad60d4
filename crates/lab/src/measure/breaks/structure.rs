//! Breaks of brackets, commas, colons and of the space between tokens.

use super::super::draft::{Draft, Role, Token};
use crate::random::Random;

fn is_field_comma(token: &Token) -> bool {
    token.role == Role::Comma && token.finding.is_some()
}

fn is_brace(token: &Token, role: Role) -> bool {
    token.role == role && token.finding.is_some()
}

/// Returns the position of the end of the list, which is not part of a finding.
fn end_of_list(draft: &Draft) -> Option<usize> {
    draft.tokens.iter().rposition(|token| token.role == Role::Close && token.text == "]")
}

pub(super) fn trailing_comma(draft: &mut Draft, random: &mut Random) -> bool {
    let Some(mut at) = draft.any(random, |token| token.role == Role::Close) else { return false };
    if draft.tokens[at - 1].role == Role::Space {
        at -= 1;
    }
    draft.insert(at, ",");
    true
}

pub(super) fn doubled_comma(draft: &mut Draft, random: &mut Random) -> bool {
    let Some(at) = draft.any(random, |token| token.role == Role::Comma) else { return false };
    draft.insert(at, ",");
    true
}

pub(super) fn missing_comma_between_findings(draft: &mut Draft, random: &mut Random) -> bool {
    let commas: Vec<usize> = draft
        .positions(|token| token.role == Role::Comma && token.finding.is_none())
        .into_iter()
        .filter(|at| draft.tokens[at - 1].finding.is_some())
        .collect();
    if commas.is_empty() {
        return false;
    }
    draft.tokens.remove(random.pick(&commas));
    true
}

pub(super) fn missing_comma_between_fields(draft: &mut Draft, random: &mut Random) -> bool {
    let Some(at) = draft.any(random, is_field_comma) else { return false };
    draft.tokens.remove(at);
    true
}

pub(super) fn missing_colon(draft: &mut Draft, random: &mut Random) -> bool {
    let inside = |token: &Token| token.role == Role::Colon && token.finding.is_some();
    let Some(at) = draft.any(random, inside) else { return false };
    draft.tokens[at].text = " ".to_owned();
    true
}

pub(super) fn missing_closing_at_end(draft: &mut Draft, random: &mut Random) -> bool {
    let wanted = 1 + random.below(3);
    let mut removed = 0;
    while removed < wanted {
        match draft.tokens.last().map(|token| token.role) {
            Some(Role::Close) => removed += 1,
            Some(Role::Space) => {}
            _ => break,
        }
        draft.tokens.pop();
    }
    draft.cut = random.chance(50);
    removed > 0
}

pub(super) fn missing_closing_of_list(draft: &mut Draft, _: &mut Random) -> bool {
    let Some(at) = end_of_list(draft) else { return false };
    draft.tokens.remove(at);
    at < draft.tokens.len()
}

pub(super) fn missing_closing_of_finding(draft: &mut Draft, random: &mut Random) -> bool {
    let Some(at) = draft.any(random, |token| is_brace(token, Role::Close)) else { return false };
    draft.tokens.remove(at);
    true
}

pub(super) fn missing_opening_of_finding(draft: &mut Draft, random: &mut Random) -> bool {
    let Some(at) = draft.any(random, |token| is_brace(token, Role::Open)) else { return false };
    draft.tokens.remove(at);
    true
}

pub(super) fn wrong_closing(draft: &mut Draft, random: &mut Random) -> bool {
    let Some(at) = draft.any(random, |token| token.role == Role::Close) else { return false };
    let other = if draft.tokens[at].text == "}" { "]" } else { "}" };
    draft.tokens[at].text = other.to_owned();
    true
}

pub(super) fn doubled_closing(draft: &mut Draft, random: &mut Random) -> bool {
    let Some(at) = draft.any(random, |token| token.role == Role::Close) else { return false };
    let again = draft.tokens[at].text.clone();
    draft.insert(at + 1, &again);
    true
}

pub(super) fn extra_opening(draft: &mut Draft, random: &mut Random) -> bool {
    let Some(at) = draft.any(random, |token| token.role == Role::Open) else { return false };
    let again = draft.tokens[at].text.clone();
    draft.insert(at, &again);
    true
}

/// Closes the outer object before its last field: `{"findings": […]}, "summary": …}`.
pub(super) fn closed_early(draft: &mut Draft, _: &mut Random) -> bool {
    let outer = |token: &Token| token.role == Role::Comma && token.finding.is_none();
    let last = draft.tokens.iter().rposition(outer);
    match last {
        Some(at) if draft.tokens[at - 1].finding.is_none() => {
            draft.insert(at, "}");
            true
        }
        _ => false,
    }
}

pub(super) fn parentheses(draft: &mut Draft, _: &mut Random) -> bool {
    let open = draft.tokens.iter().position(|token| token.text == "[");
    let (Some(open), Some(close)) = (open, end_of_list(draft)) else { return false };
    draft.tokens[open].text = "(".to_owned();
    draft.tokens[close].text = ")".to_owned();
    // A tuple of one element needs a comma, and without it is not a tuple.
    draft.expected.len() > 1
}

pub(super) fn ellipsis_in_list(draft: &mut Draft, random: &mut Random) -> bool {
    let last = draft.expected.len() - 1;
    let finding = random.below(draft.expected.len());
    let Some(end) = draft.end_of(finding) else { return false };
    let dots = random.pick(&[", ...", ",\n  ...", ", …", ", ... "]);
    draft.insert(end + 1, if finding == last { dots } else { ", ..." });
    true
}

pub(super) fn ellipsis_in_finding(draft: &mut Draft, random: &mut Random) -> bool {
    if random.chance(50) {
        let Some(at) = draft.any(random, is_field_comma) else { return false };
        draft.insert(at, ", ...");
    } else {
        let close = |token: &Token| is_brace(token, Role::Close);
        let Some(at) = draft.any(random, close) else { return false };
        draft.insert(at, ", ... ");
    }
    true
}

pub(super) fn line_comment(draft: &mut Draft, random: &mut Random) -> bool {
    comment(draft, random, "  // see \"above\", it's the same\n")
}

pub(super) fn block_comment(draft: &mut Draft, random: &mut Random) -> bool {
    let text = random.pick(&[" /* checked: {yes} */ ", "/* two\n lines */"]);
    comment(draft, random, text)
}

pub(super) fn hash_comment(draft: &mut Draft, random: &mut Random) -> bool {
    comment(draft, random, "  # the worst one\n")
}

fn comment(draft: &mut Draft, random: &mut Random, text: &str) -> bool {
    let Some(at) = draft.any(random, |token| {
        matches!(token.role, Role::Comma | Role::Open) && token.finding.is_some()
    }) else {
        return false;
    };
    draft.insert(at + 1, text);
    true
}

pub(super) fn stray_word(draft: &mut Draft, random: &mut Random) -> bool {
    let key = |token: &Token| token.role == Role::Key && token.finding.is_some();
    let Some(at) = draft.any(random, key) else { return false };
    draft.insert(at, "COMMENT ");
    true
}

pub(super) fn special_blanks(draft: &mut Draft, random: &mut Random) -> bool {
    let blank = random.pick(&['\u{a0}', '\u{202f}', '\u{205f}', '\u{3000}']);
    let spaces = draft.positions(|token| token.role == Role::Space && token.text.contains(' '));
    for at in &spaces {
        let text = &mut draft.tokens[*at].text;
        *text = text.replace(' ', &blank.to_string());
    }
    !spaces.is_empty()
}

/// Truncates the text anywhere; only findings that are complete before the cut are expected.
pub(super) fn truncated(draft: &mut Draft, random: &mut Random) -> bool {
    let length = draft.text().len();
    let mut left = length / 5 + random.below(length * 4 / 5);
    let mut kept = Vec::new();
    for mut token in std::mem::take(&mut draft.tokens) {
        if token.text.len() > left {
            token.text.truncate(token.text.floor_char_boundary(left));
            token.role = Role::Space;
            kept.push(token);
            break;
        }
        left -= token.text.len();
        kept.push(token);
    }
    let whole = kept.iter().filter(|token| is_brace(token, Role::Close)).count();
    draft.tokens = kept;
    draft.expected.truncate(whole);
    draft.cut = true;
    whole > 0
}
