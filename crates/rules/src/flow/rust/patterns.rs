//! The variables that the patterns of Rust bind.

use crate::flow::form::{Constant, Expr, Node, Step};
use crate::flow::lowering::{MAX_LOWERING_DEPTH, named_children, node, text_of};
use crate::syntax::SyntaxNode;

use super::{RustLowering, simple_type};

impl RustLowering<'_, '_> {
    /// Returns the steps that bind the variables of a pattern to the parts of a value.
    /// `type_text` is the type of the value, if the code states one.
    pub(super) fn bind(
        &self,
        pattern: &SyntaxNode<'_>,
        value: Node,
        type_text: Option<&str>,
        level: usize,
    ) -> Vec<Step> {
        if level > MAX_LOWERING_DEPTH {
            return vec![Step::Evaluate(node(pattern, Expr::Unread))];
        }
        let children = || named_children(pattern);
        match &*pattern.kind() {
            "identifier" if is_variable(&pattern.text()) => {
                let type_name = type_text.map(simple_type);
                vec![Step::Declare { name: text_of(pattern), type_name, value: Some(value) }]
            }
            "ref_pattern" | "mut_pattern" | "reference_pattern" | "captured_pattern"
            | "match_pattern" => {
                // The name of a captured pattern stands first, and a guard behind a pattern.
                let inner = children();
                let at_end = matches!(&*pattern.kind(), "mut_pattern" | "ref_pattern");
                let inner = if at_end { inner.last() } else { inner.first() };
                inner.map(|own| self.bind(own, value, type_text, level + 1)).unwrap_or_default()
            }
            "or_pattern" => {
                let inner = children();
                let first = inner.first();
                first.map(|own| self.bind(own, value, None, level + 1)).unwrap_or_default()
            }
            "tuple_struct_pattern" => {
                let parts: Vec<SyntaxNode<'_>> = children().into_iter().skip(1).collect();
                let value = if is_path_part(pattern) { last_name(pattern, value) } else { value };
                self.bind_parts(pattern, &parts, value, type_text, level, false)
            }
            "tuple_pattern" | "slice_pattern" => {
                self.bind_parts(pattern, &children(), value, type_text, level, true)
            }
            "struct_pattern" => self.bind_fields(pattern, value, level),
            _ => vec![Step::Evaluate(value)],
        }
    }

    /// Binds the parts of a pattern: by their positions, or each to the whole value.
    fn bind_parts(
        &self,
        pattern: &SyntaxNode<'_>,
        parts: &[SyntaxNode<'_>],
        value: Node,
        type_text: Option<&str>,
        level: usize,
        by_position: bool,
    ) -> Vec<Step> {
        let (name, mut steps) = stored(pattern, value);
        let types = type_text.map(element_types).unwrap_or_default();
        for (at, part) in parts.iter().enumerate() {
            let whole = node(part, Expr::Name(name.clone()));
            let (value, own_type) = match by_position {
                true => {
                    let at_text = i64::try_from(at).unwrap_or_default();
                    let index = node(part, Expr::Constant(Constant::Integer(at_text)));
                    let value = Expr::Index(Box::new(whole), Box::new(index));
                    (node(part, value), types.get(at).map(String::as_str))
                }
                false => (whole, type_text),
            };
            steps.extend(self.bind(part, value, own_type, level + 1));
        }
        steps
    }

    fn bind_fields(&self, pattern: &SyntaxNode<'_>, value: Node, level: usize) -> Vec<Step> {
        let (name, mut steps) = stored(pattern, value);
        for field in named_children(pattern).iter().filter(|own| &*own.kind() == "field_pattern") {
            let Some(own) = field.field("name") else { continue };
            let whole = Box::new(node(field, Expr::Name(name.clone())));
            let value = node(field, Expr::Field(whole, text_of(&own)));
            match field.field("pattern") {
                Some(inner) => steps.extend(self.bind(&inner, value, None, level + 1)),
                None => steps.push(Step::Declare {
                    name: text_of(&own),
                    type_name: None,
                    value: Some(value),
                }),
            }
        }
        steps
    }
}

/// Returns true for the pattern of a part of a path that is neither its root nor `..`.
fn is_path_part(pattern: &SyntaxNode<'_>) -> bool {
    let name = pattern.field("type").map(|own| text_of(&own)).unwrap_or_default();
    matches!(name.as_str(), "Normal" | "Component::Normal" | "std::path::Component::Normal")
}

/// Returns the call that takes the last name of a path, which no part of a path changes.
fn last_name(pattern: &SyntaxNode<'_>, path: Node) -> Node {
    let name = "file_name".to_owned();
    let receiver = Some(Box::new(path));
    node(pattern, Expr::Call { receiver, name, arguments: Vec::new() })
}

/// Stores a value, so that all parts of a pattern can name it.
fn stored(pattern: &SyntaxNode<'_>, value: Node) -> (String, Vec<Step>) {
    if let Expr::Name(name) = &value.expr {
        return (name.clone(), Vec::new());
    }
    let name = format!("<value at {}>", pattern.range().start);
    let step = Step::Declare { name: name.clone(), type_name: None, value: Some(value) };
    (name, vec![step])
}

/// Returns true for the name of a variable; constants and variants have capitals.
pub(super) fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_lowercase() || c == '_')
}

/// Returns the types of the elements of a tuple.
fn element_types(text: &str) -> Vec<String> {
    let Some(inside) = text.strip_prefix('(').and_then(|own| own.strip_suffix(')')) else {
        return Vec::new();
    };
    let mut types = vec![String::new()];
    let mut depth = 0;
    for c in inside.chars() {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            _ => {}
        }
        match types.last_mut() {
            Some(own) if c != ',' || depth > 0 => own.push(c),
            _ => types.push(String::new()),
        }
    }
    types
}
