//! Lowering of Kotlin into the common form: the statements, with `declarations` and `expressions`.

mod declarations;
mod expressions;
mod parameters;

pub(super) use self::declarations::lower;
use self::expressions::{lower_expr, target};
use super::form::{Case, Expr, LoopForm, Node, Step};
use super::lowering::{MAX_LOWERING_DEPTH, named_children, node, text_of};
use crate::syntax::SyntaxNode;

/// Lowers the statements inside of a node: a list of them, or a single one.
fn steps_of(parent: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let statements = match &*parent.kind() {
        "statements" => named_children(parent),
        "control_structure_body" => match child_of_kind(parent, "statements") {
            Some(list) => named_children(&list),
            None => named_children(parent),
        },
        _ => {
            child_of_kind(parent, "statements").map(|own| named_children(&own)).unwrap_or_default()
        }
    };
    statements.iter().flat_map(|step| lower_step(step, level + 1)).collect()
}

/// Lowers statements whose last one is their value, such as those of a closure.
fn value_of(parent: &SyntaxNode<'_>, level: usize) -> (Vec<Step>, Option<Box<Node>>) {
    let list = match &*parent.kind() {
        "statements" => named_children(parent),
        _ => match child_of_kind(parent, "statements") {
            Some(list) => named_children(&list),
            None if &*parent.kind() == "control_structure_body" => named_children(parent),
            None => Vec::new(),
        },
    };
    let Some((last, first)) = list.split_last() else { return (Vec::new(), None) };
    let mut steps: Vec<Step> = first.iter().flat_map(|step| lower_step(step, level + 1)).collect();
    if is_statement(&last.kind()) {
        steps.extend(lower_step(last, level + 1));
        return (steps, None);
    }
    (steps, Some(Box::new(lower_expr(last, level + 1))))
}

/// Returns true for the kinds of code that have no value.
fn is_statement(kind: &str) -> bool {
    matches!(
        kind,
        "property_declaration"
            | "assignment"
            | "for_statement"
            | "while_statement"
            | "do_while_statement"
            | "jump_expression"
            | "function_declaration"
            | "class_declaration"
            | "object_declaration"
    )
}

fn lower_step(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    if level > MAX_LOWERING_DEPTH {
        return vec![Step::Evaluate(node(step, Expr::Unread))];
    }
    match &*step.kind() {
        "property_declaration" => lower_variable(step, level),
        "assignment" => lower_assignment(step, level).into_iter().collect(),
        "if_expression" => lower_if(step, level),
        "when_expression" => lower_when(step, level),
        "for_statement" => lower_for(step, level).into_iter().collect(),
        "while_statement" | "do_while_statement" => vec![lower_while(step, level)],
        "try_expression" => lower_try(step, level),
        "jump_expression" => lower_jump(step, level),
        "statements" | "control_structure_body" => vec![Step::Block(steps_of(step, level + 1))],
        // A function inside of a function is a closure with a name.
        "function_declaration" => {
            let Some(name) = name_of(step) else { return Vec::new() };
            let value = expressions::closure(step, level + 1);
            vec![Step::Declare { name, type_name: None, value: Some(value) }]
        }
        "class_declaration" | "object_declaration" => Vec::new(),
        _ => vec![Step::Evaluate(lower_expr(step, level + 1))],
    }
}

fn lower_variable(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let value = value_behind_sign(step).map(|value| lower_expr(&value, level + 1));
    if let Some(variable) = child_of_kind(step, "variable_declaration") {
        let Some(name) = name_of(&variable) else { return Vec::new() };
        return vec![Step::Declare { name, type_name: type_of(&variable), value }];
    }
    let targets = child_of_kind(step, "multi_variable_declaration");
    match (targets, value) {
        (Some(targets), Some(value)) => {
            let list = Box::new(names_in(&targets));
            vec![Step::Evaluate(node(step, Expr::Assign(list, Box::new(value))))]
        }
        (_, Some(value)) => vec![Step::Evaluate(value)],
        _ => Vec::new(),
    }
}

/// Returns the variables that a declaration unpacks a value into.
fn names_in(targets: &SyntaxNode<'_>) -> Node {
    let names = named_children(targets).into_iter().filter_map(|own| {
        let name = name_of(&own)?;
        Some(node(&own, Expr::Name(name)))
    });
    node(targets, Expr::List(names.collect()))
}

fn lower_assignment(step: &SyntaxNode<'_>, level: usize) -> Option<Step> {
    let children = named_children(step);
    let (left, right) = (children.first()?, children.last()?);
    let left = Box::new(target(left, level + 1));
    let right = Box::new(lower_expr(right, level + 1));
    let is_plain = step.children().any(|child| &*child.text() == "=");
    let assigned = if is_plain { Expr::Assign(left, right) } else { Expr::Extend(left, right) };
    Some(Step::Evaluate(node(step, assigned)))
}

fn lower_if(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let Some(condition) = step.field("condition") else { return Vec::new() };
    let block =
        |field: &str| step.field(field).map(|body| steps_of(&body, level + 1)).unwrap_or_default();
    let (then, otherwise) = (block("consequence"), block("alternative"));
    vec![Step::Branch { condition: lower_expr(&condition, level + 1), then, otherwise }]
}

/// Lowers `when` with a subject to a switch, and without one to branches.
fn lower_when(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let entries = named_children(step);
    let entries = entries.iter().filter(|child| &*child.kind() == "when_entry");
    let lowered: Vec<(Vec<Node>, Vec<Step>)> = entries
        .map(|entry| {
            let body = child_of_kind(entry, "control_structure_body");
            let body = body.map(|body| steps_of(&body, level + 1)).unwrap_or_default();
            (expressions::labels(entry, level), body)
        })
        .collect();
    match expressions::subject(step, level) {
        Some((start, subject)) => {
            let cases = lowered.into_iter().map(|(labels, body)| Case { labels, body }).collect();
            let switch = Step::Switch { subject, cases, falls_through: false };
            start.into_iter().chain([switch]).collect()
        }
        None => {
            lowered.into_iter().rev().fold(Vec::new(), |otherwise, (mut labels, then)| match labels
                .pop()
            {
                Some(condition) => vec![Step::Branch { condition, then, otherwise }],
                None => then,
            })
        }
    }
}

fn lower_for(step: &SyntaxNode<'_>, level: usize) -> Option<Step> {
    let children = named_children(step);
    let variable = children.iter().find(|child| child.kind().ends_with("variable_declaration"))?;
    let at = children.iter().position(|child| child.node_id() == variable.node_id())?;
    let values = children.get(at + 1)?;
    let (element, type_name) = match &*variable.kind() {
        "multi_variable_declaration" => (names_in(variable), None),
        _ => (node(variable, Expr::Name(name_of(variable)?)), type_of(variable)),
    };
    let body = child_of_kind(step, "control_structure_body");
    Some(Step::Loop(Box::new(LoopForm {
        start: Vec::new(),
        element: Some((element, type_name, lower_expr(values, level + 1))),
        condition: None,
        update: Vec::new(),
        body: body.map(|body| steps_of(&body, level + 1)).unwrap_or_default(),
        runs_first: false,
    })))
}

fn lower_while(step: &SyntaxNode<'_>, level: usize) -> Step {
    let children = named_children(step);
    let condition = children.iter().find(|child| &*child.kind() != "control_structure_body");
    let body = child_of_kind(step, "control_structure_body");
    Step::Loop(Box::new(LoopForm {
        start: Vec::new(),
        element: None,
        condition: condition.map(|own| lower_expr(own, level + 1)),
        update: Vec::new(),
        body: body.map(|body| steps_of(&body, level + 1)).unwrap_or_default(),
        runs_first: &*step.kind() == "do_while_statement",
    }))
}

fn lower_try(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let children = named_children(step);
    let of_kind = |kind: &'static str| children.iter().filter(move |child| &*child.kind() == kind);
    let handlers = of_kind("catch_block").map(|block| steps_of(block, level + 1)).collect();
    let finally = of_kind("finally_block").flat_map(|block| steps_of(block, level + 1)).collect();
    vec![Step::Try { body: steps_of(step, level + 1), handlers, finally }]
}

fn lower_jump(step: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    let text = step.text();
    let children = named_children(step);
    let value = children.iter().rfind(|child| &*child.kind() != "label");
    let value = value.map(|value| lower_expr(value, level + 1));
    if text.starts_with("break") {
        vec![Step::Break]
    } else if text.starts_with("continue") {
        vec![Step::Continue]
    } else if text.starts_with("throw") {
        vec![Step::Throw(value)]
    } else {
        vec![Step::Return(value)]
    }
}

fn child_of_kind<'t>(node: &SyntaxNode<'t>, kind: &str) -> Option<SyntaxNode<'t>> {
    node.children().find(|child| &*child.kind() == kind)
}

/// Returns the name of a declaration.
fn name_of(node: &SyntaxNode<'_>) -> Option<String> {
    let name = child_of_kind(node, "simple_identifier");
    name.or_else(|| child_of_kind(node, "type_identifier")).map(|name| text_of(&name))
}

/// Returns the simple name of the type that a declaration states.
fn type_of(node: &SyntaxNode<'_>) -> Option<String> {
    let is_type = |child: &SyntaxNode<'_>| matches!(&*child.kind(), "user_type" | "nullable_type");
    node.children().find(is_type).map(|own| simple_type(&own.text()))
}

/// Returns the value behind the `=` of a declaration.
fn value_behind_sign<'t>(declaration: &SyntaxNode<'t>) -> Option<SyntaxNode<'t>> {
    let mut children = declaration.children().skip_while(|child| &*child.text() != "=");
    children.next();
    children.find(|child| child.is_named() && !child.kind().contains("comment"))
}

/// Lowers the body of a function: statements, or the value behind `=`.
fn lower_body(body: &SyntaxNode<'_>) -> Vec<Step> {
    if body.text().starts_with('=') {
        let values = named_children(body);
        return vec![Step::Return(values.first().map(|value| lower_expr(value, 0)))];
    }
    steps_of(body, 0)
}

/// Returns the simple name of a type, without packages, type arguments and marks.
fn simple_type(text: &str) -> String {
    let base = text.split(['<', '(']).next().unwrap_or(text).trim();
    let base = base.rsplit(['.', ':']).next().unwrap_or(base);
    match base.trim_end_matches('?').trim() {
        "Int" => "int".to_owned(),
        other => other.to_owned(),
    }
}
