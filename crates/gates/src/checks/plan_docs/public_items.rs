//! Public items that a planned diff adds, and whether they say what they are for: [`look`].
//!
//! Only what the diff shows is judged: where the lines around an item are not in it, the item may
//! well be documented.

use super::documents::diffed;
use crate::checks::Seen;
use crate::checks::say::{at, on_plan};
use crate::item::Scope;
use crate::kinds::ending;
use crate::plan::DiffLine;
use crate::quote::quoted;
use crate::subject::Subject;

/// How far the text of a signature, or the attributes of an item, are followed.
const MAX_LINES: usize = 40;

/// Looks for public items without a doc comment.
pub(super) fn look(subject: &Subject<'_>, _: &Scope) -> Seen {
    on_plan(subject, |plan| {
        let mut bare = Vec::new();
        for file in diffed(plan).filter(|file| !assay_rules::is_test(&file.path)) {
            let Some(is_bare) = language(&file.path) else { continue };
            for (number, line) in file.lines.iter().enumerate().filter(|(_, line)| line.is_added) {
                if is_bare(&file.lines, number) {
                    let line_number = at(plan, line.line.unwrap_or(0));
                    bare.push(format!(
                        "{} in {}{line_number}",
                        quoted(&line.text),
                        quoted(&file.path)
                    ));
                }
            }
        }
        Seen::under("Public items have no doc comment", bare)
    })
}

/// Says whether the line with this number is a public item without a doc comment.
type IsBare = fn(&[DiffLine], usize) -> bool;

fn language(path: &str) -> Option<IsBare> {
    match ending(path).as_str() {
        "rs" => Some(is_bare_in_rust),
        "py" => Some(is_bare_in_python),
        "go" => Some(is_bare_in_go),
        "js" | "mjs" | "jsx" | "ts" | "tsx" => Some(is_bare_in_script),
        _ => None,
    }
}

/// What follows `pub` in Rust and needs a doc; `mod` may have it in its own file.
const RUST_ITEMS: [&str; 12] = [
    "fn ", "async fn ", "unsafe fn ", "const fn ", "extern ", "struct ", "enum ", "trait ",
    "type ", "const ", "static ", "union ",
];

fn is_bare_in_rust(lines: &[DiffLine], number: usize) -> bool {
    let text = lines[number].text.trim_start();
    let is_item = text.strip_prefix("pub ").is_some_and(|rest| {
        RUST_ITEMS.iter().any(|item| rest.starts_with(item)) && !rest.starts_with("extern crate")
    });
    is_item
        && before(lines, number, |line| {
            if line.starts_with("///") || line.starts_with("#[doc") || line.ends_with("*/") {
                Before::Doc
            } else if line.starts_with("#[") || line.starts_with("//") {
                Before::Skip
            } else if line.ends_with(")]") {
                Before::SkipTo("#[")
            } else {
                Before::Other
            }
        })
}

fn is_bare_in_go(lines: &[DiffLine], number: usize) -> bool {
    let text = lines[number].text.as_str();
    let name = match text.strip_prefix("func ") {
        Some(rest) => match rest.strip_prefix('(') {
            Some(method) => {
                let Some((receiver, name)) = method.split_once(')') else { return false };
                let kind = receiver.rsplit([' ', '*']).next().unwrap_or("");
                // A method of a type that nobody sees is not seen either.
                if !kind.starts_with(char::is_uppercase) {
                    return false;
                }
                name.trim_start()
            }
            None => rest,
        },
        None => text.strip_prefix("type ").unwrap_or(""),
    };
    name.starts_with(char::is_uppercase)
        && before(lines, number, |line| {
            if line.starts_with("//go:") || line.starts_with("//nolint") {
                Before::Skip
            } else if line.starts_with("//") || line.ends_with("*/") {
                Before::Doc
            } else {
                Before::Other
            }
        })
}

/// What is exported from a module in JavaScript or TypeScript and needs a doc.
const EXPORTS: [&str; 7] = [
    "export function ",
    "export async function ",
    "export class ",
    "export abstract class ",
    "export default function ",
    "export default async function ",
    "export default class ",
];

fn is_bare_in_script(lines: &[DiffLine], number: usize) -> bool {
    let text = lines[number].text.as_str();
    let Some(export) = EXPORTS.iter().find(|export| text.starts_with(**export)) else {
        return false;
    };
    let name =
        text[export.len()..].split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    let same = format!("{export}{name}");
    before(lines, number, |line| {
        if line.ends_with("*/") || line.starts_with(&same) {
            Before::Doc
        } else if line.starts_with('@') || line.starts_with("//") {
            Before::Skip
        } else {
            Before::Other
        }
    })
}

/// What a line before an item is to it.
enum Before {
    Doc,
    /// Something between the doc and the item.
    Skip,
    /// The end of such a thing, which begins on a line above.
    SkipTo(&'static str),
    Other,
}

/// Says whether no doc stands before an item, as far as can be seen.
fn before(lines: &[DiffLine], number: usize, kind: impl Fn(&str) -> Before) -> bool {
    let mut at = number;
    let mut begin = None;
    for _ in 0..MAX_LINES {
        let is_hidden = lines.get(at).is_none_or(|line| line.follows_a_gap);
        if is_hidden {
            return false;
        }
        let Some(line) = at.checked_sub(1).and_then(|at| lines.get(at)) else { return true };
        at -= 1;
        let text = line.text.trim();
        if begin.is_some_and(|begin| !text.starts_with(begin)) {
            continue;
        }
        begin = match kind(text) {
            Before::Doc => return false,
            Before::Skip => None,
            Before::SkipTo(begin) => Some(begin),
            Before::Other => return true,
        };
    }
    false
}

fn is_bare_in_python(lines: &[DiffLine], number: usize) -> bool {
    let text = lines[number].text.as_str();
    let name = ["def ", "async def ", "class "].iter().find_map(|mark| text.strip_prefix(mark));
    if name.is_none_or(|name| !name.starts_with(char::is_alphabetic)) {
        return false;
    }
    let is_overload = number.checked_sub(1).and_then(|at| lines.get(at));
    if is_overload.is_some_and(|line| line.text.contains("overload")) {
        return false;
    }
    let Some(end) = end_of_signature(lines, number) else { return false };
    for line in lines.iter().skip(end + 1).take(MAX_LINES) {
        if line.follows_a_gap {
            return false;
        }
        let text = line.text.trim();
        if !text.is_empty() {
            let text = text.trim_start_matches(['r', 'R', 'u', 'U', 'f', 'b']);
            return !text.starts_with(['"', '\'']);
        }
    }
    false
}

/// Gives the line on which a signature ends, if its body begins on the next.
fn end_of_signature(lines: &[DiffLine], number: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, line) in lines.iter().enumerate().skip(number).take(MAX_LINES) {
        if at > number && line.follows_a_gap {
            return None;
        }
        let code = line.text.split(" #").next().unwrap_or("").trim_end();
        for (place, c) in code.char_indices() {
            match c {
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth -= 1,
                ':' if depth == 0 => return (place + 1 == code.len()).then_some(at),
                _ => {}
            }
        }
    }
    None
}
