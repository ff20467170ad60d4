//! Lowering of the expressions of Kotlin.

use super::parameters::lower_parameters;
use super::{child_of_kind, lower_body, lower_jump, name_of, simple_type, type_of, value_of};
use crate::flow::form::{
    Argument, BinaryOperator, ClosureParameter, Constant, Expr, Node, SelectArm, Step,
};
use crate::flow::lowering::{
    MAX_LOWERING_DEPTH, lower_prefix_operator, named_children, node, text_of,
};
use crate::syntax::SyntaxNode;

/// The name of the parameter of a closure that names none.
const IMPLICIT_PARAMETER: &str = "it";

/// Lowers an expression.
pub(super) fn lower_expr(expr: &SyntaxNode<'_>, level: usize) -> Node {
    if level > MAX_LOWERING_DEPTH {
        return node(expr, Expr::Unread);
    }
    let lowered = match &*expr.kind() {
        "simple_identifier" | "interpolated_identifier" | "type_identifier" => {
            Some(Expr::Name(text_of(expr)))
        }
        "user_type" => Some(Expr::Name(simple_type(&expr.text()))),
        "this_expression" | "super_expression" => Some(Expr::This),
        "string_literal" => Some(lower_text(expr, level)),
        "integer_literal" => Some(integer(&expr.text())),
        "long_literal" => Some(integer(expr.text().trim_end_matches(['L', 'l']))),
        "boolean_literal" => Some(Expr::Constant(Constant::Boolean(&*expr.text() == "true"))),
        "null_literal" => Some(Expr::Constant(Constant::Null)),
        "character_literal" => {
            let text = expr.text();
            let letter = text.trim_matches('\'').chars().next().unwrap_or('\'');
            Some(Expr::Constant(Constant::Character(letter)))
        }
        "parenthesized_expression"
        | "interpolated_expression"
        | "value_argument"
        | "when_condition"
        | "spread_expression" => {
            return match named_children(expr).last() {
                Some(inner) => lower_expr(inner, level + 1),
                None => node(expr, Expr::Opaque(Vec::new())),
            };
        }
        "navigation_expression" => lower_navigation(expr, level),
        "indexing_expression" => lower_index(expr, level),
        "call_expression" => lower_call(expr, level),
        "postfix_expression" => lower_postfix(expr, level),
        "prefix_expression" => lower_prefix(expr, level),
        "additive_expression"
        | "multiplicative_expression"
        | "comparison_expression"
        | "equality_expression"
        | "conjunction_expression"
        | "disjunction_expression" => lower_binary(expr, level),
        "elvis_expression" => lower_elvis(expr, level),
        "check_expression" => lower_check(expr, level),
        "range_expression" | "callable_reference" | "real_literal" | "hex_literal"
        | "bin_literal" | "unsigned_literal" => Some(Expr::Opaque(lower_all(expr, level))),
        "as_expression" => named_children(expr)
            .first()
            .map(|value| Expr::Cast(type_of(expr), Box::new(lower_expr(value, level + 1)))),
        "infix_expression" => Some(lower_infix(expr, level)),
        "if_expression" => lower_if(expr, level),
        "when_expression" => Some(lower_when(expr, level)),
        "try_expression" => Some(lower_try(expr, level)),
        "jump_expression" => Some(Expr::Block(lower_jump(expr, level), None)),
        "lambda_literal" | "anonymous_function" => return closure(expr, level),
        "object_literal" => Some(Expr::Opaque(Vec::new())),
        "collection_literal" => Some(Expr::List(lower_all(expr, level))),
        "annotated_lambda" | "labeled_expression" => {
            return match named_children(expr).last() {
                Some(inner) => lower_expr(inner, level + 1),
                None => node(expr, Expr::Opaque(Vec::new())),
            };
        }
        _ => None,
    };
    node(expr, lowered.unwrap_or_else(|| Expr::Mixed(lower_all(expr, level))))
}

fn lower_all(expr: &SyntaxNode<'_>, level: usize) -> Vec<Node> {
    named_children(expr).iter().map(|child| lower_expr(child, level + 1)).collect()
}

/// Lowers the place on the left of an assignment.
pub(super) fn target(place: &SyntaxNode<'_>, level: usize) -> Node {
    if &*place.kind() != "directly_assignable_expression" || level > MAX_LOWERING_DEPTH {
        return lower_expr(place, level);
    }
    let children = named_children(place);
    let Some(first) = children.first() else { return node(place, Expr::Opaque(Vec::new())) };
    children.iter().skip(1).fold(lower_expr(first, level + 1), |owner, suffix| {
        node(place, with_suffix(owner, suffix, level))
    })
}

/// Applies `.name` or `[index]` to a value.
fn with_suffix(owner: Node, suffix: &SyntaxNode<'_>, level: usize) -> Expr {
    match &*suffix.kind() {
        "indexing_suffix" => {
            let index = named_children(suffix).first().map(|own| lower_expr(own, level + 1));
            let index = index.unwrap_or_else(|| node(suffix, Expr::Opaque(Vec::new())));
            Expr::Index(Box::new(owner), Box::new(index))
        }
        _ => Expr::Field(Box::new(owner), name_of(suffix).unwrap_or_default()),
    }
}

fn lower_navigation(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let children = named_children(expr);
    let (owner, suffix) = (children.first()?, children.last()?);
    let name = name_of(suffix)?;
    let text = text_of(owner);
    // A class with its package becomes its simple name.
    let is_package = text.contains('.') && text.chars().all(|c| c.is_ascii_lowercase() || c == '.');
    if is_package && name.starts_with(|c: char| c.is_ascii_uppercase()) {
        return Some(Expr::Name(name));
    }
    Some(Expr::Field(Box::new(lower_expr(owner, level + 1)), name))
}

fn lower_index(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let children = named_children(expr);
    let owner = lower_expr(children.first()?, level + 1);
    Some(with_suffix(owner, children.last()?, level))
}

/// Lowers a call; a name with a capital is a class, whose constructor is called.
fn lower_call(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let children = named_children(expr);
    let callee = lower_expr(children.first()?, level + 1);
    let suffix = child_of_kind(expr, "call_suffix");
    let arguments = suffix.map(|suffix| lower_arguments(&suffix, level)).unwrap_or_default();
    Some(match callee.expr {
        Expr::Name(name) if name.starts_with(|c: char| c.is_ascii_uppercase()) => {
            Expr::New { type_name: name, arguments }
        }
        Expr::Name(name) => Expr::Call { receiver: None, name, arguments },
        Expr::Field(receiver, name) => Expr::Call { receiver: Some(receiver), name, arguments },
        _ => {
            let values = arguments.into_iter().map(|argument| argument.value);
            Expr::Mixed(std::iter::once(callee).chain(values).collect())
        }
    })
}

fn lower_arguments(suffix: &SyntaxNode<'_>, level: usize) -> Vec<Argument> {
    let mut arguments = Vec::new();
    for part in named_children(suffix) {
        match &*part.kind() {
            "value_arguments" => {
                for argument in named_children(&part) {
                    let is_named = argument.children().any(|child| &*child.text() == "=");
                    let name = if is_named { name_of(&argument) } else { None };
                    arguments.push(Argument { name, value: lower_expr(&argument, level + 1) });
                }
            }
            "annotated_lambda" => {
                arguments.push(Argument { name: None, value: lower_expr(&part, level + 1) });
            }
            _ => {}
        }
    }
    arguments
}

/// Lowers `value!!`, which is the value, and counts, after which no constant stays.
fn lower_postfix(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let own = lower_expr(named_children(expr).first()?, level + 1);
    if expr.text().ends_with("!!") {
        return Some(own.expr);
    }
    let value = Box::new(node(expr, Expr::Opaque(Vec::new())));
    Some(Expr::Assign(Box::new(own), value))
}

fn lower_prefix(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let operand = lower_expr(named_children(expr).last()?, level + 1);
    Some(lower_prefix_operator(&expr.children().next()?.text(), operand))
}

fn lower_binary(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let children = named_children(expr);
    let (left, right) = (children.first()?, children.last()?);
    let sign = expr.children().find(|child| !child.is_named());
    let operator = match &*sign?.text() {
        "===" => BinaryOperator::Equal,
        "!==" => BinaryOperator::NotEqual,
        sign => BinaryOperator::of_sign(sign),
    };
    let left = Box::new(lower_expr(left, level + 1));
    let right = Box::new(lower_expr(right, level + 1));
    Some(Expr::Binary(operator, left, right))
}

/// Lowers `a ?: b`: either value is possible.
fn lower_elvis(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let children = named_children(expr);
    let left = Box::new(lower_expr(children.first()?, level + 1));
    let right = Box::new(lower_expr(children.last()?, level + 1));
    Some(Expr::Ternary(Box::new(node(expr, Expr::Opaque(Vec::new()))), left, right))
}

/// Lowers `a in b`; checks of types carry no data.
fn lower_check(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let children = named_children(expr);
    let signs: Vec<String> =
        expr.children().filter(|child| !child.is_named()).map(|child| text_of(&child)).collect();
    let has = |sign: &str| signs.iter().any(|own| own == sign);
    if !has("in") {
        return Some(Expr::Opaque(lower_all(expr, level)));
    }
    let left = Box::new(lower_expr(children.first()?, level + 1));
    let right = Box::new(lower_expr(children.last()?, level + 1));
    let check = Expr::Binary(BinaryOperator::In, left, right);
    Some(if has("!") { Expr::Not(Box::new(node(expr, check))) } else { check })
}

/// Lowers a call of a function between its operands.
fn lower_infix(expr: &SyntaxNode<'_>, level: usize) -> Expr {
    let children = named_children(expr);
    let [left, name, right] = children.as_slice() else {
        return Expr::Mixed(lower_all(expr, level));
    };
    let (left, right) = (lower_expr(left, level + 1), lower_expr(right, level + 1));
    match &*name.text() {
        "to" => Expr::List(vec![left, right]),
        _ => Expr::Call {
            receiver: Some(Box::new(left)),
            name: text_of(name),
            arguments: vec![Argument { name: None, value: right }],
        },
    }
}

fn block_value(body: Option<SyntaxNode<'_>>, place: &SyntaxNode<'_>, level: usize) -> Node {
    let Some(body) = body else { return node(place, Expr::Opaque(Vec::new())) };
    match value_of(&body, level) {
        (steps, Some(value)) if steps.is_empty() => *value,
        (steps, value) => node(&body, Expr::Block(steps, value)),
    }
}

fn lower_if(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let condition = lower_expr(&expr.field("condition")?, level + 1);
    let then = block_value(expr.field("consequence"), expr, level + 1);
    let otherwise = block_value(expr.field("alternative"), expr, level + 1);
    Some(Expr::Ternary(Box::new(condition), Box::new(then), Box::new(otherwise)))
}

/// Returns the labels of an entry of `when`; none for `else`.
pub(super) fn labels(entry: &SyntaxNode<'_>, level: usize) -> Vec<Node> {
    let all = named_children(entry).into_iter();
    let all = all.filter(|child| &*child.kind() == "when_condition");
    all.map(|own| lower_expr(&own, level + 1)).collect()
}

/// Returns the subject of `when`, after the declaration of its variable.
pub(super) fn subject(step: &SyntaxNode<'_>, level: usize) -> Option<(Vec<Step>, Node)> {
    let subject = child_of_kind(step, "when_subject")?;
    let children = named_children(&subject);
    let value = lower_expr(children.last()?, level + 1);
    let Some(variable) = child_of_kind(&subject, "variable_declaration") else {
        return Some((Vec::new(), value));
    };
    let name = name_of(&variable)?;
    let own = node(&variable, Expr::Name(name.clone()));
    Some((vec![Step::Declare { name, type_name: type_of(&variable), value: Some(value) }], own))
}

fn lower_when(expr: &SyntaxNode<'_>, level: usize) -> Expr {
    let entries = named_children(expr);
    let entries = entries.iter().filter(|child| &*child.kind() == "when_entry");
    let lowered: Vec<(Vec<Node>, Node)> = entries
        .map(|entry| {
            let body = child_of_kind(entry, "control_structure_body");
            (labels(entry, level), block_value(body, entry, level + 1))
        })
        .collect();
    if let Some((start, subject)) = subject(expr, level) {
        let arms = lowered.into_iter().map(|(labels, value)| SelectArm { labels, value });
        let value = node(expr, Expr::Select(Box::new(subject), arms.collect()));
        return Expr::Block(start, Some(Box::new(value)));
    }
    let nothing = node(expr, Expr::Opaque(Vec::new()));
    let chosen = lowered.into_iter().rev().fold(nothing, |otherwise, (mut labels, value)| {
        match labels.pop() {
            Some(condition) => {
                let parts = (Box::new(condition), Box::new(value), Box::new(otherwise));
                node(expr, Expr::Ternary(parts.0, parts.1, parts.2))
            }
            None => value,
        }
    });
    chosen.expr
}

/// Lowers `try` as a value: that of its body or of a handler.
fn lower_try(expr: &SyntaxNode<'_>, level: usize) -> Expr {
    let (steps, value) = value_of(expr, level + 1);
    let mut values = vec![node(expr, Expr::Block(steps, value))];
    for handler in named_children(expr).iter().filter(|own| &*own.kind() == "catch_block") {
        let (steps, value) = value_of(handler, level + 1);
        values.push(node(handler, Expr::Block(steps, value)));
    }
    let first = values.remove(0);
    values
        .into_iter()
        .fold(first, |all, value| {
            let condition = Box::new(node(expr, Expr::Opaque(Vec::new())));
            node(expr, Expr::Ternary(condition, Box::new(all), Box::new(value)))
        })
        .expr
}

/// Lowers a closure, or a function inside of a function.
pub(super) fn closure(expr: &SyntaxNode<'_>, level: usize) -> Node {
    if level > MAX_LOWERING_DEPTH {
        return node(expr, Expr::Unread);
    }
    if let Some(list) = child_of_kind(expr, "function_value_parameters") {
        let parameters = lower_parameters(&list).into_iter();
        let parameters = parameters
            .map(|own| ClosureParameter { name: own.name, type_name: own.type_name })
            .collect();
        let body = child_of_kind(expr, "function_body").map(|body| lower_body(&body));
        return node(expr, Expr::Lambda(parameters, body.unwrap_or_default()));
    }
    let named = child_of_kind(expr, "lambda_parameters").map(|list| {
        let names = list.dfs().filter(|own| &*own.kind() == "variable_declaration");
        let of = |own: SyntaxNode<'_>| {
            Some(ClosureParameter { name: name_of(&own)?, type_name: type_of(&own) })
        };
        names.filter_map(of).collect::<Vec<_>>()
    });
    let implicit = || vec![ClosureParameter::untyped(IMPLICIT_PARAMETER.to_owned())];
    let (mut steps, value) = value_of(expr, level + 1);
    steps.extend(value.map(|value| Step::Return(Some(*value))));
    node(expr, Expr::Lambda(named.unwrap_or_else(implicit), steps))
}

/// Lowers a string: a constant, or text with values inside.
fn lower_text(expr: &SyntaxNode<'_>, level: usize) -> Expr {
    let parts = named_children(expr).into_iter().filter_map(|part| match &*part.kind() {
        "string_content" | "character_escape_seq" => {
            Some(node(&part, Expr::Constant(Constant::Text(unescape(&part.text())))))
        }
        "interpolated_identifier" | "interpolated_expression" => Some(lower_expr(&part, level + 1)),
        _ => None,
    });
    let mut parts: Vec<Node> = parts.collect();
    match (parts.pop(), parts.is_empty()) {
        (None, _) => Expr::Constant(Constant::Text(String::new())),
        (Some(Node { expr: Expr::Constant(text), .. }), true) => Expr::Constant(text),
        (Some(last), _) => {
            parts.push(last);
            Expr::Text(parts)
        }
    }
}

fn integer(text: &str) -> Expr {
    match text.replace('_', "").parse() {
        Ok(value) => Expr::Constant(Constant::Integer(value)),
        Err(_) => Expr::Opaque(Vec::new()),
    }
}

/// Replaces the common escapes; others stay as they are written.
fn unescape(text: &str) -> String {
    let pairs = [("\\n", "\n"), ("\\t", "\t"), ("\\\"", "\""), ("\\$", "$"), ("\\\\", "\\")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
