//! Lowering of the expressions of JavaScript.

use super::imports::required_package;
use super::{lower_body, lower_parameters};
use crate::flow::form::{Argument, BinaryOperator, ClosureParameter, Constant, Expr, Node};
use crate::flow::lowering::{
    CALLED_VALUE, MAX_LOWERING_DEPTH, lower_count_change, lower_prefix_operator, named_children,
    node, text_of,
};
use crate::syntax::SyntaxNode;

pub(super) fn lower_expr(expr: &SyntaxNode<'_>, level: usize) -> Node {
    if level > MAX_LOWERING_DEPTH {
        return node(expr, Expr::Unread);
    }
    let children = named_children(expr);
    let inner =
        |field: &str| expr.field(field).map(|inner| Box::new(lower_expr(&inner, level + 1)));
    let all = || children.iter().map(|child| lower_expr(child, level + 1)).collect::<Vec<Node>>();
    let kind = expr.kind();
    let lowered = match &*kind {
        "identifier" => Some(Expr::Name(text_of(expr))),
        "this" => Some(Expr::This),
        "true" => Some(Expr::Constant(Constant::Boolean(true))),
        "false" => Some(Expr::Constant(Constant::Boolean(false))),
        "null" | "undefined" => Some(Expr::Constant(Constant::Null)),
        "number" => {
            let number = text_of(expr).parse().ok();
            Some(
                number.map_or_else(
                    || Expr::Opaque(Vec::new()),
                    |n| Expr::Constant(Constant::Integer(n)),
                ),
            )
        }
        "string" | "template_string" => Some(lower_text(expr, level)),
        "regex" => Some(Expr::New { type_name: regex_type(expr), arguments: Vec::new() }),
        "member_expression" => {
            let name = expr.field("property").map(|name| text_of(&name));
            inner("object").zip(name).map(|(object, name)| Expr::Field(object, name))
        }
        "subscript_expression" => {
            inner("object").zip(inner("index")).map(|(object, index)| Expr::Index(object, index))
        }
        "call_expression" => lower_call(expr, level),
        "new_expression" => expr.field("constructor").map(|own| Expr::New {
            type_name: text_of(&own).rsplit('.').next().unwrap_or_default().to_owned(),
            arguments: arguments(expr, level),
        }),
        "binary_expression" => {
            let operator = expr.field("operator").map(|own| binary_operator(&own.text()));
            let sides = inner("left").zip(inner("right"));
            operator.zip(sides).map(|(operator, (a, b))| Expr::Binary(operator, a, b))
        }
        "unary_expression" => {
            let sides = expr.field("operator").zip(inner("argument"));
            sides.map(|(sign, operand)| lower_prefix_operator(&sign.text(), *operand))
        }
        "update_expression" => inner("argument").map(|target| lower_count_change(expr, *target)),
        "ternary_expression" => inner("condition")
            .zip(inner("consequence").zip(inner("alternative")))
            .map(|(condition, (then, otherwise))| Expr::Ternary(condition, then, otherwise)),
        "assignment_expression" => {
            inner("left").zip(inner("right")).map(|(a, b)| Expr::Assign(a, b))
        }
        "augmented_assignment_expression" => {
            inner("left").zip(inner("right")).map(|(a, b)| Expr::Extend(a, b))
        }
        "array" => Some(Expr::List(all())),
        "object" => Some(lower_object(&children, level)),
        "arrow_function" | "function_expression" => Some(lower_closure(expr, level)),
        "await_expression"
        | "parenthesized_expression"
        | "non_null_expression"
        | "as_expression"
        | "satisfies_expression" => {
            return children.first().map_or_else(
                || node(expr, Expr::Opaque(Vec::new())),
                |own| lower_expr(own, level + 1),
            );
        }
        "jsx_attribute" => lower_jsx_attribute(&children, level),
        _ => None,
    };
    node(expr, lowered.unwrap_or_else(|| Expr::Mixed(all())))
}

fn binary_operator(operator: &str) -> BinaryOperator {
    match operator {
        "===" => BinaryOperator::Equal,
        "!==" => BinaryOperator::NotEqual,
        "??" => BinaryOperator::Or,
        "in" => BinaryOperator::In,
        // The quotient of two integers may be a fraction.
        "/" | "%" => BinaryOperator::Other,
        sign => BinaryOperator::of_sign(sign),
    }
}

/// Returns the type of a regular expression: one that describes the whole text checks the text.
fn regex_type(expr: &SyntaxNode<'_>) -> String {
    let pattern = expr.field("pattern").map(|pattern| pattern.text().into_owned());
    let is_whole = pattern.is_some_and(|text| text.starts_with('^') && text.ends_with('$'));
    if is_whole { "WholeRegExp" } else { "RegExp" }.to_owned()
}

fn lower_text(expr: &SyntaxNode<'_>, level: usize) -> Expr {
    let mut parts = Vec::new();
    for child in named_children(expr) {
        match &*child.kind() {
            "template_substitution" => {
                let inner = named_children(&child);
                parts.extend(inner.iter().map(|value| lower_expr(value, level + 1)));
            }
            _ => {
                let text = child.text().into_owned();
                parts.push(node(&child, Expr::Constant(Constant::Text(text))));
            }
        }
    }
    match parts.len() {
        0 => Expr::Constant(Constant::Text(String::new())),
        _ => Expr::Text(parts),
    }
}

fn lower_call(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let function = expr.field("function")?;
    if let Some(package) = required_package(expr) {
        return Some(Expr::Name(package));
    }
    let mut arguments = arguments(expr, level);
    match &*function.kind() {
        "identifier" | "import" => {
            Some(Expr::Call { receiver: None, name: text_of(&function), arguments })
        }
        "member_expression" => {
            let receiver = Box::new(lower_expr(&function.field("object")?, level + 1));
            let name = text_of(&function.field("property")?);
            // `allowed.includes(x)` and `allowed.has(x)` ask whether `x` is in `allowed`.
            if matches!(name.as_str(), "includes" | "has") && arguments.len() == 1 {
                let element = Box::new(arguments.remove(0).value);
                return Some(Expr::Binary(BinaryOperator::In, element, receiver));
            }
            Some(Expr::Call { receiver: Some(receiver), name, arguments })
        }
        // A function that another call returned.
        _ => {
            let receiver = Some(Box::new(lower_expr(&function, level + 1)));
            Some(Expr::Call { receiver, name: CALLED_VALUE.to_owned(), arguments })
        }
    }
}

fn arguments(call: &SyntaxNode<'_>, level: usize) -> Vec<Argument> {
    let Some(list) = call.field("arguments") else { return Vec::new() };
    // A tagged template passes its parts apart from the text, so no text is built.
    if &*list.kind() == "template_string" {
        let parts = named_children(&list);
        let parts = parts.iter().flat_map(named_children);
        return parts
            .map(|part| argument(node(&part, Expr::Opaque(vec![lower_expr(&part, level + 1)]))))
            .collect();
    }
    named_children(&list).iter().map(|own| argument(lower_expr(own, level + 1))).collect()
}

fn argument(value: Node) -> Argument {
    Argument { name: None, value }
}

fn lower_object(children: &[SyntaxNode<'_>], level: usize) -> Expr {
    let mut pairs = Vec::new();
    let mut others = Vec::new();
    for child in children {
        let key = |text: &str| {
            let text = text.trim_matches(['"', '\'']).to_owned();
            node(child, Expr::Constant(Constant::Text(text)))
        };
        match (&*child.kind(), child.field("key"), child.field("value")) {
            ("pair", Some(own), Some(value)) => {
                pairs.push((key(&text_of(&own)), lower_expr(&value, level + 1)));
            }
            ("shorthand_property_identifier", ..) => {
                let name = text_of(child);
                pairs.push((key(&name), node(child, Expr::Name(name.clone()))));
            }
            ("method_definition", ..) => others.push(node(child, lower_closure(child, level))),
            _ => others.push(lower_expr(child, level + 1)),
        }
    }
    if others.is_empty() {
        return Expr::Map(pairs);
    }
    others.extend(pairs.into_iter().map(|(_, value)| value));
    Expr::Mixed(others)
}

pub(super) fn lower_closure(definition: &SyntaxNode<'_>, level: usize) -> Expr {
    let (parameters, mut body) = lower_parameters(definition);
    let written = definition.field("body");
    body.extend(written.map(|body| lower_body(&body, level + 1)).unwrap_or_default());
    let parameters = parameters
        .into_iter()
        .map(|own| ClosureParameter { name: own.name, type_name: own.type_name })
        .collect();
    Expr::Lambda(parameters, body)
}

/// Lowers the attribute that sets the HTML of an element to a call; its value is the argument.
fn lower_jsx_attribute(children: &[SyntaxNode<'_>], level: usize) -> Option<Expr> {
    let [name, value] = children else { return None };
    let name = text_of(name);
    if name != "dangerouslySetInnerHTML" {
        return None;
    }
    let arguments = vec![argument(lower_expr(value, level + 1))];
    Some(Expr::Call { receiver: None, name, arguments })
}
