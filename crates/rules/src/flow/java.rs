//! Lowering of Java into the common form.

use std::rc::Rc;

use super::form::{
    Argument, BinaryOperator, Case, ClosureParameter, Constant, Expr, FlowClass, FlowField,
    FlowFunction, FlowParameter, LoopForm, Node, Step,
};
use super::lowering::{
    MAX_LOWERING_DEPTH, calls_in, line_of, lower_count_change, lower_prefix_operator,
    named_children, node, text_of,
};
use crate::syntax::{Syntax, SyntaxNode, lines_of};

/// Lowers the types of a file.
pub(super) fn lower(syntax: &Syntax) -> Vec<FlowClass> {
    let mut classes = Vec::new();
    for child in named_children(&syntax.root()) {
        lower_class(&child, &mut classes, 0);
    }
    classes
}

fn is_class(kind: &str) -> bool {
    matches!(
        kind,
        "class_declaration" | "interface_declaration" | "enum_declaration" | "record_declaration"
    )
}

fn lower_class(class: &SyntaxNode<'_>, classes: &mut Vec<FlowClass>, level: usize) {
    if !is_class(&class.kind()) || level > MAX_LOWERING_DEPTH {
        return;
    }
    let Some(name) = class.field("name") else { return };
    let mut lowered =
        FlowClass { name: text_of(&name), supertypes: supertypes(class), ..FlowClass::default() };
    let mut members: Vec<SyntaxNode<'_>> = Vec::new();
    if let Some(body) = class.field("body") {
        for member in named_children(&body) {
            match &*member.kind() {
                "enum_body_declarations" => members.extend(named_children(&member)),
                _ => members.push(member),
            }
        }
    }
    for member in members {
        match &*member.kind() {
            "method_declaration" | "constructor_declaration" => {
                lowered.functions.push(Rc::new(lower_function(&member, &lowered.name)));
            }
            "field_declaration" => lowered.fields.extend(lower_fields(&member)),
            _ => lower_class(&member, classes, level + 1),
        }
    }
    classes.push(lowered);
}

fn supertypes(class: &SyntaxNode<'_>) -> Vec<String> {
    let clauses = ["superclass", "interfaces"].into_iter().filter_map(|name| class.field(name));
    clauses
        .flat_map(|clause| {
            let types: Vec<String> = clause
                .dfs()
                .filter(|inner| &*inner.kind() == "type_identifier")
                .map(|inner| text_of(&inner))
                .collect();
            types
        })
        .collect()
}

fn lower_fields(field: &SyntaxNode<'_>) -> Vec<FlowField> {
    let modifiers = field.children().find(|child| &*child.kind() == "modifiers");
    let is_final = modifiers
        .is_some_and(|modifiers| modifiers.text().split_whitespace().any(|word| word == "final"));
    let type_name = field.field("type").map(|node| simple_type(&node.text()));
    let declarators = named_children(field);
    let declarators = declarators.iter().filter(|child| &*child.kind() == "variable_declarator");
    declarators
        .filter_map(|declarator| {
            Some(FlowField {
                name: text_of(&declarator.field("name")?),
                type_name: type_name.clone(),
                value: declarator.field("value").filter(|_| is_final).map(|v| lower_expr(&v, 0)),
            })
        })
        .collect()
}

fn lower_function(function: &SyntaxNode<'_>, class: &str) -> FlowFunction {
    let name = function.field("name").map(|name| text_of(&name)).unwrap_or_default();
    let parameters = function.field("parameters").map(|list| lower_parameters(&list));
    let body = function.field("body");
    let lines = lines_of(function);
    FlowFunction {
        name,
        class: class.to_owned(),
        parameters: parameters.unwrap_or_default(),
        decorators: annotations(function),
        is_constructor: &*function.kind() == "constructor_declaration",
        is_exported: is_public(function),
        has_defaults: false,
        calls: body
            .as_ref()
            .map(|body| calls_in(body, "method_invocation", "name"))
            .unwrap_or_default(),
        body: body.map(|body| lower_block(&body, 0)).unwrap_or_default(),
        lines: (lines.start(), lines.end()),
    }
}

/// Returns true for a method that is not private; the methods of an interface need no modifier.
fn is_public(function: &SyntaxNode<'_>) -> bool {
    let modifiers = function.children().find(|child| &*child.kind() == "modifiers");
    let is_private = |text: &str| text.split_whitespace().any(|word| word == "private");
    !modifiers.is_some_and(|modifiers| is_private(&modifiers.text()))
}

fn lower_parameters(list: &SyntaxNode<'_>) -> Vec<FlowParameter> {
    let parameters = named_children(list);
    let parameters = parameters
        .iter()
        .filter(|child| matches!(&*child.kind(), "formal_parameter" | "spread_parameter"));
    parameters
        .filter_map(|parameter| {
            let declarator =
                parameter.children().find(|child| &*child.kind() == "variable_declarator");
            let name = parameter.field("name").or_else(|| declarator?.field("name"))?;
            Some(FlowParameter {
                name: text_of(&name),
                type_name: parameter.field("type").map(|node| simple_type(&node.text())),
                annotations: annotations(parameter),
                line: line_of(parameter),
                span: parameter.range(),
            })
        })
        .collect()
}

/// Returns the simple names of the annotations of a declaration.
fn annotations(declaration: &SyntaxNode<'_>) -> Vec<String> {
    let Some(modifiers) = declaration.children().find(|child| &*child.kind() == "modifiers") else {
        return Vec::new();
    };
    let marked = named_children(&modifiers);
    let marked =
        marked.iter().filter(|child| matches!(&*child.kind(), "annotation" | "marker_annotation"));
    marked.filter_map(|child| Some(simple_type(&child.field("name")?.text()))).collect()
}

/// Returns the simple name of a type, without packages and type arguments.
fn simple_type(text: &str) -> String {
    let base = text.split('<').next().unwrap_or(text).trim();
    base.rsplit('.').next().unwrap_or(base).trim().to_owned()
}

fn lower_block(block: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    match &*block.kind() {
        "block" | "constructor_body" | "switch_block_statement_group" => {
            named_children(block).iter().flat_map(|child| lower_step(child, level + 1)).collect()
        }
        _ => lower_step(block, level + 1),
    }
}

fn lower_step(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    if level > MAX_LOWERING_DEPTH {
        return vec![Step::Evaluate(node(step, Expr::Unread))];
    }
    let expr = |field: &str| step.field(field).map(|inner| lower_expr(&inner, level + 1));
    let block = |field: &str| {
        step.field(field).map(|inner| lower_block(&inner, level + 1)).unwrap_or_default()
    };
    let first = || named_children(step).first().map(|inner| lower_expr(inner, level + 1));
    match &*step.kind() {
        "local_variable_declaration" => lower_variables(step, level),
        "expression_statement" => first().map(Step::Evaluate).into_iter().collect(),
        "explicit_constructor_invocation" => vec![Step::Evaluate(lower_expr(step, level + 1))],
        "if_statement" => {
            let Some(condition) = expr("condition") else { return Vec::new() };
            let (then, otherwise) = (block("consequence"), block("alternative"));
            vec![Step::Branch { condition, then, otherwise }]
        }
        "while_statement" | "do_statement" => vec![Step::Loop(Box::new(LoopForm {
            start: Vec::new(),
            element: None,
            condition: expr("condition"),
            update: Vec::new(),
            body: block("body"),
            runs_first: &*step.kind() == "do_statement",
        }))],
        "for_statement" => vec![Step::Loop(Box::new(LoopForm {
            start: steps_of_fields(step, "init", level),
            element: None,
            condition: expr("condition"),
            update: steps_of_fields(step, "update", level),
            body: block("body"),
            runs_first: false,
        }))],
        "enhanced_for_statement" => lower_for_each(step, level),
        "switch_expression" | "switch_statement" => lower_switch(step, level),
        "try_statement" | "try_with_resources_statement" => lower_try(step, level),
        "return_statement" => vec![Step::Return(first())],
        // The value of a switch expression is not modelled apart from the switch.
        "yield_statement" => first().map(Step::Evaluate).into_iter().collect(),
        "throw_statement" => vec![Step::Throw(first())],
        "break_statement" => vec![Step::Break],
        "continue_statement" => vec![Step::Continue],
        "block" => vec![Step::Block(lower_block(step, level + 1))],
        "synchronized_statement" => block("body"),
        "labeled_statement" => {
            let inner = named_children(step);
            inner.last().map(|inner| lower_step(inner, level + 1)).unwrap_or_default()
        }
        "line_comment" | "block_comment" | "assert_statement" | "switch_label" => Vec::new(),
        kind if is_class(kind) => Vec::new(),
        _ => vec![Step::Evaluate(lower_expr(step, level + 1))],
    }
}

fn lower_variables(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let type_name = step.field("type").map(|node| simple_type(&node.text()));
    let type_name = type_name.filter(|name| name != "var");
    let children = named_children(step);
    let declarators = children.iter().filter(|child| &*child.kind() == "variable_declarator");
    declarators
        .filter_map(|declarator| {
            Some(Step::Declare {
                name: text_of(&declarator.field("name")?),
                type_name: type_name.clone(),
                value: declarator.field("value").map(|value| lower_expr(&value, level + 1)),
            })
        })
        .collect()
}

fn steps_of_fields(step: &SyntaxNode<'_>, field: &str, level: usize) -> Vec<Step> {
    let children: Vec<SyntaxNode<'_>> = step.field_children(field).collect();
    children.iter().filter(|c| c.is_named()).flat_map(|c| lower_step(c, level + 1)).collect()
}

fn lower_for_each(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let (Some(name), Some(value)) = (step.field("name"), step.field("value")) else {
        return Vec::new();
    };
    let target = node(&name, Expr::Name(text_of(&name)));
    let type_name = step.field("type").map(|node| simple_type(&node.text()));
    let body = step.field("body").map(|body| lower_block(&body, level + 1));
    vec![Step::Loop(Box::new(LoopForm {
        start: Vec::new(),
        element: Some((target, type_name, lower_expr(&value, level + 1))),
        condition: None,
        update: Vec::new(),
        body: body.unwrap_or_default(),
        runs_first: false,
    }))]
}

fn lower_switch(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let (Some(subject), Some(body)) = (step.field("condition"), step.field("body")) else {
        return Vec::new();
    };
    let mut falls_through = true;
    let mut cases = Vec::new();
    for group in named_children(&body) {
        let parts = named_children(&group);
        let (labels, steps): (Vec<_>, Vec<_>) =
            parts.iter().partition(|part| &*part.kind() == "switch_label");
        falls_through &= &*group.kind() != "switch_rule";
        let is_default =
            labels.iter().any(|label| label.text().trim_start().starts_with("default"));
        let values = labels.iter().flat_map(|label| named_children(label));
        let values: Vec<Node> = values.map(|value| lower_expr(&value, level + 1)).collect();
        let body = steps.iter().flat_map(|part| lower_step(part, level + 1)).collect();
        let labels = if is_default { Vec::new() } else { values };
        if labels.is_empty() && !is_default {
            continue;
        }
        cases.push(Case { labels, body });
    }
    let subject = lower_expr(&subject, level + 1);
    vec![Step::Switch { subject, cases, falls_through }]
}

fn lower_try(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let mut body = Vec::new();
    if let Some(resources) = step.field("resources") {
        for resource in named_children(&resources) {
            let (Some(name), Some(value)) = (resource.field("name"), resource.field("value"))
            else {
                continue;
            };
            body.push(Step::Declare {
                name: text_of(&name),
                type_name: resource.field("type").map(|node| simple_type(&node.text())),
                value: Some(lower_expr(&value, level + 1)),
            });
        }
    }
    body.extend(step.field("body").map(|b| lower_block(&b, level + 1)).unwrap_or_default());
    let children = named_children(step);
    let of_kind = |kind: &'static str| children.iter().filter(move |child| &*child.kind() == kind);
    let handlers = of_kind("catch_clause")
        .map(|clause| clause.field("body").map(|b| lower_block(&b, level + 1)).unwrap_or_default());
    let finally = of_kind("finally_clause").flat_map(|clause| {
        let inner = named_children(clause);
        inner.iter().flat_map(|inner| lower_block(inner, level + 1)).collect::<Vec<_>>()
    });
    let (handlers, finally) = (handlers.collect(), finally.collect());
    vec![Step::Try { body, handlers, finally }]
}

/// Lowers an expression.
fn lower_expr(expr: &SyntaxNode<'_>, level: usize) -> Node {
    if level > MAX_LOWERING_DEPTH {
        return node(expr, Expr::Unread);
    }
    let inner =
        |field: &str| expr.field(field).map(|inner| Box::new(lower_expr(&inner, level + 1)));
    let kind = expr.kind();
    let lowered = match &*kind {
        "identifier" => Some(Expr::Name(text_of(expr))),
        "this" => Some(Expr::This),
        "string_literal" | "text_block" => Some(Expr::Constant(string_constant(&expr.text()))),
        "character_literal" => Some(Expr::Constant(character_constant(&expr.text()))),
        "decimal_integer_literal" => Some(integer(&expr.text())),
        "true" => Some(Expr::Constant(Constant::Boolean(true))),
        "false" => Some(Expr::Constant(Constant::Boolean(false))),
        "null_literal" => Some(Expr::Constant(Constant::Null)),
        "parenthesized_expression" => {
            let children = named_children(expr);
            return match children.first() {
                Some(child) => lower_expr(child, level + 1),
                None => node(expr, Expr::Opaque(Vec::new())),
            };
        }
        "field_access" | "scoped_identifier" => Some(lower_field(expr, level)),
        "array_access" => inner("array").zip(inner("index")).map(|(a, i)| Expr::Index(a, i)),
        "method_invocation" => lower_call(expr, level),
        "explicit_constructor_invocation" => None,
        "object_creation_expression" => lower_new(expr, level),
        "assignment_expression" => lower_assignment(expr, level),
        "binary_expression" => lower_binary(expr, level),
        "unary_expression" => {
            let sides = expr.field("operator").zip(inner("operand"));
            sides.map(|(sign, operand)| lower_prefix_operator(&sign.text(), *operand))
        }
        "update_expression" => named_children(expr)
            .first()
            .map(|target| lower_count_change(expr, lower_expr(target, level + 1))),
        "ternary_expression" => {
            match (inner("condition"), inner("consequence"), inner("alternative")) {
                (Some(condition), Some(then), Some(otherwise)) => {
                    Some(Expr::Ternary(condition, then, otherwise))
                }
                _ => None,
            }
        }
        "cast_expression" => {
            let name = expr.field("type").map(|node| simple_type(&node.text()));
            inner("value").map(|value| Expr::Cast(name, value))
        }
        "array_creation_expression" => match expr.field("value") {
            Some(value) => Some(Expr::List(lower_all(&named_children(&value), level))),
            None => Some(Expr::Opaque(Vec::new())),
        },
        "array_initializer" => Some(Expr::List(lower_all(&named_children(expr), level))),
        "lambda_expression" => Some(lower_lambda(expr, level)),
        "instanceof_expression" => Some(Expr::Opaque(lower_all(&named_children(expr), level))),
        "switch_expression" => Some(Expr::Lambda(Vec::new(), lower_switch(expr, level))),
        "class_literal"
        | "method_reference"
        | "hex_integer_literal"
        | "octal_integer_literal"
        | "binary_integer_literal"
        | "decimal_floating_point_literal" => Some(Expr::Opaque(Vec::new())),
        _ => None,
    };
    let lowered = lowered.unwrap_or_else(|| Expr::Mixed(lower_all(&named_children(expr), level)));
    node(expr, lowered)
}

fn lower_all(children: &[SyntaxNode<'_>], level: usize) -> Vec<Node> {
    children.iter().map(|child| lower_expr(child, level + 1)).collect()
}

/// Lowers a field, or the dotted name of a class to its simple name.
fn lower_field(expr: &SyntaxNode<'_>, level: usize) -> Expr {
    let (Some(object), Some(field)) = (expr.field("object"), expr.field("field")) else {
        let text = text_of(expr);
        return Expr::Name(text.rsplit('.').next().unwrap_or(&text).to_owned());
    };
    let name = text_of(&field);
    let is_package = |text: &str| {
        let letters =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_');
        text.contains('.') && text.chars().all(letters)
    };
    let prefix = text_of(&object);
    let is_class = name.starts_with(|c: char| c.is_ascii_uppercase());
    if is_class && (is_package(&prefix) || prefix == "java" || prefix == "javax") {
        return Expr::Name(name);
    }
    Expr::Field(Box::new(lower_expr(&object, level + 1)), name)
}

fn lower_arguments(expr: &SyntaxNode<'_>, level: usize) -> Vec<Argument> {
    let Some(list) = expr.field("arguments") else { return Vec::new() };
    let values = named_children(&list);
    let values = values.iter().map(|value| lower_expr(value, level + 1));
    values.map(|value| Argument { name: None, value }).collect()
}

fn lower_call(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let receiver = expr.field("object").map(|object| Box::new(lower_expr(&object, level + 1)));
    let name = text_of(&expr.field("name")?);
    Some(Expr::Call { receiver, name, arguments: lower_arguments(expr, level) })
}

fn lower_new(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let type_name = simple_type(&expr.field("type")?.text());
    let mut arguments = lower_arguments(expr, level);
    if let Some(body) = named_children(expr).iter().find(|child| &*child.kind() == "class_body") {
        // The methods of an anonymous class run at some time after its creation.
        for method in named_children(body).iter().filter_map(|member| member.field("body")) {
            let steps = lower_block(&method, level + 1);
            let value = node(&method, Expr::Lambda(Vec::new(), steps));
            arguments.push(Argument { name: Some(String::new()), value });
        }
    }
    Some(Expr::New { type_name, arguments })
}

fn lower_assignment(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let left = Box::new(lower_expr(&expr.field("left")?, level + 1));
    let right = Box::new(lower_expr(&expr.field("right")?, level + 1));
    let is_plain = expr.field("operator").is_some_and(|operator| &*operator.text() == "=");
    Some(if is_plain { Expr::Assign(left, right) } else { Expr::Extend(left, right) })
}

fn lower_binary(expr: &SyntaxNode<'_>, level: usize) -> Option<Expr> {
    let left = Box::new(lower_expr(&expr.field("left")?, level + 1));
    let right = Box::new(lower_expr(&expr.field("right")?, level + 1));
    let operator = BinaryOperator::of_sign(&expr.field("operator")?.text());
    Some(Expr::Binary(operator, left, right))
}

fn lower_lambda(expr: &SyntaxNode<'_>, level: usize) -> Expr {
    let parameters = expr.field("parameters").map(|list| match &*list.kind() {
        "identifier" => vec![text_of(&list)],
        "formal_parameters" => lower_parameters(&list).into_iter().map(|own| own.name).collect(),
        _ => named_children(&list).iter().map(text_of).collect(),
    });
    let body = expr.field("body").map(|body| match &*body.kind() {
        "block" => lower_block(&body, level + 1),
        _ => vec![Step::Return(Some(lower_expr(&body, level + 1)))],
    });
    let parameters = parameters.unwrap_or_default().into_iter().map(ClosureParameter::untyped);
    Expr::Lambda(parameters.collect(), body.unwrap_or_default())
}

fn integer(text: &str) -> Expr {
    let digits = text.trim_end_matches(['l', 'L']).replace('_', "");
    match digits.parse() {
        Ok(value) => Expr::Constant(Constant::Integer(value)),
        Err(_) => Expr::Opaque(Vec::new()),
    }
}

fn string_constant(text: &str) -> Constant {
    let inside = text.strip_prefix("\"\"\"").and_then(|text| text.strip_suffix("\"\"\""));
    let inside = inside.or_else(|| text.strip_prefix('"')?.strip_suffix('"')).unwrap_or(text);
    Constant::Text(unescape(inside))
}

fn character_constant(text: &str) -> Constant {
    let inside = unescape(text.trim_matches('\''));
    match inside.chars().next() {
        Some(c) => Constant::Character(c),
        None => Constant::Character('\''),
    }
}

/// Replaces the common escapes; others stay as they are written.
fn unescape(text: &str) -> String {
    let pairs = [("\\n", "\n"), ("\\t", "\t"), ("\\\"", "\""), ("\\'", "'"), ("\\\\", "\\")];
    pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}
