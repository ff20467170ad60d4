//! The arguments of macros, which the grammar leaves as tokens: [`MacroArguments`].
//!
//! A copy of the file with nothing but the arguments, each as a statement at its own place, is
//! parsed once more. Macros inside of arguments need another copy each.

use std::collections::HashMap;
use std::ops::Range;

use crate::flow::form::{Constant, Expr, Node};
use crate::flow::lowering::{brace_format_parts, node, text_of};
use crate::language::Language;
use crate::syntax::{Syntax, SyntaxNode};

use super::RustLowering;

/// The maximum nesting of macros.
const MAX_NESTING: usize = 3;

/// The macros that build text, with the position of their format.
const FORMATS: [(&str, usize); 14] = [
    ("format", 0),
    ("print", 0),
    ("println", 0),
    ("eprint", 0),
    ("eprintln", 0),
    ("write", 1),
    ("writeln", 1),
    ("format_args", 0),
    ("trace", 0),
    ("debug", 0),
    ("info", 0),
    ("warn", 0),
    ("error", 0),
    ("panic", 0),
];

/// The parsed copies of a file with the arguments of its macros.
pub(super) struct MacroTexts(Vec<Syntax>);

impl MacroTexts {
    pub(super) fn new(syntax: &Syntax, text: &str) -> MacroTexts {
        let mut copies: Vec<Syntax> = Vec::new();
        for _ in 0..MAX_NESTING {
            let ranges: Vec<Range<usize>> = {
                let root = copies.last().unwrap_or(syntax).root();
                let macros = root.dfs().filter(|own| &*own.kind() == "macro_invocation");
                macros.flat_map(|own| arguments_of(&own)).collect()
            };
            if ranges.is_empty() {
                break;
            }
            let Some(copy) = Syntax::parse(Language::Rust, &only(text, &ranges)) else { break };
            copies.push(copy);
        }
        MacroTexts(copies)
    }
}

/// Returns a text with blanks in place of everything but some ranges, each with a `;` behind it.
fn only(text: &str, ranges: &[Range<usize>]) -> String {
    let bytes = text.as_bytes();
    let blank = |byte: &u8| if *byte == b'\n' { b'\n' } else { b' ' };
    let mut out: Vec<u8> = bytes.iter().map(blank).collect();
    for range in ranges {
        if let (Some(own), Some(from)) = (out.get_mut(range.clone()), bytes.get(range.clone())) {
            own.copy_from_slice(from);
        }
        if let Some(end) = out.get_mut(range.end) {
            *end = b';';
        }
    }
    String::from_utf8(out).unwrap_or_default()
}

/// Returns the places of the arguments of a macro, between its commas.
fn arguments_of(invocation: &SyntaxNode<'_>) -> Vec<Range<usize>> {
    let Some(tree) = invocation.children().find(|child| &*child.kind() == "token_tree") else {
        return Vec::new();
    };
    let parts: Vec<SyntaxNode<'_>> = tree.children().collect();
    let [open, inside @ .., _] = parts.as_slice() else { return Vec::new() };
    if &*open.text() == "{" {
        return Vec::new();
    }
    let groups = inside.split(|part| &*part.text() == ",");
    groups
        .filter_map(|group| Some(group.first()?.range().start..group.last()?.range().end))
        .collect()
}

/// The arguments of the macros of a file, by their places.
pub(super) struct MacroArguments<'t> {
    by_place: HashMap<usize, SyntaxNode<'t>>,
}

impl<'t> MacroArguments<'t> {
    /// Collects the arguments.
    pub(super) fn new(texts: &'t MacroTexts) -> MacroArguments<'t> {
        let mut by_place = HashMap::new();
        for copy in &texts.0 {
            for statement in copy.root().children() {
                let is_whole = &*statement.kind() == "expression_statement";
                if let Some(own) = statement.children().next().filter(|_| is_whole) {
                    by_place.entry(own.range().start).or_insert(own);
                }
            }
        }
        MacroArguments { by_place }
    }
}

impl RustLowering<'_, '_> {
    /// Lowers a macro: text that it builds, a list, or its arguments.
    pub(super) fn macro_call(&self, expr: &SyntaxNode<'_>, level: usize) -> Expr {
        let name = expr.field("macro").map(|own| text_of(&own)).unwrap_or_default();
        let name = name.rsplit("::").next().unwrap_or(&name).to_owned();
        let places = arguments_of(expr);
        let values: Vec<(Option<String>, Node)> =
            places.iter().map(|place| self.macro_argument(expr, place.start, level)).collect();
        if let Some((_, at)) = FORMATS.iter().find(|(own, _)| *own == name) {
            return format_call(expr, &name, *at, values);
        }
        let nodes: Vec<Node> = values.into_iter().map(|(_, value)| value).collect();
        match name.as_str() {
            "vec" => Expr::List(nodes),
            "concat" => Expr::Text(nodes),
            "matches" | "assert" | "assert_eq" | "assert_ne" | "debug_assert" => {
                Expr::Opaque(nodes)
            }
            _ => Expr::Mixed(nodes),
        }
    }

    /// Lowers an argument of a macro, with the name that the argument may have.
    fn macro_argument(
        &self,
        expr: &SyntaxNode<'_>,
        start: usize,
        level: usize,
    ) -> (Option<String>, Node) {
        let Some(own) = self.arguments.by_place.get(&start) else {
            return (None, node(expr, Expr::Opaque(Vec::new())));
        };
        let named = (&*own.kind() == "assignment_expression")
            .then(|| own.field("left").zip(own.field("right")))
            .flatten();
        match named {
            Some((name, value)) => (Some(text_of(&name)), self.expr(&value, level + 1)),
            None => (None, self.expr(own, level + 1)),
        }
    }
}

/// Lowers a macro that builds text from a format.
fn format_call(
    expr: &SyntaxNode<'_>,
    name: &str,
    at: usize,
    values: Vec<(Option<String>, Node)>,
) -> Expr {
    let mut values = values;
    let rest = values.split_off(at.min(values.len()));
    let writer = values.pop().map(|(_, writer)| Box::new(writer));
    let mut rest = rest.into_iter();
    let format = rest.next().map(|(_, format)| format);
    let text = match format {
        Some(Node { expr: Expr::Constant(Constant::Text(format)), .. }) => {
            Expr::Text(brace_format_parts(expr, &format, rest.collect()))
        }
        _ => Expr::Mixed(rest.map(|(_, value)| value).collect()),
    };
    let text = node(expr, text);
    match name {
        "format" | "format_args" => text.expr,
        _ => {
            let arguments = vec![crate::flow::form::Argument { name: None, value: text }];
            Expr::Call { receiver: writer, name: format!("{name}!"), arguments }
        }
    }
}
