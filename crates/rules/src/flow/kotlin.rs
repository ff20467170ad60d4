//! Lowering of Kotlin into the common form: types, functions and statements.

mod expressions;
mod statements;

use std::rc::Rc;

use self::expressions::{lower_expr, simple_type};
use self::statements::{lower_jump, steps_of, value_of};
use super::form::{Expr, FlowClass, FlowField, FlowFunction, FlowParameter, Node, Step};
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

/// Lowers the statements of an expression whose last one is its value. Statements contain
/// expressions, so expressions reach statements through this module.
fn nested_value(parent: &SyntaxNode<'_>, level: usize) -> (Vec<Step>, Option<Box<Node>>) {
    value_of(parent, level)
}

/// Lowers an expression that leaves a function or a loop.
fn nested_jump(jump: &SyntaxNode<'_>, level: usize) -> Vec<Step> {
    lower_jump(jump, level)
}

/// Lowers the body of a function: statements, or the value behind `=`.
fn lower_body(body: &SyntaxNode<'_>) -> Vec<Step> {
    if body.text().starts_with('=') {
        let values = named_children(body);
        return vec![Step::Return(values.first().map(|value| lower_expr(value, 0)))];
    }
    steps_of(body, 0)
}
