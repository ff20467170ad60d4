//! Lowering of the expressions of Ruby.

use super::{last_name, lower_body, lower_result, lower_step};
use crate::flow::form::{Argument, BinaryOperator, ClosureParameter, Constant, Expr, Node, Step};
use crate::flow::lowering::{MAX_LOWERING_DEPTH, formatted_text, named_children, node, text_of};
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
        "identifier" | "global_variable" | "class_variable" => Some(Expr::Name(text_of(expr))),
        "constant" | "scope_resolution" => Some(Expr::Name(last_name(expr))),
        "instance_variable" => Some(Expr::Field(Box::new(node(expr, Expr::This)), text_of(expr))),
        "self" => Some(Expr::This),
        "true" => Some(Expr::Constant(Constant::Boolean(true))),
        "false" => Some(Expr::Constant(Constant::Boolean(false))),
        "nil" => Some(Expr::Constant(Constant::Null)),
        "integer" => Some(match text_of(expr).replace('_', "").parse() {
            Ok(value) => Expr::Constant(Constant::Integer(value)),
            Err(_) => Expr::Opaque(Vec::new()),
        }),
        "float" | "rational" | "complex" | "range" => Some(Expr::Opaque(all())),
        "simple_symbol" | "hash_key_symbol" => Some(Expr::Constant(Constant::Text(
            text_of(expr).trim_start_matches(':').trim_end_matches(':').to_owned(),
        ))),
        "string" | "delimited_symbol" | "bare_string" | "bare_symbol" | "heredoc_body" => {
            Some(lower_text(&children, level))
        }
        "chained_string" => Some(Expr::Text(all())),
        "heredoc_beginning" => Some(lower_heredoc(expr, level)),
        "regex" => Some(Expr::New { type_name: regex_type(expr), arguments: Vec::new() }),
        "subshell" => {
            let value = node(expr, lower_text(&children, level));
            let arguments = vec![Argument { name: None, value }];
            Some(Expr::Call { receiver: None, name: "subshell".to_owned(), arguments })
        }
        "element_reference" => {
            let index = children.get(1).map(lower);
            let index = index.unwrap_or_else(|| node(expr, Expr::Opaque(Vec::new())));
            inner("object").map(|object| Expr::Index(object, Box::new(index)))
        }
        "call" => lower_call(expr, level),
        "binary" => lower_binary(expr, level),
        "unary" => match expr.field("operator").map(|own| own.text().into_owned()).as_deref() {
            Some("!" | "not") => inner("operand").map(Expr::Not),
            _ => Some(Expr::Opaque(all())),
        },
        "conditional" => inner("condition")
            .zip(inner("consequence").zip(inner("alternative")))
            .map(|(condition, (then, otherwise))| Expr::Ternary(condition, then, otherwise)),
        "assignment" => inner("left").zip(inner("right")).map(|(a, b)| Expr::Assign(a, b)),
        "operator_assignment" => {
            let operator = expr.field("operator").map(|own| own.text().into_owned());
            let keeps_text = matches!(operator.as_deref(), Some("+=" | "||=" | "&&="));
            let sides = inner("left").zip(inner("right")).filter(|_| keeps_text);
            sides.map(|(a, b)| Expr::Extend(a, b)).or_else(|| Some(Expr::Opaque(all())))
        }
        "left_assignment_list"
        | "right_assignment_list"
        | "array"
        | "string_array"
        | "symbol_array"
        | "destructured_left_assignment" => Some(Expr::List(all())),
        "hash" => Some(lower_hash(&children, level)),
        "lambda" => Some(lower_closure(expr, level)),
        "interpolation"
        | "parenthesized_statements"
        | "splat_argument"
        | "block_argument"
        | "hash_splat_argument"
        | "pattern"
        | "rescue_modifier"
        | "then" => {
            return match children.first() {
                Some(child) => lower(child),
                None => node(expr, Expr::Opaque(Vec::new())),
            };
        }
        // A statement that is a value.
        "if" | "unless" | "case" | "begin" | "if_modifier" | "unless_modifier" => {
            Some(lower_value(expr, level))
        }
        _ => None,
    };
    node(expr, lowered.unwrap_or_else(|| Expr::Mixed(all())))
}

/// Lowers a statement that is used as a value: the results of its branches are mixed.
fn lower_value(expr: &SyntaxNode<'_>, level: usize) -> Expr {
    let steps = match &*expr.kind() {
        "begin" => lower_body(expr, level + 1),
        _ => lower_step(expr, level + 1),
    };
    Expr::Mixed(vec![closure_call(expr, super::returned(steps))])
}

/// Returns a call of a closure without parameters, whose value is its result.
fn closure_call(place: &SyntaxNode<'_>, steps: Vec<Step>) -> Node {
    let value = node(place, Expr::Lambda(Vec::new(), steps));
    let arguments = vec![Argument { name: None, value }];
    node(place, Expr::Call { receiver: None, name: "begin".to_owned(), arguments })
}

fn lower_text(parts: &[SyntaxNode<'_>], level: usize) -> Expr {
    let lower = |part: &SyntaxNode<'_>| match &*part.kind() {
        "string_content" | "escape_sequence" | "heredoc_content" => {
            node(part, Expr::Constant(Constant::Text(part.text().into_owned())))
        }
        "heredoc_end" => node(part, Expr::Constant(Constant::Text(String::new()))),
        _ => lower_expr(part, level + 1),
    };
    match parts {
        [] => Expr::Constant(Constant::Text(String::new())),
        [only] if matches!(&*only.kind(), "string_content") => {
            Expr::Constant(Constant::Text(only.text().into_owned()))
        }
        _ => Expr::Text(parts.iter().map(lower).collect()),
    }
}

/// Lowers a heredoc, whose text stands behind the statement that begins it.
fn lower_heredoc(beginning: &SyntaxNode<'_>, level: usize) -> Expr {
    let wanted = text_of(beginning);
    let wanted = wanted.trim_start_matches(['<', '-', '~']).trim_matches(['"', '\'', '`']);
    let mut around = beginning.parent();
    while let Some(own) = around {
        let bodies = own.children().filter(|child| {
            &*child.kind() == "heredoc_body" && child.range().start >= beginning.range().end
        });
        let ends_here = |body: &SyntaxNode<'_>| {
            let children = named_children(body);
            children.last().is_some_and(|end| text_of(end) == wanted)
        };
        if let Some(body) = bodies.collect::<Vec<_>>().into_iter().find(ends_here) {
            return lower_text(&named_children(&body), level);
        }
        around = own.parent();
    }
    Expr::Opaque(Vec::new())
}

/// Returns the type of a regular expression: one that describes the whole text checks the text.
fn regex_type(expr: &SyntaxNode<'_>) -> String {
    let text = expr.text();
    let inner = text.trim_start_matches("%r").get(1..).unwrap_or_default();
    let inner = inner.trim_end_matches(|c: char| c.is_ascii_alphabetic() && c != 'z');
    let inner = inner.get(..inner.len().saturating_sub(1)).unwrap_or_default();
    let is_whole = inner.starts_with("\\A") && (inner.ends_with("\\z") || inner.ends_with("\\Z"));
    if is_whole { "WholeRegexp" } else { "Regexp" }.to_owned()
}

fn lower_binary(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let left = Box::new(lower_expr(&expr.field("left")?, level + 1));
    let right = Box::new(lower_expr(&expr.field("right")?, level + 1));
    let operator = match &*expr.field("operator")?.text() {
        "and" => BinaryOperator::And,
        "or" => BinaryOperator::Or,
        // `a / b` may also join paths.
        "/" => BinaryOperator::Other,
        "%" => {
            let values = match right.expr {
                Expr::List(values) => values,
                _ => vec![*right],
            };
            let all = [*left].into_iter().chain(values).collect();
            return Some(formatted_text(all, true).unwrap_or_else(Expr::Mixed));
        }
        // `list << value` changes the list.
        "<<" => {
            let arguments = vec![Argument { name: None, value: *right }];
            return Some(Expr::Call { receiver: Some(left), name: "push".to_owned(), arguments });
        }
        "=~" => return Some(regex_match(left, right)),
        sign => BinaryOperator::of_sign(sign),
    };
    Some(Expr::Binary(operator, left, right))
}

fn lower_call(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let mut arguments = lower_arguments(expr.field("arguments"), level);
    let receiver = expr.field("receiver").map(|own| Box::new(lower_expr(&own, level + 1)));
    let name = expr.field("method").map_or_else(|| "call".to_owned(), |own| text_of(&own));
    if let Some(block) = expr.field("block") {
        arguments.push(Argument { name: None, value: node(&block, lower_closure(&block, level)) });
    }
    let is_single = arguments.len() == 1;
    match (name.as_str(), receiver) {
        // `Name.new(…)` creates an object.
        ("new", Some(receiver)) => match receiver.expr {
            Expr::Name(type_name) if type_name.starts_with(char::is_uppercase) => {
                Some(Expr::New { type_name, arguments })
            }
            _ => Some(Expr::Call { receiver: Some(receiver), name, arguments }),
        },
        ("include?" | "member?" | "key?" | "has_key?", Some(receiver)) if is_single => {
            let element = Box::new(arguments.remove(0).value);
            Some(Expr::Binary(BinaryOperator::In, element, receiver))
        }
        ("in?", Some(receiver)) if is_single => {
            let list = Box::new(arguments.remove(0).value);
            Some(Expr::Binary(BinaryOperator::In, receiver, list))
        }
        (
            "nil?" | "blank?" | "present?" | "empty?" | "any?" | "is_a?" | "respond_to?",
            Some(own),
        ) => Some(Expr::Opaque(vec![*own])),
        ("match?" | "match", Some(receiver)) if is_single => {
            Some(regex_match(receiver, Box::new(arguments.remove(0).value)))
        }
        ("format" | "sprintf", None) => {
            let values = arguments.into_iter().map(|own| own.value).collect();
            Some(formatted_text(values, true).unwrap_or_else(Expr::Mixed))
        }
        (_, receiver) => Some(Expr::Call { receiver, name, arguments }),
    }
}

/// Returns the call of a regular expression with the text that it is matched with.
fn regex_match(left: Box<Node>, right: Box<Node>) -> Expr {
    let is_regex =
        matches!(&left.expr, Expr::New { type_name, .. } if type_name.ends_with("Regexp"));
    let (regex, text) = if is_regex { (left, right) } else { (right, left) };
    let arguments = vec![Argument { name: None, value: *text }];
    Expr::Call { receiver: Some(regex), name: "match?".to_owned(), arguments }
}

fn lower_arguments(list: Option<SyntaxNode<'_>>, level: usize) -> Vec<Argument> {
    let list = list.map(|list| named_children(&list)).unwrap_or_default();
    let lower = |argument: &SyntaxNode<'_>| match (argument.field("key"), argument.field("value")) {
        (Some(key), Some(value)) if &*argument.kind() == "pair" => {
            let name = text_of(&key);
            let name = name.trim_matches([':', '"', '\'']).to_owned();
            Argument { name: Some(name), value: lower_expr(&value, level + 1) }
        }
        // A block is code of the program, and no argument of the method.
        _ if &*argument.kind() == "block_argument" => {
            Argument { name: Some("&".to_owned()), value: lower_expr(argument, level + 1) }
        }
        _ => Argument { name: None, value: lower_expr(argument, level + 1) },
    };
    list.iter().map(lower).collect()
}

fn lower_hash(children: &[SyntaxNode<'_>], level: usize) -> Expr {
    let pair = |pair: &SyntaxNode<'_>| {
        let (key, value) = (pair.field("key")?, pair.field("value")?);
        let own = match &*key.kind() {
            "hash_key_symbol" | "string" => {
                let text = text_of(&key);
                let text = text.trim_matches(['"', '\'', ':']).to_owned();
                node(&key, Expr::Constant(Constant::Text(text)))
            }
            _ => lower_expr(&key, level + 1),
        };
        Some((own, lower_expr(&value, level + 1)))
    };
    match children.iter().map(pair).collect::<Option<Vec<_>>>() {
        Some(pairs) => Expr::Map(pairs),
        None => Expr::Mixed(children.iter().map(|own| lower_expr(own, level + 1)).collect()),
    }
}

fn lower_closure(definition: &SyntaxNode<'_>, level: usize) -> Expr {
    let (mut parameters, mut body) = (Vec::new(), Vec::new());
    if let Some(list) = definition.field("parameters") {
        for own in named_children(&list) {
            let name = own.field("name").map_or_else(|| text_of(&own), |name| text_of(&name));
            parameters.push(ClosureParameter::untyped(name));
        }
    }
    if let Some(own) = definition.field("body") {
        body = match &*own.kind() {
            "block" | "do_block" => {
                own.field("body").map(|own| lower_result(&own, level + 1)).unwrap_or_default()
            }
            _ => lower_result(&own, level + 1),
        };
    }
    Expr::Lambda(parameters, body)
}
