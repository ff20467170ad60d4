//! Comments that a planned diff adds.

use super::documents::diffed;
use crate::checks::Seen;
use crate::checks::say::{at, on_plan};
use crate::item::Scope;
use crate::kinds::ending;
use crate::plan::{DiffLine, DiffedFile};
use crate::quote::quoted;
use crate::subject::Subject;

/// How a comment begins that tells what was before.
const HISTORY: [&str; 9] = [
    "previously", "formerly", "no longer", "changed from", "now uses", "used to be",
    "renamed from", "moved from", "was previously",
];

/// Looks for comments that leave something open.
pub(super) fn look_for_todos(subject: &Subject<'_>, _: &Scope) -> Seen {
    let is_todo = |_: &DiffedFile, _: usize, comment: &str| {
        let end = comment.find(|c: char| !c.is_alphanumeric()).unwrap_or(comment.len());
        matches!(&comment[..end], "TODO" | "FIXME")
    };
    look_for(subject, "Added comments leave something open", is_todo)
}

/// Looks for comments that tell what was before.
pub(super) fn look_for_history(subject: &Subject<'_>, _: &Scope) -> Seen {
    let tells_history = |file: &DiffedFile, number: usize, comment: &str| {
        let start: String = comment.chars().take(20).flat_map(char::to_lowercase).collect();
        let is_history = HISTORY.iter().any(|words| {
            start.strip_prefix(words).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        });
        is_history && begins(file, number)
    };
    look_for(subject, "Added comments tell history", tells_history)
}

fn look_for(
    subject: &Subject<'_>,
    what: &str,
    is_it: impl Fn(&DiffedFile, usize, &str) -> bool,
) -> Seen {
    on_plan(subject, |plan| {
        let mut found = Vec::new();
        for file in diffed(plan) {
            let Some(mark) = marks(&file.path) else { continue };
            for (number, line) in file.lines.iter().enumerate().filter(|(_, line)| line.is_added) {
                if comment(&line.text, mark).is_some_and(|comment| is_it(&file, number, comment)) {
                    let place = at(plan, line.line.unwrap_or(0));
                    found.push(format!("{} in {}{place}", quoted(&line.text), quoted(&file.path)));
                }
            }
        }
        Seen::under(what, found)
    })
}

/// Gives what begins a comment in a file.
fn marks(path: &str) -> Option<&'static str> {
    match ending(path).as_str() {
        "rs" | "go" | "js" | "mjs" | "cjs" | "ts" | "tsx" | "jsx" | "java" | "kt" | "c" | "h"
        | "cc" | "cpp" | "hpp" | "cs" | "php" | "swift" | "scala" | "zig" | "proto" | "scss" => {
            Some("//")
        }
        "py" | "pyi" | "rb" | "sh" | "bash" | "yaml" | "yml" | "toml" | "ex" | "exs" | "tf" => {
            Some("#")
        }
        "sql" | "lua" | "hs" => Some("--"),
        _ => None,
    }
}

/// Gives what a comment on a line says.
fn comment<'a>(line: &'a str, mark: &str) -> Option<&'a str> {
    let text = line.trim();
    let is_block = mark == "//" && (text.starts_with("/*") || text.starts_with("* "));
    let said = if text.starts_with(mark) || is_block {
        text
    } else {
        let at = text.find(&format!(" {mark} "))?;
        &text[at..]
    };
    Some(said.trim_start_matches([' ', '/', '*', '#', '!', '-']).trim_end())
}

/// Says whether a comment begins on a line, and does not go on from the one before.
fn begins(file: &DiffedFile, number: usize) -> bool {
    let Some(line) = file.lines.get(number).filter(|line| !line.follows_a_gap) else {
        return false;
    };
    let mark = marks(&file.path).unwrap_or("//");
    let own_line = |line: &DiffLine| {
        let text = line.text.trim_start();
        text.starts_with(mark)
            || (mark == "//" && (text.starts_with("* ") || text.starts_with("/*")))
    };
    let before = number.checked_sub(1).and_then(|at| file.lines.get(at));
    match before.filter(|before| own_line(before) && own_line(line)) {
        Some(before) => {
            let said = comment(&before.text, mark).unwrap_or("");
            said.is_empty() || said.ends_with(['.', '!', '?', ':'])
        }
        None => true,
    }
}
