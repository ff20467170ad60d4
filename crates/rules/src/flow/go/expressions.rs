//! Lowering of the expressions of Go.

use super::{Imports, lower_block, parameters, type_name};
use crate::flow::form::{Argument, BinaryOperator, ClosureParameter, Constant, Expr, Node};
use crate::flow::lowering::{
    CALLED_VALUE, MAX_LOWERING_DEPTH, formatted_text, lower_prefix_operator, named_children, node,
    text_of,
};
use crate::syntax::SyntaxNode;

/// Lowers the expressions of a list.
pub(super) fn lower_expressions(
    list: &SyntaxNode<'_>,
    imports: &Imports,
    level: usize,
) -> Vec<Node> {
    named_children(list).iter().map(|own| lower_expr(own, imports, level + 1)).collect()
}

/// Lowers an expression.
pub(super) fn lower_expr(expr: &SyntaxNode<'_>, imports: &Imports, level: usize) -> Node {
    if level > MAX_LOWERING_DEPTH {
        return node(expr, Expr::Unread);
    }
    let children = named_children(expr);
    let lower = |own: &SyntaxNode<'_>| lower_expr(own, imports, level + 1);
    let inner = |field: &str| expr.field(field).map(|own| Box::new(lower(&own)));
    let all = || children.iter().map(lower).collect::<Vec<Node>>();
    let kind = expr.kind();
    let lowered = match &*kind {
        "identifier" | "field_identifier" => Some(Expr::Name(text_of(expr))),
        "true" => Some(Expr::Constant(Constant::Boolean(true))),
        "false" => Some(Expr::Constant(Constant::Boolean(false))),
        "nil" => Some(Expr::Constant(Constant::Null)),
        "int_literal" => Some(match text_of(expr).replace('_', "").parse() {
            Ok(value) => Expr::Constant(Constant::Integer(value)),
            Err(_) => Expr::Opaque(Vec::new()),
        }),
        "float_literal" | "rune_literal" | "imaginary_literal" | "iota" => {
            Some(Expr::Opaque(Vec::new()))
        }
        "interpreted_string_literal" | "raw_string_literal" => {
            Some(Expr::Constant(super::literal_text(expr)))
        }
        "selector_expression" => inner("operand")
            .zip(expr.field("field"))
            .map(|(object, name)| Expr::Field(object, text_of(&name))),
        "index_expression" => inner("operand").zip(inner("index")).map(|(a, i)| Expr::Index(a, i)),
        "slice_expression" => inner("operand").map(|own| Expr::Mixed(vec![*own])),
        "call_expression" => lower_call(expr, imports, level),
        "type_conversion_expression" => inner("operand").map(|own| Expr::Cast(None, own)),
        "type_assertion_expression" => inner("operand").map(|own| {
            Expr::Cast(expr.field("type").and_then(|own| type_name(&own, imports)), own)
        }),
        "composite_literal" => lower_composite(expr, imports, level),
        "literal_value" => Some(lower_values(expr, imports, level)),
        "func_literal" => Some(lower_closure(expr, imports, level)),
        "binary_expression" => {
            let operator = expr.field("operator").map(|own| BinaryOperator::of_sign(&own.text()));
            let sides = inner("left").zip(inner("right"));
            operator.zip(sides).map(|(operator, (a, b))| Expr::Binary(operator, a, b))
        }
        "unary_expression" => match expr.field("operator").map(|own| own.text().into_owned()) {
            Some(operator) if operator == "!" || operator == "-" => {
                inner("operand").map(|operand| lower_prefix_operator(&operator, *operand))
            }
            Some(operator) if operator == "&" || operator == "*" => {
                return expr
                    .field("operand")
                    .map_or_else(|| node(expr, Expr::Opaque(Vec::new())), |own| lower(&own));
            }
            _ => Some(Expr::Opaque(all())),
        },
        "parenthesized_expression" | "literal_element" | "variadic_argument" => {
            return children.first().map_or_else(|| node(expr, Expr::Opaque(Vec::new())), lower);
        }
        _ => None,
    };
    node(expr, lowered.unwrap_or_else(|| Expr::Mixed(all())))
}

fn lower_call(expr: &SyntaxNode<'_>, imports: &Imports, level: usize) -> Option<Expr> {
    let function = expr.field("function")?;
    let list = expr.field("arguments")?;
    let arguments = lower_expressions(&list, imports, level);
    let is_sprintf = &*function.text() == "fmt.Sprintf";
    let arguments = match formatted_text(arguments, is_sprintf) {
        Ok(text) => return Some(text),
        Err(arguments) => arguments,
    };
    if &*function.text() == "strings.Contains" && arguments.len() == 2 {
        let mut sides = arguments.into_iter().map(Box::new);
        let (text, part) = (sides.next()?, sides.next()?);
        return Some(Expr::Binary(BinaryOperator::In, part, text));
    }
    let is_rooted = arguments.first().is_some_and(begins_at_root);
    let arguments = arguments.into_iter().map(|value| Argument { name: None, value }).collect();
    match &*function.kind() {
        "identifier" => Some(Expr::Call { receiver: None, name: text_of(&function), arguments }),
        "selector_expression" => {
            let receiver = lower_expr(&function.field("operand")?, imports, level + 1);
            let mut name = text_of(&function.field("field")?);
            // A path that is cleaned below the root cannot leave the root.
            if name == "Clean" && is_rooted {
                name = "CleanRooted".to_owned();
            }
            Some(Expr::Call { receiver: Some(Box::new(receiver)), name, arguments })
        }
        _ => {
            let receiver = Some(Box::new(lower_expr(&function, imports, level + 1)));
            Some(Expr::Call { receiver, name: CALLED_VALUE.to_owned(), arguments })
        }
    }
}

/// Returns true for text such as `"/" + name`.
fn begins_at_root(value: &Node) -> bool {
    match &value.expr {
        Expr::Binary(BinaryOperator::Add, left, _) => begins_at_root(left),
        Expr::Constant(Constant::Text(text)) => text.starts_with('/'),
        _ => false,
    }
}

fn lower_composite(expr: &SyntaxNode<'_>, imports: &Imports, level: usize) -> Option<Expr> {
    let body = expr.field("body")?;
    let Some(type_name) = type_name(&expr.field("type")?, imports) else {
        return Some(lower_values(&body, imports, level));
    };
    let elements = named_children(&body);
    let arguments = elements
        .iter()
        .map(|element| match (element.field("key"), element.field("value")) {
            (Some(key), Some(value)) => Argument {
                name: Some(text_of(&key)),
                value: lower_expr(&value, imports, level + 1),
            },
            _ => Argument { name: None, value: lower_expr(element, imports, level + 1) },
        })
        .collect();
    Some(Expr::New { type_name, arguments })
}

/// Lowers the elements of a slice or a map.
fn lower_values(body: &SyntaxNode<'_>, imports: &Imports, level: usize) -> Expr {
    let elements = named_children(body);
    let pairs = elements.iter().map(|element| {
        let (key, value) = (element.field("key")?, element.field("value")?);
        Some((lower_expr(&key, imports, level + 1), lower_expr(&value, imports, level + 1)))
    });
    match pairs.collect::<Option<Vec<_>>>().filter(|pairs| !pairs.is_empty()) {
        Some(pairs) => Expr::Map(pairs),
        None => Expr::List(lower_expressions(body, imports, level)),
    }
}

fn lower_closure(literal: &SyntaxNode<'_>, imports: &Imports, level: usize) -> Expr {
    let list = literal.field("parameters").map(|list| parameters(&list, imports));
    let parameters = list.unwrap_or_default().into_iter();
    let parameters = parameters
        .map(|own| ClosureParameter { name: own.name, type_name: own.type_name })
        .collect();
    let body = literal.field("body").map(|body| lower_block(&body, imports, level + 1));
    Expr::Lambda(parameters, body.unwrap_or_default())
}
