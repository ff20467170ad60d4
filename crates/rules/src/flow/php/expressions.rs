//! Lowering of the expressions of PHP.

use super::{last_name, lower_block, parameters, variable_name};
use crate::flow::form::{Argument, BinaryOperator, ClosureParameter, Constant, Expr, Node, Step};
use crate::flow::lowering::{
    CALLED_VALUE, MAX_LOWERING_DEPTH, formatted_text, lower_count_change, lower_prefix_operator,
    named_children, node, text_of,
};
use crate::syntax::SyntaxNode;

/// Lowers an expression.
pub(super) fn lower_expr(expr: &SyntaxNode<'_>, level: usize) -> Node {
    if level > MAX_LOWERING_DEPTH {
        return node(expr, Expr::Unread);
    }
    let children = named_children(expr);
    let lower = |own: &SyntaxNode<'_>| lower_expr(own, level + 1);
    let inner = |field: &str| expr.field(field).map(|own| Box::new(lower(&own)));
    let all = || children.iter().map(lower).collect::<Vec<Node>>();
    let kind = expr.kind();
    let lowered = match &*kind {
        "variable_name" if &*expr.text() == "$this" => Some(Expr::This),
        // What one request stores is read by another one.
        "variable_name" if &*expr.text() == "$_SESSION" => Some(Expr::Opaque(Vec::new())),
        "variable_name" => Some(Expr::Name(variable_name(expr))),
        "name" | "qualified_name" => Some(lower_name(&last_name(expr))),
        "relative_scope" => Some(Expr::This),
        "boolean" => {
            Some(Expr::Constant(Constant::Boolean(expr.text().eq_ignore_ascii_case("true"))))
        }
        "null" => Some(Expr::Constant(Constant::Null)),
        "integer" => Some(match text_of(expr).parse() {
            Ok(value) => Expr::Constant(Constant::Integer(value)),
            Err(_) => Expr::Opaque(Vec::new()),
        }),
        "float" => Some(Expr::Opaque(Vec::new())),
        "string" | "nowdoc" => Some(Expr::Constant(Constant::Text(literal_text(expr)))),
        "encapsed_string" => Some(lower_text(&children, level)),
        "heredoc" => {
            let body = expr.field("value").map(|body| named_children(&body));
            Some(lower_text(&body.unwrap_or_default(), level))
        }
        "shell_command_expression" => {
            let text = node(expr, lower_text(&children, level));
            return call_of(expr, "shell_exec", vec![text]);
        }
        "subscript_expression" => lower_subscript(&children, level),
        "member_access_expression" | "nullsafe_member_access_expression" => inner("object")
            .zip(expr.field("name"))
            .map(|(object, name)| Expr::Field(object, variable_name(&name))),
        "class_constant_access_expression" => match children.as_slice() {
            [class, name] => Some(Expr::Field(Box::new(lower(class)), text_of(name))),
            _ => None,
        },
        "scoped_property_access_expression" => inner("scope")
            .zip(expr.field("name"))
            .map(|(object, name)| Expr::Field(object, variable_name(&name))),
        "function_call_expression" => lower_call(expr, level),
        "member_call_expression" | "nullsafe_member_call_expression" | "scoped_call_expression" => {
            lower_method_call(expr, level)
        }
        "object_creation_expression" => lower_creation(&children, level),
        "binary_expression" => lower_binary(expr, level),
        "unary_op_expression" => {
            let sides = expr.field("operator").zip(inner("argument"));
            sides.map(|(sign, operand)| lower_prefix_operator(&sign.text(), *operand))
        }
        "conditional_expression" => {
            let (condition, body) = (inner("condition"), inner("body"));
            match (condition, body, inner("alternative")) {
                (Some(condition), Some(then), Some(otherwise)) => {
                    Some(Expr::Ternary(condition, then, otherwise))
                }
                (Some(first), None, Some(second)) => {
                    Some(Expr::Binary(BinaryOperator::Or, first, second))
                }
                _ => None,
            }
        }
        "assignment_expression" | "reference_assignment_expression" => {
            inner("left").zip(inner("right")).map(|(a, b)| Expr::Assign(a, b))
        }
        "augmented_assignment_expression" => {
            let operator = expr.field("operator").map(|own| own.text().into_owned());
            let keeps_text = matches!(operator.as_deref(), Some(".=" | "??="));
            let sides = inner("left").zip(inner("right"));
            sides
                .filter(|_| keeps_text)
                .map(|(a, b)| Expr::Extend(a, b))
                .or_else(|| Some(Expr::Opaque(all())))
        }
        "array_creation_expression" => Some(lower_array(&children, level)),
        "list_literal" => Some(Expr::List(all())),
        "cast_expression" => {
            let name = expr.field("type").map(|own| text_of(&own).to_ascii_lowercase());
            let name = match name.as_deref() {
                Some("integer") => Some("int".to_owned()),
                Some("boolean") => Some("bool".to_owned()),
                Some("string" | "array" | "object") => None,
                _ => name,
            };
            inner("value").map(|value| Expr::Cast(name, value))
        }
        "anonymous_function" | "arrow_function" => Some(lower_closure(expr, level)),
        "print_intrinsic" => return call_of(expr, "echo", all()),
        "include_expression"
        | "include_once_expression"
        | "require_expression"
        | "require_once_expression" => return call_of(expr, "include", all()),
        "match_expression" => Some(lower_match(expr, level)),
        "parenthesized_expression"
        | "error_suppression_expression"
        | "by_ref"
        | "clone_expression"
        | "argument"
        | "variadic_unpacking" => {
            return match children.last() {
                Some(child) => lower(child),
                None => node(expr, Expr::Opaque(Vec::new())),
            };
        }
        "update_expression" => inner("argument").map(|target| lower_count_change(expr, *target)),
        _ => None,
    };
    node(expr, lowered.unwrap_or_else(|| Expr::Mixed(all())))
}

/// Creates a call of a function.
pub(super) fn call_of(place: &SyntaxNode<'_>, name: &str, values: Vec<Node>) -> Node {
    let arguments = values.into_iter().map(|value| Argument { name: None, value }).collect();
    node(place, Expr::Call { receiver: None, name: name.to_owned(), arguments })
}

/// Lowers the name of a class or a constant. The names of filters are constants, so that patterns
/// can name them.
fn lower_name(name: &str) -> Expr {
    if name.starts_with("FILTER_") || name.starts_with("CURLOPT_") || name.starts_with("ENT_") {
        return Expr::Constant(Constant::Text(name.to_owned()));
    }
    Expr::Name(name.to_owned())
}

fn literal_text(literal: &SyntaxNode<'_>) -> String {
    match &*literal.kind() {
        "nowdoc" => literal.field("value").map(|own| own.text().into_owned()).unwrap_or_default(),
        _ => {
            let text = literal.text();
            text.get(1..text.len().saturating_sub(1)).unwrap_or_default().to_owned()
        }
    }
}

fn lower_text(parts: &[SyntaxNode<'_>], level: usize) -> Expr {
    let lower = |part: &SyntaxNode<'_>| match &*part.kind() {
        "string_content" | "escape_sequence" => {
            node(part, Expr::Constant(Constant::Text(part.text().into_owned())))
        }
        _ => lower_expr(part, level + 1),
    };
    let is_constant =
        |part: &SyntaxNode<'_>| matches!(&*part.kind(), "string_content" | "escape_sequence");
    match parts {
        _ if parts.iter().all(is_constant) => {
            Expr::Constant(Constant::Text(parts.iter().map(|part| part.text()).collect()))
        }
        _ => Expr::Text(parts.iter().map(lower).collect()),
    }
}

fn lower_subscript(children: &[SyntaxNode<'_>], level: usize) -> Option<Expr> {
    let (collection, index) = (children.first()?, children.get(1));
    let collection = Box::new(lower_expr(collection, level + 1));
    let index = match index {
        // In text, a name is the key itself.
        Some(index) if &*index.kind() == "name" => {
            node(index, Expr::Constant(Constant::Text(text_of(index))))
        }
        Some(index) => lower_expr(index, level + 1),
        None => node(children.first()?, Expr::Opaque(Vec::new())),
    };
    Some(Expr::Index(collection, Box::new(index)))
}

fn lower_binary(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let left = Box::new(lower_expr(&expr.field("left")?, level + 1));
    let right = Box::new(lower_expr(&expr.field("right")?, level + 1));
    let operator = match text_of(&expr.field("operator")?).to_ascii_lowercase().as_str() {
        "." => BinaryOperator::Add,
        "+" => {
            let sum = node(expr, Expr::Binary(BinaryOperator::Add, left, right));
            return Some(Expr::Cast(Some("int".to_owned()), Box::new(sum)));
        }
        "/" | "%" | "^" | "|" | "&" | "<<" | ">>" | "**" => {
            return Some(Expr::Opaque(vec![*left, *right]));
        }
        "===" => BinaryOperator::Equal,
        "!==" | "<>" => BinaryOperator::NotEqual,
        "and" => BinaryOperator::And,
        "or" | "??" | "xor" => BinaryOperator::Or,
        "instanceof" => return Some(Expr::Opaque(vec![*left])),
        sign => BinaryOperator::of_sign(sign),
    };
    Some(Expr::Binary(operator, left, right))
}

fn lower_call(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let function = expr.field("function")?;
    let arguments = lower_arguments(expr.field("arguments"), level);
    if !matches!(&*function.kind(), "name" | "qualified_name" | "relative_name") {
        let receiver = Some(Box::new(lower_expr(&function, level + 1)));
        return Some(Expr::Call { receiver, name: CALLED_VALUE.to_owned(), arguments });
    }
    let name = last_name(&function);
    Some(match (name.to_ascii_lowercase().as_str(), arguments.len()) {
        ("in_array" | "array_key_exists" | "key_exists", 2..) => membership(arguments)?,
        ("str_contains", 2) => membership(arguments.into_iter().rev().collect())?,
        ("isset", 1) => lower_isset(arguments),
        ("sprintf" | "printf" | "vsprintf", _) => lower_formatted(expr, &name, arguments),
        _ => Expr::Call { receiver: None, name, arguments },
    })
}

/// Returns whether the first argument is in the second one.
fn membership(arguments: Vec<Argument>) -> Option<Expr> {
    let mut values = arguments.into_iter().map(|own| Box::new(own.value));
    let (element, collection) = (values.next()?, values.next()?);
    Some(Expr::Binary(BinaryOperator::In, element, collection))
}

/// Lowers `isset($map[$key])` to whether the key is in the map.
fn lower_isset(mut arguments: Vec<Argument>) -> Expr {
    let value = arguments.remove(0).value;
    match value.expr {
        Expr::Index(collection, key) => Expr::Binary(BinaryOperator::In, key, collection),
        _ => Expr::Opaque(Vec::new()),
    }
}

fn lower_formatted(expr: &SyntaxNode<'_>, name: &str, arguments: Vec<Argument>) -> Expr {
    let values = arguments.into_iter().map(|own| own.value).collect();
    let text = formatted_text(values, name != "vsprintf");
    let call = |values: Vec<Node>| call_of(expr, name, values).expr;
    match text {
        Ok(text) if name == "printf" => call_of(expr, "echo", vec![node(expr, text)]).expr,
        Ok(text) => text,
        Err(values) => call(values),
    }
}

fn lower_method_call(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let object = expr.field("object").or_else(|| expr.field("scope"))?;
    let receiver = Some(Box::new(lower_expr(&object, level + 1)));
    let name = variable_name(&expr.field("name")?);
    Some(Expr::Call { receiver, name, arguments: lower_arguments(expr.field("arguments"), level) })
}

fn lower_arguments(list: Option<SyntaxNode<'_>>, level: usize) -> Vec<Argument> {
    let list = list.map(|list| named_children(&list)).unwrap_or_default();
    let lower = |argument: &SyntaxNode<'_>| {
        let name = argument.field("name").map(|name| text_of(&name));
        Argument { name, value: lower_expr(argument, level + 1) }
    };
    list.iter().map(lower).collect()
}

fn lower_creation(children: &[SyntaxNode<'_>], level: usize) -> Option<Expr> {
    let class = children.first().filter(|own| own.kind().ends_with("name"))?;
    let list = children.iter().find(|own| &*own.kind() == "arguments");
    let arguments = lower_arguments(list.cloned(), level);
    Some(Expr::New { type_name: last_name(class), arguments })
}

fn lower_array(elements: &[SyntaxNode<'_>], level: usize) -> Expr {
    let elements: Vec<Vec<SyntaxNode<'_>>> = elements.iter().map(named_children).collect();
    let lower = |own: &SyntaxNode<'_>| lower_expr(own, level + 1);
    let pair = |element: &Vec<SyntaxNode<'_>>| match element.as_slice() {
        [key, value] => Some((lower(key), lower(value))),
        _ => None,
    };
    match elements.iter().map(pair).collect::<Option<Vec<_>>>().filter(|own| !own.is_empty()) {
        Some(pairs) => Expr::Map(pairs),
        None => {
            let values: Vec<Node> =
                elements.iter().filter_map(|element| element.last()).map(lower).collect();
            let has_keys = elements.iter().any(|element| element.len() > 1);
            if has_keys { Expr::Mixed(values) } else { Expr::List(values) }
        }
    }
}

fn lower_closure(definition: &SyntaxNode<'_>, level: usize) -> Expr {
    let parameters = parameters(definition).into_iter();
    let parameters = parameters
        .map(|own| ClosureParameter { name: own.name, type_name: own.type_name })
        .collect();
    let body = definition.field("body").map(|body| match &*body.kind() {
        "compound_statement" => lower_block(&body, level + 1),
        _ => vec![Step::Return(Some(lower_expr(&body, level + 1)))],
    });
    Expr::Lambda(parameters, body.unwrap_or_default())
}

/// Lowers a match: its value is the result of a branch.
fn lower_match(expr: &SyntaxNode<'_>, level: usize) -> Expr {
    let branches = expr.field("body").map(|body| named_children(&body)).unwrap_or_default();
    let results = branches.iter().filter_map(|branch| branch.field("return_expression"));
    let mut parts: Vec<Node> = results.map(|own| lower_expr(&own, level + 1)).collect();
    let subject = expr.field("condition").map(|own| lower_expr(&own, level + 1));
    parts.extend(subject.map(|own| node(expr, Expr::Opaque(vec![own]))));
    Expr::Mixed(parts)
}
