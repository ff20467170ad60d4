//! Lowering of Kotlin into the common form: types, functions and statements.

mod expressions;

use std::rc::Rc;

use self::expressions::{lower_expr, simple_type, target};
use super::form::{
    Case, Expr, FlowClass, FlowField, FlowFunction, FlowParameter, LoopForm, Node, Step,
};
use super::lowering::{MAX_LOWERING_DEPTH, line_of, named_children, node, text_of};
use crate::syntax::{Syntax, SyntaxNode, lines_of};

/// Lowers the types and the functions of a file.
pub(super) fn lower(syntax: &Syntax) -> Vec<FlowClass> {
    let mut classes = Vec::new();
    let mut module = FlowClass::default();
    lower_members(&syntax.root(), &mut module, &mut classes, 0);
    if !module.functions.is_empty() || !module.fields.is_empty() {
        classes.push(module);
    }
    classes
}

/// Lowers the members of a type or a file into `class`, and the types among them into `classes`.
fn lower_members(
    parent: &SyntaxNode<'_>,
    class: &mut FlowClass,
    classes: &mut Vec<FlowClass>,
    level: usize,
) {
    if level > MAX_LOWERING_DEPTH {
        return;
    }
    for member in named_children(parent) {
        match &*member.kind() {
            "class_declaration" | "object_declaration" => {
                lower_class(&member, classes, level + 1);
            }
            "companion_object" => {
                if let Some(body) = child_of_kind(&member, "class_body") {
                    lower_members(&body, class, classes, level + 1);
                }
            }
            "function_declaration" | "secondary_constructor" => {
                class.functions.push(Rc::new(lower_function(&member, &class.name)));
            }
            "property_declaration" => lower_property(&member, class),
            "anonymous_initializer" => {
                let lines = lines_of(&member);
                let body = steps_of(&member, 0);
                class.functions.push(Rc::new(FlowFunction {
                    name: "init".to_owned(),
                    calls: calls(&member),
                    ..function_of(class, body, (lines.start(), lines.end()))
                }));
            }
            _ => {}
        }
    }
}

/// Returns a function of a class without a name and parameters.
fn function_of(class: &FlowClass, body: Vec<Step>, lines: (u32, u32)) -> FlowFunction {
    FlowFunction {
        name: String::new(),
        class: class.name.clone(),
        parameters: Vec::new(),
        decorators: Vec::new(),
        is_constructor: false,
        is_exported: false,
        has_defaults: false,
        body,
        lines,
        calls: Vec::new(),
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

fn lower_class(class: &SyntaxNode<'_>, classes: &mut Vec<FlowClass>, level: usize) {
    let Some(name) = name_of(class) else { return };
    let mut lowered = FlowClass { name, ..FlowClass::default() };
    for clause in class.children().filter(|child| &*child.kind() == "delegation_specifier") {
        lowered.supertypes.push(simple_type(&clause.text()));
    }
    if let Some(constructor) = child_of_kind(class, "primary_constructor") {
        lower_primary_constructor(&constructor, &mut lowered);
    }
    let is_body =
        |child: &SyntaxNode<'_>| matches!(&*child.kind(), "class_body" | "enum_class_body");
    if let Some(body) = class.children().find(is_body) {
        lower_members(&body, &mut lowered, classes, level);
    }
    classes.push(lowered);
}

/// Lowers the constructor that stands behind the name of a class: its properties are fields.
fn lower_primary_constructor(constructor: &SyntaxNode<'_>, class: &mut FlowClass) {
    let all = named_children(constructor);
    let all: Vec<&SyntaxNode<'_>> =
        all.iter().filter(|child| &*child.kind() == "class_parameter").collect();
    let parameters: Vec<FlowParameter> = all.iter().filter_map(|own| parameter(own, &[])).collect();
    let body = all.iter().zip(&parameters).map(|(place, own)| {
        let this = Box::new(node(place, Expr::This));
        let field = Box::new(node(place, Expr::Field(this, own.name.clone())));
        let value = Box::new(node(place, Expr::Name(own.name.clone())));
        Step::Evaluate(node(place, Expr::Assign(field, value)))
    });
    let lines = lines_of(constructor);
    let function = FlowFunction {
        is_constructor: true,
        has_defaults: all.iter().any(|own| own.children().any(|part| &*part.text() == "=")),
        parameters: parameters.clone(),
        ..function_of(class, body.collect(), (lines.start(), lines.end()))
    };
    class.functions.push(Rc::new(function));
    class.fields.extend(parameters.into_iter().map(|own| FlowField {
        name: own.name,
        type_name: own.type_name,
        value: None,
    }));
}

/// Lowers a property of a type or a file, and its getter.
fn lower_property(property: &SyntaxNode<'_>, class: &mut FlowClass) {
    let Some(variable) = child_of_kind(property, "variable_declaration") else { return };
    let Some(name) = name_of(&variable) else { return };
    let is_fixed =
        child_of_kind(property, "binding_pattern_kind").is_some_and(|own| &*own.text() == "val");
    let value = value_behind_sign(property).filter(|_| is_fixed);
    if let Some(body) =
        child_of_kind(property, "getter").and_then(|own| child_of_kind(&own, "function_body"))
    {
        let lines = lines_of(&body);
        class.functions.push(Rc::new(FlowFunction {
            name: format!("get_{name}"),
            calls: calls(&body),
            ..function_of(class, lower_body(&body), (lines.start(), lines.end()))
        }));
    }
    class.fields.push(FlowField {
        name,
        type_name: type_of(&variable),
        value: value.map(|value| lower_expr(&value, 0)),
    });
}

/// Returns the value behind the `=` of a declaration.
fn value_behind_sign<'t>(declaration: &SyntaxNode<'t>) -> Option<SyntaxNode<'t>> {
    let mut children = declaration.children().skip_while(|child| &*child.text() != "=");
    children.next();
    children.find(|child| child.is_named() && !child.kind().contains("comment"))
}

fn lower_function(function: &SyntaxNode<'_>, class: &str) -> FlowFunction {
    let is_constructor = &*function.kind() == "secondary_constructor";
    let list = child_of_kind(function, "function_value_parameters");
    let has_defaults =
        list.as_ref().is_some_and(|list| list.children().any(|part| &*part.text() == "="));
    let body = match child_of_kind(function, "function_body") {
        Some(body) => lower_body(&body),
        None if is_constructor => steps_of(function, 0),
        None => Vec::new(),
    };
    let lines = lines_of(function);
    FlowFunction {
        name: name_of(function).unwrap_or_default(),
        class: class.to_owned(),
        parameters: list.map(|list| lower_parameters(&list)).unwrap_or_default(),
        decorators: annotations(function, "modifiers"),
        is_constructor,
        is_exported: is_public(function),
        has_defaults,
        calls: calls(function),
        body,
        lines: (lines.start(), lines.end()),
    }
}

/// Returns true if no modifier hides a function from other modules.
fn is_public(function: &SyntaxNode<'_>) -> bool {
    let hides = |word: &str| matches!(word, "private" | "internal" | "protected");
    let modifiers = child_of_kind(function, "modifiers");
    !modifiers.is_some_and(|modifiers| modifiers.text().split_whitespace().any(hides))
}

fn lower_parameters(list: &SyntaxNode<'_>) -> Vec<FlowParameter> {
    let mut parameters = Vec::new();
    let mut marks = Vec::new();
    for child in named_children(list) {
        match &*child.kind() {
            // The annotations of a parameter stand before it.
            "parameter_modifiers" => marks = annotations_in(&child),
            "parameter" => parameters.extend(parameter(&child, &std::mem::take(&mut marks))),
            _ => {}
        }
    }
    parameters
}

fn parameter(parameter: &SyntaxNode<'_>, annotations: &[String]) -> Option<FlowParameter> {
    Some(FlowParameter {
        name: name_of(parameter)?,
        type_name: type_of(parameter),
        annotations: annotations.to_vec(),
        line: line_of(parameter),
        span: parameter.range(),
    })
}

fn annotations(declaration: &SyntaxNode<'_>, kind: &str) -> Vec<String> {
    child_of_kind(declaration, kind).map(|list| annotations_in(&list)).unwrap_or_default()
}

/// Returns the simple names of annotations.
fn annotations_in(list: &SyntaxNode<'_>) -> Vec<String> {
    let all = named_children(list).into_iter().filter(|child| &*child.kind() == "annotation");
    all.map(|own| {
        let text = text_of(&own);
        let text = text.trim_start_matches('@').split('(').next().unwrap_or_default();
        simple_type(text)
    })
    .collect()
}

/// Returns the names of the functions that a piece of code calls.
fn calls(body: &SyntaxNode<'_>) -> Vec<String> {
    let all = body.dfs().filter(|inner| &*inner.kind() == "call_expression");
    let mut names: Vec<String> = all
        .filter_map(|call| {
            let callee = named_children(&call).into_iter().next()?;
            let name = match &*callee.kind() {
                "simple_identifier" => text_of(&callee),
                "navigation_expression" => {
                    let suffix = child_of_kind(&callee, "navigation_suffix")?;
                    name_of(&suffix)?
                }
                _ => return None,
            };
            Some(name)
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

/// Lowers the body of a function: statements, or the value behind `=`.
fn lower_body(body: &SyntaxNode<'_>) -> Vec<Step> {
    if body.text().starts_with('=') {
        let values = named_children(body);
        return vec![Step::Return(values.first().map(|value| lower_expr(value, 0)))];
    }
    steps_of(body, 0)
}

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
