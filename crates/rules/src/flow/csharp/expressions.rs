//! Lowering of the expressions of C#.

use crate::flow::form::{
    Argument, BinaryOperator, ClosureParameter, Constant, Expr, Node, SelectArm,
};
use crate::flow::lowering::{
    MAX_LOWERING_DEPTH, lower_prefix_operator, named_children, node, text_of,
};
use crate::syntax::SyntaxNode;

use super::{child_of_kind, lower_body};

/// Returns the simple name of a type, without namespaces, type arguments and marks.
pub(super) fn simple_type(text: &str) -> String {
    let base = text.split('<').next().unwrap_or(text).trim();
    let base = base.rsplit(['.', ':']).next().unwrap_or(base);
    let base = base.trim_end_matches(['?', '[', ']', ',', ' ', '*', '!']).trim();
    match base {
        "string" => "String".to_owned(),
        other => other.to_owned(),
    }
}

/// Lowers an expression.
pub(super) fn lower_expr(expr: &SyntaxNode<'_>, level: usize) -> Node {
    if level > MAX_LOWERING_DEPTH {
        return node(expr, Expr::Unread);
    }
    let inner =
        |field: &str| expr.field(field).map(|inner| Box::new(lower_expr(&inner, level + 1)));
    let children = || lower_all(&named_children(expr), level);
    let lowered = match &*expr.kind() {
        "identifier" => Some(Expr::Name(text_of(expr))),
        "generic_name" | "predefined_type" | "nullable_type" => {
            Some(Expr::Name(simple_type(&expr.text())))
        }
        "this" | "base" => Some(Expr::This),
        "string_literal"
        | "verbatim_string_literal"
        | "raw_string_literal"
        | "character_literal" => Some(Expr::Constant(literal(&expr.kind(), &expr.text()))),
        "interpolated_string_expression" => Some(Expr::Text(text_parts(expr, level))),
        "integer_literal" => Some(integer(&expr.text())),
        "boolean_literal" => Some(Expr::Constant(Constant::Boolean(&*expr.text() == "true"))),
        "null_literal" => Some(Expr::Constant(Constant::Null)),
        // These wrap one expression.
        "parenthesized_expression"
        | "await_expression"
        | "checked_expression"
        | "constant_pattern"
        | "argument"
        | "ref_expression" => {
            let last = named_children(expr).pop();
            return match last {
                Some(child) => lower_expr(&child, level + 1),
                None => node(expr, Expr::Opaque(Vec::new())),
            };
        }
        "member_access_expression" => lower_member(expr, level),
        "qualified_name" | "alias_qualified_name" => Some(Expr::Name(simple_type(&expr.text()))),
        "conditional_access_expression" => lower_conditional_access(expr, level),
        "element_access_expression" => lower_element(expr, level),
        "invocation_expression" => lower_call(expr, level),
        "object_creation_expression" => {
            let name = expr.field("type").map(|own| simple_type(&own.text()));
            return lower_new(expr, name, level);
        }
        "implicit_object_creation_expression" => return lower_new(expr, None, level),
        "assignment_expression" => lower_assignment(expr, level),
        "binary_expression" => lower_binary(expr, level),
        "prefix_unary_expression" => lower_prefix(expr, level),
        // `value!` is the value; a count changes, so that no constant stays.
        "postfix_unary_expression" => named_children(expr).first().map(|target| {
            let own = lower_expr(target, level + 1);
            if expr.text().ends_with('!') {
                return own.expr;
            }
            let value = node(expr, Expr::Opaque(Vec::new()));
            Expr::Assign(Box::new(own), Box::new(value))
        }),
        "conditional_expression" => {
            match (inner("condition"), inner("consequence"), inner("alternative")) {
                (Some(condition), Some(then), Some(otherwise)) => {
                    Some(Expr::Ternary(condition, then, otherwise))
                }
                _ => None,
            }
        }
        "cast_expression" => {
            let name = expr.field("type").map(|own| simple_type(&own.text()));
            inner("value").map(|value| Expr::Cast(name, value))
        }
        "as_expression" => {
            let name = expr.field("right").map(|own| simple_type(&own.text()));
            inner("left").map(|value| Expr::Cast(name, value))
        }
        "is_pattern_expression" => lower_pattern(expr, level),
        "is_expression" | "typeof_expression" | "sizeof_expression" | "default_expression"
        | "real_literal" => Some(Expr::Opaque(Vec::new())),
        "lambda_expression" | "anonymous_method_expression" => Some(lower_lambda(expr, level)),
        "initializer_expression"
        | "tuple_expression"
        | "element_binding_expression"
        | "tuple_pattern"
        | "collection_expression" => Some(Expr::List(children())),
        "array_creation_expression" | "implicit_array_creation_expression" => {
            let values = named_children(expr);
            let values = values.iter().find(|child| &*child.kind() == "initializer_expression");
            Some(match values {
                Some(values) => Expr::List(lower_all(&named_children(values), level)),
                None => Expr::Opaque(Vec::new()),
            })
        }
        "anonymous_object_creation_expression" => Some(lower_anonymous_object(expr, level)),
        "declaration_expression" => expr.field("name").map(|name| Expr::Name(text_of(&name))),
        "switch_expression" => lower_switch(expr, level),
        _ => None,
    };
    node(expr, lowered.unwrap_or_else(|| Expr::Mixed(children())))
}

fn lower_all(children: &[SyntaxNode<'_>], level: usize) -> Vec<Node> {
    children.iter().map(|child| lower_expr(child, level + 1)).collect()
}

/// Lowers the access to a member. A type with its namespace becomes its simple name.
fn lower_member(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let name = simple_type(&expr.field("name")?.text());
    let object = expr.field("expression")?;
    let is_namespace = is_namespace(&text_of(&object));
    if is_namespace && name.starts_with(|c: char| c.is_ascii_uppercase()) {
        return Some(Expr::Name(name));
    }
    Some(Expr::Field(Box::new(lower_expr(&object, level + 1)), name))
}

/// Returns true for the namespaces of .NET that code writes before the names of types.
fn is_namespace(text: &str) -> bool {
    const FIRST: [&str; 4] = ["System", "Microsoft", "Newtonsoft", "MySql"];
    let first = text.split('.').next().unwrap_or(text);
    FIRST.contains(&first)
}

/// Lowers `a?.b`, `a?.b(…)` and `a?[i]` as if `a` had a value.
fn lower_conditional_access(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let owner = expr.field("condition")?;
    let rest =
        named_children(expr).into_iter().rfind(|child| child.node_id() != owner.node_id())?;
    let owner = lower_expr(&owner, level + 1);
    Some(bind_member(owner, &rest, level).expr)
}

/// Applies the part behind `?` to a value.
fn bind_member(owner: Node, rest: &SyntaxNode<'_>, level: usize) -> Node {
    if level > MAX_LOWERING_DEPTH {
        return node(rest, Expr::Unread);
    }
    let lowered = match &*rest.kind() {
        "member_binding_expression" => {
            let name = rest.field("name").map(|name| simple_type(&name.text()));
            Expr::Field(Box::new(owner), name.unwrap_or_default())
        }
        "element_binding_expression" => {
            let index = named_children(rest).first().map(|index| lower_expr(index, level + 1));
            let index = index.unwrap_or_else(|| node(rest, Expr::Opaque(Vec::new())));
            Expr::Index(Box::new(owner), Box::new(index))
        }
        "member_access_expression" => match (rest.field("expression"), rest.field("name")) {
            (Some(object), Some(name)) => {
                let object = bind_member(owner, &object, level + 1);
                Expr::Field(Box::new(object), simple_type(&name.text()))
            }
            _ => return owner,
        },
        "invocation_expression" => match rest.field("function") {
            Some(function) => {
                let callee = bind_member(owner, &function, level + 1);
                called(callee, lower_arguments(rest, level))
            }
            None => return owner,
        },
        _ => return owner,
    };
    node(rest, lowered)
}

/// Returns the call of a lowered function.
fn called(callee: Node, arguments: Vec<Argument>) -> Expr {
    match callee.expr {
        Expr::Field(receiver, name) => Expr::Call { receiver: Some(receiver), name, arguments },
        Expr::Name(name) => Expr::Call { receiver: None, name, arguments },
        _ => {
            let values = arguments.into_iter().map(|argument| argument.value);
            Expr::Mixed(std::iter::once(callee).chain(values).collect())
        }
    }
}

/// Lowers the access to an element. The request of classic ASP.NET has values as elements.
fn lower_element(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let owner = expr.field("expression")?;
    let is_request = text_of(&owner).rsplit('.').next() == Some("Request");
    let owner = Box::new(lower_expr(&owner, level + 1));
    let values = named_children(&expr.field("subscript")?);
    let mut indexes = lower_all(&values, level);
    if is_request {
        let of = |value| Argument { name: None, value };
        let arguments = indexes.into_iter().map(of).collect();
        return Some(Expr::Call { receiver: Some(owner), name: "get_Item".to_owned(), arguments });
    }
    let index = indexes.pop()?;
    Some(Expr::Index(owner, Box::new(index)))
}

fn lower_call(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let function = expr.field("function")?;
    if &*function.kind() == "conditional_access_expression" {
        let owner = function.field("condition")?;
        let parts = named_children(&function);
        let rest = parts.into_iter().rfind(|child| child.node_id() != owner.node_id())?;
        let callee = bind_member(lower_expr(&owner, level + 1), &rest, level);
        return Some(called(callee, lower_arguments(expr, level)));
    }
    if &*function.text() == "nameof" {
        return Some(Expr::Opaque(Vec::new()));
    }
    // The name of a method is no type, so its receiver is no namespace.
    let callee = match (function.field("expression"), function.field("name")) {
        (Some(object), Some(name)) if &*function.kind() == "member_access_expression" => {
            let object = Box::new(lower_expr(&object, level + 1));
            node(&function, Expr::Field(object, simple_type(&name.text())))
        }
        _ => lower_expr(&function, level + 1),
    };
    Some(called(callee, lower_arguments(expr, level)))
}

fn lower_arguments(expr: &SyntaxNode<'_>, level: usize) -> Vec<Argument> {
    let list = expr.field("arguments").or_else(|| child_of_kind(expr, "argument_list"));
    let arguments = list.map(|list| named_children(&list)).unwrap_or_default();
    arguments
        .iter()
        .map(|argument| Argument {
            name: argument.field("name").map(|name| text_of(&name)),
            value: lower_expr(argument, level + 1),
        })
        .collect()
}

/// Lowers the creation of an object; the members that are set with it are arguments with names.
pub(super) fn lower_new(expr: &SyntaxNode<'_>, type_name: Option<String>, level: usize) -> Node {
    let mut arguments = lower_arguments(expr, level);
    let initializer = child_of_kind(expr, "initializer_expression");
    for value in initializer.map(|own| named_children(&own)).unwrap_or_default() {
        let assigned = (&*value.kind() == "assignment_expression")
            .then(|| value.field("left").zip(value.field("right")))
            .flatten();
        let (name, value) = match assigned {
            Some((left, right)) => {
                // The key of an element is no name.
                let is_member = &*left.kind() == "identifier";
                let name = if is_member { text_of(&left) } else { "[]".to_owned() };
                (name, right)
            }
            None => ("[]".to_owned(), value),
        };
        arguments.push(Argument { name: Some(name), value: lower_expr(&value, level + 1) });
    }
    let type_name = type_name.unwrap_or_default();
    node(expr, Expr::New { type_name, arguments })
}

fn lower_anonymous_object(expr: &SyntaxNode<'_>, level: usize) -> Expr {
    let children = named_children(expr);
    let mut items = Vec::new();
    let mut at = 0;
    while let Some(child) = children.get(at) {
        let is_named = child.next().is_some_and(|next| &*next.text() == "=");
        let value = if is_named { children.get(at + 1).unwrap_or(child) } else { child };
        let name = text_of(child).rsplit('.').next().unwrap_or_default().to_owned();
        let key = node(child, Expr::Constant(Constant::Text(name)));
        items.push((key, lower_expr(value, level + 1)));
        at += if is_named { 2 } else { 1 };
    }
    Expr::Map(items)
}

fn lower_assignment(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let left = Box::new(lower_expr(&expr.field("left")?, level + 1));
    let right = Box::new(lower_expr(&expr.field("right")?, level + 1));
    let is_plain = expr.children().any(|child| &*child.text() == "=");
    Some(if is_plain { Expr::Assign(left, right) } else { Expr::Extend(left, right) })
}

fn lower_binary(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let left = Box::new(lower_expr(&expr.field("left")?, level + 1));
    let right = Box::new(lower_expr(&expr.field("right")?, level + 1));
    let operator = BinaryOperator::of_sign(&expr.field("operator")?.text());
    Some(Expr::Binary(operator, left, right))
}

fn lower_prefix(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let operand = lower_expr(named_children(expr).first()?, level + 1);
    Some(lower_prefix_operator(&expr.children().next()?.text(), operand))
}

/// Lowers `value is "a" or "b"` to comparisons; other patterns carry no data.
fn lower_pattern(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let value = expr.field("expression")?;
    let pattern = expr.field("pattern")?;
    let mut constants = Vec::new();
    if !collect_alternatives(&pattern, &mut constants, level) {
        return Some(Expr::Opaque(vec![lower_expr(&value, level + 1)]));
    }
    let value = Box::new(lower_expr(&value, level + 1));
    let list = node(&pattern, Expr::List(constants));
    Some(Expr::Binary(BinaryOperator::In, value, Box::new(list)))
}

/// Collects the constants of a pattern; returns false if the pattern has other parts.
fn collect_alternatives(pattern: &SyntaxNode<'_>, into: &mut Vec<Node>, level: usize) -> bool {
    match &*pattern.kind() {
        "constant_pattern" => {
            into.push(lower_expr(pattern, level + 1));
            true
        }
        "or_pattern" if level < MAX_LOWERING_DEPTH => {
            let parts = named_children(pattern);
            parts.iter().all(|part| collect_alternatives(part, into, level + 1))
        }
        _ => false,
    }
}

fn lower_switch(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let children = named_children(expr);
    let subject = lower_expr(children.first()?, level + 1);
    let arms = children.iter().filter(|child| &*child.kind() == "switch_expression_arm");
    let arms = arms.filter_map(|arm| {
        let parts = named_children(arm);
        let (pattern, value) = (parts.first()?, parts.last()?);
        let is_constant = &*pattern.kind() == "constant_pattern";
        let label = is_constant.then(|| lower_expr(pattern, level + 1));
        let value = lower_expr(value, level + 1);
        Some(SelectArm { labels: label.into_iter().collect(), value })
    });
    Some(Expr::Select(Box::new(subject), arms.collect()))
}

fn lower_lambda(expr: &SyntaxNode<'_>, level: usize) -> Expr {
    let parameters = expr.field("parameters").map(|list| match &*list.kind() {
        "parameter_list" => {
            let parameters = named_children(&list);
            let of = |own: &SyntaxNode<'_>| {
                let type_name = own.field("type").map(|own| simple_type(&own.text()));
                Some(ClosureParameter { name: text_of(&own.field("name")?), type_name })
            };
            parameters.iter().filter_map(of).collect()
        }
        _ => vec![ClosureParameter::untyped(text_of(&list))],
    });
    let body = expr.field("body").map(|body| lower_body(&body, level + 1));
    Expr::Lambda(parameters.unwrap_or_default(), body.unwrap_or_default())
}

fn text_parts(expr: &SyntaxNode<'_>, level: usize) -> Vec<Node> {
    let is_raw = !expr.text().starts_with("$\"");
    let parts = named_children(expr).into_iter();
    parts
        .filter_map(|part| match &*part.kind() {
            "string_content" => {
                let text = part.text();
                let text = if is_raw { text.into_owned() } else { unescape(&text) };
                Some(node(&part, Expr::Constant(Constant::Text(text))))
            }
            "escape_sequence" => {
                Some(node(&part, Expr::Constant(Constant::Text(unescape(&part.text())))))
            }
            "interpolation" => {
                let values = named_children(&part);
                let mut values =
                    values.iter().filter(|own| !own.kind().starts_with("interpolation_"));
                values.next().map(|value| lower_expr(value, level + 1))
            }
            _ => None,
        })
        .collect()
}

fn integer(text: &str) -> Expr {
    let digits = text.trim_end_matches(['l', 'L', 'u', 'U']).replace('_', "");
    match digits.parse() {
        Ok(value) => Expr::Constant(Constant::Integer(value)),
        Err(_) => Expr::Opaque(Vec::new()),
    }
}

fn literal(kind: &str, text: &str) -> Constant {
    let inside = text.trim_start_matches('@').trim_end_matches("u8");
    match kind {
        "raw_string_literal" => Constant::Text(inside.trim_matches('"').to_owned()),
        "verbatim_string_literal" => {
            let inside = inside.strip_prefix('"').and_then(|own| own.strip_suffix('"'));
            Constant::Text(inside.unwrap_or_default().replace("\"\"", "\""))
        }
        "character_literal" => {
            let inside = unescape(inside.trim_matches('\''));
            Constant::Character(inside.chars().next().unwrap_or('\''))
        }
        _ => {
            let inside = inside.strip_prefix('"').and_then(|own| own.strip_suffix('"'));
            Constant::Text(unescape(inside.unwrap_or_default()))
        }
    }
}

/// Replaces the common escapes; others stay as they are written.
fn unescape(text: &str) -> String {
    let pairs = [("\\n", "\n"), ("\\t", "\t"), ("\\\"", "\""), ("\\'", "'"), ("\\\\", "\\")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
