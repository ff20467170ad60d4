//! Notebooks of Jupyter: [`code`] keeps the code cells, as one program of Python.
//!
//! A line of code is a string of JSON on a line of its own. An escape becomes its character and
//! blanks, so that all bytes behind it keep their places. All lines are indented in the same way;
//! an `if` before them makes the indentation valid.

use ast_grep_core::tree_sitter::StrDoc;
use ast_grep_core::{AstGrep, Node};

use crate::language::Language;

use super::BlankCopy;

/// A node of the JSON of a notebook.
type JsonNode<'t> = Node<'t, StrDoc<Language>>;

/// The condition around the program, which always holds.
const HEAD: &[u8] = b"if 1:";

/// Returns the code cells of a notebook, each line at its place; `None` if the notebook has no
/// cells of Python, or its lines of code are not on lines of their own.
pub(super) fn code(text: &str) -> Option<String> {
    let json = AstGrep::try_new(text, Language::Json).ok()?;
    let root = json.root().children().find(|own| &*own.kind() == "object")?;
    if !is_python(&root) {
        return None;
    }
    let cells = member(&root, "cells")?;
    let mut copy = BlankCopy::new(text);
    let mut first_column: Option<usize> = None;
    let mut head_end = usize::MAX;
    for cell in cells.children().filter(|own| &*own.kind() == "object") {
        let is_code = member(&cell, "cell_type").is_some_and(|own| &*own.text() == "\"code\"");
        let Some(source) = member(&cell, "source").filter(|_| is_code) else { continue };
        let lines: Vec<JsonNode<'_>> = match &*source.kind() {
            "array" => source.children().filter(|own| &*own.kind() == "string").collect(),
            _ => vec![source],
        };
        if lines.first().is_some_and(|line| line.text().starts_with("\"%%")) {
            continue;
        }
        for line in &lines {
            let column = line.start_pos().byte_point().1;
            if *first_column.get_or_insert(column) != column || has_inner_line_end(&line.text()) {
                return None;
            }
            head_end = head_end.min(line.range().start - column);
            keep_line(&mut copy, line);
        }
    }
    // The condition stands on a line before the first line of code.
    let before = text.get(..head_end)?;
    let mut starts = before.rmatch_indices('\n').map(|(at, _)| at + 1).chain([0]);
    let place = starts.find(|at| {
        let line = before[*at..].split('\n').next().unwrap_or_default();
        line.len() >= HEAD.len()
    });
    copy.write(place?, HEAD);
    Some(copy.into_text())
}

/// Returns the value of a member of an object.
fn member<'t>(object: &JsonNode<'t>, name: &str) -> Option<JsonNode<'t>> {
    let pairs = object.children().filter(|own| &*own.kind() == "pair");
    let is_it = |own: &JsonNode<'_>| {
        own.field("key").is_some_and(|key| key.text().trim_matches('"') == name)
    };
    pairs.into_iter().find(is_it)?.field("value")
}

/// Returns true if the kernel of a notebook runs Python; most notebooks that state none do.
fn is_python(root: &JsonNode<'_>) -> bool {
    let Some(metadata) = member(root, "metadata") else { return true };
    let kernel = member(&metadata, "kernelspec").and_then(|own| member(&own, "language"));
    let info = member(&metadata, "language_info").and_then(|own| member(&own, "name"));
    kernel.or(info).is_none_or(|own| own.text().to_ascii_lowercase().contains("python"))
}

/// Returns true if a string holds more than one line of code.
fn has_inner_line_end(text: &str) -> bool {
    let inside = text.trim_matches('"');
    let inside = inside.strip_suffix("\\n").unwrap_or(inside);
    let mut escaped = false;
    inside.chars().any(|c| {
        let is_end = escaped && c == 'n';
        escaped = c == '\\' && !escaped;
        is_end
    })
}

/// Copies a line of code without its quotes, and each escape as its character.
fn keep_line(copy: &mut BlankCopy<'_>, line: &JsonNode<'_>) {
    let start = line.range().start + 1;
    let text = line.text();
    let inside = text.strip_prefix('"').and_then(|own| own.strip_suffix('"')).unwrap_or_default();
    let code = inside.trim_start();
    if code.starts_with(['!', '%']) {
        // A command of the notebook stands where a statement may stand.
        let at = start + inside.len() - code.len();
        if code.len() >= 4 {
            copy.write(at, b"pass");
        }
        return;
    }
    copy.keep(start, start + inside.len());
    let bytes = inside.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        let next = bytes.get(at + 1).copied().unwrap_or(b' ');
        let (length, written): (usize, &[u8]) = match next {
            b'"' => (2, b"\" "),
            b'\\' => (2, b" \\"),
            b'/' => (2, b"/ "),
            b'u' => (6, b"    ? "),
            _ => (2, b"  "),
        };
        let length = length.min(bytes.len() - at);
        copy.write(start + at, &written[..length]);
        at += length;
    }
}
