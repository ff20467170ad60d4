//! Lowering of the types and functions of Kotlin.

use std::rc::Rc;

use super::expressions::lower_expr;
use super::parameters::{annotations, lower_parameters, parameter};
use super::{
    child_of_kind, lower_body, name_of, simple_type, steps_of, type_of, value_behind_sign,
};
use crate::flow::form::{Expr, FlowClass, FlowField, FlowFunction, FlowParameter, Step};
use crate::flow::lowering::{MAX_LOWERING_DEPTH, named_children, node, text_of};
use crate::syntax::{Syntax, SyntaxNode, lines_of};

/// Lowers the types and the functions of a file.
pub(in crate::flow) fn lower(syntax: &Syntax) -> Vec<FlowClass> {
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
