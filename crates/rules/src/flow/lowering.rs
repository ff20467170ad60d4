//! Helpers that the lowering of every language uses.

use super::form::{Expr, Node};
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
