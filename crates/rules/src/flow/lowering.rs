//! Helpers that the lowering of every language uses.

use super::form::{Constant, Expr, Node};
use crate::syntax::SyntaxNode;

/// The maximum nesting of code that is lowered.
pub(super) const MAX_LOWERING_DEPTH: usize = 200;

/// Returns the named children of a node without comments.
pub(super) fn named_children<'t>(node: &SyntaxNode<'t>) -> Vec<SyntaxNode<'t>> {
    let is_code = |child: &SyntaxNode<'_>| child.is_named() && !child.kind().contains("comment");
    node.children().filter(is_code).collect()
}

/// Returns the text of a node.
pub(super) fn text_of(node: &SyntaxNode<'_>) -> String {
    node.text().split_whitespace().collect()
}

/// Returns the first line of a node, from 1.
pub(super) fn line_of(node: &SyntaxNode<'_>) -> u32 {
    node.start_pos().line() as u32 + 1
}

/// Creates an expression at the place of a node.
pub(super) fn node(place: &SyntaxNode<'_>, expr: Expr) -> Node {
    Node { expr, line: line_of(place), span: place.range() }
}

/// Returns the last names of the functions that a body calls.
pub(super) fn calls_in(body: &SyntaxNode<'_>, kind: &str, field: &str) -> Vec<String> {
    let calls = body.dfs().filter(|inner| &*inner.kind() == kind);
    let mut names: Vec<String> = calls
        .filter_map(|call| {
            let name = text_of(&call.field(field)?);
            Some(name.rsplit('.').next().unwrap_or(&name).to_owned())
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Lowers an operator before one operand: `!` negates a condition, `-` an integer.
pub(super) fn lower_prefix_operator(operator: &str, operand: Node) -> Expr {
    match operand.expr {
        _ if operator == "!" => Expr::Not(Box::new(operand)),
        Expr::Constant(Constant::Integer(value)) if operator == "-" => {
            Expr::Constant(Constant::Integer(value.wrapping_neg()))
        }
        _ => Expr::Opaque(vec![operand]),
    }
}

/// Lowers `++` and `--`: the count changes, so that no constant stays.
pub(super) fn lower_count_change(expr: &SyntaxNode<'_>, target: Node) -> Expr {
    let value = node(expr, Expr::Opaque(Vec::new()));
    Expr::Assign(Box::new(target), Box::new(value))
}

/// The name of an argument that holds arguments of any names.
pub(super) const ANY_NAME: &str = "**";

/// The name of the method that calls a function that is a value.
pub(super) const CALLED_VALUE: &str = "<call>";

/// Lowers the arguments of a call that formats text, such as `fmt.Sprintf`, to the parts of the
/// text. Returns the arguments if the call does not format, or the format is not constant.
pub(super) fn formatted_text(mut arguments: Vec<Node>, is_format: bool) -> Result<Expr, Vec<Node>> {
    let format = arguments.first().filter(|_| is_format).and_then(|first| match &first.expr {
        Expr::Constant(Constant::Text(text)) => Some(text.clone()),
        _ => None,
    });
    let parts = format.as_deref().and_then(format_parts);
    let values = parts.iter().flatten().filter(|part| !matches!(part, FormatPart::Text(_))).count();
    let Some(parts) = parts.filter(|_| values + 1 == arguments.len()) else {
        return Err(arguments);
    };
    let first = arguments.remove(0);
    let mut values = arguments.into_iter();
    let nodes = parts.into_iter().filter_map(|part| {
        let (line, span) = (first.line, first.span.clone());
        match part {
            FormatPart::Text(text) => {
                Some(Node { expr: Expr::Constant(Constant::Text(text)), line, span })
            }
            FormatPart::Value => values.next(),
            FormatPart::Number => values.next().map(|value| {
                let (line, span) = (value.line, value.span.clone());
                Node { expr: Expr::Cast(Some("int".to_owned()), Box::new(value)), line, span }
            }),
        }
    });
    Ok(Expr::Text(nodes.collect()))
}

/// A part of a format.
enum FormatPart {
    Text(String),
    Value,
    Number,
}

/// Returns the parts of a format of `printf`; `None` if it names its arguments by position.
fn format_parts(format: &str) -> Option<Vec<FormatPart>> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        let verb =
            chars.by_ref().find(|c| !matches!(c, '0'..='9' | '+' | '-' | '#' | ' ' | '.'))?;
        match verb {
            '%' => text.push('%'),
            '*' | '[' | '$' | '<' | '{' | '(' => return None,
            _ => {
                parts.push(FormatPart::Text(std::mem::take(&mut text)));
                let is_number =
                    matches!(verb, 'd' | 'u' | 'x' | 'X' | 'o' | 'b' | 'f' | 'F' | 'e' | 't');
                parts.push(if is_number { FormatPart::Number } else { FormatPart::Value });
            }
        }
    }
    parts.push(FormatPart::Text(text));
    parts.retain(|part| !matches!(part, FormatPart::Text(text) if text.is_empty()));
    Some(parts)
}

/// Returns the parts of the text that a format with braces builds, from values with their names.
pub(super) fn brace_format_parts(
    place: &SyntaxNode<'_>,
    format: &str,
    values: Vec<(Option<String>, Node)>,
) -> Vec<Node> {
    let mut values: Vec<(Option<String>, Option<Node>)> =
        values.into_iter().map(|(name, value)| (name, Some(value))).collect();
    let constant = |text: String| node(place, Expr::Constant(Constant::Text(text)));
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut next = 0;
    let mut rest = format;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let sign = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(sign) {
            text.push_str(sign);
            rest = after;
            continue;
        }
        if sign == "}" {
            continue;
        }
        let Some((inside, after)) = rest.split_once('}') else { break };
        rest = after;
        let name = inside.split(':').next().unwrap_or_default().trim();
        parts.push(constant(std::mem::take(&mut text)));
        let position = match name.parse::<usize>() {
            Ok(at) => Some(at),
            Err(_) if name.is_empty() => {
                next += 1;
                Some(next - 1)
            }
            Err(_) => values.iter().position(|(own, _)| own.as_deref() == Some(name)),
        };
        let value = position.and_then(|at| values.get_mut(at)?.1.take());
        parts.push(match value {
            Some(value) => value,
            // A variable that the format names, or a value that it repeats.
            None if !name.is_empty() && name.parse::<usize>().is_err() => {
                node(place, Expr::Name(name.to_owned()))
            }
            None => node(place, Expr::Opaque(Vec::new())),
        });
    }
    text.push_str(rest);
    parts.push(constant(text));
    parts.retain(
        |own| !matches!(&own.expr, Expr::Constant(Constant::Text(text)) if text.is_empty()),
    );
    parts
}
